//! Paths of what is drawn, frame by frame: jumps and reversals.

use glam::{Vec2, vec2};

/// Change of a step below which a jump is invisible, in points of the window; arbitrary.
const JUMP_SEEN: f32 = 3.0;
/// Steps below which a reversal is invisible, in points; arbitrary.
const REVERSAL_SEEN: f32 = 1.5;

/// Counts over frames of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Frames in which the path went on.
    pub(crate) frames: u64,
    /// Frames whose step differs from the one before by more than a bound.
    pub(crate) jumps: u64,
    /// Frames that go back for one frame, and then on.
    pub(crate) reversals: u64,
    /// Largest difference between two consecutive steps, in metres.
    pub(crate) most: f32,
}

impl Counts {
    /// Adds other counts.
    pub(crate) fn add(&mut self, other: Self) {
        self.frames += other.frames;
        self.jumps += other.jumps;
        self.reversals += other.reversals;
        self.most = self.most.max(other.most);
    }
}

/// A frame that a player would see as a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flaw {
    /// A step that differs from the previous one by this many metres.
    Jump(f32),
    /// A step back of this many metres.
    Reversal(f32),
}

/// Scale of a path's pictures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    /// Points of the window per metre.
    pub(crate) scale: f32,
    /// The world's period, if it wraps.
    pub(crate) wraps: Option<Vec2>,
    /// Change of a step beyond which it is a jump, in metres.
    pub(crate) bound: f32,
}

/// The track of one object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    at: Option<Vec2>,
    /// The last two steps, the last one first.
    steps: [Option<Vec2>; 2],
    pub(crate) counts: Counts,
}

impl Track {
    /// The rules put the object elsewhere: a new track begins.
    pub(crate) fn cut(&mut self) {
        self.at = None;
    }

    /// The object is drawn at `at` in the next frame, or not at all.
    pub(crate) fn advance(&mut self, at: Option<Vec2>, measure: Measure) -> Option<Flaw> {
        let Some((to, from)) = at.zip(self.at) else {
            (self.at, self.steps) = (at, [None; 2]);
            return None;
        };
        self.at = at;
        let step = shortest(to - from, measure.wraps);
        self.counts.frames += 1;
        let mut flaw = None;
        if let Some(before) = self.steps[0] {
            let change = (step - before).length();
            self.counts.most = self.counts.most.max(change);
            if change > measure.bound.max(JUMP_SEEN / measure.scale) {
                self.counts.jumps += 1;
                flaw = Some(Flaw::Jump(change));
            }
            let seen = REVERSAL_SEEN / measure.scale;
            let turned = |a: Vec2, b: Vec2| a.dot(b) < 0.0 && a.length().min(b.length()) > seen;
            let back = self.steps[1].is_some_and(|first| turned(first, before));
            if back && turned(before, step) {
                self.counts.reversals += 1;
                flaw = Some(Flaw::Reversal(before.length()));
            }
        }
        self.steps = [Some(step), self.steps[0]];
        flaw
    }
}

/// The shortest of the ways that are equal in a world that wraps.
fn shortest(way: Vec2, wraps: Option<Vec2>) -> Vec2 {
    let one = |way: f32, period: f32| way - (way / period).round() * period;
    wraps.map_or(way, |period| vec2(one(way.x, period.x), one(way.y, period.y)))
}

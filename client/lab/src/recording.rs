//! A recorded motion: what the server knew, and where the body truly was at any time in between.

use std::fmt;

use phaselock::fields::{self, Field, Record, Values};
use phaselock::games::Games;
use phaselock::motion::interpolate::blend_values;
use phaselock::motion::sending::Tolerance;
use phaselock::motion::{Coords, NoRules, Rules, Shape};
use phaselock::time::Rates;

use super::file::{MotionFile, Point, position_fields};

/// A body at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedSample {
    /// Seconds since the first sample.
    pub time: f64,
    /// Values of its fields.
    pub values: Values,
    /// Number of the uninterrupted motion; the next one begins after a teleport or with another
    /// body.
    pub segment: u32,
}

/// The true position of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Horizontal and vertical position, in the recording's own unit.
    pub position: [f64; 2],
    /// Direction in turns, for a body that has one.
    pub turn: Option<f64>,
    /// Segment of the body.
    pub segment: u32,
}

/// Rules that move a body, for methods that use them.
pub type SharedRules = Box<dyn Rules + Send + Sync>;

/// A body at rising times, and the rules that move it.
pub struct Recording {
    /// Motions of its fields.
    pub shape: Shape,
    /// Samples by rising time, the first at 0; at least two.
    pub samples: Vec<RecordedSample>,
    /// The body's rules while its keys are held.
    pub rules: SharedRules,
    /// Error that a sender tolerates, in the fields' units.
    pub tolerance: Tolerance,
    position: [usize; 2],
    turn: Option<usize>,
    /// Positions are the fields' values times `scale` plus `origin`.
    scale: f64,
    origin: [f64; 2],
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (samples, secs) = (self.samples.len(), self.secs());
        f.debug_struct("Recording").field("samples", &samples).field("secs", &secs).finish()
    }
}

phaselock::record! {
    /// A point with only a position, in steps of 1/4096, within 2048.
    pub struct Dot {
        /// Horizontal position.
        pub x: f32 = Field::centred(24, 12).snap_beyond(4096.0),
        /// Vertical position.
        pub y: f32 = Field::centred(24, 12).snap_beyond(4096.0),
    }
}

/// Longer side of a path of points after scaling: a quarter of a [`Dot`]'s range, since
/// extrapolation goes beyond.
const EXTENT: f64 = 1024.0;
/// Times that differ by less, in seconds, are equal: server time has microseconds.
const SAME_SECS: f64 = 2e-6;
/// Pixels of the longer side of a path. Arbitrary; about those of a path that fills a window.
const PIXELS: f64 = 1000.0;

impl Recording {
    /// Creates a recording of bodies with a position; `None` with fewer than two samples.
    pub fn of(
        fields: &'static [Field],
        samples: Vec<RecordedSample>,
        rules: SharedRules,
    ) -> Option<Self> {
        Self::scaled(fields, samples, rules, 1.0, [0.0; 2])
    }

    fn scaled(
        fields: &'static [Field],
        mut samples: Vec<RecordedSample>,
        rules: SharedRules,
        scale: f64,
        origin: [f64; 2],
    ) -> Option<Self> {
        let position = position_fields(fields)?;
        let first = samples.first()?.time;
        samples.get(1)?;
        samples.iter_mut().for_each(|sample| sample.time -= first);
        let turn = fields.iter().position(|field| field.motion == fields::Motion::Angle);
        let (shape, tolerance) = (Shape::new(fields), Tolerance { distance: 0.0, turns: 0.02 });
        let mut recording =
            Self { shape, samples, rules, tolerance, position, turn, scale, origin };
        // Arbitrary: an error that is just visible.
        recording.tolerance.distance = 5.0 * recording.pixel() / scale;
        Some(recording)
    }

    /// Creates a recording of points by rising time; `None` unless there are two and all are
    /// finite.
    pub fn of_points(points: &[Point]) -> Option<Self> {
        let is_finite =
            |point: &Point| [point.time, point.x, point.y].iter().all(|part| part.is_finite());
        if !points.iter().all(is_finite) {
            return None;
        }
        let bounds = bounds_of(points.iter().map(|point| [point.x, point.y]));
        let [width, height] = bounds.map(|[least, most]| most - least);
        let extent = width.max(height);
        let scale = if extent > 0.0 { extent / EXTENT } else { 1.0 };
        let origin = bounds.map(|[least, most]| f64::midpoint(least, most));
        let samples = points.iter().map(|point| {
            let [x, y] = [(point.x, origin[0]), (point.y, origin[1])]
                .map(|(value, origin)| ((value - origin) / scale) as f32);
            RecordedSample {
                time: point.time,
                values: Dot { x, y }.values(),
                segment: point.segment,
            }
        });
        Self::scaled(Dot::FIELDS, samples.collect(), Box::new(NoRules), scale, origin)
    }

    /// Creates a recording from a file; a recording of play has the game's own rules.
    pub fn of_motion(motion: &MotionFile, games: &Games) -> Option<Self> {
        let Some(source) = &motion.source else { return Self::of_points(&motion.points) };
        let samples = motion.points.iter().zip(&motion.values).map(|(point, values)| {
            RecordedSample { time: point.time, values: *values, segment: point.segment }
        });
        let tick_hz = source.tick_hz.into();
        let rates = Rates { tick_hz, snapshot_hz: tick_hz };
        let entry = games.get(&source.game).ok()?;
        let rules = (entry.rules)(rates, source.seed, source.kind);
        Self::of(source.fields, samples.collect(), rules)
    }

    /// Indices of the position's fields.
    pub fn position(&self) -> [usize; 2] {
        self.position
    }

    /// Index of the direction's field.
    pub fn turn(&self) -> Option<usize> {
        self.turn
    }

    /// Seconds from the first sample to the last.
    pub fn secs(&self) -> f64 {
        self.samples.last().map_or(0.0, |last| last.time)
    }

    /// Position of some coordinates, in the recording's own unit.
    pub fn position_of(&self, coords: &Coords) -> [f64; 2] {
        [0, 1].map(|axis| coords[self.position[axis]] * self.scale + self.origin[axis])
    }

    /// The shorter way from one position to another, if the world wraps.
    pub fn way(&self, from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
        std::array::from_fn(|axis| {
            let way = to[axis] - from[axis];
            match self.shape.fields()[self.position[axis]].period() {
                Some(period) => way - period * self.scale * (way / (period * self.scale)).round(),
                None => way,
            }
        })
    }

    /// The least and the greatest coordinates, horizontal and vertical.
    pub fn bounds(&self) -> [[f64; 2]; 2] {
        bounds_of(self.samples.iter().map(|sample| {
            let value = |axis: usize| sample.values[self.position[axis]];
            [0, 1].map(|axis| value(axis) * self.scale + self.origin[axis])
        }))
    }

    /// Size of a pixel: a thousandth of the path's longer side.
    pub fn pixel(&self) -> f64 {
        let [width, height] = self.bounds().map(|[least, most]| most - least);
        let extent = width.max(height);
        if extent > 0.0 { extent / PIXELS } else { 1.0 }
    }

    /// The state and segment at a time within the recording, blended between samples.
    pub fn state(&self, time: f64) -> Option<(Values, u32)> {
        if !(-SAME_SECS..=self.secs() + SAME_SECS).contains(&time) {
            return None;
        }
        let next = self.samples.partition_point(|sample| sample.time <= time + SAME_SECS);
        let from = self.samples.get(next.checked_sub(1)?)?;
        let to = self.samples.get(next).filter(|to| to.segment == from.segment);
        let Some(to) = to.filter(|_| time - from.time > SAME_SECS) else {
            return Some((from.values, from.segment));
        };
        let part = (time - from.time) / (to.time - from.time);
        let values = blend_values(self.shape.fields(), &from.values, &to.values, part);
        Some((values, from.segment))
    }

    /// The true position at a time, on a straight line between samples. `None` across a cut and
    /// outside of the recording.
    pub fn truth(&self, time: f64) -> Option<Truth> {
        if !(0.0..=self.secs()).contains(&time) {
            return None;
        }
        let next = self.samples.partition_point(|sample| sample.time <= time);
        let from = &self.samples[next.checked_sub(1)?];
        let to = self.samples.get(next).unwrap_or(from);
        let span = to.time - from.time;
        let part = if span > 0.0 { (time - from.time) / span } else { 0.0 };
        let fields = self.shape.fields();
        let blend = |at: usize| {
            let values = [from, to].map(|sample| sample.values[at]);
            values[0] + fields[at].way(values[0], values[1]) * part
        };
        (from.segment == to.segment).then(|| Truth {
            position: [0, 1]
                .map(|axis| blend(self.position[axis]) * self.scale + self.origin[axis]),
            turn: self.turn.map(blend),
            segment: from.segment,
        })
    }
}

/// The least and the greatest coordinates of some positions.
fn bounds_of(positions: impl Iterator<Item = [f64; 2]>) -> [[f64; 2]; 2] {
    positions.fold([[f64::INFINITY, f64::NEG_INFINITY]; 2], |bounds, position| {
        [0, 1].map(|at| [bounds[at][0].min(position[at]), bounds[at][1].max(position[at])])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(positions: &[[f64; 3]]) -> Vec<Point> {
        positions.iter().map(|&[time, x, y]| Point { time, x, y, segment: 0 }).collect()
    }

    #[test]
    fn between_two_points_it_is_on_the_line() {
        let recording = Recording::of_points(&points(&[[5.0, 1e6, 2.0], [6.0, 1e6 + 4.0, 4.0]]));
        let recording = recording.expect("two points");
        for part in [0.0, 0.25, 1.0] {
            let position = recording.truth(part).expect("it is there").position;
            assert!((position[0] - 1e6 - 4.0 * part).abs() < 1e-6, "{position:?}");
            assert!((position[1] - 2.0 - 2.0 * part).abs() < 1e-6, "{position:?}");
        }
        assert_eq!(recording.secs(), 1.0);
        assert_eq!((recording.truth(-0.1), recording.truth(1.1)), (None, None));
        assert!((recording.pixel() - 0.004).abs() < 1e-9);
    }

    #[test]
    fn a_state_is_that_of_its_sample_or_between_two() {
        let mut points = points(&[[0.0, 0.0, 0.0], [0.1, 1.0, 0.0], [0.2, 9.0, 9.0]]);
        points[2].segment = 1;
        let recording = Recording::of_points(&points).expect("three points");
        let x = |time| recording.state(time).map(|(values, segment)| (values[0], segment));
        let [a, b, c] = [0, 1, 2].map(|at| recording.samples[at].values[0]);
        assert_eq!((x(0.0), x(0.1), x(0.2)), (Some((a, 0)), Some((b, 0)), Some((c, 1))));
        assert_eq!(x(0.05), Some((f64::midpoint(a, b), 0)));
        // A millionth of a second is no difference, and a cut is not crossed.
        assert_eq!((x(0.100_001), x(0.15), x(0.3)), (Some((b, 0)), Some((b, 0)), None));
        assert_eq!(recording.truth(0.15), None);
    }

    #[test]
    fn what_is_no_path_is_none() {
        assert!(Recording::of_points(&[]).is_none());
        assert!(Recording::of_points(&points(&[[0.0, 1.0, 1.0]])).is_none());
        assert!(Recording::of_points(&points(&[[0.0, 1.0, 1.0], [1.0, f64::NAN, 1.0]])).is_none());
        let still = Recording::of_points(&points(&[[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]));
        assert_eq!(still.expect("it stands").truth(0.5).expect("it is there").position, [1.0; 2]);
    }
}

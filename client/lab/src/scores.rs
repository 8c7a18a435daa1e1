//! Scores of a method: its distance from the truth, its jerk, and the frames that lack data.

use phaselock::motion::{Moment, Timeline};
use serde::Serialize;

use super::carried::ASKED_EVERY;
use super::{Carried, Contender, OnScreen, Recording, Screen, Truth};

/// A frame, and the truth about it.
#[derive(Clone, Copy, Debug)]
pub struct ScoredFrame {
    /// Times of the frame.
    pub at: Moment,
    /// Time that is shown.
    pub time: f64,
    /// What the screen shows.
    pub seen: OnScreen,
    /// Shown position, in the recording's own unit.
    pub position: Option<[f64; 2]>,
    /// True position at the time shown.
    pub then: Option<Truth>,
    /// True position at present.
    pub present: Option<Truth>,
}

/// Shows a recording as it was carried, frame by frame.
pub fn watch<'a>(
    recording: &'a Recording,
    carried: &'a Carried,
    contender: Contender,
) -> impl Iterator<Item = ScoredFrame> + 'a {
    let mut screen = Screen::new(recording.shape, contender, carried.horizon);
    let mut arrivals = carried.arrivals.iter().peekable();
    carried.frames.iter().map(move |&at| {
        while let Some(state) = arrivals.next_if(|state| state.at <= at.now) {
            screen.expect(state.interval);
            let times = (state.time, state.at);
            screen.receive(state.segment, times, &state.values, &*recording.rules);
        }
        let seen = screen.show(at, &*recording.rules);
        let time = contender.timeline().time(at);
        let position = match seen {
            OnScreen::Shown(shown, _) => Some(recording.position_of(&shown.position)),
            OnScreen::Nothing | OnScreen::Cut => None,
        };
        let present = recording.truth(at.now);
        let then = if time == at.now { present } else { recording.truth(time) };
        ScoredFrame { at, time, seen, position, then, present }
    })
}

/// Scores of a method, with distances in the recording's own unit. Without a shown frame, errors
/// are not numbers.
///
/// *Jerk* is visible stutter: the root mean square, over frames, of the second difference of the
/// error, which is the shown position less the true one at the time shown. A constant or evenly
/// growing error has no jerk; a jump by a metre counts a metre in two frames. Squares, because the
/// eye sees one jump, and not a hundred small ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Scores {
    /// Mean distance from the true position at the time shown.
    pub error_shown_mean: f64,
    /// Its 99th percentile.
    pub error_shown_p99: f64,
    /// The maximum.
    pub error_shown_max: f64,
    /// Mean distance from the true position at present.
    pub error_now_mean: f64,
    /// Its 99th percentile.
    pub error_now_p99: f64,
    /// The maximum.
    pub error_now_max: f64,
    /// Jerk between frames as drawn; NaN without three in a row.
    pub jerk: f64,
    /// Largest change from one frame to the next.
    pub jerk_max: f64,
    /// Mean error of the direction in turns, for a body that has one.
    pub turned_shown_mean: Option<f64>,
    /// Frames in which the body was absent or what the method needs was missing, per million.
    pub missing_per_million: f64,
    /// Frames with nothing, or with the body elsewhere around a teleport, per million. They have no
    /// error.
    pub absent_per_million: f64,
    /// Number of scored frames.
    pub frames: usize,
}

impl Scores {
    /// Shows a recording as it was carried.
    pub fn of(recording: &Recording, carried: &Carried, contender: Contender) -> Self {
        Self::of_while(recording, carried, contender, &|| true)
    }

    /// Shows a recording as it was carried, while `go_on` returns true; it is called every few
    /// thousand frames.
    pub(super) fn of_while(
        recording: &Recording,
        carried: &Carried,
        contender: Contender,
        go_on: &dyn Fn() -> bool,
    ) -> Self {
        let mut tally = Tally::new(recording);
        for (number, frame) in (1_u64..).zip(watch(recording, carried, contender)) {
            if number % ASKED_EVERY == 0 && !go_on() {
                break;
            }
            if frame.at.now >= carried.warm_up {
                tally.push(&frame);
            }
        }
        tally.scores()
    }
}

/// Scores while frames are counted.
#[derive(Clone, Debug)]
pub struct Tally<'a> {
    recording: &'a Recording,
    shown: Vec<f64>,
    now: Vec<f64>,
    jerks: Jerks,
    frames: usize,
    starved: usize,
    absent: usize,
    turns: f64,
}

impl<'a> Tally<'a> {
    /// Starts without frames.
    pub fn new(recording: &'a Recording) -> Self {
        let (shown, now) = (Vec::new(), Vec::new());
        let (frames, starved, absent, turns) = (0, 0, 0, 0.0);
        Self { recording, shown, now, jerks: Jerks::default(), frames, starved, absent, turns }
    }

    /// Counts the next frame.
    pub fn push(&mut self, frame: &ScoredFrame) {
        let (Some(then), Some(present)) = (frame.then, frame.present) else {
            // A teleport is not a method's error.
            self.jerks.cut();
            return;
        };
        self.frames += 1;
        let OnScreen::Shown(shown, of) = frame.seen else {
            self.absent += 1;
            self.jerks.cut();
            return;
        };
        let position = self.recording.position_of(&shown.position);
        let off = |from: [f64; 2]| self.recording.way(from, position);
        if of == present.segment {
            self.now.push(length(off(present.position)));
        }
        if of != then.segment {
            // On another segment, the distance means nothing: the body is absent where it truly is.
            self.absent += 1;
            self.jerks.cut();
            return;
        }
        self.starved += usize::from(shown.starved);
        self.shown.push(length(off(then.position)));
        self.jerks.push(off(then.position), of);
        if let (Some(field), Some(turn)) = (self.recording.turn(), then.turn) {
            let off = shown.position[field] - turn;
            self.turns += (off - off.round()).abs();
        }
    }

    /// The scores so far.
    pub fn scores(self) -> Scores {
        let Self { mut shown, mut now, .. } = self;
        let mean = |errors: &[f64]| ratio(errors.iter().sum(), errors.len());
        let most = |errors: &mut [f64], part: f64| {
            if errors.is_empty() { f64::NAN } else { quantile(errors, part) }
        };
        let per_million = |frames: usize| frames as f64 * 1e6 / self.frames.max(1) as f64;
        let turned = ratio(self.turns, shown.len());
        Scores {
            error_shown_mean: mean(&shown),
            error_shown_p99: most(&mut shown, 0.99),
            error_shown_max: most(&mut shown, 1.0),
            error_now_mean: mean(&now),
            error_now_p99: most(&mut now, 0.99),
            error_now_max: most(&mut now, 1.0),
            jerk: ratio(self.jerks.squares, self.jerks.count).sqrt(),
            jerk_max: self.jerks.most,
            turned_shown_mean: self.recording.turn().map(|_| turned),
            missing_per_million: per_million(self.absent + self.starved),
            absent_per_million: per_million(self.absent),
            frames: self.frames,
        }
    }
}

/// Name of a timeline.
pub fn timeline_name(timeline: Timeline) -> &'static str {
    match timeline {
        Timeline::Past => "past",
        Timeline::Present => "present",
    }
}

/// The quantile by the nearest rank; 0 without samples.
pub fn quantile(samples: &mut [f64], part: f64) -> f64 {
    let Some(last) = samples.len().checked_sub(1) else { return 0.0 };
    let rank = (samples.len() as f64 * part).ceil() as usize;
    let at = rank.saturating_sub(1).min(last);
    *samples.select_nth_unstable_by(at, f64::total_cmp).1
}

/// A mean; without values, positive NaN, which sorts last. A processor's 0 / 0 may be negative NaN,
/// which sorts first.
pub(super) fn ratio(sum: f64, count: usize) -> f64 {
    if count == 0 { f64::NAN } else { sum / count as f64 }
}

fn length([x, y]: [f64; 2]) -> f64 {
    // As `hypot`, but the same on every machine.
    (x * x + y * y).sqrt()
}

/// Second differences of the error, on one segment at a time.
#[derive(Clone, Debug, Default)]
struct Jerks {
    /// The last two errors.
    before: [Option<[f64; 2]>; 2],
    segment: u32,
    squares: f64,
    count: usize,
    most: f64,
}

impl Jerks {
    fn push(&mut self, error: [f64; 2], segment: u32) {
        if segment != self.segment {
            self.cut();
        }
        if let [Some(first), Some(second)] = self.before {
            let change = [0, 1].map(|axis| error[axis] - 2.0 * second[axis] + first[axis]);
            self.squares += length(change).powi(2);
            self.count += 1;
            self.most = self.most.max(length(change));
        }
        (self.before, self.segment) = ([self.before[1], Some(error)], segment);
    }

    fn cut(&mut self) {
        self.before = [None; 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jerks(errors: &[f64]) -> Jerks {
        let mut jerks = Jerks::default();
        for error in errors {
            jerks.push([0.0, *error], 1);
        }
        jerks
    }

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        let of = |count: u32, part| {
            let mut samples: Vec<_> = (1..=count).rev().map(f64::from).collect();
            quantile(&mut samples, part)
        };
        assert_eq!(
            [1, 10, 100, 101, 1000].map(|count| of(count, 0.99)),
            [1.0, 10.0, 99.0, 100.0, 990.0]
        );
        assert_eq!([of(4, 0.5), of(5, 0.5), of(4, 1.0), of(4, 0.0)], [2.0, 3.0, 4.0, 1.0]);
    }

    #[test]
    fn what_was_not_measured_is_no_number_and_comes_last() {
        let recording = crate::formulas::Formula::Sine.record(2.0);
        let scores = Tally::new(&recording).scores();
        let mut all = [scores.jerk, 1.0, scores.error_now_mean, 0.0, scores.error_shown_mean];
        all.sort_by(f64::total_cmp);
        assert!(all[..2] == [0.0, 1.0] && all[2..].iter().all(|it| it.is_nan()), "{all:?}");
    }

    #[test]
    fn jerk_is_what_is_uneven_about_the_error() {
        assert_eq!(jerks(&[3.0; 9]).squares, 0.0, "off by the same");
        assert_eq!(jerks(&[0.0, 1.0, 2.0, 3.0]).squares, 0.0, "drifts evenly");
        let jump = jerks(&[0.0, 0.0, 2.0, 2.0, 2.0]);
        assert_eq!((jump.squares, jump.count, jump.most), (8.0, 3, 2.0));
        let mut apart = jerks(&[0.0, 0.0]);
        apart.push([0.0, 9.0], 2);
        assert_eq!(apart.count, 0, "a teleport does not count as stutter");
    }
}

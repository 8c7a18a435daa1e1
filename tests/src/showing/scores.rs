//! How far what is shown is from the truth, how smoothly, and how often for want of anything better.

use std::fmt::Display;

use phaselock_shared::link::{Conditions, ConditionsError};
use phaselock_shared::motion::Timeline;
use phaselock_shared::motion::interpolate::TickTime;
use phaselock_shared::time::{ServerTime, Tick};
use serde::{Serialize, Serializer};

use super::carried::{moment, secs_of};
use super::screen::Seen;
use super::{Carried, Presenter, Screen, Sending};
use crate::figures::quantile;
use crate::motions::{Motion, RATES, Recording};

/// Seconds that are not scored: the delay is still on its way to what the network needs.
const WARM_UP_SECS: f64 = 5.0;

/// What was measured; distances in metres.
///
/// *Jerk* is what the eye sees as stutter: the root mean square, over frames, of the change from frame to
/// frame of the error's own step, the error being what is shown less the truth at the time shown. What moves
/// as the truth does, however wildly, has none, and neither has what is off by the same all the time or
/// drifts off evenly; a jump by a metre counts a metre in two frames. Squares, because one jump is seen and
/// a hundred parts of it are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Scores {
    /// From the true place at the time that is shown.
    pub error_shown_mean: f64,
    /// Its 99th percentile.
    pub error_shown_p99: f64,
    /// The greatest.
    pub error_shown_max: f64,
    /// From the true place at the present.
    pub error_now_mean: f64,
    /// Its 99th percentile.
    pub error_now_p99: f64,
    /// The greatest.
    pub error_now_max: f64,
    /// See above; for frames of a 60th of a second.
    pub jerk: f64,
    /// The greatest such change from one frame to the next.
    pub jerk_max: f64,
    /// From where it truly points at the time that is shown, in turns; none for what does not point.
    pub turned_shown_mean: Option<f64>,
    /// Frames in which there was nothing to show, or not what the method needs, per million.
    pub missing_per_million: f64,
    /// Frames that were scored.
    pub frames: usize,
}

impl Scores {
    /// Shows a recording as it was carried.
    pub fn of(recording: &Recording, carried: &Carried, presenter: Presenter) -> Self {
        let mut screen = Screen::new(recording.shape, presenter);
        let rules = &*recording.rules;
        let mut arrivals = carried.arrivals.iter().copied().peekable();
        let mut shown_errors = Vec::with_capacity(carried.frames.len());
        let mut now_errors = Vec::with_capacity(carried.frames.len());
        let mut jerks = Jerks::default();
        let (mut frames, mut missing, mut turns) = (0_usize, 0_usize, 0.0);
        for &(now, past) in &carried.frames {
            while let Some((arrival, tick)) = arrivals.next_if(|(arrival, _)| *arrival <= now) {
                let state = &recording.states[tick as usize];
                let times = (secs_of(RATES.time_of(Tick(tick))), secs_of(arrival));
                screen.receive(state.course, times, &state.values, rules);
            }
            let seen = screen.show(moment(now, past), rules);
            if secs_of(now) < WARM_UP_SECS {
                continue;
            }
            let time = match presenter.timeline() {
                Timeline::Past => past,
                Timeline::Present => now,
            };
            let truth = |time: ServerTime| recording.truth(TickTime::at(RATES, time));
            let (Some(then), Some(present)) = (truth(time), truth(now)) else {
                // A teleport is nobody's error.
                jerks.cut();
                continue;
            };
            let (shown, of) = match seen {
                Seen::Shown(shown, of) => (shown, of),
                Seen::Nothing => {
                    (frames, missing) = (frames + 1, missing + 1);
                    jerks.cut();
                    continue;
                }
                Seen::Cut => {
                    jerks.cut();
                    continue;
                }
            };
            let place = recording.place().map(|field| shown.place[field]);
            let off = |from: [f64; 2]| recording.way(from, place);
            if of == present.course {
                now_errors.push(length(off(present.place)));
            }
            if of != then.course {
                jerks.cut();
                continue;
            }
            frames += 1;
            missing += usize::from(shown.starved);
            shown_errors.push(length(off(then.place)));
            jerks.push(off(then.place), of);
            if let (Some(field), Some(turn)) = (recording.turn(), then.turn) {
                let off = shown.place[field] - turn;
                turns += (off - off.round()).abs();
            }
        }
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        Self {
            error_shown_mean: mean(&shown_errors),
            error_shown_p99: quantile(&mut shown_errors, 0.99),
            error_shown_max: quantile(&mut shown_errors, 1.0),
            error_now_mean: mean(&now_errors),
            error_now_p99: quantile(&mut now_errors, 0.99),
            error_now_max: quantile(&mut now_errors, 1.0),
            jerk: (jerks.squares / jerks.count.max(1) as f64).sqrt(),
            jerk_max: jerks.most,
            turned_shown_mean: recording.turn().map(|_| turns / shown_errors.len().max(1) as f64),
            missing_per_million: missing as f64 * 1e6 / frames.max(1) as f64,
            frames,
        }
    }
}

fn length([x, y]: [f64; 2]) -> f64 {
    x.hypot(y)
}

/// Second differences of the error, on one course at a time.
#[derive(Debug, Default)]
struct Jerks {
    /// The last two errors.
    before: [Option<[f64; 2]>; 2],
    course: u32,
    squares: f64,
    count: usize,
    most: f64,
}

impl Jerks {
    fn push(&mut self, error: [f64; 2], course: u32) {
        if course != self.course {
            self.cut();
        }
        if let [Some(first), Some(second)] = self.before {
            let change = [0, 1].map(|axis| error[axis] - 2.0 * second[axis] + first[axis]);
            self.squares += length(change).powi(2);
            self.count += 1;
            self.most = self.most.max(length(change));
        }
        (self.before, self.course) = ([self.before[1], Some(error)], course);
    }

    fn cut(&mut self) {
        self.before = [None; 2];
    }
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What moved.
    #[serde(serialize_with = "by_name")]
    pub motion: Motion,
    /// The network.
    pub profile: String,
    /// What showed it.
    #[serde(serialize_with = "by_name")]
    pub method: Presenter,
    /// Which time it shows: `past` or `present`.
    pub timeline: &'static str,
    /// When the sender sent.
    pub sending: &'static str,
    /// States a second that it sent.
    pub sends_per_second: f64,
    /// How far behind the present the past is shown, on average.
    pub delay_ms: f64,
    /// What was measured.
    #[serde(flatten)]
    pub scores: Scores,
    /// Nanoseconds to show one body once, with what comes of it; none if that was not measured.
    pub ns_per_frame: Option<f64>,
}

fn by_name<S: Serializer>(what: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(what)
}

impl Row {
    /// A line of scores, but for how it was carried.
    pub fn new(
        motion: Motion,
        profile: String,
        method: Presenter,
        sending: Sending,
        scores: Scores,
    ) -> Self {
        let timeline = match method.timeline() {
            Timeline::Past => "past",
            Timeline::Present => "present",
        };
        Self {
            motion,
            profile,
            method,
            timeline,
            sending: sending.name(),
            sends_per_second: 0.0,
            delay_ms: 0.0,
            scores,
            ns_per_frame: None,
        }
    }
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What moves.
    pub motions: Vec<Motion>,
    /// Over which networks, as they are written.
    pub profiles: Vec<String>,
    /// What shows it.
    pub presenters: Vec<Presenter>,
    /// For how many seconds.
    pub seconds: f64,
    /// By which dice.
    pub seed: u64,
}

impl Plan {
    /// Measures all, one motion and network after the other. An error is that of a network's text.
    pub fn run(&self, mut each: impl FnMut(&[Row])) -> Result<Vec<Row>, ConditionsError> {
        let networks: Result<Vec<Conditions>, _> =
            self.profiles.iter().map(|profile| profile.parse()).collect();
        let networks = networks?;
        let ticks = (self.seconds * f64::from(RATES.tick_hz)) as u64 + 1;
        let mut rows = Vec::new();
        for &motion in &self.motions {
            let recording = motion.record(ticks, self.seed);
            for conditions in &networks {
                let from = rows.len();
                for sending in Sending::ALL {
                    let wanted = |presenter: &&Presenter| presenter.sendings().contains(sending);
                    let mut presenters = self.presenters.iter().filter(wanted).peekable();
                    if presenters.peek().is_none() {
                        continue;
                    }
                    let carried =
                        Carried::new(&recording, conditions, *sending, self.seconds, self.seed);
                    rows.extend(presenters.map(|&presenter| Row {
                        sends_per_second: carried.sends_per_second,
                        delay_ms: carried.delay_mean.as_ms(),
                        ..Row::new(
                            motion,
                            conditions.to_string(),
                            presenter,
                            *sending,
                            Scores::of(&recording, &carried, presenter),
                        )
                    }));
                }
                each(&rows[from..]);
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;
    use phaselock_shared::motion::choice::Choice;
    use phaselock_shared::motion::{HORIZON_SECS, RECKONED_SECS};

    fn jerks(errors: &[f64]) -> Jerks {
        let mut jerks = Jerks::default();
        for error in errors {
            jerks.push([0.0, *error], 1);
        }
        jerks
    }

    #[test]
    fn jerk_is_what_is_uneven_about_the_error() {
        assert_eq!(jerks(&[3.0; 9]).squares, 0.0, "off by the same");
        assert_eq!(jerks(&[0.0, 1.0, 2.0, 3.0]).squares, 0.0, "drifts evenly");
        let jump = jerks(&[0.0, 0.0, 2.0, 2.0, 2.0]);
        assert_eq!((jump.squares, jump.count, jump.most), (8.0, 3, 2.0));
        let mut apart = jerks(&[0.0, 0.0]);
        apart.push([0.0, 9.0], 2);
        assert_eq!(apart.count, 0, "a teleport is no stutter");
    }

    #[test]
    fn a_perfect_network_leaves_only_the_delay() {
        let recording = Motion::Flyer.record(60 * 20, 1);
        let perfect = Conditions::from_str("delay=0ms").expect("it is a network");
        let carried = Carried::new(&recording, &perfect, Sending::Every, 20.0, 1);
        assert!((29.0..31.0).contains(&carried.sends_per_second));
        let of = |name: &str| {
            let found = Presenter::all().find(|presenter| presenter.name() == name);
            Scores::of(&recording, &carried, found.expect("it is there"))
        };
        let linear = of("linear");
        let behind = carried.delay_mean.as_secs() * 40.0;
        assert!((linear.error_now_mean / behind - 1.0).abs() < 0.01, "{linear:?}, {behind} m");
        // In a turn a straight line cuts the corner by 2 mm.
        assert!(linear.error_shown_max < 3e-3 && linear.jerk < 2e-3, "{linear:?}");
        assert_eq!((linear.missing_per_million, linear.frames), (0.0, 901));
        // The newest state is half of a snapshot's interval old on average, and jumps by one.
        let newest = of("newest-state");
        assert!((newest.error_now_mean * 60.0 / 40.0 - 1.0).abs() < 0.02, "{newest:?}");
        assert!((newest.jerk_max - 40.0 / 30.0).abs() < 0.01, "{newest:?}");
    }

    #[test]
    fn what_does_not_come_is_missing() {
        let recording = Motion::Flyer.record(60 * 20, 1);
        let broken = Conditions::from_str("delay=10ms; 10s: loss=100%").expect("it is a network");
        let carried = Carried::new(&recording, &broken, Sending::Every, 20.0, 1);
        for presenter in Presenter::all() {
            let missing = Scores::of(&recording, &carried, presenter).missing_per_million;
            // For ten of fifteen seconds, less as long as it goes on without news.
            let horizon = match presenter {
                Presenter::Method(Choice::DeadReckoning) => RECKONED_SECS,
                _ => HORIZON_SECS,
            };
            let least = (10.0 - horizon) / 15.0 * 1e6 - 5e3;
            assert!((least..670e3).contains(&missing), "{presenter}: {missing}");
        }
    }
}

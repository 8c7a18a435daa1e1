//! Plans of measurements, and their rows.

use std::fmt::Display;

use phaselock::link::{Conditions, ConditionsError};
use phaselock_lab::scores::timeline_name;
use phaselock_lab::{Contender, Scores, SendPolicy};
use serde::{Serialize, Serializer};

use super::{Subject, carry, sendings};

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the recorded motion.
    pub motion: String,
    /// A pixel in its unit.
    pub pixel: f64,
    /// Whether it comes from a file, whose unit of length is unknown.
    pub is_file: bool,
    /// The network.
    pub profile: String,
    /// The method.
    #[serde(serialize_with = "by_name")]
    pub method: Contender,
    /// The time that the method shows: `past` or `present`.
    pub timeline: &'static str,
    /// The send rule.
    pub sending: &'static str,
    /// States that it sent per second.
    pub sends_per_second: f64,
    /// Mean interpolation delay, in milliseconds.
    pub delay_ms: f64,
    /// Errors and jerks.
    #[serde(flatten)]
    pub scores: Scores,
    /// Nanoseconds to show one body once; None if not measured.
    pub ns_per_frame: Option<f64>,
}

fn by_name<S: Serializer>(what: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(what)
}

/// A plan of measurements.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Recorded motions.
    pub motions: Vec<Subject>,
    /// Networks, as for `--link`.
    pub profiles: Vec<String>,
    /// Methods.
    pub contenders: Vec<Contender>,
    /// Seconds of play, and the most of a file.
    pub seconds: f64,
    /// Seed of motions and networks.
    pub seed: u64,
}

impl Plan {
    /// Measures everything, one motion and network after the other. Fails if a network's text is
    /// invalid.
    pub fn run(&self, mut each: impl FnMut(&[Row])) -> Result<Vec<Row>, ConditionsError> {
        let networks: Result<Vec<Conditions>, _> =
            self.profiles.iter().map(|profile| profile.parse()).collect();
        let networks = networks?;
        let mut rows = Vec::new();
        for motion in &self.motions {
            let recording = &*motion.record(self.seconds, self.seed);
            let seconds = self.seconds.min(recording.secs());
            for conditions in &networks {
                let from = rows.len();
                for sending in SendPolicy::ALL {
                    let wanted = |one: &&Contender| sendings(**one).contains(sending);
                    let mut contenders = self.contenders.iter().filter(wanted).peekable();
                    if contenders.peek().is_none() {
                        continue;
                    }
                    let carried = carry(recording, conditions, *sending, seconds, self.seed);
                    rows.extend(contenders.map(|&method| Row {
                        motion: motion.to_string(),
                        pixel: motion.pixel(),
                        is_file: motion.is_file(),
                        profile: conditions.to_string(),
                        method,
                        timeline: timeline_name(method.timeline()),
                        sending: sending.name(),
                        sends_per_second: carried.sends_per_second,
                        delay_ms: carried.delay_mean.as_ms(),
                        scores: Scores::of(recording, &carried, method),
                        ns_per_frame: None,
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
    use phaselock::motion::choice::Choice;
    use phaselock::motion::{HORIZON_SECS, RECKONED_SECS};

    use crate::motions::Motion;

    #[test]
    fn a_perfect_network_leaves_only_the_delay() {
        let recording = Motion::FLYER.record(60 * 20, 1);
        let perfect = Conditions::from_str("delay=0ms").expect("it is a network");
        let carried = carry(&recording, &perfect, SendPolicy::Every, 20.0, 1);
        assert!((29.0..31.0).contains(&carried.sends_per_second));
        let of = |name: &str| Scores::of(&recording, &carried, name.parse().expect("it is there"));
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
    fn updates_that_do_not_come_are_missing() {
        let recording = Motion::FLYER.record(60 * 20, 1);
        let broken = Conditions::from_str("delay=10ms; 10s: loss=100%").expect("it is a network");
        let carried = carry(&recording, &broken, SendPolicy::Every, 20.0, 1);
        for contender in Contender::playable() {
            let missing = Scores::of(&recording, &carried, contender).missing_per_million;
            // For ten of fifteen seconds, less the time that it continues without news.
            let horizon = match contender {
                Contender::Method(Choice::DeadReckoning | Choice::Adaptive) => RECKONED_SECS,
                _ => HORIZON_SECS,
            };
            let least = (10.0 - horizon) / 15.0 * 1e6 - 5e3;
            assert!((least..670e3).contains(&missing), "{contender}: {missing}");
        }
    }
}

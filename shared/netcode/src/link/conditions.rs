//! Network conditions as people write them, and the named profiles.

use std::fmt;
use std::str::FromStr;

use super::config::{LinkConfig, LinkError, LinkSchedule, Spread};
use super::way::Link;
use crate::time::{LocalTime, Micros};

/// The named profiles, applied in each direction: round numbers in the range of published medians
/// (Ookla, FCC); tails and losses are arbitrary.
pub const PROFILES: [(&str, &str); 6] = [
    ("lan", "delay=500us,jitter=500us,order=kept"),
    (
        "cable",
        "delay=10ms,jitter=2ms,spread=normal,order=kept,loss=0.1%,up.rate=20Mbit,down.rate=100Mbit",
    ),
    ("wifi", "delay=12ms,jitter=6ms,spread=heavy,order=kept,loss=1%,burst=4,rate=20Mbit"),
    (
        "mobile",
        "delay=35ms,jitter=15ms,spread=heavy,order=kept,loss=1%,burst=6,\
         up.rate=5Mbit,down.rate=20Mbit,queue=128kB",
    ),
    ("intercontinental", "delay=90ms,jitter=3ms,spread=normal,loss=0.5%,burst=3"),
    (
        "terrible",
        "delay=150ms,jitter=60ms,order=free,loss=15%,burst=4,duplicate=2%,\
         rate=512kbit,queue=32kB",
    ),
];

/// The maximum length of a text in bytes.
const TEXT_BYTES_MAX: usize = 2048;
/// The maximum number of changes over time.
const CHANGES_MAX: usize = 100;
/// Time of the latest possible change.
const CHANGE_AT_MAX: Micros = Micros::from_ms(24 * 3600 * 1000);

/// The network between a client and its server: one link in each direction.
///
/// Written as an optional profile and a list of properties. After each `;` and a time since the
/// start follow the changes at that time, or `repeat`:
///
/// - `wifi`
/// - `delay=100ms,jitter=30ms,loss=5%,burst=3`
/// - `mobile,down.loss=10%,seed=7`
/// - `cable; 10s: delay=120ms; 20s: cable; 30s: repeat`
///
/// | property | meaning | default |
/// |---|---|---|
/// | `delay=100ms` | transit time of packets in each direction | 0 |
/// | `jitter=30ms` | its variation; negative times become 0 | 0 |
/// | `spread=uniform`, `normal`, `heavy` | distribution of the variation ([`Spread`]) | `uniform` |
/// | `order=kept`, `free` | whether packets keep their order | `free` |
/// | `loss=5%` | fraction of packets lost; at 100 % all are, whatever the bursts | 0 |
/// | `burst=3` | mean length of a bad state in packets | 1: losses are independent |
/// | `burst-loss=80%`, `stray-loss=1%` | lost in bad and in good states; need `burst` | 100 %, 0 |
/// | `duplicate=1%` | fraction of packets duplicated | 0 |
/// | `rate=2Mbit` | maximum rate in bits per second | no limit |
/// | `queue=64kB` | bytes that may be queued for that rate | 64 kB |
/// | `seed=7` | seed of all random decisions | 1 |
///
/// Jitter greater than the delay leaves a part of the packets without delay, and the mean above
/// `delay`: with `delay=0ms,jitter=30ms` half of them arrive at once.
///
/// Queued packets leave at the current rate, even after a change.
///
/// `up.` (from client to server) or `down.` before a property other than `seed` applies it to one
/// direction only.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// From the client to the server.
    pub up: LinkSchedule,
    /// From the server to the client.
    pub down: LinkSchedule,
    /// Seed of all random decisions.
    pub seed: u64,
    text: String,
}

impl Conditions {
    /// Creates the two links, with nothing in flight; `start` is the start of their schedules.
    pub fn links<T: Clone>(&self, start: LocalTime) -> (Link<T>, Link<T>) {
        let up = Link::starting(start, self.up.clone(), self.seed << 1);
        (up, Link::starting(start, self.down.clone(), (self.seed << 1) | 1))
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is not a network description.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionsError {
    #[error(
        "'{0}' is neither a profile ({profiles}) nor a property such as delay=100ms, jitter=30ms, \
         spread=normal, order=kept, loss=5%, burst=3, burst-loss=80%, stray-loss=1%, duplicate=1%, \
         rate=2Mbit, queue=64kB, seed=7", profiles = PROFILES.map(|(name, _)| name).join(", ")
    )]
    Unknown(String),
    #[error("'{value}' is not a valid {key}; example: {example}")]
    Value { key: String, value: String, example: &'static str },
    #[error("'{0}' must begin with the time since the start and a colon, as in 10s: loss=5%")]
    Time(String),
    #[error("changes must be in order of time and begin within 24 h")]
    Order,
    #[error("nothing may follow 'repeat'")]
    AfterRepeat,
    #[error(
        "the description is too long: at most {TEXT_BYTES_MAX} bytes and {CHANGES_MAX} changes"
    )]
    TooLong,
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl FromStr for Conditions {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self, ConditionsError> {
        let text = text.trim();
        if text.len() > TEXT_BYTES_MAX || text.matches(';').count() > CHANGES_MAX {
            return Err(ConditionsError::TooLong);
        }
        let mut both = Both { up: LinkConfig::PERFECT, down: LinkConfig::PERFECT, seed: 1 };
        let mut parts = text.split(';');
        both.apply(parts.next().unwrap_or_default(), true)?;
        let mut up = LinkSchedule::from(both.up.validate()?);
        let mut down = LinkSchedule::from(both.down.validate()?);
        let mut last = Micros::ZERO;
        for part in parts {
            if up.repeat.is_some() {
                return Err(ConditionsError::AfterRepeat);
            }
            let wrong = || ConditionsError::Time(part.trim().into());
            let (at, change) = part.split_once(':').ok_or_else(wrong)?;
            let at = time(at.trim()).ok_or_else(wrong)?;
            if at <= last || at > CHANGE_AT_MAX {
                return Err(ConditionsError::Order);
            }
            last = at;
            if change.trim() == "repeat" {
                (up.repeat, down.repeat) = (Some(at), Some(at));
            } else {
                both.apply(change, false)?;
                up.changes.push((at, both.up.validate()?));
                down.changes.push((at, both.down.validate()?));
            }
        }
        Ok(Self { up, down, seed: both.seed, text: text.into() })
    }
}

/// Both directions while they are parsed.
struct Both {
    up: LinkConfig,
    down: LinkConfig,
    seed: u64,
}

impl Both {
    fn apply(&mut self, list: &str, with_seed: bool) -> Result<(), ConditionsError> {
        for (n, item) in list.split(',').map(str::trim).enumerate() {
            let unknown = || ConditionsError::Unknown(item.into());
            let Some((key, value)) = item.split_once('=') else {
                let profile = PROFILES.iter().find(|(name, _)| *name == item && n == 0);
                let (_, properties) = profile.ok_or_else(unknown)?;
                (self.up, self.down) = (LinkConfig::PERFECT, LinkConfig::PERFECT);
                self.apply(properties, false)?;
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            if key == "seed" && with_seed {
                self.seed = value.parse().map_err(|_| ConditionsError::Value {
                    key: key.into(),
                    value: value.into(),
                    example: "seed=7",
                })?;
                continue;
            }
            let (ways, key): (Vec<&mut LinkConfig>, _) = match key.split_once('.') {
                None => (vec![&mut self.up, &mut self.down], key),
                Some(("up", key)) => (vec![&mut self.up], key),
                Some(("down", key)) => (vec![&mut self.down], key),
                Some(_) => return Err(unknown()),
            };
            for way in ways {
                set(way, key, value).ok_or_else(unknown)??;
            }
        }
        Ok(())
    }
}

const SPREADS: [(&str, Spread); 3] =
    [("uniform", Spread::Uniform), ("normal", Spread::Normal), ("heavy", Spread::Heavy)];
const ORDERS: [(&str, bool); 2] = [("kept", true), ("free", false)];

/// Sets one property; `None` if there is no such property.
fn set(way: &mut LinkConfig, key: &str, value: &str) -> Option<Result<(), ConditionsError>> {
    fn put<T>(field: &mut T, value: Option<T>) -> bool {
        value.map(|value| *field = value).is_some()
    }
    let (good, example) = match key {
        "delay" => (put(&mut way.delay, time(value)), "delay=100ms"),
        "jitter" => (put(&mut way.jitter, time(value)), "jitter=30ms"),
        "spread" => {
            (put(&mut way.spread, named(value, &SPREADS)), "spread=uniform, normal or heavy")
        }
        "order" => (put(&mut way.ordered, named(value, &ORDERS)), "order=kept or order=free"),
        "loss" => (put(&mut way.loss, share(value)), "loss=5%"),
        "burst" => (put(&mut way.burst, number(value)), "burst=3"),
        "burst-loss" => (put(&mut way.burst_loss, share(value)), "burst-loss=80%"),
        "stray-loss" => (put(&mut way.stray_loss, share(value)), "stray-loss=1%"),
        "duplicate" => (put(&mut way.duplication, share(value)), "duplicate=1%"),
        "rate" => (put(&mut way.rate, rate(value).map(Some)), "rate=2Mbit"),
        "queue" => (put(&mut way.queue_bytes, size(value)), "queue=64kB"),
        _ => return None,
    };
    let wrong = || ConditionsError::Value { key: key.into(), value: value.into(), example };
    Some(if good { Ok(()) } else { Err(wrong()) })
}

/// Parses a non-negative number that ends in one of the units, and scales it by that unit.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<f64>().ok().map(|number| number * scale)
}

fn time(text: &str) -> Option<Micros> {
    scaled(text, &[("us", 1.0), ("ms", 1e3), ("s", 1e6)]).map(Micros::from_f64)
}

fn share(text: &str) -> Option<f32> {
    scaled(text, &[("%", 0.01)]).map(|share| share as f32)
}

fn number(text: &str) -> Option<f32> {
    text.parse().ok().filter(|number: &f32| number.is_finite())
}

fn rate(text: &str) -> Option<u64> {
    let units = [("bit", 1.0), ("kbit", 1e3), ("Mbit", 1e6), ("Gbit", 1e9)];
    scaled(text, &units).map(|rate| rate as u64)
}

fn size(text: &str) -> Option<u32> {
    scaled(text, &[("B", 1.0), ("kB", 1e3), ("MB", 1e6)]).map(|size| size as u32)
}

fn named<T: Copy>(text: &str, values: &[(&str, T)]) -> Option<T> {
    values.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Conditions {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_profile_can_be_read_and_is_shown_as_it_was_written() {
        for (name, _) in PROFILES {
            assert_eq!(read(name).to_string(), name);
            assert_ne!(read(name).up.first, LinkConfig::PERFECT);
        }
    }

    #[test]
    fn properties_count_for_both_ways_or_for_one() {
        let conditions = read(
            " delay=100ms, jitter=1.5s,spread=heavy,order=kept,loss=5%,burst=3,burst-loss=80%,\
             stray-loss=0.5%,duplicate=1%,rate=2.5Mbit,queue=10kB,down.delay=250us,\
              up.loss=7%,seed=9",
        );
        let both = LinkConfig {
            delay: Micros::from_ms(100),
            jitter: Micros::from_ms(1500),
            spread: Spread::Heavy,
            ordered: true,
            loss: 0.05,
            burst: 3.0,
            burst_loss: 0.8,
            stray_loss: 0.005,
            duplication: 0.01,
            rate: Some(2_500_000),
            queue_bytes: 10_000,
        };
        assert_eq!(conditions.up, LinkConfig { loss: 0.07, ..both }.into());
        assert_eq!(conditions.down, LinkConfig { delay: Micros(250), ..both }.into());
        assert_eq!(conditions.seed, 9);
        assert_eq!(read("mobile,delay=1ms").up.first.delay, Micros(1000));
    }

    #[test]
    fn what_changes_over_time_builds_on_what_was_before() {
        let conditions =
            read("delay=10ms; 10s: loss=5%; 20.5s: up.delay=90ms; 30s: lan; 40s:repeat");
        let up = |secs: i64| *conditions.up.at(Micros::from_ms(secs * 1000));
        assert_eq!((up(9).loss, up(10).loss, up(20).loss), (0.0, 0.05, 0.05));
        assert_eq!((up(21).loss, up(21).delay), (0.05, Micros::from_ms(90)));
        assert_eq!(conditions.down.at(Micros::from_ms(21_000)).delay, Micros::from_ms(10));
        assert_eq!(up(39), read("lan").up.first);
        assert_eq!(up(40), up(0));
        assert_eq!(up(52), up(12));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("", "'' is neither a profile (lan, cable"),
            ("lann", "'lann' is neither"),
            ("delay=1ms,lan", "'lan' is neither"),
            ("speed=1", "'speed=1' is neither"),
            ("left.delay=1ms", "is neither"),
            ("delay", "'delay' is neither"),
            ("delay=100", "'100' is not a valid delay; example: delay=100ms"),
            ("delay=-1ms", "'-1ms' is not a valid delay"),
            ("delay=1e3ms", "is not a valid delay"),
            ("delay=1.2.3ms", "is not a valid delay"),
            ("delay=11s", "delay of a link must be 0 to 10 s"),
            ("loss=5", "example: loss=5%"),
            ("loss=101%", "must be 0 to 100 %"),
            ("burst=0", "1 to 10000 packets"),
            ("burst=NaN", "is not a valid burst"),
            ("loss=5%,burst=3,burst-loss=4%", "do not add up"),
            ("loss=90%,burst=2", "do not add up"),
            ("loss=0%,stray-loss=5%", "stray-loss and burst-loss need burst=..., the mean length"),
            ("loss=5%,burst-loss=80%", "stray-loss and burst-loss need burst="),
            ("loss=5%,burst=1,stray-loss=1%", "stray-loss and burst-loss need burst="),
            ("loss=0%,burst=3,stray-loss=5%", "do not add up: loss must lie between"),
            ("loss=5%,burst=3,stray-loss=1%; 10s: loss=0%", "do not add up"),
            ("spread=wide", "spread=uniform, normal or heavy"),
            ("rate=1bit", "8kbit to 100Gbit"),
            ("queue=1B", "1500B to 16MB"),
            ("queue=99999999999999MB", "1500B to 16MB"),
            ("seed=-1", "example: seed=7"),
            ("lan; 10s: seed=2", "is neither"),
            ("lan; loss=5%", "must begin with the time"),
            ("lan; soon: loss=5%", "must begin with the time"),
            ("lan; 10s: loss=5%; 10s: loss=6%", "must be in order"),
            ("lan; 90000s: loss=5%", "within 24 h"),
            ("lan; 10s: repeat; 20s: loss=1%", "nothing may follow"),
        ] {
            let error = text.parse::<Conditions>().expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let long = format!("lan{}", "; 1s: lan".repeat(CHANGES_MAX + 1));
        assert_eq!(long.parse::<Conditions>(), Err(ConditionsError::TooLong));
    }

    #[test]
    fn all_may_be_lost_for_a_time_and_bursts_may_be_told_before_losses() {
        read("wifi; 10s: loss=100%; 15s: wifi");
        read("loss=100%,burst=3");
        read("burst=3,burst-loss=80%; 10s: loss=5%; 20s: loss=100%; 30s: loss=0%");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9=.,;:%-]{0,60}") {
            if let Ok(conditions) = text.parse::<Conditions>() {
                proptest::prop_assert!(conditions.up.first.validate().is_ok());
            }
        }
    }
}

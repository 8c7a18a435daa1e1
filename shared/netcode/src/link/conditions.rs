//! Network conditions as people write them, and the named profiles.

use std::fmt;
use std::str::FromStr;

use super::config::{Drops, LinkConfig, LinkError, Spread};
use super::recording::{self, RecordingError};
use super::schedule::{LinkSchedule, ScheduleBuilder};
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
/// - `file:ferry,queue=32kB; 66s: repeat`
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
/// | `rate=2Mbit` | maximum rate in bits per second; at 0 nothing passes | no limit |
/// | `queue=64kB` | bytes that may be queued for that rate | 64 kB |
/// | `drop=tail`, `codel` | which packets the queue drops ([`Drops`]) | `tail` |
/// | `seed=7` | seed of all random decisions | 1 |
///
/// Jitter greater than the delay leaves a part of the packets without delay, and the mean above
/// `delay`: with `delay=0ms,jitter=30ms` half of them arrive at once.
///
/// Queued packets leave at the current rate, even after a change.
///
/// `up.` (from client to server) or `down.` before a property other than `seed` applies it to one
/// direction only.
///
/// `file:PATH` in place of a profile is a recording, which properties override at all times. It is
/// read from `PATH.up` and `PATH.down`; if neither exists, `PATH` counts for both directions. A
/// recording may be followed by `repeat` only. The formats:
///
/// - a line for each change, `t_us delay_us jitter_us spread loss rate_bps`: spread 2 has a heavy
///   tail, others are uniform; rate -1 has no limit; the last line holds on;
/// - mahimahi's: a line for each delivery opportunity of 1500 bytes, its time in milliseconds;
///   they repeat from the last one's time.
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
    /// Parses a description. `read` returns the bytes of a recording's file, `None` if there is no
    /// such file, or the reason why it cannot be read; it needs to read no more than one byte
    /// beyond [`RECORDING_BYTES_MAX`](super::RECORDING_BYTES_MAX).
    pub fn parse(
        text: &str,
        read: impl FnMut(&str) -> Result<Option<Vec<u8>>, String>,
    ) -> Result<Self, ConditionsError> {
        let text = text.trim();
        if text.len() > TEXT_BYTES_MAX || text.matches(';').count() > CHANGES_MAX {
            return Err(ConditionsError::TooLong);
        }
        let (first, later) = match text.split_once(';') {
            Some((first, later)) => (first, Some(later)),
            None => (text, None),
        };
        let later = later.into_iter().flat_map(|later| later.split(';'));
        let (up, down, seed) = match first.trim().strip_prefix(FILE) {
            Some(first) => recorded(first, later, read)?,
            None => described(first, later)?,
        };
        Ok(Self { up, down, seed, text: text.into() })
    }

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
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionsError {
    #[error(
        "'{0}' is neither a profile ({profiles}) nor a property such as delay=100ms, jitter=30ms, \
         spread=normal, order=kept, loss=5%, burst=3, burst-loss=80%, stray-loss=1%, duplicate=1%, \
         rate=2Mbit, queue=64kB, drop=codel, seed=7; a recording is file:PATH",
        profiles = PROFILES.map(|(name, _)| name).join(", ")
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
    #[error("'{FILE}' must be followed by the path of a recording, without , and ;")]
    NoPath,
    #[error("a recording may only be followed by its repetition, as in 66s: repeat")]
    AfterRecording,
    #[error("there is no recording {0}: neither {0}.up and {0}.down nor {0} for both directions")]
    NoFile(String),
    #[error(
        "{0} is missing: a recording has a file for each direction, or one without .up or .down"
    )]
    NoWay(String),
    #[error("cannot read {path}: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{path}: {error}")]
    Recording { path: String, error: RecordingError },
}

/// Precedes the path of a recording.
const FILE: &str = "file:";

impl FromStr for Conditions {
    type Err = ConditionsError;

    /// Parses a description without recordings.
    fn from_str(text: &str) -> Result<Self, ConditionsError> {
        Self::parse(text, |_| Err("recordings are not available here".into()))
    }
}

/// Both directions over time, and the seed.
type Schedules = (LinkSchedule, LinkSchedule, u64);

fn described<'t>(
    first: &str,
    later: impl Iterator<Item = &'t str>,
) -> Result<Schedules, ConditionsError> {
    let mut both = Both { up: LinkConfig::PERFECT, down: LinkConfig::PERFECT, seed: 1 };
    both.apply(first, true)?;
    let mut up = ScheduleBuilder::new(both.up.validate()?);
    let mut down = ScheduleBuilder::new(both.down.validate()?);
    let (mut last, mut repeat) = (Micros::ZERO, None);
    for part in later {
        if repeat.is_some() {
            return Err(ConditionsError::AfterRepeat);
        }
        let (at, change) = timed(part)?;
        if at <= last {
            return Err(ConditionsError::Order);
        }
        last = at;
        if change == "repeat" {
            repeat = Some(at);
        } else {
            both.apply(change, false)?;
            up.push(at, both.up.validate()?);
            down.push(at, both.down.validate()?);
        }
    }
    Ok((up.build(repeat), down.build(repeat), both.seed))
}

/// Splits a part into its time and what changes then.
fn timed(part: &str) -> Result<(Micros, &str), ConditionsError> {
    let wrong = || ConditionsError::Time(part.trim().into());
    let (at, change) = part.split_once(':').ok_or_else(wrong)?;
    let at = time(at.trim()).ok_or_else(wrong)?;
    if at > CHANGE_AT_MAX {
        return Err(ConditionsError::Order);
    }
    Ok((at, change.trim()))
}

fn recorded<'t>(
    first: &str,
    mut later: impl Iterator<Item = &'t str>,
    mut read: impl FnMut(&str) -> Result<Option<Vec<u8>>, String>,
) -> Result<Schedules, ConditionsError> {
    let (path, properties) = first.split_once(',').unwrap_or((first, ""));
    let path = Some(path.trim()).filter(|path| !path.is_empty()).ok_or(ConditionsError::NoPath)?;
    let mut repeat = None;
    if let Some(part) = later.next() {
        let (at, change) = timed(part)?;
        if change != "repeat" || at <= Micros::ZERO {
            return Err(ConditionsError::AfterRecording);
        }
        repeat = Some(at);
    }
    if later.next().is_some() {
        return Err(ConditionsError::AfterRepeat);
    }
    let mut file = |path: String| {
        let read = read(&path);
        let bytes =
            read.map_err(|reason| ConditionsError::Unreadable { path: path.clone(), reason })?;
        let way = bytes.map(|bytes| recording::read(&bytes)).transpose();
        way.map_err(|error| ConditionsError::Recording { path, error })
    };
    let (up, down) = match (file(format!("{path}.up"))?, file(format!("{path}.down"))?) {
        (Some(up), Some(down)) => (up, down),
        (Some(_), None) => return Err(ConditionsError::NoWay(format!("{path}.down"))),
        (None, Some(_)) => return Err(ConditionsError::NoWay(format!("{path}.up"))),
        (None, None) => {
            let both = file(path.into())?.ok_or_else(|| ConditionsError::NoFile(path.into()))?;
            (both.clone(), both)
        }
    };
    let mut seed = 1;
    let mut overridden = |schedule: LinkSchedule, way: fn(&Both) -> LinkConfig| {
        let schedule = match repeat {
            Some(_) => schedule.repeating(repeat),
            None => schedule,
        };
        if properties.is_empty() {
            return Ok(schedule);
        }
        schedule.map(|config| {
            let mut both = Both { up: config, down: config, seed: 1 };
            for property in properties.split(',').map(str::trim).filter(|it| !it.is_empty()) {
                both.apply_property(property, true)?;
            }
            seed = both.seed;
            way(&both).validate().map_err(ConditionsError::from)
        })
    };
    let (up, down) = (overridden(up, |both| both.up)?, overridden(down, |both| both.down)?);
    Ok((up, down, seed))
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
            if item.contains('=') {
                self.apply_property(item, with_seed)?;
                continue;
            }
            let profile = PROFILES.iter().find(|(name, _)| *name == item && n == 0);
            let unknown = || ConditionsError::Unknown(item.into());
            let (_, properties) = profile.ok_or_else(unknown)?;
            (self.up, self.down) = (LinkConfig::PERFECT, LinkConfig::PERFECT);
            self.apply(properties, false)?;
        }
        Ok(())
    }

    fn apply_property(&mut self, item: &str, with_seed: bool) -> Result<(), ConditionsError> {
        let unknown = || ConditionsError::Unknown(item.into());
        let (key, value) = item.split_once('=').ok_or_else(unknown)?;
        let (key, value) = (key.trim(), value.trim());
        if key == "seed" && with_seed {
            self.seed = value.parse().map_err(|_| ConditionsError::Value {
                key: key.into(),
                value: value.into(),
                example: "seed=7",
            })?;
            return Ok(());
        }
        let (ways, key) = match key.split_once('.') {
            None => ([Some(&mut self.up), Some(&mut self.down)], key),
            Some(("up", key)) => ([Some(&mut self.up), None], key),
            Some(("down", key)) => ([Some(&mut self.down), None], key),
            Some(_) => return Err(unknown()),
        };
        for way in ways.into_iter().flatten() {
            set(way, key, value).ok_or_else(unknown)??;
        }
        Ok(())
    }
}

const SPREADS: [(&str, Spread); 3] =
    [("uniform", Spread::Uniform), ("normal", Spread::Normal), ("heavy", Spread::Heavy)];
const DROPS: [(&str, Drops); 2] = [("tail", Drops::Tail), ("codel", Drops::CoDel)];
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
        "drop" => (put(&mut way.drops, named(value, &DROPS)), "drop=tail or drop=codel"),
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
            assert_ne!(*read(name).up.first(), LinkConfig::PERFECT);
        }
    }

    #[test]
    fn properties_count_for_both_ways_or_for_one() {
        let conditions = read(
            " delay=100ms, jitter=1.5s,spread=heavy,order=kept,loss=5%,burst=3,burst-loss=80%,\
             stray-loss=0.5%,duplicate=1%,rate=2.5Mbit,queue=10kB,drop=codel,down.delay=250us,\
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
            drops: Drops::CoDel,
        };
        assert_eq!(conditions.up, LinkConfig { loss: 0.07, ..both }.into());
        assert_eq!(conditions.down, LinkConfig { delay: Micros(250), ..both }.into());
        assert_eq!(conditions.seed, 9);
        assert_eq!(read("mobile,delay=1ms").up.first().delay, Micros(1000));
    }

    #[test]
    fn what_changes_over_time_builds_on_what_was_before() {
        let conditions =
            read("delay=10ms; 10s: loss=5%; 20.5s: up.delay=90ms; 30s: lan; 40s:repeat");
        let up = |secs: i64| *conditions.up.at(Micros::from_ms(secs * 1000));
        assert_eq!((up(9).loss, up(10).loss, up(20).loss), (0.0, 0.05, 0.05));
        assert_eq!((up(21).loss, up(21).delay), (0.05, Micros::from_ms(90)));
        assert_eq!(conditions.down.at(Micros::from_ms(21_000)).delay, Micros::from_ms(10));
        assert_eq!(up(39), *read("lan").up.first());
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
            ("rate=200Gbit", "0bit to 100Gbit"),
            ("drop=head", "example: drop=tail or drop=codel"),
            ("file:here", "cannot read here.up: recordings are not available here"),
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

    /// Parses with these files.
    fn with_files(text: &str, files: &[(&str, &str)]) -> Result<Conditions, ConditionsError> {
        Conditions::parse(text, |path| {
            let file = files.iter().find(|(name, _)| *name == path);
            Ok(file.map(|(_, contents)| contents.as_bytes().to_vec()))
        })
    }

    #[test]
    fn recording_has_a_file_for_each_direction_or_one_for_both() {
        let files =
            [("a.up", "0 0 0 0 0 64000"), ("a.down", "0 9 0 0 0 0\n7 9 0 0 0 5"), ("b", "4")];
        let conditions = with_files("file:a", &files).unwrap();
        assert_eq!(conditions.up.first().rate, Some(64_000));
        assert_eq!(conditions.down.at(Micros(7)).rate, Some(5));
        let conditions = with_files(" file: b ", &files).unwrap();
        assert_eq!(conditions.up, conditions.down);
        assert_eq!(conditions.up.repeat(), Some(Micros::from_ms(4)));
        assert_eq!(conditions.to_string(), "file: b");
    }

    #[test]
    fn properties_override_a_recording_at_all_times() {
        let files = [("a", "0 9 0 0 0 0\n7 9 0 0 0 5")];
        let text = "file:a,queue=32kB, drop=codel,down.delay=20ms,seed=4; 9ms: repeat";
        let conditions = with_files(text, &files).unwrap();
        let [before, after] = [0, 7].map(|at| *conditions.down.at(Micros(at)));
        let own = (32_000, Drops::CoDel, Micros::from_ms(20));
        assert_eq!((before.queue_bytes, before.drops, before.delay), own);
        assert_eq!((after.queue_bytes, after.drops, after.delay), own);
        assert_eq!((before.rate, after.rate), (Some(0), Some(5)));
        assert_eq!((conditions.up.first().delay, conditions.seed), (Micros(9), 4));
        assert_eq!(conditions.up.repeat(), Some(Micros::from_ms(9)));
    }

    #[test]
    fn errors_of_a_recording_say_what_to_do() {
        let files = [("a", "1"), ("b.up", "1"), ("c.down", "1"), ("d", "0\nx"), ("e/f", "1")];
        for (text, says) in [
            ("file:", "must be followed by the path"),
            ("file:none", "no recording none: neither none.up and none.down nor none"),
            ("file:b", "b.down is missing"),
            ("file:c", "c.up is missing"),
            ("file:d", "d: line 2: 'x' is not a valid time"),
            ("file:a,mobile", "'mobile' is neither a profile"),
            ("file:a; 5s: loss=5%", "only be followed by its repetition"),
            ("file:a; 5s: repeat; 6s: repeat", "nothing may follow"),
            ("file:a; 0s: repeat", "only be followed by its repetition"),
            ("file:a; soon", "must begin with the time"),
            ("mobile; 5s: file:a", "'file:a' is neither a profile"),
            ("file:a,queue=1B", "queue of a link must be"),
        ] {
            let error = with_files(text, &files).expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        with_files("file:e/f", &files).unwrap();
        let error = Conditions::parse("file:a", |_| Err("denied".into())).unwrap_err();
        assert_eq!(error.to_string(), "cannot read a.up: denied");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9=.,;:%-]{0,60}") {
            if let Ok(conditions) = text.parse::<Conditions>() {
                proptest::prop_assert!(conditions.up.first().validate().is_ok());
            }
        }
    }
}

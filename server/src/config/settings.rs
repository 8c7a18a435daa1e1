//! The table of settings: name, help and parser of each.

use std::ffi::OsStr;
use std::fmt::Display;
use std::net::{Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use phaselock::limits::{
    BOTS_MAX, CLIENT_BYTES_MAX, CLIENT_BYTES_MIN, GAMES_MAX, PLAYERS_MAX, RESUME_MAX, REWIND_MAX,
    ROOMS_MAX,
};
use phaselock::motion::SendRule;
use phaselock::rewind::Favour;
use phaselock::time::Rates;
use phaselock::wire::text::printable;
use tracing_subscriber::filter::Targets;

use super::{Config, ConfigError, Layers, LogFormat};

/// Most characters of a server's name.
pub const NAME_CHARS_MAX: usize = 48;
/// Most rounds of a game before the next one. Arbitrary; days.
const ROUNDS_MAX: u32 = 1000;
/// Most threads that pack snapshots; more have nothing to do.
pub const WORKERS_MAX: u16 = 64;
/// Most threads that run rooms. Arbitrary; one for each of many processors.
pub const ROOM_THREADS_MAX: u16 = 64;
const RESUME_SECONDS_MAX: u32 = (RESUME_MAX.0 / 1_000_000) as u32;
const REWIND_MS_MAX: u16 = (REWIND_MAX.0 / 1000) as u16;
/// The default of `snapshot_hz` is the divisor of the tick rate that is nearest to this.
pub(super) const SNAPSHOT_HZ_IDEAL: u32 = 30;
pub(super) const LISTEN_RULE: &str =
    "a port such as 4433, or an IP address and port such as 0.0.0.0:4433 or [::]:4433";

/// A setting.
pub(super) struct Setting {
    /// Its name on the command line.
    pub(super) flag: &'static str,
    /// Placeholder of its value in the help.
    pub(super) value: &'static str,
    pub(super) help: &'static str,
    /// Reads a value; the error is the rule that the value breaks.
    read: fn(&mut Config, &OsStr) -> Result<(), String>,
}

pub(super) const SETTINGS: [Setting; 23] = [
    Setting {
        flag: "listen",
        value: "ADDR",
        help: "UDP address or port to serve on [default: [::]:4433, IPv4 included]",
        read: |config, text| put(&mut config.listen, parse_listen(text), LISTEN_RULE),
    },
    Setting {
        flag: "game",
        value: "GAMES",
        help: "Game to run, or several in turn with commas between [default: the first there is]",
        read: |config, text| {
            let rule = format!(
                "1 to {GAMES_MAX} names of 1 to 32 lowercase letters, digits, - or _, with commas \
                 between"
            );
            put(&mut config.games, parse_games(text), &rule)
        },
    },
    Setting {
        flag: "rounds",
        value: "COUNT",
        help: "Rounds of a game before the next one, if there are several [default: 2]",
        read: |config, text| number(&mut config.rounds, text, 1..=ROUNDS_MAX),
    },
    Setting {
        flag: "bots",
        value: "COUNT",
        help: "Bots that play along [default: 0]",
        read: |config, text| number(&mut config.bots, text, 0..=BOTS_MAX),
    },
    Setting {
        flag: "max-players",
        value: "COUNT",
        help: "Players in a room at most [default: 64]",
        read: |config, text| number(&mut config.max_players, text, 1..=PLAYERS_MAX),
    },
    Setting {
        flag: "rooms",
        value: "COUNT",
        help: "Rooms, each a world with players of its own [default: 1]",
        read: |config, text| number(&mut config.rooms, text, 1..=ROOMS_MAX),
    },
    Setting {
        flag: "rooms-max",
        value: "COUNT",
        help: "Rooms at most; those beyond --rooms are made when somebody names a new one, or when \
               all are full, and closed after a minute without players [default: --rooms]",
        // The rooms have to be known: see `rooms_max`.
        read: |_, _| Ok(()),
    },
    Setting {
        flag: "room-threads",
        value: "COUNT",
        help: "Threads that run rooms, 1 for all on the one that has the socket [default: 1 for a \
               single room or on two processors, else one for each other processor]",
        read: |config, text| number(config.room_threads.insert(1), text, 1..=ROOM_THREADS_MAX),
    },
    Setting {
        flag: "tick-hz",
        value: "HZ",
        help: "Steps of the world per second, 10 to 128 [default: 60]",
        read: |config, text| {
            number(&mut config.tick_hz, text, Rates::TICK_HZ_MIN..=Rates::TICK_HZ_MAX)
        },
    },
    Setting {
        flag: "snapshot-hz",
        value: "HZ",
        help: "Snapshots per second, a divisor of the tick rate \
               [default: 30, or the nearest divisor]",
        // The tick rate has to be known: see `snapshot_hz`.
        read: |_, _| Ok(()),
    },
    Setting {
        flag: "client-bytes",
        value: "BYTES",
        help: "Bytes of snapshots for each client per second at most; less where the path carries \
               less [default: 64000]",
        read: |config, text| {
            number(&mut config.client_bytes, text, CLIENT_BYTES_MIN..=CLIENT_BYTES_MAX)
        },
    },
    Setting {
        flag: "send",
        value: "KIND=RULE",
        help: "Rule by which a kind of entity is sent: every, predictable, threshold:DISTANCE or \
               adaptive:DISTANCE; several with commas between [default: the game's, for each]",
        read: |config, text| {
            config.send = parse_send(text)?;
            Ok(())
        },
    },
    Setting {
        flag: "rewind-ms",
        value: "MS",
        help: "Milliseconds that the world is rewound for a shot at most, 0 to turn it off \
               [default: the game's, 250]",
        read: |config, text| number(config.rewind_ms.insert(0), text, 0..=REWIND_MS_MAX),
    },
    Setting {
        flag: "favour",
        value: "WHOM",
        help: "Whom that favours: the shooter, or a defender who has reached cover since \
               [default: the game's, shooter]",
        read: |config, text| {
            let favours = [("shooter", Favour::Shooter), ("defender", Favour::Defender)];
            let favour = favours.into_iter().find(|(name, _)| *name == text);
            put(&mut config.favour, favour.map(|(_, favour)| Some(favour)), "shooter or defender")
        },
    },
    Setting {
        flag: "resume-seconds",
        value: "SECONDS",
        help: "Time for which a player whose connection is lost keeps seat and score [default: 30]",
        read: |config, text| number(&mut config.resume_seconds, text, 0..=RESUME_SECONDS_MAX),
    },
    Setting {
        flag: "drain-seconds",
        value: "SECONDS",
        help: "Time for which the server plays on when it is told to stop, until the round is over \
               or everybody has left; newcomers are sent away. Told again, it stops at once \
               [default: 0]",
        read: |config, text| number(&mut config.drain_seconds, text, 0..=RESUME_SECONDS_MAX),
    },
    Setting {
        flag: "workers",
        value: "COUNT",
        help: "Threads that pack snapshots [default: the processors, or 1 with several threads of \
               rooms]",
        read: |config, text| number(config.workers.insert(1), text, 1..=WORKERS_MAX),
    },
    Setting {
        flag: "data-dir",
        value: "DIR",
        help: "Where the certificate and everything else that must survive is kept \
               [default: phaselock-data]",
        read: |config, path| {
            let path = Some(path).filter(|path| !path.is_empty());
            put(&mut config.data_dir, path.map(PathBuf::from), "a directory")
        },
    },
    Setting {
        flag: "log",
        value: "FORMAT",
        help: "How the log is written, text or json [default: text]",
        read: |config, text| {
            let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
            let format = formats.into_iter().find(|(name, _)| *name == text);
            put(&mut config.log, format.map(|(_, format)| format), "text or json")
        },
    },
    Setting {
        flag: "log-filter",
        value: "DIRECTIVES",
        help: "What is logged, for example info,phaselock_quic=debug [default: info]",
        read: |config, text| {
            let filter = text
                .to_str()
                .filter(|filter| !filter.trim().is_empty() && filter.parse::<Targets>().is_ok());
            let rule = "directives such as info,phaselock_quic=debug";
            put(&mut config.log_filter, filter.map(str::to_owned), rule)
        },
    },
    Setting {
        flag: "log-file",
        value: "FILE",
        help: "File that the log is appended to, opened anew on SIGHUP [default: standard error]",
        read: |config, path| {
            let path = Some(path).filter(|path| !path.is_empty());
            put(&mut config.log_file, path.map(|path| Some(PathBuf::from(path))), "a file")
        },
    },
    Setting {
        flag: "name",
        value: "NAME",
        help: "Name that players see [default: Phaselock]",
        read: |config, text| {
            let name = text.to_str().filter(|name| {
                name.chars().count() <= NAME_CHARS_MAX
                    && !name.chars().any(char::is_control)
                    && !printable(name).trim().is_empty()
            });
            let rule = format!(
                "1 to {NAME_CHARS_MAX} characters, not all blank and no control characters"
            );
            put(&mut config.name, name.map(str::to_owned), &rule)
        },
    },
    Setting {
        flag: "seed",
        value: "NUMBER",
        help: "Seed of the game's randomness, to replay it [default: a new one each time]",
        read: |config, text| number(config.seed.insert(0), text, 0..=u64::MAX),
    },
];

impl Setting {
    /// Its name in the file.
    pub(super) fn key(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// Its name in the environment.
    pub(super) fn variable(&self) -> String {
        format!("PHASELOCK_{}", self.key().to_uppercase())
    }
}

/// The defaults, replaced by whatever was given.
pub(super) fn settle(layers: &Layers) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    for setting in &SETTINGS {
        if let Some(given) = layers.get(setting.flag) {
            (setting.read)(&mut config, &given.text)
                .map_err(|rule| ConfigError::invalid(&given.origin, &given.text, rule))?;
        }
    }
    config.snapshot_hz = snapshot_hz(config.tick_hz, layers)?;
    config.rooms_max = rooms_max(config.rooms, layers)?;
    Ok(config)
}

/// The given number of rooms at most; by default those that are always there.
fn rooms_max(rooms: u16, layers: &Layers) -> Result<u16, ConfigError> {
    let mut rooms_max = rooms;
    let Some(given) = layers.get("rooms-max") else { return Ok(rooms_max) };
    number(&mut rooms_max, &given.text, rooms..=ROOMS_MAX)
        .map_err(|rule| ConfigError::invalid(&given.origin, &given.text, rule))?;
    Ok(rooms_max)
}

/// The given snapshot rate; by default the possible one that is nearest to the ideal.
fn snapshot_hz(tick_hz: u32, layers: &Layers) -> Result<u32, ConfigError> {
    let divisors = (Rates::SNAPSHOT_HZ_MIN..=tick_hz).filter(|hz| tick_hz.is_multiple_of(*hz));
    let Some(given) = layers.get("snapshot-hz") else {
        // As a ratio: twice the ideal is as far as half of it.
        let off = |hz: u32| (f64::from(hz) / f64::from(SNAPSHOT_HZ_IDEAL)).ln().abs();
        let nearest = divisors.min_by(|a, b| off(*a).total_cmp(&off(*b)));
        return Ok(nearest.unwrap_or(tick_hz));
    };
    let asked = given.text.to_str().and_then(|text| text.parse::<u32>().ok());
    divisors.clone().find(|hz| Some(*hz) == asked).ok_or_else(|| {
        let origin = layers.get("tick-hz").map_or("the default of tick_hz", |given| &given.origin);
        let list = divisors.map(|hz| hz.to_string()).collect::<Vec<_>>().join(", ");
        let rule =
            format!("a divisor of the tick rate, which {origin} makes {tick_hz}: one of {list}");
        ConfigError::invalid(&given.origin, &given.text, rule)
    })
}

/// A port alone means every address of the machine, of IPv4 and IPv6 alike.
pub(super) fn parse_listen(text: &OsStr) -> Option<SocketAddr> {
    let text = text.to_str()?;
    match text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        Ok(port) => Some(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))),
        Err(_) => text.parse().ok(),
    }
}

/// Names of games with commas between, and blanks around them if need be.
fn parse_games(text: &OsStr) -> Option<Vec<String>> {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let names: Vec<_> = text.to_str()?.split(',').map(|name| name.trim().to_owned()).collect();
    let valid = |name: &String| (1..=32).contains(&name.len()) && name.bytes().all(plain);
    (names.len() <= GAMES_MAX && names.iter().all(valid)).then_some(names)
}

/// Kinds of entities with their rules, with commas between, and blanks around them if need be.
fn parse_send(text: &OsStr) -> Result<Vec<(String, SendRule)>, String> {
    let shape = "a kind of entity and its rule, such as Rock=predictable or Car=threshold:0.05, \
                 several with commas between";
    let texts = text.to_str().ok_or(shape)?.split(',');
    let rules = texts.map(|text| {
        let (kind, rule) = text.split_once('=').ok_or(shape)?;
        let kind = kind.trim();
        let valid = !kind.is_empty() && kind.chars().all(|it| it.is_alphanumeric() || it == '_');
        let rule: SendRule = rule.trim().parse().map_err(|error| format!("{shape}; {error}"))?;
        valid.then(|| (kind.to_owned(), rule)).ok_or_else(|| shape.to_owned())
    });
    rules.collect()
}

fn put<T>(field: &mut T, value: Option<T>, rule: &str) -> Result<(), String> {
    *field = value.ok_or(rule)?;
    Ok(())
}

fn number<T>(field: &mut T, text: &OsStr, range: RangeInclusive<T>) -> Result<(), String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.to_str().and_then(|text| text.parse().ok());
    let rule = format!("a whole number from {} to {}", range.start(), range.end());
    put(field, number.filter(|number| range.contains(number)), &rule)
}

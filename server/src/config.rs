//! The server's settings: flags over environment over a TOML file over defaults.
//!
//! Every setting has one name in `SETTINGS`, from which its three spellings follow: `tick_hz` in
//! the file, `PHASELOCK_TICK_HZ` in the environment, `--tick-hz` on the command line. Whatever the
//! layer, a value stays text, together with where it came from, until its one parser looks at it;
//! so a bad value is told in the same words everywhere, and the message names its source.

mod cli;
mod error;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use phaselock::limits::{
    CLIENT_BYTES_DEFAULT, CLIENT_BYTES_MAX, CLIENT_BYTES_MIN, GAMES_MAX, PLAYERS_MAX, REWIND_MAX,
};
use phaselock::rewind::Favour;
use phaselock::time::Rates;
use phaselock::wire::control::printable;
use tracing_subscriber::filter::Targets;

use self::cli::{Cli, Sub};
pub use self::error::{ConfigError, Origin};

const TICK_HZ: RangeInclusive<u32> = Rates::TICK_HZ_MIN..=Rates::TICK_HZ_MAX;
/// How long a server's name may be, in characters.
pub const NAME_CHARS_MAX: usize = 48;

/// Rounds of a game before the next at most. Arbitrary; days.
pub const ROUNDS_MAX: u32 = 1000;
const REWIND_MS_MAX: u16 = (REWIND_MAX.0 / 1000) as u16;
/// Where snapshots start from when nobody says how many: the nearest rate that the ticks allow.
const SNAPSHOT_HZ_IDEAL: u32 = 30;
const CONFIG_VARIABLE: &str = "PHASELOCK_CONFIG";
/// Every setting, by its key in the file, in the order of the fields of [`Config`].
const SETTINGS: [&str; 15] = [
    "listen",
    "game",
    "rounds",
    "bots",
    "max_players",
    "tick_hz",
    "snapshot_hz",
    "client_bytes",
    "rewind_ms",
    "favour",
    "data_dir",
    "log",
    "log_filter",
    "name",
    "seed",
];

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Run the server.
    Serve(Config),
    /// Ask a running server whether it is well.
    HealthCheck {
        /// Where that server listens.
        addr: SocketAddr,
    },
}

/// Validated settings: whoever holds one need not check it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The UDP address to serve on. `[::]` means IPv4 too; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Names of the games to run in turn; none for the first that the server has. Whether there are such is
    /// for [`Games`](phaselock::games::Games) to say.
    pub games: Vec<String>,
    /// How many rounds of a game are played before the next, if there are several; from 1 to [`ROUNDS_MAX`].
    pub rounds: u32,
    /// How many bots play along, up to [`PLAYERS_MAX`].
    pub bots: u16,
    /// How many players may be connected at once, from 1 to [`PLAYERS_MAX`].
    pub max_players: u16,
    /// Steps of the world per second, [`Rates::TICK_HZ_MIN`] to [`Rates::TICK_HZ_MAX`].
    pub tick_hz: u32,
    /// Snapshots to each client per second; it divides `tick_hz`.
    pub snapshot_hz: u32,
    /// Bytes of snapshots that each client gets in a second at most, from [`CLIENT_BYTES_MIN`] to
    /// [`CLIENT_BYTES_MAX`].
    pub client_bytes: u32,
    /// By how many milliseconds the world is rewound for a shot at most, up to [`REWIND_MAX`], 0 for not at
    /// all; if none, as the game says.
    pub rewind_ms: Option<u16>,
    /// Whom that favours; if none, whom the game says.
    pub favour: Option<Favour>,
    /// Where the server keeps its certificate and whatever else must survive.
    pub data_dir: PathBuf,
    /// How the log is written.
    pub log: LogFormat,
    /// What is logged, as directives for [`Targets`]; known to parse.
    pub log_filter: String,
    /// The server's name as players see it: at most [`NAME_CHARS_MAX`] characters, none of them a
    /// control character.
    pub name: String,
    /// What all randomness of the game grows from; if none, the server draws one.
    pub seed: Option<u64>,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv6Addr::UNSPECIFIED, 4433)),
            games: Vec::new(),
            rounds: 2,
            bots: 0,
            max_players: 64,
            tick_hz: 60,
            snapshot_hz: SNAPSHOT_HZ_IDEAL,
            client_bytes: CLIENT_BYTES_DEFAULT,
            rewind_ms: None,
            favour: None,
            data_dir: PathBuf::from("phaselock-data"),
            log: LogFormat::Text,
            log_filter: "info".to_owned(),
            name: "Phaselock".to_owned(),
            seed: None,
        }
    }
}

/// Settles the settings of this process. `args` begins with the program's name.
pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Command, ConfigError> {
    parse_from(args, std::env::vars_os())
}

/// As [`parse`], in an environment of the caller's.
pub fn parse_from(
    args: impl IntoIterator<Item = OsString>,
    env: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Command, ConfigError> {
    let Cli { command, config: config_flag, flags } = Cli::try_parse_from(args)?;
    if let Some(Sub::Healthcheck { addr: Some(text) }) = &command {
        return health_check_at(parse_listen(text), text, Origin::Argument("ADDR"));
    }

    let (env, config_variable) = sources::variables(env)?;
    let config_file = config_flag
        .map(|path| (path, Origin::Flag("config")))
        .or_else(|| config_variable.map(|path| (path, Origin::Env(CONFIG_VARIABLE.to_owned()))));
    // The least important layer first: each next one replaces what it has, too.
    let mut layers = Layers(BTreeMap::new());
    if let Some((path, origin)) = config_file {
        layers.0.extend(sources::file(Path::new(&path), &origin)?);
    }
    layers.0.extend(env);
    layers.0.extend(flags.given());

    let config = layers.config()?;
    match command {
        None => Ok(Command::Serve(config)),
        Some(Sub::Healthcheck { .. }) => {
            let origin = layers.origin("listen");
            health_check_at(Some(config.listen), OsStr::new(&config.listen.to_string()), origin)
        }
    }
}

/// What has been set, and where: the text of each value and its origin, by the setting's key.
struct Layers(BTreeMap<&'static str, (OsString, Origin)>);

impl Layers {
    fn config(&self) -> Result<Config, ConfigError> {
        let default = Config::default();
        let tick_hz = self.number("tick_hz", default.tick_hz, TICK_HZ)?;
        let divisors = (Rates::SNAPSHOT_HZ_MIN..=tick_hz).filter(|hz| tick_hz.is_multiple_of(*hz));
        let tick_origin = self.origin("tick_hz");
        let list = divisors.clone().map(|hz| hz.to_string()).collect::<Vec<_>>().join(", ");
        let snapshot_rule = format!(
            "a divisor of the tick rate, which {tick_origin} makes {tick_hz}: one of {list}"
        );
        let nearest = divisors.clone().min_by(|a, b| off_ideal(*a).total_cmp(&off_ideal(*b)));
        Ok(Config {
            listen: self.get("listen", default.listen, LISTEN_RULE, parse_listen)?,
            games: self.get(
                "game",
                default.games,
                &format!(
                    "1 to {GAMES_MAX} names of 1 to 32 lowercase letters, digits, - or _, with commas between"
                ),
                parse_games,
            )?,
            rounds: self.number("rounds", default.rounds, 1..=ROUNDS_MAX)?,
            bots: self.number("bots", default.bots, 0..=PLAYERS_MAX)?,
            max_players: self.number("max_players", default.max_players, 1..=PLAYERS_MAX)?,
            tick_hz,
            snapshot_hz: self.get(
                "snapshot_hz",
                nearest.unwrap_or(tick_hz),
                &snapshot_rule,
                |text| {
                    let hz = text.to_str()?.parse::<u32>().ok()?;
                    divisors.clone().find(|divisor| *divisor == hz)
                },
            )?,
            client_bytes: self.number(
                "client_bytes",
                default.client_bytes,
                CLIENT_BYTES_MIN..=CLIENT_BYTES_MAX,
            )?,
            rewind_ms: self.get(
                "rewind_ms",
                default.rewind_ms,
                &format!("a whole number from 0 to {REWIND_MS_MAX}"),
                |text| {
                    let ms = text.to_str()?.parse().ok()?;
                    (ms <= REWIND_MS_MAX).then_some(Some(ms))
                },
            )?,
            favour: self.get("favour", default.favour, "shooter or defender", |text| match text
                .to_str()?
            {
                "shooter" => Some(Some(Favour::Shooter)),
                "defender" => Some(Some(Favour::Defender)),
                _ => None,
            })?,
            data_dir: self.get("data_dir", default.data_dir, "a directory", |path| {
                (!path.is_empty()).then(|| PathBuf::from(path))
            })?,
            log: self.get("log", default.log, "text or json", |text| {
                LogFormat::from_str(text.to_str()?, false).ok()
            })?,
            log_filter: self.text(
                "log_filter",
                default.log_filter,
                "directives such as info,phaselock_quic=debug",
                |filter| !filter.trim().is_empty() && filter.parse::<Targets>().is_ok(),
            )?,
            name: self.text(
                "name",
                default.name,
                &format!(
                    "1 to {NAME_CHARS_MAX} characters, not all blank and no control characters"
                ),
                |name| {
                    !name.trim().is_empty()
                        && name.chars().count() <= NAME_CHARS_MAX
                        && !name.chars().any(char::is_control)
                        && !printable(name).trim().is_empty()
                },
            )?,
            seed: self.get(
                "seed",
                None,
                &format!("a whole number from 0 to {}", u64::MAX),
                |text| text.to_str()?.parse().ok().map(Some),
            )?,
        })
    }

    fn origin(&self, key: &'static str) -> Origin {
        let given = self.0.get(key).map(|(_, origin)| origin.clone());
        given.unwrap_or(Origin::Default(key))
    }

    /// A setting's value: what was given, if `parse` takes it, or the default if nothing was given.
    fn get<T>(
        &self,
        key: &'static str,
        default: T,
        rule: &str,
        parse: impl Fn(&OsStr) -> Option<T>,
    ) -> Result<T, ConfigError> {
        let Some((text, origin)) = self.0.get(key) else {
            return Ok(default);
        };
        parse(text).ok_or_else(|| ConfigError::invalid(origin.clone(), text, rule))
    }

    fn text(
        &self,
        key: &'static str,
        default: String,
        rule: &str,
        valid: impl Fn(&str) -> bool,
    ) -> Result<String, ConfigError> {
        self.get(key, default, rule, |text| {
            text.to_str().filter(|text| valid(text)).map(str::to_owned)
        })
    }

    fn number<T>(
        &self,
        key: &'static str,
        default: T,
        range: RangeInclusive<T>,
    ) -> Result<T, ConfigError>
    where
        T: std::str::FromStr + PartialOrd + std::fmt::Display,
    {
        let rule = format!("a whole number from {} to {}", range.start(), range.end());
        self.get(key, default, &rule, |text| {
            text.to_str()?.parse().ok().filter(|number| range.contains(number))
        })
    }
}

/// Games' names with commas between, and blanks around them if need be.
fn parse_games(text: &OsStr) -> Option<Vec<String>> {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let names: Vec<_> = text.to_str()?.split(',').map(|name| name.trim().to_owned()).collect();
    let valid = |name: &String| (1..=32).contains(&name.len()) && name.bytes().all(plain);
    (names.len() <= GAMES_MAX && names.iter().all(valid)).then_some(names)
}

const LISTEN_RULE: &str =
    "a port such as 4433, or an IP address and port such as 0.0.0.0:4433 or [::]:4433";

/// A bare port means every address of the machine, of IPv4 and IPv6 alike.
fn parse_listen(text: &OsStr) -> Option<SocketAddr> {
    let text = text.to_str()?;
    match text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        Ok(port) => Some(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))),
        Err(_) => text.parse().ok(),
    }
}

/// Nobody can connect to an unspecified address, so this machine's own takes its place: that of
/// IPv4, which a dual-stack socket serves too, while containers often have no IPv6 loopback.
fn health_check_at(
    addr: Option<SocketAddr>,
    text: &OsStr,
    origin: Origin,
) -> Result<Command, ConfigError> {
    let Some(mut addr) = addr else {
        return Err(ConfigError::invalid(origin, text, LISTEN_RULE));
    };
    if addr.port() == 0 {
        return Err(ConfigError::invalid(
            origin,
            text,
            "an address with the port that the server really has",
        ));
    }
    if addr.ip().is_unspecified() {
        addr.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    Ok(Command::HealthCheck { addr })
}

/// How far a snapshot rate is from the ideal one, as a ratio: twice it is as far as half of it.
fn off_ideal(hz: u32) -> f64 {
    (f64::from(hz) / f64::from(SNAPSHOT_HZ_IDEAL)).ln().abs()
}

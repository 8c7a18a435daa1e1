//! The server's settings: flags over environment over a TOML file over defaults.
//!
//! Every setting has one name with three spellings: `tick_hz` in the file, `PHASELOCK_TICK_HZ` in
//! the environment, `--tick-hz` on the command line. A value stays text, with its origin, until the
//! setting's one parser reads it, so a bad value has the same message everywhere.

mod error;
mod settings;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use phaselock::limits::{CLIENT_BYTES_DEFAULT, RESUME_DEFAULT};
use phaselock::motion::SendRule;
use phaselock::rewind::Favour;
use phaselock_quic::address::Address;

pub use self::error::ConfigError;
use self::settings::{LISTEN_RULE, SNAPSHOT_HZ_IDEAL, parse_listen, settle};
pub use self::settings::{NAME_CHARS_MAX, ROOM_THREADS_MAX, WORKERS_MAX};

/// The variable that names the configuration file.
const CONFIG_VARIABLE: &str = "PHASELOCK_CONFIG";

/// The command of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Run the server.
    Serve(Config),
    /// Ask a running server for its status.
    HealthCheck {
        /// Address of that server.
        addr: SocketAddr,
    },
    /// Ask any server for its status, and print it.
    Query {
        /// Address of that server.
        address: Address,
        /// Print it as JSON.
        json: bool,
    },
    /// Print a game's fields and hashes.
    Describe {
        /// Name of the game; none for the server's first.
        game: Option<String>,
    },
}

/// Validated settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// UDP address to serve on. `[::]` means IPv4 too; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Names of the games to run in turn; empty for the server's first game.
    pub games: Vec<String>,
    /// Rounds of a game before the next one, where there are several; 1 to 1000.
    pub rounds: u32,
    /// Number of bots, up to [`BOTS_MAX`](phaselock::limits::BOTS_MAX).
    pub bots: u16,
    /// Seats for people in a room, 1 to [`PLAYERS_MAX`](phaselock::limits::PLAYERS_MAX).
    pub max_players: u16,
    /// Rooms that are always there, 1 to [`ROOMS_MAX`](phaselock::limits::ROOMS_MAX).
    pub rooms: u16,
    /// Rooms at most, those made on demand included; by default `rooms`.
    pub rooms_max: u16,
    /// Threads that run rooms, 1 to [`ROOM_THREADS_MAX`]; by default as many as the machine spares.
    pub room_threads: Option<u16>,
    /// Steps of the world per second, within the bounds of [`Rates`](phaselock::time::Rates).
    pub tick_hz: u32,
    /// Snapshots to each client per second; a divisor of `tick_hz`.
    pub snapshot_hz: u32,
    /// Most bytes of snapshots for each client per second.
    pub client_bytes: u32,
    /// Kinds of entities, by name, that are sent by another rule than their game declares.
    pub send: Vec<(String, SendRule)>,
    /// Longest rewind for a shot in milliseconds, 0 for none; by default the game's.
    pub rewind_ms: Option<u16>,
    /// Player whom rewinding favours; by default the game's choice.
    pub favour: Option<Favour>,
    /// Seconds for which a seat is kept whose player's connection is lost, 0 to 3600.
    pub resume_seconds: u32,
    /// Seconds for which the server drains when it is told to stop, 0 to 3600; 0: it stops at once.
    pub drain_seconds: u32,
    /// Threads that pack snapshots, 1 to [`WORKERS_MAX`]; by default the
    /// machine's processors.
    pub workers: Option<u16>,
    /// Directory of the certificate and of everything else that must survive.
    pub data_dir: PathBuf,
    /// Format of the log.
    pub log: LogFormat,
    /// Directives for [`Targets`](tracing_subscriber::filter::Targets); known to parse.
    pub log_filter: String,
    /// Name that players see: at most [`NAME_CHARS_MAX`] characters, no control characters.
    pub name: String,
    /// Seed of the game's randomness; by default the server draws one.
    pub seed: Option<u64>,
}

/// Format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
            rooms: 1,
            rooms_max: 1,
            room_threads: None,
            tick_hz: 60,
            snapshot_hz: SNAPSHOT_HZ_IDEAL,
            client_bytes: CLIENT_BYTES_DEFAULT,
            send: Vec::new(),
            rewind_ms: None,
            favour: None,
            resume_seconds: (RESUME_DEFAULT.0 / 1_000_000) as u32,
            drain_seconds: 0,
            workers: None,
            data_dir: PathBuf::from("phaselock-data"),
            log: LogFormat::Text,
            log_filter: "info".to_owned(),
            name: "Phaselock".to_owned(),
            seed: None,
        }
    }
}

/// Reads the settings of this process. `args` begins with the program's name.
pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Command, ConfigError> {
    parse_from(args, std::env::vars_os())
}

/// The same with a given environment.
pub fn parse_from(
    args: impl IntoIterator<Item = OsString>,
    env: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Command, ConfigError> {
    let matches = sources::command_line().try_get_matches_from(args)?;
    if let Some(("describe", matches)) = matches.subcommand() {
        let game = matches.get_one::<String>("game").cloned();
        return Ok(Command::Describe { game });
    }
    if let Some(("query", matches)) = matches.subcommand()
        && let Some(address) = matches.get_one::<Address>("address")
    {
        return Ok(Command::Query { address: address.clone(), json: matches.get_flag("json") });
    }
    let health_check = matches.subcommand().map(|(_, matches)| matches);
    if let Some(text) = health_check.and_then(|matches| matches.get_one::<OsString>("addr")) {
        return health_check_at(parse_listen(text), text, "the argument ADDR");
    }

    let (env, file_by_variable) = sources::variables(env)?;
    let file = match matches.get_one::<OsString>("config") {
        Some(path) => Some((path.clone(), "the flag --config")),
        None => file_by_variable.map(|path| (path, "the environment variable PHASELOCK_CONFIG")),
    };
    // The least important layer first: each next one replaces its values.
    let mut layers = Layers::new();
    if let Some((path, origin)) = file {
        layers.extend(sources::file(Path::new(&path), origin)?);
    }
    layers.extend(env);
    layers.extend(sources::flags(&matches));

    let config = settle(&layers)?;
    if health_check.is_none() {
        return Ok(Command::Serve(config));
    }
    let origin = layers.get("listen").map_or("the default of listen", |given| &given.origin);
    health_check_at(Some(config.listen), OsStr::new(&config.listen.to_string()), origin)
}

/// The given settings by their flags.
type Layers = BTreeMap<&'static str, Given>;

/// A setting's text as it was given.
struct Given {
    text: OsString,
    /// A noun for messages, such as "the flag --bots".
    origin: String,
}

/// Replaces an unspecified address by this machine's own of IPv4, since containers often have no
/// IPv6 loopback.
fn health_check_at(
    addr: Option<SocketAddr>,
    text: &OsStr,
    origin: &str,
) -> Result<Command, ConfigError> {
    let Some(mut addr) = addr else {
        return Err(ConfigError::invalid(origin, text, LISTEN_RULE));
    };
    if addr.port() == 0 {
        let rule = "an address with the port that the server really has";
        return Err(ConfigError::invalid(origin, text, rule));
    }
    if addr.ip().is_unspecified() {
        addr.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    Ok(Command::HealthCheck { addr })
}

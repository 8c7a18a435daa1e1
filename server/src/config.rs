//! The server's settings: flags over environment over a TOML file over defaults.
//!
//! Every setting has one name with three spellings: `tick_hz` in the file, `PHASELOCK_TICK_HZ` in
//! the environment, `--tick-hz` on the command line. A value stays text, with its origin, until the
//! setting's one parser reads it, so a bad value has the same message everywhere. All mistakes are
//! told at once.

mod allow_list;
mod deny_lists;
mod error;
mod hosting;
mod loaded;
mod play;
mod restarts;
mod rounds;
mod scopes;
mod settings;
mod sources;
#[cfg(test)]
mod tests;
mod types;
mod values;
mod web;
mod webhooks;

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap_complete::Shell;
use phaselock_quic::address::Address;

pub use self::allow_list::{AllowList, ListError};
pub use self::deny_lists::{DENY_LISTS_MAX, DenyList};
pub use self::error::{ConfigError, Mistake};
use self::loaded::Sources;
pub use self::loaded::{BadOverride, Change, Judge, SettingValue, Settings};
pub(crate) use self::loaded::{SendRules, setting_key};
pub use self::play::NAME_CHARS_MAX;
pub use self::restarts::{RESTARTS_MAX, RestartTime};
pub use self::scopes::Special;
pub use self::settings::{ROOM_THREADS_MAX, WORKERS_MAX};
pub(crate) use self::sources::command_line;
pub use self::types::{Config, LogFormat, Password};
use self::values::parse_one_address;
pub use self::values::{DIRECTORIES_MAX, LISTEN_MAX, ORIGINS_MAX};
pub(crate) use self::values::{parse_line, parse_redirect};
pub use self::webhooks::{Topic, WEBHOOKS_MAX, Webhook, WebhookFormat};
use crate::ctl::{self, Ctl};

/// The variable that names the configuration file.
const CONFIG_VARIABLE: &str = "PHASELOCK_CONFIG";

/// The command of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Run the server.
    Serve(Box<Settings>),
    /// Say that the settings are good.
    Check(Box<Settings>),
    /// Print the settings.
    Show {
        /// The settings.
        settings: Box<Settings>,
        /// As JSON rather than for people.
        is_json: bool,
    },
    /// Ask a running server for its status.
    HealthCheck {
        /// Address of that server.
        addr: SocketAddr,
    },
    /// Ask any server for its status.
    Query {
        /// Name or address of that server, and its port if it is not the usual one.
        server: Address,
        /// As JSON rather than for people.
        is_json: bool,
    },
    /// Administer a running server.
    Ctl(Box<Ctl>),
    /// Print a script that completes command lines.
    Complete {
        /// The shell.
        shell: Shell,
    },
    /// Print a game's fields and hashes.
    Describe {
        /// Name of the game; none for the server's first.
        game: Option<String>,
    },
}

/// Reads the settings of this process. `args` begins with the program's name.
pub fn parse(
    args: impl Iterator<Item = OsString>,
    judge: Judge<'_>,
) -> Result<Command, ConfigError> {
    parse_from(args, std::env::vars_os(), judge)
}

/// Reads the settings of a command line and an environment. `judge` checks the settings of a
/// server, so that its mistakes are reported with all others.
pub fn parse_from(
    args: impl IntoIterator<Item = OsString>,
    env: impl IntoIterator<Item = (OsString, OsString)>,
    judge: Judge<'_>,
) -> Result<Command, ConfigError> {
    let matches = command_line().try_get_matches_from(args)?;
    if let Some(("completions", matches)) = matches.subcommand()
        && let Some(shell) = matches.get_one::<Shell>("shell")
    {
        return Ok(Command::Complete { shell: *shell });
    }
    if let Some(("query", matches)) = matches.subcommand()
        && let Some(server) = matches.get_one::<Address>("server")
    {
        let is_json = matches.get_flag("json");
        return Ok(Command::Query { server: server.clone(), is_json });
    }
    if let Some(("describe", matches)) = matches.subcommand() {
        let game = matches.get_one::<String>("game").cloned();
        return Ok(Command::Describe { game });
    }
    let given = match matches.subcommand() {
        Some(("healthcheck", matches)) => matches.get_one::<OsString>("addr"),
        _ => None,
    };
    if let Some(text) = given {
        return health_check_at(parse_one_address(text), text, "the argument ADDR");
    }

    let mut mistakes = Vec::new();
    let (env, file_by_variable) = sources::variables(env, &mut mistakes);
    let file = match sources::option_in(&matches, "config") {
        Some(path) => Some((PathBuf::from(path), "the flag --config")),
        None => {
            file_by_variable.map(|path| (path.into(), "the environment variable PHASELOCK_CONFIG"))
        }
    };
    let sources = Sources { file, env, flags: sources::flags(&matches) };
    // Programs that ask a server need only its address from the settings.
    let judged = |settings: &Settings| match matches.subcommand_name() {
        Some("ctl" | "healthcheck") => Vec::new(),
        Some(_) => judge(settings, false),
        None => judge(settings, matches.get_flag("check-config")),
    };
    let settings = Settings::load(sources, mistakes, judged).map_err(ConfigError::Mistakes)?;
    Ok(match matches.subcommand() {
        Some(("healthcheck", _)) => {
            let listen = settings.config.listen[0];
            let text = listen.to_string();
            return health_check_at(Ok(listen), OsStr::new(&text), &settings.origin("listen"));
        }
        Some(("ctl", matches)) => Command::Ctl(Box::new(ctl::parse(matches, &settings.config)?)),
        Some(("config", matches)) => {
            Command::Show { settings: Box::new(settings), is_json: matches.get_flag("json") }
        }
        _ if matches.get_flag("check-config") => Command::Check(Box::new(settings)),
        _ => Command::Serve(Box::new(settings)),
    })
}

/// Replaces an unspecified address by this machine's own of IPv4, since containers often have no
/// IPv6 loopback.
fn health_check_at(
    addr: Result<SocketAddr, String>,
    text: &OsStr,
    origin: &str,
) -> Result<Command, ConfigError> {
    let invalid = |rule| ConfigError::Mistakes(vec![Mistake::invalid(origin, text, rule)]);
    let mut addr = addr.map_err(invalid)?;
    if addr.port() == 0 {
        return Err(invalid("an address with the port that the server really has".to_owned()));
    }
    if addr.ip().is_unspecified() {
        addr.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    Ok(Command::HealthCheck { addr })
}

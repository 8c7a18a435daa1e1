//! The program's command line: its commands, and the settings of those that need them.

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Arg, ArgAction, FromArgMatches as _, Subcommand as _, value_parser};
use phaselock_cli::Documentation;
use phaselock_quic::address::Address;

use crate::config::{
    ConfigError, Judge, Mistake, Settings, Sources, config_option, flags, option_in, options,
    options_to_find, parse_one_address, variables,
};
use crate::ctl::{self, Ctl};

/// A command of the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Run the server.
    Serve(Box<Settings>),
    /// Check the settings.
    Check(Box<Settings>),
    /// Print the settings.
    Show {
        /// The settings.
        settings: Box<Settings>,
        /// Whether to print JSON.
        is_json: bool,
    },
    /// Ask a running server for its status.
    HealthCheck {
        /// Address of that server.
        addr: SocketAddr,
    },
    /// Ask any server for its status.
    Query {
        /// Name or address of that server, with its port if it is not the default.
        server: Address,
        /// Whether to print JSON.
        is_json: bool,
    },
    /// Administer a running server.
    Ctl(Box<Ctl>),
    /// Print a completion script, or write the manual pages.
    Documentation(Documentation),
    /// Run recordings again and compare every tick.
    Verify {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Print a game's fields and hashes.
    Describe {
        /// Name of the game; `None` for the server's first.
        game: Option<String>,
    },
}

/// Parses this process's command line and environment. `args` begins with the program's name.
pub fn parse(
    args: impl Iterator<Item = OsString>,
    judge: Judge<'_>,
) -> Result<Command, ConfigError> {
    parse_from(args, std::env::vars_os(), judge)
}

/// Parses a command line and an environment. `judge` checks a server's settings, so that its
/// mistakes are reported together with all others.
pub fn parse_from(
    args: impl IntoIterator<Item = OsString>,
    env: impl IntoIterator<Item = (OsString, OsString)>,
    judge: Judge<'_>,
) -> Result<Command, ConfigError> {
    let matches = command_line().try_get_matches_from(args)?;
    if let Ok(wanted) = Documentation::from_arg_matches(&matches) {
        return Ok(Command::Documentation(wanted));
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
    if let Some(("verify", matches)) = matches.subcommand() {
        let files = matches.get_many::<PathBuf>("files").unwrap_or_default();
        return Ok(Command::Verify { files: files.cloned().collect() });
    }
    let given = match matches.subcommand() {
        Some(("healthcheck", matches)) => matches.get_one::<OsString>("addr"),
        _ => None,
    };
    if let Some(text) = given {
        return health_check_at(parse_one_address(text), text, "the argument ADDR");
    }

    let mut mistakes = Vec::new();
    let (env, file_by_variable) = variables(env, &mut mistakes);
    let file = match option_in(&matches, "config") {
        Some(path) => Some((PathBuf::from(path), "the flag --config")),
        None => {
            file_by_variable.map(|path| (path.into(), "the environment variable PHASELOCK_CONFIG"))
        }
    };
    let sources = Sources { file, env, flags: flags(&matches) };
    // Programs that query a server need only its address from the settings.
    let judged = |settings: &Settings| match matches.subcommand_name() {
        Some("ctl" | "healthcheck") => Vec::new(),
        Some(_) => judge(settings, false),
        None => judge(settings, matches.get_flag("check-config")),
    };
    let settings = Settings::load(sources, mistakes, judged).map_err(ConfigError::Mistakes)?;
    Ok(match matches.subcommand() {
        Some(("healthcheck", _)) => {
            let listen = settings.config.joining.listen[0];
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

/// Replaces an unspecified address by the IPv4 loopback, since containers often have no IPv6
/// loopback.
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

/// Returns the command line, with one option per setting.
pub(crate) fn command_line() -> clap::Command {
    let health_check = clap::Command::new("healthcheck")
        .about("Check that a running server is healthy; the exit status is 0 if it is")
        .arg(
            Arg::new("addr")
                .value_name("ADDR")
                .help("Address of the server [default: the listen address, on this machine]")
                .value_parser(value_parser!(OsString)),
        )
        .args(options_to_find(&["listen"]));
    let query = clap::Command::new("query")
        .about("Show the status of any server, without logging in")
        .arg(
            Arg::new("server")
                .value_name("ADDR")
                .required(true)
                .help("Host name or IP address, with the port if it is not 4433")
                .value_parser(value_parser!(Address)),
        )
        .arg(flag("json", "Print the status as JSON"));
    let describe = clap::Command::new("describe")
        .about("Print a game's fields and hashes as JSON, for clients in other languages")
        .arg(
            Arg::new("game")
                .value_name("GAME")
                .help("Name of the game [default: the server's first]"),
        );
    let verify = clap::Command::new("verify")
        .about(
            "Run recordings again from their inputs and compare every tick; the exit status is 0 \
             if all are identical",
        )
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .required(true)
                .num_args(1..)
                .help("Recordings to verify")
                .value_parser(value_parser!(PathBuf)),
        );
    let show = clap::Command::new("config")
        .about("Print all settings with their values and origins")
        .arg(flag("json", "Print the settings as JSON"))
        .arg(config_option())
        .args(options());
    // Allowed both before and after the subcommand.
    let to_find = options_to_find(&["admin-listen", "data-dir"]).map(|arg| arg.global(true));
    let program = clap::Command::new("phaselock-server")
        .subcommand(ctl::command().args(to_find))
        .subcommand(health_check)
        .subcommand(describe)
        .subcommand(query)
        .subcommand(show)
        .subcommand(verify);
    // These commands bring a description of their own, which the program's replaces.
    Documentation::augment_subcommands(program)
        .version(env!("CARGO_PKG_VERSION"))
        .about("An authoritative game server")
        .after_help(
            "Every option can also be set in the environment, as PHASELOCK_ and its name \
             (PHASELOCK_TICK_HZ), or in the TOML file that --config or PHASELOCK_CONFIG names \
             (tick_hz = 60). Flags override the environment, and the environment overrides the \
             file. An empty variable counts as unset.",
        )
        .arg(config_option())
        .arg(flag("check-config", "Check the settings and exit; the status is 0 if they are valid"))
        .args(options())
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

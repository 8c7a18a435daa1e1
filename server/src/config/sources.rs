//! Sources of settings: the command line, the environment, and the TOML file. They are read, not
//! judged.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::{Arg, ArgMatches, value_parser};
use phaselock_quic::address::Address;

use super::settings::SETTINGS;
use super::{CONFIG_VARIABLE, ConfigError, Given};

/// Settings by their flags.
type Layer = Vec<(&'static str, Given)>;

/// The command line: one option for each setting.
pub(super) fn command_line() -> clap::Command {
    let option = |flag, value, help| {
        let arg = Arg::new(flag).long(flag).value_name(value).help(help);
        arg.global(true).value_parser(value_parser!(OsString))
    };
    let settings = SETTINGS.iter().map(|setting| {
        // A negative seed is for this program to refuse, with the rule.
        option(setting.flag, setting.value, setting.help)
            .allow_hyphen_values(setting.flag == "seed")
    });
    let health_check = clap::Command::new("healthcheck")
        .about("Ask a running server whether it is well; the exit status is 0 if it is")
        .arg(
            Arg::new("addr")
                .help("Where it listens [default: the listen address, on this machine]")
                .value_parser(value_parser!(OsString)),
        );
    let describe = clap::Command::new("describe")
        .about("Print a game's fields and hashes as JSON, for clients in other languages")
        .arg(Arg::new("game").value_name("GAME").help("Its name [default: the server's first]"));
    let query = clap::Command::new("query")
        .about("Ask any server for its status, without joining it")
        .arg(
            Arg::new("address")
                .help("Its name or IP address, and its port if it is not 4433")
                .required(true)
                .value_parser(value_parser!(Address)),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .help("Print it as a JSON object")
                .action(clap::ArgAction::SetTrue),
        );
    clap::Command::new("phaselock-server")
        .version(env!("CARGO_PKG_VERSION"))
        .about("An authoritative game server")
        .after_help(
            "Every option can also be set in the environment, as PHASELOCK_ and its name \
             (PHASELOCK_TICK_HZ), or in the TOML file that --config or PHASELOCK_CONFIG names \
             (tick_hz = 60). Flags count for more than the environment, and the environment for \
             more than the file. An empty variable counts as unset.",
        )
        .arg(option("config", "FILE", "Read settings from this TOML file"))
        .args(settings)
        .subcommand(health_check)
        .subcommand(describe)
        .subcommand(query)
}

/// The settings on a command line.
pub(super) fn flags(matches: &ArgMatches) -> Layer {
    let given = |flag| {
        let text = matches.get_one::<OsString>(flag)?.clone();
        Some((flag, Given { text, origin: format!("the flag --{flag}") }))
    };
    SETTINGS.iter().filter_map(|setting| given(setting.flag)).collect()
}

/// The settings in an environment, and the configuration file that it names.
pub(super) fn variables(
    env: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<(Layer, Option<OsString>), ConfigError> {
    let mut layer = Layer::new();
    let mut config = None;
    for (name, text) in env {
        let Some(name) = name.to_str().filter(|name| name.starts_with("PHASELOCK_")) else {
            continue;
        };
        let origin = format!("the environment variable {name}");
        // An empty one is unset: `docker compose` makes that of `PHASELOCK_SEED: ${SEED:-}`.
        let is_set = !text.is_empty();
        if let Some(setting) = SETTINGS.iter().find(|setting| setting.variable() == name) {
            layer.extend(is_set.then_some((setting.flag, Given { text, origin })));
        } else if name == CONFIG_VARIABLE {
            config = is_set.then_some(text);
        } else if !foreign(name, &text) {
            let mut known: Vec<_> = SETTINGS.iter().map(|setting| setting.variable()).collect();
            known.push(CONFIG_VARIABLE.to_owned());
            return Err(ConfigError::Unknown { name: origin, known: known.join(", ") });
        }
    }
    Ok((layer, config))
}

/// True if a variable belongs to the tests, or to Kubernetes, which sets some in every container
/// near a service called "phaselock"
/// (<https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables>).
fn foreign(name: &str, value: &OsStr) -> bool {
    let kubernetes = name.starts_with("PHASELOCK_SERVICE_")
        || name.starts_with("PHASELOCK_PORT_")
        || name == "PHASELOCK_PORT" && value.to_str().is_some_and(|value| value.contains("://"));
    kubernetes || name.starts_with("PHASELOCK_TEST_")
}

/// A file of all settings takes under 1 KiB; a bigger one is some other file.
const FILE_BYTES_MAX: u64 = 64 * 1024;

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    // The limit holds even for what tells no length, such as a pipe.
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let problem = format!("it is bigger than {FILE_BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(text)
}

/// The settings in a TOML file, all at its top level; `origin` names the file.
pub(super) fn file(path: &Path, origin: &str) -> Result<Layer, ConfigError> {
    let text = read(path).map_err(|source| ConfigError::File {
        path: path.to_owned(),
        origin: origin.to_owned(),
        source,
    })?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(before).filter(|byte| *byte == b'\n').count();
        ConfigError::Toml { path: path.to_owned(), line, message: error.message().to_owned() }
    })?;
    let given = |(name, value): (String, toml::Value)| {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key() == name) else {
            let known: Vec<_> = SETTINGS.iter().map(|setting| setting.key()).collect();
            let name = format!("{name:?} in {}", path.display());
            return Err(ConfigError::Unknown { name, known: known.join(", ") });
        };
        let origin = format!("{name} in {}", path.display());
        let text = match value {
            toml::Value::String(text) => text.into(),
            toml::Value::Integer(number) => number.to_string().into(),
            other => {
                let (text, rule) = (other.to_string(), "a string or a whole number");
                return Err(ConfigError::invalid(&origin, OsStr::new(&text), rule));
            }
        };
        Ok((setting.flag, Given { text, origin }))
    };
    table.into_iter().map(given).collect()
}

//! The two layers below the flags: the environment and the TOML file, read but not yet judged.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{CONFIG_VARIABLE, ConfigError, Origin, SETTINGS};

/// Settings by their keys, each with its text and where that stands.
type Given = Vec<(&'static str, (OsString, Origin))>;

/// The settings in an environment, and the configuration file that it names.
pub(super) fn variables(
    env: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<(Given, Option<OsString>), ConfigError> {
    let mut given = Given::new();
    let mut config = None;
    for (name, value) in env {
        let Some(name) = name.to_str().filter(|name| name.starts_with("PHASELOCK_")) else {
            continue;
        };
        if let Some(key) = SETTINGS.into_iter().find(|key| variable(key) == name) {
            // What `docker compose` makes of `PHASELOCK_SEED: ${SEED:-}` is meant as "not set".
            if !value.is_empty() {
                given.push((key, (value, Origin::Env(name.to_owned()))));
            }
        } else if name == CONFIG_VARIABLE {
            config = Some(value).filter(|value| !value.is_empty());
        } else if !foreign(name, &value) {
            return Err(ConfigError::UnknownVariable {
                name: name.to_owned(),
                known: SETTINGS
                    .map(variable)
                    .into_iter()
                    .chain([CONFIG_VARIABLE.to_owned()])
                    .collect::<Vec<_>>()
                    .join(", "),
            });
        }
    }
    Ok((given, config))
}

/// A file of all settings takes under 1 KiB; a bigger one than this is some other file.
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

/// The settings in a TOML file, all at its top level.
pub(super) fn file(path: &Path, origin: &Origin) -> Result<Given, ConfigError> {
    let text = read(path).map_err(|source| ConfigError::File {
        path: path.to_owned(),
        origin: origin.clone(),
        source,
    })?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Toml {
        path: path.to_owned(),
        line: 1 + error
            .span()
            .map_or(0, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()),
        message: error.message().to_owned(),
    })?;
    table
        .into_iter()
        .map(|(name, value)| {
            let Some(key) = SETTINGS.into_iter().find(|key| *key == name) else {
                return Err(ConfigError::UnknownKey {
                    path: path.to_owned(),
                    key: name,
                    known: SETTINGS.join(", "),
                });
            };
            let origin = Origin::File { path: path.to_owned(), key };
            match value {
                toml::Value::String(text) => Ok((key, (text.into(), origin))),
                toml::Value::Integer(number) => Ok((key, (number.to_string().into(), origin))),
                other => Err(ConfigError::invalid(
                    origin,
                    OsStr::new(&other.to_string()),
                    "a string or a whole number",
                )),
            }
        })
        .collect()
}

/// How a setting is spelled in the environment.
pub(super) fn variable(key: &str) -> String {
    format!("PHASELOCK_{}", key.to_uppercase())
}

/// Whether a variable is somebody else's, although it begins like ours: the tests', or one of those
/// that Kubernetes sets in every container near a service called "phaselock"
/// (<https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables>).
fn foreign(name: &str, value: &OsStr) -> bool {
    let kubernetes = name.starts_with("PHASELOCK_SERVICE_")
        || name.starts_with("PHASELOCK_PORT_")
        || name == "PHASELOCK_PORT" && value.to_str().is_some_and(|value| value.contains("://"));
    kubernetes
        || name.starts_with("PHASELOCK_TEST_")
        || ["PHASELOCK_DEPTH", "PHASELOCK_ASTEROIDS", "PHASELOCK_CUBES"].contains(&name)
}

//! What can be wrong with the settings, each told in one sentence that names where it stands.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why there are no settings.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The command line does not parse, or asks for help or the version.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// A value is not among those allowed.
    #[error("{origin} is {value:?}, but must be {rule}")]
    Invalid {
        /// Where it was set.
        origin: Origin,
        /// The value as it stands there.
        value: String,
        /// What is allowed.
        rule: String,
    },
    /// A variable that looks like a setting and is none; most often a slip of the pen.
    #[error("the environment variable {name} is not a setting; those are {known}")]
    UnknownVariable {
        /// The variable.
        name: String,
        /// Every variable that is a setting.
        known: String,
    },
    /// A key in the file that is no setting.
    #[error("{key:?} in {} is not a setting; those are {known}", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// Every key that is a setting.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}, which {origin} names: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What names it.
        origin: Origin,
        /// What the system answered.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("line {line} of {} is not valid TOML: {message}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The line, the first being 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
}

/// Where a setting was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag, by the key of its setting.
    Flag(&'static str),
    /// A positional argument, by its name in the help.
    Argument(&'static str),
    /// An environment variable.
    Env(String),
    /// A key in the file.
    File {
        /// The file.
        path: PathBuf,
        /// The key.
        key: &'static str,
    },
    /// Nowhere.
    Default(&'static str),
}

impl ConfigError {
    pub(super) fn invalid(origin: Origin, value: &OsStr, rule: &str) -> Self {
        Self::Invalid { origin, value: value.to_string_lossy().into_owned(), rule: rule.to_owned() }
    }

    /// Tells the user, and returns the status to exit with: help and the version go to standard
    /// output with status 0, everything else to standard error with status 2, as usage errors do.
    pub fn report(&self) -> u8 {
        match self {
            Self::Usage(error) if !error.use_stderr() => {
                // If even that cannot be printed, the status has to do.
                let _ = error.print();
                0
            }
            Self::Usage(error) => {
                // clap's first paragraph says what is wrong; the rest is in the help.
                let text = error.to_string();
                let first = text.split("\n\n").next().unwrap_or_default();
                let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
                eprintln!("{line}; see --help");
                2
            }
            error => {
                eprintln!("error: {error}");
                2
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(key) => write!(f, "the flag --{}", key.replace('_', "-")),
            Self::Argument(name) => write!(f, "the argument {name}"),
            Self::Env(name) => write!(f, "the environment variable {name}"),
            Self::File { path, key } => write!(f, "{key} in {}", path.display()),
            Self::Default(key) => write!(f, "the default of {key}"),
        }
    }
}

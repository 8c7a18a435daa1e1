//! Mistakes in the settings, each told in one sentence that names its origin.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A mistake in the settings.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The command line does not parse, or asks for help or the version.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// A value is not among those allowed.
    #[error("{origin} is {value:?}, but must be {rule}")]
    Invalid {
        /// Flag, variable or key of the value.
        origin: String,
        /// The value as it stands there.
        value: String,
        /// The values that are allowed.
        rule: String,
    },
    /// A variable or a key of the file looks like a setting and is none.
    #[error("{name} is not a setting; those are {known}")]
    Unknown {
        /// The variable or the key.
        name: String,
        /// Every variable or key that is a setting.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}, which {origin} names: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Flag or variable that names the file.
        origin: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("line {line} of {} is not valid TOML: {message}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The mistake in that line.
        message: String,
    },
}

impl ConfigError {
    pub(super) fn invalid(origin: &str, value: &OsStr, rule: impl Into<String>) -> Self {
        let value = value.to_string_lossy().into_owned();
        Self::Invalid { origin: origin.to_owned(), value, rule: rule.into() }
    }

    /// Tells the user, and returns the status to exit with: help and the version go to standard
    /// output with status 0, everything else to standard error with status 2, as usage errors do.
    pub fn report(&self) -> u8 {
        match self {
            Self::Usage(error) if !error.use_stderr() => {
                // If even that cannot be printed, the status has to do.
                let _ = error.print();
                return 0;
            }
            Self::Usage(error) => {
                // clap's first paragraph tells the mistake; the rest is in the help.
                let text = error.to_string();
                let first = text.split("\n\n").next().unwrap_or_default();
                let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
                eprintln!("{line}; see --help");
            }
            error => eprintln!("error: {error}"),
        }
        2
    }
}

//! Mistakes in the settings, each told in one sentence that names its origin.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::logging::complain;

/// A mistake in the settings.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error(transparent)]
    Usage(#[from] clap::Error),
    #[error("{origin} is {value:?}, but must be {rule}")]
    Invalid { origin: String, value: String, rule: String },
    #[error("{name} is not a setting; those are {known}")]
    Unknown { name: String, known: String },
    #[error("cannot read {}, which {origin} names: {source}", path.display())]
    File { path: PathBuf, origin: String, source: io::Error },
    #[error("line {line} of {} is not valid TOML: {message}", path.display())]
    Toml { path: PathBuf, line: usize, message: String },
}

impl ConfigError {
    pub(super) fn invalid(origin: &str, value: &OsStr, rule: impl Into<String>) -> Self {
        let value = value.to_string_lossy().into_owned();
        Self::Invalid { origin: origin.to_owned(), value, rule: rule.into() }
    }

    /// Tells the user, and returns the exit status: 0 for help and the version, which go to
    /// standard output, else 2.
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
                complain(&format!("{line}; see --help"));
            }
            error => complain(&format!("error: {error}")),
        }
        2
    }
}

//! Mistakes in the settings. Each is one sentence that names its origin.

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use phaselock_cli::sentence;
use phaselock_quic::identity::IdentityError;
use thiserror::Error;

use crate::error::complain;

/// The settings cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The command line is invalid, or asks for help.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// All mistakes, one per line.
    #[error("{}", lines(.0))]
    Mistakes(Vec<Mistake>),
}

/// A mistake in the settings.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, Error)]
pub enum Mistake {
    #[error("{origin} is {value:?}, but must be {rule}")]
    Invalid { origin: String, value: String, rule: String },
    #[error("{name} is not a setting; {}", hint(nearest.as_deref(), known))]
    Unknown { name: String, nearest: Option<String>, known: String },
    #[error("{origin} names {name:?}, but {error}")]
    Game { origin: String, name: String, error: String },
    #[error("{origin} and {other} cannot be used together; remove one of them")]
    Both { origin: String, other: String },
    #[error("{origin} is not enough: {missing} is needed too")]
    Lacks { origin: String, missing: &'static str },
    #[error("{0}")]
    Log(String),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(
        "there is no certificate, and one is required: restore {} and {} from a backup, or start \
         once without --require-identity to create new ones",
        certificate.display(), key.display()
    )]
    NoIdentity { certificate: PathBuf, key: PathBuf },
    #[error("cannot load the settings: {0}")]
    Reload(String),
    #[error("cannot read {}, which {origin} names: {source}", path.display())]
    File { path: PathBuf, origin: String, source: io::Error },
    #[error("line {line} of {} is not valid TOML: {message}", path.display())]
    Toml { path: PathBuf, line: usize, message: String },
    #[error(
        "{name} is set twice in {}, {}; remove one of them",
        path.display(),
        both(*first, *line)
    )]
    Doubled { name: String, path: PathBuf, line: usize, first: usize },
    #[error("{}: {problem}", path.display())]
    Expired { path: PathBuf, problem: String },
    #[error("{origin} cannot be used: {problem}")]
    Unusable { origin: String, problem: String },
    #[error("{origin} has {address}, but {other} listens there; give one of them another port")]
    SamePort { origin: String, address: SocketAddr, other: String },
}

fn lines(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(Mistake::to_string).collect::<Vec<_>>().join("\n")
}

fn both(first: usize, line: usize) -> String {
    if first == line { format!("in line {line}") } else { format!("in lines {first} and {line}") }
}

fn hint(nearest: Option<&str>, known: &str) -> String {
    nearest
        .map_or_else(|| format!("the settings are {known}"), |name| format!("did you mean {name}?"))
}

impl Mistake {
    pub(crate) fn invalid(origin: &str, value: &OsStr, rule: impl Into<String>) -> Self {
        let value = value.to_string_lossy().into_owned();
        Self::Invalid { origin: origin.to_owned(), value, rule: rule.into() }
    }

    /// Returns the mistake of an unknown setting: `name` includes its origin, and `is` is the bare
    /// name, for which the most similar of the known names is suggested.
    pub(super) fn unknown(name: String, is: &str, known: &[String]) -> Self {
        let plain = |name: &str| name.trim_start_matches("PHASELOCK_").to_lowercase();
        let likeness = |known: &String| strsim::jaro(&plain(is), &plain(known));
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let nearest = nearest.filter(|known| likeness(known) > LIKENESS_MIN).cloned();
        Self::Unknown { name, nearest, known: known.join(", ") }
    }
}

/// Minimum similarity at which a name counts as a misspelling of another; 1 is equal. Found by
/// trying: `bot` and `tickrate` are misspelled, `server` and `port` are something else.
const LIKENESS_MIN: f64 = 0.68;

impl ConfigError {
    /// Prints it, and returns the exit status: 0 for help and the version, which go to standard
    /// output, otherwise 2.
    pub fn report(&self) -> u8 {
        match self {
            Self::Usage(error) if !error.use_stderr() => {
                // If printing fails, there is still the status.
                let _ = error.print();
                return 0;
            }
            Self::Usage(error) => complain(&format!("error: {}", sentence(error))),
            Self::Mistakes(mistakes) => {
                let told = mistakes.iter().map(|mistake| format!("error: {mistake}"));
                complain(&told.collect::<Vec<_>>().join("\n"));
            }
        }
        2
    }
}

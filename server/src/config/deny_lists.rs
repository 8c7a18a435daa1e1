//! Deny lists as a setting: files, which are read at once, and URLs.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use phaselock_quic::files;

use super::values::{Faults, ListRule};
use super::webhooks::check_url;
use crate::ranges::{LIST_BYTES_MAX, Ranges};

/// Maximum number of lists. Arbitrary.
pub const DENY_LISTS_MAX: usize = 8;

/// A list of addresses that may not join.
#[derive(Clone, PartialEq, Eq)]
pub enum DenyList {
    /// A file.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Content of the file.
        ranges: Arc<Ranges>,
    },
    /// The address of a list on the web. Its query may be a secret.
    Url(String),
}

impl fmt::Display for DenyList {
    /// Returns the path, or the URL without its query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, .. } => path.display().fmt(f),
            Self::Url(url) => match url.split_once(['?', '#']) {
                Some((shown, _)) => write!(f, "{shown}?..."),
                None => f.write_str(url),
            },
        }
    }
}

impl fmt::Debug for DenyList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The query may be a secret.
        f.write_str(&self.to_string())
    }
}

impl DenyList {
    /// Returns the file that it is read from, or `None` for a URL.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Url(_) => None,
        }
    }
}

/// Parses paths and URLs.
pub(super) fn parse(text: &OsStr) -> Result<Vec<DenyList>, Faults> {
    let rule = format!("up to {DENY_LISTS_MAX} files or URLs, separated by commas");
    let rule = ListRule { text: &rule, max: DENY_LISTS_MAX, is_distinct: true };
    // A URL may be a secret, so values are not shown.
    rule.parse_all(text, |word| list(word).map_err(Some))
}

/// Parses a URL, or a path, and reads its file. The error has all problems.
fn list(word: &str) -> Result<DenyList, Vec<String>> {
    if word.is_empty() {
        return Err(vec!["is empty".to_owned()]);
    }
    if word.contains("://") {
        let checked = check_url(word).map_err(|problem| vec![problem]);
        return checked.map(|_| DenyList::Url(word.to_owned()));
    }
    let path = PathBuf::from(word);
    let named = |problem: String| format!("cannot be used: {word}: {problem}");
    let bytes = files::read(&path, LIST_BYTES_MAX)
        .and_then(|bytes| bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)))
        .map_err(|error| vec![named(error.to_string())])?;
    let ranges = Ranges::parse(&bytes)
        .map_err(|error| error.problems().into_iter().map(named).collect::<Vec<_>>())?;
    Ok(DenyList::File { path, ranges: Arc::new(ranges) })
}

//! The known-hosts file: which certificate each server presented when it was first met.
//!
//! A line is `host:port sha256:<64 hex digits>`, empty, or a comment after `#`. The last line about
//! a server counts, and lines are only ever added, so clients may share the file.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::TryLockError;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use etcetera::BaseStrategy;
pub use phaselock::address::host_key;
use phaselock::fingerprint::{Fingerprint, ParseFingerprintError};
use phaselock::textfile::{Text, TextError};
use thiserror::Error;

use crate::{files, private};

/// Maximum size of the file in bytes: ten thousand servers. Arbitrary.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// A host name has at most 253 characters (RFC 1035), a port and its colon six, brackets two.
const HOST_BYTES_MAX: usize = 261;

/// The longest wait for the file's lock. Arbitrary; a client holds it while it reads or writes.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_millis(500);
/// Time between two attempts to lock the file. Arbitrary.
const LOCK_RETRY: Duration = Duration::from_millis(5);

/// The servers that this player has met, with the certificate that each presented.
#[derive(Debug)]
pub struct KnownHosts {
    path: PathBuf,
    entries: HashMap<String, Fingerprint>,
}

/// Why known servers could not be read or added. Nothing has changed.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, Error)]
pub enum PinError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is larger than {FILE_BYTES_MAX} bytes, the limit; move it away", path.display())]
    TooBig { path: PathBuf },
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: TextError },
    #[error("line {line} of {}: {problem}", path.display())]
    Malformed { path: PathBuf, line: usize, problem: LineError },
    #[error("{0:?} is not a server's host:port")]
    Host(String),
    #[error(
        "{host} is already known by another certificate, {known}; connect again to compare them"
    )]
    Changed { host: String, known: Fingerprint },
}

/// What is wrong with a line of the file.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    #[error("not a host:port and a fingerprint")]
    Words,
    #[error("it does not begin with a host:port")]
    Host,
    #[error(transparent)]
    Fingerprint(#[from] ParseFingerprintError),
}

impl KnownHosts {
    /// Loads the servers from a file, which need not exist yet.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, PinError> {
        let path = path.into();
        let (entries, _) = read(&path)?;
        Ok(Self { path, entries })
    }

    /// Returns the default path of a player's file, unless the system knows no home directory.
    pub fn default_path() -> Option<PathBuf> {
        let base = etcetera::choose_base_strategy().ok()?;
        Some(base.config_dir().join("phaselock").join("known_hosts"))
    }

    /// Returns the certificate by which a server is known. `host` is spelled as by [`host_key`].
    pub fn check(&self, host: &str) -> Option<Fingerprint> {
        self.entries.get(&host.to_ascii_lowercase()).copied()
    }

    /// Replaces a server's known certificate because the player says so. The file keeps the old
    /// line. Fails if the server is no longer known by either of the two.
    pub fn accept(
        &mut self,
        host: &str,
        before: Fingerprint,
        fingerprint: Fingerprint,
    ) -> Result<(), PinError> {
        let host = host.to_ascii_lowercase();
        if !is_host_key(&host) {
            return Err(PinError::Host(host));
        }
        // Another client may have written since.
        let end;
        (self.entries, end) = read(&self.path)?;
        match self.entries.get(&host) {
            Some(known) if *known == fingerprint => return Ok(()),
            Some(known) if *known != before => {
                return Err(PinError::Changed { host, known: *known });
            }
            _ => append(&self.path, end, &format!("{host} {fingerprint}\n"))?,
        }
        self.entries.insert(host, fingerprint);
        Ok(())
    }

    /// Adds a server that was met for the first time.
    ///
    /// Fails if the server is already known by another certificate, even since a moment ago.
    pub fn remember(&mut self, host: &str, fingerprint: Fingerprint) -> Result<(), PinError> {
        let host = host.to_ascii_lowercase();
        if !is_host_key(&host) {
            return Err(PinError::Host(host));
        }
        // Another client may have written since.
        let end;
        (self.entries, end) = read(&self.path)?;
        match self.entries.get(&host) {
            Some(known) if *known == fingerprint => return Ok(()),
            Some(known) => return Err(PinError::Changed { host, known: *known }),
            None => append(&self.path, end, &format!("{host} {fingerprint}\n"))?,
        }
        self.entries.insert(host, fingerprint);
        Ok(())
    }
}

/// State of the end of a file, for appending.
#[derive(Clone, Copy, Default)]
struct FileEnd {
    bytes: usize,
    /// Whether the last line lacks its line break, as an editor may leave it.
    open_line: bool,
}

fn read(path: &Path) -> Result<(HashMap<String, Fingerprint>, FileEnd), PinError> {
    let Some(file) = files::open(path).map_err(io_error("open", path))? else {
        return Ok(Default::default());
    };
    // Another client may be writing.
    wait_for_lock(|| file.try_lock_shared());
    let bytes = files::content(file, FILE_BYTES_MAX).map_err(io_error("read", path))?;
    let text = Text::decode(&bytes, FILE_BYTES_MAX).map_err(|error| match error {
        TextError::TooLong(_) => PinError::TooBig { path: path.to_owned() },
        error => PinError::Unreadable { path: path.to_owned(), error },
    })?;
    let open_line = !text.as_str().is_empty() && !text.is_complete();
    let end = FileEnd { bytes: bytes.len(), open_line };
    let mut entries = HashMap::new();
    for (line, content) in text.lines() {
        let malformed = |problem| PinError::Malformed { path: path.to_owned(), line, problem };
        entries.extend(parse_line(content).map_err(malformed)?);
    }
    Ok((entries, end))
}

fn parse_line(line: &str) -> Result<Option<(String, Fingerprint)>, LineError> {
    let line = line.trim_start();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(host), Some(fingerprint), None) = (words.next(), words.next(), words.next()) else {
        return Err(LineError::Words);
    };
    // A server with another spelling would count as unknown.
    let host = canonical(host).ok_or(LineError::Host)?;
    Ok(Some((host, fingerprint.parse()?)))
}

/// Returns the canonical spelling of a line's host and port, as by [`host_key`].
fn canonical(text: &str) -> Option<String> {
    let (host, port) = text.rsplit_once(':').filter(|_| is_host_key(text))?;
    Some(host_key(host, port.parse().ok()?))
}

/// Whether a text can be the first word of a line.
fn is_host_key(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    text.len() <= HOST_BYTES_MAX
        && !host.is_empty()
        && port.parse::<u16>().is_ok()
        && !text.starts_with('#')
        // Addresses have no other characters, so others could only hide in a line.
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Appends a line in one write, so that the lines of two clients never mix.
fn append(path: &Path, end: FileEnd, line: &str) -> Result<(), PinError> {
    let text = if end.open_line { format!("\n{line}") } else { line.to_owned() };
    if end.bytes + text.len() > FILE_BYTES_MAX {
        return Err(PinError::TooBig { path: path.to_owned() });
    }
    if let Some(dir) = path.parent() {
        private::create_dir(dir).map_err(io_error("create the directory", dir))?;
    }
    // Which servers a player visits is private.
    let mut file = private::append(path).map_err(io_error("open", path))?;
    // No client reads half of it.
    wait_for_lock(|| file.try_lock());
    file.write_all(text.as_bytes()).map_err(io_error("write", path))
}

/// Waits for a lock, and carries on without it if another program keeps it or the file system
/// cannot lock. The lock only keeps a client from reading a line that is being written.
fn wait_for_lock(try_lock: impl Fn() -> Result<(), TryLockError>) {
    let end = Instant::now() + LOCK_TIMEOUT;
    while matches!(try_lock(), Err(TryLockError::WouldBlock)) && Instant::now() < end {
        thread::sleep(LOCK_RETRY);
    }
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PinError {
    let path = path.to_owned();
    move |source| PinError::Io { action, path, source }
}

//! The database as a file: identity, copies, and backups.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use phaselock_quic::private;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::ffi::{SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_IOERR, SQLITE_IOERR_FSYNC};
use rusqlite::{Connection, OpenFlags};

use super::jobs::StoreError;

/// Pages that are copied at a time.
const PAGES: i32 = 1000;
/// Longest wait for another program's lock, and time between two attempts.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// The system's identity of a file, which shows whether a path still leads to the open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

/// Returns the identity of the file at a path, if there is one.
pub(super) fn identity(file: &Path) -> Option<Identity> {
    let metadata = fs::metadata(file).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some(Identity { device: metadata.dev(), number: metadata.ino() })
    }
    // On other systems, an open file cannot be removed or replaced.
    #[cfg(not(unix))]
    metadata.is_file().then_some(Identity { device: 0, number: 0 })
}

/// Creates the file, if there is none, readable only by its owner; its journals get the same mode.
/// If that fails, opening it reports why.
pub(super) fn make_private(file: &Path) {
    let _ = private::create_new(file);
}

/// Returns the path of a database's copy.
pub(super) fn copy_of(file: &Path) -> PathBuf {
    with_end(file, ".copy")
}

pub(super) fn with_end(file: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(end);
    PathBuf::from(name)
}

/// Replaces the copy of a database in use by a new one, which is checked first. If the database is
/// damaged, the error is SQLite's own.
pub(super) fn copy(file: &Path) -> rusqlite::Result<()> {
    let new = with_end(file, ".copy-new");
    // A separate connection reads what is on the disk, rather than what is in memory.
    let written = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .and_then(|connection| write_copy(&connection, &new));
    let renamed = written.and_then(|()| {
        fs::rename(&new, copy_of(file)).map_err(|error| failure(SQLITE_IOERR, error.to_string()))
    });
    if renamed.is_err() {
        // A partial copy must not be used.
        let _ = fs::remove_file(&new);
    }
    renamed
}

/// Writes a copy that only the server's user can read, checks it, and waits for the disk.
fn write_copy(connection: &Connection, new: &Path) -> rusqlite::Result<()> {
    match fs::remove_file(new) {
        // A partial copy, left by a server that was killed.
        Ok(()) | Err(_) => make_private(new),
    }
    let mut copy = Connection::open_with_flags(new, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let backup = Backup::new(connection, &mut copy)?;
    let mut free_at = Instant::now();
    loop {
        match backup.step(PAGES)? {
            StepResult::Done => break,
            StepResult::More => free_at = Instant::now(),
            // Another program has locked it.
            _ if free_at.elapsed() < LOCK_TIMEOUT => thread::sleep(LOCK_INTERVAL),
            _ => return Err(failure(SQLITE_BUSY, "another program has locked it".to_owned())),
        }
    }
    drop(backup);
    check(&copy)?;
    drop(copy);
    sync(new).map_err(|error| failure(SQLITE_IOERR_FSYNC, error.to_string()))
}

/// Waits until a file is on the disk. Windows does that only for files that may be written.
fn sync(file: &Path) -> io::Result<()> {
    File::options().write(true).open(file)?.sync_all()
}

/// Returns an error of SQLite's type.
pub(super) fn failure(code: i32, text: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), Some(text))
}

/// Fails if a database is damaged.
pub(super) fn check(connection: &Connection) -> rusqlite::Result<()> {
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if sound == "ok" { Ok(()) } else { Err(failure(SQLITE_CORRUPT, sound)) }
}

/// Writes the contents of the copy to a new file next to the database, without replacing that yet.
/// Returns its path; `None` if there is no copy, or only a damaged one. Errors are the disk's.
pub(super) fn of_copy(file: &Path) -> io::Result<Option<PathBuf>> {
    let (copy, new) = (copy_of(file), with_end(file, ".restored"));
    match fs::copy(&copy, &new) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        copied => copied?,
    };
    sync(&new)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let is_whole =
        Connection::open_with_flags(&new, flags).is_ok_and(|copied| check(&copied).is_ok());
    if !is_whole {
        fs::remove_file(&new)?;
    }
    Ok(is_whole.then_some(new))
}

/// Copies a database in use to a new file. Returns the size of the copy in bytes.
pub(super) fn backup(connection: &Connection, file: &Path) -> Result<u64, StoreError> {
    let failed = |reason: String| StoreError::Backup { file: file.to_owned(), reason };
    // A name that no backup can have.
    let new = file.with_file_name(".backup-new");
    let written = write_copy(connection, &new).map_err(|error| error.to_string());
    // Never replaces an existing backup: creating a link fails if the name exists.
    let named = written.and_then(|()| match fs::hard_link(&new, file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error.to_string()),
        // Some file systems have no links.
        Err(_) if !file.exists() => fs::rename(&new, file).map_err(|error| error.to_string()),
        linked => linked.map_err(|error| error.to_string()),
    });
    let _ = fs::remove_file(&new);
    named.map_err(failed)?;
    fs::metadata(file).map(|it| it.len()).map_err(|error| failed(error.to_string()))
}

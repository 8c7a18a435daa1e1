//! Paths in the data directory, and files and folders that only the server's user may read.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use phaselock_quic::private;

/// File of the first token, in the data directory. [`ctl`](crate::ctl) reads it.
pub(crate) const TOKEN_FILE: &str = "admin-token";

/// File that a running server locks, in the data directory.
pub(crate) const LOCK_FILE: &str = "lock";
/// File that identifies the server in a directory of recordings that it may share, in the data
/// directory.
pub(crate) const RECORDER_FILE: &str = "recorder-id";
/// Folder of saved rooms, in the data directory.
pub(crate) const ROOMS_DIR: &str = "rooms";

/// Returns the path of the first token's file.
pub(crate) fn token_path(data_dir: &Path) -> PathBuf {
    data_dir.join(TOKEN_FILE)
}

/// Creates a directory that only the server's user can access, unless it exists.
pub(crate) fn make_private_dir(path: &Path) -> io::Result<()> {
    private::create_dir(path)
}

/// Replaces a file by one that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = new_private(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

/// Creates a file that only its owner can read, unless it exists.
pub(crate) fn new_private(path: &Path) -> io::Result<File> {
    private::create_new(path)
}

//! Loads motions from files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use phaselock::games::Games;
use thiserror::Error;

use crate::file::{self, FILE_BYTES_MAX, FileError, MotionFile};

/// Why a motion cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The content is invalid.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Reads the motion from a file or a pipe; a recording of play must be of one of these games.
pub fn load(path: &Path, games: &Games) -> Result<MotionFile, LoadError> {
    let mut bytes = Vec::new();
    // One byte more than allowed reveals a file that is too large.
    File::open(path)?.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(file::read(&bytes, games)?)
}

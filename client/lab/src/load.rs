//! Loads motions from files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use phaselock::games::Games;
use phaselock::link::{Conditions, ConditionsError, RECORDING_BYTES_MAX};
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
    Ok(file::read(&read(path, FILE_BYTES_MAX)?, games)?)
}

/// Parses a network's description, and reads the recording that it names, if any.
pub fn network(text: &str) -> Result<Conditions, ConditionsError> {
    Conditions::parse(text, |path| match read(path.as_ref(), RECORDING_BYTES_MAX) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    })
}

/// Reads a file or a pipe. One byte more than allowed reveals a file that is too large.
fn read(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

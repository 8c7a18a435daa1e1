//! Reads files with a size limit.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Reads a file, up to one byte more than `bytes_max`, so that
/// [`Text::decode`](phaselock::textfile::Text::decode) can refuse a larger one. Returns `None` if
/// there is no such file.
///
/// # Errors
///
/// If the file cannot be read or is not a regular file: reading a pipe would block until someone
/// writes.
pub fn read(path: &Path, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    open(path)?.map(|file| content(file, bytes_max)).transpose()
}

/// Reads a range of a file's bytes, as far as there are any.
///
/// # Errors
///
/// Reading fails.
pub fn read_range(mut file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(range.start))?;
    file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file for reading; `None` if it does not exist.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(about) if !about.is_file() => return Err(io::Error::other("it is not a file")),
        about => about?,
    };
    match File::open(path) {
        // Removed just now.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file.map(Some),
    }
}

/// Reads an open file. The limit holds even if the file grows.
pub(crate) fn content(file: File, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

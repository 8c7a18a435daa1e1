//! Small texts of the player, stored by the browser under the file names that a window uses.
//!
//! An unreadable text is renamed before it would be overwritten. Tabs share the texts without a
//! lock: the last one to write wins.

use std::io;
use std::path::{Path, PathBuf};

use phaselock_web::page;

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Content of a text, or `None` if there is none. One byte more than `most` means that it is
/// longer.
pub(crate) fn read(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let text = page::load(&name(path));
    Ok(text.map(|text| text.into_bytes().into_iter().take(most + 1).collect()))
}

/// A text that is about to be changed.
#[derive(Debug)]
pub(crate) struct LockedFile(PathBuf);

impl LockedFile {
    /// Opens a text for a change; it need not exist.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self(path.to_owned()))
    }

    /// Content of the text, as read by [`read`].
    pub(crate) fn read(&self, most: usize) -> io::Result<Option<Vec<u8>>> {
        read(&self.0, most)
    }

    /// Stores the text, which cannot be used, under another name. Returns that name.
    pub(crate) fn set_aside(&self) -> io::Result<PathBuf> {
        let aside = PathBuf::from(format!("{}.broken", name(&self.0)));
        let text = page::load(&name(&self.0)).unwrap_or_default();
        Self(aside.clone()).write(text.as_bytes())?;
        Ok(aside)
    }

    /// Stores a text in place of the old one.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        let refused = || io::Error::other("the browser keeps nothing for this page");
        page::store(&name(&self.0), text).then_some(()).ok_or_else(refused)
    }
}

//! Small texts of the player's, kept by the browser by the names of the files that a window has.
//!
//! A text that cannot be used is set aside before it would be written over. Tabs share them, and
//! there is no lock: the last one to write counts.

use std::io;
use std::path::{Path, PathBuf};

use phaselock_web::page;

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Content of a text; none if there is no such text. One byte more than `most` tells a longer one.
pub(crate) fn read(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let text = page::kept(&name(path));
    Ok(text.map(|text| text.into_bytes().into_iter().take(most + 1).collect()))
}

/// A text that is about to be changed.
#[derive(Debug)]
pub(crate) struct Held(PathBuf);

impl Held {
    /// Takes hold of a text, which need not exist.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self(path.to_owned()))
    }

    /// Its content, as by [`read`].
    pub(crate) fn read(&self, most: usize) -> io::Result<Option<Vec<u8>>> {
        read(&self.0, most)
    }

    /// Keeps the text, which cannot be used, by another name, and returns that.
    pub(crate) fn set_aside(&self) -> io::Result<PathBuf> {
        let aside = PathBuf::from(format!("{}.broken", name(&self.0)));
        let text = page::kept(&name(&self.0)).unwrap_or_default();
        Self(aside.clone()).write(text.as_bytes())?;
        Ok(aside)
    }

    /// Keeps a text in the old one's place.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        let refused = || io::Error::other("the browser keeps nothing for this page");
        page::keep(&name(&self.0), text).then_some(()).ok_or_else(refused)
    }
}

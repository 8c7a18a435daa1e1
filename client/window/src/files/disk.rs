//! Small files of the player: read within limits, and written completely or not at all.
//!
//! An unreadable file is renamed before it would be overwritten, so nothing in it is lost. Changes
//! by another window are kept: a file is locked and read again before it is changed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of renamed files next to the one in use; then someone must tidy up.
const ASIDE_MAX: usize = 100;

pub(crate) use phaselock_quic::files::read;
use phaselock_quic::private;

/// A file locked for a change, so that no other window changes it.
#[derive(Debug)]
pub(crate) struct LockedFile {
    path: PathBuf,
    _lock: File,
}

impl LockedFile {
    /// Waits until no other window holds the file, which need not exist.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private::create_dir(folder)?;
        }
        // Follow a link, so that it remains a link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let lock = File::create(with_end(&path, ".lock"))?;
        // Not every file system can lock.
        let _ = lock.lock();
        Ok(Self { path, _lock: lock })
    }

    /// Content of the file, as read by [`read`].
    pub(crate) fn read(&self, most: usize) -> io::Result<Option<Vec<u8>>> {
        read(&self.path, most)
    }

    /// Renames the file, which cannot be used, to a free name. Returns that name.
    pub(crate) fn set_aside(&self) -> io::Result<PathBuf> {
        let number = |n: usize| if n == 1 { ".broken".into() } else { format!(".broken-{n}") };
        let names = (1..=ASIDE_MAX).map(|n| with_end(&self.path, &number(n)));
        let free = names.into_iter().find(|name| !name.exists());
        let full = || io::Error::other("too many files that could not be read lie beside it");
        let name = free.ok_or_else(full)?;
        fs::rename(&self.path, &name)?;
        Ok(name)
    }

    /// Writes a new file and puts it in place of the old one.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        // A unique name, in case no lock keeps another window out.
        let fresh = with_end(&self.path, &format!(".{}", std::process::id()));
        // Left by a window that was killed.
        let _ = fs::remove_file(&fresh);
        // Which servers and players someone knows is private.
        let written = private::create_new(&fresh).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        let renamed = written.and_then(|()| fs::rename(&fresh, &self.path));
        // The old file is unchanged; a partial new one is useless.
        renamed.inspect_err(|_| drop(fs::remove_file(&fresh)))
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

//! Files and directories that only their owner can access: by their mode on Unix, by their access
//! control list on Windows.
//!
//! On Windows, a file otherwise inherits the list of its directory. Below the user's profile that
//! list is private, but a directory such as `C:\phaselock` is open to every user of the machine.
//! Here, the list is a single entry, full control for the user of this process, and nothing is
//! inherited. As with root on Unix, an administrator can still take ownership.

use std::fs::{self, File};
use std::io;
use std::path::Path;

#[cfg(unix)]
#[path = "private/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "private/windows.rs"]
mod system;

pub(crate) use system::keep_private;

/// Creates a file for writing that only its owner can access, from its first moment. On Windows, no
/// other handle can read or write it until this one is closed.
///
/// # Errors
///
/// If the file exists or cannot be created.
pub fn create_new(path: &Path) -> io::Result<File> {
    system::create_new(path)
}

/// Creates a directory that only its owner can access, and missing directories above it, which are
/// private too. An existing directory is left alone, since its owner chose who may access it.
///
/// # Errors
///
/// If a directory cannot be created.
pub fn create_dir(path: &Path) -> io::Result<()> {
    // An empty path is the current directory.
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        create_dir(above)?;
    }
    match system::create_dir(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created,
    }
}

/// Opens a file for reading and appending. If it does not exist, it is created so that only its
/// owner can access it.
///
/// # Errors
///
/// If the file cannot be opened or created.
pub fn append(path: &Path) -> io::Result<File> {
    match create_new(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(_) | Err(_) => {}
    }
    // Windows locks only files that are open for reading or overwriting.
    fs::OpenOptions::new().read(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn nothing_that_exists_is_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a/b/file");
        create_dir(path.parent().expect("there is one")).expect("made");
        create_dir(path.parent().expect("there is one")).expect("it is there");
        create_new(&path).expect("made").write_all(b"first").expect("written");
        let error = create_new(&path).expect_err("it is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        append(&path).expect("opened").write_all(b", second").expect("written");
        assert_eq!(fs::read(&path).expect("readable"), b"first, second");
        append(&path.with_file_name("new")).expect("made").write_all(b"x").expect("written");
        assert!(create_dir(&path).is_err(), "a file");
        assert!(create_dir(&path.join("c")).is_err(), "below a file");
    }

    #[test]
    fn only_the_owner_has_access() {
        let dir = tempfile::tempdir().expect("a directory");
        let (made, file) = (dir.path().join("a/b"), dir.path().join("a/b/file"));
        create_dir(&made).expect("made");
        drop(create_new(&file).expect("made"));
        let added = made.join("added");
        drop(append(&added).expect("made"));
        for path in [&dir.path().join("a"), &made, &file, &added] {
            assert!(system::is_private(path).expect("readable"), "{}", path.display());
        }
        let open = dir.path().join("open");
        fs::write(&open, "").expect("writable");
        system::open_to_all(&open).expect("ours");
        assert!(!system::is_private(&open).expect("readable"));
        keep_private(&open);
        assert!(system::is_private(&open).expect("readable"));
    }
}

//! Unix: modes.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn mode(path: &Path) -> io::Result<u32> {
    fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777)
}

/// Makes the key readable by its owner only. If that fails, as with read-only secrets, the server
/// warns.
pub(crate) fn keep_private(key: &Path) {
    let Ok(mode) = mode(key) else { return };
    if mode & 0o077 == 0 {
        return;
    }
    let (file, mode) = (key.display(), format!("{mode:04o}"));
    match fs::set_permissions(key, Permissions::from_mode(0o600)) {
        Ok(()) => tracing::warn!(
            name: "key_was_open",
            %file, %mode, "the private key was open to other users; its mode is now 0600"
        ),
        Err(error) => tracing::warn!(
            name: "key_open",
            %file, %mode, %error, "the private key is open to other users; set its mode to 0600"
        ),
    }
}

#[cfg(test)]
pub(super) fn is_private(path: &Path) -> io::Result<bool> {
    mode(path).map(|mode| mode & 0o077 == 0)
}

#[cfg(test)]
pub(super) fn open_to_all(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o644))
}

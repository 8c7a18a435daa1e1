//! Windows: access control lists.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;

use windows_permissions::constants::{AceType, SeObjectType, SecurityInformation};
use windows_permissions::utilities::current_process_sid;
use windows_permissions::wrappers::{GetNamedSecurityInfo, SetNamedSecurityInfo};
use windows_permissions::{Acl, LocalBox, SecurityDescriptor, Sid};

/// Lets other handles rename and delete a file, but neither read nor write it.
const FILE_SHARE_DELETE: u32 = 4;
/// SYSTEM and the administrators, who have access to every file.
const SYSTEM: [&str; 2] = ["S-1-5-18", "S-1-5-32-544"];

pub(super) fn create_new(path: &Path) -> io::Result<File> {
    // Nobody can open the file before its list is set.
    let mut options = OpenOptions::new();
    let made = options.write(true).create_new(true).share_mode(FILE_SHARE_DELETE).open(path)?;
    if let Err(error) = restrict(path, "") {
        drop(made);
        let _ = fs::remove_file(path);
        return Err(error);
    }
    drop(made);
    // Other programs of the same user may open the file as usual.
    OpenOptions::new().write(true).open(path)
}

pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    // Files and directories in it inherit the entry.
    restrict(path, "OICI").inspect_err(|_| drop(fs::remove_dir(path)))
}

/// Gives full control to the user of this process, and nothing to anyone else.
fn restrict(path: &Path, flags: &str) -> io::Result<()> {
    set_list(path, &format!("D:P(A;{flags};FA;;;{})", *current_process_sid()?))
}

/// Sets the list that a descriptor in SDDL has. It inherits nothing.
fn set_list(path: &Path, sddl: &str) -> io::Result<()> {
    let descriptor: LocalBox<SecurityDescriptor> = sddl.parse()?;
    let list = descriptor.dacl().ok_or_else(|| io::Error::other("the descriptor has no list"))?;
    let what = SecurityInformation::Dacl | SecurityInformation::ProtectedDacl;
    SetNamedSecurityInfo(path, SeObjectType::SE_FILE_OBJECT, what, None, None, Some(list), None)
}

/// Whether only the user of this process, SYSTEM and administrators have access.
pub(super) fn is_private(path: &Path) -> io::Result<bool> {
    let what = SecurityInformation::Dacl;
    let descriptor = GetNamedSecurityInfo(path, SeObjectType::SE_FILE_OBJECT, what)?;
    let user = current_process_sid()?;
    let may = |sid: &Sid| *sid == *user || SYSTEM.contains(&&*sid.to_string());
    let admits = |list: &Acl, at| {
        let entry = list.get_ace(at);
        // Entries that deny admit nobody; of other kinds, allow what is not understood.
        entry.is_none_or(|entry| {
            entry.ace_type() == AceType::ACCESS_DENIED_ACE_TYPE || entry.sid().is_some_and(may)
        })
    };
    // Without a list, everyone has access.
    Ok(descriptor.dacl().is_some_and(|list| (0..list.len()).all(|at| admits(list, at))))
}

/// Restricts the key to the user of this process, unless only administrators can access it besides.
/// If that fails, as with read-only secrets, the server warns.
pub(crate) fn keep_private(key: &Path) {
    if is_private(key).unwrap_or(true) {
        return;
    }
    let file = key.display();
    match restrict(key, "") {
        Ok(()) => tracing::warn!(
            name: "key_was_open",
            %file, "the private key was open to other users; now only this user can access it"
        ),
        Err(error) => tracing::warn!(
            name: "key_open",
            %file, %error, "the private key is open to other users; remove their access to it"
        ),
    }
}

#[cfg(test)]
pub(super) fn open_to_all(path: &Path) -> io::Result<()> {
    set_list(path, "D:P(A;;FA;;;WD)")
}

//! Windows: access control lists.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;

use windows_permissions::constants::{AceType, SeObjectType, SecurityInformation};
use windows_permissions::utilities::current_process_sid;
use windows_permissions::wrappers::{GetSecurityInfo, SetSecurityInfo};
use windows_permissions::{Acl, LocalBox, SecurityDescriptor, Sid};

/// Lets other handles rename and delete a file, but neither read nor write it.
const FILE_SHARE_DELETE: u32 = 4;
/// Opens directories, too.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const GENERIC_WRITE: u32 = 0x4000_0000;
/// Reads the access control list.
const READ_CONTROL: u32 = 0x0002_0000;
/// Replaces the access control list.
const WRITE_DAC: u32 = 0x0004_0000;
/// SYSTEM and the administrators, who have access to every file.
const SYSTEM: [&str; 2] = ["S-1-5-18", "S-1-5-32-544"];

pub(super) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).access_mode(GENERIC_WRITE | READ_CONTROL | WRITE_DAC);
    // Until this handle is closed, nobody else can open the file to read or write it, and the list
    // is that of this file even if another one takes its name. Share modes do not govern access to
    // the list itself: in a directory where others have full control, they could open the file for
    // that before the list is set.
    let mut file = options.share_mode(FILE_SHARE_DELETE).open(path)?;
    if let Err(error) = restrict(&mut file, "") {
        drop(file);
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    // Files and directories in it inherit the entry.
    let restricted = open(path, WRITE_DAC).and_then(|mut dir| restrict(&mut dir, "OICI"));
    restricted.inspect_err(|_| drop(fs::remove_dir(path)))
}

/// Opens a file or directory to read its access control list, and for `access`.
fn open(path: &Path, access: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.access_mode(READ_CONTROL | access).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Gives full control to the user of this process, and nothing to anyone else.
fn restrict(file: &mut File, flags: &str) -> io::Result<()> {
    set_list(file, &format!("D:P(A;{flags};FA;;;{})", *current_process_sid()?))
}

/// Sets the list that a descriptor in SDDL has. It inherits nothing.
fn set_list(file: &mut File, sddl: &str) -> io::Result<()> {
    let descriptor: LocalBox<SecurityDescriptor> = sddl.parse()?;
    let list = descriptor.dacl().ok_or_else(|| io::Error::other("the descriptor has no list"))?;
    let what = SecurityInformation::Dacl | SecurityInformation::ProtectedDacl;
    SetSecurityInfo(file, SeObjectType::SE_FILE_OBJECT, what, None, None, Some(list), None)
}

/// Whether only the user of this process, SYSTEM and administrators have access.
pub(super) fn is_private(path: &Path) -> io::Result<bool> {
    let what = SecurityInformation::Dacl;
    let descriptor = GetSecurityInfo(&open(path, 0)?, SeObjectType::SE_FILE_OBJECT, what)?;
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
/// If that fails, as with read-only secrets, or if it cannot tell, the server warns.
pub(crate) fn keep_private(key: &Path) {
    let file = key.display();
    match is_private(key) {
        Ok(true) => return,
        Ok(false) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            return tracing::warn!(
                name: "key_open",
                %file, %error,
                "cannot tell whether other users can read the private key; check its access list"
            );
        }
    }
    match open(key, WRITE_DAC).and_then(|mut key| restrict(&mut key, "")) {
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
    set_list(&mut open(path, WRITE_DAC)?, "D:P(A;;FA;;;WD)")
}

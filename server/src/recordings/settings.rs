//! What is recorded, where, and for how long.

use std::io;
use std::path::{Path, PathBuf};

use phaselock_quic::files;

use crate::config::{Operation, RecordMode};
use crate::data_dir::{RECORDER_FILE, write_private};
use crate::token::hex;

/// Folder of recordings in the data directory.
pub(crate) const FOLDER: &str = "replays";

/// Bytes of the number that identifies a server.
const OWNER_BYTES: usize = 4;

/// What is recorded, where, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) mode: RecordMode,
    pub(crate) dir: PathBuf,
    /// Days after which a recording is removed; 0 for never.
    pub(crate) days: u32,
    /// Maximum total size of this server's recordings.
    pub(crate) bytes: u64,
    /// Identifies the server in the names of its files; `None` if no other server may use the
    /// directory.
    pub(crate) owner: Option<String>,
}

impl Recording {
    /// Returns what the settings say.
    pub(crate) fn of(settings: &Operation) -> Self {
        let dir = settings.record_dir.clone();
        Self {
            mode: settings.record,
            dir: dir.unwrap_or_else(|| settings.data_dir.join(FOLDER)),
            days: settings.record_days,
            bytes: u64::from(settings.record_megabytes) * 1_000_000,
            owner: None,
        }
    }

    /// Returns what the settings say, with the owner's number if other servers may use the
    /// directory. Makes one if there is none.
    ///
    /// # Errors
    ///
    /// The number cannot be read or written.
    pub(crate) fn open(settings: &Operation) -> io::Result<Self> {
        let is_shared = settings.record_dir.is_some();
        let owner = is_shared.then(|| owner(&settings.data_dir)).transpose()?;
        Ok(Self { owner, ..Self::of(settings) })
    }
}

/// Returns the number that identifies the server with this data directory, or makes one.
fn owner(data_dir: &Path) -> io::Result<String> {
    let path = data_dir.join(RECORDER_FILE);
    let known = files::read(&path, 4 * OWNER_BYTES)?;
    let known = known.and_then(|bytes| String::from_utf8(bytes).ok());
    let known = known.map(|text| text.trim().to_owned());
    if let Some(known) = known.filter(|it| is_owner(it)) {
        return Ok(known);
    }
    let mut bytes = [0; OWNER_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let owner = hex(&bytes);
    write_private(&path, &owner)?;
    Ok(owner)
}

/// Whether a text can be the number that identifies a server.
pub(super) fn is_owner(text: &str) -> bool {
    text.len() == 2 * OWNER_BYTES && text.bytes().all(|it| it.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_server_keeps_its_number_in_a_directory_that_others_may_use() {
        let [data, shared, other] = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
        let owner = |data: &Path, record_dir| {
            let mut settings = Config::default().operation;
            settings.data_dir = data.to_owned();
            (settings.record, settings.record_dir) = (RecordMode::Always, record_dir);
            Recording::open(&settings).expect("it can be written").owner
        };
        let shared = Some(shared.path().to_owned());
        assert_eq!(owner(data.path(), None), None, "a directory of its own");
        let known = owner(data.path(), shared.clone());
        assert_eq!(known.as_deref().map(str::len), Some(8));
        assert_eq!(owner(data.path(), shared.clone()), known);
        assert_ne!(owner(other.path(), shared.clone()), known);
        std::fs::write(data.path().join(RECORDER_FILE), "../../x\n").expect("writable");
        let new = owner(data.path(), shared);
        assert!(new != known && new.is_some_and(|it| it.len() == 8));
    }
}

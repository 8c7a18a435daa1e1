//! Copies of the database on demand.

use phaselock::filename::is_device;
use phaselock_quic::identity::{CERTIFICATE_FILE, KEY_FILE};

use super::state::{AuditEntry, Host, done};
use crate::author::{Author, Right};
use crate::data_dir::{LOCK_FILE, RECORDER_FILE, ROOMS_DIR, TOKEN_FILE};
use crate::error::ActError;
use crate::{recordings, store};

/// Maximum bytes of a backup's name. Arbitrary.
const FILE_NAME_MAX: usize = 64;
/// Files of the data directory that a backup must not replace, besides the database's.
const OWN_FILES: [&str; 7] = [
    TOKEN_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    LOCK_FILE,
    RECORDER_FILE,
    ROOMS_DIR,
    recordings::FOLDER,
];

impl Host {
    /// Copies the database to a new file in the data directory. Returns its size in bytes.
    pub(crate) async fn backup(&self, by: &Author, file: &str) -> Result<(String, u64), ActError> {
        by.needs(Right::Manage)?;
        if !is_plain_name(file) {
            let text = format!(
                "a backup goes into the data directory under a plain name, such as backup-1.db: 1 \
                 to {FILE_NAME_MAX} letters, digits, dashes, dots and underscores, without a dot \
                 or dash at the beginning, and not a file of the server itself"
            );
            return Err(ActError::Bad(text));
        }
        let copied = self.store.backup(self.facts.data_dir.join(file)).await;
        let detail = match &copied {
            Ok(_) => file.to_owned(),
            Err(error) => format!("{file}; failed: {error}"),
        };
        let entry = AuditEntry { detail: Some(detail), ..AuditEntry::of("backup") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        let bytes = copied?;
        Ok((done(format!("the database is copied to {file}"), written), bytes))
    }
}

/// Whether a file of this name can be created in the data directory, on every system.
fn is_plain_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let lower = name.to_ascii_lowercase();
    let is_own = lower.starts_with(store::FILE) || OWN_FILES.contains(&&*lower);
    (1..=FILE_NAME_MAX).contains(&name.len())
        && name.chars().all(is_plain)
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
        && !is_device(name)
        && !is_own
}

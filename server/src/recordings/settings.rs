//! What is recorded, where, and for how long.

use std::path::PathBuf;

use crate::config::{Operation, RecordMode};

/// Folder of recordings in the data directory.
pub(crate) const FOLDER: &str = "replays";

/// What is recorded, where, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) mode: RecordMode,
    pub(crate) dir: PathBuf,
    /// Days after which a recording is removed; 0 for never.
    pub(crate) days: u32,
    /// Maximum size of all recordings.
    pub(crate) bytes: u64,
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
        }
    }
}

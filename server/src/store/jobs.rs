//! Jobs of the database's thread, and the state that it shares with its users.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use phaselock_quic::server::Times;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::changes::Change;
use crate::error::ActError;

/// Where a change is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The change is on the disk and survives any crash.
    Durably,
    /// The change is in memory until it can be written to the disk.
    Later,
}

/// An error of the database.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the database is overloaded; try again")]
    Busy,
    #[error("the database has stopped; restart the server")]
    Stopped,
    #[error("cannot write this to the database, so it is lost when the server stops: {0}")]
    Refused(String),
    #[error("the database cannot be read: {0}")]
    Read(#[from] rusqlite::Error),
    #[error("cannot back up to {}: {reason}", file.display())]
    Backup { file: PathBuf, reason: String },
}

impl From<StoreError> for ActError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Backup { .. } => Self::Conflict(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

pub(super) type Reading = Box<dyn FnOnce(&Connection) + Send>;

pub(super) enum Job {
    Write {
        changes: Vec<Change>,
        done: Option<oneshot::Sender<Result<Written, StoreError>>>,
    },
    Read(Reading),
    Backup {
        file: PathBuf,
        done: oneshot::Sender<Result<u64, StoreError>>,
    },
    /// Write everything that is pending, and end.
    End,
}

/// State of the database, for people and metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// What is wrong, in a sentence; `None` if all is well.
    pub problem: Option<String>,
    /// Failed attempts to write.
    pub errors: u64,
    /// Changes in memory that are not on the disk yet.
    pub pending: usize,
    /// Changes lost because too many were pending.
    pub lost: u64,
    /// Durations of writes.
    pub times: Times,
}

/// Returns everything that the host has decided, for a database that has lost it.
pub(super) type Decided = Box<dyn Fn() -> Vec<Change> + Send + Sync>;

/// State that the thread and its users share.
#[derive(Default)]
pub(super) struct Common {
    pub(super) health: Mutex<Health>,
    /// Groups of changes that did not fit into the job queue, oldest first. While there are any,
    /// later ones are added here too, so that all are written in order.
    pub(super) overflow: Mutex<Vec<Vec<Change>>>,
    /// Number of jobs without a waiting caller that were dropped because the queue was full.
    pub(super) dropped: AtomicU64,
    pub(super) decided: OnceLock<Decided>,
    /// When the thread began its current job, if it has one.
    pub(super) at_work: Mutex<Option<Instant>>,
    /// Unix time in seconds before which records may be deleted; `None` if they may not.
    pub(super) expired_before: Mutex<Option<i64>>,
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").field("health", &self.health).finish_non_exhaustive()
    }
}

impl Common {
    pub(super) fn health(&self) -> std::sync::MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn at_work(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn overflow(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Change>>> {
        self.overflow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Write { .. } => "Write",
            Self::Read(_) => "Read",
            Self::Backup { .. } => "Backup",
            Self::End => "End",
        })
    }
}

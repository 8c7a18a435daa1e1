//! The server's memory beyond its end: bans, mutes, roles, tokens, audit log, results and records,
//! in one SQLite database in the data directory.
//!
//! A thread of its own has the database. Whoever changes something waits until it is on the disk;
//! the server's other threads never wait for it. Where the disk is full or fails, changes are kept
//! in memory, counted as such in the answer, and written as soon as it takes them again. A database
//! that is damaged or removed while the server runs is begun anew with all that the host has
//! decided, which is in memory too.

mod changes;
mod files;
mod keeping;
mod old;
mod open;
mod read;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use phaselock_quic::server::Times;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::writer::Writer;

pub use changes::{AuditLine, Change, PlayerTotals, Record, Result as RoundResult, day_of};
use keeping::Keeping;
pub use open::OpenError;
pub(crate) use open::check;
pub use read::{
    Everything, PublicBest, audit as audit_of, public_bests, records as records_of,
    results as results_of,
};

/// Jobs that wait for the thread; of more, those that nobody waits for are dropped and counted.
const JOBS_MAX: usize = 1024;
/// Time after which a job is a problem.
const SLOW: Duration = Duration::from_secs(5);
/// Name of the file in the data directory.
pub const FILE: &str = "phaselock.db";

/// Where a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// On the disk: it survives whatever happens to the process.
    Durably,
    /// In memory, until the disk takes it.
    Later,
}

/// The database cannot answer.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database has too much to do; try again")]
    Busy,
    #[error("the database has stopped; restart the server")]
    Stopped,
    #[error("the database does not take this, and it is lost with the process: {0}")]
    Refused(String),
    #[error("the database cannot be read: {0}")]
    Read(#[from] rusqlite::Error),
    #[error("cannot back up to {}: {reason}", file.display())]
    Backup { file: PathBuf, reason: String },
}

/// Changes that are being written.
#[derive(Debug)]
pub struct Writing(Option<oneshot::Receiver<Result<Written, StoreError>>>);

impl Writing {
    /// Waits until they are on the disk, or kept in memory for it.
    pub async fn done(self) -> Result<Written, StoreError> {
        match self.0 {
            Some(written) => written.await.map_err(|_| StoreError::Stopped)?,
            None => Ok(Written::Later),
        }
    }
}

type Reading = Box<dyn FnOnce(&Connection) + Send>;

enum Job {
    Write {
        changes: Vec<Change>,
        done: Option<oneshot::Sender<Result<Written, StoreError>>>,
    },
    Read(Reading),
    Backup {
        file: PathBuf,
        done: oneshot::Sender<Result<u64, StoreError>>,
    },
    /// Write what is pending, and end.
    End,
}

/// State of the database, for people and for metrics.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// A problem in a sentence; none if all is well.
    pub problem: Option<String>,
    /// Attempts to write that failed.
    pub errors: u64,
    /// Changes in memory that the disk has not taken.
    pub pending: usize,
    /// Changes that were lost, because too many were pending.
    pub lost: u64,
    /// Durations of what was written.
    pub times: Times,
}

/// Source of all that the host has decided, for a database that has lost it.
type Decided = Box<dyn Fn() -> Vec<Change> + Send + Sync>;

/// State that the thread and its users have in common.
#[derive(Default)]
struct Common {
    health: Mutex<Health>,
    /// Groups of changes for which there was no space among the jobs, the oldest first. While there
    /// are any, later ones come here too, so that all are written in their order.
    overflow: Mutex<Vec<Vec<Change>>>,
    /// Jobs that nobody waits for and for which there was no space.
    dropped: AtomicU64,
    decided: OnceLock<Decided>,
    /// Moment since which the thread is at one job, if it is at any.
    at_work: Mutex<Option<Instant>>,
    /// Unix time in seconds before which records may be deleted; none if none may.
    expired_before: Mutex<Option<i64>>,
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").field("health", &self.health).finish_non_exhaustive()
    }
}

impl Common {
    fn health(&self) -> std::sync::MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at_work(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn overflow(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Change>>> {
        self.overflow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hold on the database; copies hold the same one.
#[derive(Clone, Debug)]
pub struct Store {
    jobs: SyncSender<Job>,
    common: Arc<Common>,
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

impl Store {
    /// Opens the database in a directory, and makes it if there is none. A file that is no
    /// database, or a damaged one, is set aside under another name, and said in the log. Returns
    /// all that the server keeps in memory.
    pub fn open(data_dir: &Path) -> Result<(Self, Everything, Thread), OpenError> {
        let file = data_dir.join(FILE);
        let (connection, problem) = open::open(&file)?;
        let everything = read::everything(&connection)?;
        let (jobs, inbox) = sync_channel(JOBS_MAX);
        let common = Arc::new(Common::default());
        common.health().problem = problem;
        let keeper = Keeping::new(connection, file, Arc::clone(&common));
        let writer = Writer::spawn("database", move || keeper.run(&inbox));
        let writer = writer.map_err(OpenError::Thread)?;
        let store = Self { jobs, common };
        let thread = Thread { jobs: store.jobs.clone(), writer };
        Ok((store, everything, thread))
    }

    /// Writes changes, all or none, and waits until they are on the disk, or kept in memory for it.
    pub async fn write(&self, changes: Vec<Change>) -> Result<Written, StoreError> {
        self.begin(changes)?.done().await
    }

    /// Begins to write changes, which goes on whoever waits for it.
    pub fn begin(&self, changes: Vec<Change>) -> Result<Writing, StoreError> {
        let mut overflow = self.common.overflow();
        if overflow.is_empty() {
            let (done, written) = oneshot::channel();
            let changes = match self.jobs.try_send(Job::Write { changes, done: Some(done) }) {
                Ok(()) => return Ok(Writing(Some(written))),
                Err(TrySendError::Full(Job::Write { changes, .. })) => changes,
                Err(_) => return Err(StoreError::Stopped),
            };
            // The thread has too much to do; it takes them after all that it has.
            overflow.push(changes);
        } else if overflow.len() < JOBS_MAX {
            overflow.push(changes);
        } else {
            return Err(StoreError::Busy);
        }
        Ok(Writing(None))
    }

    /// Writes changes at some time, which nobody waits for. If the thread has too much to do they
    /// are dropped, and counted.
    pub fn note(&self, changes: Vec<Change>) {
        if self.give(Job::Write { changes, done: None }).is_err() {
            self.common.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reads from the database on its thread.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, answer) = oneshot::channel();
        self.give(Job::Read(Box::new(move |connection| {
            // Nobody may wait for it any more.
            let _ = done.send(read(connection));
        })))?;
        Ok(answer.await.map_err(|_| StoreError::Stopped)??)
    }

    /// Writes a copy of the whole database, as of this moment, into a new file. Returns its bytes.
    pub async fn backup(&self, file: PathBuf) -> Result<u64, StoreError> {
        let (done, answer) = oneshot::channel();
        self.give(Job::Backup { file, done })?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }

    /// State of the database.
    pub fn health(&self) -> Health {
        let mut health = self.common.health().clone();
        health.lost += self.common.dropped.load(Ordering::Relaxed);
        let since = self.common.at_work().map(|since| since.elapsed());
        if let Some(since) = since.filter(|since| *since > SLOW) {
            let secs = since.as_secs();
            health.problem = Some(format!("the database has been at one thing for {secs} s"));
        }
        health.pending += self.common.overflow().iter().map(Vec::len).sum::<usize>();
        health
    }

    /// States where all that the host has decided can be had, should the database lose it.
    pub fn refill_from(&self, decided: impl Fn() -> Vec<Change> + Send + Sync + 'static) {
        // The first one stays.
        let _ = self.common.decided.set(Box::new(decided));
    }

    /// Allows deletion of acts, results and players from before a Unix time in seconds; `None`
    /// forbids it.
    pub fn expire_before(&self, unix: Option<i64>) {
        let before = &self.common.expired_before;
        *before.lock().unwrap_or_else(PoisonError::into_inner) = unix;
    }

    fn give(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Busy,
            TrySendError::Disconnected(_) => StoreError::Stopped,
        })
    }
}

/// The thread with the database.
#[derive(Debug)]
pub struct Thread {
    jobs: SyncSender<Job>,
    writer: Writer,
}

impl Thread {
    /// Tells whether it has ended, which it never does by itself.
    pub fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        self.writer.watch()
    }

    /// Writes what is left, and ends the thread. Returns false if it has panicked or hangs.
    pub fn end(self) -> bool {
        // A thread with too much to do takes it later; one that has ended takes none.
        self.writer.end(|| !matches!(self.jobs.try_send(Job::End), Err(TrySendError::Full(_))))
    }
}

//! The server's database: bans, mutes, roles, tokens, audit log, results and records, in one SQLite
//! file in the data directory.
//!
//! It has its own thread. A writer waits until its change is on the disk; the server's other
//! threads never wait for it. If the disk is full or fails, changes are kept in memory, reported as
//! such in the answer, and written as soon as possible. If the database is damaged or removed while
//! the server runs, a new one is created with everything that the host has decided, which is in
//! memory too.

mod changes;
mod files;
mod jobs;
mod keeping;
mod old;
mod open;
mod read;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::writer::Writer;

pub(crate) use changes::{
    AuditLine, Change, PlayerTotals, Record, RecordRun, Result as RoundResult, day_of,
};
use jobs::{Common, Job};
pub(crate) use jobs::{Health, StoreError, Written};
use keeping::Keeping;
pub(crate) use open::OpenError;
pub(crate) use open::check;
pub(crate) use read::{
    Everything, PublicBest, audit as audit_of, ghosts as ghosts_of, public_bests,
    records as records_of, results as results_of, run as run_of,
};

/// Maximum jobs that wait for the thread. Beyond that, jobs without a waiting caller are dropped
/// and counted.
const JOBS_MAX: usize = 1024;
/// Time after which a job counts as a problem.
const SLOW: Duration = Duration::from_secs(5);
/// Name of the file, in the data directory.
pub(crate) const FILE: &str = "phaselock.db";

/// Changes that are being written.
#[derive(Debug)]
pub(crate) struct Writing(Option<oneshot::Receiver<Result<Written, StoreError>>>);

impl Writing {
    /// Waits until they are on the disk, or kept in memory because the disk fails.
    pub(crate) async fn done(self) -> Result<Written, StoreError> {
        match self.0 {
            Some(written) => written.await.map_err(|_| StoreError::Stopped)?,
            None => Ok(Written::Later),
        }
    }
}

/// A handle of the database. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    jobs: SyncSender<Job>,
    common: Arc<Common>,
}

impl Store {
    /// Opens the database in a directory, and creates it if there is none. A file that is damaged
    /// or not a database is renamed, which is logged. Returns everything that the server keeps in
    /// memory.
    pub(crate) fn open(data_dir: &Path) -> Result<(Self, Everything, Thread), OpenError> {
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

    /// Writes changes, all or none, and waits until they are on the disk, or kept in memory because
    /// the disk fails.
    #[cfg(test)]
    pub(crate) async fn write(&self, changes: Vec<Change>) -> Result<Written, StoreError> {
        self.begin(changes)?.done().await
    }

    /// Begins to write changes, whether the caller waits or not.
    pub(crate) fn begin(&self, changes: Vec<Change>) -> Result<Writing, StoreError> {
        let mut overflow = self.common.overflow();
        if overflow.is_empty() {
            let (done, written) = oneshot::channel();
            let changes = match self.jobs.try_send(Job::Write { changes, done: Some(done) }) {
                Ok(()) => return Ok(Writing(Some(written))),
                Err(TrySendError::Full(Job::Write { changes, .. })) => changes,
                Err(_) => return Err(StoreError::Stopped),
            };
            // The thread is busy; it writes these after all waiting jobs.
            overflow.push(changes);
        } else if overflow.len() < JOBS_MAX {
            overflow.push(changes);
        } else {
            return Err(StoreError::Busy);
        }
        Ok(Writing(None))
    }

    /// Writes changes at some time, without a way to wait for it. If the thread is too busy, they
    /// are dropped and counted.
    pub(crate) fn note(&self, changes: Vec<Change>) {
        if self.give(Job::Write { changes, done: None }).is_err() {
            self.common.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reads from the database on its thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, answer) = oneshot::channel();
        self.give(Job::Read(Box::new(move |connection| {
            // The caller may have stopped waiting.
            let _ = done.send(read(connection));
        })))?;
        Ok(answer.await.map_err(|_| StoreError::Stopped)??)
    }

    /// Copies the whole database, as of this moment, to a new file. Returns its size in bytes.
    pub(crate) async fn backup(&self, file: PathBuf) -> Result<u64, StoreError> {
        let (done, answer) = oneshot::channel();
        self.give(Job::Backup { file, done })?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }

    /// Returns the state of the database.
    pub(crate) fn health(&self) -> Health {
        let mut health = self.common.health().clone();
        health.lost += self.common.dropped.load(Ordering::Relaxed);
        let since = self.common.at_work().map(|since| since.elapsed());
        if let Some(since) = since.filter(|since| *since > SLOW) {
            let secs = since.as_secs();
            health.problem =
                Some(format!("the database has been busy with one request for {secs} s"));
        }
        health.pending += self.common.overflow().iter().map(Vec::len).sum::<usize>();
        health
    }

    /// Sets the source of everything that the host has decided, for a database that must be
    /// recreated.
    pub(crate) fn refill_from(&self, decided: impl Fn() -> Vec<Change> + Send + Sync + 'static) {
        // Only the first call counts.
        let _ = self.common.decided.set(Box::new(decided));
    }

    /// Allows deletion of audit lines, results and players from before a Unix time in seconds;
    /// `None` forbids it.
    pub(crate) fn expire_before(&self, unix: Option<i64>) {
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

/// The database's running thread.
#[derive(Debug)]
pub(crate) struct Thread {
    jobs: SyncSender<Job>,
    writer: Writer,
}

impl Thread {
    /// Whether the thread has ended, which it never does by itself.
    pub(crate) fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        self.writer.watch()
    }

    /// Writes what is left, and ends the thread. Returns false if it has panicked or is stuck.
    pub(crate) fn end(self) -> bool {
        // A busy thread sees it later; the send fails if the thread has ended.
        self.writer.end(|| !matches!(self.jobs.try_send(Job::End), Err(TrySendError::Full(_))))
    }
}

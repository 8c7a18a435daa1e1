//! The server's memory beyond its end: bans, mutes, roles, tokens, audit log, results and records,
//! in one SQLite database in the data directory.
//!
//! A thread of its own has the database. Whoever changes something waits until it is on the disk;
//! the server's other threads never wait for it. Where the disk is full or fails, changes are kept
//! in memory, counted as such in the answer, and written as soon as it takes them again.

mod changes;
mod open;
mod read;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use phaselock_quic::server::Times;
use rusqlite::Connection;
use tokio::sync::oneshot;

pub use changes::{AuditLine, Change, PlayerTotals, Record, Result as RoundResult};
pub use open::OpenError;
pub use read::{
    AuditRow, Everything, RecordRow, ResultRow, audit as audit_of, records as records_of,
    results as results_of,
};

/// Jobs that wait for the thread; of more, those that nobody waits for are dropped and counted.
const JOBS_MAX: usize = 1024;
/// Changes that are kept in memory while the disk takes none; of more, the oldest results and
/// statistics are lost. Arbitrary: some megabytes.
const PENDING_MAX: usize = 10_000;
/// Time from one attempt to write what is pending to the next.
const RETRY: Duration = Duration::from_secs(5);
/// Longest time for which the end of the process waits for it.
const END_TIMEOUT: Duration = Duration::from_secs(5);
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
    #[error("the database cannot be read: {0}")]
    Read(#[from] rusqlite::Error),
    #[error("cannot back up to {}: {reason}", file.display())]
    Backup { file: PathBuf, reason: String },
}

/// Changes that are being written.
#[derive(Debug)]
pub struct Writing(Option<oneshot::Receiver<Written>>);

impl Writing {
    /// Waits until they are on the disk, or kept in memory for it.
    pub async fn done(self) -> Result<Written, StoreError> {
        match self.0 {
            Some(written) => written.await.map_err(|_| StoreError::Stopped),
            None => Ok(Written::Later),
        }
    }
}

type Reading = Box<dyn FnOnce(&Connection) + Send>;

enum Job {
    Write {
        changes: Vec<Change>,
        done: Option<oneshot::Sender<Written>>,
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

/// A hold on the database; copies hold the same one.
#[derive(Clone, Debug)]
pub struct Store {
    jobs: SyncSender<Job>,
    health: Arc<Mutex<Health>>,
    /// Changes for which there was no space among the jobs.
    overflow: Arc<Mutex<Vec<Change>>>,
    dropped: Arc<AtomicU64>,
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
        let (connection, aside) = open::open(&data_dir.join(FILE))?;
        let everything = read::everything(&connection)?;
        let (jobs, inbox) = sync_channel(JOBS_MAX);
        let health = Arc::new(Mutex::new(Health::default()));
        let problem = aside.map(|aside| {
            format!("the database was damaged and is set aside as {}", aside.display())
        });
        let overflow = Arc::default();
        let keeper = Keeping {
            connection,
            overflow: Arc::clone(&overflow),
            pending: VecDeque::new(),
            health: Arc::clone(&health),
            retry_at: None,
        };
        keeper.health().problem = problem;
        let thread = thread::Builder::new().name("database".into());
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let run = move || {
            let _held = held;
            keeper.run(&inbox);
        };
        let thread = thread.spawn(run).map_err(OpenError::Thread)?;
        let store = Self { jobs, health, overflow, dropped: Arc::default() };
        let thread = Thread { jobs: store.jobs.clone(), alive, thread };
        Ok((store, everything, thread))
    }

    /// Writes changes, all or none, and waits until they are on the disk, or kept in memory for it.
    pub async fn write(&self, changes: Vec<Change>) -> Result<Written, StoreError> {
        self.begin(changes)?.done().await
    }

    /// Begins to write changes, which goes on whoever waits for it.
    pub fn begin(&self, changes: Vec<Change>) -> Result<Writing, StoreError> {
        let (done, written) = oneshot::channel();
        match self.jobs.try_send(Job::Write { changes, done: Some(done) }) {
            Ok(()) => Ok(Writing(Some(written))),
            // The thread has too much to do; it takes them with its next job.
            Err(TrySendError::Full(Job::Write { changes, .. })) => {
                self.overflow.lock().unwrap_or_else(PoisonError::into_inner).extend(changes);
                Ok(Writing(None))
            }
            Err(_) => Err(StoreError::Stopped),
        }
    }

    /// Writes changes at some time, which nobody waits for. If the thread has too much to do they
    /// are dropped, and counted.
    pub fn note(&self, changes: Vec<Change>) {
        if self.give(Job::Write { changes, done: None }).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
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
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner).clone();
        health.lost += self.dropped.load(Ordering::Relaxed);
        health
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
    /// The thread has the other hold on it.
    alive: Arc<()>,
    thread: JoinHandle<()>,
}

impl Thread {
    /// Tells whether it has ended, which it never does by itself.
    pub fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        let alive = Arc::downgrade(&self.alive);
        move || alive.strong_count() < 2
    }

    /// Writes what is left, and ends the thread. Returns false if it has panicked.
    pub fn end(self) -> bool {
        let end = Instant::now() + END_TIMEOUT;
        let mut word = Some(Job::End);
        while !self.thread.is_finished() && Instant::now() < end {
            // A thread with too much to do takes it later; one that has ended takes none.
            if let Some(job) = word.take()
                && let Err(TrySendError::Full(job)) = self.jobs.try_send(job)
            {
                word = Some(job);
            }
            thread::sleep(Duration::from_millis(5));
        }
        // One that hangs at a disk is left behind.
        self.thread.is_finished() && self.thread.join().is_ok()
    }
}

/// The thread's side.
struct Keeping {
    connection: Connection,
    /// Changes that the disk has not taken, the oldest first.
    pending: VecDeque<Change>,
    health: Arc<Mutex<Health>>,
    overflow: Arc<Mutex<Vec<Change>>>,
    /// Moment of the next attempt.
    retry_at: Option<Instant>,
}

impl Keeping {
    fn health(&self) -> std::sync::MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(mut self, inbox: &Receiver<Job>) {
        loop {
            let wait = self.retry_at.map(|at| at.saturating_duration_since(Instant::now()));
            let job = match wait {
                Some(wait) => match inbox.recv_timeout(wait) {
                    Ok(job) => Some(job),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                },
                None => match inbox.recv() {
                    Ok(job) => Some(job),
                    Err(_) => return,
                },
            };
            match job {
                None => self.flush(),
                Some(Job::Write { changes, done }) => {
                    let written = self.write(changes);
                    if let Some(done) = done {
                        let _ = done.send(written);
                    }
                }
                Some(Job::Read(read)) => read(&self.connection),
                Some(Job::Backup { file, done }) => {
                    let _ = done.send(open::backup(&self.connection, &file));
                }
                Some(Job::End) => return self.flush(),
            }
        }
    }

    fn write(&mut self, changes: Vec<Change>) -> Written {
        self.pending.append(&mut self.take_overflow());
        self.pending.extend(changes);
        // While the disk fails each attempt costs time, and nothing is lost by waiting.
        if self.retry_at.is_none_or(|at| at <= Instant::now()) {
            self.flush();
        } else {
            self.bound();
        }
        if self.pending.is_empty() { Written::Durably } else { Written::Later }
    }

    fn take_overflow(&self) -> VecDeque<Change> {
        let mut overflow = self.overflow.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *overflow).into()
    }

    /// Writes all that is pending, in its order.
    fn flush(&mut self) {
        self.retry_at = None;
        self.pending.append(&mut self.take_overflow());
        if self.pending.is_empty() {
            return;
        }
        let begun = Instant::now();
        let written = changes::write(&mut self.connection, &self.pending).or_else(|error| {
            match changes::is_of_the_disk(&error) {
                true => Err(error),
                false => self.write_each(),
            }
        });
        let took = begun.elapsed();
        let mut health = self.health();
        health.times.add(took);
        match written {
            Ok(()) => {
                if health.pending > 0 {
                    tracing::info!(changes = health.pending, "the database takes changes again");
                    health.problem = None;
                }
                health.pending = 0;
                drop(health);
                self.pending.clear();
            }
            Err(error) => {
                health.errors += 1;
                let is_new = health.pending == 0;
                health.pending = self.pending.len();
                health.problem =
                    Some(format!("changes are kept in memory, since the disk fails: {error}"));
                drop(health);
                if is_new {
                    tracing::error!(
                        %error,
                        "the database takes no changes; they are kept in memory"
                    );
                }
                self.retry_at = Some(Instant::now() + RETRY);
                self.bound();
            }
        }
    }

    /// Writes change by change, and leaves out those that the database can never take.
    fn write_each(&mut self) -> rusqlite::Result<()> {
        while let Some(change) = self.pending.pop_front() {
            let alone = VecDeque::from([change]);
            match changes::write(&mut self.connection, &alone) {
                Err(error) if changes::is_of_the_disk(&error) => {
                    self.pending.extend(alone);
                    self.pending.rotate_right(1);
                    return Err(error);
                }
                Err(error) => {
                    tracing::error!(
                        change = ?alone[0],
                        %error,
                        "a change cannot be kept, and is lost"
                    );
                    self.health().lost += 1;
                }
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Forgets what matters least, if too much is pending.
    fn bound(&mut self) {
        let over = self.pending.len().saturating_sub(PENDING_MAX);
        if over > 0 {
            let mut left = over;
            self.pending.retain(|change| {
                let goes = left > 0 && !change.is_essential();
                left -= usize::from(goes);
                !goes
            });
            self.pending.drain(..left);
        }
        let mut health = self.health();
        health.lost += over as u64;
        health.pending = self.pending.len();
    }
}

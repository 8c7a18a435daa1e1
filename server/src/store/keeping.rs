//! The thread with the database: what is pending, and what becomes of a file that fails.

use std::collections::VecDeque;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use phaselock_quic::clock::Clock;
use rusqlite::Connection;

use super::{Change, Common, Job, Written, changes, old, open};

/// Changes that are kept in memory while the disk takes none; of more, the oldest results and
/// statistics are lost. Arbitrary: some megabytes.
pub(super) const PENDING_MAX: usize = 10_000;
/// Time from one attempt to write what is pending to the next.
pub(super) const RETRY: Duration = Duration::from_secs(5);
/// Time from the start to the first look for what is old, from one look to the next, and from one
/// part of what is found to the next. Arbitrary.
const OLD_FIRST: Duration = Duration::from_secs(60);
const OLD_INTERVAL: Duration = Duration::from_secs(6 * 3600);
const OLD_NEXT: Duration = Duration::from_secs(1);
/// Seconds of a day.
const DAY: i64 = 86_400;

/// The thread's side.
pub(super) struct Keeping {
    connection: Connection,
    file: PathBuf,
    /// The file that is open, as the system knows it.
    identity: Option<open::FileIdentity>,
    /// Changes that the disk has not taken, the oldest first.
    pub(super) pending: VecDeque<Change>,
    pub(super) common: Arc<Common>,
    /// Moment of the next attempt.
    pub(super) retry_at: Option<Instant>,
    /// Moment of the next look for what is old.
    old_at: Instant,
}

impl Keeping {
    pub(super) fn new(connection: Connection, file: PathBuf, common: Arc<Common>) -> Self {
        let (pending, retry_at, old_at) = (VecDeque::new(), None, Instant::now() + OLD_FIRST);
        let identity = open::identity(&file);
        Self { connection, file, identity, pending, common, retry_at, old_at }
    }

    pub(super) fn run(mut self, inbox: &Receiver<Job>) {
        loop {
            let next = self.retry_at.map_or(self.old_at, |at| at.min(self.old_at));
            let job = match inbox.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            match job {
                None if self.old_at <= Instant::now() => self.drop_old(),
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

    pub(super) fn write(&mut self, changes: Vec<Change>) -> Written {
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
        mem::take(&mut *self.common.overflow()).into()
    }

    /// Writes all that is pending, in its order.
    pub(super) fn flush(&mut self) {
        self.retry_at = None;
        self.pending.append(&mut self.take_overflow());
        if self.pending.is_empty() {
            return;
        }
        let begun = Instant::now();
        let written = match self.is_elsewhere() {
            true => self.begin_anew("gone from its place"),
            false => self.write_pending(),
        };
        let written = match written {
            Err(error) if open::is_damage(&error) => self.begin_anew("damaged"),
            written => written,
        };
        let took = begun.elapsed();
        let mut health = self.common.health();
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

    fn write_pending(&mut self) -> rusqlite::Result<()> {
        changes::write(&mut self.connection, &self.pending).or_else(|error| {
            match changes::is_of_the_disk(&error) {
                true => Err(error),
                false => self.write_each(),
            }
        })
    }

    /// True if somebody has moved, removed or replaced the file. What was written into it would be
    /// found by nobody.
    fn is_elsewhere(&self) -> bool {
        self.identity != open::identity(&self.file)
    }

    /// Sets a damaged database aside, or leaves one that is gone, and begins a new one with all
    /// that the host has decided and what is pending.
    fn begin_anew(&mut self, cause: &str) -> rusqlite::Result<()> {
        // The file must be closed before it is renamed; nothing is asked of this one.
        self.connection = Connection::open_in_memory()?;
        self.identity = None;
        let (connection, aside) = open::begin_anew(&self.file).map_err(|error| {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
            rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
        })?;
        self.connection = connection;
        self.identity = open::identity(&self.file);
        let aside = aside.map_or_else(
            || "nothing of it is left".to_owned(),
            |aside| format!("what is left of it is {}", aside.display()),
        );
        tracing::error!(
            cause,
            aside,
            "the database was lost while the server ran: a new one has all bans, mutes, roles and \
             tokens; restore a backup for the rest"
        );
        let decided = self.common.decided.get().map(|decided| decided()).unwrap_or_default();
        let pending = mem::take(&mut self.pending);
        self.pending = decided.into_iter().chain(pending).collect();
        self.write_pending()?;
        let problem =
            format!("the database was {cause}, and a new one has what the host decided; {aside}");
        self.common.health().problem = Some(problem);
        Ok(())
    }

    /// Deletes what is older than the host wants.
    fn drop_old(&mut self) {
        let days = self.common.keep_days.load(Ordering::Relaxed);
        let dropped = match days {
            0 => Ok(0),
            days => old::drop_some(&self.connection, Clock::unix_secs() - i64::from(days) * DAY),
        };
        let wait = match dropped {
            // More of it, after whatever waits.
            Ok(rows) if rows >= old::ROWS_MAX => OLD_NEXT,
            Ok(_) => OLD_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "what is old cannot be deleted from the database");
                OLD_INTERVAL
            }
        };
        self.old_at = Instant::now() + wait;
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
                    self.common.health().lost += 1;
                }
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Forgets what matters least, if too much is pending.
    pub(super) fn bound(&mut self) {
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
        let mut health = self.common.health();
        health.lost += over as u64;
        health.pending = self.pending.len();
    }
}

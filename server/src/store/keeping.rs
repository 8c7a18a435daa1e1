//! The database's thread: pending changes, and recovery when the file or the disk fails.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use std::{iter, mem};

use rusqlite::Connection;
use rusqlite::ffi::{SQLITE_BUSY, SQLITE_CANTOPEN};

use super::changes::{self, Change};
use super::jobs::{Common, Job, StoreError, Written};
use super::{files, old, open};

/// Maximum changes that are kept in memory while the disk fails. Beyond that, the oldest results
/// and statistics are lost. Arbitrary: some megabytes.
pub(super) const PENDING_MAX: usize = 10_000;
/// Time between attempts to write what is pending.
const RETRY: Duration = Duration::from_secs(5);
/// Time from the start to the first deletion of old records, between two deletions, and between
/// parts of one. Arbitrary.
const OLD_FIRST: Duration = Duration::from_secs(60);
const OLD_INTERVAL: Duration = Duration::from_secs(6 * 3600);
const OLD_NEXT: Duration = Duration::from_secs(1);
/// Time from a host's decision to the next copy of the database, and minimum time between copies.
/// Arbitrary.
const COPY_AFTER: Duration = Duration::from_secs(10);
const COPY_INTERVAL: Duration = Duration::from_secs(600);

/// State of the thread.
pub(super) struct Keeping {
    connection: Connection,
    file: PathBuf,
    /// Identity of the open file; `None` if there is no usable one.
    identity: Option<files::Identity>,
    /// Identity of its journal.
    journal: Option<files::Identity>,
    /// Whether some of the host's decisions are only in the journal.
    is_in_journal: bool,
    /// Changes that are not on the disk yet, oldest first. Each group is written whole or not at
    /// all.
    pub(super) pending: VecDeque<Vec<Change>>,
    pub(super) common: Arc<Common>,
    /// What happened to a database that was lost while the server ran, reported until the next
    /// start.
    lost: Option<String>,
    /// Time of the next attempt.
    pub(super) retry_at: Option<Instant>,
    /// Time of the next deletion of old records.
    old_at: Instant,
    /// Time of the next copy, if there is something to copy, and the earliest time of the one
    /// after.
    copy_at: Option<Instant>,
    copy_not_before: Instant,
}

impl Keeping {
    pub(super) fn new(connection: Connection, file: PathBuf, common: Arc<Common>) -> Self {
        let now = Instant::now();
        Self {
            connection,
            identity: files::identity(&file),
            journal: files::identity(&files::with_end(&file, "-wal")),
            is_in_journal: false,
            file,
            pending: VecDeque::new(),
            common,
            lost: None,
            retry_at: None,
            old_at: now + OLD_FIRST,
            copy_at: None,
            copy_not_before: now,
        }
    }

    pub(super) fn run(mut self, inbox: &Receiver<Job>) {
        loop {
            let job = match inbox.try_recv() {
                Ok(job) => Some(job),
                Err(TryRecvError::Disconnected) => return,
                // What did not fit into the queue is newer than everything in it.
                Err(TryRecvError::Empty) if self.take_overflow() => {
                    self.write_or_wait();
                    continue;
                }
                Err(TryRecvError::Empty) if mem::take(&mut self.is_in_journal) => {
                    // Moves changes from the journal into the file itself: people who tidy up
                    // delete journals. If that fails, the next attempt does it.
                    let checkpoint = "PRAGMA wal_checkpoint(PASSIVE)";
                    let _ = self.connection.query_row(checkpoint, [], |_| Ok(()));
                    continue;
                }
                Err(TryRecvError::Empty) => {
                    let dues = [self.retry_at, self.copy_at, Some(self.old_at)];
                    let next = dues.into_iter().flatten().min().unwrap_or(self.old_at);
                    match inbox.recv_timeout(next.saturating_duration_since(Instant::now())) {
                        Ok(job) => Some(job),
                        Err(RecvTimeoutError::Timeout) => None,
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            };
            *self.common.at_work() = Some(Instant::now());
            match job {
                None => self.do_what_is_due(),
                Some(Job::Write { changes, done }) => {
                    let written = self.write(changes);
                    if let Some(done) = done {
                        let _ = done.send(written);
                    }
                }
                Some(Job::Read(read)) => read(&self.connection),
                Some(Job::Backup { file, done }) => {
                    let _ = done.send(files::backup(&self.connection, &file));
                }
                Some(Job::End) => {
                    self.take_overflow();
                    self.flush();
                    return;
                }
            }
            *self.common.at_work() = None;
        }
    }

    fn do_what_is_due(&mut self) {
        let now = Instant::now();
        if self.retry_at.is_some_and(|at| at <= now) {
            self.flush();
        } else if self.copy_at.is_some_and(|at| at <= now) {
            self.copy();
        } else if self.old_at <= now {
            self.drop_old();
        }
    }

    /// Writes changes, after everything that is pending. Fails if the database can never accept
    /// them.
    pub(super) fn write(&mut self, changes: Vec<Change>) -> Result<Written, StoreError> {
        self.pending.push_back(changes);
        match self.write_or_wait().last() {
            Some(Refused { reason, is_last: true }) => Err(StoreError::Refused(reason.clone())),
            _ if self.pending.is_empty() => Ok(Written::Durably),
            _ => Ok(Written::Later),
        }
    }

    /// While the disk fails, each attempt costs time, and waiting loses nothing.
    fn write_or_wait(&mut self) -> Vec<Refused> {
        if self.retry_at.is_none_or(|at| at <= Instant::now()) {
            return self.flush();
        }
        self.bound();
        Vec::new()
    }

    /// Moves what did not fit into the queue to the pending changes. Returns true if there was any.
    fn take_overflow(&mut self) -> bool {
        let overflow = mem::take(&mut *self.common.overflow());
        let is_some = !overflow.is_empty();
        self.pending.extend(overflow);
        is_some
    }

    /// Writes everything that is pending, in order. Returns the groups that the database can never
    /// accept; these are lost.
    pub(super) fn flush(&mut self) -> Vec<Refused> {
        self.retry_at = None;
        if self.pending.is_empty() && self.identity.is_some() {
            return Vec::new();
        }
        let begun = Instant::now();
        if !self.is_elsewhere() && self.is_without_journal() {
            // What cannot be saved is lost with the file.
            if let Err(error) = self.renew_journal() {
                tracing::error!(
                    name: "database_journal_lost",
                    %error,
                    "the database's journal was removed, and its changes are lost"
                );
                self.identity = None;
            }
        }
        let written = match self.is_elsewhere() {
            true => self.start_over("moved or removed"),
            false => match self.write_pending() {
                Err(error) if open::is_damage(&error) => self.start_over("damaged"),
                written => written,
            },
        };
        let took = begun.elapsed();
        let mut health = self.common.health();
        health.times.add(took);
        match written {
            Ok(refused) => {
                if health.pending > 0 {
                    tracing::info!(
                        name: "database_recovered",
                        changes = health.pending,
                        "the database is writable again"
                    );
                    health.problem.clone_from(&self.lost);
                }
                health.pending = 0;
                health.lost += refused.len() as u64;
                drop(health);
                if self.pending.iter().flatten().any(Change::is_essential) {
                    let soon = Instant::now() + COPY_AFTER;
                    self.copy_at.get_or_insert(soon.max(self.copy_not_before));
                }
                self.pending.clear();
                refused
            }
            Err(error) => {
                health.errors += 1;
                let is_new = health.pending == 0;
                health.problem = Some(format!(
                    "cannot write to the disk, so changes are kept in memory: {error}"
                ));
                drop(health);
                if is_new {
                    tracing::error!(
                        name: "database_failing",
                        %error,
                        "cannot write to the database; keeping changes in memory"
                    );
                }
                self.retry_at = Some(Instant::now() + RETRY);
                self.bound();
                Vec::new()
            }
        }
    }

    /// Writes everything that is pending in one transaction, except what the database can never
    /// accept.
    fn write_pending(&mut self) -> rusqlite::Result<Vec<Refused>> {
        let mut refused = Vec::new();
        let mut transaction = self.connection.transaction()?;
        for (index, group) in self.pending.iter().enumerate() {
            match changes::write(&mut transaction, group) {
                Err(error) if changes::is_of_the_disk(&error) => return Err(error),
                Err(error) => {
                    tracing::error!(
                        name: "database_change_lost",
                        ?group,
                        %error,
                        "a change cannot be written, and is lost"
                    );
                    let is_last = index + 1 == self.pending.len();
                    refused.push(Refused { reason: error.to_string(), is_last });
                }
                Ok(()) => {}
            }
        }
        transaction.commit()?;
        self.is_in_journal |= self.pending.iter().flatten().any(Change::is_essential);
        self.journal = self.journal_there();
        Ok(refused)
    }

    /// Whether the file was moved, removed or replaced. Anything written to the open file would
    /// then be lost.
    fn is_elsewhere(&self) -> bool {
        self.identity.is_none() || self.identity != files::identity(&self.file)
    }

    /// Whether the journal was moved, removed or replaced.
    fn is_without_journal(&self) -> bool {
        self.journal.is_some() && self.journal != self.journal_there()
    }

    fn journal_there(&self) -> Option<files::Identity> {
        files::identity(&files::with_end(&self.file, "-wal"))
    }

    /// Saves the changes in the removed journal, which is still open, and starts a new one.
    fn renew_journal(&mut self) -> rusqlite::Result<()> {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_held: bool = self.connection.query_row(checkpoint, [], |row| row.get(0))?;
        if is_held {
            return Err(files::failure(SQLITE_BUSY, "another program reads it".to_owned()));
        }
        // The file must be closed before it is reopened.
        self.connection = Connection::open_in_memory()?;
        self.identity = None;
        self.connection = open::open_sound(&self.file)?;
        self.identity = files::identity(&self.file);
        self.journal = self.journal_there();
        tracing::error!(
            name: "database_journal_lost",
            "the database's journal was removed; its changes were recovered"
        );
        Ok(())
    }

    /// Continues with a new database, from the last copy or empty, adding everything that the host
    /// has decided and what is pending.
    fn start_over(&mut self, cause: &str) -> rusqlite::Result<Vec<Refused>> {
        // The file must be closed before it is renamed; this placeholder is never used.
        self.connection = Connection::open_in_memory()?;
        self.identity = None;
        let (connection, lost) = open::start_over(&self.file)
            .map_err(|error| files::failure(SQLITE_CANTOPEN, error.to_string()))?;
        self.connection = connection;
        self.identity = files::identity(&self.file);
        self.journal = self.journal_there();
        tracing::error!(
            name: "database_lost",
            cause,
            lost,
            "the database was lost while the server was running; a new one has all bans, mutes, \
             roles and tokens; check that the data directory is intact"
        );
        let decided = self.common.decided.get().map(|decided| decided()).unwrap_or_default();
        self.pending.push_front(iter::once(Change::Clear).chain(decided).collect());
        let problem =
            format!("the database was {cause}; {lost}, with all bans, mutes, roles and tokens");
        let written = self.write_pending()?;
        self.common.health().problem = Some(problem.clone());
        self.lost = Some(problem);
        Ok(written)
    }

    /// Copies the database, for a start that finds it damaged. The copy is read from the disk and
    /// checked, so that damage is noticed while the lost data is still in memory.
    pub(super) fn copy(&mut self) {
        self.copy_at = None;
        self.copy_not_before = Instant::now() + COPY_INTERVAL;
        match files::copy(&self.file) {
            Ok(()) => {}
            Err(error) if open::is_damage(&error) => {
                if let Err(error) = self.start_over("damaged") {
                    tracing::error!(
                        name: "database_new_failed",
                        %error,
                        "cannot create a new database; retrying"
                    );
                    self.retry_at = Some(Instant::now() + RETRY);
                } else {
                    self.pending.clear();
                }
            }
            // A full disk, for example: the next copy may succeed.
            Err(error) => tracing::warn!(
                name: "database_copy_failed",
                %error,
                "cannot copy the database"
            ),
        }
    }

    /// Deletes some records older than the host's limit.
    fn drop_old(&mut self) {
        let before = *self.common.expired_before.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = before.map_or(Ok(0), |before| old::drop_some(&self.connection, before));
        let wait = match dropped {
            // There is more to delete, after other jobs.
            Ok(rows) if rows >= old::ROWS_MAX => OLD_NEXT,
            Ok(_) => OLD_INTERVAL,
            Err(error) => {
                tracing::warn!(
                    name: "database_old_stuck",
                    %error,
                    "cannot delete old records from the database"
                );
                OLD_INTERVAL
            }
        };
        self.old_at = Instant::now() + wait;
    }

    /// Drops the least important changes, if too many are pending.
    fn bound(&mut self) {
        let mut kept: usize = self.pending.iter().map(Vec::len).sum();
        let before = kept;
        for is_spared in [true, false] {
            self.pending.retain(|group| {
                let is_essential = group.iter().any(Change::is_essential);
                let goes = kept > PENDING_MAX && !(is_spared && is_essential);
                kept -= if goes { group.len() } else { 0 };
                !goes
            });
        }
        let mut health = self.common.health();
        health.lost += (before - kept) as u64;
        health.pending = kept;
    }
}

/// A group of changes that the database can never accept.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    reason: String,
    /// Whether it was the newest pending group.
    is_last: bool,
}

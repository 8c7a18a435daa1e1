//! The host's side of a running server: who is here, what is done to whom, and what is told of it.
//!
//! A thread of its own runs it, beside the interface: nothing in it can hold up a room.
//!
//! ```text
//! host        roster and figures            acts    kick, ban, mute, ... each with its audit line
//!   events    what rooms tell               orders  drain, games, roles, tokens, log, backup
//!   chat      commands of players           view    what the interface shows
//!   restarts  restarts of the schedule
//! ```

mod acts;
mod chat;
mod events;
mod orders;
mod restarts;
mod roster;
#[cfg(test)]
mod tests;
mod view;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use phaselock::game::{Best, Unit};
use phaselock::time::Rates;
use phaselock_quic::announce::Standing;
use phaselock_quic::server::{OrderError, ServerHandle};
use tokio::sync::watch::Receiver as Current;
use tokio::sync::{broadcast, watch};

pub use acts::{Author, BanRequest, Whom};
pub use events::{listen, watch_figures};
pub(crate) use orders::{hash_of, new_token};
pub use restarts::watch_restarts;
pub use roster::{Person, Roster};

use crate::api::{AuditEvent, ChatView, Figures, HostEvent};
use crate::clocks::Clocks;
use crate::config::Config;
use crate::data::Kept;
use crate::deny::DenyLists;
use crate::logging::LogHandle;
use crate::people::{BadSpan, BadSubject, Book, FailedLogins};
use crate::reload::Reloader;
use crate::schedule::Schedule;
use crate::store::{AuditLine, Change, Store, StoreError, Writing, Written};
use crate::webhooks::Counts;
use crate::worlds::Worlds;

/// Events of the host that wait for a listener; of more the oldest are lost, and it is told.
const EVENTS_MAX: usize = 1024;

/// Lines of the chat that are kept in memory for hosts who log in later. Arbitrary.
pub(crate) const CHAT_MAX: usize = 200;

/// Facts of a server's start and end.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Addresses that it listens on.
    pub addresses: Vec<String>,
    /// Directories that it is announced to.
    pub directories: Vec<Directory>,
    /// Ticks and snapshots a second.
    pub rates: Rates,
    /// Directory of everything that must survive.
    pub data_dir: PathBuf,
    /// Set once the process has been told to end.
    pub is_stopping: Arc<AtomicBool>,
    /// Each number that games report, by game and number: the better of two, and its unit.
    pub records: BTreeMap<(String, String), (Best, Unit)>,
    /// Set while the server drains for a restart.
    pub is_restarting: Arc<AtomicBool>,
}

/// A directory that a server is announced to.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Its address.
    pub address: String,
    /// The server's standing with it.
    pub standing: Current<Standing>,
}

/// A host's hold on a server and on all that belongs to it.
#[derive(Debug)]
pub struct Host {
    pub(crate) facts: Facts,
    pub(crate) handle: ServerHandle,
    pub(crate) book: Arc<Book>,
    pub(crate) store: Store,
    pub(crate) clocks: Clocks,
    pub(crate) worlds: Worlds,
    pub(crate) failed_logins: Arc<FailedLogins>,
    pub(crate) log: LogHandle,
    pub(crate) reloader: Reloader,
    config: Current<Arc<Config>>,
    /// Players who took a seat, and who left one, since the start.
    pub(crate) joins: AtomicU64,
    pub(crate) leaves: AtomicU64,
    /// Scheduled backups that were made, and that failed.
    pub(crate) backups: [AtomicU64; 2],
    /// Counts of webhooks.
    pub(crate) webhooks: Arc<Counts>,
    /// Deny lists.
    pub(crate) deny_lists: Arc<DenyLists>,
    /// Restarts to come.
    schedule: Mutex<Schedule>,
    roster: Mutex<Roster>,
    /// The newest lines of the chat, for hosts who log in later.
    chat: Mutex<VecDeque<ChatView>>,
    events: broadcast::Sender<HostEvent>,
    figures: watch::Sender<Arc<Figures>>,
}

/// Cause for which something was not done.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// The author's role has no right to it.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such player, ban, role or room.
    #[error("{0}")]
    NotFound(String),
    /// The request makes no sense.
    #[error("{0}")]
    Bad(String),
    /// The request conflicts with the current state.
    #[error("{0}")]
    Conflict(String),
    /// The settings are not good; all mistakes.
    #[error("the settings have mistakes, and nothing has changed: {}", .0.join("; "))]
    Mistakes(Vec<String>),
    /// The server or the database does not do it now.
    #[error("{0}")]
    Failed(String),
}

impl From<OrderError> for ActError {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::Refused(_) | OrderError::WhichRoom => Self::Conflict(error.to_string()),
            OrderError::NoRoom(_) => Self::NotFound(error.to_string()),
            OrderError::Late | OrderError::Busy | OrderError::Panicked | OrderError::Stopped => {
                Self::Failed(error.to_string())
            }
        }
    }
}

impl From<StoreError> for ActError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Backup { .. } => Self::Conflict(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<BadSubject> for ActError {
    fn from(error: BadSubject) -> Self {
        Self::Bad(error.to_string())
    }
}

impl From<BadSpan> for ActError {
    fn from(error: BadSpan) -> Self {
        Self::Bad(error.to_string())
    }
}

impl Host {
    /// A host of a server with these parts.
    pub(crate) fn new(
        facts: Facts,
        handle: ServerHandle,
        kept: &Kept,
        log: LogHandle,
        reloader: Reloader,
    ) -> Self {
        let (events, _) = broadcast::channel(EVENTS_MAX);
        let (figures, _) = watch::channel(Arc::default());
        let (roster, chat) = (Mutex::default(), Mutex::default());
        let (joins, leaves, webhooks, backups) = Default::default();
        let config = reloader.config();
        let (book, store) = (Arc::clone(&kept.book), kept.store.clone());
        let clocks = kept.clocks.clone();
        let schedule = Mutex::new(Schedule::new(clocks.now()));
        let (worlds, failed_logins) = (kept.worlds.clone(), kept.gate.failed_logins());
        Self {
            facts,
            handle,
            book,
            store,
            clocks,
            worlds,
            failed_logins,
            log,
            reloader,
            config,
            joins,
            leaves,
            webhooks,
            backups,
            deny_lists: Arc::clone(kept.gate.deny_lists()),
            schedule,
            roster,
            chat,
            events,
            figures,
        }
    }

    /// News from now on.
    pub fn events(&self) -> broadcast::Receiver<HostEvent> {
        self.events.subscribe()
    }

    /// Figures, new ones each second.
    pub fn figures(&self) -> watch::Receiver<Arc<Figures>> {
        self.figures.subscribe()
    }

    fn roster(&self) -> std::sync::MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest `lines` lines of the chat, oldest first.
    pub fn chat(&self, lines: usize) -> Vec<ChatView> {
        let chat = self.chat.lock().unwrap_or_else(PoisonError::into_inner);
        chat.iter().skip(chat.len().saturating_sub(lines)).cloned().collect()
    }

    fn tell(&self, event: HostEvent) {
        if let Some(line) = event.chat_line(self.clocks.unix().saturating_mul(1000)) {
            let mut chat = self.chat.lock().unwrap_or_else(PoisonError::into_inner);
            if chat.len() == CHAT_MAX {
                chat.pop_front();
            }
            chat.push_back(line);
        }
        // Nobody may listen.
        let _ = self.events.send(event);
    }

    /// Begins to write an act into the audit log, together with what it changes.
    fn record(
        &self,
        by: &Author,
        act: &'static str,
        (whom, why, detail): (Option<String>, Option<String>, Option<String>),
        mut changes: Vec<Change>,
    ) -> Result<Writing, ActError> {
        let line = AuditLine {
            time: self.clocks.unix(),
            author: by.name.clone(),
            role: by.role,
            act,
            whom: whom.clone(),
            why: why.clone().filter(|why| !why.is_empty()),
            detail: detail.clone(),
        };
        let role = by.role;
        tracing::info!(
            name: "host_act",
            act,
            by = by.name,
            %role,
            whom,
            why,
            detail,
            "an act of the host"
        );
        self.tell(HostEvent::Audit(AuditEvent::of(&line)));
        changes.push(Change::Audit(line));
        Ok(self.store.begin(changes)?)
    }
}

/// A note on something that the disk has not taken yet.
const IN_MEMORY: &str = "the disk takes nothing now, so it is kept in memory";

/// The words for something done.
fn done(text: String, written: Written) -> String {
    match written {
        Written::Durably => text,
        Written::Later => format!("{text}; {IN_MEMORY}"),
    }
}

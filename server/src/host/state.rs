//! The host's state of a running server, and the record of each action.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use phaselock::game::{Best, Unit};
use phaselock::time::Rates;
use phaselock_quic::announce::Standing;
use phaselock_quic::server::ServerHandle;
use tokio::sync::watch::Receiver as Current;
use tokio::sync::{broadcast, watch};

use super::roster::Roster;
use crate::agones::Sidecar;
use crate::api::{AuditEvent, ChatView, Figures, HostEvent};
use crate::author::Author;
use crate::clocks::Clocks;
use crate::config::Config;
use crate::data::Storage;
use crate::deny::DenyLists;
use crate::error::ActError;
use crate::logging::LogHandle;
use crate::people::{AccessLists, FailedLogins, Gatekeeper};
use crate::recordings::Recordings;
use crate::reload::Reloader;
use crate::schedule::Schedule;
use crate::store::{AuditLine, Change, Store, Writing, Written};
use crate::webhooks::Webhooks;
use crate::worlds::Worlds;

/// Maximum events that wait for a listener. Beyond that the oldest are lost, and the listener is
/// told how many.
const EVENTS_MAX: usize = 1024;

/// Maximum chat lines kept in memory for hosts who log in later. Arbitrary.
const CHAT_MAX: usize = 200;

/// Facts about a server's start and end.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Addresses that the server listens on.
    pub addresses: Vec<String>,
    /// Directories that the server is announced to.
    pub directories: Vec<Directory>,
    /// Ticks and snapshots per second.
    pub rates: Rates,
    /// The data directory.
    pub data_dir: PathBuf,
    /// Set once the process has received a signal to stop.
    pub is_stopping: Arc<AtomicBool>,
    /// Each score that games report, by game and name: which of two values is better, and its unit.
    pub records: BTreeMap<(String, String), (Best, Unit)>,
    /// Set while the server drains for a restart.
    pub is_restarting: Arc<AtomicBool>,
    /// The sidecar of Agones, if there is one.
    pub agones: Option<Sidecar>,
}

/// A directory that a server is announced to.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// Address of the directory.
    pub address: String,
    /// The server's standing in the directory.
    pub standing: Current<Standing>,
}

/// The server's state in Agones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgonesState {
    /// The state that Agones last told, such as `Ready`.
    pub(crate) state: String,
    /// What is wrong, in a sentence.
    pub(crate) problem: Option<String>,
    /// Whether Agones knows that the server ends, or does not listen.
    pub(super) has_ended: bool,
}

impl AgonesState {
    /// Returns the state, or what is wrong.
    pub(super) fn text(&self) -> String {
        self.problem.clone().unwrap_or_else(|| self.state.clone())
    }
}

/// A handle of a server and everything that belongs to it.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) facts: Facts,
    pub(crate) handle: ServerHandle,
    pub(crate) access: Arc<AccessLists>,
    pub(crate) store: Store,
    pub(crate) clocks: Clocks,
    pub(crate) worlds: Worlds,
    pub(super) recordings: Arc<Recordings>,
    pub(crate) failed_logins: Arc<FailedLogins>,
    pub(crate) log: LogHandle,
    pub(crate) reloader: Reloader,
    pub(super) config: Current<Arc<Config>>,
    /// Numbers of players who took a seat, and who left one, since the start.
    pub(crate) joins: AtomicU64,
    pub(crate) leaves: AtomicU64,
    /// Numbers of scheduled backups that succeeded, and that failed.
    pub(crate) backups: [AtomicU64; 2],
    pub(crate) webhooks: Webhooks,
    /// Deny lists.
    pub(crate) deny_lists: Arc<DenyLists>,
    /// The gate.
    pub(super) gate: Arc<Gatekeeper>,
    /// Scheduled restarts.
    pub(super) schedule: Mutex<Schedule>,
    pub(super) roster: Mutex<Roster>,
    /// The newest chat lines, for hosts who log in later.
    pub(super) chat: Mutex<VecDeque<ChatView>>,
    pub(super) events: broadcast::Sender<HostEvent>,
    pub(super) figures: watch::Sender<Arc<Figures>>,
    pub(super) agones_state: watch::Sender<AgonesState>,
    /// Set when the server ends, so that Agones is told.
    pub(super) fleet_ends: watch::Sender<bool>,
    /// Names of the settings that an allocation of Agones has set.
    pub(super) of_allocation: Mutex<Vec<&'static str>>,
}

/// The content of an entry in the audit log, besides its author and time.
#[derive(Debug)]
pub(super) struct AuditEntry {
    pub(super) act: &'static str,
    /// The player, key, room or other thing that it was about.
    pub(super) whom: Option<String>,
    /// The reason that its author gave.
    pub(super) why: Option<String>,
    /// The values that were used, or why the act failed.
    pub(super) detail: Option<String>,
}

impl AuditEntry {
    /// Returns an entry that says no more than the act.
    pub(super) fn of(act: &'static str) -> Self {
        Self { act, whom: None, why: None, detail: None }
    }
}

impl Host {
    /// Creates the host of a server from its parts.
    pub(crate) fn new(
        facts: Facts,
        handle: ServerHandle,
        kept: &Storage,
        log: LogHandle,
        reloader: Reloader,
    ) -> Self {
        let (events, _) = broadcast::channel(EVENTS_MAX);
        let (figures, _) = watch::channel(Arc::default());
        let (roster, chat) = (Mutex::default(), Mutex::default());
        let (joins, leaves, backups) = Default::default();
        let config = reloader.config();
        let (access, store) = (Arc::clone(&kept.access), kept.store.clone());
        let clocks = kept.clocks.clone();
        let webhooks = Webhooks::new(reloader.clone(), clocks.clone());
        let schedule = Mutex::new(Schedule::new(clocks.now()));
        let (worlds, failed_logins) = (kept.worlds.clone(), kept.gate.failed_logins());
        Self {
            facts,
            handle,
            access,
            store,
            clocks,
            worlds,
            recordings: Arc::clone(&kept.recordings),
            failed_logins,
            log,
            reloader,
            config,
            joins,
            leaves,
            webhooks,
            backups,
            deny_lists: Arc::clone(kept.gate.deny_lists()),
            gate: Arc::clone(&kept.gate),
            schedule,
            roster,
            chat,
            events,
            figures,
            agones_state: watch::channel(AgonesState::default()).0,
            fleet_ends: watch::channel(false).0,
            of_allocation: Mutex::default(),
        }
    }

    /// Returns events from now on.
    pub(crate) fn events(&self) -> broadcast::Receiver<HostEvent> {
        self.events.subscribe()
    }

    /// Returns the figures, which are updated each second.
    pub(crate) fn figures(&self) -> watch::Receiver<Arc<Figures>> {
        self.figures.subscribe()
    }

    pub(super) fn roster(&self) -> std::sync::MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the newest `lines` chat lines, oldest first.
    pub(crate) fn chat(&self, lines: usize) -> Vec<ChatView> {
        let chat = self.chat.lock().unwrap_or_else(PoisonError::into_inner);
        chat.iter().skip(chat.len().saturating_sub(lines)).cloned().collect()
    }

    pub(super) fn publish(&self, event: HostEvent) {
        if let Some(line) = event.chat_line(self.clocks.unix().saturating_mul(1000)) {
            let mut chat = self.chat.lock().unwrap_or_else(PoisonError::into_inner);
            if chat.len() == CHAT_MAX {
                chat.pop_front();
            }
            chat.push_back(line);
        }
        // Fails if there are no listeners.
        let _ = self.events.send(event);
    }

    /// Begins writing an action into the audit log, together with its changes.
    pub(super) fn record(
        &self,
        by: &Author,
        entry: AuditEntry,
        mut changes: Vec<Change>,
    ) -> Result<Writing, ActError> {
        let AuditEntry { act, whom, why, detail } = entry;
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
            "audit log entry"
        );
        self.publish(HostEvent::Audit(AuditEvent::of(&line)));
        changes.push(Change::Audit(line));
        Ok(self.store.begin(changes)?)
    }
}

/// The note on a change that is not on the disk yet.
pub(super) const IN_MEMORY: &str = "the disk cannot be written now, so this is kept in memory";

/// Returns the text of a confirmation.
pub(super) fn done(text: String, written: Written) -> String {
    match written {
        Written::Durably => text,
        Written::Later => format!("{text}; {IN_MEMORY}"),
    }
}

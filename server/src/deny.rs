//! Deny lists: addresses that may not join, from files and URLs.
//!
//! ```text
//! settings ---files, URLs---> DenyLists <---asks--- gate
//!                                ^ ranges
//!                             thread: fetches URLs, keeps the last good lists on the disk
//! ```
//!
//! A lookup is a binary search in each list. If a fetch fails, the last good list stays in force.

mod fetching;
#[cfg(test)]
mod tests;

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use crate::api::DenyListView;
use crate::clocks::Clocks;
use crate::config::DenyList;
use crate::ranges::Ranges;
use crate::writer::Writer;

/// Folder of the saved lists, in the data directory.
const FOLDER: &str = "deny-lists";

/// The lists in force.
#[derive(Debug)]
pub(crate) struct DenyLists {
    folder: PathBuf,
    clocks: Clocks,
    lists: RwLock<Vec<Listed>>,
    signal: Mutex<Signal>,
    signalled: Condvar,
    counts: Counts,
}

/// A list and its state.
#[derive(Debug)]
struct Listed {
    list: DenyList,
    ranges: Arc<Ranges>,
    /// Unix time of the last successful fetch.
    fetched: Option<i64>,
    problem: Option<String>,
    refused: AtomicU64,
}

/// Signals to the thread.
#[derive(Debug, Default)]
struct Signal {
    changed: bool,
    ends: bool,
}

#[derive(Debug, Default)]
struct Counts {
    succeeded: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
}

/// The thread that fetches lists.
#[derive(Debug)]
pub(crate) struct DenyThread {
    lists: Arc<DenyLists>,
    writer: Writer,
}

impl Listed {
    fn new(list: &DenyList) -> Self {
        let ranges = match list {
            DenyList::File { ranges, .. } => Arc::clone(ranges),
            DenyList::Url(_) => Arc::default(),
        };
        let (fetched, problem, refused) = Default::default();
        Self { list: list.clone(), ranges, fetched, problem, refused }
    }

    /// Whether this is the same file or URL.
    fn is_of(&self, list: &DenyList) -> bool {
        match (&self.list, list) {
            (DenyList::Url(one), DenyList::Url(other)) => one == other,
            _ => self.list.file().is_some() && self.list.file() == list.file(),
        }
    }
}

impl DenyLists {
    /// Returns the lists in the settings; lists from URLs as last saved in the data directory.
    pub(crate) fn open(data_dir: &Path, clocks: Clocks, lists: &[DenyList]) -> Arc<Self> {
        let opened = Self {
            folder: data_dir.join(FOLDER),
            clocks,
            lists: RwLock::new(lists.iter().map(Listed::new).collect()),
            signal: Mutex::default(),
            signalled: Condvar::new(),
            counts: Counts::default(),
        };
        opened.remove_others();
        opened.urls().iter().for_each(|url| opened.restore(url));
        Arc::new(opened)
    }

    /// Starts the thread that fetches lists.
    pub(crate) fn start(self: &Arc<Self>) -> io::Result<DenyThread> {
        let of_thread = Arc::clone(self);
        let writer = Writer::spawn("deny-lists", move || of_thread.run())?;
        Ok(DenyThread { lists: Arc::clone(self), writer })
    }

    /// Applies new settings. URLs that stay keep the list that was fetched.
    pub(crate) fn set(&self, lists: &[DenyList]) {
        let mut all = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *all);
        all.extend(lists.iter().map(|list| {
            let new = Listed::new(list);
            match before.iter().position(|it| it.is_of(list)).map(|at| before.swap_remove(at)) {
                Some(old) if list.file().is_none() => old,
                Some(old) => Listed { refused: old.refused, ..new },
                None => new,
            }
        }));
        drop(all);
        self.signal(|signal| signal.changed = true);
    }

    /// Whether an address is refused; counts the refusal. Loopback addresses never are.
    pub(crate) fn refuse(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_loopback() {
            return false;
        }
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let found = lists.iter().find(|it| it.ranges.contains(address));
        if let Some(listed) = found {
            listed.refused.fetch_add(1, Ordering::Relaxed);
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
        }
        found.is_some()
    }

    /// Returns the state of all lists, in the order of the setting.
    pub(crate) fn view(&self) -> Vec<DenyListView> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let view = lists.iter().map(|it| DenyListView {
            list: it.list.to_string(),
            entries: it.ranges.entries() as u64,
            refused: it.refused.load(Ordering::Relaxed),
            fetched: it.fetched,
            problem: it.problem.clone(),
        });
        view.collect()
    }

    /// Returns the numbers of fetches that succeeded and failed since the start.
    pub(crate) fn refreshes(&self) -> [(&'static str, u64); 2] {
        let Counts { succeeded, failed, .. } = &self.counts;
        [("succeeded", succeeded), ("failed", failed)]
            .map(|(name, count)| (name, count.load(Ordering::Relaxed)))
    }

    /// Returns the number of newcomers refused since the start.
    pub(crate) fn refused(&self) -> u64 {
        self.counts.refused.load(Ordering::Relaxed)
    }

    fn urls(&self) -> Vec<String> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let url = |it: &Listed| match &it.list {
            DenyList::Url(url) => Some(url.clone()),
            DenyList::File { .. } => None,
        };
        lists.iter().filter_map(url).collect()
    }

    fn lock_signal(&self) -> MutexGuard<'_, Signal> {
        self.signal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, change: impl FnOnce(&mut Signal)) {
        change(&mut self.lock_signal());
        self.signalled.notify_all();
    }
}

impl DenyThread {
    /// Returns a function that reports whether the thread has ended, which it never does by itself.
    pub(crate) fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        self.writer.watch()
    }

    /// Asks the thread to end. Does not wait for a fetch in flight: lists are saved atomically.
    pub(crate) fn end(self) {
        self.lists.signal(|signal| signal.ends = true);
    }
}

//! Deny lists from URLs: fetched every hour, and saved in the data directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use phaselock::textfile::{Text, TextError};
use phaselock_quic::files;
use ureq::Agent;

use super::DenyLists;
use crate::config::DenyList;
use crate::ranges::{LIST_BYTES_MAX, Ranges};
use crate::token::hash_of;
use crate::{data_dir, outgoing};

/// Time between fetches of a list.
const INTERVAL: Duration = Duration::from_secs(3600);
/// Wait after a first failure; doubles with each further one, up to the interval.
const RETRY_MIN: Duration = Duration::from_secs(60);
/// Longest time for a fetch, to the last byte.
const TIMEOUT: Duration = Duration::from_secs(30);
/// First word of a saved list, followed by the Unix time of the fetch.
const HEAD: &str = "# fetched ";
/// Maximum bytes of the first line.
const HEAD_BYTES_MAX: usize = 64;

/// When a list is fetched next.
#[derive(Debug)]
struct Plan {
    due: Instant,
    retry: Duration,
}

impl Plan {
    fn now() -> Self {
        Self { due: Instant::now(), retry: RETRY_MIN }
    }

    fn next(&mut self, has_succeeded: bool) {
        let (wait, retry) = match has_succeeded {
            true => (INTERVAL, RETRY_MIN),
            false => (self.retry, (self.retry * 2).min(INTERVAL)),
        };
        *self = Self { due: Instant::now() + wait, retry };
    }
}

impl DenyLists {
    /// Fetches lists when they are due, until the thread ends.
    pub(super) fn run(&self) {
        let agent = outgoing::agent(TIMEOUT);
        let mut plans = BTreeMap::<String, Plan>::new();
        loop {
            let mut signal = self.lock_signal();
            if signal.ends {
                return;
            }
            signal.changed = false;
            drop(signal);
            let urls = self.urls();
            plans.retain(|url, _| urls.contains(url));
            for url in urls {
                plans.entry(url).or_insert_with_key(|url| {
                    self.restore(url);
                    Plan::now()
                });
            }
            match plans.iter_mut().min_by_key(|(_, plan)| plan.due) {
                Some((url, plan)) if plan.due <= Instant::now() => {
                    plan.next(self.refresh(&agent, url));
                }
                next => self.wait(next.map(|(_, plan)| plan.due)),
            }
        }
    }

    /// Waits for a signal, or until a moment if one is given.
    fn wait(&self, until: Option<Instant>) {
        let mut signal = self.lock_signal();
        while !signal.changed && !signal.ends {
            let left = until.map_or(INTERVAL, |it| it.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return;
            }
            let waited = self.signalled.wait_timeout(signal, left);
            signal = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Fetches a list once. Returns false if that fails; the last good list then stays.
    pub(super) fn refresh(&self, agent: &Agent, url: &str) -> bool {
        let fetched = fetch(agent, url);
        let now = self.clocks.unix();
        let (new, problem) = match fetched {
            Ok((text, ranges)) => {
                let kept = self.keep(url, now, &text);
                let problem = kept
                    .err()
                    .map(|error| format!("cannot save the list for the next start: {error}"));
                (Some(ranges), problem)
            }
            Err(problem) => (None, Some(problem)),
        };
        let counts = &self.counts;
        let count = if problem.is_none() { &counts.succeeded } else { &counts.failed };
        count.fetch_add(1, Ordering::Relaxed);
        let has_succeeded = problem.is_none();
        self.note(url, new.map(|ranges| (ranges, now)), problem);
        has_succeeded
    }

    /// Records the outcome of a fetch. Only changes are logged.
    fn note(&self, url: &str, new: Option<(Ranges, i64)>, problem: Option<String>) {
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        let is_it = |it: &&mut super::Listed| matches!(&it.list, DenyList::Url(its) if its == url);
        // The settings may have changed meanwhile.
        let Some(listed) = lists.iter_mut().find(is_it) else { return };
        let mut changed = None;
        if let Some((ranges, now)) = new {
            let is_new = listed.fetched.is_none() || *listed.ranges != ranges;
            changed = is_new.then_some(ranges.entries());
            listed.fetched = Some(now);
            listed.ranges = Arc::new(ranges);
        }
        let list = listed.list.to_string();
        let before = std::mem::replace(&mut listed.problem, problem.clone());
        drop(lists);
        match (before, problem) {
            (None, Some(error)) => tracing::warn!(
                name: "deny_list_failing",
                list,
                error,
                "cannot refresh a deny list"
            ),
            (Some(_), None) => tracing::info!(
                name: "deny_list_recovered",
                list,
                "a deny list can be refreshed again"
            ),
            _ => {}
        }
        if let Some(entries) = changed {
            tracing::info!(
                name: "deny_list_changed",
                list,
                entries,
                "a deny list has changed"
            );
        }
    }

    fn path(&self, url: &str) -> PathBuf {
        self.folder.join(hash_of(url)).with_extension("txt")
    }

    /// Saves the list of a URL.
    fn keep(&self, url: &str, now: i64, text: &str) -> io::Result<()> {
        data_dir::make_private_dir(&self.folder)?;
        let path = self.path(url);
        let new = path.with_extension("new");
        let mut file = fs::File::create(&new)?;
        write!(file, "{HEAD}{now}\n{text}")?;
        file.sync_all()?;
        fs::rename(&new, path)
    }

    /// Loads the saved list of a URL, unless one was fetched since.
    pub(super) fn restore(&self, url: &str) {
        let is_known = |it: &super::Listed| {
            matches!(&it.list, DenyList::Url(its) if its == url) && it.fetched.is_some()
        };
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let is_known = lists.iter().any(is_known);
        drop(lists);
        if is_known {
            return;
        }
        match cached(&self.path(url)) {
            Ok(Some(kept)) => self.note(url, Some(kept), None),
            Ok(None) => {}
            Err(error) => {
                let problem = format!("cannot use the saved list: {error}");
                self.note(url, None, Some(problem));
            }
        }
    }

    /// Removes saved lists whose URLs are no longer in the settings.
    pub(super) fn remove_others(&self) {
        let known: Vec<_> = self.urls().iter().map(|url| self.path(url)).collect();
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for path in files.map(|it| it.path()).filter(|it| !known.contains(it)) {
            // A file that remains does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

/// Reads a saved list and the Unix time of its fetch; `None` if there is no file.
fn cached(path: &std::path::Path) -> Result<Option<(Ranges, i64)>, String> {
    let bytes_max = HEAD_BYTES_MAX + LIST_BYTES_MAX;
    let bytes = files::read(path, bytes_max).map_err(|error| error.to_string())?;
    let Some(bytes) = bytes else { return Ok(None) };
    let (head, list) = bytes.split_at(bytes.iter().position(|it| *it == b'\n').unwrap_or(0));
    let time = str::from_utf8(head).ok().and_then(|it| it.strip_prefix(HEAD)?.parse().ok());
    let time = time.ok_or("its first line has no timestamp")?;
    let list = list.strip_prefix(b"\n").unwrap_or(list);
    Ok(Some((Ranges::parse(list).map_err(|error| error.to_string())?, time)))
}

/// Fetches a list. Returns its text and its ranges.
fn fetch(agent: &Agent, url: &str) -> Result<(String, Ranges), String> {
    let answer = agent.get(url).call().map_err(|error| format!("no answer: {error}"))?;
    let status = answer.status();
    if status.is_redirection() {
        return Err(format!(
            "the server answered {status}; redirects are not followed, so use the address it \
             leads to"
        ));
    }
    if status != ureq::http::StatusCode::OK {
        return Err(format!("the server answered {status}"));
    }
    let body = answer.into_body().into_with_config().limit(LIST_BYTES_MAX as u64);
    let bytes = body.read_to_vec().map_err(|error| format!("cannot read the list: {error}"))?;
    let text = Text::decode(&bytes, LIST_BYTES_MAX).map_err(|error| error.to_string())?.as_str();
    // An answer without a body is not a list; one with only comments is.
    if text.trim().is_empty() {
        return Err(TextError::Empty.to_string());
    }
    let ranges = Ranges::parse(&bytes).map_err(|error| error.to_string())?;
    Ok((text.to_owned(), ranges))
}

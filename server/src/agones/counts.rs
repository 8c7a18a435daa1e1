//! Counters and lists that Agones keeps, brought in line with the server.
//!
//! The server never counts up or down: it compares what Agones says with what is true, and sets
//! that. So both are right again after a crash of either side. Allocations may raise a counter for
//! players who are on their way; such a rise stays until they arrive, or for [`ARRIVAL`].

use std::collections::BTreeSet;
use std::time::Duration;

/// Time for players to arrive after an allocation. Arbitrary: a page has loaded by then.
pub(super) const ARRIVAL: Duration = Duration::from_secs(60);
/// Time for a change to appear in the `GameServer`, after which it is made again.
pub(super) const CONFIRM: Duration = Duration::from_secs(10);

/// A value that the sidecar has accepted.
#[derive(Clone, Debug)]
struct Accepted<T> {
    value: T,
    at: Duration,
    /// Whether it has appeared in the `GameServer`. From then on, other values are someone else's.
    is_seen: bool,
}

/// What someone else did to a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change<T> {
    None,
    /// It was replaced; the previous value is in here.
    From(T),
}

/// A value that the sidecar keeps.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    accepted: Option<Accepted<T>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { accepted: None }
    }
}

impl<T: Clone + PartialEq> Kept<T> {
    /// Handles a value in the `GameServer`.
    pub(super) fn handle_seen(&mut self, seen: &T) -> Change<T> {
        let Some(accepted) = &mut self.accepted else { return Change::None };
        if accepted.value == *seen {
            accepted.is_seen = true;
            return Change::None;
        }
        if !accepted.is_seen {
            return Change::None;
        }
        Change::From(std::mem::replace(&mut accepted.value, seen.clone()))
    }

    /// Whether a value has to be set, given the one in the `GameServer`.
    pub(super) fn needs(&self, now: Duration, value: &T, seen: &T) -> bool {
        let waits = |it: &Accepted<T>| it.value == *value && !it.is_seen && now < it.at + CONFIRM;
        value != seen && !self.accepted.as_ref().is_some_and(waits)
    }

    /// Handles the sidecar's word that it has accepted a value.
    pub(super) fn handle_accepted(&mut self, now: Duration, value: T) {
        self.accepted = Some(Accepted { value, at: now, is_seen: false });
    }

    /// Forgets what was accepted, since another sidecar may run now.
    pub(super) fn forget(&mut self) {
        self.accepted = None;
    }
}

/// A counter and its capacity.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    pub(super) kept: Kept<(i64, i64)>,
    /// By how much allocations have raised it, and until when that counts.
    raised: i64,
    until: Duration,
    /// What was counted last.
    have: i64,
}

impl Counter {
    /// Handles a value in the `GameServer`.
    pub(super) fn handle_seen(&mut self, now: Duration, seen: (i64, i64)) {
        if let Change::From((count, _)) = self.kept.handle_seen(&seen)
            && seen.0 > count
        {
            self.raised = self.raised.saturating_add(seen.0 - count).min(seen.1.max(0));
            self.until = now + ARRIVAL;
        }
    }

    /// Returns the value that it should have, for `have` that are here and at least `coming` that
    /// are on their way.
    pub(super) fn target(
        &mut self,
        now: Duration,
        have: i64,
        coming: i64,
        capacity: i64,
    ) -> (i64, i64) {
        // Those who arrive are no longer on their way.
        self.raised = (self.raised - (have - self.have).max(0)).max(0);
        self.have = have;
        if now >= self.until {
            self.raised = 0;
        }
        ((have + self.raised.max(coming)).clamp(0, capacity), capacity)
    }
}

/// A list of players' keys and its capacity.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) kept: Kept<(i64, BTreeSet<String>)>,
}

impl List {
    /// Handles a value in the `GameServer`. Returns what someone else has added.
    pub(super) fn handle_seen(&mut self, seen: &(i64, BTreeSet<String>)) -> Vec<String> {
        match self.kept.handle_seen(seen) {
            Change::None => Vec::new(),
            Change::From((_, before)) => seen.1.difference(&before).cloned().collect(),
        }
    }
}

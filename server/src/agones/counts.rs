//! Counters and lists that Agones keeps, brought in line with the server.
//!
//! The server never counts up or down: it compares what Agones says with what is true, and sets
//! that. So both are right again after a crash of either side. Allocations may raise a counter for
//! players who are on their way; such a rise stays until they arrive, or for [`ARRIVAL`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
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

/// A value that the sidecar keeps.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    accepted: Option<Accepted<T>>,
    /// Earlier accepted values, and when each was replaced. The watch may still report them.
    replaced: VecDeque<(Duration, T)>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { accepted: None, replaced: VecDeque::new() }
    }
}

impl<T: Clone + PartialEq> Kept<T> {
    /// Maximum number of replaced values. Arbitrary; a server makes a few calls a second.
    const REPLACED_MAX: usize = 32;

    /// Handles a value in the `GameServer`. If someone else has replaced it, returns the one
    /// before.
    pub(super) fn handle_seen(&mut self, now: Duration, seen: &T) -> Option<T> {
        let accepted = self.accepted.as_mut()?;
        if accepted.value == *seen {
            accepted.is_seen = true;
            return None;
        }
        let is_late = |(at, value): &(Duration, T)| value == seen && now < *at + CONFIRM;
        if self.replaced.iter().any(is_late) {
            return None;
        }
        accepted.is_seen.then(|| std::mem::replace(&mut accepted.value, seen.clone()))
    }

    /// Whether a value has to be set, given the one in the `GameServer`. If they are equal, it
    /// counts as accepted, so that later changes are recognised as someone else's.
    pub(super) fn needs(&mut self, now: Duration, value: &T, seen: &T) -> bool {
        if value == seen {
            let right = || Accepted { value: seen.clone(), at: now, is_seen: true };
            self.accepted.get_or_insert_with(right);
        }
        value != self.expected(now, seen)
    }

    /// Returns the value that the `GameServer` will have, given its current one: an accepted value
    /// takes a moment to appear.
    pub(super) fn expected<'a>(&'a self, now: Duration, seen: &'a T) -> &'a T {
        let accepted = self.accepted.as_ref();
        let coming = accepted.filter(|it| !it.is_seen && now < it.at + CONFIRM);
        coming.map_or(seen, |it| &it.value)
    }

    /// Handles the sidecar's word that it has accepted a value.
    pub(super) fn handle_accepted(&mut self, now: Duration, value: T) {
        let before = self.accepted.replace(Accepted { value, at: now, is_seen: false });
        if self.replaced.len() == Self::REPLACED_MAX {
            self.replaced.pop_front();
        }
        self.replaced.extend(before.map(|before| (now, before.value)));
    }

    /// Forgets what was accepted, since another sidecar may run now.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
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
        if let Some((count, _)) = self.kept.handle_seen(now, &seen)
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
    pub(super) capacity: Kept<i64>,
    /// The values that were seen last.
    seen: Option<BTreeSet<String>>,
    /// The values that the sidecar has removed (`false`) or added (`true`) for the server, and
    /// when. The watch may still report what was before, for [`CONFIRM`].
    changed: BTreeMap<String, (bool, Duration)>,
}

impl List {
    /// Handles a capacity and values in the `GameServer`. Returns what someone else has added.
    pub(super) fn handle_seen(
        &mut self,
        now: Duration,
        (capacity, values): &(i64, BTreeSet<String>),
    ) -> Vec<String> {
        self.capacity.handle_seen(now, capacity);
        self.expire(now);
        let Some(before) = self.seen.replace(values.clone()) else { return Vec::new() };
        let is_others = |value: &&String| !self.changed.contains_key(*value);
        values.difference(&before).filter(is_others).cloned().collect()
    }

    /// Returns the next value to remove (`false`) or to add (`true`). Nothing is added to a full
    /// list.
    pub(super) fn change(
        &self,
        now: Duration,
        target: &BTreeSet<String>,
        (capacity, seen): &(i64, BTreeSet<String>),
    ) -> Option<(String, bool)> {
        let mut expected = seen.clone();
        for (value, (is_wanted, at)) in &self.changed {
            match is_wanted {
                _ if now >= *at + CONFIRM => false,
                true => expected.insert(value.clone()),
                false => expected.remove(value),
            };
        }
        if let Some(value) = expected.difference(target).next() {
            return Some((value.clone(), false));
        }
        let has_room = i64::try_from(expected.len()).is_ok_and(|len| len < *capacity);
        let value = target.difference(&expected).next().filter(|_| has_room)?;
        Some((value.clone(), true))
    }

    /// Handles a change that the sidecar has accepted.
    pub(super) fn handle_accepted(&mut self, now: Duration, (value, is_wanted): (&str, bool)) {
        self.expire(now);
        self.changed.insert(value.to_owned(), (is_wanted, now));
    }

    fn expire(&mut self, now: Duration) {
        self.changed.retain(|_, (_, at)| now < *at + CONFIRM);
    }

    /// Forgets what was accepted.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_of_a_value_that_was_replaced_is_no_ones_else() {
        let secs = Duration::from_secs;
        let keys = |keys: &[&str]| (4, keys.iter().map(ToString::to_string).collect());
        let mut list = List::default();
        let none = BTreeSet::new();
        assert_eq!(list.change(secs(1), &none, &keys(&[])), None);
        // A player comes and goes before the watch says anything.
        list.handle_accepted(secs(2), ("Bob", true));
        list.handle_accepted(secs(2), ("Bob", false));
        for seen in [&[][..], &["Bob"], &[]] {
            assert_eq!(list.handle_seen(secs(3), &keys(seen)), Vec::<String>::new());
        }
        assert_eq!(list.handle_seen(secs(4), &keys(&["Eve"])), ["Eve"]);
        // One whom an allocation adds while another one's join is on its way.
        list.handle_accepted(secs(5), ("Ada", true));
        assert_eq!(list.handle_seen(secs(6), &keys(&["Ada", "Eve", "Max"])), ["Max"]);
        let target = keys(&["Ada", "Eve", "Max"]).1;
        assert_eq!(list.change(secs(6), &target, &keys(&["Eve", "Max"])), None);
        assert_eq!(list.handle_seen(secs(30), &keys(&["Bob", "Eve"])), ["Bob"]);
    }
}

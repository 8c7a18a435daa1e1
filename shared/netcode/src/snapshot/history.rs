//! The server's history of snapshots, shared by all clients.

use std::collections::VecDeque;

use super::EntityState;
use crate::fields::Entity;
use crate::game::Entities;
use crate::limits::{BASELINE_AGE_TICKS_MAX, ENTITIES_MAX};
use crate::time::Tick;
use crate::wire::fields::without_hidden;

/// The world at one tick, in the order of slot indices.
#[derive(Clone, Debug)]
pub struct WorldFrame {
    /// Number of the snapshot; they are consecutive.
    pub number: u64,
    /// Tick of the states.
    pub tick: Tick,
    states: States,
}

/// States by index.
#[derive(Clone, Debug, Default)]
struct States {
    states: Vec<(u16, EntityState)>,
    /// Position in `states` for each index, or [`NOWHERE`].
    places: Vec<u16>,
}

const NOWHERE: u16 = u16::MAX;

const _: () = assert!(ENTITIES_MAX < NOWHERE, "every position fits the number type");

impl States {
    fn fill<E: Entity>(&mut self, entities: &Entities<E>) {
        self.states.clear();
        self.states.extend(entities.iter().map(|slot| (slot.id.index, EntityState::of(slot))));
        self.places.clear();
        self.places.resize(self.len(), NOWHERE);
        for ((index, _), place) in self.states.iter().zip(0..) {
            self.places[usize::from(*index)] = place;
        }
    }

    /// Returns the number of indices up to the last one in use.
    fn len(&self) -> usize {
        self.states.last().map_or(0, |(index, _)| usize::from(*index) + 1)
    }

    #[inline]
    fn get(&self, index: u16) -> Option<&EntityState> {
        let place = *self.places.get(usize::from(index))?;
        self.states.get(usize::from(place)).map(|(_, state)| state)
    }
}

impl WorldFrame {
    /// Iterates over all entities.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &EntityState)> {
        self.states.states.iter().map(|(index, state)| (*index, state))
    }

    /// Returns the entity in a slot.
    pub fn get(&self, index: u16) -> Option<&EntityState> {
        self.states.get(index)
    }

    /// Returns the number of indices up to the last one in use.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }
}

/// The frames that can be baselines: those of the last [`BASELINE_AGE_TICKS_MAX`] ticks.
#[derive(Clone, Debug, Default)]
pub struct History {
    frames: VecDeque<WorldFrame>,
    /// Memory of a removed frame, for reuse.
    spare: States,
    next: u64,
    entries: Vec<Entry>,
}

/// The newest snapshot, and the data that its encodings depend on.
#[derive(Debug)]
pub(crate) struct Source<'a, G> {
    pub(crate) game: &'a G,
    pub(crate) history: &'a History,
    pub(crate) frame: &'a WorldFrame,
}

/// Frames in which something happened at an index.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The last change: of what all may see, and of anything.
    changed: [u64; 2],
    /// First frame of the current entity, which is in all frames since.
    since: u64,
}

impl History {
    /// Adds the world at a tick later than all before.
    pub fn push<E: Entity>(&mut self, tick: Tick, entities: &Entities<E>) {
        debug_assert!(self.newest().is_none_or(|frame| frame.tick < tick));
        while self.frames.front().is_some_and(|f| tick.since(f.tick) > BASELINE_AGE_TICKS_MAX) {
            if let Some(frame) = self.frames.pop_front() {
                self.spare = frame.states;
            }
        }
        let mut states = std::mem::take(&mut self.spare);
        states.fill(entities);
        self.note_changes::<E>(&states);
        self.frames.push_back(WorldFrame { number: self.next, tick, states });
        self.next += 1;
    }

    fn note_changes<E: Entity>(&mut self, now: &States) {
        let nothing = States::default();
        let before = self.frames.back().map_or(&nothing, |frame| &frame.states);
        let len = now.len().max(before.len());
        if self.entries.len() < len {
            self.entries.resize(len, Entry::default());
        }
        for (entry, index) in self.entries.iter_mut().zip(0..) {
            let (old, new) = (before.get(index), now.get(index));
            if old == new {
                continue;
            }
            entry.changed[1] = self.next;
            let shown = |state: &EntityState| {
                let fields = E::kinds()[usize::from(state.kind)].fields;
                EntityState { packed: without_hidden(fields, false, &state.packed), ..*state }
            };
            if old.map(shown) != new.map(shown) {
                entry.changed[0] = self.next;
            }
            if !old.zip(new).is_some_and(|(old, new)| old.same_entity(new)) {
                entry.since = self.next;
            }
        }
    }

    /// Returns the newest frame.
    pub fn newest(&self) -> Option<&WorldFrame> {
        self.frames.back()
    }

    /// Returns the number of the oldest frame in the history.
    pub(crate) fn first(&self) -> Option<u64> {
        self.frames.front().map(|frame| frame.number)
    }

    /// Returns the frame with this number, if it is in the history.
    pub(crate) fn numbered(&self, number: u64) -> Option<&WorldFrame> {
        let first = self.frames.front()?.number;
        self.frames.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    /// Returns the number of the frame in which an entity last changed, appeared or disappeared, as
    /// its reader sees it.
    pub(crate) fn changed(&self, index: u16, own: bool) -> u64 {
        let entry = self.entries.get(usize::from(index));
        entry.map_or(0, |entry| entry.changed[usize::from(own)])
    }

    /// Returns the number of the first of the consecutive frames with the current entity.
    #[inline]
    pub(crate) fn since(&self, index: u16) -> u64 {
        self.entries.get(usize::from(index)).map_or(0, |entry| entry.since)
    }

    /// Returns the frame of a tick, if it is in the history.
    pub fn at(&self, tick: Tick) -> Option<&WorldFrame> {
        let at = self.frames.binary_search_by_key(&tick, |frame| frame.tick).ok()?;
        Some(&self.frames[at])
    }
}

//! The server's memory of past snapshots, shared by all clients.

use std::collections::VecDeque;

use super::EntityState;
use crate::fields::Entity;
use crate::game::Entities;
use crate::limits::BASELINE_AGE_TICKS_MAX;
use crate::time::Tick;
use crate::wire::fields::without_hidden;

/// The world at one tick, in the order of indices.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Number of the snapshot, one more than the one before.
    pub number: u64,
    /// Tick of the states.
    pub tick: Tick,
    states: Vec<(u16, EntityState)>,
}

impl Frame {
    /// All entities.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &EntityState)> {
        self.states.iter().map(|(index, state)| (*index, state))
    }

    /// The entity in a slot.
    pub fn get(&self, index: u16) -> Option<&EntityState> {
        let at = self.states.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        Some(&self.states[at].1)
    }
}

/// The frames that can be baselines: those of the last [`BASELINE_AGE_TICKS_MAX`] ticks.
#[derive(Clone, Debug, Default)]
pub struct History {
    frames: VecDeque<Frame>,
    /// Memory of a forgotten frame.
    spare: Vec<(u16, EntityState)>,
    next: u64,
    /// For each index the frame of its last change: of what all may see, and of anything.
    changed: Vec<[u64; 2]>,
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
        states.clear();
        states.extend(entities.iter().map(|slot| (slot.id.index, EntityState::of(slot))));
        self.note_changes::<E>(&states);
        self.frames.push_back(Frame { number: self.next, tick, states });
        self.next += 1;
    }

    fn note_changes<E: Entity>(&mut self, states: &[(u16, EntityState)]) {
        let before = self.frames.back().map_or(&[][..], |frame| &frame.states);
        let last = |states: &[(u16, EntityState)]| states.last().map_or(0, |(index, _)| *index + 1);
        let len = usize::from(last(states).max(last(before)));
        if self.changed.len() < len {
            self.changed.resize(len, [0; 2]);
        }
        let (mut old, mut new) = (before.iter().peekable(), states.iter().peekable());
        for (changed, index) in self.changed.iter_mut().zip(0..) {
            let old = old.next_if(|(at, _)| *at == index).map(|(_, state)| state);
            let new = new.next_if(|(at, _)| *at == index).map(|(_, state)| state);
            if old != new {
                changed[1] = self.next;
                let shown = |state: &EntityState| {
                    let fields = E::KINDS[usize::from(state.kind)].fields;
                    EntityState { packed: without_hidden(fields, false, &state.packed), ..*state }
                };
                if old.map(shown) != new.map(shown) {
                    changed[0] = self.next;
                }
            }
        }
    }

    /// The newest frame.
    pub fn newest(&self) -> Option<&Frame> {
        self.frames.back()
    }

    /// The frame of a number, unless it is forgotten.
    pub(crate) fn numbered(&self, number: u64) -> Option<&Frame> {
        let first = self.frames.front()?.number;
        self.frames.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    /// Number of the frame in which an entity last changed, came or went, as its reader sees it.
    pub(crate) fn changed(&self, index: u16, own: bool) -> u64 {
        let numbers = self.changed.get(usize::from(index));
        numbers.map_or(0, |[shown, all]| if own { *all } else { *shown })
    }

    /// The frame of a tick, unless it is forgotten.
    pub fn at(&self, tick: Tick) -> Option<&Frame> {
        let at = self.frames.binary_search_by_key(&tick, |frame| frame.tick).ok()?;
        Some(&self.frames[at])
    }
}

//! What the server knows about one client's entities: bit sets for each snapshot, so that an
//! acknowledgement costs only a few words however many entities there are.

use std::collections::{BTreeMap, VecDeque};

use super::bits::Bits;
use super::content::Content;
use super::encodings::Encodings;
use super::history::{History, Source, WorldFrame};
use super::recent::Recent;
use super::strands::{ReferenceSet, Strand};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{BASELINE_AGE_TICKS_MAX, REFERENCES_MAX};
use crate::time::Tick;
use crate::wire::snapshot::Change;

/// A set of entities in one snapshot.
#[derive(Debug, Default)]
struct Row {
    number: u64,
    entities: Bits,
}

/// Which entities one client has.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// Entities whose states were acknowledged, in snapshots of the history.
    acked: VecDeque<Row>,
    /// Entities of which any state was acknowledged, and some that have been removed since.
    ever: Bits,
    /// Memory of removed rows, for reuse.
    spare: Vec<Bits>,
    /// Entities that were sent as present, and are not known to be away.
    there: Bits,
    /// Entities of these whose removal was sent but not yet acknowledged.
    leaving: Bits,
    /// The last snapshot, and the entities sent as present in it.
    last: Row,
    /// Newest snapshots in which entities were sent as gone or hidden, for the history and for all
    /// that are leaving.
    away: BTreeMap<u16, u64>,
    /// The interval of [`FORGET_EVERY`] snapshots in which entries that the history removed were
    /// last cleaned up.
    forgot_in: u64,
    /// What is known about entities that may rest, by index.
    resting_states: Vec<RestingState>,
    settled: Settled,
}

/// Entities whose present state the client certainly has, as of a snapshot. Until they change, they
/// need no further checks.
#[derive(Debug, Default)]
struct Settled {
    entities: Bits,
    /// Number of the snapshot, and the first tick at which one of them must be sent again.
    at: u64,
    until: Tick,
}

/// Snapshots with an entity that may rest.
#[derive(Clone, Copy, Debug, Default)]
struct RestingState {
    /// The newest one that was acknowledged.
    acked: Option<u64>,
    sent: Recent,
}

/// Number of snapshots between two scans of all entities that are away. Arbitrary.
const FORGET_EVERY: u64 = 32;

/// Ticks after which an unchanged entity is sent again, so that there is always a baseline.
const REPEAT_TICKS: u64 = BASELINE_AGE_TICKS_MAX / 2;

impl Knowledge {
    /// Removes what the history has removed.
    pub(super) fn forget(&mut self, history: &History, reader: PlayerId) {
        let Some(first) = history.first() else { return };
        while self.acked.front().is_some_and(|row| row.number < first)
            && let Some(row) = self.acked.pop_front()
        {
            self.spare.push(row.entities);
        }
        // Only every few snapshots, since it visits each entity; in a different one for each
        // client.
        let turn = (first + u64::from(reader.0)) / FORGET_EVERY;
        if std::mem::replace(&mut self.forgot_in, turn) != turn {
            // The acknowledgement of an older removal may still come.
            self.away.retain(|index, number| *number >= first || self.leaving.contains(*index));
            self.ever.clear();
            self.acked.iter().for_each(|row| self.ever.add(&row.entities));
        }
    }

    /// Handles the arrival of a packet of a snapshot.
    pub(super) fn handle_acked(&mut self, number: u64, content: &Content) {
        let at = self.place(number).unwrap_or_else(|at| {
            let mut entities = self.spare.pop().unwrap_or_default();
            entities.clear();
            self.acked.insert(at, Row { number, entities });
            at
        });
        self.acked[at].entities.add(&content.there);
        self.ever.add(&content.there);
        for index in &content.resting {
            let rest = self.resting_mut(*index);
            rest.acked = rest.acked.max(Some(number));
        }
        for index in &content.away {
            // Unless the entity was sent as present since, or its removal was sent again.
            let is_last = self.away.get(index).is_some_and(|newest| *newest <= number);
            if self.leaving.contains(*index) && is_last {
                self.there.remove(*index);
                self.leaving.remove(*index);
            }
        }
    }

    /// Handles the loss of a packet, or its removal without a known fate.
    pub(super) fn handle_lost(&mut self, content: &Content) {
        content.away.iter().for_each(|index| self.leaving.remove(*index));
    }

    /// Handles the departure of a packet of a snapshot.
    pub(super) fn handle_sent(&mut self, number: u64, content: &Content) {
        if self.last.number != number {
            self.last.number = number;
            self.last.entities.clear();
        }
        self.last.entities.add(&content.there);
        self.there.add(&content.there);
        self.leaving.subtract(&content.there);
        for index in &content.resting {
            self.resting_mut(*index).sent.insert(number);
        }
        for index in &content.away {
            self.leaving.insert(*index);
            self.away.insert(*index, number);
        }
    }

    fn resting_mut(&mut self, index: u16) -> &mut RestingState {
        let index = usize::from(index);
        if self.resting_states.len() <= index {
            self.resting_states.resize(index + 1, RestingState::default());
        }
        &mut self.resting_states[index]
    }

    /// Returns the snapshots with an entity, if the client has it as far as is known, and the
    /// number of the snapshot after its last removal, before which states do not count.
    fn resting_state(&self, index: u16) -> Option<(RestingState, u64)> {
        let is_there = self.there.contains(index) && !self.leaving.contains(index);
        let rest = *self.resting_states.get(usize::from(index)).filter(|_| is_there)?;
        Some((rest, self.away.get(&index).map_or(0, |away| away + 1)))
    }

    /// Writes the entities whose removal must be sent to the client, given the entities `told` that
    /// it is sent.
    pub(super) fn write_ended(&self, told: &Bits, ended: &mut Bits) {
        ended.set(&self.there);
        ended.subtract(&self.leaving);
        ended.subtract(told);
    }

    /// Returns the entities that are still [settled](Self::settled), of those `resting` among the
    /// client's entities, after some `changed` in the newest snapshot.
    pub(super) fn settled(&mut self, frame: &WorldFrame, changed: &Bits, resting: &Bits) -> &Bits {
        let Settled { entities, at, until } = &mut self.settled;
        if *at + 1 != frame.number || frame.tick >= *until {
            entities.clear();
            *until = Tick(u64::MAX);
        }
        *at = frame.number;
        entities.subtract(changed);
        entities.keep(resting);
        entities
    }

    /// Returns the tick at which an entity that may rest must be sent again, if the client's newest
    /// state of it is the present one. Such an entity stands still while nothing is sent about it.
    pub(super) fn known_until<G: Game>(
        &self,
        source: &Source<'_, G>,
        index: u16,
        own: bool,
    ) -> Option<Tick> {
        let (rest, behind) = self.resting_state(index)?;
        let since = source.history.changed(index, own).max(behind);
        let then = source.history.numbered(rest.acked.filter(|newest| *newest >= since)?)?;
        let until = Tick(then.tick.0 + REPEAT_TICKS);
        (source.frame.tick < until).then_some(until)
    }

    /// Counts an entity as known until a tick, as long as it does not change.
    pub(super) fn settle(&mut self, index: u16, until: Tick) {
        self.settled.entities.insert(index);
        self.settled.until = self.settled.until.min(until);
    }

    /// Whether its kind's rule allows leaving out the entity, which the reader does not own: from
    /// any state that the client may have, it extrapolates the entity well enough.
    pub(super) fn is_unsaid<G: Game>(
        &self,
        encodings: &Encodings<G>,
        source: &Source<'_, G>,
        index: u16,
        kind: u8,
    ) -> bool {
        let silence = encodings.silence();
        let Some((rest, behind)) = self.resting_state(index) else { return false };
        let Some(there) = rest.sent.newest() else { return false };
        let (history, frame) = (source.history, source.frame);
        let since = history.since(index).max(behind);
        let Some(acked) = rest.acked.filter(|acked| *acked >= since) else { return false };
        let is_younger = |number, ticks| {
            history.numbered(number).is_some_and(|then| frame.tick.since(then.tick) < ticks)
        };
        is_younger(acked, REPEAT_TICKS)
            && is_younger(there, REPEAT_TICKS * 3 / 4)
            && silence.may_last(kind, frame.number - there)
            // The client may have any of the later ones already.
            && std::iter::once(acked)
                .chain(rest.sent.after(acked))
                .all(|number| silence.is_near(encodings.codec(), source, index, number))
    }

    /// Writes, for each of the `strands`, longest first, the entities for which the client has all
    /// of its states, by the number of references.
    pub(super) fn write_led<'s>(
        &self,
        strands: impl Iterator<Item = &'s Strand>,
        led: &mut [Bits; REFERENCES_MAX],
    ) {
        led.iter_mut().for_each(Bits::clear);
        let mut strands = strands.peekable();
        let all = strands.peek().map(|longest| longest.references).unwrap_or_default();
        for (number, at) in all.numbers().zip(0..) {
            let Some(entities) = self.acked(number) else { break };
            let (newer, older) = led.split_at_mut(at);
            older[0].set(newer.last().unwrap_or(entities));
            older[0].keep(entities);
        }
        for strand in strands {
            led[strand.references.len() - 1].keep(&strand.there);
        }
    }

    fn acked(&self, number: u64) -> Option<&Bits> {
        Some(&self.acked[self.place(number).ok()?].entities)
    }

    /// Returns the position of a snapshot's row, or where it would be.
    fn place(&self, number: u64) -> Result<usize, usize> {
        // Rows mostly have no gap between them and the newest.
        let newest = self.acked.back().map_or(0, |row| row.number);
        let back = newest.checked_sub(number).and_then(|back| usize::try_from(back).ok());
        let likely = back.and_then(|back| self.acked.len().checked_sub(back + 1));
        match likely.filter(|at| self.acked[*at].number == number) {
            Some(at) => Ok(at),
            None => self.acked.binary_search_by_key(&number, |row| row.number),
        }
    }

    /// Returns an entity's references: the newest state that the client has, and those of the
    /// `packet`'s references before it that the client has too.
    pub(super) fn references<G: Game>(
        &self,
        source: &Source<'_, G>,
        packet: &ReferenceSet,
        index: u16,
    ) -> ReferenceSet {
        let mut own = ReferenceSet::default();
        if !self.ever.contains(index) {
            return own;
        }
        let since = source.history.since(index);
        let mut rows = self.acked.iter().rev().take_while(|row| row.number >= since);
        let Some(newest) = rows.find(|row| row.entities.contains(index)).map(|row| row.number)
        else {
            return own;
        };
        let older = packet.numbers().filter(|number| *number < newest);
        let older = older.filter(|number| self.acked(*number).is_some_and(|it| it.contains(index)));
        for number in std::iter::once(newest).chain(older).take_while(|number| *number >= since) {
            let then = source.history.numbered(number);
            if !then.is_some_and(|then| own.push(source.frame, then)) {
                break;
            }
        }
        own
    }

    /// Returns the removal of an entity: only a client that saw it until its end is informed that
    /// it is gone.
    pub(super) fn away<G: Game>(&self, source: &Source<'_, G>, index: u16) -> Change {
        let (history, frame) = (source.history, source.frame);
        let last = &self.last;
        let to_the_end = last.number + 1 == frame.number && last.entities.contains(index);
        let told = history.numbered(last.number).and_then(|then| then.get(index));
        let lives = frame.get(index).zip(told).is_some_and(|(now, told)| now.same_entity(told));
        if to_the_end && !lives { Change::Gone } else { Change::Hidden }
    }
}

//! The server's knowledge of what one client has: entities as bits, snapshot by snapshot, so that
//! an acknowledgement costs a few words, however many entities there are.

use std::collections::{BTreeMap, VecDeque};

use super::bits::Bits;
use super::content::Content;
use super::encodings::Encodings;
use super::history::{Frame, History, Source};
use super::recent::Recent;
use super::strands::{ReferenceSet, Strand};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{BASELINE_AGE_TICKS_MAX, REFERENCES_MAX};
use crate::time::Tick;
use crate::wire::snapshot::Change;

/// Entities of one snapshot.
#[derive(Debug, Default)]
struct Row {
    number: u64,
    entities: Bits,
}

/// Entities at one client.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// Entities of which it acknowledged the states, in snapshots of the history.
    acked: VecDeque<Row>,
    /// Entities of which it acknowledged any, and some of those that are forgotten since.
    ever: Bits,
    /// Memory of forgotten rows.
    spare: Vec<Bits>,
    /// Sent as present, and not known to be away.
    there: Bits,
    /// Of these, those of which the word that they are away is under way.
    leaving: Bits,
    /// The last snapshot, and those sent as present in it.
    last: Row,
    /// Newest snapshots in which entities were sent as gone or hidden: those of the history, and of
    /// all that are leaving.
    away: BTreeMap<u16, u64>,
    /// Turn of [`FORGET_EVERY`] snapshots in which it was last rid of what the history forgot.
    forgot_in: u64,
    /// By index, what is known of an entity that may rest.
    rests: Vec<Rest>,
    settled: Settled,
}

/// Entities of which the client has the present state for good, as of a snapshot: until they
/// change, nobody has to look at them again.
#[derive(Debug, Default)]
struct Settled {
    entities: Bits,
    /// Number of the snapshot, and the tick at which the first of them is to be sent again.
    at: u64,
    until: Tick,
}

/// Snapshots with an entity that may rest.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    /// The newest one acknowledged.
    acked: Option<u64>,
    sent: Recent,
}

/// Snapshots between two looks at all that is away. Arbitrary.
const FORGET_EVERY: u64 = 32;

/// Ticks after which an unchanged entity is sent again, so that there is always a baseline.
const REPEAT_TICKS: u64 = BASELINE_AGE_TICKS_MAX / 2;

impl Knowledge {
    /// Forgets what the history has forgotten.
    pub(super) fn forget(&mut self, history: &History, reader: PlayerId) {
        let Some(first) = history.first() else { return };
        while self.acked.front().is_some_and(|row| row.number < first)
            && let Some(row) = self.acked.pop_front()
        {
            self.spare.push(row.entities);
        }
        // Now and then, since it looks at each; for each client in another snapshot.
        let turn = (first + u64::from(reader.0)) / FORGET_EVERY;
        if std::mem::replace(&mut self.forgot_in, turn) != turn {
            // An acknowledgement may come of an older word than the one that is under way.
            self.away.retain(|index, number| *number >= first || self.leaving.contains(*index));
            self.ever.clear();
            self.acked.iter().for_each(|row| self.ever.add(&row.entities));
        }
    }

    /// Takes in that a packet of a snapshot arrived.
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
            let rest = self.rest_mut(*index);
            rest.acked = rest.acked.max(Some(number));
        }
        for index in &content.away {
            // Unless it was sent as present since, or its end once more.
            let is_last = self.away.get(index).is_some_and(|newest| *newest <= number);
            if self.leaving.contains(*index) && is_last {
                self.there.remove(*index);
                self.leaving.remove(*index);
            }
        }
    }

    /// Takes in that a packet is lost, or is forgotten without a known fate.
    pub(super) fn handle_lost(&mut self, content: &Content) {
        content.away.iter().for_each(|index| self.leaving.remove(*index));
    }

    /// Takes in that a packet of a snapshot leaves.
    pub(super) fn handle_sent(&mut self, number: u64, content: &Content) {
        if self.last.number != number {
            self.last.number = number;
            self.last.entities.clear();
        }
        self.last.entities.add(&content.there);
        self.there.add(&content.there);
        self.leaving.subtract(&content.there);
        for index in &content.resting {
            self.rest_mut(*index).sent.insert(number);
        }
        for index in &content.away {
            self.leaving.insert(*index);
            self.away.insert(*index, number);
        }
    }

    fn rest_mut(&mut self, index: u16) -> &mut Rest {
        let index = usize::from(index);
        if self.rests.len() <= index {
            self.rests.resize(index + 1, Rest::default());
        }
        &mut self.rests[index]
    }

    /// The same of an entity that the client has for all that is known, and the snapshot behind the
    /// last word that it is away: states from before do not count.
    fn rest(&self, index: u16) -> Option<(Rest, u64)> {
        let is_there = self.there.contains(index) && !self.leaving.contains(index);
        let rest = *self.rests.get(usize::from(index)).filter(|_| is_there)?;
        Some((rest, self.away.get(&index).map_or(0, |away| away + 1)))
    }

    /// Writes those of whose end the client must be told, while it is told of `told`.
    pub(super) fn write_ended(&self, told: &Bits, ended: &mut Bits) {
        ended.set(&self.there);
        ended.subtract(&self.leaving);
        ended.subtract(told);
    }

    /// Entities that are [settled](Self::settle) still, of those that are `resting` among what the
    /// client is told, after some `changed` in the newest snapshot.
    pub(super) fn settled(&mut self, frame: &Frame, changed: &Bits, resting: &Bits) -> &Bits {
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

    /// If the client's newest state of an entity that may rest is the present one, the tick at
    /// which it is to be sent again. Such an entity stands still while nothing is sent of it.
    pub(super) fn known_until<G: Game>(
        &self,
        source: &Source<'_, G>,
        index: u16,
        own: bool,
    ) -> Option<Tick> {
        let (rest, behind) = self.rest(index)?;
        let since = source.history.changed(index, own).max(behind);
        let then = source.history.numbered(rest.acked.filter(|newest| *newest >= since)?)?;
        let until = Tick(then.tick.0 + REPEAT_TICKS);
        (source.frame.tick < until).then_some(until)
    }

    /// Takes an entity as known until a tick, as long as it does not change.
    pub(super) fn settle(&mut self, index: u16, until: Tick) {
        self.settled.entities.insert(index);
        self.settled.until = self.settled.until.min(until);
    }

    /// Tells whether the entity, which the reader does not own, may be left out by its kind's rule:
    /// whichever of its states the client has, it extrapolates that well enough.
    pub(super) fn is_unsaid<G: Game>(
        &self,
        encodings: &Encodings<G>,
        source: &Source<'_, G>,
        index: u16,
        kind: u8,
    ) -> bool {
        let silence = encodings.silence();
        let Some((rest, behind)) = self.rest(index) else { return false };
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
            // Whatever of the later ones arrived, the client may have it already.
            && std::iter::once(acked)
                .chain(rest.sent.after(acked))
                .all(|number| silence.is_near(encodings.codec(), source, index, number))
    }

    /// Writes by the number of references, for each of the `strands`, the longest first, the
    /// entities of which the client has all of its states.
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

    /// Position of a snapshot's row, or where it would stand.
    fn place(&self, number: u64) -> Result<usize, usize> {
        // Most have no gap between them and the newest.
        let newest = self.acked.back().map_or(0, |row| row.number);
        let back = newest.checked_sub(number).and_then(|back| usize::try_from(back).ok());
        let likely = back.and_then(|back| self.acked.len().checked_sub(back + 1));
        match likely.filter(|at| self.acked[*at].number == number) {
            Some(at) => Ok(at),
            None => self.acked.binary_search_by_key(&number, |row| row.number),
        }
    }

    /// References of an entity: the newest state that the client has, and those of the `packet`
    /// before it that the client has too.
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

    /// The word that takes an entity back: only a client that saw it to its end is told that it is
    /// gone.
    pub(super) fn away<G: Game>(&self, source: &Source<'_, G>, index: u16) -> Change {
        let (history, frame) = (source.history, source.frame);
        let last = &self.last;
        let to_the_end = last.number + 1 == frame.number && last.entities.contains(index);
        let told = history.numbered(last.number).and_then(|then| then.get(index));
        let lives = frame.get(index).zip(told).is_some_and(|(now, told)| now.same_entity(told));
        if to_the_end && !lives { Change::Gone } else { Change::Hidden }
    }
}

//! What the server knows of one client: which states it has, and which packets are on their way.

use std::collections::{BTreeMap, VecDeque};

use super::State;
use super::history::{Frame, History};
use crate::ids::PlayerId;
use crate::limits::{BASELINE_AGE_TICKS_MAX, SENT_PACKETS_MAX, SNAPSHOT_PACKETS_MAX};
use crate::replicate::Entity;
use crate::time::Tick;
use crate::wire::fields::without_hidden;
use crate::wire::input::Ack;
use crate::wire::snapshot::{Change, SnapshotHeader, SnapshotWriter};

/// What is known of one entity's presence at the client.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    /// The newest tick whose state of the entity the client acknowledged.
    acked: Option<Tick>,
    /// The newest tick at which the entity was sent as being there.
    alive_sent: Option<Tick>,
}

#[derive(Debug)]
struct SentPacket {
    seq: u64,
    tick: Tick,
    acked: bool,
    /// Index of each entity in it, and whether it was sent as gone.
    entities: Vec<(u16, bool)>,
}

/// A client acknowledged a packet that was never sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it acknowledged a packet that was never sent")]
pub struct NeverSent;

/// Packs snapshots for one client.
#[derive(Debug)]
pub struct Sender {
    reader: PlayerId,
    next_seq: u64,
    tracks: BTreeMap<u16, Track>,
    sent: VecDeque<SentPacket>,
    /// Where the next snapshot starts: behind what the last one had room for, or, if it had room for
    /// all, with what came in its last packet, so that no regular loss always hits the same entities.
    cursor: u16,
}

/// An entity's change with the states that it borrows, masked for the reader.
enum Owned {
    Same(u8),
    Delta(u8, State, State),
    Full(State),
    Gone,
}

impl Sender {
    /// For a client that has nothing yet.
    pub fn new(reader: PlayerId) -> Self {
        Self { reader, next_seq: 0, tracks: BTreeMap::new(), sent: VecDeque::new(), cursor: 0 }
    }

    /// The sequence number that the next packet gets.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Notes which packets arrived; returns the newest one's sequence number.
    pub fn handle_ack(&mut self, ack: Ack) -> Result<u64, NeverSent> {
        // The sequence number nearest to the next one that has these low bits.
        let ahead = i64::from(ack.newest.wrapping_sub(self.next_seq as u16) as i16);
        let newest = self
            .next_seq
            .checked_add_signed(ahead)
            .filter(|newest| *newest < self.next_seq)
            .ok_or(NeverSent)?;
        self.arrived(newest);
        for bit in 0..32 {
            if ack.mask & (1 << bit) != 0 {
                self.arrived(newest.checked_sub(bit + 1).ok_or(NeverSent)?);
            }
        }
        Ok(newest)
    }

    fn arrived(&mut self, seq: u64) {
        let Ok(at) = self.sent.binary_search_by_key(&seq, |packet| packet.seq) else {
            return; // Forgotten; younger ones will be acknowledged.
        };
        let packet = &mut self.sent[at];
        if std::mem::replace(&mut packet.acked, true) {
            return;
        }
        for (index, gone) in std::mem::take(&mut packet.entities) {
            let Some(track) = self.tracks.get_mut(&index) else { continue };
            // Once the client knows that the entity is gone, and was not told otherwise since,
            // there is nothing left to keep track of.
            if gone && track.alive_sent.is_none_or(|alive| alive < packet.tick) {
                self.tracks.remove(&index);
            } else {
                track.acked = track.acked.max(Some(packet.tick));
            }
        }
    }

    /// The packets of the newest snapshot in `history`, none longer than `budget` bytes. `header`
    /// is the same for all but its sequence number and baseline.
    pub fn snapshot<E: Entity>(
        &mut self,
        history: &History,
        header: SnapshotHeader,
        budget: usize,
    ) -> Vec<Vec<u8>> {
        let Some(frame) = history.newest() else { return Vec::new() };
        // All that is there, and all that the client may believe to be.
        for (index, _) in frame.iter() {
            self.tracks.entry(index).or_default();
        }
        // A start behind the last entity is the first one.
        if self.tracks.range(self.cursor..).next().is_none() {
            self.cursor = 0;
        }
        let ahead = self.tracks.range(self.cursor..).map(|(index, _)| *index);
        let wrapped = self.tracks.range(..self.cursor).map(|(index, _)| *index);
        let due: Vec<u16> = ahead.chain(wrapped).collect();

        let mut packets = Vec::new();
        let mut left = due.as_slice();
        let mut last_start = 0;
        while packets.len() < SNAPSHOT_PACKETS_MAX && (packets.is_empty() || !left.is_empty()) {
            last_start = left.first().copied().unwrap_or(0);
            let (packet, taken) = self.packet::<E>(history, frame, header, left, budget);
            packets.push(packet);
            left = &left[taken..];
            if taken == 0 {
                break;
            }
        }
        self.cursor = match left.first() {
            Some(index) => *index,
            None if packets.len() > 1 => last_start,
            None => 0,
        };
        packets
    }

    /// One packet with as many of the entities `due` as fit, and how many these are.
    fn packet<E: Entity>(
        &mut self,
        history: &History,
        frame: &Frame,
        header: SnapshotHeader,
        due: &[u16],
        budget: usize,
    ) -> (Vec<u8>, usize) {
        let seq = self.next_seq;
        self.next_seq += 1;
        let baseline_age = due.first().map_or(0, |index| self.age(*index, frame.tick));
        let header =
            SnapshotHeader { seq: seq as u16, tick: frame.tick.low(), baseline_age, ..header };
        let mut writer = SnapshotWriter::new(header, self.reader);
        let mut entities = Vec::new();
        for &index in due {
            let owned = self.change::<E>(history, frame, index);
            let change = match &owned {
                Owned::Same(age) => Change::Same { age: *age },
                Owned::Delta(age, base, state) => {
                    Change::Delta { age: *age, base: &base.packed, state }
                }
                Owned::Full(state) => Change::Full(state),
                Owned::Gone => Change::Gone,
            };
            if !writer.push::<E>(index, &change, budget) {
                break;
            }
            let gone = matches!(owned, Owned::Gone);
            if !gone && let Some(track) = self.tracks.get_mut(&index) {
                track.alive_sent = Some(frame.tick);
            }
            entities.push((index, gone));
        }
        let taken = entities.len();
        if self.sent.len() == SENT_PACKETS_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back(SentPacket { seq, tick: frame.tick, acked: false, entities });
        (writer.finish(), taken)
    }

    /// The age of the entity's baseline in ticks; 0 without one.
    fn age(&self, index: u16, now: Tick) -> u8 {
        let acked = self.tracks.get(&index).and_then(|track| track.acked);
        let age = acked.map_or(0, |acked| now.since(acked));
        if age <= BASELINE_AGE_TICKS_MAX { age as u8 } else { 0 }
    }

    fn change<E: Entity>(&self, history: &History, frame: &Frame, index: u16) -> Owned {
        let Some(state) = frame.get(index).map(|state| self.shown::<E>(state)) else {
            return Owned::Gone;
        };
        let age = self.age(index, frame.tick);
        let base = history
            .at(frame.tick.minus(u64::from(age)))
            .filter(|_| age > 0)
            .and_then(|then| then.get(index))
            .filter(|base| base.same_entity(&state))
            .map(|base| self.shown::<E>(base));
        match base {
            Some(base) if base == state => Owned::Same(age),
            Some(base) => Owned::Delta(age, base, state),
            None => Owned::Full(state),
        }
    }

    fn shown<E: Entity>(&self, state: &State) -> State {
        let fields = E::KINDS[usize::from(state.kind)].fields;
        let own = state.owner == Some(self.reader);
        State { packed: without_hidden(fields, own, &state.packed), ..*state }
    }
}

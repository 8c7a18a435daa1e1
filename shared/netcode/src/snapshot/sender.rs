//! The server's knowledge of one client: its states, the packets under way, and the next ones.

use std::collections::VecDeque;

use super::EntityState;
use super::encodings::{Encodings, Source};
use super::history::History;
use super::presence::Presence;
use super::priority::{Owed, Priorities};
use super::recent::Recent;
use crate::fields::Entity;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::interest::Relevant;
use crate::limits::{DATAGRAM_BYTES_MIN, SENT_PACKETS_MAX, SNAPSHOT_PACKETS_MAX};
use crate::path::SendRate;
use crate::time::{LocalTime, Micros};
use crate::wire::extrapolation::REFERENCES_MAX;
use crate::wire::fields::without_hidden;
use crate::wire::input::Ack;
use crate::wire::snapshot::{Change, References, SnapshotHeader, SnapshotWriter};
use crate::wire::state::Codec;

/// A packet's word of an entity.
#[derive(Debug)]
enum Said {
    /// Present; with the sum that a loss gives back.
    There(Option<Owed>),
    /// Gone, or hidden.
    Away,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Unknown,
    Arrived,
    Lost,
}

#[derive(Debug)]
struct SentPacket {
    seq: u64,
    frame: u64,
    at: LocalTime,
    bytes: usize,
    fate: Fate,
    entities: Vec<(u16, Said)>,
}

impl SentPacket {
    /// Puts its content back in line, after a loss or without a known fate.
    fn take_back(&mut self, presences: &mut [Presence], priorities: &mut Priorities) {
        for (index, said) in &mut self.entities {
            match said {
                Said::There(owed) => {
                    if let Some(owed) = owed.take() {
                        priorities.lost(*index, owed);
                    }
                }
                Said::Away => {
                    if let Some(track) = presences.get_mut(usize::from(*index)) {
                        track.leaving = false;
                    }
                }
            }
        }
    }
}

/// A client acknowledged a packet that was never sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("protocol error: the client acknowledged a packet that was never sent")]
pub struct NeverSent;

/// Packets by which an arrival must overtake a packet for that to count as lost (RFC 9002, 6.1.1).
const REORDERED_MAX: u64 = 3;

/// Snapshots from the baseline back to the other references. Near ones tell the present motion, far
/// ones its rate to a fraction of a step. Found by trying, on bodies that fly and tumble and on
/// cubes that fall and pile up.
const REFERENCES_BACK: [u64; REFERENCES_MAX - 1] = [1, 3, 9, 21];

/// Packer of one client's snapshots.
#[derive(Debug)]
pub struct Sender {
    reader: PlayerId,
    next_seq: u64,
    presences: Vec<Presence>,
    sent: VecDeque<SentPacket>,
    priorities: Priorities,
    rate: SendRate,
    /// First packet that arrived, as of the first acknowledgement.
    heard_from: Option<u64>,
    /// Snapshots of which any packet arrived.
    arrived: Recent,
    /// Entity that the next snapshot starts with: the first of the last packet, so that no regular
    /// loss always hits the same entities.
    cursor: u16,
    left_out: usize,
    space: Space,
}

/// Memory that is used again for each snapshot.
#[derive(Debug, Default)]
struct Space {
    due: Vec<u16>,
    chosen: Vec<Chosen>,
    packets: Vec<Packed>,
    /// Buffers of packets that did not fit.
    buffers: Vec<Vec<u8>>,
    lists: Vec<Vec<(u16, Said)>>,
}

/// An entity of a snapshot, its coding, and the range of its decisions.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    index: u16,
    /// Position in the order of priorities.
    rank: u16,
    change: Change,
    symbols: (usize, usize),
}

#[derive(Debug)]
struct Packed {
    bytes: Vec<u8>,
    /// Number of the chosen entities in it.
    count: usize,
}

/// Most bytes of one packet, and of all of a snapshot.
#[derive(Clone, Copy, Debug)]
struct Size {
    packet: usize,
    snapshot: usize,
}

impl Sender {
    /// The sender for a client that has nothing yet.
    pub fn new(reader: PlayerId, rate: SendRate) -> Self {
        Self {
            reader,
            next_seq: 0,
            presences: Vec::new(),
            sent: VecDeque::new(),
            priorities: Priorities::default(),
            rate,
            heard_from: None,
            arrived: Recent::default(),
            cursor: 0,
            left_out: 0,
            space: Space::default(),
        }
    }

    /// Sequence number of the next packet.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The rate at which the client's path is used.
    pub fn rate(&self) -> &SendRate {
        &self.rate
    }

    /// Number of relevant entities that did not fit into the newest snapshot.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Takes in a measured round trip.
    pub fn handle_round_trip(&mut self, now: LocalTime, round_trip: Micros) {
        self.rate.handle_round_trip(now, round_trip);
    }

    /// Takes in an acknowledgement; returns the sequence number of its newest packet.
    pub fn handle_ack(&mut self, now: LocalTime, ack: Ack) -> Result<u64, NeverSent> {
        // The sequence number nearest to the next one that has these low bits.
        let ahead = i64::from(ack.newest.wrapping_sub(self.next_seq as u16) as i16);
        let newest = self
            .next_seq
            .checked_add_signed(ahead)
            .filter(|newest| *newest < self.next_seq)
            .ok_or(NeverSent)?;
        let oldest = u64::from(ack.mask.checked_ilog2().map_or(0, |bit| bit + 1));
        if oldest > newest {
            return Err(NeverSent);
        }
        self.arrived(now, newest);
        for bit in (0..32).filter(|bit| ack.mask >> bit & 1 == 1) {
            self.arrived(now, newest - bit - 1);
        }
        self.lose(now, newest);
        Ok(newest)
    }

    fn arrived(&mut self, now: LocalTime, seq: u64) {
        let Ok(at) = self.sent.binary_search_by_key(&seq, |packet| packet.seq) else {
            return; // Forgotten; younger ones will be acknowledged.
        };
        let packet = &mut self.sent[at];
        match std::mem::replace(&mut packet.fate, Fate::Arrived) {
            Fate::Arrived => return,
            Fate::Unknown => self.rate.handle_acked(now, packet.at, packet.bytes),
            Fate::Lost => {} // The loss is dealt with.
        }
        self.arrived.insert(packet.frame);
        let frame = packet.frame;
        let mut entities = std::mem::take(&mut packet.entities);
        for (index, said) in entities.drain(..) {
            let Some(track) = self.presences.get_mut(usize::from(index)) else { continue };
            match said {
                Said::There(_) => track.acked.insert(frame),
                // Unless it was sent as present since.
                Said::Away => {
                    if track.there.is_some_and(|there| there < frame) {
                        track.there = None;
                        track.leaving = false;
                    }
                }
            }
        }
        self.space.lists.push(entities);
    }

    /// Declares packets lost that were sent long enough before one that arrived.
    fn lose(&mut self, now: LocalTime, newest: u64) {
        // Earlier packets may have arrived before their reader was ready.
        let first = self.sent.iter().find(|packet| packet.fate == Fate::Arrived);
        let heard_from = *self.heard_from.get_or_insert(first.map_or(newest, |packet| packet.seq));
        let end = self.sent.partition_point(|packet| packet.seq + REORDERED_MAX <= newest);
        for packet in self.sent.range_mut(..end) {
            if packet.fate != Fate::Unknown {
                continue;
            }
            packet.fate = Fate::Lost;
            if packet.seq > heard_from {
                self.rate.handle_lost(now, packet.at);
            }
            packet.take_back(&mut self.presences, &mut self.priorities);
        }
    }

    /// Packs the newest snapshot into packets of at most `packet_bytes`: as much as fits of what is
    /// `relevant`, by rising indices. `header` lacks its sequence number and references. At least
    /// one packet goes out, since it carries the clock.
    #[expect(clippy::too_many_arguments, reason = "a snapshot depends on all of this")]
    pub fn snapshot<G: Game>(
        &mut self,
        encodings: &mut Encodings<G>,
        game: &G,
        history: &History,
        relevant: &[Relevant],
        header: SnapshotHeader,
        now: LocalTime,
        packet_bytes: usize,
        mut send: impl FnMut(Vec<u8>),
    ) {
        let Some(frame) = history.newest() else { return };
        let source = Source { game, history, frame };
        encodings.begin(frame);
        self.priorities.begin();
        self.enlist(encodings.codec(), &source, relevant);
        let references = self.references(encodings.codec(), &source);
        let header = SnapshotHeader { tick: frame.tick, references, ..header };
        let size = Size { packet: packet_bytes, snapshot: self.rate.available(now) };
        let mut space = std::mem::take(&mut self.space);
        let listed = self.choose(&mut space, encodings, &source, references, size);
        // The choice was an estimate. While it does not fit, the least important entities stay
        // behind.
        loop {
            let packed = self.pack(&mut space, encodings, header, size);
            if packed == space.chosen.len() {
                break;
            }
            let over = (space.chosen.len() - packed).max(space.chosen.len() / 16).max(1);
            let keep = space.chosen.len() - over;
            // The chosen are in the order of indices.
            space.chosen.retain(|chosen| usize::from(chosen.rank) < keep);
        }
        self.left_out = listed - space.chosen.len();
        self.cursor = match space.packets.as_slice() {
            [.., last] if space.packets.len() > 1 => {
                space.chosen.get(space.chosen.len() - last.count).map_or(0, |first| first.index)
            }
            _ => 0,
        };
        let mut chosen = space.chosen.drain(..);
        for packet in space.packets.drain(..) {
            let mut entities = space.lists.pop().unwrap_or_default();
            entities.extend(chosen.by_ref().take(packet.count).map(|chosen| {
                let track = &mut self.presences[usize::from(chosen.index)];
                let owed = self.priorities.sent(chosen.index);
                let said = match chosen.change {
                    Change::Known(..) | Change::Full(_) => {
                        track.there = Some(frame.number);
                        track.leaving = false;
                        Said::There(Some(owed))
                    }
                    Change::Gone | Change::Hidden => {
                        track.leaving = true;
                        track.away = Some(frame.number);
                        Said::Away
                    }
                };
                (chosen.index, said)
            }));
            if self.sent.len() == SENT_PACKETS_MAX
                && let Some(mut forgotten) = self.sent.pop_front()
            {
                // Else its word of an entity's end would count as under way for ever.
                if forgotten.fate == Fate::Unknown {
                    forgotten.take_back(&mut self.presences, &mut self.priorities);
                }
                forgotten.entities.clear();
                if forgotten.entities.capacity() > 0 {
                    space.lists.push(forgotten.entities);
                }
            }
            let (seq, bytes) = (self.next_seq, packet.bytes.len());
            self.next_seq += 1;
            let frame = frame.number;
            self.sent.push_back(SentPacket {
                seq,
                frame,
                at: now,
                bytes,
                fate: Fate::Unknown,
                entities,
            });
            self.rate.handle_sent(now, bytes);
            send(packet.bytes);
        }
        drop(chosen);
        self.space = space;
    }

    /// Lists what there is to send: relevant entities, and those that the client must forget.
    fn enlist<G: Game>(&mut self, codec: &Codec<G>, source: &Source<'_, G>, relevant: &[Relevant]) {
        let last = relevant.last().map_or(0, |told| usize::from(told.index) + 1);
        if self.presences.len() < last {
            self.presences.resize(last, Presence::default());
        }
        let mut relevant = relevant.iter().peekable();
        for (track, index) in self.presences.iter_mut().zip(0..) {
            if let Some(told) = relevant.next_if(|told| told.index == index)
                && let Some(state) = source.frame.get(index)
            {
                let own = state.owner == Some(self.reader);
                if !track.knows(codec, source, index, state, own) {
                    self.priorities.relevant(index, told.weight);
                }
            } else if track.there.is_some() && !track.leaving {
                self.priorities.urgent(index);
            }
        }
    }

    /// The references of most entities: the newest snapshot that arrived, and some before it.
    fn references<G: Game>(&self, codec: &Codec<G>, source: &Source<'_, G>) -> References {
        let history = source.history;
        let mut references = References::NONE;
        let age = |number: u64| source.age(history.numbered(number)?);
        let Some(newest) = self.arrived.newest() else { return references };
        let Some(baseline) = age(newest) else { return references };
        references.push(baseline);
        let trending =
            G::Entity::KINDS.iter().any(|kind| kind.fields.iter().any(|field| field.trending));
        let mut before = newest;
        for back in REFERENCES_BACK.into_iter().filter(|_| trending && !codec.is_plain()) {
            let Some(number) = newest.checked_sub(back).and_then(|at| self.arrived.at_most(at))
            else {
                break;
            };
            if number < before {
                let Some(age) = age(number) else { break };
                references.push(age);
                before = number;
            }
        }
        references
    }

    /// Chooses what goes out, by indices from the cursor on; returns the number of listed entities.
    fn choose<G: Game>(
        &mut self,
        space: &mut Space,
        encodings: &mut Encodings<G>,
        source: &Source<'_, G>,
        references: References,
        size: Size,
    ) -> usize {
        space.chosen.clear();
        self.priorities.order(self.presences.len(), &mut space.due);
        let listed = space.due.len();
        let most = size.snapshot.min(SNAPSHOT_PACKETS_MAX * size.packet) as u64 * 8 * 1024;
        let mut cost = 0;
        for (rank, &index) in (0..).zip(&space.due) {
            let chosen = Chosen { rank, ..self.coded(encodings, source, references, index) };
            cost += chosen.cost::<G>();
            // At least one, or a large entity would wait for ever.
            if cost > most && !space.chosen.is_empty() {
                break;
            }
            space.chosen.push(chosen);
        }
        space.chosen.sort_unstable_by_key(|chosen| (chosen.index < self.cursor, chosen.index));
        listed
    }

    fn coded<G: Game>(
        &self,
        encodings: &mut Encodings<G>,
        source: &Source<'_, G>,
        references: References,
        index: u16,
    ) -> Chosen {
        let whole = |change| Chosen { index, rank: 0, change, symbols: (0, 0) };
        let presence = self.presences.get(usize::from(index)).copied().unwrap_or_default();
        if self.priorities.is_urgent(index) {
            return whole(presence.away(source, index));
        }
        let Some(state) = source.frame.get(index) else { return whole(Change::Gone) };
        let own = state.owner == Some(self.reader);
        let references = presence.references(source, references, index, state);
        match encodings.get(source, index, references, own) {
            Some((encoding, symbols)) => {
                let change = Change::Known(references, encoding);
                Chosen { index, rank: 0, change, symbols }
            }
            None => {
                let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
                let packed = without_hidden(fields, own, &state.packed);
                whole(Change::Full(EntityState { packed, ..*state }))
            }
        }
    }

    /// Writes the chosen into packets; returns the number of those that fit.
    fn pack<G: Game>(
        &self,
        space: &mut Space,
        encodings: &Encodings<G>,
        header: SnapshotHeader,
        size: Size,
    ) -> usize {
        space.buffers.extend(space.packets.drain(..).map(|packed| packed.bytes));
        let mut left = space.chosen.as_slice();
        let mut remaining = size.snapshot;
        while space.packets.len() < SNAPSHOT_PACKETS_MAX
            && (space.packets.is_empty() || !left.is_empty() && remaining > HEADER_BYTES)
        {
            let seq = (self.next_seq + space.packets.len() as u64) as u16;
            let header = SnapshotHeader { seq, ..header };
            let buffer = space.buffers.pop().unwrap_or_else(|| Vec::with_capacity(size.packet));
            let mut writer = SnapshotWriter::new(encodings.codec(), header, self.reader, buffer);
            let first = space.packets.is_empty();
            let most = if first { remaining.max(PACKET_BYTES_MIN) } else { remaining };
            let most = most.min(size.packet);
            for chosen in left {
                let symbols = encodings.symbols(chosen.symbols);
                if !writer.push::<G>(chosen.index, &chosen.change, symbols, most) {
                    break;
                }
            }
            let count = writer.count();
            if count == 0 && !first {
                break;
            }
            let packet = writer.finish();
            remaining = remaining.saturating_sub(packet.len());
            left = &left[count..];
            space.packets.push(Packed { bytes: packet, count });
            if count == 0 {
                break;
            }
        }
        space.chosen.len() - left.len()
    }
}

/// Fewest bytes for which a packet is begun. Headers were measured to take 24 to 40.
const HEADER_BYTES: usize = 48;
/// Bytes that the first packet may always take: a header and one whole entity.
const PACKET_BYTES_MIN: usize = DATAGRAM_BYTES_MIN;

impl Chosen {
    /// Estimated cost in 1/1024 bit: the fields, and what usually goes with them.
    fn cost<G: Game>(&self) -> u64 {
        match &self.change {
            Change::Known(_, encoding) => u64::from(encoding.cost) + 1024,
            Change::Full(state) => {
                let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
                let bits: u32 = fields.iter().map(|field| field.bits).sum();
                u64::from(bits + 40) * 1024
            }
            Change::Gone | Change::Hidden => 12 * 1024,
        }
    }
}

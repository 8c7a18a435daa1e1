//! What the server knows of one client: which states it has, which packets are on their way, and
//! what is to go out next.

#![expect(
    clippy::too_many_arguments,
    reason = "a snapshot is made of the world's, the room's and the client's"
)]

use std::collections::VecDeque;

use super::State;
use super::budget::Budget;
use super::encodings::Encodings;
use super::frames::Frames;
use super::history::{Frame, History};
use super::priority::{Owed, Priorities};
use super::track::Track;
use crate::fields::Entity;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::interest::Told;
use crate::limits::{
    BASELINE_AGE_TICKS_MAX, DATAGRAM_BYTES_MIN, SENT_PACKETS_MAX, SNAPSHOT_PACKETS_MAX,
};
use crate::time::{LocalTime, Micros};
use crate::wire::extrapolation::REFERENCES_MAX;
use crate::wire::fields::without_hidden;
use crate::wire::input::Ack;
use crate::wire::snapshot::{Change, Encoding, References, SnapshotHeader, SnapshotWriter};
use crate::wire::state::Codec;

/// What a packet said of an entity.
#[derive(Debug)]
enum Said {
    /// What it is owed if that is lost; none once it got it.
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
    /// What it said has to be said again: it is lost, or nothing will ever be known of it.
    fn take_back(&mut self, tracks: &mut [Track], priorities: &mut Priorities) {
        for (index, said) in &mut self.entities {
            match said {
                Said::There(owed) => {
                    if let Some(owed) = owed.take() {
                        priorities.lost(*index, owed);
                    }
                }
                Said::Away => {
                    if let Some(track) = tracks.get_mut(usize::from(*index)) {
                        track.leaving = false;
                    }
                }
            }
        }
    }
}

/// A client acknowledged a packet that was never sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it acknowledged a packet that was never sent")]
pub struct NeverSent;

/// A packet counts as lost when one sent so many later has arrived, as QUIC has it (RFC 9002,
/// 6.1.1): what is overtaken by fewer was only reordered.
const REORDERED_MAX: u64 = 3;

/// How many snapshots before the baseline the other references are, if the client has them. Near ones
/// tell what an entity does now, far ones how fast to a fraction of a step. Found by trying, on bodies
/// that fly and tumble and on cubes that fall and pile up.
const REFERENCES_BACK: [u64; REFERENCES_MAX - 1] = [1, 3, 9, 21];

/// Packs snapshots for one client.
#[derive(Debug)]
pub struct Sender {
    reader: PlayerId,
    next_seq: u64,
    tracks: Vec<Track>,
    sent: VecDeque<SentPacket>,
    priorities: Priorities,
    budget: Budget,
    /// The first packet that arrived, as far as was known when the first one was heard of.
    heard_from: Option<u64>,
    /// Of which snapshots any packet arrived.
    arrived: Frames,
    /// The entity that the next snapshot starts with: if the last one took several packets, what came in
    /// the last of them, so that no regular loss always hits the same entities.
    cursor: u16,
    /// How many relevant entities had no room in the newest snapshot.
    left_out: usize,
    space: Space,
}

/// Memory that is used again for each snapshot.
#[derive(Debug, Default)]
struct Space {
    due: Vec<u16>,
    chosen: Vec<Chosen>,
    packets: Vec<Packed>,
    /// Of packets that turned out not to fit.
    buffers: Vec<Vec<u8>>,
    lists: Vec<Vec<(u16, Said)>>,
}

/// An entity of a snapshot with how it is coded.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    index: u16,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Known { references: References, encoding: Encoding, symbols: (usize, usize) },
    Full(State),
    Gone,
    Hidden,
}

#[derive(Debug)]
struct Packed {
    bytes: Vec<u8>,
    /// How many of the chosen are in it.
    count: usize,
}

/// What a snapshot may take.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes of one packet at most.
    pub packet_bytes: usize,
    /// When it is.
    pub now: LocalTime,
}

impl Sender {
    /// For a client that has nothing yet, and gets a snapshot each `interval` and no more than
    /// `bytes_per_second` of them.
    pub fn new(reader: PlayerId, now: LocalTime, interval: Micros, bytes_per_second: u32) -> Self {
        Self::with_budget(reader, Budget::new(now, bytes_per_second, interval))
    }

    /// What was learnt of the client's path.
    pub fn into_budget(self) -> Budget {
        self.budget
    }

    /// For a client that has nothing yet, on a path of which something is known.
    pub fn with_budget(reader: PlayerId, budget: Budget) -> Self {
        Self {
            reader,
            next_seq: 0,
            tracks: Vec::new(),
            sent: VecDeque::new(),
            priorities: Priorities::default(),
            budget,
            heard_from: None,
            arrived: Frames::default(),
            cursor: 0,
            left_out: 0,
            space: Space::default(),
        }
    }

    /// The sequence number that the next packet gets.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Bytes a second that the path is given at present.
    pub fn rate(&self) -> u32 {
        self.budget.rate()
    }

    /// How many relevant entities had no room in the newest snapshot.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// A round trip was measured.
    pub fn handle_round_trip(&mut self, now: LocalTime, round_trip: Micros) {
        self.budget.handle_round_trip(now, round_trip);
    }

    /// Notes which packets arrived; returns the newest one's sequence number.
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
            Fate::Unknown => self.budget.handle_acked(now, packet.at, packet.bytes),
            Fate::Lost => {} // What that meant is done.
        }
        self.arrived.insert(packet.frame);
        let frame = packet.frame;
        let mut entities = std::mem::take(&mut packet.entities);
        for (index, said) in entities.drain(..) {
            let Some(track) = self.tracks.get_mut(usize::from(index)) else { continue };
            match said {
                Said::There(_) => track.acked.insert(frame),
                // Unless it was sent as being there again since.
                Said::Away => {
                    if track.there.is_some_and(|there| there < frame) {
                        track.there = None;
                        track.leaving = false;
                    }
                }
            }
        }
        // What it said does not matter any more.
        self.space.lists.push(entities);
    }

    /// What was sent long enough before a packet that arrived is lost, unless it arrived too.
    fn lose(&mut self, now: LocalTime, newest: u64) {
        // What came before the first that counts may have come before its reader was there.
        let first = self.sent.iter().find(|packet| packet.fate == Fate::Arrived);
        let heard_from = *self.heard_from.get_or_insert(first.map_or(newest, |packet| packet.seq));
        let end = self.sent.partition_point(|packet| packet.seq + REORDERED_MAX <= newest);
        for packet in self.sent.range_mut(..end) {
            if packet.fate != Fate::Unknown {
                continue;
            }
            packet.fate = Fate::Lost;
            if packet.seq > heard_from {
                self.budget.handle_lost(now, packet.at);
            }
            packet.take_back(&mut self.tracks, &mut self.priorities);
        }
    }

    /// Controls out the packets of the newest snapshot in `history`, with as much as there is room for of
    /// what is `relevant`, in the order of indices. `header` is the same for all but its sequence number
    /// and references. There is always one, however little is in it: it carries the clock.
    pub fn snapshot<G: Game>(
        &mut self,
        encodings: &mut Encodings<G>,
        game: &G,
        history: &History,
        relevant: &[Told],
        header: SnapshotHeader,
        room: Room,
        mut send: impl FnMut(Vec<u8>),
    ) {
        let Some(frame) = history.newest() else { return };
        encodings.begin(frame);
        self.priorities.begin();
        self.enlist(encodings.codec(), history, frame, relevant);
        let references = self.references::<G>(history, frame);
        let header = SnapshotHeader { tick: frame.tick, references, ..header };
        let bytes = self.budget.available(room.now);
        let mut space = std::mem::take(&mut self.space);
        let listed =
            self.choose(&mut space, encodings, game, history, frame, references, room, bytes);
        // What was chosen was guessed to fit. If it does not, what matters least stays behind.
        loop {
            let packed = self.pack(&mut space, encodings, header, room, bytes);
            if packed == space.chosen.len() {
                break;
            }
            let over = (space.chosen.len() - packed).max(space.chosen.len() / 16).max(1);
            let keep = space.chosen.len() - over;
            space.due.truncate(keep);
            let due = &space.due;
            // The chosen are in the order of indices, what is due in that of priorities.
            space.chosen.retain(|chosen| due.contains(&chosen.index));
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
                let track = &mut self.tracks[usize::from(chosen.index)];
                let owed = self.priorities.sent(chosen.index);
                let said = match chosen.how {
                    How::Known { .. } | How::Full(_) => {
                        track.there = Some(frame.number);
                        track.leaving = false;
                        Said::There(Some(owed))
                    }
                    How::Gone | How::Hidden => {
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
                // Else what it said to be gone would count as under way for ever.
                if forgotten.fate == Fate::Unknown {
                    forgotten.take_back(&mut self.tracks, &mut self.priorities);
                }
                forgotten.entities.clear();
                // It has none if it had arrived.
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
                at: room.now,
                bytes,
                fate: Fate::Unknown,
                entities,
            });
            self.budget.handle_sent(room.now, bytes);
            send(packet.bytes);
        }
        drop(chosen);
        self.space = space;
    }

    /// Tells the priorities what there is to send: what is relevant, and what the client may believe
    /// to be there but may not see, or is no more.
    fn enlist<G: Game>(
        &mut self,
        codec: &Codec<G>,
        history: &History,
        frame: &Frame,
        relevant: &[Told],
    ) {
        let last = relevant.last().map_or(0, |told| usize::from(told.index) + 1);
        if self.tracks.len() < last {
            self.tracks.resize(last, Track::default());
        }
        let mut relevant = relevant.iter().peekable();
        for (track, index) in self.tracks.iter_mut().zip(0..) {
            if let Some(told) = relevant.next_if(|told| told.index == index)
                && let Some(state) = frame.get(index)
            {
                let own = state.owner == Some(self.reader);
                if !track.knows(codec, history, frame, index, state, own) {
                    self.priorities.relevant(index, told.weight);
                }
            } else if track.there.is_some() && !track.leaving {
                self.priorities.urgent(index);
            }
        }
    }

    /// The older states that most entities are coded from: the newest snapshot that arrived, and some
    /// before it.
    fn references<G: Game>(&self, history: &History, frame: &Frame) -> References {
        let mut references = References::NONE;
        let age = |number: u64| {
            let age = frame.tick.since(history.numbered(number)?.tick);
            (1..=BASELINE_AGE_TICKS_MAX).contains(&age).then_some(age as u8)
        };
        let Some(newest) = self.arrived.newest() else { return references };
        let Some(baseline) = age(newest) else { return references };
        references.push(baseline);
        let trending =
            G::Entity::KINDS.iter().any(|kind| kind.fields.iter().any(|field| field.trending));
        let mut before = newest;
        for back in REFERENCES_BACK.into_iter().filter(|_| trending) {
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

    /// Those that an entity is coded from: of the packet's the ones that the client has of it, or from
    /// the newest that it has on.
    fn own_references(
        &self,
        history: &History,
        frame: &Frame,
        packet: References,
        index: u16,
        state: &State,
    ) -> References {
        let mut own = References::NONE;
        let Some(track) = self.tracks.get(usize::from(index)) else { return own };
        let Some(newest) = track.acked.newest() else { return own };
        let usable = |number: u64| {
            let then = history.numbered(number)?;
            let age = frame.tick.since(then.tick);
            let same = then.get(index)?.same_entity(state);
            (same && (1..=BASELINE_AGE_TICKS_MAX).contains(&age)).then_some(age as u8)
        };
        let Some(baseline) = usable(newest) else { return own };
        own.push(baseline);
        for age in packet.iter().filter(|age| *age > baseline) {
            let number = history.at(frame.tick.minus(u64::from(age))).map(|frame| frame.number);
            if let Some(number) = number.filter(|number| track.acked.contains(*number))
                && usable(number).is_some()
            {
                own.push(age);
            }
        }
        own
    }

    /// Chooses what goes out, in the order of indices from the cursor on.
    fn choose<G: Game>(
        &mut self,
        space: &mut Space,
        encodings: &mut Encodings<G>,
        game: &G,
        history: &History,
        frame: &Frame,
        references: References,
        room: Room,
        bytes: usize,
    ) -> usize {
        space.chosen.clear();
        self.priorities.order(self.tracks.len(), &mut space.due);
        let listed = space.due.len();
        let most = bytes.min(SNAPSHOT_PACKETS_MAX * room.packet_bytes) as u64 * 8 * 1024;
        let mut cost = 0;
        for &index in &space.due {
            let chosen =
                Chosen { index, how: self.how(encodings, game, history, frame, references, index) };
            cost += chosen.cost::<G>();
            // One at least, or a large one would wait for ever.
            if cost > most && !space.chosen.is_empty() {
                break;
            }
            space.chosen.push(chosen);
        }
        space.due.truncate(space.chosen.len());
        space.chosen.sort_unstable_by_key(|chosen| (chosen.index < self.cursor, chosen.index));
        listed
    }

    /// How to take back what the client was told of: that it is gone is only for who saw it to its end.
    fn away(&self, history: &History, frame: &Frame, index: u16) -> How {
        let there = self.tracks.get(usize::from(index)).and_then(|track| track.there);
        let told = there.and_then(|number| history.numbered(number)?.get(index));
        let lives = frame.get(index).zip(told).is_some_and(|(now, told)| now.same_entity(told));
        let to_the_end = there.is_some_and(|number| number + 1 == frame.number);
        if to_the_end && !lives { How::Gone } else { How::Hidden }
    }

    fn how<G: Game>(
        &self,
        encodings: &mut Encodings<G>,
        game: &G,
        history: &History,
        frame: &Frame,
        references: References,
        index: u16,
    ) -> How {
        // What is due but was not to be told is what must be taken back.
        if self.priorities.is_urgent(index) {
            return self.away(history, frame, index);
        }
        let Some(state) = frame.get(index) else { return How::Gone };
        let own = state.owner == Some(self.reader);
        let references = self.own_references(history, frame, references, index, state);
        match encodings.get(game, history, frame, index, references, own) {
            Some((encoding, symbols)) => How::Known { references, encoding, symbols },
            None => {
                let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
                How::Full(State { packed: without_hidden(fields, own, &state.packed), ..*state })
            }
        }
    }

    /// Writes the chosen into packets; returns how many had room.
    fn pack<G: Game>(
        &self,
        space: &mut Space,
        encodings: &Encodings<G>,
        header: SnapshotHeader,
        room: Room,
        bytes: usize,
    ) -> usize {
        space.buffers.extend(space.packets.drain(..).map(|packed| packed.bytes));
        let mut left = space.chosen.as_slice();
        let mut bytes_left = bytes;
        while space.packets.len() < SNAPSHOT_PACKETS_MAX
            && (space.packets.is_empty() || !left.is_empty() && bytes_left > HEADER_BYTES)
        {
            let seq = (self.next_seq + space.packets.len() as u64) as u16;
            let header = SnapshotHeader { seq, ..header };
            let buffer =
                space.buffers.pop().unwrap_or_else(|| Vec::with_capacity(room.packet_bytes));
            let mut writer = SnapshotWriter::new(encodings.codec(), header, self.reader, buffer);
            let first = space.packets.is_empty();
            let most = if first { bytes_left.max(PACKET_BYTES_MIN) } else { bytes_left };
            let most = most.min(room.packet_bytes);
            for chosen in left {
                let change = match &chosen.how {
                    How::Known { references, encoding, symbols } => Change::Known {
                        references: *references,
                        encoding: *encoding,
                        symbols: encodings.symbols(*symbols),
                    },
                    How::Full(state) => Change::Full(state),
                    How::Gone => Change::Gone,
                    How::Hidden => Change::Hidden,
                };
                if !writer.push::<G>(chosen.index, &change, most) {
                    break;
                }
            }
            let count = writer.count();
            if count == 0 && !first {
                break;
            }
            let packet = writer.finish();
            bytes_left = bytes_left.saturating_sub(packet.len());
            left = &left[count..];
            space.packets.push(Packed { bytes: packet, count });
            if count == 0 {
                break;
            }
        }
        space.chosen.len() - left.len()
    }
}

/// A packet with less room than its header takes is not begun. Measured: 24 to 40.
const HEADER_BYTES: usize = 48;
/// However small the budget, a header and one whole entity go out.
const PACKET_BYTES_MIN: usize = DATAGRAM_BYTES_MIN;

impl Chosen {
    /// What it is guessed to take, in 1/1024 bit: its fields, and what usually goes with them.
    fn cost<G: Game>(&self) -> u64 {
        match &self.how {
            How::Known { encoding, .. } => u64::from(encoding.cost) + 1024,
            How::Full(state) => {
                let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
                let bits: u32 = fields.iter().map(|field| field.bits).sum();
                u64::from(bits + 40) * 1024
            }
            How::Gone | How::Hidden => 12 * 1024,
        }
    }
}

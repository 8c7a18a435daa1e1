//! What the server knows about one client: its states, the packets in flight, and the next ones.

use std::collections::VecDeque;
use std::mem::take;

use super::EntityState;
use super::content::Content;
use super::early::EarlyReach;
use super::encodings::Encodings;
use super::history::{History, Source, WorldFrame};
use super::knowledge::Knowledge;
use super::plan::{Coded, Scene, Size, Space};
use super::priority::Priorities;
use super::recent::Recent;
use super::strands::ReferenceSet;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::interest::Relevant;
use crate::limits::{REFERENCES_MAX, SENT_PACKETS_MAX};
use crate::path::{PathWindow, SendRate, Ways};
use crate::time::LocalTime;
use crate::wire::input::Ack;
use crate::wire::snapshot::{EarlySteering, KindSet, SnapshotHeader};
use crate::wire::state::Codec;

pub use super::plan::Begun;

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
    content: Content,
}

/// A client acknowledged a packet that was never sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("protocol error: the client acknowledged a packet that was never sent")]
pub struct NeverSent;

/// Number of packets by which an arrival must overtake a packet for that one to count as lost (RFC
/// 9002, 6.1.1).
const REORDERED_MAX: u64 = 3;

/// How far behind the newest acknowledged packet a late acknowledgement still counts: the packets
/// of a mask, and as many again from reordered packets.
const ACK_REACH: u64 = 64;

/// Snapshots from the baseline back to the other references. Near ones show the current motion, far
/// ones its rate to a fraction of a step. Chosen by experiment, on bodies that fly and tumble and
/// on cubes that fall and pile up.
const REFERENCES_BACK: [u64; REFERENCES_MAX - 1] = [1, 3, 9, 21];

/// Packs the snapshots of one client.
#[derive(Debug)]
pub struct Sender {
    pub(super) reader: PlayerId,
    pub(super) next_seq: u64,
    pub(super) knowledge: Knowledge,
    sent: VecDeque<SentPacket>,
    pub(super) priorities: Priorities,
    rate: SendRate,
    /// First packet that arrived, as of the first acknowledgement.
    heard_from: Option<u64>,
    /// The fate of all packets before this one is known.
    settled: u64,
    /// Packets and snapshots that arrived; a snapshot counts if any of its packets did.
    acked: Recent,
    arrived: Recent,
    /// Entity that the next snapshot starts with: the first of the last packet, so that a regular
    /// loss does not always hit the same entities.
    pub(super) cursor: u16,
    pub(super) left_out: usize,
    /// Whether the client understands what an entity's absence from a snapshot means.
    reads_silence: bool,
    space: Space,
}

/// The newest snapshot and the data shared by all clients.
#[derive(Debug)]
pub struct Shared<'a, G> {
    /// Encodings, in which all clients' snapshots were [begun](Sender::begin).
    pub encodings: &'a Encodings<G>,
    /// The rules.
    pub game: &'a G,
    /// The snapshots so far.
    pub history: &'a History,
    /// How the snapshot's entities will be steered.
    pub early: &'a EarlySteering,
}

/// The part of a snapshot that is specific to one client.
#[derive(Clone, Copy, Debug)]
pub struct Departure<'a> {
    /// Entities that are sent to the client, by ascending index.
    pub relevant: &'a [Relevant],
    /// Header without sequence number and references.
    pub header: SnapshotHeader,
    /// When the packets leave.
    pub now: LocalTime,
    /// Maximum size of a packet, in bytes.
    pub packet_bytes: usize,
    /// What the client is told of how entities will be steered.
    pub early: EarlyReach,
}

impl Sender {
    /// Creates the sender for a client that has nothing yet.
    pub fn new(reader: PlayerId, rate: SendRate) -> Self {
        Self {
            reader,
            next_seq: 0,
            knowledge: Knowledge::default(),
            sent: VecDeque::new(),
            priorities: Priorities::default(),
            rate,
            heard_from: None,
            settled: 0,
            acked: Recent::default(),
            arrived: Recent::default(),
            cursor: 0,
            left_out: 0,
            reads_silence: false,
            space: Space::default(),
        }
    }

    /// Sets whether the client understands absence. Only such a client can be left without entities
    /// that it extrapolates well enough.
    #[must_use]
    pub fn reading_silence(self, reads_silence: bool) -> Self {
        Self { reads_silence, ..self }
    }

    /// Returns the sequence number of the next packet.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Sets the maximum rate of snapshots in bytes per second; at least
    /// [`SNAPSHOT_BYTES_MIN`](crate::limits::SNAPSHOT_BYTES_MIN) per snapshot.
    pub fn set_bytes_per_second(&mut self, most: u32) {
        self.rate.set_most(most);
    }

    /// Returns the controller of the client's send rate.
    pub fn rate(&self) -> &SendRate {
        &self.rate
    }

    /// Whether a snapshot would now wait on the path, so that it is better skipped.
    pub fn is_path_full(&mut self, now: LocalTime) -> bool {
        self.rate.available(now) == 0
    }

    /// Returns how many bytes may be in flight at once.
    pub fn window(&mut self, now: LocalTime) -> PathWindow {
        self.rate.window(now)
    }

    /// Returns the number of relevant entities that did not fit into the newest snapshot.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Handles how long a packet and its answer took.
    pub fn handle_ways(&mut self, now: LocalTime, ways: Ways) {
        self.rate.handle_ways(now, ways);
    }

    /// Handles an acknowledgement and returns the sequence number of its newest packet.
    ///
    /// # Errors
    ///
    /// The packet was never sent.
    pub fn handle_ack(&mut self, now: LocalTime, ack: Ack) -> Result<u64, NeverSent> {
        // The sequence number with these low bits that is nearest to the next one.
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
        // Most were acknowledged before.
        let mut fresh = ack.mask & !self.acked.before(newest);
        while fresh != 0 {
            self.arrived(now, newest - u64::from(fresh.trailing_zeros()) - 1);
            fresh &= fresh - 1;
        }
        self.lose(now, newest);
        Ok(newest)
    }

    /// Returns the number of the oldest remembered packet. Numbers have no gaps.
    fn oldest(&self) -> u64 {
        self.next_seq - self.sent.len() as u64
    }

    fn arrived(&mut self, now: LocalTime, seq: u64) {
        self.acked.insert(seq);
        let at = seq.checked_sub(self.oldest());
        let Some(packet) = at.and_then(|at| self.sent.get_mut(at as usize)) else {
            return; // Removed; later ones will be acknowledged.
        };
        match std::mem::replace(&mut packet.fate, Fate::Arrived) {
            Fate::Arrived => return,
            Fate::Unknown => self.rate.handle_acked(now, packet.at, packet.bytes),
            Fate::Lost => {} // The loss has been handled.
        }
        self.arrived.insert(packet.frame);
        self.knowledge.handle_acked(packet.frame, &packet.content);
        self.space.contents.push(take(&mut packet.content));
    }

    /// Declares packets lost that were sent long enough before one that arrived.
    fn lose(&mut self, now: LocalTime, newest: u64) {
        // Earlier packets may have arrived before their reader was ready.
        let heard_from = *self.heard_from.get_or_insert_with(|| {
            let first = self.sent.iter().find(|packet| packet.fate == Fate::Arrived);
            first.map_or(newest, |packet| packet.seq)
        });
        let oldest = self.oldest();
        let place = |seq: u64| seq.saturating_sub(oldest) as usize;
        let settled = (newest + 1).saturating_sub(REORDERED_MAX).max(self.settled);
        let undecided = place(self.settled)..place(settled);
        self.settled = settled;
        for packet in self.sent.range_mut(undecided) {
            if packet.fate != Fate::Unknown {
                continue;
            }
            packet.fate = Fate::Lost;
            if packet.seq > heard_from {
                self.rate.handle_lost(now, packet.at);
            }
            take_back(&mut packet.content, &mut self.knowledge, &mut self.priorities);
        }
        // Packets that no acknowledgement can reach any more.
        let reach = settled.saturating_sub(ACK_REACH);
        while self.oldest() < reach
            && let Some(packet) = self.sent.pop_front()
        {
            if packet.fate == Fate::Lost {
                self.space.contents.push(packet.content);
            }
        }
    }

    /// Begins a snapshot: finds the references of most of its entities, and a place for their
    /// encodings.
    pub fn begin<G: Game>(&self, encodings: &mut Encodings<G>, history: &History) -> Begun {
        let Some(frame) = history.newest() else { return Begun::default() };
        encodings.begin(history, frame);
        let references = self.references(encodings.codec(), history, frame);
        Begun { references, strand: encodings.strand(frame, &references) }
    }

    /// Packs the newest snapshot, as [begun](Self::begin), into packets, with as many relevant
    /// entities as fit. At least one packet is sent, since it carries the clock.
    pub fn pack<G: Game>(
        &mut self,
        shared: &Shared<'_, G>,
        begun: Begun,
        departure: Departure<'_>,
        mut send: impl FnMut(Vec<u8>),
    ) {
        let Departure { relevant, now, packet_bytes, .. } = departure;
        let Some(frame) = shared.history.newest() else { return };
        let source = Source { game: shared.game, history: shared.history, frame };
        let (encodings, early) = (shared.encodings, shared.early);
        let scene = Scene { source, encodings, begun, early, reach: departure.early };
        let references = begun.references.references;
        let silent = self.silent(shared.encodings);
        let header = SnapshotHeader { tick: frame.tick, references, silent, ..departure.header };
        let departure = Departure { header, ..departure };
        let size = Size { packet: packet_bytes, snapshot: self.rate.available(now) };
        let mut space = take(&mut self.space);
        self.knowledge.forget(shared.history, self.reader);
        self.list(&scene, &mut space, relevant);
        let has_order = self.fill(&scene, &mut space, &departure, size);
        self.left_out = space.listed.count() - space.chosen.len();
        self.cursor = match space.packets.as_slice() {
            [.., last] if space.packets.len() > 1 => {
                space.chosen.get(space.chosen.len() - last.count).map_or(0, |first| first.index)
            }
            _ => 0,
        };
        let (mut all, mut packets) = (take(&mut space.chosen), take(&mut space.packets));
        let mut chosen = all.drain(..);
        for packet in packets.drain(..) {
            let mut content = space.contents.pop().unwrap_or_default();
            content.clear();
            if has_order || packet.count < space.listed.count() {
                let said = chosen.by_ref().take(packet.count).map(|chosen| {
                    (chosen.index, !matches!(chosen.coded, Coded::Gone | Coded::Hidden))
                });
                content.fill(said, has_order.then_some(&mut self.priorities));
            } else {
                content.there.set(&space.listed);
                content.there.subtract(&space.ended);
                content.away.extend(space.ended.iter());
            }
            let resting = space.unsure.iter();
            content.resting.extend(resting.filter(|index| content.there.contains(*index)));
            self.knowledge.handle_sent(frame.number, &content);
            let (frame, bytes, fate) = (frame.number, packet.bytes.len(), Fate::Unknown);
            let sent = SentPacket { seq: self.next_seq, frame, at: now, bytes, fate, content };
            self.remember(&mut space, sent);
            send(packet.bytes);
        }
        drop(chosen);
        space.others.clear();
        (space.chosen, space.packets) = (all, packets);
        self.space = space;
    }

    /// Remembers a packet that leaves now, and removes the oldest if there is no space for another.
    fn remember(&mut self, space: &mut Space, sent: SentPacket) {
        if self.sent.len() == SENT_PACKETS_MAX
            && let Some(mut forgotten) = self.sent.pop_front()
        {
            // Otherwise its removals would count as in flight forever.
            if forgotten.fate == Fate::Unknown {
                take_back(&mut forgotten.content, &mut self.knowledge, &mut self.priorities);
                space.contents.push(forgotten.content);
            }
        }
        self.next_seq += 1;
        self.rate.handle_sent(sent.at, sent.bytes);
        self.sent.push_back(sent);
    }

    /// Returns the kinds that the client's snapshots may leave out.
    fn silent<G: Game>(&self, encodings: &Encodings<G>) -> KindSet {
        if self.reads_silence { encodings.silence().kinds() } else { KindSet::NONE }
    }

    /// Lists what to send: relevant entities, and those that the client must remove.
    fn list<G: Game>(&mut self, scene: &Scene<'_, G>, space: &mut Space, relevant: &[Relevant]) {
        let Space { listed, ended, resting, unsure, .. } = space;
        let Scene { source, encodings, .. } = scene;
        listed.clear();
        relevant.iter().for_each(|told| listed.insert(told.index));
        listed.keep(encodings.there());
        self.knowledge.write_ended(listed, ended);
        resting.set(encodings.resting());
        resting.keep(listed);
        let silent = self.silent(encodings);
        let settled = self.knowledge.settled(source.frame, encodings.changed(), resting);
        listed.subtract(settled);
        unsure.set(resting);
        unsure.subtract(settled);
        let owns = |state: &EntityState| state.owner == Some(self.reader);
        debug_assert!(
            resting.iter().filter(|index| !unsure.contains(*index)).all(|index| {
                let own = source.frame.get(index).is_some_and(owns);
                self.knowledge.known_until(source, index, own).is_some()
            }),
            "settled entities are known"
        );
        for index in unsure.iter() {
            let Some(state) = source.frame.get(index) else { continue };
            let own = owns(state);
            let is_known = match encodings.codec().is_stepwise(state.kind) {
                true => {
                    let until = self.knowledge.known_until(source, index, own);
                    until.inspect(|until| self.knowledge.settle(index, *until)).is_some()
                }
                false => {
                    silent.contains(state.kind)
                        && !own
                        && self.knowledge.is_unsaid(encodings, source, index, state.kind)
                }
            };
            if is_known {
                listed.remove(index);
            }
        }
        listed.add(ended);
    }

    /// Returns the references of most entities: the newest snapshot that arrived, and some before
    /// it.
    fn references<G: Game>(
        &self,
        codec: &Codec<G>,
        history: &History,
        frame: &WorldFrame,
    ) -> ReferenceSet {
        let mut set = ReferenceSet::default();
        let mut push = |number: u64| {
            let then = history.numbered(number);
            then.is_some_and(|then| set.push(frame, then))
        };
        let Some(newest) = self.arrived.newest().filter(|newest| push(*newest)) else {
            return set;
        };
        let mut before = newest;
        for back in REFERENCES_BACK.into_iter().filter(|_| codec.follows_trends()) {
            let older = newest.checked_sub(back).and_then(|at| self.arrived.at_most(at));
            let Some(number) = older else { break };
            if number < before {
                if !push(number) {
                    break;
                }
                before = number;
            }
        }
        set
    }
}

/// Queues a packet's content again after a loss, or without a known fate.
fn take_back(content: &mut Content, knowledge: &mut Knowledge, priorities: &mut Priorities) {
    knowledge.handle_lost(content);
    for (index, owed) in content.owed.drain(..) {
        priorities.lost(index, owed);
    }
}

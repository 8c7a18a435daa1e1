//! The server's knowledge of one client: its states, the packets under way, and the next ones.

use std::collections::VecDeque;
use std::mem::take;

use super::encodings::{Encodings, ReferenceSet, Source};
use super::history::{Frame, History};
use super::plan::{Said, Scene, Size, Space};
use super::presence::Presence;
use super::priority::Priorities;
use super::recent::Recent;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::interest::Relevant;
use crate::limits::SENT_PACKETS_MAX;
use crate::path::{PathWindow, SendRate};
use crate::time::{LocalTime, Micros};
use crate::wire::extrapolation::REFERENCES_MAX;
use crate::wire::input::Ack;
use crate::wire::snapshot::SnapshotHeader;
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
    pub(super) reader: PlayerId,
    pub(super) next_seq: u64,
    pub(super) presences: Vec<Presence>,
    sent: VecDeque<SentPacket>,
    pub(super) priorities: Priorities,
    rate: SendRate,
    /// First packet that arrived, as of the first acknowledgement.
    heard_from: Option<u64>,
    /// The fate of all packets before this one is known.
    settled: u64,
    /// Snapshots of which any packet arrived.
    arrived: Recent,
    /// Entity that the next snapshot starts with: the first of the last packet, so that no regular
    /// loss always hits the same entities.
    pub(super) cursor: u16,
    pub(super) left_out: usize,
    space: Space,
}

/// The newest snapshot, as all clients share it.
#[derive(Debug)]
pub struct Shared<'a, G> {
    /// Its encodings, in which all clients' snapshots were [begun](Sender::begin).
    pub encodings: &'a Encodings<G>,
    /// Rules.
    pub game: &'a G,
    /// The snapshots so far.
    pub history: &'a History,
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
            settled: 0,
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

    /// True if a snapshot now would wait on the path, and so is better left out.
    pub fn is_path_full(&mut self, now: LocalTime) -> bool {
        self.rate.available(now) == 0
    }

    /// Bytes that may be on their way at once.
    pub fn window(&mut self, now: LocalTime) -> PathWindow {
        self.rate.window(now)
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
        // Numbers have no gaps.
        let at = self.sent.front().and_then(|oldest| seq.checked_sub(oldest.seq));
        let Some(packet) = at.and_then(|at| self.sent.get_mut(at as usize)) else {
            return; // Forgotten; younger ones will be acknowledged.
        };
        match std::mem::replace(&mut packet.fate, Fate::Arrived) {
            Fate::Arrived => return,
            Fate::Unknown => self.rate.handle_acked(now, packet.at, packet.bytes),
            Fate::Lost => {} // The loss is dealt with.
        }
        self.arrived.insert(packet.frame);
        let frame = packet.frame;
        let mut entities = take(&mut packet.entities);
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
        let heard_from = *self.heard_from.get_or_insert_with(|| {
            let first = self.sent.iter().find(|packet| packet.fate == Fate::Arrived);
            first.map_or(newest, |packet| packet.seq)
        });
        let oldest = self.sent.front().map_or(self.next_seq, |packet| packet.seq);
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
            packet.take_back(&mut self.presences, &mut self.priorities);
        }
    }

    /// Begins and packs the newest snapshot of a client alone; see [`pack`](Self::pack).
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
        send: impl FnMut(Vec<u8>),
    ) {
        let begun = self.begin(encodings, history);
        let shared = Shared { encodings, game, history };
        self.pack(&shared, begun, relevant, header, now, packet_bytes, send);
    }

    /// Begins a snapshot: finds the references of most of its entities, and a place for what is
    /// coded from them.
    pub fn begin<G: Game>(&self, encodings: &mut Encodings<G>, history: &History) -> Begun {
        let Some(frame) = history.newest() else { return Begun::default() };
        encodings.begin(frame);
        let references = self.references(encodings.codec(), history, frame);
        Begun { references, set: encodings.set(frame, references) }
    }

    /// Packs the newest snapshot, as [begun](Self::begin), into packets of at most `packet_bytes`:
    /// as much as fits of what is `relevant`, by rising indices. `header` lacks its sequence number
    /// and references. At least one packet goes out, since it carries the clock.
    #[expect(clippy::too_many_arguments, reason = "a snapshot depends on all of this")]
    pub fn pack<G: Game>(
        &mut self,
        shared: &Shared<'_, G>,
        begun: Begun,
        relevant: &[Relevant],
        header: SnapshotHeader,
        now: LocalTime,
        packet_bytes: usize,
        mut send: impl FnMut(Vec<u8>),
    ) {
        let Some(frame) = shared.history.newest() else { return };
        let source = Source { game: shared.game, history: shared.history, frame };
        let scene = Scene { source, encodings: shared.encodings, begun };
        self.priorities.begin();
        self.enlist(&scene, relevant);
        let references = begun.references.references;
        let header = SnapshotHeader { tick: frame.tick, references, ..header };
        let size = Size { packet: packet_bytes, snapshot: self.rate.available(now) };
        let mut space = take(&mut self.space);
        self.fill(&scene, &mut space, header, size);
        self.left_out = self.priorities.listed().len() - space.chosen.len();
        self.cursor = match space.packets.as_slice() {
            [.., last] if space.packets.len() > 1 => {
                space.chosen.get(space.chosen.len() - last.count).map_or(0, |first| first.index)
            }
            _ => 0,
        };
        let (mut all, mut packets) = (take(&mut space.chosen), take(&mut space.packets));
        let mut chosen = all.drain(..);
        for packet in packets.drain(..) {
            let mut entities = space.lists.pop().unwrap_or_default();
            entities.extend(chosen.by_ref().take(packet.count).map(|chosen| {
                let track = &mut self.presences[usize::from(chosen.index)];
                let owed = self.priorities.sent(chosen.index);
                let said = if chosen.coded.is_there() {
                    track.there = Some(frame.number);
                    track.leaving = false;
                    Said::There(Some(owed))
                } else {
                    track.leaving = true;
                    track.away = Some(frame.number);
                    Said::Away
                };
                (chosen.index, said)
            }));
            self.remember(&mut space, frame.number, now, packet.bytes.len(), entities);
            send(packet.bytes);
        }
        drop(chosen);
        space.others.clear();
        (space.chosen, space.packets) = (all, packets);
        self.space = space;
    }

    /// Remembers a packet that leaves now, and forgets the oldest if there is no room for another.
    fn remember(
        &mut self,
        space: &mut Space,
        frame: u64,
        now: LocalTime,
        bytes: usize,
        entities: Vec<(u16, Said)>,
    ) {
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
        let (seq, fate) = (self.next_seq, Fate::Unknown);
        self.next_seq += 1;
        self.sent.push_back(SentPacket { seq, frame, at: now, bytes, fate, entities });
        self.rate.handle_sent(now, bytes);
    }

    /// Lists what there is to send: relevant entities, and those that the client must forget.
    fn enlist<G: Game>(&mut self, scene: &Scene<'_, G>, relevant: &[Relevant]) {
        let (codec, source) = (scene.encodings.codec(), &scene.source);
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
    fn references<G: Game>(
        &self,
        codec: &Codec<G>,
        history: &History,
        frame: &Frame,
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

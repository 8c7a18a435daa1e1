//! A member in one game: its incoming input packets and outgoing snapshots.

use crate::fields::Record;
use crate::game::{Game, Inputs};
use crate::interest::Relevant;
use crate::limits::EARLY_WAY_MAX;
use crate::path::PathWindow;
use crate::snapshot::early::EarlyReach;
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::{Begun, Departure, Sender, Shared};
use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use crate::wire::mark_game;
use crate::wire::snapshot::{EarlySteering, KindSet, References, SnapshotHeader};

use super::clock::RoomTime;
use super::interest::PlayerInterest;
use super::member::Member;
pub(super) use uplink::DatagramError;
use uplink::Uplink;

mod uplink;

/// Whether a member plays or watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Play,
    Watch,
}

/// A member in one game.
#[derive(Debug)]
pub(super) struct Seated<I> {
    member: Member,
    /// Index of the game in the server's rotation, modulo 256, as the client counts it.
    game: u8,
    uplink: Uplink<I>,
    sender: Sender,
    interest: PlayerInterest,
    /// Kinds of entities whose early steering the client wants to know.
    early: KindSet,
}

/// The newest snapshot, as it leaves for all clients that see the world at the same time.
#[derive(Debug)]
pub(super) struct Scene<'a, G: Game> {
    pub(super) game: &'a G,
    pub(super) history: &'a History,
    pub(super) early: &'a EarlySteering,
    pub(super) rates: Rates,
    pub(super) trained: &'a Encodings<G>,
    /// Encodings for clients with plain coding, if there are any.
    pub(super) plain: Option<&'a Encodings<G>>,
    /// Entities that are sent to all; `None` if each client is sent what it sees.
    pub(super) sent_to_all: Option<&'a [Relevant]>,
    pub(super) now: LocalTime,
    /// The server's time as these clients see it.
    pub(super) server_time: ServerTime,
}

impl<I: Record> Seated<I> {
    /// Seats a member in the game with this index in the rotation.
    pub(super) fn new<G: Game<Input = I>>(
        mut member: Member,
        game: u8,
        rates: Rates,
        part: Part,
    ) -> Self {
        // Packet numbers start at 0 again.
        member.timing_mut().restart();
        let game = member.attendance().number(game);
        let delivery = member.delivery();
        let sender = Sender::new(member.person().player(), delivery.rate().clone());
        Self {
            game,
            uplink: Uplink::new(game, G::LATE, part == Part::Watch),
            sender: sender.reading_silence(delivery.reads_silence()),
            interest: PlayerInterest::new(rates),
            early: KindSet::NONE,
            member,
        }
    }

    /// Ends the game, and keeps what was measured about the client's path and clock.
    pub(super) fn into_member(self) -> Member {
        let Self { mut member, sender, .. } = self;
        member.delivery_mut().set_rate(sender.rate().clone());
        member
    }

    /// Sets the maximum rate of snapshots in bytes per second.
    pub(super) fn set_bytes_per_second(&mut self, most: u32) {
        self.sender.set_bytes_per_second(most);
    }

    pub(super) fn member(&self) -> &Member {
        &self.member
    }

    pub(super) fn member_mut(&mut self) -> &mut Member {
        &mut self.member
    }

    /// Discards what was measured and sent before tick 0 moved.
    pub(super) fn handle_epoch(&mut self, epoch: u8) {
        self.member.timing_mut().handle_epoch(epoch);
        self.uplink.restart(self.sender.next_seq());
    }

    /// Handles a datagram. An error means that only the member's allowance has changed.
    pub(super) fn handle_datagram(
        &mut self,
        bytes: &[u8],
        time: RoomTime,
    ) -> Result<(), DatagramError> {
        self.uplink.handle_datagram(&mut self.member, &mut self.sender, bytes, time)
    }

    /// Adds the member's steps in the tick that runs next, with view times at most `rewind_most`
    /// old.
    pub(super) fn take<G: Game<Input = I>>(
        &mut self,
        rates: Rates,
        tick: Tick,
        rewind_most: Micros,
        inputs: &mut Inputs<I>,
    ) {
        self.uplink.take::<G>(&mut self.member, rates, (tick, rewind_most), inputs);
    }

    /// Returns the player's inputs for the ticks after the last one that ran, up to the first
    /// missing one, while the world is at tick `now`.
    pub(super) fn ahead(&self, now: Tick) -> impl Iterator<Item = I> + Clone {
        self.uplink.ahead(now)
    }

    /// Returns the kinds of entities whose early steering the client wants to know.
    pub(super) fn early(&self) -> KindSet {
        self.early
    }

    /// Sets the kinds of entities whose early steering the client wants to know.
    pub(super) fn set_early(&mut self, kinds: KindSet) {
        self.early = kinds;
    }

    /// Returns what the client is told of how entities will be steered: what it needs to show the
    /// present until the snapshot after the next one arrives. It depends on no clock of the client.
    fn early_reach(&self, rates: Rates) -> EarlyReach {
        let way_down = self.member.timing().way_down();
        let Some(way_down) = way_down.filter(|_| !self.early.is_empty()) else {
            return EarlyReach::NONE;
        };
        let needed = way_down.min(EARLY_WAY_MAX).0 + 2 * rates.snapshot_interval().0;
        let ticks = needed.max(0) / rates.step().0.max(1) + 1;
        EarlyReach { kinds: self.early, ticks: ticks.cast_unsigned() }
    }

    /// Whether the newest snapshot would have to wait for the path.
    pub(super) fn is_path_full(&mut self, now: LocalTime) -> bool {
        self.sender.is_path_full(now)
    }

    /// Returns how many bytes may be in flight to the client.
    pub(super) fn window(&mut self, now: LocalTime) -> PathWindow {
        self.sender.window(now)
    }

    /// Returns what the player sees, to be updated once per snapshot.
    pub(super) fn interest_mut(&mut self) -> &mut PlayerInterest {
        &mut self.interest
    }

    /// Returns the entities that the player is sent in the newest snapshot.
    pub(super) fn sent(&self) -> &[Relevant] {
        self.interest.sent()
    }

    /// Begins the newest snapshot.
    pub(super) fn begin_snapshot<G: Game>(
        &self,
        encodings: &mut Encodings<G>,
        history: &History,
    ) -> Begun {
        self.sender.begin(encodings, history)
    }

    /// Packs the begun snapshot into packets that leave now.
    pub(super) fn pack_snapshot<G: Game>(
        &mut self,
        scene: &Scene<'_, G>,
        begun: Begun,
        mut send: impl FnMut(Vec<u8>),
    ) {
        let Scene { game, history, early, now, server_time, .. } = *scene;
        let tick = history.newest().map(|frame| frame.tick).unwrap_or_default();
        let header = SnapshotHeader {
            seq: 0,
            tick: Tick(0),
            sent: server_time.low(),
            echo: self.uplink.echo(now),
            perceived: self.member.timing().perceived(server_time),
            inputs: self.uplink.report(tick, self.member.stats().missing),
            references: References::NONE,
            silent: KindSet::NONE,
        };
        let delivery = self.member.delivery();
        let plain = scene.plain.filter(|_| delivery.is_plain());
        let encodings = plain.unwrap_or(scene.trained);
        let shared = Shared { encodings, game, history, early };
        let relevant = scene.sent_to_all.unwrap_or_else(|| self.interest.sent());
        let early = self.early_reach(scene.rates);
        let packet_bytes = delivery.datagram_bytes();
        let departure = Departure { relevant, header, now, packet_bytes, early };
        let first = self.sender.next_seq();
        let (mut packets, mut bytes) = (0, 0);
        self.sender.pack(&shared, begun, departure, |mut packet| {
            mark_game(&mut packet, self.game);
            packets += 1;
            bytes += packet.len() as u64;
            send(packet);
        });
        let view = self.member.timing_mut().view_mut();
        for seq in first..self.sender.next_seq() {
            view.handle_sent(seq, tick);
        }
        let stats = self.member.stats_mut();
        stats.packets += packets;
        stats.bytes += bytes;
        stats.left_out += self.sender.left_out() as u64;
        stats.rate = self.sender.rate().bytes_per_second();
    }
}

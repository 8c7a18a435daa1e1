//! Distribution of the newest snapshot: what each client is sent, and its packets.
//!
//! The packets of all clients are packed together, on as many threads as the host provides, and
//! stamped one by one as they leave.

use crate::game::Game;
use crate::motion::send_rule::SendRule;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::snapshot::stamp;

use super::config::RoomConfig;
use super::feed::{Leaving, SnapshotFeed};
use super::gallery::Gallery;
use super::host::Host;
use super::interest::Interest;
use super::output::{ClientId, Output};
use super::seats::Seats;
use super::simulation::Simulation;

/// Snapshots of a room for its players and spectators.
#[derive(Debug)]
pub(super) struct Broadcast<G: Game> {
    feed: SnapshotFeed<G>,
    interest: Interest<G>,
    gallery: Gallery<G>,
    /// First tick for which a snapshot can be made, if the previous one has been sent to all.
    next_snapshot: Tick,
    /// Whether any were packed since the last tick.
    has_packed: bool,
}

impl<G: Game> Broadcast<G> {
    /// Creates the state for a game that begins at `tick`.
    pub(super) fn new(config: &RoomConfig, tick: Tick) -> Self {
        Self {
            feed: SnapshotFeed::new(config.rates),
            interest: Interest::default(),
            gallery: Gallery::new(config),
            next_snapshot: config.rates.next_snapshot(tick),
            has_packed: false,
        }
    }

    /// Returns the spectators' view of the world.
    pub(super) fn gallery(&self) -> &Gallery<G> {
        &self.gallery
    }

    pub(super) fn gallery_mut(&mut self) -> &mut Gallery<G> {
        &mut self.gallery
    }

    /// Sets the rule by which a kind is sent.
    pub(super) fn set_rule(&mut self, kind: u8, rule: SendRule) {
        self.feed.set_rule(kind, rule);
        self.gallery.set_rule(kind, rule);
    }

    /// Stops sending snapshots to a client.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.feed.forget(client);
        self.gallery.forget(client);
    }

    /// Notes that a tick has run.
    pub(super) fn handle_tick(&mut self) {
        self.has_packed = false;
    }

    /// Returns how many ticks late the snapshot is when the world is at `now`; `None` before it is
    /// due.
    pub(super) fn lateness(&self, now: Tick) -> Option<u64> {
        (now >= self.next_snapshot).then(|| now.since(self.next_snapshot))
    }

    /// Whether the next snapshot may be made: its tick has run, and the previous one has been sent
    /// to all. Datagrams are stamped with the newest snapshot, so none of an older one may be
    /// queued.
    pub(super) fn is_due(&self, now: Tick, host: &Host) -> bool {
        now >= self.next_snapshot && self.feed.is_sent() && !host.mailbox().has_datagrams()
    }

    /// Records the world for the next snapshot and determines which entities each client is sent.
    pub(super) fn make_snapshot(
        &mut self,
        simulation: &Simulation<G>,
        seats: &mut Seats<G>,
        config: &RoomConfig,
    ) {
        let tick = simulation.tick();
        self.next_snapshot = config.rates.next_snapshot(tick);
        self.feed.record(tick, simulation.entities());
        let seated = seats.players_mut().seated_mut().map(|(_, seated)| seated);
        let told = seated.filter(|seated| seated.member().is_here()).map(|seated| {
            let player = seated.member().person().player();
            (player, seated.interest_mut())
        });
        self.interest.update(simulation.game(), simulation.world(), config.workers(), told);
        self.feed.record_early(tick, simulation.entities(), seats.players().seated());
        self.feed.address(seats.players().present().map(|(client, _)| client));
        self.gallery.record(simulation, seats.watchers(), config.settings.watchers_max);
    }

    /// Packs the newest snapshot for the next clients, unless outputs are queued or a tick is due.
    pub(super) fn pack(
        &mut self,
        simulation: &Simulation<G>,
        seats: &mut Seats<G>,
        host: &mut Host,
        leaving: Leaving<'_>,
    ) {
        let game = simulation.game();
        let next_tick = host.time_of(simulation.tick().plus(1));
        // Ticks take precedence over snapshots, but some snapshots go between any two.
        while host.mailbox().is_empty() && (!self.has_packed || leaving.now < next_tick) {
            if !self.feed.is_sent() {
                let players = seats.players_mut();
                self.feed.pack(game, players, leaving, host.packing());
            } else if !self.gallery.is_sent() {
                self.gallery.pack(game, seats.watchers_mut(), leaving, host.packing());
            } else {
                break;
            }
            self.has_packed = true;
        }
    }

    /// Stamps packets that leave now.
    pub(super) fn stamped(
        &self,
        host: &Host,
        seats: &Seats<G>,
        now: LocalTime,
        mut output: Output,
    ) -> Output {
        if let Output::Datagram { client, bytes } = &mut output
            && let (newest, delay) = match seats.watchers().has(*client) {
                true => (self.gallery.newest(), self.gallery.delay()),
                false => (self.feed.newest(), Micros::ZERO),
            }
            && let Some(tick) = newest
        {
            stamp(bytes, host.rates(), tick, host.server_time(now) - delay);
        }
        output
    }
}

//! The world as spectators see it: delayed.
//!
//! *Invariants:*
//! - Spectators' snapshots contain only states that have left the [`Reel`], so nothing in them is
//!   younger than the delay.
//! - A spectator's packets change only its own clock and acknowledgements.
//! - Players' snapshots are packed before those of spectators.

use std::collections::VecDeque;

use super::config::RoomConfig;
use super::feed::{Leaving, SnapshotFeed};
use super::mailbox::Mailbox;
use super::output::ClientId;
use super::reel::Reel;
use super::seats::Occupants;
use super::simulation::Simulation;
use super::workers::Workers;
use crate::game::{Game, Relevance};
use crate::interest::Lingering;
use crate::limits::{WATCH_DELAY_MAX, WATCH_EVENT_BYTES_MAX, WATCH_EVENTS_MAX, WEIGHT_MAX};
use crate::motion::send_rule::SendRule;
use crate::time::{Micros, Rates, Tick};

/// The world as spectators see it.
#[derive(Debug)]
pub(super) struct Gallery<G: Game> {
    /// The delay: a whole number of snapshots.
    delay: Micros,
    delay_ticks: u64,
    reel: Reel<G::Entity>,
    feed: SnapshotFeed<G>,
    /// Entities that all spectators are sent.
    lingering: Lingering,
    /// Scratch space: indices of all entities.
    everything: Vec<u16>,
    /// Events of the game that are not old enough, with their ticks.
    events: VecDeque<(Tick, Vec<u8>)>,
    event_bytes: usize,
}

impl<G: Game> Gallery<G> {
    /// Creates the state for a game that begins.
    pub(super) fn new(config: &RoomConfig) -> Self {
        let rates = config.rates;
        let wished = config.settings.watch_delay.unwrap_or(G::KIT.watch_delay);
        let delay_ticks = ticks_of(rates, wished.clamp(Micros::ZERO, WATCH_DELAY_MAX));
        Self {
            delay: Micros(rates.time_of(Tick(delay_ticks)).0).min(WATCH_DELAY_MAX),
            delay_ticks,
            reel: Reel::new(delay_ticks),
            feed: SnapshotFeed::new(rates),
            lingering: Lingering::new(rates),
            everything: Vec::new(),
            events: VecDeque::new(),
            event_bytes: 0,
        }
    }

    /// Sets the rule by which a kind is sent.
    pub(super) fn set_rule(&mut self, kind: u8, rule: SendRule) {
        self.feed.set_rule(kind, rule);
    }

    /// Returns the delay: a whole number of snapshots.
    pub(super) fn delay(&self) -> Micros {
        self.delay
    }

    /// Returns the tick that spectators see when the world is at `now`, at least tick 0.
    pub(super) fn tick(&self, now: Tick) -> Tick {
        now.minus(self.delay_ticks)
    }

    /// Records the world of a snapshot, and makes the spectators' snapshot if there is a new one.
    pub(super) fn record(
        &mut self,
        simulation: &Simulation<G>,
        watchers: &Occupants<G::Input>,
        watchers_max: u16,
    ) {
        if watchers_max == 0 && watchers.is_empty() {
            return;
        }
        let tick = simulation.tick();
        self.reel.record(tick, simulation.entities());
        if !self.reel.advance(tick) || watchers.is_empty() {
            return;
        }
        let Some((tick, entities)) = self.reel.shown() else { return };
        self.feed.record(tick, entities);
        self.everything.clear();
        self.everything.extend(entities.iter().map(|slot| slot.id.index));
        self.lingering.update(tick, &self.everything, |index| {
            let Some(slot) = entities.at(index) else { return (0, Some(0)) };
            let weight = match simulation.game().relevance_to_watchers(entities, slot) {
                Relevance::Secret => 0,
                // Spectators may look anywhere.
                Relevance::Idle => 1,
                Relevance::Matters(weight) => weight.clamp(1, WEIGHT_MAX),
            };
            (slot.id.generation, Some(weight))
        });
        self.feed.address(watchers.present().map(|(client, _)| client));
    }

    /// Whether all spectators have been sent the newest snapshot.
    pub(super) fn is_sent(&self) -> bool {
        self.feed.is_sent()
    }

    /// Stops sending snapshots to a client.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.feed.forget(client);
    }

    /// Returns the tick of the newest snapshot.
    pub(super) fn newest(&self) -> Option<Tick> {
        self.feed.newest()
    }

    /// Packs the newest snapshot for the next spectators; `leaving` has the players' server time.
    pub(super) fn pack(
        &mut self,
        game: &G,
        watchers: &mut Occupants<G::Input>,
        leaving: Leaving<'_>,
        packing: (&dyn Workers, &mut Mailbox),
    ) {
        let server_time = leaving.server_time - self.delay;
        let leaving = Leaving { server_time, sent_to_all: Some(self.lingering.sent()), ..leaving };
        self.feed.pack(game, watchers, leaving, packing);
    }

    /// Keeps an event of the game until it is old enough. `has_watchers` says whether any spectator
    /// will receive it.
    pub(super) fn keep_event(&mut self, tick: Tick, event: &[u8], has_watchers: bool) {
        if !has_watchers {
            return;
        }
        self.event_bytes += event.len();
        self.events.push_back((tick, event.to_vec()));
        while self.events.len() > WATCH_EVENTS_MAX || self.event_bytes > WATCH_EVENT_BYTES_MAX {
            let lost = self.events.pop_front();
            self.event_bytes -= lost.map_or(0, |(_, event)| event.len());
        }
    }

    /// Takes the next event that is old enough when the world is at `now`.
    pub(super) fn poll_event(&mut self, now: Tick) -> Option<Vec<u8>> {
        let until = now.0.checked_sub(self.delay_ticks)?;
        let (_, event) = self.events.pop_front_if(|(tick, _)| tick.0 <= until)?;
        self.event_bytes -= event.len();
        Some(event)
    }
}

/// Rounds a time up to whole snapshots, in ticks.
fn ticks_of(rates: Rates, span: Micros) -> u64 {
    let ticks = (span.0.unsigned_abs() * u64::from(rates.tick_hz)).div_ceil(1_000_000);
    ticks.next_multiple_of(rates.ticks_per_snapshot())
}

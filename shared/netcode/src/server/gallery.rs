//! Those who watch a room: they hold no seat, and see the world as it was a while ago.
//!
//! A watcher is a member like others, but in another list: whatever counts players, or steps them,
//! does not find it there.
//!
//! *Invariants:*
//! - All that a watcher's snapshots say of the world is of states that have left the [`Reel`], so
//!   nothing is younger than the delay.
//! - A watcher's packets change nothing but its own clock and acknowledgements.
//! - Players' snapshots are packed before those of watchers.

use std::collections::{BTreeMap, VecDeque};

use super::member::{Member, Seated};
use super::output::ClientId;
use super::reel::Reel;
use super::rotation::Host;
use crate::fields::Entities;
use crate::game::{Game, Relevance};
use crate::interest::Lingering;
use crate::limits::{
    WATCH_DELAY_MAX, WATCH_EVENT_BYTES_MAX, WATCH_EVENTS_MAX, WATCHERS_MAX, WEIGHT_MAX,
};
use crate::motion::send_rule::SendRule;
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::Begun;
use crate::time::{Micros, Rates, Tick};
use crate::wire::state::Codec;

/// The watchers of a room, and the world as they see it.
#[derive(Debug)]
pub(super) struct Gallery<G: Game> {
    /// Time by which the world is seen late: whole snapshots.
    pub(super) delay: Micros,
    delay_ticks: u64,
    reel: Reel<G::Entity>,
    pub(super) history: History,
    pub(super) encodings: Encodings<G>,
    /// The same for clients with plain coding, from the first one on.
    pub(super) plain_encodings: Option<Encodings<G>>,
    /// The same for all of them.
    pub(super) told: Lingering,
    everything: Vec<u16>,
    pub(super) watchers: BTreeMap<ClientId, Seated<G::Input>>,
    /// Watchers that have not got the newest snapshot yet.
    pub(super) due: VecDeque<ClientId>,
    /// Memory for those of whom the snapshot is packed.
    pub(super) begun: Vec<(ClientId, Begun)>,
    /// Events of the game that are not old enough, with their ticks.
    events: VecDeque<(Tick, Vec<u8>)>,
    event_bytes: usize,
    /// First tick at which seats are looked at again.
    pub(super) next_look: Tick,
}

impl<G: Game> Gallery<G> {
    /// Of a game that begins, with nobody in it.
    pub(super) fn new(host: &Host) -> Self {
        let rates = host.config.rates;
        let wished = host.config.watch_delay.unwrap_or(G::KIT.watch_delay);
        let delay_ticks = ticks_of(rates, wished.clamp(Micros::ZERO, WATCH_DELAY_MAX));
        Self {
            delay: Micros(rates.time_of(Tick(delay_ticks)).0).min(WATCH_DELAY_MAX),
            delay_ticks,
            reel: Reel::new(delay_ticks),
            history: History::default(),
            encodings: Encodings::new(Codec::new(rates)),
            plain_encodings: None,
            told: Lingering::new(rates),
            everything: Vec::new(),
            watchers: BTreeMap::new(),
            due: VecDeque::new(),
            begun: Vec::new(),
            events: VecDeque::new(),
            event_bytes: 0,
            next_look: Tick(0),
        }
    }

    /// Sends a kind by another rule from now on.
    pub(super) fn send_by(&mut self, kind: u8, rule: SendRule) {
        self.encodings.set_rule(kind, rule);
    }

    /// Watchers with a connection.
    pub(super) fn present(&self) -> impl Iterator<Item = ClientId> {
        let here = |seated: &Seated<_>| seated.member.away_until.is_none();
        self.watchers.iter().filter(move |(_, seated)| here(seated)).map(|(client, _)| *client)
    }

    /// The tick that watchers see when the world is at `now`, if its time is not before tick 0.
    pub(super) fn tick(&self, now: Tick) -> Tick {
        now.minus(self.delay_ticks)
    }

    /// Records the world of a snapshot, and makes the watchers' snapshot if there is a new one.
    pub(super) fn handle_world(
        &mut self,
        game: &G,
        tick: Tick,
        entities: &Entities<G::Entity>,
        watchers_max: u16,
    ) {
        if watchers_max == 0 && self.watchers.is_empty() {
            return;
        }
        self.reel.record(tick, entities);
        if !self.reel.advance(tick) || self.watchers.is_empty() {
            return;
        }
        let Some((tick, entities)) = self.reel.shown() else { return };
        self.history.push(tick, entities);
        self.everything.clear();
        self.everything.extend(entities.iter().map(|slot| slot.id.index));
        self.told.update(tick, &self.everything, |index| {
            let Some(slot) = entities.at(index) else { return (0, Some(0)) };
            let weight = match game.relevance_to_watchers(entities, slot) {
                Relevance::Secret => 0,
                // They may look anywhere.
                Relevance::Idle => 1,
                Relevance::Matters(weight) => weight.clamp(1, WEIGHT_MAX),
            };
            (slot.id.generation, Some(weight))
        });
        self.due = self.present().collect();
    }

    /// Keeps an event of the game until it is old enough.
    pub(super) fn keep_event(&mut self, tick: Tick, event: &[u8]) {
        if self.watchers.is_empty() {
            return;
        }
        self.event_bytes += event.len();
        self.events.push_back((tick, event.to_vec()));
        while self.events.len() > WATCH_EVENTS_MAX || self.event_bytes > WATCH_EVENT_BYTES_MAX {
            let lost = self.events.pop_front();
            self.event_bytes -= lost.map_or(0, |(_, event)| event.len());
        }
    }

    /// The next event that is old enough when the world is at `now`.
    pub(super) fn poll_event(&mut self, now: Tick) -> Option<Vec<u8>> {
        let until = now.0.checked_sub(self.delay_ticks)?;
        let (_, event) = self.events.pop_front_if(|(tick, _)| tick.0 <= until)?;
        self.event_bytes -= event.len();
        Some(event)
    }

    /// The connected watchers in the queue for a seat, with their tickets.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (u64, ClientId)> {
        self.present().filter_map(|client| {
            let ticket = self.watchers.get(&client)?.member.waits?;
            Some((ticket, client))
        })
    }

    /// Client of the first of them.
    pub(super) fn first_waiting(&self) -> Option<ClientId> {
        self.waiting().min().map(|(_, client)| client)
    }

    /// Ends the game; those who are here wait for the next one.
    pub(super) fn close(self) -> Vec<(ClientId, Member)> {
        let watchers = self.watchers.into_iter();
        watchers.map(|(client, seated)| (client, seated.into_member())).collect()
    }

    /// Watchers that a room may have.
    pub(super) fn places(watchers_max: u16) -> usize {
        watchers_max.min(WATCHERS_MAX).into()
    }
}

/// Whole snapshots of ticks that take a time at least.
fn ticks_of(rates: Rates, span: Micros) -> u64 {
    let ticks = (span.0.unsigned_abs() * u64::from(rates.tick_hz)).div_ceil(1_000_000);
    ticks.next_multiple_of(rates.ticks_per_snapshot())
}

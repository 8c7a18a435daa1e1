//! Read access to the parts of a client.

use std::collections::BTreeMap;

use super::Client;
use crate::client::common::Common;
use crate::client::pace::Ghost;
use crate::client::recollection::Recollection;
use crate::client::stats::Stats;
use crate::clock::delay::Delay;
use crate::clock::lead::Lead;
use crate::clock::pll::Pll;
use crate::game::{Entities, Game};
use crate::ids::PlayerId;
use crate::snapshot::store::Store;
use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use crate::wire::control::Seat;

impl<G: Game> Client<G> {
    /// Returns the rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Returns the entities as last drawn.
    pub fn shown(&self) -> &Entities<G::Entity> {
        &self.shown
    }

    /// Returns the ghost beside the player in the last picture.
    pub fn ghost(&self) -> Option<&Ghost<G::Entity>> {
        self.ghost.as_ref()
    }

    /// Returns all received states.
    pub fn store(&self) -> &Store<G> {
        &self.store
    }

    /// Returns the newest tick that was received.
    pub fn newest_tick(&self) -> Tick {
        self.store.newest()
    }

    /// Returns clocks, roster and counters.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// Returns the client's own id.
    pub fn player(&self) -> PlayerId {
        self.common.player
    }

    /// Returns the world's rates.
    pub fn rates(&self) -> Rates {
        self.common.rates
    }

    /// Returns all seats, by player.
    pub fn roster(&self) -> &BTreeMap<PlayerId, Seat> {
        &self.common.roster
    }

    /// Returns the server's time.
    pub fn server_time(&self, now: LocalTime) -> ServerTime {
        self.common.server_time(now)
    }

    /// Returns the clock that is locked to the server's.
    pub fn pll(&self) -> &Pll {
        &self.common.pll
    }

    /// Returns the controller of the lead.
    pub fn lead(&self) -> &Lead {
        &self.common.lead
    }

    /// Returns the controller of the interpolation delay.
    pub fn delay(&self) -> &Delay {
        &self.common.delay
    }

    /// Returns the counters since the client joined.
    pub fn stats(&self) -> &Stats {
        self.common.stats()
    }

    /// Remembers from now on what is received, for [`Hindsight`](crate::client::Hindsight).
    pub fn remember(&mut self) {
        self.recollection.get_or_insert_default();
    }

    /// Returns what was received in the last seconds, if it is remembered.
    pub(in crate::client) fn recollection(&self) -> Option<&Recollection> {
        self.recollection.as_deref()
    }

    /// Returns the delay of a spectator; `None` for a player.
    pub fn watching(&self) -> Option<Micros> {
        self.common.watching
    }
}

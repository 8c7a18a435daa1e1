//! Access to the parts of a client.

use std::collections::BTreeMap;

use super::Client;
use crate::client::common::Common;
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
    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The entities as they were last drawn.
    pub fn shown(&self) -> &Entities<G::Entity> {
        &self.shown
    }

    /// Everything received, to look at.
    pub fn store(&self) -> &Store<G> {
        &self.store
    }

    /// The newest tick heard of.
    pub fn newest_tick(&self) -> Tick {
        self.store.newest()
    }

    /// Clocks, roster and counters.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// The own seat.
    pub fn player(&self) -> PlayerId {
        self.common.player
    }

    /// The world's rates.
    pub fn rates(&self) -> Rates {
        self.common.rates
    }

    /// Everybody's seats.
    pub fn roster(&self) -> &BTreeMap<PlayerId, Seat> {
        &self.common.roster
    }

    /// The server's time.
    pub fn server_time(&self, now: LocalTime) -> ServerTime {
        self.common.server_time(now)
    }

    /// The locked clock.
    pub fn pll(&self) -> &Pll {
        &self.common.pll
    }

    /// Steering of prediction.
    pub fn lead(&self) -> &Lead {
        &self.common.lead
    }

    /// Steering of presentation.
    pub fn delay(&self) -> &Delay {
        &self.common.delay
    }

    /// Counters since the client joined.
    pub fn stats(&self) -> &Stats {
        self.common.stats()
    }

    /// Delay with which the client watches; none if it plays.
    pub fn watching(&self) -> Option<Micros> {
        self.common.watching
    }
}

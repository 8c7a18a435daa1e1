//! A room without people stands still: no tick runs, and no bot plays, until somebody comes.
//!
//! The world's clock stands still with it: on waking, the epoch moves by the ticks that did not
//! run, so nothing is caught up, and a newcomer's clock starts from a tick that is now.

use super::room::Room;
use crate::game::Game;
use crate::time::{LocalTime, Micros};

/// Time between two turns of a room that sleeps, in which its driver tells figures, and closes a
/// room that is drained or not needed.
const LOOK: Micros = Micros::from_ms(1000);

/// A room's way to sleep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Rest {
    /// People are here, or the room does not sleep.
    #[default]
    Awake,
    /// Nobody is here.
    Empty { since: LocalTime },
    /// No tick runs.
    Asleep { since: LocalTime, look_at: LocalTime },
}

impl<G: Game> Room<G> {
    /// Time of the next turn, if the room sleeps.
    pub(super) fn next_look(&self) -> Option<LocalTime> {
        match self.host.rest {
            Rest::Asleep { look_at, .. } => Some(look_at),
            Rest::Awake | Rest::Empty { .. } => None,
        }
    }

    /// Has a room that sleeps look at once at what has changed.
    pub(super) fn look_soon(&mut self, now: LocalTime) {
        if let Rest::Asleep { look_at, .. } = &mut self.host.rest {
            *look_at = now;
        }
    }

    /// Falls asleep or wakes, as it is time. Returns true while the room sleeps.
    pub(super) fn rest(&mut self, now: LocalTime) -> bool {
        // Seats that are kept for players who are away count as taken.
        let is_empty = self.members.is_empty() && self.gallery.watchers.is_empty();
        let sleep = self.host.config.sleep.filter(|_| is_empty && self.host.draining.is_none());
        let Some(sleep) = sleep else {
            self.wake(now);
            self.host.rest = Rest::Awake;
            return false;
        };
        let (since, was_asleep) = match self.host.rest {
            Rest::Awake => (now, false),
            Rest::Empty { since } => (since, false),
            Rest::Asleep { since, .. } => (since, true),
        };
        let sleeps = was_asleep || now - since >= sleep;
        if sleeps && !was_asleep {
            tracing::debug!(tick = self.world.tick.0, "the room sleeps");
        }
        self.host.rest = match sleeps {
            true => Rest::Asleep { since, look_at: now + LOOK },
            false => Rest::Empty { since },
        };
        sleeps
    }

    /// Goes on where the room fell asleep. If nobody stays, it sleeps again after a tick.
    pub(super) fn wake(&mut self, now: LocalTime) {
        let Rest::Asleep { since, .. } = self.host.rest else { return };
        self.host.rest = Rest::Empty { since };
        let due = self.host.config.rates.tick_at(self.host.server_time(now));
        let slept = due.since(self.world.tick);
        tracing::debug!(tick = self.world.tick.0, slept, "the room wakes");
        self.stand_still(now, slept);
    }
}

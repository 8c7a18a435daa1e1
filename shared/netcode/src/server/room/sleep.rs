//! A room without people stands still: no tick runs, and no bot plays, until somebody comes.
//!
//! The world's clock stands still with it: on waking, the epoch moves by the ticks that did not
//! run, so nothing is caught up, and a newcomer's clock starts from a tick that is now.

use super::Room;
use crate::game::Game;
use crate::server::host::Sleep;
use crate::time::{LocalTime, Micros};

/// Time between two turns of a room that sleeps, in which its driver tells figures, and closes a
/// room that is drained or not needed.
const LOOK: Micros = Micros::from_ms(1000);

impl<G: Game> Room<G> {
    /// Time of the next turn, if the room sleeps.
    pub(super) fn next_look(&self) -> Option<LocalTime> {
        match self.host.sleep() {
            Sleep::Asleep { look_at, .. } => Some(look_at),
            Sleep::Awake | Sleep::Empty { .. } => None,
        }
    }

    /// Has a room that sleeps look at once at what has changed.
    pub(super) fn look_soon(&mut self, now: LocalTime) {
        if let Sleep::Asleep { since, .. } = self.host.sleep() {
            self.host.set_sleep(Sleep::Asleep { since, look_at: now });
        }
    }

    /// Falls asleep or wakes, as it is time. Returns true while the room sleeps.
    pub(super) fn sleep_or_wake(&mut self, now: LocalTime) -> bool {
        let may_sleep = self.seats.is_empty() && !self.host.is_draining();
        let Some(sleep) = self.host.settings().sleep.filter(|_| may_sleep) else {
            self.wake(now);
            self.host.set_sleep(Sleep::Awake);
            return false;
        };
        let (since, was_asleep) = match self.host.sleep() {
            Sleep::Awake => (now, false),
            Sleep::Empty { since } => (since, false),
            Sleep::Asleep { since, .. } => (since, true),
        };
        let sleeps = was_asleep || now - since >= sleep;
        if sleeps && !was_asleep {
            tracing::debug!(tick = self.tick().0, "the room sleeps");
        }
        self.host.set_sleep(match sleeps {
            true => Sleep::Asleep { since, look_at: now + LOOK },
            false => Sleep::Empty { since },
        });
        sleeps
    }

    /// Goes on where the room fell asleep. If nobody stays, it sleeps again after a tick.
    pub(super) fn wake(&mut self, now: LocalTime) {
        let Sleep::Asleep { since, .. } = self.host.sleep() else { return };
        self.host.set_sleep(Sleep::Empty { since });
        let slept = self.host.due(now).since(self.tick());
        tracing::debug!(tick = self.tick().0, slept, "the room wakes");
        self.stand_still(now, slept);
    }
}

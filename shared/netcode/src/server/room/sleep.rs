//! A room without people pauses: no tick runs and no bot plays until someone joins.
//!
//! Until then, or if it never sleeps, a room without bots runs several ticks in one turn, since
//! waking up for a tick costs more than the tick. The ticks are the same.
//!
//! The world's clock stops with it. On waking, the epoch moves by the ticks that did not run, so
//! nothing is caught up, and a newcomer's clock starts at the current tick.

use super::Room;
use crate::game::Game;
use crate::server::host::Sleep;
use crate::time::{LocalTime, Micros, Tick};

/// Interval between turns of a sleeping room, in which its driver reports figures, and closes a
/// room that is drained or no longer needed.
const LOOK: Micros = Micros::from_ms(1000);

/// Ticks in a turn of a room in which no one plays. More would leave too few of
/// [`CATCH_UP_TICKS_MAX`](crate::limits::CATCH_UP_TICKS_MAX) for a thread that wakes up late.
const TURN_TICKS: u64 = 6;

impl<G: Game> Room<G> {
    /// Whether neither people nor bots play, and no recording is shown.
    pub(super) fn is_deserted(&self) -> bool {
        let is_playing = self.script.is_some() || self.seats.bot_count() > 0;
        self.seats.is_empty() && !is_playing && !self.host.is_draining()
    }

    /// Returns the last tick of the next turn of a deserted room.
    pub(super) fn turn_when_deserted(&self) -> Tick {
        Tick((self.tick().0 / TURN_TICKS + 1) * TURN_TICKS)
    }

    /// Returns the time of the next turn, if the room sleeps.
    pub(super) fn next_look(&self) -> Option<LocalTime> {
        match self.host.sleep() {
            Sleep::Asleep { look_at, .. } => Some(look_at),
            Sleep::Awake | Sleep::Empty { .. } => None,
        }
    }

    /// Makes a sleeping room check at once for changes.
    pub(super) fn look_soon(&mut self, now: LocalTime) {
        if let Sleep::Asleep { since, .. } = self.host.sleep() {
            self.host.set_sleep(Sleep::Asleep { since, look_at: now });
        }
    }

    /// Falls asleep or wakes up if it is time. Returns whether the room sleeps.
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

    /// Brings the world up to date for a newcomer.
    pub(super) fn make_ready(&mut self, now: LocalTime) {
        self.wake(now);
        if self.is_deserted() {
            self.run_due(now, u64::MAX);
        }
    }

    /// Continues where the room fell asleep. If no one stays, it sleeps again after one tick.
    fn wake(&mut self, now: LocalTime) {
        let Sleep::Asleep { since, .. } = self.host.sleep() else { return };
        self.host.set_sleep(Sleep::Empty { since });
        let slept = self.host.due(now).since(self.tick());
        tracing::debug!(tick = self.tick().0, slept, "the room wakes");
        self.stand_still(now, slept);
    }
}

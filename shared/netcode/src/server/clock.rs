//! The room's clock: when tick 0 was, and what time clients see.

use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};

/// Converts the machine's time to server time.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomClock {
    /// Time of tick 0, shifted by all time lost since.
    epoch: LocalTime,
    /// How often the epoch has moved, modulo 256.
    number: u8,
}

impl RoomClock {
    pub(super) fn new(epoch: LocalTime) -> Self {
        Self { epoch, number: 0 }
    }

    /// Continues a clock with this epoch number at a tick that is `to_tick` after tick 0.
    pub(super) fn resumed(self, number: u8, to_tick: Micros) -> Self {
        Self { epoch: self.epoch - to_tick, number }
    }

    /// Returns the number of the epoch, modulo 256.
    pub(super) fn number(self) -> u8 {
        self.number
    }

    pub(super) fn server_time(self, now: LocalTime) -> ServerTime {
        ServerTime((now - self.epoch).0)
    }

    /// Returns the machine's time at a server time.
    pub(super) fn local_time(self, time: ServerTime) -> LocalTime {
        self.epoch + Micros(time.0)
    }

    /// Moves the epoch after a time in which no tick ran.
    pub(super) fn lose(&mut self, lost: Micros) {
        self.epoch = self.epoch + lost;
        self.number = self.number.wrapping_add(1);
    }
}

/// A moment in the room as one client sees it: for a spectator, server time and tick are earlier
/// than for a player.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomTime {
    pub(super) now: LocalTime,
    pub(super) server_time: ServerTime,
    pub(super) tick: Tick,
    pub(super) rates: Rates,
}

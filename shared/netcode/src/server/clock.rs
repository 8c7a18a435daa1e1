//! The room's clock: when tick 0 was, and the time as a client is told it.

use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};

/// Maps the machine's time to server time.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomClock {
    /// Time of tick 0, had no time been lost.
    epoch: LocalTime,
    /// Number of times that the epoch moved, modulo 256.
    number: u8,
}

impl RoomClock {
    pub(super) fn new(epoch: LocalTime) -> Self {
        Self { epoch, number: 0 }
    }

    /// Continues a clock of that epoch number at a tick, `to_tick` after tick 0.
    pub(super) fn resumed(self, number: u8, to_tick: Micros) -> Self {
        Self { epoch: self.epoch - to_tick, number }
    }

    /// Number of the epoch, modulo 256.
    pub(super) fn number(self) -> u8 {
        self.number
    }

    pub(super) fn server_time(self, now: LocalTime) -> ServerTime {
        ServerTime((now - self.epoch).0)
    }

    /// The machine's time at that server time.
    pub(super) fn local_time(self, time: ServerTime) -> LocalTime {
        self.epoch + Micros(time.0)
    }

    /// Moves the epoch after a time in which no tick ran.
    pub(super) fn lose(&mut self, lost: Micros) {
        self.epoch = self.epoch + lost;
        self.number = self.number.wrapping_add(1);
    }
}

/// A moment in the room as one client is told it: a watcher's server time and tick are earlier than
/// a player's.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomTime {
    pub(super) now: LocalTime,
    pub(super) server_time: ServerTime,
    pub(super) tick: Tick,
    pub(super) rates: Rates,
}

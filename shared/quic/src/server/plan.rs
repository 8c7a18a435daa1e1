//! Settings of a server's rooms.

use phaselock::games::{GameEntry, Games};
#[cfg(doc)]
use phaselock::limits::ROOMS_MAX;
use phaselock::server::RoomConfig;
use phaselock::time::Micros;

use super::hosting::Hosting;

/// Rooms of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomsConfig {
    /// Rooms that are always there: 1 or more.
    pub rooms: u16,
    /// Rooms at most, [`ROOMS_MAX`] or fewer. Those beyond the first are made when somebody comes
    /// with a new code, or when all are full.
    pub rooms_max: u16,
    /// Threads that run rooms. With 0 or 1 all rooms run where the server runs.
    pub threads: u16,
    /// Time after which a room that was made on demand is closed when nobody is in it.
    pub empty: Micros,
}

impl Default for RoomsConfig {
    /// One room, and a minute for empty ones.
    fn default() -> Self {
        Self { rooms: 1, rooms_max: 1, threads: 1, empty: Micros::from_ms(60_000) }
    }
}

/// Settings that all rooms have in common.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) games: Vec<GameEntry>,
    /// Of the first room; the others differ in seeds, number and start.
    pub(super) config: RoomConfig,
    /// A room that was made on demand is closed after so long without anybody.
    pub(super) empty: Micros,
    /// There may be several rooms, and the log names them.
    pub(super) is_many: bool,
    /// A room that panics is opened again; otherwise the server panics.
    pub(super) catches: bool,
    pub(super) hosting: Hosting,
}

impl Plan {
    pub(super) fn new(
        games: &Games,
        config: RoomConfig,
        rooms: RoomsConfig,
        catches: bool,
        hosting: Hosting,
    ) -> Self {
        let games: Vec<_> = games.iter().cloned().collect();
        // A game alone has no end.
        let rounds = config.rounds.filter(|_| games.len() > 1);
        let is_many = rooms.rooms.max(rooms.rooms_max) > 1;
        let config = RoomConfig { rounds, ..config };
        Self { games, config, empty: rooms.empty, is_many, catches, hosting }
    }
}

//! Settings of a server's rooms.

use std::sync::{Arc, Mutex, PoisonError};

use phaselock::games::{GameEntry, Games};
#[cfg(doc)]
use phaselock::limits::ROOMS_MAX;
use phaselock::server::{RoomChanges, RoomConfig};
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
    /// Settings that the host has changed since, also for rooms that are opened later.
    pub(super) changes: SharedChanges,
    pub(super) hosting: Hosting,
}

/// Changes of the rooms' settings, from the host to rooms that are opened later.
pub(super) type SharedChanges = Arc<Mutex<Option<RoomChanges>>>;

impl Plan {
    pub(super) fn new(
        games: &Games,
        config: RoomConfig,
        rooms: RoomsConfig,
        catches: bool,
        hosting: Hosting,
        changes: SharedChanges,
    ) -> Self {
        let games: Vec<_> = games.iter().cloned().collect();
        let is_many = rooms.rooms.max(rooms.rooms_max) > 1;
        Self { games, config, empty: rooms.empty, is_many, catches, changes, hosting }
    }

    /// Settings of a room that is opened now.
    pub(super) fn config(&self) -> RoomConfig {
        let mut config = self.config.clone();
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(changes) = changes {
            changes.apply(&mut config);
        }
        // A game alone has no end.
        config.rounds = config.rounds.filter(|_| self.games.len() > 1);
        config
    }
}

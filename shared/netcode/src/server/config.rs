//! What a room is told before it opens.

use crate::rewind::Favour;
use crate::time::{LocalTime, Micros, Rates};

/// What a room needs to know.
#[derive(Clone, Debug)]
pub struct RoomConfig {
    /// The server's name, for people.
    pub name: String,
    /// Ticks and snapshots a second.
    pub rates: Rates,
    /// Of the world's randomness; what will happen follows from it, so no client is told.
    pub seed: u64,
    /// Of maps and rules, which clients make for themselves.
    pub map_seed: u64,
    /// Bots that play along; at most [`PLAYERS_MAX`](crate::limits::PLAYERS_MAX).
    pub bots: u16,
    /// Seats for people; at most [`PLAYERS_MAX`](crate::limits::PLAYERS_MAX).
    pub players_max: u16,
    /// Bytes of snapshots that one client gets in a second at most.
    pub client_bytes_per_second: u32,
    /// By how much the world is rewound for a shot at most, 0 for not at all, up to
    /// [`REWIND_MAX`](crate::limits::REWIND_MAX); none for as much as the game says.
    pub rewind: Option<Micros>,
    /// Whom that favours; none for whom the game says.
    pub favour: Option<Favour>,
    /// When tick 0 is.
    pub start: LocalTime,
    /// Unix time of that moment in microseconds.
    pub unix_micros: i64,
    /// After how many rounds a game is over; none for never.
    pub rounds: Option<u32>,
}

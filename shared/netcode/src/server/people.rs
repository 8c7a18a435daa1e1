//! People in a room, as the host sees and treats them.

use core::net::SocketAddr;

use super::mute::Mute;
use super::transfer::Transfer;
use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::time::{Micros, Offset};

/// The player that a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The player's id.
    pub seat: PlayerId,
    /// The player's key; `None` for whichever player has the seat. With a key, a command that comes
    /// too late never hits a later player.
    pub key: Option<PublicKey>,
}

impl From<PlayerId> for Target {
    /// Whichever player has this seat.
    fn from(seat: PlayerId) -> Self {
        Self { seat, key: None }
    }
}

/// What the host knows about a newcomer; the driver passes it on with the hello.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Remote address of the connection; `None` without a network.
    pub address: Option<SocketAddr>,
    /// The mute of a newcomer who may not speak.
    pub mute: Option<Mute>,
    /// Whether the newcomer belongs to the host's staff, who get a seat even if all are taken:
    /// there are [`STAFF_SEATS_MAX`](crate::limits::STAFF_SEATS_MAX) additional ones.
    pub is_staff: bool,
    /// What the newcomer brings from another server, if a ticket proves it. Such a player gets a
    /// seat like staff, ahead of the queue, and the name even if a stranger has it.
    pub transfer: Option<Box<Transfer>>,
    /// Game for which a directory has reserved a seat for the newcomer, as a ticket proves. In a
    /// room of that game, such a player waits for a seat ahead of the others.
    pub expected: Option<String>,
    /// Id of that ticket, which the driver gives back to the host's gate if there is no seat.
    pub ticket: Option<[u8; 16]>,
}

/// Counters of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberStats {
    /// Input packets that were accepted.
    pub accepted: u64,
    /// Datagrams that were refused: invalid, duplicate, too late, or too many.
    pub refused: u64,
    /// Input packets that were lost, according to their sequence numbers.
    pub missing: u64,
    /// Inputs that arrived after their tick.
    pub late: u64,
    /// Requests that were refused.
    pub requests_refused: u64,
    /// Snapshot packets sent.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Entities that did not fit into a snapshot, summed over all snapshots.
    pub left_out: u64,
    /// Current send rate in bytes per second.
    pub rate: u32,
}

/// Figures about a player.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerFigures {
    /// The player's id.
    pub player: PlayerId,
    /// The player's name.
    pub name: String,
    /// The player's key.
    pub key: PublicKey,
    /// Remote address of the connection, or of the last one while the player is away.
    pub address: Option<SocketAddr>,
    /// Time since the player joined.
    pub played: Micros,
    /// Whether the connection is lost and the seat is kept.
    pub is_away: bool,
    /// Time since the player was last active.
    pub idle: Micros,
    /// Round trip time, if it is known.
    pub round_trip: Option<Micros>,
    /// Variation of the transit time of input packets (RFC 3550, 6.4.1).
    pub jitter: Micros,
    /// Server time minus the client's clock.
    pub offset: Option<Offset>,
    /// Bound of the offset's error.
    pub error_max: Option<Micros>,
    /// Whether the player watches and has no seat.
    pub is_watching: bool,
    /// Whether the player is muted.
    pub is_muted: bool,
    /// The game's current figures for this player ([`Kit::measures`](crate::game::Kit::measures));
    /// empty for a spectator.
    pub scores: Vec<(&'static str, f64)>,
    /// Counters of the session.
    pub stats: MemberStats,
}

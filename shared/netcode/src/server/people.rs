//! People in a room, as its host knows and treats them.

use core::net::SocketAddr;

use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::time::{LocalTime, Micros, Offset};

/// A player whom an order is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The seat.
    pub seat: PlayerId,
    /// The player's key; none for whoever has the seat. With it an order that comes too late finds
    /// nobody, rather than somebody else.
    pub key: Option<PublicKey>,
}

impl From<PlayerId> for Target {
    /// Whoever has the seat.
    fn from(seat: PlayerId) -> Self {
        Self { seat, key: None }
    }
}

/// Knowledge of the host about a newcomer, with which a driver hands on its hello.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Where the connection comes from; none over no network.
    pub address: Option<SocketAddr>,
    /// The newcomer may not speak.
    pub mute: Option<Mute>,
    /// The newcomer is one of the host's people, and gets a seat also when all are taken:
    /// [`STAFF_SEATS_MAX`](crate::limits::STAFF_SEATS_MAX) such seats are beside the others.
    pub is_staff: bool,
}

/// A player may not speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mute {
    /// Time for which it holds; none for ever.
    pub within: Option<Micros>,
    /// Cause, for the player to read; may be empty.
    pub reason: String,
}

/// A mute that is in force.
#[derive(Clone, Debug)]
pub(super) struct Muted {
    pub(super) until: Option<LocalTime>,
    pub(super) reason: String,
}

impl Muted {
    pub(super) fn from(mute: Mute, now: LocalTime) -> Self {
        Self { until: mute.within.map(|within| now + within), reason: mute.reason }
    }

    /// True while it holds.
    pub(super) fn holds(&self, now: LocalTime) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// The answer to whoever speaks all the same.
    pub(super) fn answer(&self, now: LocalTime) -> String {
        let span = match self.until {
            Some(until) => format!("for another {}", (until - now).in_words()),
            None => "for good".into(),
        };
        match &*self.reason {
            "" => format!("you are muted {span}"),
            reason => format!("you are muted {span}: {reason}"),
        }
    }
}

/// Counts of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberStats {
    /// Input packets that were read.
    pub accepted: u64,
    /// Datagrams that were refused: garbage, duplicates, stragglers, floods.
    pub refused: u64,
    /// Input packets that were lost, by their sequence numbers.
    pub missing: u64,
    /// Inputs that arrived after their tick.
    pub late: u64,
    /// Requests that were not done.
    pub requests_refused: u64,
    /// Snapshot packets sent.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Entities that did not fit into a snapshot, summed over all snapshots.
    pub left_out: u64,
    /// Present send rate in bytes a second.
    pub rate: u32,
}

/// Figures of a player.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerFigures {
    /// The seat.
    pub player: PlayerId,
    /// The player's name.
    pub name: String,
    /// The player's key.
    pub key: PublicKey,
    /// Where the connection comes from, or came from while the player is away.
    pub address: Option<SocketAddr>,
    /// Time since the player took the seat.
    pub played: Micros,
    /// The connection is lost, and the seat is kept.
    pub is_away: bool,
    /// Time since the player last did something.
    pub idle: Micros,
    /// Round trip, as far as it is known.
    pub round_trip: Option<Micros>,
    /// Variation of the time that input packets take (RFC 3550, 6.4.1).
    pub jitter: Micros,
    /// Server time less the client's clock.
    pub offset: Option<Offset>,
    /// Bound of the offset's error.
    pub error_max: Option<Micros>,
    /// The player watches, and has no seat.
    pub is_watching: bool,
    /// The player may not speak.
    pub is_muted: bool,
    /// The numbers of the game for this player ([`Kit::measures`](crate::game::Kit::measures)), as
    /// they are now; empty for a watcher.
    pub scores: Vec<(&'static str, f64)>,
    /// Counts of the session.
    pub stats: MemberStats,
}

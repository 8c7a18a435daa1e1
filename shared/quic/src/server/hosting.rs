//! Interfaces for the host: who may come in, where rooms are stored for the next start, and where
//! recordings go.

use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use phaselock::replay::Piece;
use phaselock::server::{Pass, Secrecy, Transfer};
use phaselock::wire::control::Hello;
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::rooms::RoomCode;

use super::counters::Counters;

/// The players of a room that is about to send them away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The room.
    pub room: RoomCode,
    /// Its game.
    pub game: &'static str,
    /// Number of players, including those who are away.
    pub people: u16,
    /// Whether the goodbye already says where to go.
    pub is_redirected: bool,
}

/// Which players of a drained room are sent away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// None: it is not known yet where they can go.
    Wait,
    /// Those for whom [`Gate::see_off`] returns a goodbye with a redirect.
    Redirected,
    /// All of them.
    All,
}

/// The host's rules about who may come in, and where those who must leave go. The server's threads
/// call it, so it must answer at once, without access to disk or network.
pub trait Gate: Debug + Send + Sync {
    /// Whether packets from an address are accepted, before its handshake. If not, they are dropped
    /// without an answer, at no cost.
    fn lets_knock(&self, _address: IpAddr) -> bool {
        true
    }

    /// Whether newcomers need a password, for clients that ask before joining.
    fn needs_password(&self) -> bool {
        false
    }

    /// Region in which the server is, for clients that ask before joining; empty if unknown.
    fn region(&self) -> String {
        String::new()
    }

    /// Judges a hello whose proof has been verified, once per connection. An error is the goodbye
    /// to send.
    fn judge(&self, hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect>;

    /// Takes back the ticket of a newcomer who got no seat, by its id: it was not used.
    fn take_back_ticket(&self, _id: [u8; 16]) {}

    /// Returns which players a drained room may send away now. The others play on, and the server
    /// asks again after each of the room's ticks until the time of the drain is up, and for at
    /// least two seconds.
    fn departure(&self, _leaving: &Leaving) -> Departure {
        Departure::All
    }

    /// Returns the goodbye to a member whom a room sends away, such as one with a ticket for the
    /// server of the redirect. `transfer` is what a player takes along; `None` for spectators and
    /// players who are away. By default everybody gets the same goodbye.
    fn see_off(
        &self,
        _room: &RoomCode,
        goodbye: &Disconnect,
        _transfer: Option<Transfer>,
    ) -> Disconnect {
        goodbye.clone()
    }
}

/// A gate that lets everyone in.
#[derive(Debug)]
pub struct Open;

impl Gate for Open {
    fn judge(&self, _hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect> {
        Ok(Pass { address: Some(address), ..Pass::default() })
    }
}

/// Where rooms are stored, so that the next server continues with them. Room threads call it, so it
/// must not block.
pub trait Keeper: Debug + Send + Sync {
    /// Returns the stored rooms, each with whether it is public.
    fn stored_rooms(&self) -> Vec<(RoomCode, bool)>;

    /// Takes the checkpoint of a room.
    fn take(&self, room: &RoomCode) -> Option<Vec<u8>>;

    /// Stores a room's checkpoint, replacing the previous one. `is_open` says whether the room is
    /// public.
    fn keep(&self, room: &RoomCode, is_open: bool, checkpoint: Vec<u8>);

    /// Removes the checkpoint of a room.
    fn forget(&self, room: &RoomCode);
}

/// Where the recordings of rooms go. Room threads call it, so it must not block.
pub trait Archive: Debug + Send + Sync {
    /// Takes the next piece of a room's recording.
    fn archive(&self, room: &RoomCode, piece: Piece, recorded: Recorded);

    /// Handles the end of a room's recording. May be called more than once, and for a room that
    /// recorded nothing.
    fn end(&self, room: &RoomCode, end: RecordingEnd);
}

/// A room when a piece of its recording was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Number of players and spectators.
    pub people: usize,
    /// What the room hides.
    pub secrecy: Secrecy,
}

/// Why the recording of a room ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingEnd {
    /// The game is over.
    GameOver,
    /// The server stops. The next start continues the game.
    Interrupted,
}

/// The gate and the keeper of a server, and its counters.
#[derive(Clone, Debug)]
pub(super) struct Hosting {
    pub(super) gate: Arc<dyn Gate>,
    pub(super) keeper: Option<Arc<dyn Keeper>>,
    pub(super) archive: Option<Arc<dyn Archive>>,
    pub(super) counters: Arc<Counters>,
}

impl Default for Hosting {
    fn default() -> Self {
        Self { gate: Arc::new(Open), keeper: None, archive: None, counters: Arc::default() }
    }
}

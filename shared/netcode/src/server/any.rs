//! The interface between a room and its driver, independent of the game.

use core::net::SocketAddr;
use std::fmt::Debug;

use super::control::{Command, CommandError, Event};
use super::output::{ClientId, Output};
use super::people::{Pass, PlayerFigures};
use super::rotation::Rotation;
use super::transfer::Transfer;
use crate::path::PathWindow;
use crate::replay::Piece;
use crate::rewind::Rewound;
use crate::time::{LocalTime, Micros};
use crate::wire::control::Status;
use crate::wire::disconnect::Disconnect;

/// What a room hides from those who do not play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secrecy {
    /// Number of rounds before the running one; `None` if the game has no rounds.
    pub round: Option<u32>,
    /// By how much spectators watch later than players play.
    pub watch_delay: Micros,
}

/// A [`Room`](super::Room) as its driver sees it.
pub trait AnyRoom: Debug + Send {
    /// Returns the name of the game.
    fn game_name(&self) -> &'static str;

    /// Handles the body of a client's first control message: a hello or a query. The driver has
    /// verified the proof in a hello, and calls this once per client.
    fn handle_first(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        self.handle_arrival(now, client, body, Pass::default());
    }

    /// Handles a client's first control message, with what the host knows about the client.
    fn handle_arrival(&mut self, now: LocalTime, client: ClientId, body: &[u8], pass: Pass);

    /// Handles the body of a later control message. Messages of clients who are not members are
    /// ignored.
    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]);

    /// Handles a datagram. An invalid one changes nothing; one that no honest client could send
    /// ends the session.
    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]);

    /// Sets the maximum size of a client's datagrams to `bytes_max`, the maximum of its path.
    fn handle_path(&mut self, client: ClientId, bytes_max: usize);

    /// Handles a client's connection that has moved to this address.
    fn handle_address(&mut self, client: ClientId, address: SocketAddr);

    /// Returns how many bytes may be in flight to a client. The driver applies this to everything
    /// that it sends.
    fn window(&mut self, now: LocalTime, client: ClientId) -> PathWindow;

    /// Handles a client's lost connection; `reason` is for the log. Its seat is kept for the
    /// configured time.
    fn handle_lost(&mut self, now: LocalTime, client: ClientId, reason: &str);

    /// Handles a client's goodbye, which frees its seat.
    fn handle_left(&mut self, client: ClientId, reason: &str);

    /// Carries out a command of the host.
    fn handle_command(&mut self, now: LocalTime, command: Command) -> Result<(), CommandError>;

    /// Takes the next event for the host. At most [`ROOM_EVENTS_MAX`] wait; beyond that the oldest
    /// are dropped.
    ///
    /// [`ROOM_EVENTS_MAX`]: crate::limits::ROOM_EVENTS_MAX
    fn poll_event(&mut self) -> Option<Event>;

    /// Runs the ticks that are due. All clients then get the newest snapshot, if one is due.
    fn handle_timeout(&mut self, now: LocalTime) {
        self.handle_timeout_of(now, u64::MAX);
    }

    /// Runs at most `ticks_max` of the ticks that are due, so that a driver with several rooms on a
    /// thread can take turns. The snapshot waits until all have run, unless it is several snapshots
    /// late.
    fn handle_timeout_of(&mut self, now: LocalTime, ticks_max: u64);

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) next. A sleeping room wants a
    /// call every second, in which no tick runs.
    fn next_timeout(&self) -> LocalTime;

    /// Ends all sessions, each with the goodbye that `farewell` returns for what the player takes
    /// along to another server; `None` for spectators and players who are away.
    fn shutdown(&mut self, now: LocalTime, farewell: &dyn Fn(Option<Transfer>) -> Disconnect) {
        self.send_away(now, &|transfer| Some(farewell(transfer)));
    }

    /// Ends the sessions for which `farewell` returns a goodbye. Its argument is what the player
    /// takes along to another server; `None` for spectators and players who are away.
    fn send_away(
        &mut self,
        now: LocalTime,
        farewell: &dyn Fn(Option<Transfer>) -> Option<Disconnect>,
    );

    /// Returns the goodbye with which the server should stop now, if the room was drained.
    fn drained(&self, now: LocalTime) -> Option<Disconnect>;

    /// Returns when the time of the drain is up, if the room was drained.
    fn drain_end(&self) -> Option<LocalTime>;

    /// Takes the next output. Packs a client's snapshot, stamped with the time at which it leaves.
    fn poll_output(&mut self, now: LocalTime) -> Option<Output> {
        self.poll_output_unless(now, &|_| false)
    }

    /// Takes the next output, without snapshots for clients for which `behind` returns `true`. They
    /// are checked before packing, because a numbered packet that is never sent would count as
    /// lost, with its reports.
    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output>;

    /// Returns the answer to a query.
    fn status(&self) -> Status;

    /// Returns figures of all players and spectators, including those who are away.
    fn players(&self, now: LocalTime) -> Vec<PlayerFigures>;

    /// Returns the complete state of the world and the seats. The game's
    /// [`restore`](crate::games::GameEntry::restore) makes a room from it that continues. `None` if
    /// the game's memory cannot be encoded.
    fn checkpoint(&self, now: LocalTime) -> Option<Vec<u8>>;

    /// Returns the number of seats that people have, including seats kept for them.
    fn seats_taken(&self) -> usize;

    /// Whether a client has a seat.
    fn has_seat(&self, client: ClientId) -> bool;

    /// Returns the number of spectators, including those who are away.
    fn watchers(&self) -> usize;

    /// Whether the room is paused because it is empty.
    fn is_asleep(&self) -> bool;

    /// Takes the next shot that was tested against the past. Only the newest are kept.
    fn poll_rewound(&mut self) -> Option<Rewound>;

    /// Takes the next piece of the recording, if the room [records](super::RoomConfig::record). At
    /// most [`REPLAY_PIECES_MAX`](crate::limits::REPLAY_PIECES_MAX) wait; beyond that the oldest
    /// are dropped.
    fn poll_replay(&mut self) -> Option<Piece>;

    /// Ends the present chunk of the recording, so that all of it can be taken: before the game is
    /// closed, and for a recording of the last minutes.
    fn cut_replay(&mut self);

    /// Returns what is still hidden from those who do not play, and so from those who may be given
    /// a recording.
    fn secrecy(&self) -> Secrecy;

    /// Whether all rounds of the game have been played.
    fn is_over(&self) -> bool;

    /// Whether the room shows a recording that is run again from its inputs at present.
    fn is_run_again(&self) -> bool;

    /// Ends the game; its members wait for the next one.
    fn close_game(self: Box<Self>) -> Rotation;
}

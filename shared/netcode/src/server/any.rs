//! The interface between a room and its driver, whatever the game.

use core::net::SocketAddr;
use std::fmt::Debug;

use super::control::{Command, CommandError, Event};
use super::output::{ClientId, Output};
use super::people::{Pass, PlayerFigures};
use super::rotation::Rotation;
use crate::path::PathWindow;
use crate::rewind::Rewound;
use crate::time::LocalTime;
use crate::wire::control::Status;
use crate::wire::disconnect::Disconnect;

/// A [`Room`](super::Room) as its driver sees it.
pub trait AnyRoom: Debug + Send {
    /// Name of the game.
    fn game_name(&self) -> &'static str;

    /// Takes in the body of a client's first control message: a hello or a query. The driver has
    /// checked the proof of a hello, and calls this once for a client.
    fn handle_first(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        self.handle_arrival(now, client, body, Pass::default());
    }

    /// The same with what the host knows about the client.
    fn handle_arrival(&mut self, now: LocalTime, client: ClientId, body: &[u8], pass: Pass);

    /// Takes in the body of a member's later control message. A client that is no member is not
    /// heard.
    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]);

    /// Takes in a datagram. A bad one changes nothing; one of no honest client ends the session.
    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]);

    /// Limits a client's datagrams to `bytes_max`, which its path carries.
    fn handle_path(&mut self, client: ClientId, bytes_max: usize);

    /// A client's connection has moved to this address.
    fn handle_address(&mut self, client: ClientId, address: SocketAddr);

    /// Bytes that may be on their way to a client at once. The driver keeps all that it sends to
    /// them.
    fn window(&mut self, now: LocalTime, client: ClientId) -> PathWindow;

    /// A client's connection is gone; `reason` is for the log. Its seat is kept for as long as the
    /// configuration says.
    fn handle_lost(&mut self, now: LocalTime, client: ClientId, reason: &str);

    /// A client said goodbye: its seat is free.
    fn handle_left(&mut self, client: ClientId, reason: &str);

    /// Carries out an order of the host.
    fn handle_command(&mut self, now: LocalTime, command: Command) -> Result<(), CommandError>;

    /// The next piece of news for the host. [`ROOM_EVENTS_MAX`] wait to be fetched; of more the
    /// oldest are lost.
    ///
    /// [`ROOM_EVENTS_MAX`]: crate::limits::ROOM_EVENTS_MAX
    fn poll_event(&mut self) -> Option<Event>;

    /// Runs the ticks that are due; then everybody gets the newest snapshot, if one is due.
    fn handle_timeout(&mut self, now: LocalTime) {
        self.handle_timeout_of(now, u64::MAX);
    }

    /// The same, but of the ticks that are due at most so many, so that a driver with several rooms
    /// on a thread gives each its turn. The snapshot waits until all have run, or several behind.
    fn handle_timeout_of(&mut self, now: LocalTime, ticks_max: u64);

    /// Time of the next [`handle_timeout`](Self::handle_timeout). A room that sleeps has one each
    /// second, in which no tick runs.
    fn next_timeout(&self) -> LocalTime;

    /// Ends all sessions with a goodbye.
    fn shutdown(&mut self, goodbye: &Disconnect);

    /// The goodbye with which the server ends now, if the host has had it drained.
    fn drained(&self, now: LocalTime) -> Option<Disconnect>;

    /// The next thing to do. A client's snapshot is packed here, and stamped with the time at which
    /// it leaves.
    fn poll_output(&mut self, now: LocalTime) -> Option<Output> {
        self.poll_output_unless(now, &|_| false)
    }

    /// The same without snapshots for clients that are `behind`. That is asked before a snapshot is
    /// packed: a numbered packet that is never sent would look lost, and its reports would be lost.
    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output>;

    /// The answer to a query.
    fn status(&self) -> Status;

    /// Figures of all who play or watch, those included who are away.
    fn players(&self, now: LocalTime) -> Vec<PlayerFigures>;

    /// The whole state of world and seats, from which the game's
    /// [`restore`](crate::games::GameEntry::restore) makes a room that goes on. None if the
    /// game's memory cannot be written.
    fn checkpoint(&self, now: LocalTime) -> Option<Vec<u8>>;

    /// Seats of people that are taken, kept ones included.
    fn seats_taken(&self) -> usize;

    /// People who watch, those included who are away.
    fn watchers(&self) -> usize;

    /// Whether the room stands still, since nobody is in it.
    fn is_asleep(&self) -> bool;

    /// The next shot that was tested against the past; only the newest are kept.
    fn poll_rewound(&mut self) -> Option<Rewound>;

    /// Tells whether the game's rounds have all been played.
    fn is_over(&self) -> bool;

    /// Ends the game; its members wait for the next one.
    fn close_game(self: Box<Self>) -> Rotation;
}

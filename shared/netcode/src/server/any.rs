//! The interface between a room and its driver, whatever the game.

use std::fmt::Debug;

use super::output::{ClientId, Output};
use super::rotation::Rotation;
use crate::rewind::Rewound;
use crate::time::LocalTime;

/// A [`Room`](super::Room) as its driver sees it.
pub trait AnyRoom: Debug + Send {
    /// Name of the game.
    fn game_name(&self) -> &'static str;

    /// Takes in the body of a control message; a client's first must be a hello or a query.
    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]);

    /// Takes in a datagram. A bad one changes nothing; one of no honest client ends the session.
    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]);

    /// Limits a client's datagrams to `bytes_max`, which its path carries.
    fn handle_path(&mut self, client: ClientId, bytes_max: usize);

    /// Removes a client whose connection is gone; `reason` is for the log.
    fn handle_lost(&mut self, client: ClientId, reason: &str);

    /// Runs the ticks that are due; then everybody gets the newest snapshot, if one is due.
    fn handle_timeout(&mut self, now: LocalTime);

    /// Time of the next [`handle_timeout`](Self::handle_timeout).
    fn next_timeout(&self) -> LocalTime;

    /// Closes all sessions; `reason` is for the players.
    fn shutdown(&mut self, reason: &str);

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

    /// The next shot that was tested against the past; only the newest are kept.
    fn poll_rewound(&mut self) -> Option<Rewound>;

    /// Tells whether the game's rounds have all been played.
    fn is_over(&self) -> bool;

    /// Ends the game; its members wait for the next one.
    fn close_game(self: Box<Self>) -> Rotation;
}

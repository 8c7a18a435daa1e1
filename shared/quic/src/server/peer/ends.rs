//! Ends of connections that the server did not initiate.

use std::time::Instant;

use phaselock::time::LocalTime;
use phaselock::wire::disconnect::{Code, Disconnect};
use quinn_proto::ConnectionError;

use super::{Peer, Stage};
use crate::goodbye::said;
use crate::server::rooms::Rooms;

impl Peer {
    /// Handles the end of the connection, by the client or by itself.
    pub(super) fn end(&mut self, reason: &ConnectionError, time: LocalTime, rooms: &mut Rooms) {
        let (text, has_left) = describe(reason);
        self.part(&text, has_left && self.web.is_none(), time, rooms);
    }

    /// Handles a client that is gone, for good or not.
    pub(super) fn part(&mut self, text: &str, has_left: bool, time: LocalTime, rooms: &mut Rooms) {
        match &self.stage {
            Stage::Playing { room } if has_left => rooms.handle_left(*room, self.client, text),
            Stage::Playing { room } => rooms.handle_lost(time, *room, self.client, text),
            stage => {
                if let Stage::Moving { to, first, .. } = stage {
                    rooms.directory().arrive(to.room);
                    rooms.give_back(first.pass.ticket);
                }
                tracing::debug!(client = self.client.0, reason = text, "connection ended");
            }
        }
        self.stage = Stage::Closed;
    }

    /// Disconnects a client that cannot get into its room, frees its place there, and gives its
    /// ticket back.
    pub(in crate::server) fn turn_back(
        &mut self,
        goodbye: Disconnect,
        now: Instant,
        rooms: &Rooms,
    ) {
        if let Stage::Moving { to, first, .. } = &self.stage {
            rooms.directory().arrive(to.room);
            rooms.give_back(first.pass.ticket);
            self.refuse(goodbye, now, rooms);
        }
    }

    /// Closes the connection at once: another newcomer takes the place.
    pub(in crate::server) fn evict(&mut self, now: Instant) {
        let text = "too many players are joining at once; try again later";
        self.close(&Disconnect::new(Code::Full, text), now);
    }

    /// Closes the connection at once, without a message to a browser that violated HTTP/3.
    pub(super) fn drop(&mut self, now: Instant) {
        debug_assert!(!matches!(self.stage, Stage::Playing { .. } | Stage::Moving { .. }));
        self.connection.close(now, self.code_of_close(0_u32.into()), Vec::new().into());
        self.stage = Stage::Closed;
    }
}

/// Returns how a connection ended, for the log, and whether the player said goodbye.
fn describe(error: &ConnectionError) -> (String, bool) {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            let goodbye = said(close);
            // A player who will not come back needs no seat.
            (format!("it left: {goodbye}"), goodbye.code.retry_after().is_none())
        }
        ConnectionError::TimedOut => ("the connection was lost".to_owned(), false),
        other => (other.to_string(), false),
    }
}

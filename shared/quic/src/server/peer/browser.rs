//! The parts of a connection that differ for a browser.

use std::time::Instant;

use bytes::{Buf as _, Bytes};
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::Disconnect;
use quinn::crypto::rustls::HandshakeData;
use quinn_proto::{StreamId, VarInt};

use super::{Peer, Stage};
use crate::server::rooms::Rooms;
use crate::server::web::WebSession;
use crate::web::{ALPN, Fault};

impl Peer {
    /// Determines from the handshake what kind of client it is.
    pub(super) fn meet(&mut self, now: Instant) {
        let data = self.connection.crypto_session().handshake_data();
        let data = data.and_then(|data| data.downcast::<HandshakeData>().ok());
        if data.and_then(|data| data.protocol).is_none_or(|name| name != ALPN) {
            return;
        }
        let Some(web) = self.browsers.take() else { return self.drop(now) };
        match WebSession::new(web, &mut self.connection) {
            Ok(session) => self.web = Some(Box::new(session)),
            Err(fault) => self.break_off(fault, now),
        }
    }

    /// Handles a stream that the client has opened to this side, as only browsers may.
    pub(super) fn meet_stream(&mut self, now: Instant, time: LocalTime, rooms: &mut Rooms) {
        if !self.is_web() {
            self.part("it opened a stream that the game does not use", false, time, rooms);
            self.drop(now);
        }
    }

    /// Whether the connection is a browser's.
    pub(in crate::server) fn is_web(&self) -> bool {
        self.web.is_some()
    }

    /// Handles data on streams other than the game's.
    pub(super) fn advance_web(&mut self, now: Instant, time: LocalTime, rooms: &mut Rooms) {
        let Some(web) = &mut self.web else { return };
        if matches!(self.stage, Stage::Closed) {
            return;
        }
        if let Err(fault) = web.advance(&mut self.connection, &mut self.control) {
            tracing::debug!(client = self.client.0, ?fault, "a browser breaks the rules");
            self.part("it broke the rules of HTTP/3", false, time, rooms);
            return self.break_off(fault, now);
        }
        if let Some(goodbye) = web.left().cloned() {
            let has_left = goodbye.code.retry_after().is_none();
            self.part(&format!("it left: {goodbye}"), has_left, time, rooms);
            self.break_off(Fault::None, now);
        }
    }

    /// Notes that everything on a stream has arrived, or that the client wants no more of it.
    pub(super) fn handle_finished(&mut self, id: StreamId, now: Instant) {
        if self.control.is(id) {
            return self.control.refuse();
        }
        let web = self.web.as_ref().filter(|web| web.is_session(id));
        match web.map(|web| web.is_refused()) {
            Some(true) => self.drop(now),
            Some(false) => self.finish(now),
            None => {}
        }
    }

    /// Ends a browser's session with a goodbye, and returns whether to wait for its arrival. A
    /// browser reads nothing more of a session that has ended, so this waits until the last message
    /// has had its time, in which a client that has read it ends the session itself.
    pub(super) fn end_session(&mut self, goodbye: &Disconnect) -> bool {
        self.web.as_mut().is_some_and(|web| web.finish(&mut self.connection, goodbye))
    }

    fn break_off(&mut self, fault: Fault, now: Instant) {
        self.connection.close(now, fault.code(), Bytes::new());
        self.stage = Stage::Closed;
    }

    /// Returns the code with which to close the connection: a browser has been sent the session's
    /// code before.
    pub(super) fn code_of_close(&self, native: VarInt) -> VarInt {
        self.web.as_ref().map_or(native, |web| web.code_of_close().code())
    }

    /// Returns the current maximum size of a datagram, in bytes.
    pub(super) fn datagram_bytes_max(&mut self) -> Option<usize> {
        let max = self.connection.datagrams().max_size()?;
        Some(max.saturating_sub(usize::from(self.is_web())))
    }

    /// Returns a datagram with its prefix, ready to be sent.
    pub(super) fn wrapped(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if let Some(web) = &self.web {
            bytes.insert(0, web.datagram_prefix());
        }
        bytes
    }

    /// Returns a datagram without its prefix, if it belongs to the session.
    pub(super) fn unwrapped(&self, mut bytes: Bytes) -> Option<Bytes> {
        if let Some(web) = &self.web {
            bytes.advance(web.prefix_of(&bytes)?);
        }
        Some(bytes)
    }
}

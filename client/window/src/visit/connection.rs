//! The network of a visit.

use std::thread::JoinHandle;

use phaselock::client::Session;
use phaselock::fingerprint::Fingerprint;
use phaselock::time::LocalTime;
use serde_json::Value;

use crate::replay::Player;

/// A session with its transport to the server.
pub(crate) trait Connection {
    /// The session.
    fn session(&self) -> &Session;

    /// The session, mutably.
    fn session_mut(&mut self) -> &mut Session;

    /// The current time, on the session's clock.
    fn now(&self) -> LocalTime;

    /// Unix time in microseconds at zero of that clock, by the system clock at the start.
    fn unix_of_start(&self) -> i64;

    /// Receives packets, and acts on the time.
    fn receive(&mut self);

    /// Sends what the session asks for.
    fn transmit(&mut self);

    /// Takes the fingerprint of a server that was joined for the first time.
    fn take_pinned(&mut self) -> Option<Fingerprint> {
        None
    }

    /// Takes a changed certificate, for which the server was not trusted.
    fn take_changed(&mut self) -> Option<Changed> {
        None
    }

    /// Stores what the session has learnt in this frame.
    fn note(&mut self) {}

    /// The recording, if this is not a server.
    fn recording(&mut self) -> Option<&mut Player> {
        None
    }

    /// Values for other programs, by name, in addition to the state of the visit.
    fn status(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Says goodbye. If that may take a moment, a thread does it.
    fn close(self: Box<Self>, reason: &'static str) -> Option<JoinHandle<()>>;
}

/// A server's certificate that has changed.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "the browser checks a page's server"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// The server, as the player named it.
    pub(crate) host: String,
    pub(crate) expected: Fingerprint,
    pub(crate) found: Fingerprint,
}

/// A recording in place of a server.
impl Connection for Player {
    fn session(&self) -> &Session {
        Self::session(self)
    }

    fn session_mut(&mut self) -> &mut Session {
        Self::session_mut(self)
    }

    fn now(&self) -> LocalTime {
        Self::now(self)
    }

    fn unix_of_start(&self) -> i64 {
        Self::unix_of_start(self)
    }

    fn receive(&mut self) {
        self.advance();
    }

    fn transmit(&mut self) {
        Self::transmit(self);
    }

    fn recording(&mut self) -> Option<&mut Player> {
        Some(self)
    }

    fn status(&self) -> Vec<(String, Value)> {
        vec![("replay".to_owned(), Self::status(self))]
    }

    fn close(self: Box<Self>, _reason: &'static str) -> Option<JoinHandle<()>> {
        None
    }
}

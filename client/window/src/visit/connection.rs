//! What a visit knows of its network.

use std::thread::JoinHandle;

use phaselock::client::Session;
use phaselock::fingerprint::Fingerprint;
use phaselock::time::LocalTime;
use serde_json::Value;

/// A session and what carries it to its server.
pub(crate) trait Connection {
    /// The session.
    fn session(&self) -> &Session;

    /// The session, to press its keys.
    fn session_mut(&mut self) -> &mut Session;

    /// The time, on the session's clock.
    fn now(&self) -> LocalTime;

    /// Unix time in microseconds at that clock's zero, as the system clock had it then.
    fn unix_of_start(&self) -> i64;

    /// Takes in what came, and acts on the time.
    fn receive(&mut self);

    /// Carries out what the session asks for.
    fn transmit(&mut self);

    /// The fingerprint of a server that was met for the first time; told once.
    fn take_pinned(&mut self) -> Option<Fingerprint> {
        None
    }

    /// Another certificate than before, for which the server was not trusted; told once.
    fn take_changed(&mut self) -> Option<Changed> {
        None
    }

    /// Notes what the session has learnt in this frame.
    fn note(&mut self) {}

    /// What programs that look on are told beside the state of the visit, by name.
    fn status(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Says goodbye. If that may take a moment, a thread does it.
    fn close(self: Box<Self>, reason: &'static str) -> Option<JoinHandle<()>>;
}

/// A server's certificate that is another than before.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "the browser checks a page's server"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// The server, as the player named it.
    pub(crate) host: String,
    pub(crate) expected: Fingerprint,
    pub(crate) found: Fingerprint,
}

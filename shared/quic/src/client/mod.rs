//! The client's driver: QUIC on a thread of its own (or on a runtime that exists), channels to
//! whoever plays.
//!
//! It joins, pins the server's certificate on first use, and joins again when the server is lost,
//! waiting longer each time; [`State`] always says what is going on.

mod clock;
pub mod conditioned;
mod congestion;
pub mod pins;
mod session;
mod sockets;
mod transport;
pub mod usage;
pub mod verify;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use phaselock::fingerprint::Fingerprint;
use phaselock::link::Conditions;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ServerMessage, Welcome};
use tokio::sync::mpsc;

pub use clock::Clock;
use pins::host_key;
pub use sockets::{Sockets, SystemSockets};

/// Where servers listen unless they say otherwise.
pub const DEFAULT_PORT: u16 = 4433;

/// Where a server is: a name or an IP address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

/// What was given is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no address; write a name or an IP address, and a port if it is not {DEFAULT_PORT}: example.org:5000, 192.0.2.7, [2001:db8::1]:5000"
)]
pub struct AddressError(String);

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let error = || AddressError(text.to_owned());
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { host: address.ip().to_string(), port: address.port() });
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(ip) = bare.parse::<IpAddr>() {
            return Ok(Self { host: ip.to_string(), port: DEFAULT_PORT });
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| error())?),
            None => (text, DEFAULT_PORT),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if port == 0 || host.is_empty() || host.len() > 253 || !host.chars().all(plain) {
            return Err(error());
        }
        Ok(Self { host: host.to_lowercase(), port })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&host_key(&self.host, self.port))
    }
}

/// How servers are recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pins {
    /// By a known-hosts file; a server met for the first time is added to it.
    File(PathBuf),
    /// Not at all beyond this connection: whoever answers first is trusted.
    Memory,
    /// By a fingerprint known beforehand.
    Fixed(Fingerprint),
}

/// Whom to join, as whom, and through what.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server.
    pub address: Address,
    /// What the player wants to be called.
    pub name: String,
    /// How the server is recognised.
    pub pins: Pins,
    /// A bad network to put around the real one; what it says of later counts from the start of the
    /// client's driver.
    pub link: Option<Conditions>,
    /// Where sockets come from.
    pub sockets: Arc<dyn Sockets>,
}

impl Options {
    /// Through the system's sockets, with the network as it is.
    pub fn new(address: Address, name: String, pins: Pins) -> Self {
        Self { address, name, pins, link: None, sockets: Arc::new(SystemSockets) }
    }
}

/// How the connection is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Trying to join.
    Connecting {
        /// For the how-manieth time in a row; the first is 1.
        attempt: u32,
    },
    /// In the game.
    Connected,
    /// Out of the game, and about to try again.
    Waiting {
        /// Why.
        reason: String,
        /// When it tries again.
        retry_at: LocalTime,
        /// How many times it has tried in vain.
        attempt: u32,
    },
    /// Out of the game for good.
    Ended {
        /// Why.
        reason: String,
    },
}

/// What comes from the network.
#[derive(Clone, Debug)]
pub enum Event {
    /// The connection changed.
    State(State),
    /// The server was met for the first time; its certificate is remembered from now on.
    Pinned(Fingerprint),
    /// The client is in, for the first time or again.
    Welcome {
        /// What the server says.
        welcome: Welcome,
        /// When the hello that it answers was sent.
        hello_sent: LocalTime,
        /// When it arrived.
        at: LocalTime,
    },
    /// The server goes on to another game, with everybody in their seats.
    Game {
        /// What the server says of it.
        welcome: Welcome,
        /// When that arrived.
        at: LocalTime,
    },
    /// Another control message of a running session.
    Message(ServerMessage),
    /// A datagram of a running session.
    Datagram {
        /// It.
        bytes: Bytes,
        /// When it arrived.
        arrival: LocalTime,
    },
}

#[derive(Debug)]
enum Command {
    Datagram(Vec<u8>),
    Leave(String),
}

/// Events that wait for the player's side; when it stalls for longer, datagrams are lost.
const EVENTS_MAX: usize = 2048;
/// Datagrams that wait to be sent.
const COMMANDS_MAX: usize = 256;

/// A client's end of the channels. Dropping it leaves the game.
#[derive(Debug)]
pub struct Handle {
    events: mpsc::Receiver<Event>,
    commands: mpsc::Sender<Command>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Handle {
    /// Starts on a thread of its own.
    pub fn spawn(options: Options, clock: Clock) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut handle, session) = Self::prepare(options, clock);
        let thread = std::thread::Builder::new()
            .name("network".into())
            .spawn(move || runtime.block_on(session.run()))?;
        handle.thread = Some(thread);
        Ok(handle)
    }

    /// Starts on the current runtime.
    pub fn spawn_here(options: Options, clock: Clock) -> Self {
        let (handle, session) = Self::prepare(options, clock);
        tokio::spawn(session.run());
        handle
    }

    fn prepare(options: Options, clock: Clock) -> (Self, session::Session) {
        let (event_sender, events) = mpsc::channel(EVENTS_MAX);
        let (commands, command_receiver) = mpsc::channel(COMMANDS_MAX);
        let session = session::Session::new(options, clock, event_sender, command_receiver);
        (Self { events, commands, thread: None }, session)
    }

    /// What came, if anything did.
    pub fn try_recv(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// What comes next; none when the connection has ended for good.
    pub async fn recv(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Sends a datagram, if there is a connection.
    pub fn send(&self, bytes: Vec<u8>) {
        // A full channel means that the network's side is stuck; a datagram may be lost.
        let _ = self.commands.try_send(Command::Datagram(bytes));
    }

    /// Says goodbye and waits until that is done, for a second at most.
    pub fn close(self, reason: &str) {
        let Self { mut events, commands, thread } = self;
        let _ = commands.try_send(Command::Leave(reason.to_owned()));
        // Where there was no room for the command, the channel's end says the same.
        drop(commands);
        events.close();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    /// The same on a runtime.
    pub async fn leave(mut self, reason: &str) {
        let _ = self.commands.send(Command::Leave(reason.to_owned())).await;
        while self.events.recv().await.is_some() {}
    }
}

/// How long to wait before trying for the `attempt`-th time again: half a second, doubled each
/// time, at most 8 s.
fn back_off(attempt: u32) -> Micros {
    Micros::from_ms(500 << attempt.saturating_sub(1).min(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, shown) in [
            ("example.org", "example.org:4433"),
            ("Example.org:5000", "example.org:5000"),
            ("192.0.2.7", "192.0.2.7:4433"),
            ("192.0.2.7:1", "192.0.2.7:1"),
            ("::1", "[::1]:4433"),
            ("[::1]", "[::1]:4433"),
            (" [2001:db8::1]:5000 ", "[2001:db8::1]:5000"),
            ("game_server-1", "game_server-1:4433"),
        ] {
            assert_eq!(text.parse::<Address>().map(|a| a.to_string()), Ok(shown.into()), "{text}");
        }
        for text in ["", ":4433", "a:b", "a:0", "a:70000", "a b", "a/b", "http://a", "[::1"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn waiting_grows_to_a_bound() {
        let waits: Vec<_> = (1..8).map(|attempt| back_off(attempt).0 / 1000).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }
}

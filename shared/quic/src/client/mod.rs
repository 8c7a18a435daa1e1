//! The client's side: QUIC on a thread of its own (or on a runtime that exists), channels to the
//! player's side, and a [`Driver`] that moves a session by them.

mod carrier;
mod driver;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use phaselock::fingerprint::Fingerprint;
use phaselock::link::Conditions;
use phaselock::time::LocalTime;
use tokio::sync::mpsc;

use crate::address::Address;
use crate::clock::Clock;
use crate::socket::{Sockets, SystemSockets};
pub use driver::Driver;

/// The means of recognising a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pins {
    /// By a known-hosts file; a server met for the first time is added to it.
    File(PathBuf),
    /// Not at all beyond this connection: whoever answers first is trusted.
    Memory,
    /// By a fingerprint known beforehand.
    Fixed(Fingerprint),
}

/// A server, and the way to it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server.
    pub address: Address,
    /// The means of recognising the server.
    pub pins: Pins,
    /// A bad network to put around the real one. Its times count from the start of the driver.
    pub link: Option<Conditions>,
    /// The source of sockets.
    pub sockets: Arc<dyn Sockets>,
}

impl Options {
    /// Through the system's sockets, with the network as it is.
    pub fn new(address: Address, pins: Pins) -> Self {
        Self { address, pins, link: None, sockets: Arc::new(SystemSockets) }
    }
}

/// An event from the network's side.
#[derive(Debug)]
enum Event {
    /// The server was met for the first time; its certificate is remembered from now on.
    Pinned(Fingerprint),
    /// There is a connection.
    Connected,
    /// The body of a control message.
    Control { body: Vec<u8>, arrival: LocalTime },
    /// A datagram.
    Datagram { bytes: Bytes, arrival: LocalTime },
    /// There is no connection any more, or none could be made.
    Lost { reason: String, retry: bool },
}

#[derive(Debug)]
enum Command {
    Connect,
    /// A framed message.
    Control(Vec<u8>),
    Datagram(Vec<u8>),
    Close(String),
}

/// Events that wait for the player's side; when it stalls for longer, datagrams are lost.
const EVENTS_MAX: usize = 2048;
/// Commands that wait for the network's side.
const COMMANDS_MAX: usize = 256;
/// Places among those that are kept free of datagrams.
const COMMANDS_KEPT: usize = 16;

/// A player's end of the channels. Dropping it closes the connection.
#[derive(Debug)]
struct Handle {
    events: mpsc::Receiver<Event>,
    commands: mpsc::Sender<Command>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Handle {
    /// Starts on a thread of its own.
    fn spawn(options: Options, clock: Clock) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut handle, carrier) = Self::prepare(options, clock);
        let thread = std::thread::Builder::new().name("network".into()).spawn(move || {
            runtime.block_on(carrier.run());
            // Waits for nothing: the system may take minutes to look a name up.
            runtime.shutdown_background();
        })?;
        handle.thread = Some(thread);
        Ok(handle)
    }

    /// Starts on the current runtime.
    fn spawn_here(options: Options, clock: Clock) -> Self {
        let (handle, carrier) = Self::prepare(options, clock);
        tokio::spawn(carrier.run());
        handle
    }

    fn prepare(options: Options, clock: Clock) -> (Self, carrier::Carrier) {
        let (event_sender, events) = mpsc::channel(EVENTS_MAX);
        let (commands, command_receiver) = mpsc::channel(COMMANDS_MAX);
        let carrier = carrier::Carrier::new(options, clock, event_sender, command_receiver);
        (Self { events, commands, thread: None }, carrier)
    }

    /// Hands a command over. The channel fills when the network's side is stuck: datagrams are
    /// lost then. Nothing else is: a session asks for a few other things and then waits for an
    /// event.
    fn command(&self, command: Command) {
        let is_datagram = matches!(command, Command::Datagram(_));
        if !is_datagram || self.commands.capacity() > COMMANDS_KEPT {
            let _ = self.commands.try_send(command);
        }
    }

    /// Waits until the goodbye is said, for a second at most.
    fn close(self) {
        let Self { mut events, commands, thread } = self;
        // The channel's end says goodbye too.
        drop(commands);
        events.close();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    /// The same on a runtime.
    async fn closed(self) {
        let Self { mut events, commands, .. } = self;
        drop(commands);
        while events.recv().await.is_some() {}
    }
}

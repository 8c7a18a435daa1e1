//! The client's side: QUIC on a thread of its own or on the current runtime, and a [`Driver`] that
//! moves a session by what comes over it.

mod carrier;
mod driver;
#[cfg(test)]
mod tests;
mod web;

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use phaselock::fingerprint::Fingerprint;
use phaselock::identity::Credentials;
use phaselock::link::Conditions;
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::Disconnect;

use crate::address::Address;
use crate::player::PlayerKeys;
use crate::socket::{Sockets, SystemSockets};
pub use driver::Driver;

/// Means of recognising a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pins {
    /// A known-hosts file, to which a new server is added.
    File(PathBuf),
    /// None: any server is trusted.
    Memory,
    /// A fingerprint known beforehand.
    Fixed(Fingerprint),
    /// A known-hosts file, and a fingerprint that somebody told: it is expected at the first visit,
    /// and must be the known one at any other.
    Told(PathBuf, Fingerprint),
}

/// Carriage of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Carriage {
    /// QUIC alone.
    #[default]
    Native,
    /// WebTransport, as browsers have it, from a page of that origin or from none. The server's
    /// certificate is another one than the native carriage's.
    WebTransport(Option<String>),
}

/// A server, and the way to it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address of the server.
    pub address: Address,
    /// Means of recognising the server.
    pub pins: Pins,
    /// Carriage of the connection.
    pub carriage: Carriage,
    /// The player's key. By default each driver makes its own: see [`PlayerKeys::Ephemeral`].
    pub keys: PlayerKeys,
    /// Simulated network around the real one. Its times count from the start of the driver.
    pub link: Option<Conditions>,
    /// Source of UDP sockets.
    pub sockets: Arc<dyn Sockets>,
    /// Seed of QUIC's own random numbers, for tests that repeat; by default the system's.
    pub seed: Option<u64>,
}

impl Options {
    /// Through the system's sockets, with the network as it is.
    pub fn new(address: Address, pins: Pins) -> Self {
        let (keys, sockets) = (PlayerKeys::Ephemeral, Arc::new(SystemSockets));
        let carriage = Carriage::Native;
        Self { address, pins, carriage, keys, link: None, sockets, seed: None }
    }
}

/// A server that shows another certificate than the one that it is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The server, spelled as in the file of known servers.
    pub host: String,
    /// Fingerprint of the certificate that it is known by.
    pub expected: Fingerprint,
    /// Fingerprint of the one that it shows.
    pub found: Fingerprint,
}

/// An event from the network's side.
#[derive(Debug)]
enum Event {
    /// The server was met for the first time; its certificate is remembered from now on.
    Pinned(Fingerprint),
    /// The server shows another certificate than the one that it is known by.
    Changed(Changed),
    /// There is a connection, and these are the player's credentials for it.
    Connected(Box<Credentials>),
    /// The body of a control message.
    Control { body: Vec<u8>, arrival: LocalTime },
    /// A datagram.
    Datagram { bytes: Bytes, arrival: LocalTime },
    /// There is no connection any more, or none could be made.
    Lost(Disconnect),
}

/// Events that wait for the player's side; when it stalls for longer, datagrams are lost.
const EVENTS_MAX: usize = 2048;
/// Outputs of the session that wait for the network's side.
const OUTPUTS_MAX: usize = 256;
/// Outputs among those for which datagrams leave room.
const OUTPUTS_KEPT: usize = 16;

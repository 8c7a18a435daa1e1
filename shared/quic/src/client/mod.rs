//! The client side: QUIC on a separate thread or on the current runtime, and a [`Driver`] that
//! passes its events to a session.

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

/// How to verify a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pins {
    /// With a known-hosts file, to which new servers are added.
    File(PathBuf),
    /// Not at all: any server is trusted.
    Memory,
    /// With a fingerprint known in advance.
    Fixed(Fingerprint),
    /// With a known-hosts file, and a fingerprint given on the command line or in a link. A first
    /// visit must match the fingerprint; later ones must match both.
    Given(PathBuf, Fingerprint),
}

/// How a connection is carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Over QUIC directly.
    #[default]
    Native,
    /// Over WebTransport, as from a page of this origin, or from no page. The server presents a
    /// different certificate than over QUIC directly.
    WebTransport(Option<String>),
}

/// A server, and how to connect to it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address of the server.
    pub address: Address,
    /// How to verify the server.
    pub pins: Pins,
    /// How the connection is carried.
    pub carriage: Transport,
    /// Where the player's key comes from. By default each driver creates a new one; see
    /// [`PlayerKeys::Ephemeral`].
    pub keys: PlayerKeys,
    /// Simulated network conditions on top of the real network. Times count from the start of the
    /// driver.
    pub link: Option<Conditions>,
    /// Where UDP sockets come from.
    pub sockets: Arc<dyn Sockets>,
    /// Seed of QUIC's own random numbers, for reproducible tests; by default the system's.
    pub seed: Option<u64>,
}

impl Options {
    /// Options for the system's sockets, without simulated network conditions.
    pub fn new(address: Address, pins: Pins) -> Self {
        let (keys, sockets) = (PlayerKeys::Ephemeral, Arc::new(SystemSockets));
        let carriage = Transport::Native;
        Self { address, pins, carriage, keys, link: None, sockets, seed: None }
    }
}

/// A server whose certificate differs from the one that it is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The server, as written in the known-hosts file.
    pub host: String,
    /// Fingerprint of the known certificate.
    pub expected: Fingerprint,
    /// Fingerprint of the certificate that it presents.
    pub found: Fingerprint,
}

/// An event from the network side.
#[derive(Debug)]
enum Event {
    /// The server was met for the first time; its certificate has been stored.
    Pinned(Fingerprint),
    /// The server presents a different certificate than the one that it is known by.
    Changed(Changed),
    /// A connection is established; these are the player's credentials for it.
    Connected(Box<Credentials>),
    /// The body of a control message.
    Control { body: Vec<u8>, arrival: LocalTime },
    /// A datagram.
    Datagram { bytes: Bytes, arrival: LocalTime },
    /// The connection was lost, or could not be established.
    Lost(Disconnect),
}

/// Number of events that may wait for the session; if it stalls for longer, datagrams are dropped.
const EVENTS_MAX: usize = 2048;
/// Number of outputs that may wait for the network side.
const OUTPUTS_MAX: usize = 256;
/// Number of those outputs reserved for others than datagrams.
const OUTPUTS_KEPT: usize = 16;

//! A server, and how to connect to it.

use std::path::PathBuf;
use std::sync::Arc;

use phaselock::fingerprint::Fingerprint;
use phaselock::link::Conditions;

use crate::address::Address;
use crate::player::PlayerKeys;
use crate::socket::{Sockets, SystemSockets};

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

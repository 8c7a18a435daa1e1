//! The channels between a session and the network side: events, and how much may wait.

use bytes::Bytes;
use phaselock::fingerprint::Fingerprint;
use phaselock::identity::Credentials;
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::Disconnect;

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
pub(super) enum Event {
    /// The client met this server for the first time and stored its certificate.
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
pub(super) const EVENTS_MAX: usize = 2048;
/// Number of control messages that may wait for the network side or for the stream's window. More
/// wait in the session. Arbitrary.
pub(super) const MESSAGES_MAX: usize = 64;
/// Number of other outputs that may wait for the network side.
pub(super) const OUTPUTS_MAX: usize = 256;
/// Number of those outputs reserved for others than datagrams.
pub(super) const OUTPUTS_KEPT: usize = 16;

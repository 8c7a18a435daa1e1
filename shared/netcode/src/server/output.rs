//! Requests of a room to its driver.

use crate::wire::control::ServerMessage;
use crate::wire::disconnect::Disconnect;

/// Number of a connection, given by the driver and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// A thing for the driver to do for a client.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names of the fields say it")]
pub enum Output {
    /// Send a datagram.
    Datagram { client: ClientId, bytes: Vec<u8> },
    /// Send a control message.
    Control { client: ClientId, message: ServerMessage },
    /// Send what was put out before, then close the connection. The room has forgotten it.
    Close { client: ClientId, goodbye: Disconnect },
}

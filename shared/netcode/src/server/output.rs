//! Outputs of a room for its driver.

use crate::wire::control::ServerMessage;
use crate::wire::disconnect::Disconnect;

/// Number of a connection, assigned by the driver and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Something for the driver to do for a client.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the field names are self-explanatory")]
pub enum Output {
    /// Send a datagram.
    Datagram { client: ClientId, bytes: Vec<u8> },
    /// Send a control message.
    Control { client: ClientId, message: ServerMessage },
    /// Send everything that was output before, then close the connection. The room has forgotten
    /// the client.
    Close { client: ClientId, goodbye: Disconnect },
}

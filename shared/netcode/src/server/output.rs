//! What a room asks its driver to do, and for whom.

use crate::wire::control::ServerMessage;

/// A connection, as the driver numbers them; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send a datagram.
    Datagram {
        /// To whom.
        client: ClientId,
        /// It.
        bytes: Vec<u8>,
    },
    /// Send a control message.
    Control {
        /// To whom.
        client: ClientId,
        /// It.
        message: ServerMessage,
    },
    /// Send what was put out before, then close the connection. The room has forgotten it.
    Close {
        /// Whose.
        client: ClientId,
        /// Why.
        reason: String,
    },
}

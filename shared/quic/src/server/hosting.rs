//! The host's say in a server: who may come in, and where rooms are kept for the next start.

use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use phaselock::server::Pass;
use phaselock::wire::control::Hello;
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::rooms::RoomCode;

use super::counters::Counters;

/// Rules of a host about who may come in. The threads of the server ask it, and it must answer at
/// once: without a look at a disk or at the network.
pub trait Gate: Debug + Send + Sync {
    /// Looks at an address before its handshake. False: its packet is dropped unanswered, which
    /// costs nothing.
    fn lets_knock(&self, _address: IpAddr) -> bool {
        true
    }

    /// Tells whether newcomers need a password, for whoever asks before joining.
    fn needs_password(&self) -> bool {
        false
    }

    /// Judges a hello whose proof has been checked, once for each connection; or returns the
    /// goodbye.
    fn judge(&self, hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect>;
}

/// A gate through which everybody may go.
#[derive(Debug)]
pub struct Open;

impl Gate for Open {
    fn judge(&self, _hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect> {
        Ok(Pass { address: Some(address), ..Pass::default() })
    }
}

/// Where rooms are kept, so that the next server goes on with them. The threads of rooms call it,
/// and it must not make them wait.
pub trait Keeper: Debug + Send + Sync {
    /// Rooms that were kept; each with true if anybody is led there.
    fn kept(&self) -> Vec<(RoomCode, bool)>;

    /// The checkpoint of a room, once.
    fn take(&self, room: &RoomCode) -> Option<Vec<u8>>;

    /// Keeps a room in place of what was kept of it before. `is_open`: anybody is led there.
    fn keep(&self, room: &RoomCode, is_open: bool, checkpoint: Vec<u8>);

    /// Keeps nothing of a room any more.
    fn forget(&self, room: &RoomCode);
}

/// Both of a server, and its counts.
#[derive(Clone, Debug)]
pub(super) struct Hosting {
    pub(super) gate: Arc<dyn Gate>,
    pub(super) keeper: Option<Arc<dyn Keeper>>,
    pub(super) counters: Arc<Counters>,
}

impl Default for Hosting {
    fn default() -> Self {
        Self { gate: Arc::new(Open), keeper: None, counters: Arc::default() }
    }
}

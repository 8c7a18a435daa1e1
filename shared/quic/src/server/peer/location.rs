//! The address that a client is at: the one at which its connection was validated last.

use std::net::SocketAddr;

use quinn_proto::Connection;

use super::{Peer, Stage};
use crate::server::newcomers::Place;
use crate::server::rooms::Rooms;

/// What had left when packets from another address were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unproven {
    remote: SocketAddr,
    datagrams: u64,
    challenges: u64,
    responses: u64,
}

/// A client's address.
///
/// A client's packets may come from an address that is not its own, with a forged sender or copied
/// on the way by somebody else. quinn follows them at once, and asks there for proof: until it has
/// it, **each** packet to the client carries a challenge (RFC 9000, 8.2 and 9.3). It does not tell
/// when the proof came, but a packet that left without a challenge does.
#[derive(Debug)]
pub(super) struct Location {
    known: SocketAddr,
    unproven: Option<Unproven>,
}

impl Location {
    /// At an address that a handshake proves.
    pub(super) fn new(known: SocketAddr) -> Self {
        Self { known, unproven: None }
    }

    /// The address.
    pub(super) fn known(&self) -> SocketAddr {
        self.known
    }

    /// Looks at where packets come from and what has left. Returns a new address once it is proven.
    fn observe(&mut self, connection: &Connection) -> Option<SocketAddr> {
        let remote = connection.remote_address();
        if remote == self.known {
            self.unproven = None;
            return None;
        }
        let stats = connection.stats();
        let now = Unproven {
            remote,
            datagrams: stats.udp_tx.datagrams,
            challenges: stats.frame_tx.path_challenge,
            responses: stats.frame_tx.path_response,
        };
        let before = self.unproven.replace(now).filter(|before| before.remote == remote)?;
        // A response may leave alone, to yet another address.
        let is_proven = Unproven { datagrams: before.datagrams, ..now } == before;
        if !is_proven || now.datagrams == before.datagrams {
            return None;
        }
        (self.known, self.unproven) = (remote, None);
        Some(remote)
    }
}

impl Peer {
    /// Follows the client to another address: its seat counts there, and the room hears of it.
    pub(super) fn follow(&mut self, rooms: &mut Rooms) {
        let Some(address) = self.location.observe(&self.connection) else { return };
        self.place.iter_mut().for_each(|place: &mut Place| place.relocate(address.ip()));
        if let Stage::Playing { room } = self.stage {
            rooms.handle_address(room, self.client, address);
        }
    }
}

//! Tickets for seats, with which servers of the fleet let their players in.

use std::net::SocketAddr;

use phaselock::fingerprint::Fingerprint;
use phaselock::identity::PublicKey;
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::tickets::{Seat, SeatStamp};

use crate::core::tokens::Secrets;

/// Issues tickets.
#[derive(Debug)]
pub(super) struct Ticketing {
    /// Key of the fleet, if the directory has its secret.
    fleet: Option<FleetKey>,
    /// Unix time in seconds.
    unix: i64,
    secrets: Secrets,
}

impl Ticketing {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self { fleet: None, unix: 0, secrets }
    }

    pub(super) fn set_fleet(&mut self, fleet: Option<FleetKey>) {
        self.fleet = fleet;
    }

    pub(super) fn set_unix(&mut self, unix: i64) {
        self.unix = unix;
    }

    /// Returns a ticket for a player's seat on a server.
    pub(super) fn issue(
        &mut self,
        (address, target): (SocketAddr, Fingerprint),
        seat: Seat,
        key: PublicKey,
    ) -> Option<Vec<u8>> {
        let fleet = self.fleet.as_ref()?;
        let halves = [self.secrets.bits(), self.secrets.bits()];
        let mut id = [0; 16];
        id.iter_mut()
            .zip(halves.iter().flat_map(|half| half.to_le_bytes()))
            .for_each(|(to, from)| *to = from);
        fleet.reserve(SeatStamp { id, target, address, now: self.unix }, seat, key)
    }
}

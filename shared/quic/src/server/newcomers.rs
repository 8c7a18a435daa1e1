//! Connections that have no seat yet, counted by their address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::settings::NEWCOMERS_PER_ADDRESS_MAX;

/// Number of newcomers from each address or network.
#[derive(Clone, Debug, Default)]
pub(super) struct Newcomers(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection that has no seat.
#[derive(Debug)]
pub(super) struct Newcomer {
    all: Newcomers,
    address: IpAddr,
}

impl Newcomers {
    pub(super) fn enter(&self, address: IpAddr) -> Option<Newcomer> {
        let address = match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            // A host commands all addresses of its network.
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= NEWCOMERS_PER_ADDRESS_MAX {
            return None;
        }
        *count += 1;
        Some(Newcomer { all: self.clone(), address })
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let mut counts = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

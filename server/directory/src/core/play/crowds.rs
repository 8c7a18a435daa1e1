//! Crowds: askers who share a bound.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use crate::core::entries::{network, site};

/// Askers who share a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Crowd {
    /// Players in a network (IPv4 /24, IPv6 /56).
    Network(u128),
    /// Players in a site (IPv6 /48).
    Site(u128),
    /// Players of one listed server that drains.
    Server(SocketAddr),
    /// Players of all listed servers in a network that drain.
    Listed(u128),
    /// Players of all allocated servers in a network that drain.
    Allocated(u128),
}

/// The crowds to which an asker belongs, the smallest first.
pub(super) type Crowds = [Option<Crowd>; 2];

/// Returns the crowds of a player.
pub(super) fn of_player(ip: IpAddr) -> Crowds {
    [Some(Crowd::Network(network(ip))), site(ip).map(Crowd::Site)]
}

/// Returns the crowds of the players of a server that drains.
pub(super) fn of_server(server: SocketAddr, is_allocated: bool) -> Crowds {
    let network = network(server.ip());
    if is_allocated {
        [Some(Crowd::Allocated(network)), None]
    } else {
        [Some(Crowd::Server(server)), Some(Crowd::Listed(network))]
    }
}

/// Counts something for each crowd.
#[derive(Debug, Default)]
pub(super) struct Tally(HashMap<Crowd, u32>);

impl Tally {
    pub(super) fn of(&self, crowd: Crowd) -> u32 {
        self.0.get(&crowd).copied().unwrap_or_default()
    }

    pub(super) fn add(&mut self, crowds: Crowds, count: u32) {
        for crowd in crowds.into_iter().flatten() {
            let counted = self.0.entry(crowd).or_default();
            *counted = counted.saturating_add(count);
        }
    }

    pub(super) fn subtract(&mut self, crowds: Crowds, count: u32) {
        for crowd in crowds.into_iter().flatten() {
            if let Some(counted) = self.0.get_mut(&crowd) {
                *counted = counted.saturating_sub(count);
                if *counted == 0 {
                    self.0.remove(&crowd);
                }
            }
        }
    }
}

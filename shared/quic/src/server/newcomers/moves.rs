//! Moves a connection's seat to its new address.

use std::net::IpAddr;

use super::{Place, Places};
use crate::server::buckets::{crowds, own};

impl Place {
    /// Handles a client's move to another address, where it has been validated. Its seat counts
    /// there from now on. If all seats there are taken, it keeps counting at the old address: no
    /// one is kicked, and no one gets more seats by moving.
    pub(in crate::server) fn relocate(&mut self, address: IpAddr) {
        let own = own(address);
        let mut places = self.places.lock();
        let mut newcomers = places.newcomers.iter_mut();
        if let Some(newcomer) = newcomers.find(|newcomer| newcomer.client == self.client) {
            newcomer.own = own;
        }
        if let Some(seat) = &mut self.seat {
            // Both addresses may be in one network, where the seat must not count twice.
            places.leave_seat(*seat);
            if places.full_crowd(own).is_none() {
                *seat = own;
            }
            places.take_seat(*seat);
        }
        drop(places);
        self.own = own;
    }
}

impl Places {
    /// Counts a seat for an address and its networks.
    pub(super) fn take_seat(&mut self, own: IpAddr) {
        for crowd in crowds(own) {
            *self.seated.entry(crowd).or_default() += 1;
        }
    }

    /// Releases a seat of an address.
    pub(super) fn leave_seat(&mut self, own: IpAddr) {
        for crowd in crowds(own) {
            if let Some(seated) = self.seated.get_mut(&crowd) {
                *seated = seated.saturating_sub(1);
                if *seated == 0 {
                    self.seated.remove(&crowd);
                }
            }
        }
    }
}

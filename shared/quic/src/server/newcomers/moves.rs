//! A connection that comes from another address counts there.

use std::net::IpAddr;

use super::{Place, Places};
use crate::server::buckets::{crowds, own};

impl Place {
    /// Takes in that the client has moved to another address, and has answered there. Its seat
    /// counts there from now on. Where all seats are taken it goes on counting where it did: nobody
    /// is put out, and nobody gets more seats by moving.
    pub(in crate::server) fn relocate(&mut self, address: IpAddr) {
        let own = own(address);
        let mut places = self.places.lock();
        let mut newcomers = places.newcomers.iter_mut();
        if let Some(newcomer) = newcomers.find(|newcomer| newcomer.client == self.client) {
            newcomer.own = own;
        }
        if let Some(seat) = &mut self.seat {
            // Both addresses may be of one network, in which the seat is no second one.
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
    /// Counts a seat in the crowds of an address.
    pub(super) fn take_seat(&mut self, own: IpAddr) {
        for crowd in crowds(own) {
            *self.seated.entry(crowd).or_default() += 1;
        }
    }

    /// Gives a seat of an address back.
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

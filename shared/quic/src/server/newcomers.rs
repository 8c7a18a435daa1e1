//! Places for connections: so many in all, and so many without a seat from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quinn_proto::Incoming;

use crate::settings::{self, NEWCOMERS_PER_ADDRESS_MAX};

/// Places that are taken, and the number of newcomers from each address or network.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    taken: usize,
    newcomers: HashMap<IpAddr, usize>,
}

/// The places of a server, whose connections may be on several threads.
#[derive(Clone, Debug)]
pub(super) struct SharedPlaces(Arc<Mutex<Places>>);

impl SharedPlaces {
    pub(super) fn new(max: usize) -> Self {
        Self(Arc::new(Mutex::new(Places::new(max))))
    }

    /// Has so many places at least, from now on.
    pub(super) fn widen(&self, max: usize) {
        let mut places = self.lock();
        places.max = places.max.max(max);
    }

    /// The places, for a moment.
    pub(super) fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's place. It has to be given back.
#[derive(Debug)]
pub(super) struct Place {
    /// Address of a connection that has no seat.
    newcomer: Option<IpAddr>,
}

impl Place {
    /// True if its connection has no seat yet.
    pub(super) fn is_newcomer(&self) -> bool {
        self.newcomer.is_some()
    }
}

impl Places {
    fn new(max: usize) -> Self {
        Self { max, taken: 0, newcomers: HashMap::new() }
    }

    /// True if whoever comes must prove its address first.
    pub(super) fn must_validate(&self, incoming: &Incoming) -> bool {
        settings::must_validate(incoming, self.taken, self.max)
    }

    /// A place for a newcomer, unless there are too many.
    pub(super) fn enter(&mut self, address: IpAddr) -> Option<Place> {
        let address = match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            // A host commands all addresses of its network.
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        };
        let count = self.newcomers.get(&address).copied().unwrap_or_default();
        if self.taken >= self.max || count >= NEWCOMERS_PER_ADDRESS_MAX {
            return None;
        }
        self.newcomers.insert(address, count + 1);
        self.taken += 1;
        Some(Place { newcomer: Some(address) })
    }

    /// Takes in that a connection has a seat now.
    pub(super) fn seat(&mut self, place: &mut Place) {
        let Some(address) = place.newcomer.take() else { return };
        if let Some(count) = self.newcomers.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.newcomers.remove(&address);
            }
        }
    }

    /// Takes a place back.
    pub(super) fn leave(&mut self, mut place: Place) {
        self.seat(&mut place);
        self.taken -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newcomers_of_one_network_are_bounded_and_those_with_a_seat_are_none() {
        let mut places = Places::new(NEWCOMERS_PER_ADDRESS_MAX + 2);
        let address = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        let mut held: Vec<_> = (0..NEWCOMERS_PER_ADDRESS_MAX as u16)
            .map(|last| places.enter(address(last)).expect("a place"))
            .collect();
        assert!(places.enter(address(999)).is_none(), "its network has its share");
        places.seat(&mut held[0]);
        held.push(places.enter(address(999)).expect("one has a seat"));
        let other = places.enter([192, 0, 2, 1].into()).expect("another network");
        assert!(places.enter([192, 0, 2, 2].into()).is_none(), "all places are taken");
        places.leave(other);
        held.into_iter().for_each(|place| places.leave(place));
        assert_eq!((places.taken, places.newcomers.len()), (0, 0));
    }
}

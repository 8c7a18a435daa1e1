//! Seats that were given out: answers for repeated requests, and the request that counts for each
//! player's key.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use phaselock::identity::PublicKey;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{Placed, RequestId};

/// Time for which the same request gets the same answer.
const REPEATED: Micros = Micros::from_ms(10_000);

/// Seats that a request has got.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) placed: Placed,
    /// The server's address.
    pub(super) server: SocketAddr,
    /// Key of the player, if it is proven.
    pub(super) key: Option<PublicKey>,
    at: LocalTime,
}

/// Placements of the last seconds.
#[derive(Debug, Default)]
pub(super) struct Placements {
    by_request: HashMap<RequestId, Placement>,
    by_age: VecDeque<(LocalTime, RequestId)>,
    /// The request of each key that waits or has seats.
    by_key: HashMap<PublicKey, RequestId>,
}

impl Placements {
    pub(super) fn is_empty(&self) -> bool {
        self.by_request.is_empty()
    }

    pub(super) fn get(&self, request: RequestId) -> Option<&Placement> {
        self.by_request.get(&request)
    }

    /// Notes that a request has got seats.
    pub(super) fn insert(
        &mut self,
        at: LocalTime,
        request: RequestId,
        (placed, server): (Placed, SocketAddr),
        key: Option<PublicKey>,
    ) {
        self.by_request.insert(request, Placement { placed, server, key, at });
        self.by_age.push_back((at, request));
    }

    /// Makes a request the one that counts for a key. Returns the one that counted before.
    pub(super) fn claim(&mut self, key: PublicKey, request: RequestId) -> Option<RequestId> {
        self.by_key.insert(key, request).filter(|older| *older != request)
    }

    /// Notes that a key's request no longer waits, and has no seats.
    pub(super) fn give_up(&mut self, key: Option<PublicKey>, request: RequestId) {
        if let Some(key) = key.filter(|key| self.by_key.get(key) == Some(&request)) {
            self.by_key.remove(&key);
        }
    }

    /// Removes a request's seats.
    pub(super) fn remove(&mut self, request: RequestId) -> Option<Placement> {
        let placement = self.by_request.remove(&request)?;
        self.give_up(placement.key, request);
        Some(placement)
    }

    /// Forgets old answers.
    pub(super) fn expire(&mut self, now: LocalTime) {
        while let Some((at, request)) = self.by_age.front().copied()
            && now - at >= REPEATED
        {
            self.by_age.pop_front();
            // It may have been given back, and have got other seats since.
            if self.by_request.get(&request).is_some_and(|it| it.at == at) {
                self.remove(request);
            }
        }
    }

    /// Returns the number of keys with a request.
    #[cfg(test)]
    pub(super) fn keys(&self) -> usize {
        self.by_key.len()
    }
}

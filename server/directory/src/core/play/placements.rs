//! Seats that were given out: answers for repeated requests, and the request that counts for each
//! player's key.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;

use phaselock::identity::PublicKey;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{Placed, RequestId};

/// Time for which the same request gets the same answer.
const REPEATED: Micros = Micros::from_ms(10_000);
/// Time for which a replaced request is refused. Programs repeat their requests every second.
const REPLACED: Micros = Micros::from_ms(30_000);
/// Maximum number of remembered replaced requests. The oldest are forgotten first.
const REPLACED_MAX: usize = 65_536;

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
    replaced: HashSet<RequestId>,
    replaced_by_age: VecDeque<(LocalTime, RequestId)>,
}

impl Placements {
    pub(super) fn is_empty(&self) -> bool {
        self.by_request.is_empty() && self.replaced.is_empty()
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

    /// Makes a request the one that counts for a key. Returns the one that counted before, which
    /// does not come back: two programs with the same key would replace each other forever.
    pub(super) fn claim(
        &mut self,
        now: LocalTime,
        key: PublicKey,
        request: RequestId,
    ) -> Option<RequestId> {
        let older = self.by_key.insert(key, request).filter(|older| *older != request)?;
        if self.replaced_by_age.len() >= REPLACED_MAX {
            self.forget_replaced();
        }
        if self.replaced.insert(older) {
            self.replaced_by_age.push_back((now, older));
        }
        Some(older)
    }

    /// Whether another request of the same key has replaced this one.
    pub(super) fn is_replaced(&self, request: RequestId) -> bool {
        self.replaced.contains(&request)
    }

    fn forget_replaced(&mut self) {
        if let Some((_, request)) = self.replaced_by_age.pop_front() {
            self.replaced.remove(&request);
        }
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
        while self.replaced_by_age.front().is_some_and(|(at, _)| now - *at >= REPLACED) {
            self.forget_replaced();
        }
    }

    /// Returns the number of keys with a request, and of requests that were replaced.
    #[cfg(test)]
    pub(super) fn keys(&self) -> usize {
        self.by_key.len() + self.replaced.len()
    }
}

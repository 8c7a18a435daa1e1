//! Requests that wait for seats, by game and in the order in which they came.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use phaselock::identity::PublicKey;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{PartyCode, RegionPing, RequestId};

use super::crowds::{Crowd, Crowds, Tally};
use super::servers::Audience;

/// Time without a repetition of the request after which it is forgotten.
pub(super) const SILENT: Micros = Micros::from_ms(10_000);

/// A request that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub(super) game: String,
    pub(super) people: u32,
    pub(super) party: Option<PartyCode>,
    pub(super) pings: Vec<RegionPing>,
    /// Number of seats that count for its crowds while it waits, with those for friends.
    pub(super) claim: u32,
    /// Crowds of the asker.
    pub(super) crowds: Crowds,
    /// Who must be able to play there.
    pub(super) audience: Audience,
    /// The server that its people leave, if it is a server that asks. Fewer seats are better than
    /// none then.
    pub(super) leaves: Option<SocketAddr>,
    /// Key of the player, if it is proven.
    pub(super) key: Option<PublicKey>,
    /// When it came, and when it was last repeated.
    pub(super) since: LocalTime,
    pub(super) asked: LocalTime,
}

/// All requests that wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiters: HashMap<RequestId, (u64, Waiter)>,
    by_game: BTreeMap<String, BTreeMap<u64, RequestId>>,
    requests: Tally,
    people: Tally,
    last: u64,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.waiters.len()
    }

    pub(super) fn get(&self, request: RequestId) -> Option<&Waiter> {
        self.waiters.get(&request).map(|(_, waiter)| waiter)
    }

    /// Notes that a request was repeated, with newer pings.
    pub(super) fn renew(&mut self, request: RequestId, now: LocalTime, pings: Vec<RegionPing>) {
        if let Some((_, waiter)) = self.waiters.get_mut(&request) {
            (waiter.asked, waiter.pings) = (now, pings);
        }
    }

    /// Returns the number of requests of a crowd.
    pub(super) fn requests_of(&self, crowd: Crowd) -> u32 {
        self.requests.of(crowd)
    }

    /// Returns the number of people for whom a crowd's requests are.
    pub(super) fn people_of(&self, crowd: Crowd) -> u32 {
        self.people.of(crowd)
    }

    pub(super) fn push(&mut self, request: RequestId, waiter: Waiter) {
        self.last += 1;
        self.by_game.entry(waiter.game.clone()).or_default().insert(self.last, request);
        self.requests.add(waiter.crowds, 1);
        self.people.add(waiter.crowds, waiter.claim);
        self.waiters.insert(request, (self.last, waiter));
    }

    pub(super) fn remove(&mut self, request: RequestId) -> Option<Waiter> {
        let (place, waiter) = self.waiters.remove(&request)?;
        if let Some(of_game) = self.by_game.get_mut(&waiter.game) {
            of_game.remove(&place);
            if of_game.is_empty() {
                self.by_game.remove(&waiter.game);
            }
        }
        self.requests.subtract(waiter.crowds, 1);
        self.people.subtract(waiter.crowds, waiter.claim);
        Some(waiter)
    }

    /// Returns the number of requests for the same game ahead of one.
    pub(super) fn position(&self, request: RequestId) -> u32 {
        let Some((place, waiter)) = self.waiters.get(&request) else { return 0 };
        let ahead = self.by_game.get(&waiter.game).map(|of_game| of_game.range(..place).count());
        ahead.and_then(|ahead| u32::try_from(ahead).ok()).unwrap_or_default()
    }

    /// Returns the number of requests for a game.
    pub(super) fn of_game(&self, game: &str) -> usize {
        self.by_game.get(game).map_or(0, BTreeMap::len)
    }

    /// Returns the games for which requests wait.
    pub(super) fn games(&self) -> Vec<String> {
        self.by_game.keys().cloned().collect()
    }

    /// Returns the first requests for a game.
    pub(super) fn first(&self, game: &str, most: usize) -> Vec<(RequestId, &Waiter)> {
        let of_game = self.by_game.get(game).into_iter().flat_map(BTreeMap::values);
        let found = of_game.filter_map(|request| Some((*request, &self.waiters.get(request)?.1)));
        found.take(most).collect()
    }

    /// Returns the requests that were not repeated.
    pub(super) fn silent(&self, now: LocalTime) -> Vec<RequestId> {
        let silent = self.waiters.iter().filter(|(_, (_, it))| now - it.asked >= SILENT);
        silent.map(|(request, _)| *request).collect()
    }
}

//! Parties: friends who are sent to the same server and room.

use std::collections::HashMap;
use std::net::SocketAddr;

use phaselock::identity::PublicKey;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{PartyCode, RequestId};
use phaselock::wire::rooms::RoomCode;

use super::crowds::{Crowd, Crowds, Tally};

/// Time after the last request with its code for which a party lives.
const LIVES: Micros = Micros::from_ms(3_600_000);

#[derive(Debug)]
struct Party {
    game: String,
    /// Number of people for whom there must be seats when the first of them is placed.
    people: u32,
    place: Option<(SocketAddr, Option<RoomCode>)>,
    /// The request that made it, and the crowds of its asker.
    founder: (RequestId, Crowds),
    /// Key of the founder, if it is proven.
    key: Option<PublicKey>,
    /// Whether a second member has asked.
    is_joined: bool,
    renewed: LocalTime,
}

/// All parties.
#[derive(Debug, Default)]
pub(super) struct Parties {
    by_code: HashMap<PartyCode, Party>,
    by_crowd: Tally,
    /// The last party that each key has made.
    by_key: HashMap<PublicKey, PartyCode>,
}

impl Parties {
    pub(super) fn is_empty(&self) -> bool {
        self.by_code.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.by_code.len()
    }

    /// Makes a party for a game, with this number of people; `None` if its code is taken.
    pub(super) fn found(
        &mut self,
        now: LocalTime,
        code: PartyCode,
        (game, people): (&str, u32),
        founder: (RequestId, Crowds),
    ) -> Option<PartyCode> {
        if self.by_code.contains_key(&code) {
            return None;
        }
        let (game, place, is_joined) = (game.to_owned(), None, false);
        let party = Party { game, people, place, founder, key: None, is_joined, renewed: now };
        self.by_crowd.add(founder.1, 1);
        self.by_code.insert(code, party);
        Some(code)
    }

    /// Returns the number of parties that a crowd has made.
    pub(super) fn of_crowd(&self, crowd: Crowd) -> u32 {
        self.by_crowd.of(crowd)
    }

    /// Removes the oldest party that no one has joined: of a crowd, or of all. Returns false if
    /// there is none.
    pub(super) fn evict(&mut self, crowd: Option<Crowd>) -> bool {
        let is_of = |party: &Party| crowd.is_none() || party.founder.1.contains(&crowd);
        let alone = self.by_code.iter().filter(|(_, party)| !party.is_joined && is_of(party));
        let oldest = alone.min_by_key(|(code, party)| (party.renewed, **code));
        let oldest = oldest.map(|(code, _)| *code);
        oldest.is_some_and(|code| self.remove(code))
    }

    fn remove(&mut self, code: PartyCode) -> bool {
        let removed = self.by_code.remove(&code);
        if let Some(party) = &removed {
            self.by_crowd.subtract(party.founder.1, 1);
            if let Some(key) = party.key.filter(|key| self.by_key.get(key) == Some(&code)) {
                self.by_key.remove(&key);
            }
        }
        removed.is_some()
    }

    /// Notes the key of a party's founder, if this request made it.
    pub(super) fn sign(&mut self, code: PartyCode, request: RequestId, key: PublicKey) {
        let party = self.by_code.get_mut(&code).filter(|party| party.founder.0 == request);
        if let Some(party) = party {
            party.key = Some(key);
            self.by_key.insert(key, code);
        }
    }

    /// Returns the last party that a key has made.
    pub(super) fn made_by(&self, key: PublicKey) -> Option<PartyCode> {
        self.by_key.get(&key).copied()
    }

    /// Removes a party that has no place, if this request made it.
    pub(super) fn abandon(&mut self, code: PartyCode, request: RequestId) {
        let party = self.by_code.get(&code);
        if party.is_some_and(|it| it.place.is_none() && it.founder.0 == request && !it.is_joined) {
            self.remove(code);
        }
    }

    /// Notes that another member has asked.
    pub(super) fn join(&mut self, code: PartyCode) {
        if let Some(party) = self.by_code.get_mut(&code) {
            party.is_joined = true;
        }
    }

    /// Returns the number of seats that count for a request: for the one that made the party, those
    /// of the friends as well.
    pub(super) fn claim(&self, code: PartyCode, request: RequestId) -> u32 {
        let party = self.by_code.get(&code).filter(|party| party.founder.0 == request);
        party.map_or(0, |party| party.people)
    }

    /// Whether a party was made by someone in the same network.
    pub(super) fn is_of(&self, code: PartyCode, crowds: Crowds) -> bool {
        self.by_code.get(&code).is_some_and(|party| party.founder.1[0] == crowds[0])
    }

    pub(super) fn game(&self, code: PartyCode) -> Option<&str> {
        self.by_code.get(&code).map(|party| party.game.as_str())
    }

    /// Returns the number of people who are expected, while the party has no server.
    pub(super) fn expected(&self, code: PartyCode) -> u32 {
        let party = self.by_code.get(&code).filter(|party| party.place.is_none());
        party.map_or(0, |party| party.people)
    }

    pub(super) fn server(&self, code: PartyCode) -> Option<SocketAddr> {
        self.by_code.get(&code)?.place.as_ref().map(|(server, _)| *server)
    }

    /// Returns the room of a party whose server is this one.
    pub(super) fn room(&self, code: PartyCode, server: SocketAddr) -> Option<Option<RoomCode>> {
        let place = self.by_code.get(&code)?.place.as_ref();
        place.filter(|(at, _)| *at == server).map(|(_, room)| room.clone())
    }

    /// Sets a party's server and room. Returns whether they are new.
    pub(super) fn settle(
        &mut self,
        code: PartyCode,
        server: SocketAddr,
        room: Option<RoomCode>,
    ) -> bool {
        let Some(party) = self.by_code.get_mut(&code) else { return false };
        let is_new = party.place.as_ref().is_none_or(|(at, _)| *at != server);
        if is_new {
            party.place = Some((server, room));
        }
        is_new
    }

    pub(super) fn renew(&mut self, code: PartyCode, now: LocalTime) {
        if let Some(party) = self.by_code.get_mut(&code) {
            party.renewed = now;
        }
    }

    pub(super) fn expire(&mut self, now: LocalTime) {
        let over = self.by_code.iter().filter(|(_, party)| now - party.renewed >= LIVES);
        let over: Vec<_> = over.map(|(code, _)| *code).collect();
        for code in over {
            self.remove(code);
        }
    }
}

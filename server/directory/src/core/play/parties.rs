//! Parties: friends who are sent to the same server and room.

use std::collections::HashMap;
use std::net::SocketAddr;

use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::PartyCode;
use phaselock::wire::rooms::RoomCode;

/// Time after the last request with its code for which a party lives.
const LIVES: Micros = Micros::from_ms(3_600_000);

#[derive(Debug)]
struct Party {
    game: String,
    /// Number of people for whom there must be seats when the first of them is placed.
    people: u16,
    place: Option<(SocketAddr, Option<RoomCode>)>,
    renewed: LocalTime,
}

/// All parties.
#[derive(Debug, Default)]
pub(super) struct Parties(HashMap<PartyCode, Party>);

impl Parties {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Makes a party for a game, with this number of people; `None` if its code is taken.
    pub(super) fn found(
        &mut self,
        now: LocalTime,
        code: PartyCode,
        (game, people): (&str, u16),
    ) -> Option<PartyCode> {
        if self.0.contains_key(&code) {
            return None;
        }
        let party = Party { game: game.to_owned(), people, place: None, renewed: now };
        self.0.insert(code, party);
        Some(code)
    }

    pub(super) fn game(&self, code: PartyCode) -> Option<&str> {
        self.0.get(&code).map(|party| party.game.as_str())
    }

    /// Returns the number of people who are expected, while the party has no server.
    pub(super) fn expected(&self, code: PartyCode) -> u32 {
        let party = self.0.get(&code).filter(|party| party.place.is_none());
        party.map_or(0, |party| party.people.into())
    }

    pub(super) fn server(&self, code: PartyCode) -> Option<SocketAddr> {
        self.0.get(&code)?.place.as_ref().map(|(server, _)| *server)
    }

    /// Returns the room of a party whose server is this one.
    pub(super) fn room(&self, code: PartyCode, server: SocketAddr) -> Option<Option<RoomCode>> {
        let place = self.0.get(&code)?.place.as_ref();
        place.filter(|(at, _)| *at == server).map(|(_, room)| room.clone())
    }

    /// Sets a party's server and room. Returns whether they are new.
    pub(super) fn settle(
        &mut self,
        code: PartyCode,
        server: SocketAddr,
        room: Option<RoomCode>,
    ) -> bool {
        let Some(party) = self.0.get_mut(&code) else { return false };
        let is_new = party.place.as_ref().is_none_or(|(at, _)| *at != server);
        if is_new {
            party.place = Some((server, room));
        }
        is_new
    }

    pub(super) fn renew(&mut self, code: PartyCode, now: LocalTime) {
        if let Some(party) = self.0.get_mut(&code) {
            party.renewed = now;
        }
    }

    pub(super) fn expire(&mut self, now: LocalTime) {
        self.0.retain(|_, party| now - party.renewed < LIVES);
    }
}

//! The players in all rooms, tracked by the rooms' events.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::net::SocketAddr;

use phaselock::identity::PublicKey;
use phaselock::ids::PlayerId;
use phaselock::server::{Event, Target};
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::server::{RoomEvent, RoomFigures};

use crate::clocks::Now;
use crate::error::ActError;
use crate::subject::Subject;

/// Maximum players who have left that are remembered, so that they can be banned by name.
/// Arbitrary.
const LEFT_MAX: usize = 256;
/// Maximum seconds by which figures lag behind events: they are made once a second.
const FIGURES_SECS_MAX: i64 = 2;
/// Minimum hexadecimal digits of a key that name a player.
pub(super) const KEY_DIGITS_MIN: usize = 8;

/// A player with a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    /// Code of the room.
    pub room: RoomCode,
    /// The seat.
    pub player: PlayerId,
    /// The player's name.
    pub name: String,
    /// The player's key.
    pub key: PublicKey,
    /// Address of the player's connection.
    pub address: Option<SocketAddr>,
    /// Seconds that the server had been running at the join.
    pub joined: i64,
    /// Seconds that the server had been running when playing time was last added to the player's
    /// total.
    pub counted: i64,
    /// Whether the session is counted in that total.
    pub is_counted: bool,
    /// Name of the room's game.
    pub game: String,
}

impl Person {
    /// Whether a text of enough digits begins the player's key.
    fn has_key(&self, digits: &str) -> bool {
        digits.len() >= KEY_DIGITS_MIN && self.key.to_string().starts_with(digits)
    }

    /// Returns the player as the target of an order.
    pub(crate) fn target(&self) -> Target {
        Target { seat: self.player, key: Some(self.key) }
    }

    /// Whether a ban or mute of that subject applies to this player.
    pub(crate) fn is_subject(&self, subject: &Subject) -> bool {
        subject.is_about(Some(self.key), self.address)
    }
}

/// The players in all rooms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    people: BTreeMap<(RoomCode, PlayerId), Person>,
    /// Players who have left, the most recent last, and the seconds that the server had been
    /// running then.
    left: VecDeque<(Person, i64)>,
    games: BTreeMap<RoomCode, &'static str>,
}

impl Roster {
    /// Handles an event of a room. Returns the player concerned, even one who has just left.
    pub(crate) fn note(&mut self, told: &RoomEvent, now: Now) -> Option<Person> {
        let RoomEvent { room, event } = told;
        let at = |player: &PlayerId| (room.clone(), *player);
        match event {
            Event::Joined { player, name, key, address, is_kept } => {
                let game = self.games.get(room).copied().unwrap_or_default().to_owned();
                let person = Person {
                    room: room.clone(),
                    player: *player,
                    name: name.clone(),
                    key: *key,
                    address: *address,
                    joined: now.awake,
                    counted: now.awake,
                    is_counted: *is_kept,
                    game,
                };
                self.people.insert(at(player), person.clone());
                Some(person)
            }
            Event::Left { player, .. } => {
                let person = self.people.remove(&at(player))?;
                // Once per player, as of the last time.
                self.left.retain(|(it, _)| it.key != person.key);
                self.left.push_back((person.clone(), now.awake));
                let over = self.left.len().saturating_sub(LEFT_MAX);
                self.left.drain(..over);
                Some(person)
            }
            Event::Game { name } => {
                self.games.insert(room.clone(), name);
                let here = self.people.iter_mut().filter(|((code, _), _)| code == room);
                here.for_each(|(_, person)| (*name).clone_into(&mut person.game));
                None
            }
            Event::Renamed { player, name } => {
                let person = self.people.get_mut(&at(player))?;
                person.name.clone_from(name);
                Some(person.clone())
            }
            Event::Moved { player, address, .. } => {
                let person = self.people.get_mut(&at(player))?;
                person.address = Some(*address);
                Some(person.clone())
            }
            Event::Away { player }
            | Event::Resumed { player }
            | Event::Chat { player, .. }
            | Event::Asked { player, .. }
            | Event::Report { player: Some(player), .. } => self.people.get(&at(player)).cloned(),
            _ => None,
        }
    }

    /// Handles the figures of all rooms: after events were lost, and for the addresses of players
    /// who have resumed from elsewhere.
    pub(crate) fn correct(&mut self, rooms: &[RoomFigures], now: Now) {
        let now = now.awake;
        // Strangers choose the codes of rooms, so rooms that are gone must be removed.
        self.games.retain(|code, _| rooms.iter().any(|room| room.status.code == *code));
        let mut before = mem::take(&mut self.people);
        for room in rooms {
            let code = &room.status.code;
            for told in &room.measured.players {
                let at = (code.clone(), told.player);
                let old = before.remove(&at).filter(|old| old.key == told.key);
                if old.is_none() && self.has_just_left(&at, told.key, now) {
                    continue;
                }
                let joined = old.as_ref().map_or(now - told.played.0 / 1_000_000, |old| old.joined);
                let is_counted = old.as_ref().is_none_or(|old| old.is_counted);
                let counted = old.map_or(now, |old| old.counted);
                let person = Person {
                    room: code.clone(),
                    player: told.player,
                    name: told.name.clone(),
                    key: told.key,
                    address: told.address,
                    joined,
                    counted,
                    is_counted,
                    game: room.status.game.clone(),
                };
                self.people.insert(at, person);
            }
        }
        // Players who joined after the figures were made are not in them yet.
        let fresh = |person: &Person| now - person.joined <= FIGURES_SECS_MAX;
        self.people.extend(before.into_iter().filter(|(_, person)| fresh(person)));
    }

    /// Whether a player left a seat so recently that the figures may still list them.
    fn has_just_left(&self, at: &(RoomCode, PlayerId), key: PublicKey, now: i64) -> bool {
        let recent = self.left().take_while(|(_, left)| now - left <= FIGURES_SECS_MAX);
        recent.into_iter().any(|(it, _)| it.key == key && (&it.room, it.player) == (&at.0, at.1))
    }

    /// Counts the time that players have played, if there are at least `secs_min` seconds to add,
    /// or any at the end. `now` is the seconds that the server has been running. Returns these
    /// players as they were before, each with the seconds added.
    pub(crate) fn count(&mut self, now: i64, secs_min: i64, is_end: bool) -> Vec<(Person, i64)> {
        let is_due = |it: &Person| {
            let secs = now - it.counted;
            secs >= secs_min || is_end && it.is_counted && secs > 0
        };
        let due = self.people.values_mut().filter(|it| is_due(it));
        let count = |person: &mut Person| {
            let before = person.clone();
            (person.counted, person.is_counted) = (now, true);
            let secs = now - before.counted;
            (before, secs)
        };
        due.map(count).collect()
    }

    /// Adds a player.
    #[cfg(test)]
    pub(super) fn put(&mut self, person: Person) {
        self.people.insert((person.room.clone(), person.player), person);
    }

    /// Returns all players.
    pub(crate) fn people(&self) -> impl Iterator<Item = &Person> {
        self.people.values()
    }

    /// Returns players who have left, the most recent first, and the seconds that the server had
    /// been running then.
    pub(crate) fn left(&self) -> impl Iterator<Item = &(Person, i64)> {
        self.left.iter().rev()
    }

    /// Finds a player by name, seat or the beginning of the key, including players who have left:
    /// then the most recent match.
    pub(crate) fn find_also_left(
        &self,
        who: &str,
        room: Option<&RoomCode>,
    ) -> Result<Person, ActError> {
        let wanted = who.trim().to_lowercase();
        let is_meant =
            |person: &Person| person.name.to_lowercase() == wanted || person.has_key(&wanted);
        match self.find(who, room) {
            Err(ActError::NotFound(text)) => {
                let found = self.left().find(|(person, _)| is_meant(person));
                found.map(|(person, _)| person.clone()).ok_or(ActError::NotFound(text))
            }
            found => found,
        }
    }

    /// Returns the player of a seat.
    pub(crate) fn at(&self, room: &RoomCode, player: PlayerId) -> Option<&Person> {
        self.people.get(&(room.clone(), player))
    }

    /// Finds the one player of a name, a seat such as `p3`, or the beginning of a key.
    pub(crate) fn find(&self, who: &str, room: Option<&RoomCode>) -> Result<Person, ActError> {
        let who = who.trim();
        let here = || self.people.values().filter(|it| room.is_none_or(|room| it.room == *room));
        let one = |found: Vec<&Person>| match found[..] {
            [] => None,
            [person] => Some(Ok(person.clone())),
            _ => {
                let all = found
                    .iter()
                    .map(|it| format!("{} (p{}, room {})", it.name, it.player.0, it.room));
                let all: Vec<_> = all.take(5).collect();
                let text = format!(
                    "{who:?} matches several players: {}; name the seat, and the room",
                    all.join(", ")
                );
                Some(Err(ActError::Conflict(text)))
            }
        };
        let seat = who.strip_prefix(['p', '#']).unwrap_or(who).parse::<u16>().ok();
        let lower = who.to_lowercase();
        one(here().filter(|it| it.name == who).collect())
            .or_else(|| one(here().filter(|it| it.name.to_lowercase() == lower).collect()))
            .or_else(|| one(here().filter(|it| Some(it.player.0) == seat).collect()))
            .or_else(|| one(here().filter(|it| it.has_key(&lower)).collect()))
            .unwrap_or_else(|| {
                let text = format!(
                    "no player here matches {who:?}; give a name, a seat such as p3, or at least \
                     {KEY_DIGITS_MIN} digits of a key"
                );
                Err(ActError::NotFound(text))
            })
    }
}

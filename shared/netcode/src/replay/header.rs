//! The first block of a recording: which game, by which rules, with which records.

use serde::{Deserialize, Serialize};

use super::error::ReplayError;
use super::file::{FRAMING, MAGIC};
use super::tables::Tables;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{
    GAME_SETUP_BYTES_MAX, NAME_BYTES_MAX, REPLAY_HEADER_BYTES_MAX, REPLAY_NAME_BYTES_MAX,
    SEATS_MAX, TEXT_BYTES_MAX, WATCHERS_MAX,
};
use crate::time::{Rates, Tick};
use crate::wire::control::Seat;
use crate::wire::protocol::{LAYOUT, VERSION, fields_hash, game_hash};
use crate::wire::talk::Look;
use crate::wire::text::printable;

/// Version of the format. Raised whenever a layout in `REPLAY.md` changes.
pub const FORMAT: u16 = 4;

/// A player or spectator in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Id of the player.
    pub player: PlayerId,
    /// Name of the player.
    pub name: String,
    /// Whether it is a bot of the server.
    pub bot: bool,
    /// The player's appearance.
    pub look: Look,
}

impl Person {
    /// Returns who has a seat.
    pub(crate) fn of((player, seat): (&PlayerId, &Seat)) -> Self {
        let Seat { name, bot, look, .. } = seat;
        Self { player: *player, name: name.clone(), bot: *bot, look: *look }
    }
}

/// Whether these people can be in one room. Makes their names printable.
pub(super) fn are_valid(people: &mut [Person]) -> bool {
    people.iter_mut().for_each(|person| person.name = printable(&person.name));
    people.len() <= usize::from(SEATS_MAX + WATCHERS_MAX)
        && people.iter().all(|person| person.name.len() <= NAME_BYTES_MAX)
}

/// What a recording is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the game.
    pub game: String,
    /// Version of its rules.
    pub rules_version: u32,
    /// [Hash of its rules](game_hash). Builds with this hash can re-simulate the recording.
    pub rules_hash: u64,
    /// [Hash of its field tables](fields_hash).
    pub fields_hash: u64,
    /// Version of the layout of control messages.
    pub layout: u32,
    /// Version of the server, for people.
    pub version: String,
    /// Name of the server, for people.
    pub server: String,
    /// Configuration of the rules.
    pub setup: Vec<u8>,
    /// Seed of the map and the rules.
    pub map_seed: u64,
    /// Seed of the world's random numbers.
    pub seed: u64,
    /// Rates of ticks and snapshots.
    pub rates: Rates,
    /// Number of ticks between two stored states.
    pub every: u16,
    /// The first tick.
    pub first: Tick,
    /// Unix time of the first tick in microseconds, on the host's clock.
    pub unix_micros: i64,
    /// Who was there at the first tick.
    pub people: Vec<Person>,
    /// The records of the game.
    pub tables: Tables,
    /// The player whose client made the recording, of what it was sent; `None` if the room made it.
    pub viewer: Option<PlayerId>,
}

/// What a room or a client adds to the header of its recording.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Name of the server, for people.
    pub server: String,
    /// Configuration of the rules.
    pub setup: Vec<u8>,
    /// Seed of the map and the rules.
    pub map_seed: u64,
    /// Seed of the world's random numbers.
    pub seed: u64,
    /// Unix time of the first tick in microseconds.
    pub unix_micros: i64,
    /// Who is there.
    pub people: Vec<Person>,
    /// The player whose client makes the recording, if it is not the room.
    pub viewer: Option<PlayerId>,
}

impl Header {
    /// Returns the header of a game's recording from a tick on.
    pub fn of<G: Game>(about: About, rates: Rates, every: u16, first: Tick) -> Self {
        let About { server, setup, map_seed, seed, unix_micros, people, viewer } = about;
        Self {
            game: G::NAME.to_owned(),
            rules_version: G::RULES_VERSION,
            rules_hash: game_hash::<G>(),
            fields_hash: fields_hash::<G>(),
            layout: LAYOUT,
            version: VERSION.to_owned(),
            server,
            setup,
            map_seed,
            seed,
            rates,
            every,
            first,
            unix_micros,
            people,
            tables: Tables::of::<G>(),
            viewer,
        }
    }

    pub(super) fn write(&self) -> Vec<u8> {
        postcard::to_extend(self, FORMAT.to_le_bytes().to_vec()).unwrap_or_default()
    }

    pub(super) fn read(payload: &[u8]) -> Result<Self, ReplayError> {
        let (format, rest) = payload.split_first_chunk::<2>().ok_or(ReplayError::Damaged)?;
        match u16::from_le_bytes(*format) {
            FORMAT => {}
            newer if newer > FORMAT => return Err(ReplayError::Newer(newer)),
            older => return Err(ReplayError::Older(older)),
        }
        if MAGIC.len() + FRAMING + payload.len() > REPLAY_HEADER_BYTES_MAX {
            return Err(ReplayError::Header("length"));
        }
        let read = postcard::take_from_bytes::<Self>(rest);
        let (mut header, rest) = read.map_err(|_| ReplayError::Header("layout"))?;
        if !rest.is_empty() {
            return Err(ReplayError::Header("length"));
        }
        header.check()?;
        Ok(header)
    }

    /// Checks all fields, and makes the texts printable.
    pub(super) fn check(&mut self) -> Result<(), ReplayError> {
        let has_people = are_valid(&mut self.people);
        let Self { rates, every, .. } = self;
        let texts = [&mut self.version, &mut self.server, &mut self.game];
        let has_texts = texts.iter().all(|text| text.len() <= TEXT_BYTES_MAX);
        texts.into_iter().for_each(|text| *text = printable(text));
        let checks = [
            ("name of the game", self.game.len() <= REPLAY_NAME_BYTES_MAX),
            ("texts", has_texts),
            ("configuration", self.setup.len() <= GAME_SETUP_BYTES_MAX),
            ("rates", rates.validate().is_ok() && *every > 0),
            ("first tick", self.first <= Tick::MAX_SENT),
            ("people", has_people),
        ];
        match checks.iter().find(|(_, is_valid)| !is_valid) {
            Some((what, _)) => Err(ReplayError::Header(what)),
            None => self.tables.check(),
        }
    }
}

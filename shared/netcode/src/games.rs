//! The games of a program: a value made in its `main`, and handed down.

use crate::client::any::AnyClient;
use crate::client::common::Common;
use crate::client::controller::{Autopilot, Controller};
use crate::client::game::Client;
use crate::fields::{Entity, Kind, UnknownKind, find_kind};
use crate::game::{Best, Game, MessageError, Setup, Strength, Unit, assert_name, write_message};
use crate::limits::GAME_SETUP_BYTES_MAX;
use crate::motion::Rules;
use crate::presentation::extrapolation::GameRules;
use crate::server::any::AnyRoom;
use crate::server::{RestoreError, Room, Rotation};
use crate::time::{LocalTime, Rates};
use crate::wire::control::Welcome;
use crate::wire::description::Description;
use crate::wire::protocol::{fields_hash, game_hash};

/// See [`GameEntry::client`].
pub type NewClient = fn(&Welcome, Common, LocalTime) -> Result<Box<dyn AnyClient>, MessageError>;

/// See [`GameEntry::restore`].
pub type Restore = fn(Rotation, &[u8], &[u8], LocalTime) -> Result<Box<dyn AnyRoom>, RestoreError>;

/// Bots of a server inside of a player's program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bots {
    /// Their number, at most [`BOTS_MAX`](crate::limits::BOTS_MAX).
    pub count: u16,
    /// Their strength.
    pub strength: Strength,
}

impl From<u16> for Bots {
    /// So many of normal strength.
    fn from(count: u16) -> Self {
        Self { count, strength: Strength::Normal }
    }
}

/// A game by its name, with all that depends on which game it is.
#[derive(Clone, Debug)]
pub struct GameEntry {
    /// [`Game::NAME`].
    pub name: &'static str,
    /// [`Entity::KINDS`] of its entities.
    pub kinds: &'static [Kind],
    /// True if it has bots of its own.
    pub has_bots: bool,
    /// Numbers of players that a host may keep as records, the better of two, and their units.
    pub measures: Vec<(&'static str, Best, Unit)>,
    /// Hash of its rules, field tables and coding: builds of different ones refuse each other.
    pub hash: fn() -> u64,
    /// Its fields and hashes, for programs in other languages.
    pub describe: fn() -> Description,
    /// Hash of its field tables, for clients with plain coding.
    pub fields_hash: fn() -> u64,
    /// Configuration of its rules; empty for their default.
    pub setup: Vec<u8>,
    /// Opens a room of it for those in the rotation, with a `setup`.
    pub open: fn(Rotation, &[u8]) -> Box<dyn AnyRoom>,
    /// Opens a room of it that goes on from a [checkpoint](AnyRoom::checkpoint), for a rotation in
    /// which nobody is, with a `setup`.
    pub restore: Restore,
    /// A client of it, from the welcome to it on. An error says that the welcome's configuration
    /// cannot be read.
    pub client: NewClient,
    /// A bot that plays it, with whims that follow from a seed.
    pub autopilot: fn(u64) -> Box<dyn Controller>,
    /// Its rules for one kind of entity, an index into `kinds`, as far as a state alone tells.
    pub rules: fn(Rates, u64, u8) -> Box<dyn Rules + Send + Sync>,
}

impl GameEntry {
    /// The entry of a game.
    pub fn of<G: Game>() -> Self {
        const { assert_name::<G>() };
        Self {
            name: G::NAME,
            kinds: G::Entity::KINDS,
            has_bots: G::KIT.bot.is_some(),
            measures: G::KIT.measures.iter().map(|it| (it.name, it.best, it.unit)).collect(),
            hash: game_hash::<G>,
            describe: Description::of::<G>,
            fields_hash: fields_hash::<G>,
            setup: Vec::new(),
            open: |rotation, setup| Box::new(Room::<G>::open(rotation, setup)),
            restore: |rotation, setup, checkpoint, now| {
                Ok(Box::new(Room::<G>::restore(rotation, setup, checkpoint, now)?))
            },
            client: |welcome, common, now| Ok(Box::new(Client::<G>::follow(welcome, common, now)?)),
            autopilot: |seed| Box::new(Autopilot::<G>::new(seed)),
            rules: |rates, seed, kind| Box::new(GameRules::<G>::new(rates, seed, kind)),
        }
    }
}

/// There is no game of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no game called '{name}'; the games are {known}")]
pub struct UnknownGame {
    /// The name that was asked for.
    pub name: String,
    /// The names that there are, with commas between.
    pub known: String,
}

/// Games in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Games(Vec<GameEntry>);

impl Games {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// These and one more. A game of the same name gives way.
    #[must_use]
    pub fn with<G: Game>(mut self) -> Self {
        self.0.retain(|entry| entry.name != G::NAME);
        self.0.push(GameEntry::of::<G>());
        self
    }

    /// These and one more, with a configuration of its rules. An error says that the configuration
    /// is too long, or not of the type that the game's [`Kit::configure`] reads.
    ///
    /// [`Kit::configure`]: crate::game::Kit::configure
    pub fn with_setup<G: Game, S: Setup<G>>(self, setup: &S) -> Result<Self, MessageError> {
        let bytes = write_message(setup)?;
        if bytes.len() > GAME_SETUP_BYTES_MAX {
            return Err(MessageError::Long);
        }
        (G::KIT.configure)(Rates::DEFAULT, 0, &bytes)?;
        let mut games = self.with::<G>();
        if let Some(last) = games.0.last_mut() {
            last.setup = bytes;
        }
        Ok(games)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &GameEntry> {
        self.0.iter()
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|entry| entry.name)
    }

    /// Their names for people, with commas between.
    pub fn list(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }

    /// The game of that name.
    pub fn get(&self, name: &str) -> Result<&GameEntry, UnknownGame> {
        let found = self.0.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| UnknownGame { name: name.to_owned(), known: self.list() })
    }

    /// Those of these names, in the order of the names.
    pub fn select(&self, names: &[impl AsRef<str>]) -> Result<Self, UnknownGame> {
        let entries = names.iter().map(|name| self.get(name.as_ref()).cloned());
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// Checks that one of them has a kind of entity of that name, in upper or lower case.
    pub fn check_kind(&self, name: &str) -> Result<(), UnknownKind> {
        let found = self.0.iter().any(|entry| find_kind(entry.kinds, name).is_ok());
        let kinds = || self.0.iter().flat_map(|entry| entry.kinds);
        if found { Ok(()) } else { Err(UnknownKind::new(name, kinds())) }
    }

    /// Each game's name and hash, for a hello that wishes for plain coding, or does not.
    pub fn hashes(&self, plain: bool) -> Vec<(String, u64)> {
        let hash = |entry: &GameEntry| if plain { (entry.fields_hash)() } else { (entry.hash)() };
        self.0.iter().map(|entry| (entry.name.to_owned(), hash(entry))).collect()
    }
}

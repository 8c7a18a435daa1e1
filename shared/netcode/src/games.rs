//! The list of games of a program, which its `main` creates and passes down.

use crate::client::any::AnyClient;
use crate::client::common::Common;
use crate::client::controller::{Autopilot, Controller};
use crate::client::game::Client;
use crate::fields::{Entity, Kind, UnknownKind, find_kind};
use crate::game::{Best, Game, MessageError, Setup, Strength, Unit, assert_name, write_message};
use crate::limits::GAME_SETUP_BYTES_MAX;
use crate::motion::Rules;
use crate::presentation::extrapolation::GameRules;
use crate::replay::{Header, Moment, MomentFinder, Replay, ReplayError};
use crate::rewind::Rewound;
use crate::server::any::AnyRoom;
use crate::server::{RestoreError, Room, Rotation, ShotFinder, Verdict, VerifyError, verify};
use crate::time::{LocalTime, Rates, Tick};
use crate::wire::control::Welcome;
use crate::wire::description::Description;
use crate::wire::protocol::{VERSION, fields_hash, game_hash};

/// Creates a client; see [`GameEntry::client`].
pub type NewClient = fn(&Welcome, Common, LocalTime) -> Result<Box<dyn AnyClient>, MessageError>;

/// Restores a room; see [`GameEntry::restore`].
pub type Restore = fn(Rotation, &[u8], &[u8], LocalTime) -> Result<Box<dyn AnyRoom>, RestoreError>;

/// Opens a room that shows a recording; see [`GameEntry::screen`].
pub type Screen = fn(Replay, Tick, LocalTime) -> Result<Box<dyn AnyRoom>, ReplayError>;

/// Searches up to this number of further ticks of a recording, and adds what it finds. Returns
/// `false` at the end. See [`GameEntry::moments`] and [`GameEntry::shots`].
pub type Search<T> = Box<dyn FnMut(&Replay, u32, &mut Vec<T>) -> bool + Send>;

/// Bots on a server that runs inside a player's program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bots {
    /// Number of bots, at most [`BOTS_MAX`](crate::limits::BOTS_MAX).
    pub count: u16,
    /// Strength of the bots.
    pub strength: Strength,
}

impl From<u16> for Bots {
    /// This number of bots of normal strength.
    fn from(count: u16) -> Self {
        Self { count, strength: Strength::Normal }
    }
}

/// A game with its type erased: its name, and functions that depend on the game.
#[derive(Clone, Debug)]
pub struct GameEntry {
    /// [`Game::name`].
    pub name: &'static str,
    /// [`Entity::kinds`] of its entities.
    pub kinds: &'static [Kind],
    /// Whether it has bots of its own.
    pub has_bots: bool,
    /// Per-player figures that a host may keep as records: name, the better of two, and unit.
    pub measures: Vec<(&'static str, Best, Unit)>,
    /// Returns the hash of its rules, field tables and coding. Builds with different hashes refuse
    /// each other.
    pub hash: fn() -> u64,
    /// Returns its fields and hashes, for programs in other languages.
    pub describe: fn() -> Description,
    /// Returns the hash of its field tables, for clients with plain coding.
    pub fields_hash: fn() -> u64,
    /// Configuration of its rules; empty for the default.
    pub setup: Vec<u8>,
    /// Opens a room for the players in the rotation, with a `setup`.
    pub open: fn(Rotation, &[u8]) -> Box<dyn AnyRoom>,
    /// Opens a room that continues from a [checkpoint](AnyRoom::checkpoint), with a `setup`. The
    /// rotation must be empty.
    pub restore: Restore,
    /// Runs a recording again and compares every tick.
    pub verify: fn(&Replay) -> Result<Verdict, VerifyError>,
    /// Opens a room that shows a recording from a tick on, which it reaches at the given time.
    pub screen: Screen,
    /// Begins to look for moments in a recording.
    pub moments: fn(&Header) -> Search<Moment>,
    /// Begins to [explain](ShotFinder) the shots of a recording.
    pub shots: fn() -> Search<Rewound>,
    /// Creates a client from a welcome. Fails if the configuration in the welcome cannot be read.
    pub client: NewClient,
    /// Creates a bot that plays the game. Its random decisions follow from the seed.
    pub autopilot: fn(u64) -> Box<dyn Controller>,
    /// Returns the game's rules for one kind of entity, an index into `kinds`, as far as they only
    /// need that entity's state.
    pub rules: fn(Rates, u64, u8) -> Box<dyn Rules + Send + Sync>,
}

impl GameEntry {
    /// Creates the entry of a game.
    pub fn of<G: Game>() -> Self {
        const { assert_name::<G>() };
        Self {
            name: G::name(),
            kinds: G::Entity::kinds(),
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
            verify: verify::<G>,
            screen: |replay, at, now| Ok(Box::new(Room::<G>::screen(replay, at, now)?)),
            moments: |header| {
                let mut finder = MomentFinder::<G>::new(header);
                Box::new(move |replay, ticks, moments| finder.find(replay, ticks, moments))
            },
            shots: || {
                let mut finder = ShotFinder::<G>::default();
                Box::new(move |replay, ticks, shots| finder.find(replay, ticks, shots))
            },
            client: |welcome, common, now| Ok(Box::new(Client::<G>::follow(welcome, common, now)?)),
            autopilot: |seed| Box::new(Autopilot::<G>::new(seed)),
            rules: |rates, seed, kind| Box::new(GameRules::<G>::new(rates, seed, kind)),
        }
    }
}

/// No game has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no game called '{name}'; the games are {known}")]
pub struct UnknownGame {
    /// The requested name.
    pub name: String,
    /// The known names, separated by commas.
    pub known: String,
}

/// Games, in the order in which they were added, and the version of the program that has them.
#[derive(Clone, Debug)]
pub struct Games {
    entries: Vec<GameEntry>,
    version: &'static str,
}

impl Default for Games {
    fn default() -> Self {
        Self { entries: Vec::new(), version: VERSION }
    }
}

impl Games {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game. It replaces a game of equal name.
    #[must_use]
    pub fn with<G: Game>(mut self) -> Self {
        self.entries.retain(|entry| entry.name != G::name());
        self.entries.push(GameEntry::of::<G>());
        self
    }

    /// Sets the version of the program, as in [Semantic Versioning](https://semver.org). By
    /// default, it is the version of this crate. A client states it, and the server compares it
    /// with its own: hosts can name the oldest version that may join, and players whose build does
    /// not match are told which side is older.
    #[must_use]
    pub fn of_version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// Returns the version of the program.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// Adds a game with a configuration of its rules.
    ///
    /// # Errors
    ///
    /// The configuration is too long, or not of the type that the game's [`Kit::configure`] reads.
    ///
    /// [`Kit::configure`]: crate::game::Kit::configure
    pub fn with_setup<G: Game, S: Setup<G>>(self, setup: &S) -> Result<Self, MessageError> {
        let bytes = write_message(setup)?;
        if bytes.len() > GAME_SETUP_BYTES_MAX {
            return Err(MessageError::Long);
        }
        (G::KIT.configure)(Rates::DEFAULT, 0, &bytes)?;
        let mut games = self.with::<G>();
        if let Some(last) = games.entries.last_mut() {
            last.setup = bytes;
        }
        Ok(games)
    }

    /// Iterates over all games.
    pub fn iter(&self) -> impl Iterator<Item = &GameEntry> {
        self.entries.iter()
    }

    /// Iterates over the names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.name)
    }

    /// Returns the names for people, separated by commas.
    pub fn list(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }

    /// Returns the game with this name.
    pub fn get(&self, name: &str) -> Result<&GameEntry, UnknownGame> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| UnknownGame { name: name.to_owned(), known: self.list() })
    }

    /// Returns the games with these names, in the order of `names`.
    pub fn select(&self, names: &[impl AsRef<str>]) -> Result<Self, UnknownGame> {
        let entries = names.iter().map(|name| self.get(name.as_ref()).cloned());
        Ok(Self { entries: entries.collect::<Result<_, _>>()?, version: self.version })
    }

    /// Checks that one of the games has a kind of entity with this name, ignoring case.
    pub fn check_kind(&self, name: &str) -> Result<(), UnknownKind> {
        let found = self.entries.iter().any(|entry| find_kind(entry.kinds, name).is_ok());
        let kinds = || self.entries.iter().flat_map(|entry| entry.kinds);
        if found { Ok(()) } else { Err(UnknownKind::new(name, kinds())) }
    }

    /// Returns each game's name and hash for a hello, with or without plain coding.
    pub fn hashes(&self, plain: bool) -> Vec<(String, u64)> {
        let hash = |entry: &GameEntry| if plain { (entry.fields_hash)() } else { (entry.hash)() };
        self.entries.iter().map(|entry| (entry.name.to_owned(), hash(entry))).collect()
    }
}

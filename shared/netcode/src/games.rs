//! The games of a program: a value made in its `main`, and handed down.

use crate::client::any::AnyClient;
use crate::client::common::Common;
use crate::client::controller::{Autopilot, Controller};
use crate::client::game::Client;
use crate::fields::{Entity, Kind};
use crate::game::Game;
use crate::motion::Rules;
use crate::presentation::extrapolation::GameRules;
use crate::server::any::AnyRoom;
use crate::server::{Room, Rotation};
use crate::time::{LocalTime, Rates};
use crate::wire::control::Welcome;
use crate::wire::protocol::game_hash;

/// A game by its name, with all that depends on which game it is.
#[derive(Clone, Copy, Debug)]
pub struct GameEntry {
    /// [`Game::NAME`].
    pub name: &'static str,
    /// [`Entity::KINDS`] of its entities.
    pub kinds: &'static [Kind],
    /// True if it has bots of its own.
    pub has_bots: bool,
    /// Hash of its rules, field tables and coding: builds of different ones refuse each other.
    pub hash: fn() -> u64,
    /// Opens a room of it for those in the rotation.
    pub open: fn(Rotation) -> Box<dyn AnyRoom>,
    /// A client of it, from the welcome to it on.
    pub client: fn(&Welcome, Common, LocalTime) -> Box<dyn AnyClient>,
    /// A bot that plays it, with whims that follow from a seed.
    pub autopilot: fn(u64) -> Box<dyn Controller>,
    /// Its rules for one kind of entity, an index into `kinds`, as far as a state alone tells.
    pub rules: fn(Rates, u64, u8) -> Box<dyn Rules + Send + Sync>,
}

impl GameEntry {
    /// The entry of a game.
    pub fn of<G: Game>() -> Self {
        Self {
            name: G::NAME,
            kinds: G::Entity::KINDS,
            has_bots: G::KIT.bot.is_some(),
            hash: game_hash::<G>,
            open: |rotation| Box::new(Room::<G>::open(rotation)),
            client: |welcome, common, now| Box::new(Client::<G>::follow(welcome, common, now)),
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
        let entries = names.iter().map(|name| self.get(name.as_ref()).copied());
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// Each game's name and hash, for a hello.
    pub fn hashes(&self) -> Vec<(String, u64)> {
        self.0.iter().map(|entry| (entry.name.to_owned(), (entry.hash)())).collect()
    }
}

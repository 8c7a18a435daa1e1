//! Settings of a server's rooms.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use phaselock::games::{GameEntry, Games};
#[cfg(doc)]
use phaselock::limits::ROOMS_MAX;
use phaselock::server::{RoomConfig, RoomSettings};
use phaselock::time::Micros;
use phaselock::wire::rooms::RoomCode;

use super::hosting::Hosting;

/// Rooms of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomsConfig {
    /// Number of rooms that always exist: 1 or more.
    pub rooms: u16,
    /// The maximum number of rooms, at most [`ROOMS_MAX`]. Rooms beyond the first ones are created
    /// when a player comes with a new code, or when all are full.
    pub rooms_max: u16,
    /// Number of room threads. With 0 or 1 all rooms run on the server's own task.
    pub threads: u16,
    /// How long a room that was created on demand may be empty before it is closed.
    pub empty: Micros,
}

impl Default for RoomsConfig {
    /// One room, and a minute for empty ones.
    fn default() -> Self {
        Self { rooms: 1, rooms_max: 1, threads: 1, empty: Micros::from_ms(60_000) }
    }
}

/// Settings that all rooms share.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) games: SharedGames,
    /// Configuration of the first room; others differ in seeds, number and start.
    pub(super) config: RoomConfig,
    /// How long a room that was created on demand may be empty before it is closed.
    pub(super) empty: Micros,
    /// Whether there may be several rooms, so that the log names them.
    pub(super) is_many: bool,
    /// Whether a room that panics is reopened; otherwise the server panics.
    pub(super) catches: bool,
    /// Settings that the host has changed since, also for rooms that are opened later.
    pub(super) changes: SharedChanges,
    pub(super) hosting: Hosting,
}

/// Settings from the host for rooms and games that begin later.
pub(super) type SharedChanges = Arc<Mutex<Option<Arc<SettingsByRoom>>>>;

/// Settings for all rooms, with overrides for single rooms and games.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsByRoom {
    common: RoomSettings,
    special: BTreeMap<(Option<RoomCode>, Option<String>), RoomSettings>,
}

impl From<RoomSettings> for SettingsByRoom {
    fn from(common: RoomSettings) -> Self {
        Self { common, special: BTreeMap::new() }
    }
}

impl SettingsByRoom {
    /// Sets the settings for when a room (`None`: any) plays a game (`None`: any). Those of a room
    /// override those of a game.
    pub fn set(&mut self, room: Option<RoomCode>, game: Option<String>, changes: RoomSettings) {
        self.special.insert((room, game), changes);
    }

    /// Returns the settings of a room that plays a game.
    pub fn of(&self, room: &RoomCode, game: &str) -> &RoomSettings {
        let (room, game) = (Some(room.clone()), Some(game.to_owned()));
        let find = |room: &Option<RoomCode>, game: &Option<String>| {
            self.special.get(&(room.clone(), game.clone()))
        };
        find(&room, &game)
            .or_else(|| find(&room, &None))
            .or_else(|| find(&None, &game))
            .unwrap_or(&self.common)
    }

    /// Returns the maximum numbers of seats and of spectators in a room.
    pub(super) fn most(&self) -> (u16, u16) {
        let all = self.special.values().chain([&self.common]);
        all.fold((0, 0), |(players, watchers), it| {
            (players.max(it.players_max), watchers.max(it.watchers_max))
        })
    }
}

/// The games of a rotation, which the host may change.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedGames(Arc<Mutex<Arc<[GameEntry]>>>);

impl SharedGames {
    pub(super) fn all(&self) -> Arc<[GameEntry]> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the games. An empty list changes nothing.
    pub(super) fn set(&self, games: &Games) {
        let games: Arc<[_]> = games.iter().cloned().collect();
        if !games.is_empty() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = games;
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.all().iter().map(|entry| entry.name.to_owned()).collect()
    }

    pub(super) fn named(&self, name: &str) -> Option<GameEntry> {
        self.all().iter().find(|entry| entry.name == name).cloned()
    }

    /// Returns the first game of a room. Rooms 1, 2 and so on start with different games, so that
    /// all games are played at once if there are enough rooms; rooms with other codes start with
    /// the first.
    pub(super) fn first_of(&self, code: &RoomCode) -> Option<GameEntry> {
        let all = self.all();
        let before = code.as_str().parse::<usize>().map_or(0, |number| number.saturating_sub(1));
        all.get(before.checked_rem(all.len())?).cloned()
    }

    /// Returns the game after another, or the first if that is no longer in the list.
    pub(super) fn after(&self, name: &str) -> Option<GameEntry> {
        let all = self.all();
        let next = all.iter().position(|entry| entry.name == name).map_or(0, |at| at + 1);
        all.get(next).or(all.first()).cloned()
    }

    /// Returns the rounds of a game, without a limit if no other game follows.
    pub(super) fn rounds(&self, game: &str, rounds: Option<u32>) -> Option<u32> {
        rounds.filter(|_| self.all().iter().any(|entry| entry.name != game))
    }
}

impl Plan {
    /// Returns the host's settings for a room that plays a game, if there are any.
    pub(super) fn changed(&self, room: &RoomCode, game: &str) -> Option<RoomSettings> {
        let settings = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let changes = settings.of(room, game).clone();
        let (rounds, games) = (self.games.rounds(game, changes.rounds), self.games.names());
        Some(RoomSettings { rounds, games, ..changes })
    }

    /// Returns the configuration of a room that is opened now with a game.
    pub(super) fn config(&self, room: &RoomCode, game: &str) -> RoomConfig {
        let mut config = self.config.clone();
        if let Some(settings) = self.changed(room, game) {
            config.settings = settings;
        }
        config.settings.games = self.games.names();
        // The only game has no end.
        config.settings.rounds = config.settings.rounds.filter(|_| self.games.all().len() > 1);
        config
    }

    /// Returns the maximum numbers of seats and of spectators in a room.
    pub(super) fn most(&self) -> (u16, u16) {
        let settings = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        settings
            .map_or((self.config.settings.players_max, self.config.settings.watchers_max), |it| {
                it.most()
            })
    }

    /// Returns the server's current name.
    pub(super) fn name(&self) -> String {
        let settings = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        settings.map_or_else(|| self.config.settings.name.clone(), |it| it.common.name.clone())
    }
}

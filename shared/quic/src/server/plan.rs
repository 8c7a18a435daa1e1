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
    /// Rooms that are always there: 1 or more.
    pub rooms: u16,
    /// Rooms at most, [`ROOMS_MAX`] or fewer. Those beyond the first are made when somebody comes
    /// with a new code, or when all are full.
    pub rooms_max: u16,
    /// Threads that run rooms. With 0 or 1 all rooms run where the server runs.
    pub threads: u16,
    /// Time after which a room that was made on demand is closed when nobody is in it.
    pub empty: Micros,
}

impl Default for RoomsConfig {
    /// One room, and a minute for empty ones.
    fn default() -> Self {
        Self { rooms: 1, rooms_max: 1, threads: 1, empty: Micros::from_ms(60_000) }
    }
}

/// Settings that all rooms have in common.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) games: SharedGames,
    /// Of the first room; the others differ in seeds, number and start.
    pub(super) config: RoomConfig,
    /// A room that was made on demand is closed after so long without anybody.
    pub(super) empty: Micros,
    /// There may be several rooms, and the log names them.
    pub(super) is_many: bool,
    /// A room that panics is opened again; otherwise the server panics.
    pub(super) catches: bool,
    /// Settings that the host has changed since, also for rooms that are opened later.
    pub(super) changes: SharedChanges,
    pub(super) hosting: Hosting,
}

/// Settings of the rooms, from the host to rooms and games that begin later.
pub(super) type SharedChanges = Arc<Mutex<Option<Arc<SettingsByRoom>>>>;

/// Settings of all rooms, and different ones of single rooms and games.
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
    /// Sets the settings with which a room (`None`: all) plays a game (`None`: any). Those of a
    /// room override those of a game.
    pub fn set(&mut self, room: Option<RoomCode>, game: Option<String>, changes: RoomSettings) {
        self.special.insert((room, game), changes);
    }

    /// Settings of a room that plays a game.
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

    /// Most seats of a room, and most people who watch one.
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

    /// Plays others from now on; none changes nothing.
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

    /// The game with which a room begins: rooms 1, 2 and on with one each in turn, so that all are
    /// played at once where there are as many rooms, and rooms of other codes with the first.
    pub(super) fn first_of(&self, code: &RoomCode) -> Option<GameEntry> {
        let all = self.all();
        let before = code.as_str().parse::<usize>().map_or(0, |number| number.saturating_sub(1));
        all.get(before.checked_rem(all.len())?).cloned()
    }

    /// The game after another; the first, if that is not among them any more.
    pub(super) fn after(&self, name: &str) -> Option<GameEntry> {
        let all = self.all();
        let next = all.iter().position(|entry| entry.name == name).map_or(0, |at| at + 1);
        all.get(next).or(all.first()).cloned()
    }

    /// Rounds of a game: it has no end where no other follows.
    pub(super) fn rounds(&self, game: &str, rounds: Option<u32>) -> Option<u32> {
        rounds.filter(|_| self.all().iter().any(|entry| entry.name != game))
    }
}

impl Plan {
    /// The host's settings for a room that plays a game, if it has given any.
    pub(super) fn changed(&self, room: &RoomCode, game: &str) -> Option<RoomSettings> {
        let settings = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let changes = settings.of(room, game).clone();
        let (rounds, games) = (self.games.rounds(game, changes.rounds), self.games.names());
        Some(RoomSettings { rounds, games, ..changes })
    }

    /// Settings of a room that is opened now with a game.
    pub(super) fn config(&self, room: &RoomCode, game: &str) -> RoomConfig {
        let mut config = self.config.clone();
        if let Some(settings) = self.changed(room, game) {
            config.settings = settings;
        }
        config.settings.games = self.games.names();
        // A game alone has no end.
        config.settings.rounds = config.settings.rounds.filter(|_| self.games.all().len() > 1);
        config
    }

    /// Most seats of a room, and most people who watch one.
    pub(super) fn most(&self) -> (u16, u16) {
        let settings = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        settings
            .map_or((self.config.settings.players_max, self.config.settings.watchers_max), |it| {
                it.most()
            })
    }

    /// The server's name, as it is now.
    pub(super) fn name(&self) -> String {
        let settings = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        settings.map_or_else(|| self.config.settings.name.clone(), |it| it.common.name.clone())
    }
}

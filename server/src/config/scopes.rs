//! Settings of single games and rooms: tables `[per_game.NAME]` and `[per_room.CODE]` of the file.

use std::collections::BTreeMap;

use phaselock::wire::rooms::RoomCode;

use super::error::Mistake;
use super::layers::Layers;
use super::settings::settings;
use super::types::{Config, Special};

/// Names of the tables in the file.
pub(super) const PER_GAME: &str = "per_game";
pub(super) const PER_ROOM: &str = "per_room";

/// Settings of single games and rooms as they are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scopes {
    pub(super) games: BTreeMap<String, Layers>,
    pub(super) rooms: BTreeMap<RoomCode, Layers>,
}

impl Scopes {
    /// Returns the settings of rooms and games that differ from these, and all mistakes in them.
    /// Those of a room override those of a game.
    pub(super) fn settle(&self, config: &Config) -> (Vec<Special>, Vec<Mistake>) {
        let (mut special, mut mistakes) = (Vec::new(), Vec::new());
        let mut games = vec![(None, config.clone())];
        for (game, layers) in &self.games {
            games.push((Some(game.clone()), with(config, layers, &mut mistakes)));
        }
        for (game, config) in games.iter().filter(|(game, _)| game.is_some()) {
            special.push(Special { room: None, game: game.clone(), config: config.clone() });
        }
        for (room, layers) in &self.rooms {
            for (at, (game, config)) in games.iter().enumerate() {
                // Each mistake is reported once.
                let mut repeated = Vec::new();
                let mistakes = if at == 0 { &mut mistakes } else { &mut repeated };
                let config = with(config, layers, mistakes);
                special.push(Special { room: Some(room.clone()), game: game.clone(), config });
            }
        }
        (special, mistakes)
    }

    /// Returns each setting of each scope, by a name such as `per_room.lobby.bots`, with its value
    /// and origin.
    pub(super) fn list(&self) -> BTreeMap<String, (String, String)> {
        let games = self.games.iter().map(|(name, it)| (format!("{PER_GAME}.{name}"), it));
        let rooms = self.rooms.iter().map(|(code, it)| (format!("{PER_ROOM}.{code}"), it));
        let all = games.chain(rooms).flat_map(|(scope, layers)| {
            let config = with(&Config::default(), layers, &mut Vec::new());
            let given = settings().filter_map(move |setting| {
                let given = layers.get(setting.flag)?;
                let value = ((setting.show)(&config), given.origin.clone());
                Some((format!("{scope}.{}", setting.key), value))
            });
            given.collect::<Vec<_>>()
        });
        all.collect()
    }
}

/// Returns these settings, overridden by `layers`.
fn with(config: &Config, layers: &Layers, mistakes: &mut Vec<Mistake>) -> Config {
    let mut config = config.clone();
    for setting in settings() {
        let Some(given) = layers.get(setting.flag) else { continue };
        if let Err(faults) = (setting.read)(&mut config, &given.text) {
            mistakes.extend(faults.mistakes(&given.origin, &given.text));
        }
    }
    config
}

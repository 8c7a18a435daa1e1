//! How the program's games relate to the settings and to records.

use std::collections::BTreeMap;

use phaselock::game::{Best, Unit};
use phaselock::games::Games;

use crate::config::{Mistake, SendRules, Settings};

/// Returns mistakes in the names of games and kinds of entities.
pub(crate) fn check_games(games: &Games, settings: &Settings) -> Vec<Mistake> {
    let config = &settings.config;
    let special = config.special.iter().filter(|it| it.room.is_none());
    let special = special.filter_map(|it| {
        let name = it.game.as_deref()?;
        let error = games.get(name).err()?;
        Some(Mistake::Game {
            origin: format!("[per_game.{name}]"),
            name: name.to_owned(),
            error: error.to_string(),
        })
    });
    let unknown = config.play.game.iter().filter_map(|name| {
        let (origin, error) = (settings.origin("game"), games.get(name).err()?.to_string());
        Some(Mistake::Game { origin, name: name.clone(), error })
    });
    let mut mistakes: Vec<_> = unknown.chain(special).collect();
    // Next to an unknown game, a kind may belong to that game unless its spelling is like no
    // other's.
    let is_sure = settings.is_sure("game");
    let selected = games.select(&config.game_names(games)).ok().filter(|_| is_sure);
    let selected = selected.as_ref().unwrap_or(games);
    for SendRules { origin, game, kinds } in settings.send_rules() {
        let of_game = game.map(|game| games.select(&[game]));
        let games = match &of_game {
            None => selected,
            Some(Ok(game)) => game,
            // An unknown game is reported already.
            Some(Err(_)) => games,
        };
        mistakes.extend(kinds.into_iter().filter_map(|name| {
            let error = games.check_kind(&name).err()?.to_string();
            Some(Mistake::Game { origin: origin.clone(), name, error })
        }));
    }
    mistakes
}

/// Returns the scores that games report for records, by game and name.
pub(crate) fn measures_of(games: &Games) -> BTreeMap<(String, String), (Best, Unit)> {
    let all = games.iter().flat_map(|game| game.measures.iter().map(move |it| (game.name, it)));
    let measure = |(game, (name, best, unit)): (&str, &(&str, Best, Unit))| {
        ((game.to_owned(), (*name).to_owned()), (*best, *unit))
    };
    all.map(measure).collect()
}

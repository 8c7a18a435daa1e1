//! Pictures and controls of the five games.

mod asteroids;
#[cfg(test)]
mod heard_tests;
mod layers;
mod platformer;
mod puck;
mod race;
mod rounds;
mod skirmish;

pub(crate) use asteroids::AsteroidsScreen;
pub(crate) use platformer::PlatformerScreen;
pub(crate) use puck::PuckScreen;
pub(crate) use race::RaceScreen;
pub(crate) use skirmish::SkirmishScreen;

use phaselock_client::view::Views;

/// The five games with their views.
pub(crate) fn all() -> Views {
    Views::new()
        .with::<SkirmishScreen>()
        .with::<PuckScreen>()
        .with::<AsteroidsScreen>()
        .with::<RaceScreen>()
        .with::<PlatformerScreen>()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use phaselock_client::actions::ALL;
    use phaselock_client::bindings::Binding;

    #[test]
    fn every_game_can_be_seen() {
        let (seen, games) = (super::all(), phaselock_games::all());
        assert_eq!(seen.games().hashes(false), games.hashes(false));
    }

    #[test]
    fn page_for_players_lists_every_action() {
        let page = include_str!("../../../PLAYING.md");
        for (game, _, own) in super::all().actions() {
            for action in own {
                let keys = action.keys.join("`, `");
                let row = format!("| `{game}.{}` | {} | `{keys}` |", action.id, action.title);
                assert!(page.contains(&row), "PLAYING.md lacks:\n{row}");
            }
        }
    }

    #[test]
    fn default_bindings_mean_something_and_do_not_conflict() {
        for (game, _, own) in super::all().actions() {
            let mut taken = HashMap::new();
            let mut ids = HashSet::new();
            for action in ALL.iter().chain(own) {
                assert!(ids.insert(action.id), "{game}: two actions are called {}", action.id);
                for name in action.keys {
                    let binding = Binding::parse(name);
                    assert!(binding.is_some(), "{game}: {} is bound to {name}", action.id);
                    let other = taken.insert(binding, action.id);
                    assert_eq!(other, None, "{game}: {name} does {} as well", action.id);
                }
            }
        }
    }
}

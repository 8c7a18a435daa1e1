//! What the five games look and sound like: a view of each, with its controls, cues and lesson.
//!
//! A program adds them to its list with [`all`].
//!
//! ```text
//! <game>/mod.rs  the view -> its parts: world, figures, events, cues, lesson
//! rounds         clock, results and scores, which all games share
//! layers         building blocks of sounds
//! ```

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

mod asteroids;
mod layers;
mod platformer;
mod puck;
mod race;
mod rounds;
mod skirmish;
#[cfg(test)]
mod sound_tests;

pub use asteroids::AsteroidsScreen;
pub use platformer::PlatformerScreen;
pub use puck::PuckScreen;
pub use race::RaceScreen;
pub use skirmish::SkirmishScreen;

use phaselock::game::Game;
use phaselock_ui::view::{GameView, Register};

/// Adds the five games with their views to a list, in the order of menus.
#[must_use]
pub fn all<L: Register>(list: L) -> L {
    list.with::<SkirmishScreen>()
        .with::<PuckScreen>()
        .with::<AsteroidsScreen>()
        .with::<RaceScreen>()
        .with::<PlatformerScreen>()
}

/// Names and titles of games.
#[derive(Default)]
struct Titles(Vec<(&'static str, &'static str)>);

impl Register for Titles {
    fn with<V: GameView>(mut self) -> Self {
        self.0.push((V::Game::NAME, V::TITLE));
        self
    }
}

/// Title of one of the five games, by its name.
fn title_of(name: &str) -> Option<&'static str> {
    let Titles(titles) = all(Titles::default());
    titles.into_iter().find(|(it, _)| *it == name).map(|(_, title)| title)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use phaselock::fields::Entity as _;
    use phaselock::game::Game;
    use phaselock::games::Games;
    use phaselock::presentation::presenter::is_moving;
    use phaselock_ui::actions::ALL;
    use phaselock_ui::bindings::Binding;
    use phaselock_ui::prelude::*;

    /// The games with their actions.
    #[derive(Default)]
    struct Seen {
        games: Games,
        actions: Vec<(&'static str, &'static [Action])>,
    }

    impl Register for Seen {
        fn with<V: GameView>(mut self) -> Self {
            self.games = self.games.with::<V::Game>();
            self.actions.push((V::Game::NAME, V::ACTIONS));
            self
        }
    }

    fn seen() -> Seen {
        super::all(Seen::default())
    }

    #[test]
    fn every_game_can_be_seen() {
        let (Seen { games: seen, .. }, games) = (seen(), phaselock_games::all());
        assert_eq!(seen.hashes(false), games.hashes(false));
    }

    #[test]
    fn games_have_titles_by_their_names() {
        assert_eq!(super::title_of("puck"), Some("Shuffle Puck"));
        assert_eq!(super::title_of("Shuffle Puck"), None);
    }

    fn check_kinds<V: GameView>() {
        let kinds = <V::Game as Game>::Entity::KINDS.iter();
        for kind in kinds.filter(|kind| is_moving(kind.fields)) {
            let words = V::kind_words(kind.name);
            assert_ne!(words, kind.name, "{}: the record's name is shown", V::TITLE);
        }
    }

    #[test]
    fn every_kind_that_moves_has_words() {
        check_kinds::<super::SkirmishScreen>();
        check_kinds::<super::PuckScreen>();
        check_kinds::<super::AsteroidsScreen>();
        check_kinds::<super::RaceScreen>();
        check_kinds::<super::PlatformerScreen>();
    }

    fn check_lesson<V: GameView>() {
        let steps = V::LESSON;
        assert!((3..=6).contains(&steps.len()), "{}: {} steps", V::TITLE, steps.len());
        let mut seen = HashSet::new();
        for step in steps {
            let words = (step.words)(&Controls::default());
            assert!(words.ends_with('.') && !words.contains(['{', '}']), "{words}");
            // Two lines of the panel.
            assert!(words.len() < 90, "{words}");
            assert!((0.0..=2.0).contains(&step.secs), "{words} for {} s", step.secs);
            assert!(seen.insert(words), "a step is listed twice");
        }
    }

    #[test]
    fn every_game_has_a_short_lesson_with_the_keys_as_they_are_bound() {
        check_lesson::<super::SkirmishScreen>();
        check_lesson::<super::PuckScreen>();
        check_lesson::<super::AsteroidsScreen>();
        check_lesson::<super::RaceScreen>();
        check_lesson::<super::PlatformerScreen>();
        let words = (super::SkirmishScreen::LESSON[0].words)(&Controls::default());
        assert_eq!(words, "Run with W A S D or arrows.");
    }

    #[test]
    fn default_bindings_mean_something_and_do_not_conflict() {
        for (game, own) in seen().actions {
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

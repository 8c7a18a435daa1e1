//! The games of a program with their views.

use egui_macroquad::egui::Color32;
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::time::LocalTime;

use super::play::{AnyPlay, Play};
use phaselock_ui::controls::Action;
use phaselock_ui::view::{GameView, Register};

/// A game's view, by the game's name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewEntry {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) actions: &'static [Action],
    pub(crate) backdrop: Color32,
    /// Whether the game has a lesson.
    pub(crate) teaches: bool,
    pub(crate) begin: fn(LocalTime) -> Box<dyn AnyPlay>,
}

/// Games with their views, in the order of menus.
#[derive(Clone, Debug, Default)]
pub struct Views {
    games: Games,
    entries: Vec<ViewEntry>,
}

impl Views {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game with its view.
    #[must_use]
    pub fn with<V: GameView>(mut self) -> Self {
        self.games = self.games.with::<V::Game>();
        self.entries.push(ViewEntry {
            name: V::Game::NAME,
            title: V::TITLE,
            actions: V::ACTIONS,
            backdrop: V::BACKDROP,
            teaches: !V::LESSON.is_empty(),
            begin: |now| Box::new(Play::<V>::new(now)),
        });
        self
    }

    /// Sets the version of the program; see [`Games::of_version`].
    #[must_use]
    pub fn of_version(self, version: &'static str) -> Self {
        Self { games: self.games.of_version(version), ..self }
    }

    /// The games.
    pub fn games(&self) -> &Games {
        &self.games
    }

    /// The games' names, titles and actions.
    pub fn actions(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static [Action])> {
        self.entries.iter().map(|entry| (entry.name, entry.title, entry.actions))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ViewEntry> {
        self.entries.iter().rev().find(|entry| entry.name == name)
    }
}

impl Register for Views {
    fn with<V: GameView>(self) -> Self {
        self.with::<V>()
    }
}

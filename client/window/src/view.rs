//! The seam between the window and what each game looks like.
//!
//! A game that can be seen implements [`GameView`] in a file of its own, and registers in
//! [`Views`] beside the game by [`Views::with`].

use std::collections::BTreeMap;

use egui_macroquad::egui::{Color32, Painter, Pos2, Rect};
use phaselock::client::{Seat, View};
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::ids::PlayerId;
use phaselock::motion::interpolate::TickTime;
use phaselock::time::{LocalTime, Rates};

use super::camera::Camera;
use super::controls::Controls;
use super::play::{Play, Playing};

/// How a game is seen and steered; the value is what drawing keeps in mind from frame to frame: camera,
/// sparks, what was seen last.
pub trait GameView: Default + 'static {
    /// The game.
    type Game: Game;
    /// Its title.
    const TITLE: &'static str;
    /// Keys, and what they do.
    const KEYS: &'static [(&'static str, &'static str)];
    /// What is seen where nothing is painted. Filling the window with it costs next to nothing,
    /// while every layer painted over it is felt where there is no graphics card.
    const BACKDROP: Color32;

    /// What the player's controls command.
    fn input(&self, controls: &Controls) -> <Self::Game as Game>::Input;

    /// The camera that was last drawn with, for what is drawn over the picture; none before that.
    fn camera(&self) -> Option<Camera>;

    /// Takes note of what has changed, moves what moves by itself, and paints.
    fn draw(&mut self, scene: &Scene<'_, Self::Game>, painter: &Painter);
}

/// All there is to know for a frame.
#[derive(Debug)]
pub struct Scene<'a, G: Game> {
    /// Who and what is where.
    pub view: &'a View<G>,
    /// The rules and the map.
    pub game: &'a G,
    /// The world's rates.
    pub rates: Rates,
    /// The own seat.
    pub player: PlayerId,
    /// Who plays.
    pub roster: &'a BTreeMap<PlayerId, Seat>,
    /// The own round trip in milliseconds, once it is known.
    pub round_trip_ms: Option<f64>,
    /// The window, in points.
    pub screen: Rect,
    /// Where the mouse is in it.
    pub pointer: Pos2,
    /// Seconds since the last frame.
    pub secs: f32,
    /// Seconds since the session began.
    pub age_secs: f32,
    /// Whether the player plays, rather than looks at a menu or waits for the server.
    pub active: bool,
    /// Whether the player wants to see the scores.
    pub scores: bool,
    /// Whether something lies over the picture where hints would be.
    pub crowded: bool,
}

impl<G: Game> Scene<'_, G> {
    /// What to call a player.
    pub fn name_of(&self, player: PlayerId) -> &str {
        self.roster.get(&player).map_or("somebody", |seat| &seat.name)
    }

    /// The tick that the own player is drawn at, with the part of the next one that has passed: what moves
    /// by the clock is drawn by it.
    pub fn own_tick(&self) -> TickTime {
        TickTime::at(self.rates, self.view.own_time)
    }

    /// Whether the server plays it.
    pub fn is_bot(&self, player: PlayerId) -> bool {
        self.roster.get(&player).is_some_and(|seat| seat.bot)
    }
}

/// A game's view, by the game's name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewEntry {
    name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) keys: &'static [(&'static str, &'static str)],
    pub(crate) backdrop: Color32,
    begin: fn(LocalTime) -> Box<dyn Play>,
}

impl ViewEntry {
    /// Begins to show a game.
    pub(crate) fn begin(&self, now: LocalTime) -> Box<dyn Play> {
        (self.begin)(now)
    }
}

/// Games with their views, in the order in which menus list them.
#[derive(Clone, Debug, Default)]
pub struct Views {
    games: Games,
    entries: Vec<ViewEntry>,
}

impl Views {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// These, and one more game with its view.
    #[must_use]
    pub fn with<V: GameView>(mut self) -> Self {
        self.games = self.games.with::<V::Game>();
        self.entries.push(ViewEntry {
            name: V::Game::NAME,
            title: V::TITLE,
            keys: V::KEYS,
            backdrop: V::BACKDROP,
            begin: |now| Box::new(Playing::<V>::new(now)),
        });
        self
    }

    /// The games.
    pub fn games(&self) -> &Games {
        &self.games
    }

    /// The view of the game of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&ViewEntry> {
        self.entries.iter().rev().find(|entry| entry.name == name)
    }
}

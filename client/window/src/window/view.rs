//! The seam between the window and what each game looks like.
//!
//! A game that can be seen implements [`GameView`] in a file of its own, and is added to
//! [`start`], the one place that names them.

use std::collections::BTreeMap;

use egui_macroquad::egui::{Color32, Painter, Pos2, Rect};
use phaselock::client::{Carried, Seat, View};
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::motion::interpolate::TickTime;
use phaselock::time::{LocalTime, Rates};
use phaselock::wire::control::Welcome;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;

use super::camera::Camera;
use super::hands::Hands;
use super::play::{Play, Playing};

/// A game that can be seen and steered.
pub(crate) trait GameView: Game {
    /// What to call it.
    const TITLE: &'static str;
    /// Keys, and what they do.
    const CONTROLS: &'static [(&'static str, &'static str)];
    /// What is seen where nothing is painted. Filling the window with it costs next to nothing,
    /// while every layer painted over it is felt where there is no graphics card.
    const BACKDROP: Color32;
    /// What drawing keeps in mind from frame to frame: camera, sparks, what was seen last.
    type Screen: Default;

    /// What the player's hands command.
    fn input(screen: &Self::Screen, hands: &Hands) -> Self::Input;

    /// The camera that was last drawn with, for what is drawn over the picture; none before that.
    fn camera(screen: &Self::Screen) -> Option<Camera>;

    /// Takes note of what has changed, moves what moves by itself, and paints.
    fn draw(screen: &mut Self::Screen, scene: &Scene<'_, Self>, painter: &Painter);
}

/// All there is to know for a frame.
#[derive(Debug)]
pub(crate) struct Scene<'a, G: Game> {
    /// Who and what is where.
    pub(crate) view: &'a View<G>,
    /// The rules and the map.
    pub(crate) game: &'a G,
    /// The world's rates.
    pub(crate) rates: Rates,
    /// The own seat.
    pub(crate) player: PlayerId,
    /// Who plays.
    pub(crate) roster: &'a BTreeMap<PlayerId, Seat>,
    /// The own round trip in milliseconds, once it is known.
    pub(crate) round_trip_ms: Option<f64>,
    /// The window, in points.
    pub(crate) screen: Rect,
    /// Where the mouse is in it.
    pub(crate) pointer: Pos2,
    /// Seconds since the last frame.
    pub(crate) secs: f32,
    /// Seconds since the session began.
    pub(crate) age_secs: f32,
    /// Whether the player plays, rather than looks at a menu or waits for the server.
    pub(crate) active: bool,
    /// Whether the player wants to see the scores.
    pub(crate) scores: bool,
    /// Whether something lies over the picture where hints would be.
    pub(crate) crowded: bool,
}

impl<G: Game> Scene<'_, G> {
    /// What to call a player.
    pub(crate) fn name_of(&self, player: PlayerId) -> &str {
        self.roster.get(&player).map_or("somebody", |seat| &seat.name)
    }

    /// The tick that the own player is drawn at, with the part of the next one that has passed: what moves
    /// by the clock is drawn by it.
    pub(crate) fn own_tick(&self) -> TickTime {
        TickTime::at(self.rates, self.view.own_time)
    }

    /// Whether the server plays it.
    pub(crate) fn is_bot(&self, player: PlayerId) -> bool {
        self.roster.get(&player).is_some_and(|seat| seat.bot)
    }
}

/// Where a player comes from.
#[derive(Debug)]
pub(crate) enum From {
    /// From outside; when the hello was sent.
    Hello(LocalTime),
    /// From the game that the server played before.
    Game(Box<Carried>),
}

/// Starts the game that a server says is played there; none if it cannot be seen in this window.
pub(crate) fn start(welcome: &Welcome, from: From, now: LocalTime) -> Option<Box<dyn Play>> {
    fn playing<G: GameView>(welcome: &Welcome, from: From, now: LocalTime) -> Box<dyn Play> {
        Box::new(Playing::<G>::new(welcome, from, now))
    }
    let start = match welcome.game.as_str() {
        Asteroids::NAME => playing::<Asteroids>,
        Race::NAME => playing::<Race>,
        Platformer::NAME => playing::<Platformer>,
        Skirmish::NAME => playing::<Skirmish>,
        ShufflePuck::NAME => playing::<ShufflePuck>,
        _ => return None,
    };
    Some(start(welcome, from, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::time::{Offset, Tick};
    use phaselock_games::NAMES;

    #[test]
    fn every_game_can_be_seen() {
        for name in NAMES {
            let welcome = Welcome {
                server: "test".into(),
                game: (*name).into(),
                number: 0,
                seed: 1,
                rates: Rates::DEFAULT,
                player: PlayerId(0),
                tick: Tick(0),
                offset: Offset(0),
                epoch: 0,
                unix_micros: 0,
            };
            let from = From::Hello(LocalTime(0));
            assert!(start(&welcome, from, LocalTime(0)).is_some(), "{name}");
        }
    }
}

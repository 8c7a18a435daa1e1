//! The seam between the window and the pictures of games.
//!
//! A view implements [`GameView`]; a program lists its views in a [`Register`].

use std::collections::BTreeMap;
use std::ops::Deref;

use egui_macroquad::egui::{Color32, Painter, Pos2, Rect};
use glam::Vec2;
use phaselock::client::{Picture, Seat};
use phaselock::fields::{Holds, Record};
use phaselock::game::{Game, RoundPart};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::interpolate::TickTime;
use phaselock::time::Rates;
use phaselock::wire::round::{House, Presence};

use super::camera::Camera;
use super::controls::{Action, Controls};
use super::cues::{Cue, Cues};
use super::looks::Dress;
use super::palette;
use super::rig::{Rig, Shot};
use super::words::tr;

/// Picture and controls of a game; the value is the picture's memory from frame to frame.
pub trait GameView: Default + 'static {
    /// The game.
    type Game: Game;
    /// The title in the window.
    const TITLE: &'static str;
    /// The game's own actions, in the order of lists and hints.
    const ACTIONS: &'static [Action];
    /// Colour of the window where nothing is painted. It costs next to nothing, while every layer
    /// painted over it is felt without a graphics card.
    const BACKDROP: Color32 = palette::VOID;
    /// Everything of the game that is heard and felt, beside what every game has.
    const CUES: &'static [&'static Cue] = &[];

    /// Steps of the lesson at the first start of the game. None by default.
    const LESSON: &'static [Step<Self::Game>] = &[];

    /// The input that the controls command.
    fn input(&self, controls: &Controls) -> <Self::Game as Game>::Input;

    /// An event of the game came: [`read_message`](phaselock::game::read_message) reads it.
    fn handle_event(&mut self, _event: &[u8]) {}

    /// A request to the game, as [`write_message`](phaselock::game::write_message) made it. Asked
    /// for once a frame, with the controls of that frame.
    fn poll_request(&mut self, _controls: &Controls) -> Option<Vec<u8>> {
        None
    }

    /// Present part of the round. None, the default, for a game whose rounds have no parts.
    fn part(&self, _scene: &Scene<'_, Self::Game>) -> Option<RoundPart> {
        None
    }

    /// Words for one of the numbers that the rules [measure](phaselock::game::Kit::measures), as in
    /// "best lap". By default its name.
    fn measure_words(name: &'static str) -> &'static str {
        name
    }

    /// Words for a kind of entities that move, by the name of its record, as in "cars". By default
    /// that name.
    fn kind_words(record: &'static str) -> &'static str {
        record
    }

    /// Advances the picture by a frame, and paints it; returns the camera, for marks over the
    /// picture.
    fn draw(&mut self, scene: &Scene<'_, Self::Game>) -> Camera;
}

/// A step of a lesson.
pub struct Step<G: Game> {
    /// Words for the player, with the keys as they are bound now.
    pub words: fn(&Controls) -> String,
    /// True in a frame in which the player does it.
    pub does: fn(&Scene<'_, G>) -> bool,
    /// Seconds of it in all; 0 is one frame.
    pub secs: f32,
}

impl<G: Game> std::fmt::Debug for Step<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Step").field(&self.secs).finish_non_exhaustive()
    }
}

/// A list of games with their views, in the order of menus.
pub trait Register {
    /// Adds a game with its view.
    #[must_use]
    fn with<V: GameView>(self) -> Self;
}

/// The camera that follows nobody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeCamera {
    /// Point of the world in the middle, in metres.
    pub middle: Vec2,
    /// Visible size, in that of a player's camera.
    pub zoom: f32,
}

/// Player or place that one who watches looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Watched {
    /// The player whom the picture follows.
    pub target: Option<PlayerId>,
    /// The camera instead, if it follows nobody.
    pub free: Option<FreeCamera>,
}

/// The window in a frame.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Painter in points of the window.
    pub painter: &'a Painter,
    /// The window, in points.
    pub screen: Rect,
    /// Position of the mouse in it. None until the mouse has moved, and on glass.
    pub pointer: Option<Pos2>,
    /// Seconds since the last frame.
    pub secs: f32,
    /// True while the player plays; false in a menu or while waiting for the server.
    pub active: bool,
    /// True while the player wants to see the scores.
    pub scores: bool,
    /// Rows by which the table of scores is scrolled.
    pub scrolled: usize,
    /// True while something covers the place of hints.
    pub crowded: bool,
    /// True while developers' marks are shown.
    pub marks: bool,
    /// The player's bindings, for hints.
    pub controls: &'a Controls,
    /// Events of this frame, to be heard and felt.
    pub cues: &'a Cues,
}

/// A frame's input to a view.
pub struct Scene<'a, G: Game> {
    /// Entities as presented at this moment.
    pub picture: &'a Picture<G>,
    /// The rules and the map.
    pub game: &'a G,
    /// The world's rates.
    pub rates: Rates,
    /// The own player.
    pub player: PlayerId,
    /// All players and their seats.
    pub roster: &'a BTreeMap<PlayerId, Seat>,
    /// Pings and readiness of people, as far as they are known.
    pub presence: &'a BTreeMap<PlayerId, Presence>,
    /// Rules of the house.
    pub house: &'a House,
    /// Own round trip in milliseconds, once known.
    pub round_trip_ms: Option<f64>,
    /// Seconds since the session began.
    pub age_secs: f32,
    /// Player or place that one who watches looks at; none for one who plays. A player who is
    /// followed counts as the own one: [`player`](Self::player) and the picture's `own` are then
    /// that player's.
    pub watched: Option<Watched>,
    /// The frame to paint.
    pub frame: Frame<'a>,
}

impl<'a, G: Game> Deref for Scene<'a, G> {
    type Target = Frame<'a>;

    fn deref(&self) -> &Frame<'a> {
        &self.frame
    }
}

impl<G: Game> Scene<'_, G> {
    /// The own entity, if it holds such a record.
    pub fn own<R: Copy>(&self) -> Option<R>
    where
        G::Entity: Holds<R>,
    {
        self.picture.entities.record(self.picture.own?).copied()
    }

    /// A player's record, or the default one if the player has none.
    pub fn record_of<R: Record>(&self, player: PlayerId) -> R
    where
        G::Entity: Holds<R>,
    {
        let mut owned = self.picture.entities.owned_by(player);
        owned.find_map(|slot| slot.entity.record().copied()).unwrap_or_default()
    }

    /// True for the player in front of the screen, which nobody is of those who are watched.
    pub fn is_me(&self, player: PlayerId) -> bool {
        self.watched.is_none() && player == self.player
    }

    /// Advances the rig by this frame towards a shot, or to where one who watches looks freely;
    /// returns the camera to draw with.
    pub fn aim(&self, rig: &mut Rig, shot: &Shot) -> Camera {
        let (screen, secs) = (self.screen, self.secs);
        match self.watched.and_then(|watched| watched.free) {
            // The buttons on the glass lie in the corners: the own player stays in the middle.
            None if self.controls.by_glass() => {
                rig.follow(screen, secs, &Shot { bounds: None, ..*shot })
            }
            None => rig.follow(screen, secs, shot),
            Some(FreeCamera { middle, zoom }) => {
                let size = (shot.width * zoom, shot.height * zoom);
                rig.hold(Camera::new(screen, middle, size.0, size.1), secs)
            }
        }
    }

    /// True for the own entity.
    pub fn is_own(&self, id: EntityId) -> bool {
        self.picture.own == Some(id)
    }

    /// Name of an entity's owner and true for a bot; none for a player who has just left.
    pub fn owner_tag(&self, owner: Option<PlayerId>) -> Option<(&str, bool)> {
        self.roster.get(&owner?).map(|seat| (seat.name.as_str(), seat.bot))
    }

    /// Looks of an entity's owner; the first ones of nobody.
    pub fn dress_of(&self, owner: Option<PlayerId>) -> Dress {
        let seat = owner.and_then(|owner| self.roster.get(&owner));
        Dress::of(seat.map(|seat| seat.look).unwrap_or_default())
    }

    /// Name of a player.
    pub fn name_of(&self, player: PlayerId) -> &str {
        self.roster.get(&player).map_or(tr("someone"), |seat| &seat.name)
    }

    /// Tick of the own player's picture, with the elapsed part of the next one: the time for
    /// things that move by the clock.
    pub fn own_tick(&self) -> TickTime {
        TickTime::at(self.rates, self.picture.own_time)
    }
}

//! What a game's view implements, and what it gets in each frame.
//!
//! A view implements [`GameView`]; a program lists its views in a [`Register`].

use std::collections::BTreeMap;
use std::ops::Deref;

use egui_macroquad::egui::{Color32, Painter, Pos2, Rect};
use glam::Vec2;
use phaselock::client::{Ghost, Picture, Seat};
use phaselock::fields::{Holds, Record};
use phaselock::game::{Game, RoundPart};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::interpolate::TickTime;
use phaselock::rewind::Ruling;
use phaselock::time::Rates;
use phaselock::wire::round::{House, Presence};

use super::camera::Camera;
use super::camera_rig::{CameraRig, Shot};
use super::controls::{Action, Controls};
use super::cues::{Cue, Cues};
use super::looks::Dress;
use super::palette;
use super::words::tr;

/// Draws a game and turns the player's controls into input. The value holds what the view remembers
/// from frame to frame.
pub trait GameView: Default + 'static {
    /// The game that this view draws.
    type Game: Game;
    /// Title of the game in the window.
    const TITLE: &'static str;
    /// The game's own actions, in the order in which lists and hints show them.
    const ACTIONS: &'static [Action];
    /// Colour of the window where nothing is painted. It costs next to nothing, whereas each full
    /// layer of paint is noticeable on a machine without a graphics card.
    const BACKDROP: Color32 = palette::VOID;
    /// Cues of this game, in addition to those of every game.
    const CUES: &'static [&'static Cue] = &[];

    /// Steps of the lesson that runs at the first start of the game. None by default.
    const LESSON: &'static [LessonStep<Self::Game>] = &[];

    /// Whether the view explains deaths, so that what is received must be remembered.
    const EXPLAINS: bool = false;

    /// The input that the controls ask for.
    fn input(&self, controls: &Controls) -> <Self::Game as Game>::Input;

    /// Handles an event of the game; [`read_message`](phaselock::game::read_message) decodes it.
    fn handle_event(&mut self, _event: &[u8]) {}

    /// Returns a request to the game, encoded by [`write_message`](phaselock::game::write_message).
    /// Called once per frame, with that frame's controls.
    fn poll_request(&mut self, _controls: &Controls) -> Option<Vec<u8>> {
        None
    }

    /// Returns how the shot that killed the player was judged, while it may be shown: until the
    /// player is back. Called once per frame.
    fn death(&mut self, _scene: &Scene<'_, Self::Game>) -> Option<Ruling> {
        None
    }

    /// Current part of the round. `None`, the default, for games whose rounds have no parts.
    fn part(&self, _scene: &Scene<'_, Self::Game>) -> Option<RoundPart> {
        None
    }

    /// Words for a value that the rules [measure](phaselock::game::Kit::measures), such as "best
    /// lap". By default its name.
    fn measure_words(name: &'static str) -> &'static str {
        name
    }

    /// Words for a kind of moving entity, such as "cars", by the name of its record. By default
    /// that name.
    fn kind_words(record: &'static str) -> &'static str {
        record
    }

    /// Advances the view by a frame and paints it. Returns the camera, so that marks can be painted
    /// over the picture.
    fn draw(&mut self, scene: &Scene<'_, Self::Game>) -> Camera;
}

/// A step of a lesson.
pub struct LessonStep<G: Game> {
    /// Instruction for the player, with the keys as they are bound now.
    pub words: fn(&Controls) -> String,
    /// Whether the player does it in this frame.
    pub does: fn(&Scene<'_, G>) -> bool,
    /// Total seconds for which the player must do it; 0 is one frame.
    pub secs: f32,
}

impl<G: Game> std::fmt::Debug for LessonStep<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LessonStep").field(&self.secs).finish_non_exhaustive()
    }
}

/// A list of games with their views, in the order of menus.
pub trait Register {
    /// Adds a game with its view.
    #[must_use]
    fn with<V: GameView>(self) -> Self;
}

/// A camera that follows no player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeCamera {
    /// Point of the world in the middle of the picture, in metres.
    pub middle: Vec2,
    /// Visible size, as a multiple of a player camera's.
    pub zoom: f32,
}

/// What a spectator looks at: a player, or a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Watched {
    /// The followed player.
    pub target: Option<PlayerId>,
    /// The free camera, if no player is followed.
    pub free: Option<FreeCamera>,
}

/// The window in this frame.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Painter, in points of the window.
    pub painter: &'a Painter,
    /// The window, in points.
    pub screen: Rect,
    /// Position of the mouse in the window. `None` until the mouse has moved, and on touch screens.
    pub pointer: Option<Pos2>,
    /// Seconds since the last frame.
    pub secs: f32,
    /// Whether the player is playing; false in menus and while waiting for the server.
    pub active: bool,
    /// Whether the player wants to see the scores.
    pub scores: bool,
    /// Rows by which the score table is scrolled.
    pub scrolled: usize,
    /// Whether something covers the place of hints.
    pub crowded: bool,
    /// Whether the developers' markers are shown.
    pub marks: bool,
    /// The player's bindings, for hints.
    pub controls: &'a Controls,
    /// Cues of this frame, to be heard and felt.
    pub cues: &'a Cues,
}

/// What a view gets in each frame.
pub struct Scene<'a, G: Game> {
    /// Entities as presented in this frame.
    pub picture: &'a Picture<G>,
    /// The game's rules and map.
    pub game: &'a G,
    /// Tick and snapshot rates of the world.
    pub rates: Rates,
    /// The player at this window.
    pub player: PlayerId,
    /// All players and their seats.
    pub roster: &'a BTreeMap<PlayerId, Seat>,
    /// Round trips and readiness of people, as far as known.
    pub presence: &'a BTreeMap<PlayerId, Presence>,
    /// The host's rules.
    pub house: &'a House,
    /// Round trip of this client in milliseconds, once known.
    pub round_trip_ms: Option<f64>,
    /// Seconds since the session began.
    pub age_secs: f32,
    /// What a spectator looks at; `None` while playing. A followed player counts as one's own:
    /// [`player`](Self::player) and the picture's `own` are that player's.
    pub watched: Option<Watched>,
    /// The ghost that the player races, while an attempt runs.
    pub ghost: Option<&'a Ghost<G::Entity>>,
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
    /// The player's own entity as a record of type `R`, if it is one.
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

    /// Whether this is the player at this window. It is never a player that a spectator follows.
    pub fn is_me(&self, player: PlayerId) -> bool {
        self.watched.is_none() && player == self.player
    }

    /// Moves the rig by one frame towards a shot, or to a spectator's free camera. Returns the
    /// camera to draw with.
    pub fn aim(&self, rig: &mut CameraRig, shot: &Shot) -> Camera {
        let (screen, secs) = (self.screen, self.secs);
        match self.watched.and_then(|watched| watched.free) {
            // Touch buttons are in the corners, so the player stays in the middle.
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

    /// Whether this is the player's own entity.
    pub fn is_own(&self, id: EntityId) -> bool {
        self.picture.own == Some(id)
    }

    /// Name of an entity's owner, and whether it is a bot. `None` for a player who has just left.
    pub fn owner_tag(&self, owner: Option<PlayerId>) -> Option<(&str, bool)> {
        self.roster.get(&owner?).map(|seat| (seat.name.as_str(), seat.bot))
    }

    /// Look of an entity's owner; the first look if it has no owner.
    pub fn dress_of(&self, owner: Option<PlayerId>) -> Dress {
        let seat = owner.and_then(|owner| self.roster.get(&owner));
        Dress::of(seat.map(|seat| seat.look).unwrap_or_default())
    }

    /// Name of a player.
    pub fn name_of(&self, player: PlayerId) -> &str {
        self.roster.get(&player).map_or(tr("someone"), |seat| &seat.name)
    }

    /// Tick of the player's own picture, with the elapsed fraction of the next one: the time for
    /// things that move by the clock.
    pub fn own_tick(&self) -> TickTime {
        TickTime::at(self.rates, self.picture.own_time)
    }
}

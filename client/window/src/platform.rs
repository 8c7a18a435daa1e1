//! The seam between the shell and the machine that it runs on: a desktop, or the page of a browser.
//!
//! A [`Platform`] has clock, attention, gamepads, glass and sound; a [`Lobby`] is what the player
//! sees between two visits, and begins them. Files are in [`files`](crate::files), the network is
//! each visit's [`Connection`](crate::visit::connection::Connection).

use std::path::PathBuf;

use egui_macroquad::egui::{Context, Id};
use phaselock::time::{LocalTime, Micros};
use phaselock_lab::record::MotionFiles;
use phaselock_sound::output::Output;
use phaselock_ui::gamepad::Pads;
use phaselock_ui::glass::Glass;
use phaselock_ui::look::pixels_per_point;

use crate::registry::Views;
use crate::settings::values::FrameCap;
use crate::settings::{Display, Settings};
use crate::setup::Setup;
use crate::visit::open::VisitConfig;
use crate::visit::{End, Visit};

/// Attention of the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The window has the keyboard.
    Foreground,
    /// Another window has the keyboard.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page is seen or not"))]
    Background,
    /// Nobody can see the window.
    Hidden,
}

/// The machine that the window runs on.
pub(crate) trait Platform {
    /// The time, on the clock of every session.
    fn now(&self) -> LocalTime;

    /// Attention of the player in this frame.
    fn presence(&mut self) -> Presence;

    /// Whether frames are painted even if nobody can see them.
    fn paints_unseen(&self) -> bool {
        false
    }

    /// Pixels per point before a game, by the player's size of everything.
    fn pixels_per_point(&self, scale: f32) -> f32 {
        pixels_per_point(scale)
    }

    /// Time for which the machine kept the program waiting since the last call.
    fn held(&mut self) -> Micros;

    /// The gamepads.
    fn pads(&mut self) -> &mut dyn Pads;

    /// Sticks and buttons on the glass, where there is glass to touch.
    fn glass(&mut self) -> Option<&mut Glass> {
        None
    }

    /// Notes the text field that has the keyboard, its maximum number of letters, and whether they
    /// are masked.
    fn write(&mut self, _field: Option<Id>, _letters_max: usize, _is_secret: bool) {}

    /// Lets the sound of a frame be heard, where no thread does that.
    fn play(&mut self, _output: &mut Output) {}

    /// Notes the window's size while it does not fill the screen.
    fn note_size(&self, _display: &mut Display) {}

    /// Files that take the player's motion.
    fn motion(&mut self) -> Option<&mut MotionFiles> {
        None
    }

    /// Whether programs that look on are told the state of the window.
    fn tells(&self) -> bool;

    /// Tells them the state, a line of JSON.
    fn tell(&mut self, status: &str);

    /// Whether the program ends with this frame.
    fn is_over(&self) -> bool {
        false
    }

    /// Whether it ends because its time is up.
    fn is_late(&self) -> bool {
        false
    }

    /// Keeps the last picture, if one is wanted. The error says why it cannot.
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Decides when the frame after the one that began at a time is due.
    fn pace(&mut self, _began: LocalTime, _cap: FrameCap, _presence: Presence) {}

    /// Waits for that frame. Returns true for an update of the session in between, and is called
    /// again then.
    fn rests(&mut self) -> bool {
        false
    }
}

/// What the lobby wants of the shell.
pub(crate) enum Order {
    Visit(Box<Visit>),
    Settings,
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page is closed"))]
    Quit,
}

/// What the shell lends the lobby.
pub(crate) struct Desk<'a> {
    pub(crate) views: &'a Views,
    pub(crate) settings: &'a mut Settings,
    /// The file of muted people.
    pub(crate) muted: Option<PathBuf>,
}

impl Desk<'_> {
    /// Configuration of a visit by a player of a name.
    pub(crate) fn visit<'a>(&'a self, name: String, setup: &'a Setup) -> VisitConfig<'a> {
        VisitConfig {
            name,
            look: self.settings.player.look(),
            muted: self.muted.clone(),
            views: self.views,
            setup,
            panels: &self.settings.last.panels,
            lessons: &self.settings.seen.lessons,
            records: &self.settings.records,
        }
    }
}

/// What the player sees between two visits.
pub(crate) trait Lobby {
    /// Begins with the visit that the command line or the page's link asks for.
    fn start(&mut self, desk: Desk<'_>) -> Option<Order>;

    /// Draws a frame; only its ground if the settings cover it.
    fn draw(&mut self, ctx: &Context, settings: &mut Settings, secs: f32, covered: bool);

    /// The frame is painted.
    fn painted(&mut self) {}

    /// Carries out what the player wished in this frame.
    fn decide(&mut self, desk: Desk<'_>) -> Option<Order>;

    /// A visit has ended; `has_begun` if a game was joined in it.
    fn ended(&mut self, end: End, has_begun: bool);

    /// The server of the visit was joined for the first time, and gives itself a name.
    fn arrived(&mut self, _server: &str) {}

    /// The settings were closed.
    fn settings_closed(&mut self, _settings: &Settings) {}

    /// Shows why a visit ended, or could not begin, or what is wrong with the settings.
    fn set_error(&mut self, error: Option<String>);

    /// The error that is shown.
    fn error(&self) -> Option<&str>;

    /// Name of the screen, unless it is the menu.
    fn screen(&self) -> Option<&'static str> {
        None
    }

    /// Whether the field that has the keyboard is for a password.
    fn is_secret(&self) -> bool {
        false
    }

    /// Whether a game was asked for that must be joined before the time is up.
    fn must_join(&self) -> bool {
        false
    }
}

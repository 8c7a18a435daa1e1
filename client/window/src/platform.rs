//! The interface between the shell and the machine that it runs on: a desktop, or a browser's page.
//!
//! A [`Platform`] has clock, visibility, gamepads, touch and sound. A [`Lobby`] is what the player
//! sees between two visits, and starts them. Files are in [`files`](crate::files), and the network
//! is each visit's [`Connection`](crate::visit::connection::Connection).

use std::path::PathBuf;

use egui_macroquad::egui::{Context, Id};
use phaselock::time::{LocalTime, Micros};
use phaselock_lab::record::MotionFiles;
use phaselock_sound::output::SoundOutput;
use phaselock_ui::gamepad::Pads;
use phaselock_ui::glass::Glass;
use phaselock_ui::look::Needs;

use crate::registry::Views;
use crate::replay::OpenFilm;
use crate::settings::values::FrameCap;
use crate::settings::{Display, Settings};
use crate::setup::Setup;
use crate::visit::open::VisitConfig;
use crate::visit::{End, Visit};

/// Whether the player sees and uses the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The window has the keyboard.
    Foreground,
    /// Another window has the keyboard.
    #[cfg_attr(
        target_arch = "wasm32",
        allow(dead_code, reason = "a page is either visible or hidden")
    )]
    Background,
    /// The window is not visible.
    Hidden,
}

/// The machine that the window runs on.
pub(crate) trait Platform {
    /// The time, on the clock that every session uses.
    fn now(&self) -> LocalTime;

    /// Whether the player sees and uses the window in this frame.
    fn presence(&mut self) -> Presence;

    /// Whether frames are painted even while hidden.
    fn paints_unseen(&self) -> bool {
        false
    }

    /// The space that the screens before a game need.
    fn needs(&self) -> Needs {
        Needs::Menu
    }

    /// Time for which the machine kept the program waiting since the last call.
    fn held(&mut self) -> Micros;

    /// The gamepads.
    fn pads(&mut self) -> &mut dyn Pads;

    /// Touch sticks and buttons, if there is a touch screen.
    fn glass(&mut self) -> Option<&mut Glass> {
        None
    }

    /// Notes the text field that has the keyboard, its maximum number of characters, and whether
    /// they are masked.
    fn write(&mut self, _field: Option<Id>, _letters_max: usize, _is_secret: bool) {}

    /// Plays the sound of a frame, if no thread does that.
    fn play(&mut self, _output: &mut SoundOutput) {}

    /// Returns a function that creates a clip in a folder, named after the recording; `None` if
    /// this platform cannot save clips.
    fn clip(&self, _folder: Option<PathBuf>, _title: &str) -> Option<OpenFilm> {
        None
    }

    /// Notes the window's size, unless it fills the screen.
    fn note_size(&self, _display: &mut Display) {}

    /// Files for the player's motion.
    fn motion(&mut self) -> Option<&mut MotionFiles> {
        None
    }

    /// Saves a recording under this name, with a number appended if the file exists.
    fn save(&mut self, name: String, bytes: Vec<u8>);

    /// Takes what has become of a recording: the file, or why there is none.
    fn poll_saved(&mut self) -> Option<Result<String, String>> {
        None
    }

    /// Whether other programs get the state of the window.
    fn reports_status(&self) -> bool;

    /// Sends them the state, a line of JSON.
    fn report_status(&mut self, status: &str);

    /// Whether the program ends with this frame.
    fn is_over(&self) -> bool {
        false
    }

    /// Whether it ends because its time is up.
    fn is_late(&self) -> bool {
        false
    }

    /// Saves the last picture, if one was asked for. The error says why it could not.
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Decides when the frame after the one that began at `began` is due.
    fn pace(&mut self, _began: LocalTime, _cap: FrameCap, _presence: Presence) {}

    /// Waits for that frame. Returns true if the session needs an update in between; call it again
    /// afterwards.
    fn waits(&mut self) -> bool {
        false
    }
}

/// What the lobby asks of the shell.
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
    /// Configuration of a visit for a player with this name.
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
    /// Starts the visit that the command line or the page's link asks for.
    fn start(&mut self, desk: Desk<'_>) -> Option<Order>;

    /// Draws a frame; only its ground if the settings cover it.
    fn draw(&mut self, ctx: &Context, settings: &mut Settings, secs: f32, covered: bool);

    /// Called after the frame was painted.
    fn painted(&mut self) {}

    /// Does what the player asked for in this frame.
    fn decide(&mut self, desk: Desk<'_>) -> Option<Order>;

    /// Takes the file that was dropped on the window: its path, or on a page only its name.
    fn take_dropped(&mut self) -> Option<PathBuf>;

    /// Shows the recording that was dropped on the window.
    fn watch_dropped(&mut self, file: PathBuf, desk: Desk<'_>) -> Option<Order>;

    /// A visit has ended. `has_begun`: whether a game was joined in it.
    fn ended(&mut self, end: End, has_begun: bool);

    /// The visit's server was joined for the first time; `_server` is its name.
    fn arrived(&mut self, _server: &str) {}

    /// The settings were closed.
    fn settings_closed(&mut self, _settings: &Settings) {}

    /// Shows why a visit ended or could not begin, or what is wrong with the settings.
    fn set_error(&mut self, error: Option<String>);

    /// The error that is shown.
    fn error(&self) -> Option<&str>;

    /// The last minutes of a game were saved.
    fn saved(&mut self) {}

    /// Why the program did not do what the command line asked for.
    fn failure(&self) -> Option<&str> {
        None
    }

    /// Name of the screen, unless it is the menu.
    fn screen(&self) -> Option<&'static str> {
        None
    }

    /// Whether the field that has the keyboard is for a password.
    fn is_secret(&self) -> bool {
        false
    }

    /// Whether a requested game must be joined before the time is up.
    fn must_join(&self) -> bool {
        false
    }
}

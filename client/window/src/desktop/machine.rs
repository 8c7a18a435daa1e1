//! The desktop as a [`Platform`]: clock, focus, gamepads, frame pacing, and the files that the
//! command line asks for.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use macroquad::input::{is_quit_requested, prevent_quit};
use macroquad::miniquad::window::screen_size;
use phaselock::time::{LocalTime, Micros};
use phaselock_lab::record::MotionFiles;
use phaselock_quic::clock::Clock;
use phaselock_ui::gamepad::{self, Gamepads, Pads};
use phaselock_ui::screenshot::Screenshot;

use super::args::Options;
use super::display::points;
use super::film;
use super::focus::Focus;
use super::holds::Holds;
use super::pacing::{Pacer, UPDATE_EVERY, frame_least};
use super::saver::Saver;
use super::system::recordings_dir;
use crate::platform::{Platform, Presence};
use crate::replay::OpenFilm;
use crate::settings::Display;
use crate::settings::values::{FrameCap, WindowSize};

/// Files that the command line asks for.
#[derive(Debug)]
pub(super) struct Outputs {
    screenshot: Option<Screenshot>,
    motion: Option<MotionFiles>,
}

impl Outputs {
    /// Opens them, so that a path that cannot be written is known before the window opens.
    pub(super) fn prepare(options: &Options) -> Result<Self, String> {
        let screenshot = options.screenshot.as_deref().map(Screenshot::prepare).transpose();
        let screenshot = screenshot.map_err(|error| error.to_string())?;
        let motion = options.record_motion.as_deref().map(MotionFiles::prepare).transpose();
        let motion = motion.map_err(|error| error.to_string())?;
        Ok(Self { screenshot, motion })
    }
}

/// The machine around the window.
pub(super) struct Desktop {
    clock: Clock,
    /// When the first frame began.
    began: Option<LocalTime>,
    focus: Focus,
    gamepads: Gamepads,
    holds: Holds,
    pacer: Pacer,
    /// When the next frame is due, counted from the first one.
    due: Duration,
    outputs: Outputs,
    saver: Saver,
    status: bool,
    exit_after: Option<Duration>,
    /// Whether the command line sets the window's size.
    is_sized: bool,
}

impl Desktop {
    /// Sets up the machine; needs the open window.
    pub(super) fn new(clock: Clock, options: &Options, outputs: Outputs) -> Self {
        prevent_quit();
        Self {
            began: None,
            clock,
            focus: Focus::new(),
            gamepads: gamepad::start(),
            holds: Holds::default(),
            pacer: Pacer::default(),
            due: Duration::ZERO,
            outputs,
            saver: Saver::new(recordings_dir(options)),
            status: options.status,
            exit_after: options.exit_after,
            is_sized: options.window.is_some(),
        }
    }

    /// Time since the first frame.
    fn since_begin(&self, now: LocalTime) -> Duration {
        Duration::from_micros((now - self.began.unwrap_or(now)).0.unsigned_abs())
    }
}

impl Platform for Desktop {
    fn now(&self) -> LocalTime {
        self.clock.now()
    }

    fn presence(&mut self) -> Presence {
        self.began.get_or_insert(self.clock.now());
        self.focus.read()
    }

    /// A hidden window shows nothing, but a test may want its picture.
    fn paints_unseen(&self) -> bool {
        self.outputs.screenshot.is_some()
    }

    fn held(&mut self) -> Micros {
        self.holds.take()
    }

    fn pads(&mut self) -> &mut dyn Pads {
        &mut self.gamepads
    }

    fn clip(&self, folder: Option<PathBuf>, title: &str) -> Option<OpenFilm> {
        let (folder, title) = (folder?, title.to_owned());
        Some(Box::new(move |format| film::open(&film::new_clip(&folder, &title)?, format)))
    }

    fn note_size(&self, display: &mut Display) {
        if self.is_sized {
            return;
        }
        let (width, height) = screen_size();
        let [width, height] = [width, height].map(|pixels| (pixels / points()) as u16);
        if [width, height].iter().all(|side| WindowSize::SIDES.contains(side)) {
            display.window_size = WindowSize { width, height };
        }
    }

    fn motion(&mut self) -> Option<&mut MotionFiles> {
        self.outputs.motion.as_mut()
    }

    fn save(&mut self, name: String, bytes: Vec<u8>) {
        self.saver.save(name, bytes);
    }

    fn poll_saved(&mut self) -> Option<Result<String, String>> {
        self.saver.poll()
    }

    fn reports_status(&self) -> bool {
        self.status
    }

    fn report_status(&mut self, status: &str) {
        // The reader may be gone.
        let _ = writeln!(std::io::stdout(), "{status}");
    }

    fn is_over(&self) -> bool {
        is_quit_requested() || self.is_late()
    }

    fn is_late(&self) -> bool {
        self.exit_after.is_some_and(|after| self.since_begin(self.now()) >= after)
    }

    fn finish(&mut self) -> Result<(), String> {
        self.saver.finish();
        let Some(screenshot) = &mut self.outputs.screenshot else { return Ok(()) };
        screenshot.take().map_err(|error| error.to_string())
    }

    fn pace(&mut self, began: LocalTime, cap: FrameCap, presence: Presence) {
        let least = frame_least(cap, presence, self.focus.display_hz());
        self.due = self.pacer.next(self.since_begin(began), least);
    }

    fn waits(&mut self) -> bool {
        while let Some(rest) = self.due.checked_sub(self.since_begin(self.now())) {
            if rest.is_zero() {
                break;
            }
            self.holds.sleep(rest.min(UPDATE_EVERY));
            if rest > UPDATE_EVERY {
                return true;
            }
        }
        false
    }
}

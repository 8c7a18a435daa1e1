//! Focus and visibility of the window, as the window system reports them.

use macroquad::input::utils::{register_input_subscriber, repeat_all_miniquad_input};
use macroquad::miniquad::EventHandler;

use super::shown::Shown;
use crate::platform::Presence;

/// Follows focus events. A system without them counts as in the foreground.
#[derive(Debug)]
pub(crate) struct Focus {
    subscriber: usize,
    lost: bool,
    desktop: Shown,
}

impl Focus {
    /// Starts following; needs the open window.
    pub(crate) fn new() -> Self {
        Self { subscriber: register_input_subscriber(), lost: false, desktop: Shown::open() }
    }

    /// Refresh rate of the window's display in hertz, if known.
    pub(crate) fn display_hz(&self) -> Option<f64> {
        self.desktop.display_hz()
    }

    /// Takes the events of this frame.
    pub(crate) fn read(&mut self) -> Presence {
        let subscriber = self.subscriber;
        repeat_all_miniquad_input(self, subscriber);
        match (self.desktop.is_hidden(), self.lost) {
            (true, _) => Presence::Hidden,
            (_, true) => Presence::Background,
            _ => Presence::Foreground,
        }
    }
}

impl EventHandler for Focus {
    fn update(&mut self) {}

    fn draw(&mut self) {}

    // By their names, these report minimised windows; the engine calls them when the focus changes.
    fn window_minimized_event(&mut self) {
        self.lost = true;
    }

    fn window_restored_event(&mut self) {
        self.lost = false;
    }
}

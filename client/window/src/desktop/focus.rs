//! The window's focus and whether it is seen, as the window system tells it.

use macroquad::input::utils::{register_input_subscriber, repeat_all_miniquad_input};
use macroquad::miniquad::EventHandler;

use super::shown::Shown;
use crate::platform::Presence;

/// Follows the events of focus. A system without them counts as in the foreground.
#[derive(Debug)]
pub(crate) struct Focus {
    subscriber: usize,
    lost: bool,
    desktop: Shown,
}

impl Focus {
    /// Begins to follow; needs the open window.
    pub(crate) fn new() -> Self {
        Self { subscriber: register_input_subscriber(), lost: false, desktop: Shown::open() }
    }

    /// Rate of the window's display, in frames a second, if it is known.
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

    // By name these tell of windows that are minimised; the engine calls them as the focus changes.
    fn window_minimized_event(&mut self) {
        self.lost = true;
    }

    fn window_restored_event(&mut self) {
        self.lost = false;
    }
}

//! The window's focus, as the window system tells it.

use macroquad::input::utils::{register_input_subscriber, repeat_all_miniquad_input};
use macroquad::miniquad::EventHandler;

use super::pacing::Presence;

/// Follows the events of focus. A system without them counts as in the foreground.
#[derive(Debug)]
pub(crate) struct Focus {
    subscriber: usize,
    lost: bool,
}

impl Focus {
    /// Begins to follow; needs the open window.
    pub(crate) fn new() -> Self {
        Self { subscriber: register_input_subscriber(), lost: false }
    }

    /// Takes the events of this frame.
    pub(crate) fn read(&mut self) -> Presence {
        let subscriber = self.subscriber;
        repeat_all_miniquad_input(self, subscriber);
        if self.lost { Presence::Background } else { Presence::Foreground }
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

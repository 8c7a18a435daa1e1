//! What the player's controls do: keys and mouse, as games ask for them.

use std::collections::HashSet;

use egui_macroquad::egui::Pos2;
pub use macroquad::input::KeyCode;
use macroquad::input::{
    MouseButton, get_keys_down, get_keys_pressed, is_mouse_button_down, is_mouse_button_pressed,
    mouse_position, mouse_wheel,
};
use macroquad::miniquad::window::dpi_scale;

/// Keys and mouse. What was pressed since the last tick counts as held in the next one, however
/// short it was.
#[derive(Debug, Default)]
pub struct Controls {
    /// Where the mouse is, in egui's points.
    pub pointer: Pos2,
    held: HashSet<KeyCode>,
    tapped: HashSet<KeyCode>,
    button_held: bool,
    button_tapped: bool,
    /// Whether the click that led here is still going on; it is not meant for the game.
    stale: bool,
    /// The same of the right mouse button.
    second_held: bool,
    second_tapped: bool,
    /// Notches of the wheel since the last tick, up less down.
    wheel: i32,
}

impl Controls {
    /// Takes in this frame's keys and mouse.
    pub fn gather(&mut self, pixels_per_point: f32) {
        let (x, y) = mouse_position();
        self.pointer = (Pos2::new(x, y).to_vec2() * (dpi_scale() / pixels_per_point)).to_pos2();
        self.held = get_keys_down();
        self.tapped.extend(get_keys_pressed());
        self.button_held = is_mouse_button_down(MouseButton::Left);
        self.stale &= self.button_held;
        self.button_tapped |= is_mouse_button_pressed(MouseButton::Left) && !self.stale;
        self.second_held = is_mouse_button_down(MouseButton::Right);
        self.second_tapped |= is_mouse_button_pressed(MouseButton::Right);
        // Platforms disagree about how much a notch is; not about which way.
        let (_, turned) = mouse_wheel();
        self.wheel += i32::from(turned > 0.0) - i32::from(turned < 0.0);
    }

    /// Lets go of everything, the mouse's button until it is pressed anew.
    pub fn rest(&mut self) {
        self.held.clear();
        self.tapped.clear();
        (self.button_held, self.button_tapped, self.stale) = (false, false, true);
        (self.second_held, self.second_tapped, self.wheel) = (false, false, 0);
    }

    /// A tick has used what was pressed.
    pub fn ticked(&mut self) {
        self.tapped.clear();
        (self.button_tapped, self.second_tapped, self.wheel) = (false, false, 0);
    }

    /// Whether any of these keys is held.
    pub fn key(&self, keys: &[KeyCode]) -> bool {
        keys.iter().any(|key| self.held.contains(key) || self.tapped.contains(key))
    }

    /// -1, 0 or 1, by which of two sets of keys is held.
    pub fn axis(&self, less: &[KeyCode], more: &[KeyCode]) -> i16 {
        i16::from(self.key(more)) - i16::from(self.key(less))
    }

    /// Whether the left mouse button is held.
    pub fn button(&self) -> bool {
        (self.button_held && !self.stale) || self.button_tapped
    }

    /// Whether the right mouse button is held.
    pub fn second_button(&self) -> bool {
        self.second_held || self.second_tapped
    }

    /// Notches by which the mouse wheel was turned since the last tick: up is more than 0.
    pub fn wheel(&self) -> i32 {
        self.wheel
    }
}

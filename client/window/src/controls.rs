//! The player's controls: keys and mouse.

use std::collections::HashSet;

use egui_macroquad::egui::Pos2;
pub use macroquad::input::KeyCode;
use macroquad::input::{
    MouseButton, get_keys_down, get_keys_pressed, is_mouse_button_down, is_mouse_button_pressed,
    mouse_position, mouse_wheel,
};
use macroquad::miniquad::window::dpi_scale;

/// Keys and mouse. A key or button pressed since the last tick counts as held in the next one,
/// however short the press was.
#[derive(Debug, Default)]
pub struct Controls {
    /// Position of the mouse, in points.
    pub pointer: Pos2,
    held: HashSet<KeyCode>,
    tapped: HashSet<KeyCode>,
    struck: HashSet<KeyCode>,
    button_held: bool,
    button_tapped: bool,
    /// The click that led here still lasts; it is not meant for the game.
    stale: bool,
    second_held: bool,
    second_tapped: bool,
    /// Notches of the wheel since the last tick: up less down.
    wheel: i32,
}

impl Controls {
    /// Reads the keys and the mouse of this frame.
    pub fn gather(&mut self, pixels_per_point: f32) {
        let (x, y) = mouse_position();
        self.pointer = (Pos2::new(x, y).to_vec2() * (dpi_scale() / pixels_per_point)).to_pos2();
        self.held = get_keys_down();
        self.struck = get_keys_pressed();
        self.tapped.extend(&self.struck);
        self.button_held = is_mouse_button_down(MouseButton::Left);
        self.stale &= self.button_held;
        self.button_tapped |= is_mouse_button_pressed(MouseButton::Left) && !self.stale;
        self.second_held = is_mouse_button_down(MouseButton::Right);
        self.second_tapped |= is_mouse_button_pressed(MouseButton::Right);
        // Platforms disagree about the size of a notch, not about its direction.
        let (_, turned) = mouse_wheel();
        self.wheel += i32::from(turned > 0.0) - i32::from(turned < 0.0);
    }

    /// Releases everything; the left mouse button counts again once it is pressed anew.
    pub fn rest(&mut self) {
        self.held.clear();
        self.tapped.clear();
        self.struck.clear();
        (self.button_held, self.button_tapped, self.stale) = (false, false, true);
        (self.second_held, self.second_tapped, self.wheel) = (false, false, 0);
    }

    /// Ends a tick: taps and notches have been used.
    pub fn ticked(&mut self) {
        self.tapped.clear();
        (self.button_tapped, self.second_tapped, self.wheel) = (false, false, 0);
    }

    /// True while any of these keys is held.
    pub fn key(&self, keys: &[KeyCode]) -> bool {
        keys.iter().any(|key| self.held.contains(key) || self.tapped.contains(key))
    }

    /// True in the frame in which any of these keys went down.
    pub fn struck(&self, keys: &[KeyCode]) -> bool {
        keys.iter().any(|key| self.struck.contains(key))
    }

    /// -1, 0 or 1: the set of keys that is held.
    pub fn axis(&self, less: &[KeyCode], more: &[KeyCode]) -> i16 {
        i16::from(self.key(more)) - i16::from(self.key(less))
    }

    /// True while the left mouse button is held.
    pub fn button(&self) -> bool {
        (self.button_held && !self.stale) || self.button_tapped
    }

    /// True while the right mouse button is held.
    pub fn second_button(&self) -> bool {
        self.second_held || self.second_tapped
    }

    /// Notches of the mouse wheel since the last tick; up is positive.
    pub fn wheel(&self) -> i32 {
        self.wheel
    }
}

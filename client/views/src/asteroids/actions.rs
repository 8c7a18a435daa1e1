//! Actions of Asteroids.

use phaselock_ui::prelude::*;

pub(super) const LEFT: Action =
    Action::new("left", "turn left", &["A", "Left", "Pad:LeftStickLeft", "Pad:DPadLeft"])
        .hint("turn");
pub(super) const RIGHT: Action =
    Action::new("right", "turn right", &["D", "Right", "Pad:LeftStickRight", "Pad:DPadRight"])
        .hint("turn");
pub(super) const THRUST: Action =
    Action::new("thrust", "thrust", &["W", "Up", "Pad:LeftTrigger", "Pad:DPadUp"]);
pub(super) const FIRE: Action =
    Action::new("fire", "fire", &["Space", "Mouse:Left", "Pad:RightTrigger", "Pad:A"]);

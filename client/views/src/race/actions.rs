//! Actions of the race.

use phaselock_ui::prelude::*;

pub(super) const THROTTLE: Action =
    Action::new("throttle", "throttle", &["W", "Up", "Pad:RightTrigger", "Pad:A"]);
pub(super) const BRAKE: Action =
    Action::new("brake", "brake, reverse", &["S", "Down", "Pad:LeftTrigger", "Pad:B"])
        .on_glass("brake");
pub(super) const LEFT: Action =
    Action::new("left", "steer left", &["A", "Left", "Pad:LeftStickLeft", "Pad:DPadLeft"])
        .hint("steer");
pub(super) const RIGHT: Action =
    Action::new("right", "steer right", &["D", "Right", "Pad:LeftStickRight", "Pad:DPadRight"])
        .hint("steer");
pub(super) const HAND_BRAKE: Action =
    Action::new("hand_brake", "hand brake", &["Space", "Pad:X"]).on_glass("slide");
pub(super) const RESET: Action =
    Action::new("reset", "back on the track", &["R", "Pad:Y"]).on_glass("put back");

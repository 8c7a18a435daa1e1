//! Actions of the platformer.

use phaselock_ui::prelude::*;

pub(super) const LEFT: Action =
    Action::new("left", "run left", &["A", "Left", "Pad:LeftStickLeft", "Pad:DPadLeft"])
        .hint("run");
pub(super) const RIGHT: Action =
    Action::new("right", "run right", &["D", "Right", "Pad:LeftStickRight", "Pad:DPadRight"])
        .hint("run");
pub(super) const JUMP: Action =
    Action::new("jump", "jump", &["Space", "W", "Up", "Pad:A"]).hint("jump; hold to go higher");

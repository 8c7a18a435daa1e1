//! Actions of Skirmish, and the aim by a gamepad's stick.

use std::cell::Cell;

use phaselock_ui::prelude::*;

pub(super) const UP: Action =
    Action::new("up", "move up", &["W", "Up", "Pad:LeftStickUp"]).hint("move");
pub(super) const LEFT: Action =
    Action::new("left", "move left", &["A", "Left", "Pad:LeftStickLeft"]).hint("move");
pub(super) const DOWN: Action =
    Action::new("down", "move down", &["S", "Down", "Pad:LeftStickDown"]).hint("move");
pub(super) const RIGHT: Action =
    Action::new("right", "move right", &["D", "Right", "Pad:LeftStickRight"]).hint("move");
const AIM_UP: Action = Action::new("aim_up", "aim up", &["Pad:RightStickUp"]).hint("aim");
const AIM_LEFT: Action = Action::new("aim_left", "aim left", &["Pad:RightStickLeft"]).hint("aim");
const AIM_DOWN: Action = Action::new("aim_down", "aim down", &["Pad:RightStickDown"]).hint("aim");
const AIM_RIGHT: Action =
    Action::new("aim_right", "aim right", &["Pad:RightStickRight"]).hint("aim");
pub(super) const FIRE: Action =
    Action::new("fire", "fire", &["Mouse:Left", "Space", "Pad:RightTrigger"]);
pub(super) const GRAB: Action =
    Action::new("grab", "lift, release to throw", &["Mouse:Right", "E", "Pad:LeftTrigger"])
        .on_glass("lift");
pub(super) const WEAPONS: [Action; 4] = [
    Action::new("rifle", "rifle", &["1", "Pad:DPadUp"]).hint("weapon"),
    Action::new("rockets", "rockets", &["2", "Pad:DPadRight"]).hint("weapon"),
    Action::new("grenades", "grenades", &["3", "Pad:DPadDown"]).hint("weapon"),
    Action::new("mines", "mines", &["4", "Pad:DPadLeft"]).hint("weapon"),
];
pub(super) const NEXT: Action =
    Action::new("next_weapon", "next weapon", &["Wheel:Down", "Pad:RightShoulder"]).hint("");
pub(super) const PREVIOUS: Action =
    Action::new("previous_weapon", "previous weapon", &["Wheel:Up", "Pad:LeftShoulder"]).hint("");

pub(super) const AIM: [&Action; 4] = [&AIM_UP, &AIM_LEFT, &AIM_DOWN, &AIM_RIGHT];

pub(super) const ACTIONS: &[Action] = &[
    UP, LEFT, DOWN, RIGHT, AIM_UP, AIM_LEFT, AIM_DOWN, AIM_RIGHT, FIRE, GRAB, WEAPONS[0],
    WEAPONS[1], WEAPONS[2], WEAPONS[3], NEXT, PREVIOUS,
];

/// Deflection from which the stick aims: near the middle, its direction is uncertain.
const AIMS: f32 = 0.35;
/// Distance of the crosshair from the player while a stick aims, in points.
const REACH: f32 = 170.0;

/// The aim by a gamepad: the direction of the stick, kept while it rests.
#[derive(Debug, Default)]
pub(super) struct Stick(Cell<Option<Vec2>>);

impl Stick {
    /// The direction, while the gamepad was used last.
    pub(super) fn aim(&self, controls: &Controls) -> Option<Vec2> {
        if !controls.by_pad() {
            self.0.set(None);
            return None;
        }
        let vector = |[left, right, up, down]: [&Action; 4]| {
            Vec2::new(controls.axis(left, right), controls.axis(up, down))
        };
        let aimed = vector([&AIM_LEFT, &AIM_RIGHT, &AIM_UP, &AIM_DOWN]);
        let moved = vector([&LEFT, &RIGHT, &UP, &DOWN]);
        // Before the first aim, the player looks ahead.
        let aim = if aimed.length() > AIMS { Some(aimed) } else { self.0.get() };
        let aim = aim.or(Some(moved).filter(|moved| moved.length() > AIMS));
        self.0.set(aim.map(Vec2::normalize_or_zero));
        self.0.get()
    }

    /// Place of the crosshair on the screen, for a player at `at`. `None` while the mouse aims.
    pub(super) fn pointer(&self, at: Pos2) -> Option<Pos2> {
        self.0.get().map(|way| at + vec2(way.x, way.y) * REACH)
    }
}

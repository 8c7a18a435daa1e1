//! Steering: the mallet follows the mouse, or goes where keys send it.

use std::cell::Cell;

use phaselock_games::puck::Command;
use phaselock_ui::prelude::*;

const UP: Action = Action::new("up", "up", &["W", "Up", "Pad:LeftStickUp", "Pad:DPadUp"])
    .hint("move (instead of the mouse)");
const LEFT: Action =
    Action::new("left", "left", &["A", "Left", "Pad:LeftStickLeft", "Pad:DPadLeft"])
        .hint("move (instead of the mouse)");
const DOWN: Action =
    Action::new("down", "down", &["S", "Down", "Pad:LeftStickDown", "Pad:DPadDown"])
        .hint("move (instead of the mouse)");
const RIGHT: Action =
    Action::new("right", "right", &["D", "Right", "Pad:LeftStickRight", "Pad:DPadRight"])
        .hint("move (instead of the mouse)");
pub(super) const ACTIONS: &[Action] = &[UP, LEFT, DOWN, RIGHT];

/// Distance ahead of the mallet to which keys send it, in metres: enough for its full speed.
const KEY_REACH: f32 = 2.2;
/// Distance ahead at which the mallet rests after the keys are released, in metres.
const KEY_REST: f32 = 0.3;
/// Points of the mouse's motion that take over from the keys.
const MOUSE_MOVES: f32 = 3.0;

/// Steering of the mallet: read in every tick, updated in every frame.
#[derive(Debug, Default)]
pub(super) struct Steer {
    /// The last frame's camera, the player's mallet, and the turn of the picture.
    pub(super) shown: Option<(Camera, Vec2, f32)>,
    /// While keys steer: position of the mouse, and of the mallet at rest.
    keys: Cell<Option<(Option<Pos2>, Vec2)>>,
}

impl Steer {
    pub(super) fn by_keys(&self) -> bool {
        self.keys.get().is_some()
    }

    pub(super) fn command(&self, controls: &Controls) -> Command {
        let Some((camera, own, turn)) = self.shown else { return Command::default() };
        let way = Vec2::new(controls.axis(&LEFT, &RIGHT), controls.axis(&UP, &DOWN));
        // A stick also sets how far: a small deflection steers slowly.
        let way = way.clamp_length_max(1.0);
        if way != Vec2::ZERO {
            self.keys.set(Some((controls.pointer, own + way * KEY_REST)));
            return Command::to((own + way * KEY_REACH) * turn);
        }
        let is_moved =
            |at: Pos2, was: Option<Pos2>| was.is_none_or(|was| was.distance(at) > MOUSE_MOVES);
        if let Some((pointer, (was, _))) = controls.pointer.zip(self.keys.get())
            && is_moved(pointer, was)
        {
            self.keys.set(None);
        }
        let by_mouse = || controls.pointer.map(|pointer| camera.to_world(pointer));
        let rest = self.keys.get().map(|(_, rest)| rest);
        // Before either steers, the mallet stays.
        Command::to(rest.or_else(by_mouse).unwrap_or(own) * turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mallet_stays_until_the_mouse_has_moved() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(800.0, 600.0));
        let camera = Camera::new(screen, Vec2::ZERO, 26.0, 19.5);
        let own = Vec2::new(-3.0, 1.0);
        let steer = Steer { shown: Some((camera, own, 1.0)), ..Steer::default() };
        let mut controls = Controls::default();
        assert_eq!(steer.command(&controls).goal(), own);
        controls.pointer = Some(screen.center());
        assert_eq!(steer.command(&controls).goal(), Vec2::ZERO);
    }
}

//! The lesson of Shuffle Puck: move the mallet, strike the puck, guard the goal.

use phaselock_games::puck::motion::TOUCH;
use phaselock_games::puck::{Mallet, ShufflePuck};
use phaselock_ui::prelude::*;

use super::steer;

/// Speed of the mallet in metres a second that counts as moving.
const MOVES: f32 = 1.0;
/// Distance between mallet and puck that counts as a touch: somewhat more than a real one.
const NEAR: f32 = TOUCH * 1.15;

pub(super) const STEPS: &[LessonStep<ShufflePuck>] = &[
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&steer::ACTIONS.iter().collect::<Vec<_>>());
            match controls.by_pad() || controls.by_glass() {
                true => fill("Move your mallet with {keys}.", &[("keys", &keys)]),
                false => fill("Move your mallet with the mouse, or {keys}.", &[("keys", &keys)]),
            }
        },
        does: |scene| own(scene).is_some_and(|own| own.velocity().length() > MOVES),
        secs: 0.8,
    },
    LessonStep {
        words: |_| tr("Hit the puck into the goal on the right.").to_owned(),
        does: |scene| {
            let Some(own) = own(scene) else { return false };
            let puck = ShufflePuck::puck_of(&scene.picture.entities, own.rink);
            let puck = puck.map(|slot| slot.entity).filter(|puck| puck.is_in_play());
            puck.is_some_and(|puck| puck.position().distance(own.position()) < NEAR)
        },
        secs: 0.0,
    },
    LessonStep {
        words: |_| tr("Guard your goal: stay between it and the puck.").to_owned(),
        does: |scene| {
            let Some(own) = own(scene) else { return false };
            let puck = ShufflePuck::puck_of(&scene.picture.entities, own.rink);
            let (side, x) = (own.side(), own.position().x);
            puck.is_some_and(|puck| (x - puck.entity.position().x) * side > 0.0)
        },
        secs: 2.0,
    },
];

fn own(scene: &Scene<'_, ShufflePuck>) -> Option<Mallet> {
    scene.own()
}

//! The lesson of Skirmish: move, fire, change the weapon, lift and throw.

use phaselock_games::skirmish::{Player, Skirmish, Weapon};
use phaselock_ui::prelude::*;

use super::actions;

/// Speed in metres a second that counts as moving: half of a run.
const MOVES: f32 = 2.0;

pub(super) const STEPS: &[LessonStep<Skirmish>] = &[
    LessonStep {
        words: |controls| {
            let keys = [&actions::UP, &actions::LEFT, &actions::DOWN, &actions::RIGHT];
            fill("Run with {keys}.", &[("keys", &controls.keys(&keys))])
        },
        does: |scene| own(scene).is_some_and(|own| own.velocity().length() > MOVES),
        secs: 1.0,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&actions::FIRE]);
            let aim = controls.keys(&actions::AIM);
            match controls.by_pad() {
                _ if controls.by_glass() => {
                    fill("Aim with {aim}; push it to the edge to fire.", &[("aim", &aim)])
                }
                true => {
                    fill("Aim with {aim}, fire with {keys}.", &[("aim", &aim), ("keys", &keys)])
                }
                false => fill("Aim with the mouse, fire with {keys}.", &[("keys", &keys)]),
            }
        },
        // After a shot the weapon waits.
        does: |scene| own(scene).is_some_and(|own| own.health > 0 && own.fire && own.cooldown > 0),
        secs: 0.3,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&actions::NEXT]);
            let numbers = controls.keys(&actions::WEAPONS.each_ref());
            if numbers.is_empty() {
                return fill("Switch weapons with {keys}.", &[("keys", &keys)]);
            }
            let values = [("keys", &*keys), ("numbers", &*numbers)];
            fill("Switch weapons with {keys} or {numbers}.", &values)
        },
        does: |scene| own(scene).is_some_and(|own| own.weapon() != Weapon::Rifle),
        secs: 0.0,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&actions::GRAB]);
            fill("Lift a crate or a barrel with {keys}; release to throw it.", &[("keys", &keys)])
        },
        does: |scene| own(scene).is_some_and(|own| own.is_carrying()),
        secs: 0.2,
    },
];

fn own(scene: &Scene<'_, Skirmish>) -> Option<Player> {
    scene.own()
}

//! The lesson of Asteroids: turn, thrust, brake without brakes, fire.

use phaselock_games::asteroids::{Asteroids, Ship};
use phaselock_ui::prelude::*;

use super::actions::{FIRE, LEFT, RIGHT, THRUST};

/// Speed in metres a second that counts as flying.
const FLIES: f32 = 2.0;

pub(super) const STEPS: &[LessonStep<Asteroids>] = &[
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&LEFT, &RIGHT]);
            fill("Turn your ship with {keys}.", &[("keys", &keys)])
        },
        does: |scene| own(scene).is_some_and(|own| own.turn != 0),
        secs: 0.5,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&THRUST]);
            fill("Thrust with {keys}; the ship then flies on by itself.", &[("keys", &keys)])
        },
        does: |scene| own(scene).is_some_and(|own| own.thrust && own.velocity().length() > FLIES),
        secs: 0.5,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&THRUST]);
            fill("To brake, turn round and thrust with {keys}.", &[("keys", &keys)])
        },
        does: |scene| {
            let against = |own: &Ship| own.velocity().dot(own.facing()) < 0.0;
            own(scene).is_some_and(|own| own.thrust && against(&own))
        },
        secs: 0.3,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&FIRE]);
            fill("Fire with {keys}: big rocks break into small ones.", &[("keys", &keys)])
        },
        does: |scene| own(scene).is_some_and(|own| own.fire && own.cooldown > 0),
        secs: 0.5,
    },
];

/// The local ship, unless it is a wreck.
fn own(scene: &Scene<'_, Asteroids>) -> Option<Ship> {
    scene.own().filter(Ship::is_alive)
}

//! The lesson of the platformer: run, jump, jump high, take coins.

use phaselock_games::platformer::{Platformer, Player};
use phaselock_ui::prelude::*;

use super::actions::{JUMP, LEFT, RIGHT};

/// Speed in metres a second that counts as running.
const RUNS: f32 = 2.0;

pub(super) const STEPS: &[LessonStep<Platformer>] = &[
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&LEFT, &RIGHT]);
            fill("Run with {keys}; the goal is on the right.", &[("keys", &keys)])
        },
        does: |scene| own(scene).is_some_and(|own| own.vx.abs() > RUNS),
        secs: 0.8,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&JUMP]);
            fill("Jump with {keys}.", &[("keys", &keys)])
        },
        does: rises,
        secs: 0.1,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&JUMP]);
            fill("Hold {keys} while you rise, to jump higher.", &[("keys", &keys)])
        },
        does: |scene| rises(scene) && own(scene).is_some_and(|own| own.keys().jump),
        secs: 0.5,
    },
    LessonStep {
        words: |_| tr("Take a coin: coins earn points, and so does an early goal.").to_owned(),
        does: |scene| own(scene).is_some_and(|own| own.coins() > 0),
        secs: 0.0,
    },
];

fn own(scene: &Scene<'_, Platformer>) -> Option<Player> {
    scene.own()
}

/// Whether the local player rises in a jump.
fn rises(scene: &Scene<'_, Platformer>) -> bool {
    own(scene).is_some_and(|own| !own.stands() && own.vy < 0.0)
}

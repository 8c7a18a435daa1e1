//! The lesson of Race: throttle, steering, the start line, the hand brake, the way back.

use phaselock_games::race::{Car, Race};
use phaselock_ui::prelude::*;

use super::actions::{BRAKE, HAND_BRAKE, LEFT, RESET, RIGHT, THROTTLE};

/// Speed in metres a second that counts as driving.
const DRIVES: f32 = 4.0;
/// Command of the steering wheel that counts as steering.
const STEERS: i16 = 3;

pub(super) const STEPS: &[LessonStep<Race>] = &[
    LessonStep {
        words: |controls| {
            let (go, stop) = (controls.keys(&[&THROTTLE]), controls.keys(&[&BRAKE]));
            let values = [("go", &*go), ("stop", &*stop)];
            match controls.by_glass() {
                true => fill("Drive with {go}, brake and reverse with {stop}.", &values),
                false => fill("Throttle: {go}. Brake and reverse: {stop}.", &values),
            }
        },
        does: |scene| drives(scene).is_some_and(|own| own.pedal > 0),
        secs: 0.8,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&LEFT, &RIGHT]);
            fill("Steer with {keys}; slow down before a bend.", &[("keys", &keys)])
        },
        does: |scene| drives(scene).is_some_and(|own| own.turn.abs() >= STEERS),
        secs: 0.8,
    },
    LessonStep {
        words: |_| tr("Drive over the start line: each lap is timed.").to_owned(),
        does: |scene| own(scene).is_some_and(|own| own.lap() > 0),
        secs: 0.0,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&HAND_BRAKE]);
            let keys = [("keys", &*keys)];
            match controls.by_glass() {
                true => fill("Slide through a narrow bend with {keys}.", &keys),
                false => {
                    fill("Pull the hand brake, {keys}, to slide through a narrow bend.", &keys)
                }
            }
        },
        does: |scene| drives(scene).is_some_and(|own| own.hand),
        secs: 0.2,
    },
    LessonStep {
        words: |controls| {
            let keys = controls.keys(&[&RESET]);
            fill("Stuck? {keys} puts you back on the track.", &[("keys", &keys)])
        },
        does: |scene| scene.controls.held(&RESET),
        secs: 0.0,
    },
];

fn own(scene: &Scene<'_, Race>) -> Option<Car> {
    scene.own()
}

/// The local car while it drives.
fn drives(scene: &Scene<'_, Race>) -> Option<Car> {
    own(scene).filter(|own| own.velocity().length() > DRIVES)
}

//! Cues of the platformer.

use phaselock_sound::patch::{Sound, note};
use phaselock_ui::prelude::*;

use crate::layers::{after, at, band, hiss, named, rumble, saw, sine, triangle};

pub(super) static LEAPT: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            triangle((230.0, 520.0, 0.06), (0.006, 0.05), 0.6),
            band((700.0, 1300.0, 0.05), (0.004, 0.02), 0.25),
        ],
        gain: 0.72,
        ..Sound::EFFECT
    }),
    ..named("leapt")
};

pub(super) static LANDED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((160.0, 75.0, 0.025), (0.002, 0.035), 0.9),
            hiss((900.0, 250.0, 0.03), (0.002, 0.025), 0.5),
        ],
        gain: 0.9,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.35, 0.08),
    ..named("landed")
};

pub(super) static COIN: Cue = Cue {
    sound: Some(&Sound {
        layers: &[sine(at(988.0), (0.003, 0.06), 0.5), sine(at(1976.0), (0.002, 0.03), 0.14)],
        notes: &[note(0.0, 0.0), note(0.06, 5.0)],
        gain: 0.72,
        vary: 0.0,
        at_most: 3,
        ..Sound::EFFECT
    }),
    sparks: &[
        Spark::Burst { count: 12, speed: 5.0, secs: 0.5, color: Some(palette::WARN) },
        Spark::Ring { from: 0.1, to: 0.8, secs: 0.35, color: Some(palette::WARN) },
    ],
    rumble: rumble(0.12, 0.06),
    ..named("coin")
};

/// Another player takes a coin.
pub(super) static THEIR_COIN: Cue = Cue {
    sound: Some(&Sound {
        layers: &[sine(at(988.0), (0.006, 0.04), 0.4)],
        gain: 0.29,
        rank: 0,
        ..Sound::EFFECT
    }),
    sparks: &[Spark::Burst { count: 3, speed: 2.5, secs: 0.3, color: Some(palette::WARN) }],
    ..named("their-coin")
};

pub(super) static HURT: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            saw((420.0, 90.0, 0.12), (1800.0, 300.0, 0.12), (0.006, 0.12), 0.5),
            hiss((1600.0, 250.0, 0.06), (0.002, 0.06), 0.5),
            after(0.12, sine((240.0, 70.0, 0.1), (0.01, 0.1), 0.4)),
        ],
        gain: 0.99,
        rank: 2,
        ..Sound::EFFECT
    }),
    sparks: &[
        Spark::Burst { count: 22, speed: 9.0, secs: 0.6, color: None },
        Spark::Ring { from: 0.2, to: 1.6, secs: 0.4, color: None },
    ],
    shake: 0.7,
    rumble: rumble(0.9, 0.3),
    ..named("hurt")
};

/// The local player reaches a checkpoint.
pub(super) static STAGE: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(523.0), (0.006, 0.09), 0.5), sine(at(1046.0), (0.004, 0.06), 0.2)],
        notes: &[note(0.0, 0.0), note(0.09, 7.0)],
        gain: 0.81,
        ..Sound::CUE
    }),
    rumble: rumble(0.2, 0.12),
    ..named("stage")
};

/// The local player reaches the goal.
pub(super) static GOAL: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(523.0), (0.008, 0.14), 0.5), sine(at(1046.0), (0.006, 0.1), 0.2)],
        notes: &[note(0.0, 0.0), note(0.11, 4.0), note(0.22, 7.0), note(0.33, 12.0)],
        gain: 0.9,
        ..Sound::CUE
    }),
    rumble: rumble(0.4, 0.4),
    ..named("goal")
};

/// All cues.
pub(super) static ALL: &[&Cue] = &[&LEAPT, &LANDED, &COIN, &THEIR_COIN, &HURT, &STAGE, &GOAL];

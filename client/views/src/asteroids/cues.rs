//! Cues of Asteroids.

use phaselock_sound::patch::{Sound, note};
use phaselock_ui::prelude::*;

use crate::layers::{after, at, band, hiss, named, rumble, saw, sine, steady, triangle};

pub(super) static FIRED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            triangle((1150.0, 260.0, 0.035), (0.002, 0.04), 0.6),
            band((2400.0, 900.0, 0.03), (0.001, 0.014), 0.35),
        ],
        gain: 0.4,
        at_most: 8,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.12, 0.05),
    ..named("fired")
};

pub(super) static HURT: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            hiss((1700.0, 250.0, 0.05), (0.001, 0.06), 0.8),
            saw((240.0, 130.0, 0.08), at(900.0), (0.004, 0.09), 0.4),
        ],
        gain: 0.75,
        rank: 2,
        ..Sound::EFFECT
    }),
    sparks: &[Spark::Burst { count: 14, speed: 9.0, secs: 0.4, color: Some(palette::WARN) }],
    shake: 0.55,
    rumble: rumble(0.8, 0.2),
    ..named("hurt")
};

pub(super) static WRECKED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            hiss((3600.0, 140.0, 0.12), (0.003, 0.22), 0.9),
            sine((150.0, 36.0, 0.1), (0.004, 0.24), 0.9),
            saw((420.0, 50.0, 0.18), (1500.0, 200.0, 0.2), (0.01, 0.16), 0.3),
        ],
        gain: 1.12,
        rank: 2,
        ..Sound::EFFECT
    }),
    sparks: &[Spark::Explosion { radius: 3.6 }],
    shake: 1.0,
    rumble: rumble(1.0, 0.6),
    ..named("wrecked")
};

pub(super) static CAME: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((220.0, 660.0, 0.14), (0.06, 0.13), 0.45),
            after(0.08, sine((440.0, 990.0, 0.14), (0.06, 0.11), 0.22)),
        ],
        gain: 0.56,
        ..Sound::EFFECT
    }),
    sparks: &[
        Spark::Ring { from: 5.0, to: 1.0, secs: 0.5, color: None },
        Spark::Ring { from: 0.5, to: 3.0, secs: 0.35, color: Some(Color32::WHITE) },
    ],
    ..named("came")
};

pub(super) static BROKE: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            hiss((1500.0, 180.0, 0.07), (0.002, 0.12), 0.9),
            sine((120.0, 48.0, 0.06), (0.003, 0.12), 0.7),
            after(0.03, band((900.0, 500.0, 0.1), (0.01, 0.07), 0.5)),
        ],
        gain: 0.78,
        vary: 1.5,
        ..Sound::EFFECT
    }),
    ..named("broke")
};

pub(super) static STRUCK: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            band((1600.0, 800.0, 0.02), (0.001, 0.02), 0.7),
            sine((380.0, 210.0, 0.02), (0.001, 0.025), 0.4),
        ],
        gain: 0.43,
        vary: 2.0,
        ..Sound::EFFECT
    }),
    ..named("struck")
};

pub(super) static FRAG: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(587.0), (0.004, 0.07), 0.5), sine(at(1174.0), (0.003, 0.05), 0.2)],
        notes: &[note(0.0, 0.0), note(0.08, 5.0)],
        gain: 0.5,
        vary: 0.0,
        at_most: 2,
        rank: 3,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.3, 0.12),
    ..named("frag")
};

/// A burning engine.
pub(super) static THRUST: Sound = Sound {
    layers: &[
        steady(hiss(at(420.0), (0.0, 0.0), 0.8)),
        steady(band(at(900.0), (0.0, 0.0), 0.25)),
        steady(sine(at(58.0), (0.0, 0.0), 0.35)),
    ],
    gain: 0.53,
    at_most: 5,
    ..Sound::DRONE
};

/// All cues.
pub(super) static ALL: &[&Cue] = &[&FIRED, &HURT, &WRECKED, &CAME, &BROKE, &STRUCK, &FRAG];

//! Cues of Race.

use phaselock_sound::patch::{Layer, LayerFilter, Sound, Sweep, Tremble, note};
use phaselock_ui::prelude::*;

use crate::layers::{at, band, hiss, named, rumble, sine, steady, triangle};

/// Two cars touch.
pub(super) static BUMP: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            hiss((1900.0, 250.0, 0.03), (0.001, 0.05), 0.9),
            sine((150.0, 60.0, 0.04), (0.002, 0.07), 0.9),
            triangle((340.0, 280.0, 0.03), (0.001, 0.035), 0.3),
        ],
        gain: 0.6,
        vary: 2.0,
        ..Sound::EFFECT
    }),
    shake: 0.45,
    rumble: rumble(0.8, 0.18),
    ..named("bump")
};

/// A car is put back on the track.
pub(super) static PUT: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((250.0, 500.0, 0.1), (0.04, 0.09), 0.5),
            hiss((600.0, 1500.0, 0.1), (0.04, 0.06), 0.25),
        ],
        gain: 0.4,
        ..Sound::EFFECT
    }),
    sparks: &[Spark::Ring { from: 4.0, to: 1.0, secs: 0.5, color: Some(palette::STEEL) }],
    ..named("put")
};

/// The local car passes a gate.
pub(super) static GATE: Cue = Cue {
    sound: Some(&Sound {
        layers: &[sine(at(880.0), (0.003, 0.04), 0.4), sine(at(1760.0), (0.002, 0.02), 0.12)],
        gain: 0.25,
        vary: 0.0,
        at_most: 1,
        ..Sound::EFFECT
    }),
    ..named("gate")
};

/// Another lap begins.
pub(super) static LAP: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(523.0), (0.006, 0.08), 0.5), sine(at(1046.0), (0.004, 0.05), 0.2)],
        notes: &[note(0.0, 0.0), note(0.1, 7.0)],
        gain: 0.45,
        ..Sound::CUE
    }),
    rumble: rumble(0.2, 0.15),
    ..named("lap")
};

/// The last lap begins.
pub(super) static LAST_LAP: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(523.0), (0.006, 0.08), 0.5), sine(at(1046.0), (0.004, 0.05), 0.2)],
        notes: &[note(0.0, 0.0), note(0.1, 7.0), note(0.2, 0.0), note(0.3, 12.0)],
        gain: 0.45,
        ..Sound::CUE
    }),
    rumble: rumble(0.3, 0.25),
    ..named("last-lap")
};

/// The local car finishes.
pub(super) static HOME: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(440.0), (0.01, 0.15), 0.5), sine(at(880.0), (0.006, 0.1), 0.2)],
        notes: &[note(0.0, 0.0), note(0.12, 4.0), note(0.24, 7.0), note(0.36, 12.0)],
        gain: 0.5,
        ..Sound::CUE
    }),
    rumble: rumble(0.4, 0.4),
    ..named("home")
};

/// The local car goes the wrong way, or has missed a gate.
pub(super) static WRONG: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(330.0), (0.01, 0.07), 0.5)],
        notes: &[note(0.0, 0.0), note(0.16, -5.0)],
        gain: 0.4,
        ..Sound::CUE
    }),
    rumble: rumble(0.3, 0.3),
    ..named("wrong")
};

/// An engine; its pitch follows the speed.
pub(super) static ENGINE: Sound = Sound {
    layers: &[
        steady(Layer {
            hz: Sweep::still(55.0),
            filter: LayerFilter::Low(Sweep::still(430.0), 0.25),
            gain: 0.55,
            ..Layer::SAW
        }),
        steady(Layer {
            hz: Sweep::still(82.9),
            filter: LayerFilter::Low(Sweep::still(380.0), 0.1),
            gain: 0.3,
            ..Layer::SAW
        }),
        steady(sine(at(27.5), (0.0, 0.0), 0.3)),
        steady(Layer {
            tremble: Tremble { hz: 27.0, depth: 0.7 },
            ..hiss(at(320.0), (0.0, 0.0), 0.35)
        }),
    ],
    gain: 0.3,
    at_most: 5,
    rank: 2,
    ..Sound::DRONE
};

/// Tyres slide.
pub(super) static SQUEAL: Sound = Sound {
    layers: &[
        steady(band(at(1050.0), (0.0, 0.0), 0.8)),
        steady(Layer {
            tremble: Tremble { hz: 23.0, depth: 0.5 },
            ..triangle(at(760.0), (0.0, 0.0), 0.1)
        }),
        steady(hiss(at(500.0), (0.0, 0.0), 0.3)),
    ],
    gain: 0.3,
    at_most: 4,
    ..Sound::DRONE
};

/// Wheels on grass.
pub(super) static GRASS: Sound = Sound {
    layers: &[steady(Layer {
        tremble: Tremble { hz: 17.0, depth: 0.6 },
        ..hiss(at(260.0), (0.0, 0.0), 0.9)
    })],
    gain: 0.5,
    at_most: 3,
    ..Sound::DRONE
};

/// All cues.
pub(super) static ALL: &[&Cue] = &[&BUMP, &PUT, &GATE, &LAP, &LAST_LAP, &HOME, &WRONG];

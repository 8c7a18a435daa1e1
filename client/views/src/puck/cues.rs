//! Cues of Shuffle Puck.

use phaselock_sound::patch::{Sound, note};
use phaselock_ui::prelude::*;

use crate::layers::{at, band, hiss, named, rumble, saw, sine, steady, triangle};

/// A mallet strikes the puck: plastic on plastic.
pub(super) static STRIKE: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            triangle((820.0, 520.0, 0.012), (0.0015, 0.028), 0.84),
            sine((260.0, 140.0, 0.02), (0.001, 0.04), 0.84),
            band(at(2300.0), (0.001, 0.008), 0.84),
        ],
        gain: 1.0,
        vary: 0.8,
        ..Sound::EFFECT
    }),
    shake: 0.42,
    rumble: rumble(0.7, 0.1),
    ..named("strike")
};

/// The puck bounces off a wall.
pub(super) static BOUNCE: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            triangle((480.0, 340.0, 0.015), (0.0015, 0.03), 0.6),
            hiss((1500.0, 400.0, 0.02), (0.001, 0.02), 0.6),
        ],
        gain: 0.88,
        vary: 1.0,
        ..Sound::EFFECT
    }),
    ..named("bounce")
};

/// What both horns have in common.
const HORN: Sound = Sound { gain: 0.8, vary: 0.0, at_most: 1, rank: 3, ..Sound::EFFECT };

/// The goal's horn for the player's side.
pub(super) static SCORED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            triangle(at(392.0), (0.012, 0.16), 0.5),
            saw(at(196.0), (1800.0, 600.0, 0.15), (0.015, 0.18), 0.22),
        ],
        notes: &[note(0.0, 0.0), note(0.13, 4.0), note(0.26, 7.0), note(0.39, 12.0)],
        ..HORN
    }),
    shake: 0.6,
    rumble: rumble(0.6, 0.4),
    ..named("scored")
};

/// The other side has scored.
pub(super) static CONCEDED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            triangle(at(330.0), (0.012, 0.16), 0.5),
            saw(at(165.0), (1300.0, 400.0, 0.15), (0.015, 0.18), 0.22),
        ],
        notes: &[note(0.0, 0.0), note(0.16, -3.0), note(0.32, -7.0)],
        ..HORN
    }),
    shake: 0.6,
    rumble: rumble(0.9, 0.5),
    ..named("conceded")
};

/// The puck is placed in the middle.
pub(super) static FACE_OFF: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((700.0, 520.0, 0.03), (0.006, 0.08), 0.5),
            band(at(1400.0), (0.002, 0.02), 0.3),
        ],
        gain: 0.64,
        at_most: 1,
        ..Sound::EFFECT
    }),
    sparks: &[Spark::Ring { from: 1.6, to: 0.4, secs: 0.5, color: Some(palette::TEXT_SOFT) }],
    ..named("face-off")
};

/// The puck glides over the ice.
pub(super) static GLIDE: Sound = Sound {
    layers: &[steady(band(at(1100.0), (0.0, 0.0), 0.6)), steady(hiss(at(300.0), (0.0, 0.0), 0.35))],
    gain: 0.4,
    at_most: 1,
    ..Sound::DRONE
};

/// All cues.
pub(super) static ALL: &[&Cue] = &[&STRIKE, &BOUNCE, &SCORED, &CONCEDED, &FACE_OFF];

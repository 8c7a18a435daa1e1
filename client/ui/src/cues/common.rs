//! Cues of every game and of the window: rounds, clicks, chat, players joining and leaving.

use phaselock_sound::patch::{Channel, Envelope, Layer, LayerFilter, Note, Sound, Sweep, note};

use super::{Cue, CueRumble};

/// A soft bell: two sines, the higher one shorter.
const BELL: &[Layer] = &[
    Layer { envelope: Envelope::struck(0.006, 0.14), gain: 0.5, ..Layer::SINE },
    Layer {
        hz: Sweep::still(880.0),
        envelope: Envelope::struck(0.004, 0.06),
        gain: 0.18,
        ..Layer::SINE
    },
    Layer {
        hz: Sweep::still(1320.0),
        envelope: Envelope::struck(0.002, 0.025),
        gain: 0.08,
        ..Layer::SINE
    },
];

/// Voice of a warm chord: a triangle and a soft octave below.
const PAD: &[Layer] = &[
    Layer {
        envelope: Envelope::held(0.02, 0.06, 0.16),
        filter: LayerFilter::Low(Sweep::glide(2600.0, 900.0, 0.2), 0.0),
        gain: 0.5,
        ..Layer::TRIANGLE
    },
    Layer {
        hz: Sweep::still(220.0),
        envelope: Envelope::held(0.02, 0.06, 0.2),
        gain: 0.3,
        ..Layer::SINE
    },
];

const fn soft(at: f32, semitones: f32, gain: f32) -> Note {
    Note { at, semitones, gain }
}

/// A warm-up begins.
pub static WARM_UP: Cue = Cue {
    name: "warm-up",
    sound: Some(&Sound {
        layers: PAD,
        notes: &[note(0.0, -5.0), note(0.16, 0.0), note(0.32, 4.0)],
        gain: 0.5,
        ..Sound::CUE
    }),
    ..Cue::NONE
};

/// One of the three seconds before the start.
pub static COUNT: Cue = Cue {
    name: "count",
    sound: Some(&Sound { layers: BELL, gain: 0.55, ..Sound::CUE }),
    ..Cue::NONE
};

/// The round starts.
pub static GO: Cue = Cue {
    name: "go",
    sound: Some(&Sound {
        layers: BELL,
        notes: &[note(0.0, 12.0), soft(0.0, 7.0, 0.6), soft(0.0, 0.0, 0.5)],
        gain: 0.7,
        ..Sound::CUE
    }),
    rumble: CueRumble { strength: 0.25, secs: 0.15 },
    ..Cue::NONE
};

/// One of the last ten seconds.
pub static HURRY: Cue = Cue {
    name: "hurry",
    sound: Some(&Sound {
        layers: &[
            Layer {
                hz: Sweep::glide(1250.0, 1100.0, 0.01),
                envelope: Envelope::struck(0.002, 0.018),
                gain: 0.5,
                ..Layer::SINE
            },
            Layer {
                hz: Sweep::still(550.0),
                envelope: Envelope::struck(0.002, 0.03),
                gain: 0.3,
                ..Layer::SINE
            },
        ],
        gain: 0.6,
        ..Sound::CUE
    }),
    ..Cue::NONE
};

/// The player has won the round.
pub static WON: Cue = Cue {
    name: "won",
    sound: Some(&Sound {
        layers: PAD,
        notes: &[
            note(0.0, 0.0),
            note(0.14, 4.0),
            note(0.28, 7.0),
            note(0.42, 12.0),
            soft(0.42, 7.0, 0.6),
            soft(0.42, 4.0, 0.6),
        ],
        gain: 0.6,
        ..Sound::CUE
    }),
    rumble: CueRumble { strength: 0.3, secs: 0.4 },
    ..Cue::NONE
};

/// The round is over, and someone else has won it.
pub static LOST: Cue = Cue {
    name: "lost",
    sound: Some(&Sound {
        layers: PAD,
        notes: &[note(0.0, 7.0), note(0.18, 3.0), note(0.36, 0.0), soft(0.36, -5.0, 0.7)],
        gain: 0.5,
        ..Sound::CUE
    }),
    ..Cue::NONE
};

/// A button of the window was pressed.
pub static CLICK: Cue = Cue {
    name: "click",
    sound: Some(&Sound {
        layers: &[Layer {
            hz: Sweep::glide(900.0, 600.0, 0.008),
            envelope: Envelope::struck(0.0015, 0.012),
            gain: 0.5,
            ..Layer::SINE
        }],
        gain: 0.7,
        ..Sound::INTERFACE
    }),
    ..Cue::NONE
};

/// A chat line, a mark on the map, or a vote has arrived.
pub static CHAT: Cue = Cue {
    name: "chat",
    sound: Some(&Sound {
        layers: BELL,
        notes: &[note(0.0, 7.0), note(0.07, 12.0)],
        channel: Channel::Interface,
        gain: 0.4,
        ..Sound::INTERFACE
    }),
    ..Cue::NONE
};

/// A player joined.
pub static JOINED: Cue = Cue {
    name: "joined",
    sound: Some(&Sound {
        layers: BELL,
        notes: &[note(0.0, 0.0), note(0.09, 5.0)],
        gain: 0.3,
        ..Sound::INTERFACE
    }),
    ..Cue::NONE
};

/// A player left.
pub static LEFT: Cue = Cue {
    name: "left",
    sound: Some(&Sound {
        layers: BELL,
        notes: &[note(0.0, 5.0), note(0.09, 0.0)],
        gain: 0.3,
        ..Sound::INTERFACE
    }),
    ..Cue::NONE
};

/// Cues that every game has.
pub static OF_ALL: [&Cue; 10] =
    [&WARM_UP, &COUNT, &GO, &HURRY, &WON, &LOST, &CLICK, &CHAT, &JOINED, &LEFT];

//! Cues of Skirmish.

use phaselock_games::skirmish::{BLAST_REACH, Goods, Weapon};
use phaselock_sound::patch::{Sound, note};
use phaselock_ui::prelude::*;

use crate::layers::{after, at, band, hiss, named, rumble, saw, sine, steady, triangle};

/// A pickup or prop that is put in its place twinkles.
const TWINKLE: &[Spark] = &[
    Spark::Ring { from: 0.3, to: 0.9, secs: 0.35, color: None },
    Spark::Burst { count: 8, speed: 2.5, secs: 0.4, color: None },
];

pub(super) static SHOT: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            band((3200.0, 900.0, 0.02), (0.001, 0.018), 0.9),
            sine((520.0, 95.0, 0.016), (0.001, 0.035), 0.7),
            hiss((1500.0, 300.0, 0.05), (0.004, 0.05), 0.16),
        ],
        gain: 0.36,
        at_most: 8,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.15, 0.05),
    ..named("shot")
};

pub(super) static RICOCHET: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            band((2600.0, 1500.0, 0.03), (0.001, 0.012), 0.6),
            after(0.004, sine((1900.0, 1250.0, 0.06), (0.003, 0.02), 0.12)),
        ],
        gain: 0.25,
        vary: 3.0,
        rank: 0,
        ..Sound::EFFECT
    }),
    ..named("ricochet")
};

pub(super) static STRUCK: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            hiss((900.0, 250.0, 0.03), (0.001, 0.025), 0.9),
            sine((210.0, 90.0, 0.03), (0.002, 0.03), 0.6),
        ],
        gain: 0.36,
        ..Sound::EFFECT
    }),
    ..named("struck")
};

pub(super) static ROCKET: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            band((350.0, 1500.0, 0.12), (0.01, 0.13), 0.9),
            sine((160.0, 55.0, 0.06), (0.003, 0.09), 0.7),
        ],
        gain: 0.48,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.4, 0.12),
    ..named("rocket")
};

pub(super) static GRENADE: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((330.0, 120.0, 0.03), (0.002, 0.045), 0.8),
            band((1300.0, 500.0, 0.04), (0.003, 0.03), 0.5),
        ],
        gain: 0.5,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.25, 0.08),
    ..named("grenade")
};

pub(super) static MINE: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((180.0, 110.0, 0.03), (0.002, 0.04), 0.7),
            after(0.09, sine(at(1180.0), (0.004, 0.03), 0.25)),
            after(0.17, sine(at(1180.0), (0.004, 0.03), 0.25)),
        ],
        gain: 0.45,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.2, 0.06),
    ..named("mine")
};

pub(super) static KNOCK: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            triangle((240.0, 150.0, 0.02), (0.001, 0.03), 0.7),
            band(at(700.0), (0.001, 0.015), 0.6),
        ],
        gain: 0.35,
        vary: 2.0,
        rank: 0,
        ..Sound::EFFECT
    }),
    ..named("knock")
};

pub(super) static BLAST: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            hiss((4200.0, 160.0, 0.09), (0.002, 0.16), 0.95),
            sine((130.0, 34.0, 0.07), (0.003, 0.2), 0.95),
            after(0.05, hiss((500.0, 120.0, 0.3), (0.04, 0.28), 0.5)),
        ],
        gain: 0.8,
        at_most: 5,
        rank: 2,
        ..Sound::EFFECT
    }),
    sparks: &[
        Spark::Explosion { radius: BLAST_REACH * 0.8 },
        Spark::Ring { from: 0.4, to: BLAST_REACH, secs: 0.5, color: None },
        Spark::Flash { size: 1.5, longer: 0.1, color: Some(palette::WARN) },
    ],
    shake: 0.75,
    rumble: rumble(0.9, 0.35),
    ..named("blast")
};

pub(super) static HURT: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            hiss((1400.0, 200.0, 0.04), (0.001, 0.04), 0.8),
            saw((190.0, 120.0, 0.08), at(700.0), (0.004, 0.07), 0.45),
        ],
        gain: 0.6,
        at_most: 3,
        rank: 2,
        ..Sound::EFFECT
    }),
    shake: 1.0,
    rumble: rumble(1.0, 0.18),
    ..named("hurt")
};

pub(super) static LANDED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[sine((1500.0, 1700.0, 0.02), (0.002, 0.02), 0.5)],
        gain: 0.32,
        vary: 0.0,
        at_most: 3,
        rank: 2,
        ..Sound::EFFECT
    }),
    ..named("landed")
};

pub(super) static FRAG: Cue = Cue {
    sound: Some(&Sound {
        layers: &[triangle(at(660.0), (0.004, 0.06), 0.5), sine(at(1320.0), (0.003, 0.04), 0.2)],
        notes: &[note(0.0, 0.0), note(0.08, 5.0)],
        gain: 0.4,
        vary: 0.0,
        at_most: 2,
        rank: 3,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.3, 0.12),
    ..named("frag")
};

pub(super) static DIED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            saw((300.0, 60.0, 0.12), (1600.0, 200.0, 0.12), (0.006, 0.14), 0.6),
            hiss((2200.0, 300.0, 0.08), (0.002, 0.09), 0.6),
        ],
        gain: 0.6,
        rank: 2,
        ..Sound::EFFECT
    }),
    sparks: &[
        Spark::Ring { from: 0.35, to: 1.7, secs: 0.45, color: None },
        Spark::Ring { from: 0.35, to: 1.0, secs: 0.7, color: None },
        Spark::Flash { size: 0.9, longer: 0.05, color: None },
        Spark::Burst { count: 22, speed: 8.0, secs: 0.75, color: None },
    ],
    rumble: rumble(1.0, 0.5),
    ..named("died")
};

pub(super) static SPAWNED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((330.0, 660.0, 0.12), (0.05, 0.1), 0.45),
            after(0.06, sine((660.0, 990.0, 0.12), (0.05, 0.09), 0.25)),
        ],
        gain: 0.42,
        ..Sound::EFFECT
    }),
    sparks: &[
        Spark::Ring { from: 2.0, to: 0.45, secs: 0.4, color: None },
        Spark::Ring { from: 0.45, to: 0.9, secs: 0.6, color: None },
    ],
    ..named("spawned")
};

pub(super) static HEALTH: Cue = Cue {
    sound: Some(&Sound {
        layers: &[sine(at(523.0), (0.006, 0.08), 0.5), sine(at(1046.0), (0.004, 0.05), 0.2)],
        notes: &[note(0.0, 0.0), note(0.07, 4.0), note(0.14, 7.0)],
        gain: 0.4,
        ..Sound::EFFECT
    }),
    sparks: TWINKLE,
    ..named("health")
};

pub(super) static SUPPLIES: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            band((1800.0, 900.0, 0.02), (0.001, 0.02), 0.5),
            triangle(at(392.0), (0.004, 0.06), 0.5),
        ],
        notes: &[note(0.0, 0.0), note(0.08, 7.0)],
        gain: 0.4,
        ..Sound::EFFECT
    }),
    sparks: TWINKLE,
    ..named("supplies")
};

pub(super) static BACK: Cue = Cue {
    sound: Some(&Sound {
        layers: &[sine((500.0, 750.0, 0.06), (0.03, 0.06), 0.4)],
        gain: 0.2,
        rank: 0,
        ..Sound::EFFECT
    }),
    sparks: TWINKLE,
    ..named("back")
};

pub(super) static LIFTED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            sine((140.0, 230.0, 0.05), (0.01, 0.04), 0.6),
            band((500.0, 900.0, 0.05), (0.01, 0.03), 0.4),
        ],
        gain: 0.35,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.15, 0.06),
    ..named("lifted")
};

pub(super) static THROWN: Cue = Cue {
    sound: Some(&Sound {
        layers: &[band((500.0, 1600.0, 0.07), (0.025, 0.06), 0.9)],
        gain: 0.42,
        ..Sound::EFFECT
    }),
    rumble: rumble(0.3, 0.1),
    ..named("thrown")
};

pub(super) static SWITCHED: Cue = Cue {
    sound: Some(&Sound {
        layers: &[
            band(at(2200.0), (0.001, 0.01), 0.6),
            after(0.05, band(at(1500.0), (0.001, 0.014), 0.6)),
        ],
        gain: 0.3,
        at_most: 2,
        ..Sound::EFFECT
    }),
    ..named("switched")
};

/// A rocket's flight.
pub(super) static FLIGHT: Sound = Sound {
    layers: &[steady(band(at(520.0), (0.0, 0.0), 0.7)), steady(sine(at(92.0), (0.0, 0.0), 0.35))],
    gain: 0.35,
    at_most: 4,
    ..Sound::DRONE
};

/// All cues.
pub(super) static ALL: &[&Cue] = &[
    &SHOT, &RICOCHET, &STRUCK, &ROCKET, &GRENADE, &MINE, &KNOCK, &BLAST, &HURT, &LANDED, &FRAG,
    &DIED, &SPAWNED, &HEALTH, &SUPPLIES, &BACK, &LIFTED, &THROWN, &SWITCHED,
];

/// Cue of a fired weapon.
pub(super) fn of_weapon(weapon: Weapon) -> &'static Cue {
    match weapon {
        Weapon::Rifle => &SHOT,
        Weapon::Rockets => &ROCKET,
        Weapon::Grenades => &GRENADE,
        Weapon::Mines => &MINE,
    }
}

/// Cue of a taken pickup.
pub(super) fn of_goods(goods: Goods) -> &'static Cue {
    if goods == Goods::Health { &HEALTH } else { &SUPPLIES }
}

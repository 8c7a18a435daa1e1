//! A ship that flies straight and gently changes its course every few seconds.

use glam::Vec2;
use phaselock::fields::turn_between;
use phaselock::physics::{direction, turns};
use phaselock::random::Random;
use phaselock::record;

use super::{Ahead, RATES, Recording, run};

/// Metres a second.
const SPEED: f32 = 40.0;
/// Rate of its turns: 22 degrees a second.
const TURN_RATE: f32 = 0.06;
/// Distance from the start at which the ship turns back, in metres.
const FAR: f32 = 1200.0;

record! {
    /// The ship, in steps of 1/4096 m, within 2 km.
    struct Flyer {
        turn: i16 = Field::centred(2, 0).steering(),
        x: f32 = Field::centred(24, 12).moved_by("vx"),
        y: f32 = Field::centred(24, 12).moved_by("vy"),
        vx: f32 = Field::centred(17, 10),
        vy: f32 = Field::centred(17, 10),
        heading: f32 = Field::angle(16),
    }
}

fn step(ship: &Flyer) -> Flyer {
    let secs = RATES.step_secs();
    let heading = ship.heading + f32::from(ship.turn) * TURN_RATE * secs;
    let velocity = direction(heading) * SPEED;
    let position = Vec2::new(ship.x, ship.y) + velocity * secs;
    Flyer { x: position.x, y: position.y, vx: velocity.x, vy: velocity.y, heading, ..*ship }
}

pub(super) fn record(ticks: u64, seed: u64) -> Recording {
    let mut random = Random::new(seed);
    let start = Flyer { heading: random.unit(), ..Flyer::default() };
    // Seconds until its keys change.
    let mut held = 0.0;
    run(step(&start), ticks, Ahead::new(step), move |ship| {
        held -= RATES.step_secs();
        if held > 0.0 {
            return;
        }
        if ship.turn != 0 {
            (ship.turn, held) = (0, random.range(3.0, 6.0));
            return;
        }
        let position = Vec2::new(ship.x, ship.y);
        if position.length() > FAR {
            let back = turn_between(ship.heading, turns(-position));
            (ship.turn, held) = (if back < 0.0 { -1 } else { 1 }, back.abs() / TURN_RATE);
        } else {
            ship.turn = if random.chance(0.5) { 1 } else { -1 };
            held = random.range(0.3, 1.2);
        }
    })
}

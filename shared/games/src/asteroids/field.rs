//! The fields that Asteroids is played in, and the rocks that drift there.
//!
//! A field is a torus of [`SIZE`], which the field tables fix. More players open more fields, one
//! for each [`SECTOR_PLAYERS`], with more rocks in each. Players of different fields never meet,
//! but share a round.

use glam::Vec2;

use super::entities::{POSITION, ROCK_PACE, Rock};
use crate::records;
use phaselock::fields::Field;
use phaselock::physics::{Torus, direction};
use phaselock::random::Random;

/// Width and height of a field in metres: the period of the positions' grids.
pub const SIZE: f32 = 128.0;
/// The shape of each field.
pub const FIELD: Torus = Torus { size: Vec2::splat(SIZE) };
/// Number of fields: what four bits tell apart.
pub const SECTORS: u8 = 16;
/// Players in a field before the next is opened. Arbitrary; 32 m to each.
pub const SECTOR_PLAYERS: usize = 16;

/// Radii of rocks in metres, the large first. Areas are about halved with each split.
pub const RADII: [f32; 3] = [3.4, 2.4, 1.6];
/// Their masses, of the smallest: each is two of the next, so that splitting conserves it.
pub const MASSES: [u32; 3] = [4, 2, 1];
/// Their values in points: the smaller, the harder to hit.
pub const WORTH: [u16; 3] = [1, 2, 3];
/// Large rocks in a field without players, and more for each player. Arbitrary: one player sees
/// about one on a screen, 16 players see five.
const LARGE: f32 = 8.0;
const LARGE_EACH: f32 = 1.5;
/// Speeds of large rocks in metres a second. Arbitrary.
const DRIFT: (f32, f32) = (1.5, 4.5);
/// Speeds of the parts of a split rock, to either side, in metres a second. Arbitrary.
const BURST: (f32, f32) = (1.5, 4.0);
/// Greatest speed of any rock in metres a second: a large one's, two splits, and rounding.
pub const ROCK_SPEED_MAX: f32 = DRIFT.1 + 2.0 * BURST.1 + 0.1;
/// Seconds for which a new rock is announced where it will be.
pub const WARNING_SECS: f32 = 1.5;
/// The same for the parts of a split rock.
pub const PARTS_WARNING_SECS: f32 = 0.5;
/// Distance from ships that new rocks keep, in metres, if there is such a position.
const CLEARANCE: f32 = 14.0;

/// Greatest mass of all rocks of a field with so many players.
pub fn mass_max(players: usize) -> u32 {
    let large = LARGE + LARGE_EACH * players.min(SECTOR_PLAYERS) as f32;
    large as u32 * MASSES[0]
}

/// A rock's radius in metres. The grid holds a size too many, which counts as the smallest.
pub fn radius(rock: &Rock) -> f32 {
    RADII[usize::from(rock.size).min(RADII.len() - 1)]
}

/// A rock's mass.
pub fn mass(rock: &Rock) -> u32 {
    MASSES[usize::from(rock.size).min(MASSES.len() - 1)]
}

fn snapped(field: Field, value: Vec2) -> Vec2 {
    value.map(|value| records::snapped(field, value))
}

/// The best of a few random positions, by how far they are `away_from` ships and rocks.
pub(super) fn clear_position(random: &mut Random, away_from: impl Fn(Vec2) -> f32) -> Vec2 {
    let mut best = (f32::NEG_INFINITY, Vec2::ZERO);
    for _ in 0..12 {
        let position = Vec2::new(random.range(0.0, SIZE), random.range(0.0, SIZE));
        let distance = away_from(position);
        if distance > best.0 {
            best = (distance, position);
        }
        if distance >= CLEARANCE {
            break;
        }
    }
    best.1
}

/// A large rock that comes into a field.
pub(super) fn new_rock(sector: u8, position: Vec2, forming: u8, random: &mut Random) -> Rock {
    let position = snapped(POSITION, position);
    let drift = direction(random.unit()) * random.range(DRIFT.0, DRIFT.1);
    let velocity = snapped(ROCK_PACE, drift);
    Rock {
        x: position.x,
        y: position.y,
        vx: velocity.x,
        vy: velocity.y,
        size: 0,
        seed: random.below(256) as u8,
        sector,
        forming,
    }
}

/// The parts of a rock that is struck along a unit vector: two of the next size, or none. They
/// part at a right angle to the blow with opposite speeds, which keeps momentum to the last bit.
pub(super) fn split(
    rock: &Rock,
    along: Vec2,
    forming: u8,
    random: &mut Random,
) -> Option<[Rock; 2]> {
    let size = rock.size + 1;
    if usize::from(size) >= RADII.len() {
        return None;
    }
    let aside = along.perp();
    let burst = snapped(ROCK_PACE, aside * random.range(BURST.0, BURST.1));
    let apart = aside * (0.5 * radius(rock));
    Some([1.0, -1.0].map(|side| {
        let position = snapped(POSITION, FIELD.fold(rock.position() + apart * side));
        Rock {
            x: position.x,
            y: position.y,
            vx: rock.vx + burst.x * side,
            vy: rock.vy + burst.y * side,
            size,
            seed: random.below(256) as u8,
            forming,
            ..*rock
        }
    }))
}

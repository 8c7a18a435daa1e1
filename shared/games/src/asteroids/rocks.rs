//! Rocks: their sizes and masses, how they enter a field, and how they split.

use glam::Vec2;

use super::entities::{POSITION, ROCK_PACE, Rock};
use super::field::{FIELD, SECTOR_PLAYERS};
use crate::records;
use phaselock::fields::Field;
use phaselock::physics::direction;
use phaselock::random::Random;

/// Radii of rocks in metres, large ones first. Each split about halves the area.
pub const RADII: [f32; 3] = [3.4, 2.4, 1.6];
/// Masses of rocks, relative to the smallest: each is twice the next, so that a split conserves
/// mass.
pub const MASSES: [u32; 3] = [4, 2, 1];
/// Points for rocks: smaller ones are harder to hit.
pub const WORTH: [u16; 3] = [1, 2, 3];
/// Number of large rocks in a field without players, and additional ones per player. Arbitrary: one
/// player sees about one on a screen, 16 players see five.
const LARGE: f32 = 8.0;
const LARGE_EACH: f32 = 1.5;
/// Speeds of large rocks in metres per second. Arbitrary.
const DRIFT: (f32, f32) = (1.5, 4.5);
/// Sideways speeds of the parts of a split rock, in metres per second. Arbitrary.
const BURST: (f32, f32) = (1.5, 4.0);
/// Maximum speed of a rock in metres per second: a large one's, plus two splits and rounding.
pub const ROCK_SPEED_MAX: f32 = DRIFT.1 + 2.0 * BURST.1 + 0.1;
/// Seconds for which a new rock is announced at its position.
pub const WARNING_SECS: f32 = 1.5;
/// Seconds for which the parts of a split rock are announced.
pub const PARTS_WARNING_SECS: f32 = 0.5;

/// Returns the maximum mass of all rocks in a field with this many players.
pub fn mass_max(players: usize) -> u32 {
    let large = LARGE + LARGE_EACH * players.min(SECTOR_PLAYERS) as f32;
    large as u32 * MASSES[0]
}

/// Returns a rock's radius in metres. The grid has one size too many, which counts as the smallest.
pub fn radius(rock: &Rock) -> f32 {
    RADII[usize::from(rock.size).min(RADII.len() - 1)]
}

/// Returns a rock's mass.
pub fn mass(rock: &Rock) -> u32 {
    MASSES[usize::from(rock.size).min(MASSES.len() - 1)]
}

fn snapped(field: Field, value: Vec2) -> Vec2 {
    value.map(|value| records::snapped(field, value))
}

/// Creates a large rock that enters a field.
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

/// Returns the parts of a rock that is hit along a unit vector: two of the next size, or none. They
/// separate at a right angle to the hit with opposite velocities, which conserves momentum exactly.
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

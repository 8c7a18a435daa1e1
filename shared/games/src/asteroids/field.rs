//! The fields of Asteroids, and free positions in them.
//!
//! A field is a torus of [`SIZE`], which the field tables require. More players open more fields,
//! one for each [`SECTOR_PLAYERS`], with more rocks in each. Players in different fields never
//! meet, but share a round.

use glam::Vec2;

use phaselock::physics::Torus;
use phaselock::random::Random;

/// Width and height of a field in metres: the period of the positions' grids.
pub const SIZE: f32 = 128.0;
/// The shape of each field.
pub const FIELD: Torus = Torus { size: Vec2::splat(SIZE) };
/// Number of fields, limited by four bits.
pub const SECTORS: u8 = 16;
/// Number of players in a field before the next one opens. Arbitrary; 32 m for each.
pub const SECTOR_PLAYERS: usize = 16;

/// Distance in metres that new rocks keep from ships, if possible.
const CLEARANCE: f32 = 14.0;

/// Returns the best of a few random positions, by how far they are `away_from` ships and rocks.
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

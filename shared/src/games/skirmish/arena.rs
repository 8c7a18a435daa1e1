//! Skirmish's map.

use glam::Vec2;

use crate::physics::Aabb;

/// Half of the arena's inside, in metres.
pub const HALF: Vec2 = Vec2::new(24.0, 15.0);

/// The map: walls, places to come into the world, and points for bots to walk between.
#[derive(Clone, Debug)]
pub struct Arena {
    /// The four outer walls first, then what stands inside.
    pub walls: Vec<Aabb>,
    /// Where players start.
    pub spawns: Vec<Vec2>,
    /// Points that are clear of walls, on a grid.
    pub waypoints: Vec<Vec2>,
}

/// Thickness of the outer walls; more than a player moves in a tick.
pub const BORDER: f32 = 2.0;

impl Arena {
    /// The one arena there is: a court in the middle, cover in the corners, lanes along the sides.
    pub fn new() -> Self {
        let outer = HALF + BORDER;
        let middle = HALF + BORDER / 2.0;
        let mut walls = vec![
            Aabb::centred(Vec2::new(0.0, -middle.y), Vec2::new(outer.x, BORDER / 2.0)),
            Aabb::centred(Vec2::new(0.0, middle.y), Vec2::new(outer.x, BORDER / 2.0)),
            Aabb::centred(Vec2::new(-middle.x, 0.0), Vec2::new(BORDER / 2.0, outer.y)),
            Aabb::centred(Vec2::new(middle.x, 0.0), Vec2::new(BORDER / 2.0, outer.y)),
            // A pillar in the middle of the court.
            Aabb::centred(Vec2::ZERO, Vec2::new(1.5, 1.5)),
        ];
        // The same in each quarter, as middle and half of the size.
        let quarter = [
            ((5.0, 5.5), (3.0, 0.5)),
            ((7.5, 4.0), (0.5, 2.0)),
            ((13.0, 0.0), (0.5, 3.0)),
            ((15.0, 8.5), (2.5, 1.0)),
            ((20.0, 5.0), (1.0, 1.0)),
            ((8.0, 11.5), (1.0, 1.0)),
            ((20.5, 11.5), (0.75, 0.75)),
        ];
        for ((x, y), (half_x, half_y)) in quarter {
            for (sign_x, sign_y) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
                let at = Vec2::new(x * sign_x, y * sign_y);
                let wall = Aabb::centred(at, Vec2::new(half_x, half_y));
                if !walls.contains(&wall) {
                    walls.push(wall);
                }
            }
        }
        let clear =
            |point: &Vec2| walls.iter().all(|wall| wall.nearest(*point).distance(*point) > 0.8);
        let waypoints: Vec<_> = (-11..=11)
            .flat_map(|x| (-7..=7).map(move |y| Vec2::new(x as f32, y as f32) * 2.0))
            .filter(clear)
            .collect();
        let spawns = waypoints
            .iter()
            .filter(|point| point.x.abs() > 16.0 || point.y.abs() > 11.0)
            .copied()
            .collect();
        Self { walls, spawns, waypoints }
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_to_start_and_the_map_fits_its_fields() {
        let arena = Arena::new();
        assert!(arena.spawns.len() >= 32, "{}", arena.spawns.len());
        assert!(arena.waypoints.len() > 100);
        assert!((HALF + BORDER).max_element() < 32.0, "positions are sent within 32 m");
    }
}

//! Geometry in the plane that games share: circles, boxes and rays.
//!
//! It uses only additions, multiplications, divisions and square roots of `f32`, which IEEE 754
//! defines to the last bit, and sine and cosine from `libm`. So all machines compute equal results.

use glam::Vec2;

use crate::fields::{way_around, wrapped};

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// The corner with the smallest coordinates.
    pub min: Vec2,
    /// The corner with the largest coordinates.
    pub max: Vec2,
}

impl Aabb {
    /// Creates a box from its centre and half its size.
    pub fn centred(middle: Vec2, half: Vec2) -> Self {
        Self { min: middle - half, max: middle + half }
    }

    /// Returns the size.
    pub fn size(&self) -> Vec2 {
        self.max - self.min
    }

    /// Returns the point in the box that is nearest to `point`.
    pub fn nearest(&self, point: Vec2) -> Vec2 {
        point.clamp(self.min, self.max)
    }

    /// Returns the box with each side moved outwards by `by`.
    pub fn grown(&self, by: f32) -> Self {
        Self { min: self.min - by, max: self.max + by }
    }
}

/// A plane that wraps: a body that leaves on one side enters on the opposite one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    /// Period in each direction.
    pub size: Vec2,
}

impl Torus {
    /// Returns the equivalent position from 0 up to but excluding the size.
    pub fn fold(self, position: Vec2) -> Vec2 {
        Vec2::new(wrapped(position.x, self.size.x), wrapped(position.y, self.size.y))
    }

    /// Returns the shortest way from `a` to `b`, at most half of the size in each direction.
    pub fn way(self, a: Vec2, b: Vec2) -> Vec2 {
        Vec2::new(way_around(a.x, b.x, self.size.x), way_around(a.y, b.y, self.size.y))
    }

    /// Returns the length of the shortest way.
    pub fn distance(self, a: Vec2, b: Vec2) -> f32 {
        self.way(a, b).length()
    }
}

/// Returns the unit vector of a direction in turns, counted from the x axis towards the y axis.
pub fn direction(turns: f32) -> Vec2 {
    let (sin, cos) = libm::sincosf(turns * std::f32::consts::TAU);
    Vec2::new(cos, sin)
}

/// Returns the direction of a vector in turns, 0 up to but excluding 1. The zero vector has
/// direction 0.
pub fn turns(vector: Vec2) -> f32 {
    (libm::atan2f(vector.y, vector.x) / std::f32::consts::TAU).rem_euclid(1.0)
}

/// Moves a circle for `secs` and slides it along the boxes, in steps of at most half its radius, so
/// that it passes through no wall at any speed.
pub fn slide_circle(
    position: &mut Vec2,
    velocity: &mut Vec2,
    radius: f32,
    walls: &[Aabb],
    secs: f32,
) {
    // The distance is mostly short, which can be checked without a square root. This bound is lower
    // than the exact one by more than the rounding error.
    let half = 0.5 * radius;
    let is_short = velocity.length_squared() * (secs * secs) < half * half * 0.999;
    let steps = match is_short {
        true => 1.0,
        false => (velocity.length() * secs / half).ceil().clamp(1.0, 64.0),
    };
    for _ in 0..steps as u32 {
        *position += *velocity * (secs / steps);
        for wall in walls {
            push_out(position, velocity, radius, wall);
        }
    }
}

/// Moves a circle out of a box by the shortest way, and removes the velocity component that points
/// into it.
fn push_out(position: &mut Vec2, velocity: &mut Vec2, radius: f32, wall: &Aabb) {
    let nearest = wall.nearest(*position);
    let away = *position - nearest;
    // Most walls are far away, which can be checked without a square root.
    if away.length_squared() > radius * radius * 1.001 {
        return;
    }
    let distance = away.length();
    if distance >= radius {
        return;
    }
    let (normal, depth) = if distance > 0.0 {
        (away / distance, radius - distance)
    } else {
        // The centre is inside: leave through the nearest side.
        let to_min = *position - wall.min;
        let to_max = wall.max - *position;
        let sides =
            [(-Vec2::X, to_min.x), (Vec2::X, to_max.x), (-Vec2::Y, to_min.y), (Vec2::Y, to_max.y)];
        let nearest = sides.iter().fold(sides[0], |a, b| if b.1 < a.1 { *b } else { a });
        (nearest.0, nearest.1 + radius)
    };
    *position += normal * depth;
    let into = velocity.dot(normal);
    if into < 0.0 {
        *velocity -= normal * into;
    }
}

/// Returns the distance of a box along a ray: 0 if the ray starts inside, `None` if it misses.
/// `along` is a unit vector.
pub fn ray_to_box(from: Vec2, along: Vec2, target: &Aabb) -> Option<f32> {
    // Slab method: where the ray enters and leaves the box's extent on each axis. Infinities from a
    // division by 0 compare correctly.
    let a = (target.min - from) / along;
    let b = (target.max - from) / along;
    let enters = a.min(b);
    let leaves = a.max(b);
    let enter = enters.x.max(enters.y).max(0.0);
    let leave = leaves.x.min(leaves.y);
    (enter <= leave).then_some(enter)
}

/// Returns the distance of a circle along a ray: 0 if the ray starts inside, `None` if it misses.
pub fn ray_to_circle(from: Vec2, along: Vec2, middle: Vec2, radius: f32) -> Option<f32> {
    let to = middle - from;
    if to.length_squared() <= radius * radius {
        return Some(0.0);
    }
    let nearest = to.dot(along);
    let miss = to.length_squared() - nearest * nearest;
    let half_chord = radius * radius - miss;
    (nearest >= 0.0 && half_chord >= 0.0).then(|| nearest - half_chord.sqrt())
}

/// Returns the distance of the nearest box along a ray, at most `most`.
pub fn ray_to_walls(from: Vec2, along: Vec2, walls: &[Aabb], most: f32) -> f32 {
    walls.iter().filter_map(|wall| ray_to_box(from, along, wall)).fold(most, f32::min)
}

/// Whether no box lies between two points.
pub fn has_line_of_sight(a: Vec2, b: Vec2, walls: &[Aabb]) -> bool {
    let distance = a.distance(b);
    let along = (b - a) / distance;
    distance == 0.0
        || !walls.iter().any(|wall| ray_to_box(a, along, wall).is_some_and(|far| far < distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wall() -> Aabb {
        Aabb::centred(Vec2::ZERO, Vec2::new(2.0, 1.0))
    }

    #[test]
    fn rays_meet_what_is_in_their_way() {
        assert_eq!(ray_to_box(Vec2::new(-5.0, 0.5), Vec2::X, &wall()), Some(3.0));
        assert_eq!(ray_to_box(Vec2::new(-5.0, 1.5), Vec2::X, &wall()), None);
        assert_eq!(ray_to_box(Vec2::new(5.0, 0.5), Vec2::X, &wall()), None);
        assert_eq!(ray_to_box(Vec2::new(0.0, 0.5), Vec2::Y, &wall()), Some(0.0));
        assert_eq!(ray_to_circle(Vec2::ZERO, Vec2::X, Vec2::new(4.0, 0.0), 1.0), Some(3.0));
        assert_eq!(ray_to_circle(Vec2::ZERO, -Vec2::X, Vec2::new(4.0, 0.0), 1.0), None);
        assert!(!has_line_of_sight(Vec2::new(0.0, 5.0), Vec2::new(0.0, -5.0), &[wall()]));
        assert!(has_line_of_sight(Vec2::new(3.0, 5.0), Vec2::new(3.0, -5.0), &[wall()]));
    }

    #[test]
    fn on_a_torus_the_way_across_the_edge_counts() {
        let torus = Torus { size: Vec2::new(64.0, 32.0) };
        let (a, b) = (Vec2::new(63.0, 1.0), Vec2::new(2.0, 30.0));
        assert_eq!(
            (torus.way(a, b), torus.way(b, a)),
            (Vec2::new(3.0, -3.0), Vec2::new(-3.0, 3.0))
        );
        assert_eq!(torus.fold(a + torus.way(a, b)), b);
        assert_eq!(torus.distance(Vec2::ZERO, Vec2::new(60.0, 29.0)), 5.0);
    }

    #[test]
    fn directions_go_around_once() {
        for n in 0..64 {
            let angle = n as f32 / 64.0;
            let back = turns(direction(angle));
            assert!(crate::fields::turn_between(back, angle).abs() < 1e-5);
        }
        assert!((direction(0.25) - Vec2::Y).length() < 1e-6);
    }

    proptest! {
        #[test]
        fn no_speed_takes_a_circle_through_a_wall(
            angle in 0.0_f32..1.0, speed in 0.0_f32..60.0, hz in 10_u32..128,
        ) {
            let outside = direction(angle) * 6.0;
            let (mut position, mut velocity) = (outside, -outside.normalize() * speed);
            for _ in 0..hz {
                slide_circle(&mut position, &mut velocity, 0.4, &[wall()], 1.0 / hz as f32);
                prop_assert!(wall().nearest(position).distance(position) > 0.39);
            }
        }
    }
}

//! Contacts between cars: impulses between their hulls.

use glam::Vec2;

use super::body::{GYRATION, HULL_HALF, HULL_RADIUS, SPEED_MAX, SPIN_MAX, confine};
use super::drive::pass_gate;
use super::entities::Car;
use super::track::Track;
use phaselock::time::Rates;

const TAU: f32 = std::f32::consts::TAU;
/// Distance between two centres beyond which cars never touch, in metres.
pub const TOUCH: f32 = 2.0 * (HULL_HALF + HULL_RADIUS);
/// Fraction of the closing speed that a contact returns. Arbitrary: steel is soft.
const REBOUNDS: f32 = 0.3;
/// Speed at which overlapping cars are separated, in metres per second each. Arbitrary.
const APART: f32 = 8.0;
/// Minimum closing speed that counts as a bump, in metres per second.
const BUMP: f32 = 1.0;

/// Where two cars are closest to each other.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// Metres between the hulls; negative if they overlap.
    pub gap: f32,
    /// The unit vector from the first to the second.
    normal: Vec2,
    /// The point between them.
    at: Vec2,
}

/// Returns the closest points of two hulls' segments: with centres `a` and `b`, along unit vectors
/// `u` and `v`.
fn nearest_points(a: Vec2, u: Vec2, b: Vec2, v: Vec2) -> (Vec2, Vec2) {
    let limit = |it: f32| it.clamp(-HULL_HALF, HULL_HALF);
    let between = b - a;
    let (uv, ud, vd) = (u.dot(v), u.dot(between), v.dot(between));
    let crossing = 1.0 - uv * uv;
    // Parallel segments are equally close along a stretch; take its middle.
    let s = if crossing > 1e-4 { (ud - uv * vd) / crossing } else { ud * 0.5 };
    let s = limit(s);
    let t = limit(s * uv - vd);
    let s = limit(t * uv + ud);
    (a + u * s, b + v * t)
}

/// Returns where two cars are closest to each other.
pub fn nearest(a: &Car, b: &Car) -> Nearest {
    let (p, q) = nearest_points(a.position(), a.nose(), b.position(), b.nose());
    let between = q - p;
    let distance = between.length();
    // At an equal position one goes to its right, the other to its left.
    let normal = if distance > 1e-4 { between / distance } else { a.nose().perp() };
    Nearest { gap: distance - 2.0 * HULL_RADIUS, normal, at: (p + q) * 0.5 }
}

/// Resolves contacts between solid cars that have moved. They are in the order of their ids, which
/// is the same on both sides; `pairs` is scratch space.
pub(super) fn collide(
    track: &Track,
    rates: Rates,
    cars: &mut [&mut Car],
    pairs: &mut Vec<(u16, u16)>,
) {
    pairs.clear();
    let is_solid = |n: &u16| cars[usize::from(*n)].is_solid();
    let mut order: Vec<u16> = (0..cars.len() as u16).filter(is_solid).collect();
    let x = |n: u16| cars[usize::from(n)].x;
    order.sort_by(|a, b| x(*a).total_cmp(&x(*b)).then(a.cmp(b)));
    for (at, &a) in order.iter().enumerate() {
        let near = order[at + 1..].iter().take_while(|b| x(**b) - x(a) < TOUCH);
        for &b in near {
            let [one, other] = [a, b].map(|n| cars[usize::from(n)].position());
            if one.distance_squared(other) < TOUCH * TOUCH {
                pairs.push((a.min(b), a.max(b)));
            }
        }
    }
    pairs.sort_unstable();
    for &(a, b) in pairs.iter() {
        let (first, second) = cars.split_at_mut(usize::from(b));
        touch(track, rates, first[usize::from(a)], second[0]);
    }
}

/// Resolves the contact of one pair.
fn touch(track: &Track, rates: Rates, a: &mut Car, b: &mut Car) {
    let Nearest { gap, normal, at } = nearest(a, b);
    if gap >= 0.0 {
        return;
    }
    let (arm_a, arm_b) = (at - a.position(), at - b.position());
    let speed = |car: &Car, arm: Vec2| car.velocity() + arm.perp() * (car.spin * TAU);
    let closing = (speed(a, arm_a) - speed(b, arm_b)).dot(normal);
    if closing > 0.0 {
        let (turn_a, turn_b) = (arm_a.perp_dot(normal), arm_b.perp_dot(normal));
        let inertia = 2.0 + (turn_a * turn_a + turn_b * turn_b) / GYRATION;
        let impulse = (1.0 + REBOUNDS) * closing / inertia;
        push(a, normal * -impulse, -turn_a * impulse / GYRATION);
        push(b, normal * impulse, turn_b * impulse / GYRATION);
        if closing > BUMP {
            (a.bumps, b.bumps) = ((a.bumps + 1) % 16, (b.bumps + 1) % 16);
        }
    }
    let by = (-gap * 0.5).min(APART * rates.step_secs());
    shift(track, a, normal * -by);
    shift(track, b, normal * by);
}

/// Changes a car's velocity, and its rotation in radians per second.
fn push(car: &mut Car, by: Vec2, spin: f32) {
    (car.vx, car.vy) = (car.velocity() + by).clamp_length_max(SPEED_MAX).into();
    car.spin = (car.spin + spin / TAU).clamp(-SPIN_MAX, SPIN_MAX);
}

/// Moves a car, within the barriers and through gates.
fn shift(track: &Track, car: &mut Car, by: Vec2) {
    let from = car.position();
    let mut position = from + by;
    confine(track, car, &mut position);
    car.set_position(position);
    pass_gate(track, car, from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::physics::direction;
    use proptest::prelude::*;

    fn car(x: f32, y: f32, heading: f32, velocity: Vec2) -> Car {
        let (vx, vy) = velocity.into();
        Car { x, y, heading, vx, vy, ..Car::default() }
    }

    fn energy(car: &Car) -> f32 {
        let spin = car.spin * TAU;
        (car.velocity().length_squared() + GYRATION * spin * spin) / 2.0
    }

    #[test]
    fn a_car_hit_from_behind_is_pushed_on() {
        let track = Track::get();
        let at = track.position(50.0, 0.0);
        let along = track.sample(50.0).along;
        let heading = phaselock::physics::turns(along);
        let behind = at - along * 4.2;
        let mut cars = [
            car(behind.x, behind.y, heading, along * 30.0),
            car(at.x, at.y, heading, along * 20.0),
        ];
        let [a, b] = &mut cars;
        collide(track, Rates::DEFAULT, &mut [a, b], &mut Vec::new());
        let along = cars.map(|car| car.velocity().dot(along));
        assert!((along[0] - 23.5).abs() < 0.1 && (along[1] - 26.5).abs() < 0.1, "{along:?}");
        assert_eq!(cars.map(|car| car.bumps), [1, 1]);
        assert!(cars.iter().all(|car| car.spin.abs() < 1e-3));
    }

    #[test]
    fn ghosts_and_finishers_are_driven_through() {
        for ghost in [Car { ghost: 1, ..Car::default() }, Car { gates: 900, ..Car::default() }] {
            let mut cars = [Car::default(), ghost];
            let [a, b] = &mut cars;
            collide(Track::get(), Rates::DEFAULT, &mut [a, b], &mut Vec::new());
            assert_eq!(cars, [Car::default(), ghost]);
        }
    }

    proptest! {
        #[test]
        fn a_contact_makes_no_energy_and_leads_apart(
            beside in -2.5_f32..2.5, ahead in -4.5_f32..4.5, turn in 0.0_f32..1.0,
            course in 0.0_f32..1.0, speed in 0.0_f32..40.0,
        ) {
            let track = Track::get();
            let middle = track.position(50.0, 0.0);
            let mut a = car(middle.x, middle.y, 0.0, direction(course) * speed);
            let mut b = car(middle.x + ahead, middle.y + beside, turn, Vec2::ZERO);
            let (before, gap) = (energy(&a) + energy(&b), nearest(&a, &b).gap);
            collide(track, Rates::DEFAULT, &mut [&mut a, &mut b], &mut Vec::new());
            prop_assert!(energy(&a) + energy(&b) <= before * 1.001 + 1e-3);
            if gap < -0.01 {
                prop_assert!(nearest(&a, &b).gap > gap - 2e-3);
            }
            prop_assert!((nearest(&a, &b).gap - nearest(&b, &a).gap).abs() < 1e-4);
        }
    }
}

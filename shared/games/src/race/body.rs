//! A car as a body: its hull, its inertia, its limits, and the barriers that stop it.
//!
//! A car's hull is a segment along its centre line with a radius: no corner gets caught, and two
//! cars side by side slide along each other.

use glam::Vec2;

use super::entities::Car;
use super::track::{BARRIER, Track};

const TAU: f32 = std::f32::consts::TAU;
/// Distance from a car's centre to the ends of the segment, in metres.
pub const HULL_HALF: f32 = 1.15;
/// Radius around the segment, in metres: a car is 4.3 m long and 2 m wide.
pub const HULL_RADIUS: f32 = 1.0;
/// Square of the radius of gyration in square metres, for a mass of 1.
pub(super) const GYRATION: f32 = 1.7;
/// Maximum speed of a car, even when pushed, in metres per second.
pub const SPEED_MAX: f32 = 52.0;
/// Maximum rotation of the nose, in turns per second; within the field.
pub(super) const SPIN_MAX: f32 = 1.5;
/// Fractions of the speed along a barrier that is kept, and of that into it that is returned.
const SCRAPES: f32 = 0.97;
const REBOUNDS: f32 = 0.25;

/// Keeps a car within the barriers: both ends of its hull, and its centre in any case.
pub(super) fn confine(track: &Track, car: &mut Car, position: &mut Vec2) {
    let most = BARRIER - HULL_RADIUS;
    let nose = car.nose();
    for arm in [nose * HULL_HALF, -nose * HULL_HALF, Vec2::ZERO] {
        let spot = track.spot(*position + arm);
        let away = *position + arm - spot.at;
        let distance = away.length();
        if distance <= most {
            continue;
        }
        let out = away / distance;
        *position -= out * (distance - most);
        // An end that hits the barrier turns the car along it.
        let turn = arm.perp_dot(out);
        let into = car.velocity().dot(out) + turn * car.spin * TAU;
        if into > 0.0 {
            let impulse = (1.0 + REBOUNDS) * into / (1.0 + turn * turn / GYRATION);
            let along = out.perp() * car.velocity().dot(out.perp()) * (1.0 - SCRAPES);
            let velocity = car.velocity() - out * impulse - along;
            (car.vx, car.vy) = velocity.clamp_length_max(SPEED_MAX).into();
            let spin = car.spin - turn * impulse / GYRATION / TAU;
            car.spin = spin.clamp(-SPIN_MAX, SPIN_MAX);
        }
    }
}

//! A car that races around a closed track: throttle, brake, steering, and tyres that slip.
//!
//! A bicycle model with a bounded lateral force; its figures are those of a sports car, rounded.

use glam::Vec2;
use phaselock::fields::turn_between;
use phaselock::physics::{direction, turns};
use phaselock::random::Random;
use phaselock::record;

use super::{Ahead, RATES, Recording, run};

const TAU: f32 = std::f32::consts::TAU;
/// Maximum accelerations of engine, brakes and tyres, in metres a second squared.
const ENGINE: f32 = 8.0;
const BRAKE: f32 = 11.0;
const GRIP: f32 = 11.0;
/// Speed at which the engine gives no more acceleration, in metres a second.
const TOP_SPEED: f32 = 70.0;
/// Distance between the axles, in metres.
const WHEELBASE: f32 = 2.6;
/// Angle of the front wheels at full steering, in turns: 30 degrees.
const LOCK: f32 = 30.0 / 360.0;

record! {
    /// The car, in steps of 1/4096 m, within 512 m.
    struct Car {
        /// -1 is full brakes, 1 full throttle.
        throttle: f32 = Field::centred(8, 6).steering(),
        /// -1 to 1.
        steer: f32 = Field::centred(8, 6).steering(),
        x: f32 = Field::centred(22, 12).moved_by("vx"),
        y: f32 = Field::centred(22, 12).moved_by("vy"),
        vx: f32 = Field::centred(18, 10),
        vy: f32 = Field::centred(18, 10),
        heading: f32 = Field::angle(16).moved_by("spin"),
        /// Turns a second.
        spin: f32 = Field::centred(16, 14),
    }
}

fn step(car: &Car) -> Car {
    let secs = RATES.step_secs();
    let ahead = direction(car.heading);
    let velocity = Vec2::new(car.vx, car.vy);
    let (mut along, mut across) = (velocity.dot(ahead), velocity.dot(ahead.perp()));
    along += if car.throttle < 0.0 {
        (car.throttle * BRAKE * secs).max(-along.max(0.0))
    } else {
        car.throttle * ENGINE * (1.0 - along / TOP_SPEED) * secs
    };
    across -= (across * 0.25).clamp(-GRIP * secs, GRIP * secs);
    let velocity = ahead * along + ahead.perp() * across;
    let position = Vec2::new(car.x, car.y) + velocity * secs;

    let wheels = direction(car.steer * LOCK);
    // The front wheels slip, too: it turns only a little faster than the tyres could hold.
    let most = 1.15 * GRIP / along.max(1.0) / TAU;
    let wanted = (along * wheels.y / wheels.x / WHEELBASE / TAU).clamp(-most, most);
    let spin = car.spin + (wanted - car.spin) * 0.125;
    let heading = car.heading + spin * secs;
    Car { x: position.x, y: position.y, vx: velocity.x, vy: velocity.y, heading, spin, ..*car }
}

/// A point of the track, which goes once around its middle.
fn track(angle: f32) -> Vec2 {
    let wave = |times: f32, shift: f32| direction(angle * times + shift).x;
    direction(angle)
        * (120.0 + 30.0 * wave(2.0, 0.0) + 16.0 * wave(3.0, 0.2) + 5.0 * wave(7.0, 0.1))
}

/// Curvature of the track at an angle, in radians per metre.
fn bend(angle: f32) -> f32 {
    let [a, b, c] = [-0.01, 0.0, 0.01].map(|by| track(angle + by));
    turn_between(turns(b - a), turns(c - b)) * TAU / (c - a).length() * 2.0
}

/// A driver.
struct Driver {
    random: Random,
    /// Distance from the middle of the track, in metres.
    line: f32,
    /// Share of the tyres' grip that the driver uses.
    nerve: f32,
    /// Seconds until that changes.
    held: f32,
}

impl Driver {
    fn press(&mut self, car: &mut Car) {
        let secs = RATES.step_secs();
        self.held -= secs;
        if self.held <= 0.0 {
            self.held = self.random.range(2.0, 4.0);
            self.line = self.random.range(-3.0, 3.0);
            self.nerve = self.random.range(0.75, 1.0);
        }
        let position = Vec2::new(car.x, car.y);
        let here = turns(position);
        let speed = Vec2::new(car.vx, car.vy).length();
        // Pure pursuit: the circle through a point ahead on the line.
        let angle_at = |metres: f32| here + metres / position.length() / TAU;
        let reach = 6.0 + 0.35 * speed;
        let goal = track(angle_at(reach));
        let to = goal + goal.normalize() * self.line - position;
        let off = turn_between(car.heading, turns(to));
        let curve = 2.0 * direction(off).y / to.length();
        let wanted = (arc_tangent(curve * WHEELBASE) / TAU / LOCK).clamp(-1.0, 1.0);
        // The controls turn the wheel from one side to the other in a third of a second.
        car.steer += (wanted - car.steer).clamp(-6.0 * secs, 6.0 * secs);
        // As fast as possible, given every bend ahead and the distance to brake.
        let allowed = (0..12).map(|n| {
            let metres = n as f32 * 6.0;
            let bend = bend(angle_at(metres)).abs().max(1e-4);
            self.nerve * (0.9 * GRIP / bend + 1.6 * BRAKE * metres)
        });
        let most = allowed.fold(f32::MAX, f32::min).sqrt();
        let wanted = (most - speed) * 0.5;
        car.throttle += (wanted.clamp(-1.0, 1.0) - car.throttle).clamp(-8.0 * secs, 8.0 * secs);
    }
}

/// The arc tangent in radians.
fn arc_tangent(tangent: f32) -> f32 {
    turn_between(0.0, turns(Vec2::new(1.0, tangent))) * TAU
}

pub(super) fn record(ticks: u64, seed: u64) -> Recording {
    let mut driver = Driver { random: Random::new(seed), line: 0.0, nerve: 0.9, held: 0.0 };
    let from = driver.random.unit();
    let (position, next) = (track(from), track(from + 0.01));
    let heading = turns(next - position);
    let (vx, vy) = (direction(heading) * 20.0).into();
    let start = Car { x: position.x, y: position.y, vx, vy, heading, ..Car::default() };
    run(start, ticks, Ahead::new(step), move |car| driver.press(car))
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::fields::Record;

    #[test]
    fn the_car_keeps_to_its_track_at_speed_and_slips() {
        let recording = record(60 * 120, 3);
        let (mut speed, mut slip, mut braked) = (0.0, 0.0_f32, 0);
        for state in &recording.samples {
            let car = <Car as Record>::from_values(&state.values);
            let position = Vec2::new(car.x, car.y);
            let off = (position.length() - track(turns(position)).length()).abs();
            assert!(off < 15.0, "it is {off} m beside the track");
            let velocity = Vec2::new(car.vx, car.vy);
            speed += velocity.length() / recording.samples.len() as f32;
            slip = slip.max(velocity.dot(direction(car.heading).perp()).abs());
            braked += usize::from(car.throttle < -0.3);
        }
        assert!((15.0..50.0).contains(&speed) && slip > 1.0, "{speed} m/s, {slip} m/s across");
        assert!(braked * 20 > recording.samples.len(), "it brakes in {braked} ticks");
    }
}

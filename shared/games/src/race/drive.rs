//! Driving: the one function that moves a car, on both sides.
//!
//! The model is a bicycle with limited lateral grip. The sideways speed decays as fast as the grip
//! allows; the front wheels turn the nose within their grip, and the direction of travel pulls it
//! back. So a car that turns harder than its grip allows slides, and the handbrake brings the rear
//! axle around. Figures are those of a sports car, made livelier by hand.
//!
//! Long ticks are cut into steps of at most 1/60 s, so that cars behave alike at all tick rates.

use glam::Vec2;

use super::body::{HULL_HALF, HULL_RADIUS, SPEED_MAX, SPIN_MAX, confine};
use super::entities::{COUNTED_MAX, Car, Command, HEADING, PACE, SPIN, WHEEL};
use super::track::{BARRIER, Ground, Track};
use crate::records::{held, snapped};
use phaselock::physics::{direction, turns};
use phaselock::time::Rates;

const TAU: f32 = std::f32::consts::TAU;
/// Speed at which the engine stops accelerating, in metres per second.
pub const TOP_SPEED: f32 = 46.0;
/// Speed in reverse at which the engine stops accelerating, in metres per second.
const REVERSE_TOP: f32 = 9.0;
/// Metres per second squared: engine, reverse gear, brakes, handbrake.
const ENGINE: f32 = 10.0;
const REVERSE: f32 = 6.0;
const BRAKE: f32 = 12.0;
const HAND_BRAKE: f32 = 4.0;
/// Rolling resistance in metres per second squared; more than a grid step of speeds.
const ROLLING: f32 = 0.4;
/// Rate at which tyres stop sideways speed, as a fraction per second, within their grip.
const STIFF: f32 = 15.0;
/// Fraction of the lateral grip that is left with the handbrake pulled.
const HAND_GRIP: f32 = 0.35;
/// Fraction of the grip that full brakes or throttle use.
const CO_PREDICTION_GRIP: f32 = 0.3;
/// Metres between the axles.
const WHEELBASE: f32 = 2.6;
/// Tangent of the front wheels' maximum angle: 26 degrees.
const LOCK: f32 = 0.5;
/// Lateral acceleration that a full turn of the wheel demands, relative to the tyres' grip; more
/// with the handbrake.
const ASKED: f32 = 1.2;
const ASKED_BY_HAND: f32 = 2.0;
/// Rate at which the nose follows the wheels, as a fraction per second.
const FOLLOWS: f32 = 8.0;
/// Rate at which the direction of travel pulls the nose, in radians per second for a slip of 1.
const ALIGNS: f32 = 1.6;
const ALIGNS_BY_HAND: f32 = 0.2;
/// Rate at which the wheel turns from the centre to the end, as a fraction per second.
const TURNS_IN: f32 = 4.5;
/// Rate at which the wheel returns to the centre, as a fraction per second.
const TURNS_BACK: f32 = 9.0;
/// Cost of a reset, in seconds of standing still.
pub const RESET_SECS: f32 = 2.0;
/// Seconds after that for which others drive through the car.
pub const GHOST_SECS: f32 = 1.5;

/// Grip and resistance of a kind of ground.
struct Tyres {
    /// Lateral grip in metres per second squared.
    grip: f32,
    /// Resistance in metres per second squared, and the increase for each metre per second.
    drag: f32,
    thick: f32,
}

fn tyres(ground: Ground) -> Tyres {
    match ground {
        Ground::Asphalt => Tyres { grip: 12.0, drag: ROLLING, thick: 0.005 },
        Ground::Kerb => Tyres { grip: 10.5, drag: 1.0, thick: 0.01 },
        Ground::Grass => Tyres { grip: 6.5, drag: 3.0, thick: 0.13 },
    }
}

/// Converts seconds to ticks, rounded up, within what fields hold.
pub(super) fn ticks(rates: Rates, secs: f32) -> u16 {
    ((secs * rates.tick_hz as f32).ceil() as u16).min(COUNTED_MAX)
}

/// Returns the sharpest curvature that a full turn of the wheel demands on asphalt, in 1/m.
pub(super) fn sharpest(speed: f32) -> f32 {
    (LOCK / WHEELBASE).min(ASKED * tyres(Ground::Asphalt).grip / (speed * speed).max(1.0))
}

/// Runs one tick of a car: wheel, engine, brakes, tyres, barriers, gates.
pub fn drive(track: &Track, rates: Rates, car: &mut Car, command: &Command) {
    let alike = (car.pedal, car.turn, car.hand) == (command.pedal, command.turn, command.hand);
    car.held = held(car.held, alike);
    (car.pedal, car.turn, car.hand) = (command.pedal, command.turn, command.hand);
    car.ghost = car.ghost.saturating_sub(1);
    if car.hold > 0 {
        car.hold -= 1;
    } else if command.reset && car.ghost == 0 && !car.has_finished() {
        let gate = track.last_gate(car.gates);
        put(rates, car, gate.at, gate.along);
    }

    let from = car.position();
    let steps = 60_u32.div_ceil(rates.tick_hz);
    let secs = rates.step_secs() / steps as f32;
    for _ in 0..steps {
        step(track, car, command, secs);
    }
    // Gates are passed between positions on the grid, or rounding alone could pass one.
    car.set_position(car.position());
    pass_gate(track, car, from);
}

/// Places a car at rest: it waits, and does not collide for a while.
pub(super) fn put(rates: Rates, car: &mut Car, position: Vec2, along: Vec2) {
    car.set_position(position);
    (car.vx, car.vy, car.spin, car.wheel) = (0.0, 0.0, 0.0, 0.0);
    car.heading = snapped(HEADING, turns(along));
    car.hold = ticks(rates, RESET_SECS);
    car.ghost = ticks(rates, RESET_SECS + GHOST_SECS);
    car.puts = (car.puts + 1) % 16;
}

/// Counts the next gate if the path from a position to the car's current one passes it.
pub(super) fn pass_gate(track: &Track, car: &mut Car, from: Vec2) {
    if !car.has_finished() && track.next_gate(car.gates).is_passed(from, car.position()) {
        car.gates += 1;
    }
}

/// Runs a part of a tick.
fn step(track: &Track, car: &mut Car, command: &Command, secs: f32) {
    let pedal = f32::from(command.pedal.clamp(-3, 3)) / 3.0;
    let turn = f32::from(command.turn.clamp(-7, 7)) / 7.0;
    let way = turn - car.wheel;
    let inwards = turn * car.wheel >= 0.0 && turn.abs() > car.wheel.abs();
    let most = if inwards { TURNS_IN } else { TURNS_BACK } * secs;
    car.wheel += way.clamp(-most, most);
    if car.hold > 0 {
        (car.vx, car.vy, car.spin) = (0.0, 0.0, 0.0);
        return;
    }

    let mut position = car.position();
    let spot = track.spot(position);
    let tyres = tyres(track.ground(&spot));
    let nose = direction(car.heading);
    let velocity = car.velocity();
    let (mut along, mut across) = (velocity.dot(nose), velocity.dot(nose.perp()));
    let push = if pedal >= 0.0 {
        let engine = if along < -0.5 { BRAKE } else { ENGINE * (1.0 - along / TOP_SPEED) };
        pedal * engine
    } else {
        let brake = if along > 0.5 { BRAKE } else { REVERSE * (1.0 + along / REVERSE_TOP) };
        pedal * brake
    };
    along += push * secs;
    let hand = if command.hand { HAND_BRAKE } else { 0.0 };
    let drag = (tyres.drag + tyres.thick * along.abs() + hand) * secs;
    along -= along.clamp(-drag, drag);

    let used = (push / BRAKE).clamp(-1.0, 1.0);
    let by_hand = if command.hand { HAND_GRIP } else { 1.0 };
    let holds = tyres.grip * (1.0 - CO_PREDICTION_GRIP * used * used) * by_hand * secs;
    across -= (across * STIFF * secs).clamp(-holds, holds);

    let bend = car.wheel * sharpest(along.abs());
    let asked = if command.hand { ASKED_BY_HAND } else { ASKED };
    let most = asked * tyres.grip / along.abs().max(1.0);
    let aligns = if command.hand { ALIGNS_BY_HAND } else { ALIGNS };
    let by_wheels = (along * bend * asked / ASKED).clamp(-most, most);
    let wanted = (by_wheels + aligns * across / velocity.length().max(4.0)) / TAU;
    car.spin += (wanted - car.spin) * FOLLOWS * secs;
    car.spin = car.spin.clamp(-SPIN_MAX, SPIN_MAX);

    let velocity = (nose * along + nose.perp() * across).clamp_length_max(SPEED_MAX);
    (car.vx, car.vy) = velocity.into();
    position += velocity * secs;
    car.heading = (car.heading + car.spin * secs).rem_euclid(1.0);
    // The barrier can be reached only from nearby.
    if spot.beside.abs() + HULL_HALF + SPEED_MAX * secs > BARRIER - HULL_RADIUS {
        confine(track, car, &mut position);
    }
    (car.x, car.y) = position.into();
}

/// Snaps a car to the grid, as the world does after each tick. Integer fields and the position are
/// always on it.
pub(super) fn snap(car: &mut Car) {
    (car.vx, car.vy) = (snapped(PACE, car.vx), snapped(PACE, car.vy));
    car.heading = snapped(HEADING, car.heading);
    car.spin = snapped(SPIN, car.spin);
    car.wheel = snapped(WHEEL, car.wheel);
}

#[cfg(test)]
mod tests {
    use super::super::track::{GATES, HALF_WIDTH};
    use super::*;
    use phaselock::fields::Record;

    /// Returns a car on the long straight before the line.
    fn car(speed: f32) -> (&'static Track, Car) {
        let track = Track::get();
        let spot = track.spot(track.position(-60.0, 0.0));
        let mut car = Car { gates: GATES, ..Car::default() };
        put(Rates::DEFAULT, &mut car, spot.at, spot.along);
        (car.hold, car.ghost) = (0, 0);
        (car.vx, car.vy) = (spot.along * speed).into();
        (track, car)
    }

    fn run(car: &mut Car, rates: Rates, secs: f32, command: Command) {
        for _ in 0..(secs * rates.tick_hz as f32).round() as u32 {
            drive(Track::get(), rates, car, &command);
            *car = car.snapped();
        }
    }

    #[test]
    fn a_car_accelerates_brakes_and_reverses_alike_at_any_rate() {
        for hz in [10, 30, 60, 128] {
            let rates = Rates { tick_hz: hz, snapshot_hz: hz };
            let (_, mut car) = car(0.0);
            run(&mut car, rates, 2.0, Command { pedal: 3, ..Command::default() });
            let speed = car.slip().x;
            assert!((14.5..18.0).contains(&speed), "{speed} m/s after 2 s at {hz} Hz");
            run(&mut car, rates, 2.0, Command { pedal: -3, ..Command::default() });
            let back = car.slip().x;
            assert!((-4.5..-1.0).contains(&back), "{back} m/s after braking at {hz} Hz");
        }
    }

    #[test]
    fn the_hand_brake_makes_a_car_drift_and_hard_turns_do_not_spin_it() {
        let slid = |hand| {
            let (_, mut car) = car(22.0);
            let mut most = 0.0_f32;
            for _ in 0..45 {
                run(
                    &mut car,
                    Rates::DEFAULT,
                    1.0 / 60.0,
                    Command { turn: 7, hand, ..Command::default() },
                );
                most = most.max(car.slip().y.abs());
            }
            (most, car.slip().x)
        };
        let (grips, _) = slid(false);
        let (drifts, along) = slid(true);
        assert!(grips < 4.0, "{grips} m/s across");
        assert!(drifts > 6.0 && drifts > 2.0 * grips, "{drifts} m/s across, {along} along");
    }

    #[test]
    fn grass_is_slow() {
        let (track, mut car) = car(30.0);
        let spot = track.spot(track.position(-60.0, -(HALF_WIDTH + 3.0)));
        car.set_position(spot.at + spot.along.perp() * spot.beside);
        run(&mut car, Rates::DEFAULT, 4.0, Command { pedal: 3, ..Command::default() });
        let speed = car.velocity().length();
        let ground = track.ground(&track.spot(car.position()));
        assert!(ground != Ground::Grass || speed < 25.0, "{speed} m/s on {ground:?}");
    }

    #[test]
    fn a_reset_costs_time_and_leads_back_to_the_last_gate() {
        let (track, mut car) = car(20.0);
        run(&mut car, Rates::DEFAULT, 0.5, Command { turn: -7, ..Command::default() });
        drive(track, Rates::DEFAULT, &mut car, &Command { reset: true, ..Command::default() });
        assert!(car.position().distance(track.last_gate(car.gates).at) < 0.01);
        assert_eq!((car.hold, car.ghost, car.gates), (120, 210, GATES));
        let there = car.position();
        run(&mut car, Rates::DEFAULT, 1.9, Command { pedal: 3, reset: true, ..Command::default() });
        assert_eq!((car.position(), car.puts), (there, 2));
        run(&mut car, Rates::DEFAULT, 1.1, Command { pedal: 3, ..Command::default() });
        assert!(car.position().distance(there) > 3.0 && !car.is_solid());
        run(&mut car, Rates::DEFAULT, 1.0, Command { pedal: 3, ..Command::default() });
        assert!(car.is_solid());
    }

    #[test]
    fn a_barrier_stops_nobody_for_good() {
        let (track, mut car) = car(40.0);
        car.heading = (car.heading + 0.25).rem_euclid(1.0);
        (car.vx, car.vy) = (car.nose() * 40.0).into();
        run(&mut car, Rates::DEFAULT, 1.5, Command { pedal: 3, ..Command::default() });
        let spot = track.spot(car.position());
        assert!(spot.beside > BARRIER - 6.0, "{spot:?}");
        let stood = car.position();
        run(&mut car, Rates::DEFAULT, 3.0, Command { pedal: -3, turn: 7, ..Command::default() });
        assert!(car.position().distance(stood) > 4.0, "{:?}", car.slip());
    }
}

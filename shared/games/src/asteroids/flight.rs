//! Asteroids' movement: functions that move all entities, on both sides.

use glam::Vec2;

use super::entities::{Bullet, Command, HEADING, POSITION, Piece, SHIP_PACE, SHIP_POSITION, Ship};
use super::field::{FIELD, SIZE};
use crate::records::{held, runs, snapped};
use phaselock::fields::wrapped;
use phaselock::physics::direction;
use phaselock::time::Rates;

/// Radius of a ship's hull in metres.
pub const SHIP_RADIUS: f32 = 0.9;
/// Rate of turn in turns per second. Arbitrary: the original takes 1.5 s for a turn, which is slow
/// on a large field.
pub const TURN_RATE: f32 = 0.7;
/// Acceleration of the engine in metres per second squared.
pub const THRUST: f32 = 15.0;
/// Fraction of the speed lost per second: ships come to rest, as in the original.
pub const DRAG: f32 = 0.35;
/// Maximum speed of a ship in metres per second.
pub const SPEED_MAX: f32 = 18.0;
/// Speed of a bullet relative to its ship, in metres per second.
pub const MUZZLE_SPEED: f32 = 32.0;
/// Lifetime of a bullet in seconds.
pub const BULLET_SECS: f32 = 1.1;
/// Seconds between two shots: at most four bullets of a ship at a time.
pub const RELOAD_SECS: f32 = 0.28;

/// Converts seconds to whole ticks, 1 or more.
pub(super) fn ticks(rates: Rates, secs: f32) -> u16 {
    (secs * rates.tick_hz as f32).ceil().max(1.0) as u16
}

/// Runs one tick of a living ship: turn, thrust, drift, fire. A shot increments `shots`.
pub fn fly(rates: Rates, ship: &mut Ship, command: &Command) {
    let secs = rates.step_secs();
    let flew_alike = (ship.turn, ship.thrust) == (command.turn, command.thrust);
    ship.held = held(ship.held, flew_alike);
    ship.fire_held = held(ship.fire_held, ship.fire == command.fire);
    (ship.turn, ship.thrust, ship.fire) = (command.turn, command.thrust, command.fire);

    let turn = f32::from(command.turn.clamp(-1, 1));
    ship.heading = wrapped(ship.heading + turn * TURN_RATE * secs, 1.0);
    let mut velocity = ship.velocity() * (1.0 - DRAG * secs);
    if command.thrust {
        velocity += direction(ship.heading) * (THRUST * secs);
    }
    velocity = velocity.clamp_length_max(SPEED_MAX);
    let position = FIELD.fold(ship.position() + velocity * secs);
    (ship.x, ship.y) = position.into();
    (ship.vx, ship.vy) = velocity.into();

    ship.shield = ship.shield.saturating_sub(1);
    ship.cooldown = ship.cooldown.saturating_sub(1);
    if command.fire && ship.cooldown == 0 {
        ship.cooldown = ticks(rates, RELOAD_SECS).min(63) as u8;
        ship.shots = ship.shots.wrapping_add(1);
        ship.shield = 0;
    }
}

/// Returns the keys that a ship holds.
pub(super) fn keys(ship: &Ship) -> Command {
    Command { turn: ship.turn, thrust: ship.thrust, fire: ship.fire }
}

/// Returns the bullet that a ship has just fired: at its bow, with the ship's velocity added.
pub(super) fn fired(rates: Rates, ship: &Ship) -> Bullet {
    let along = ship.facing();
    let position = FIELD.fold(ship.position() + along * SHIP_RADIUS);
    let velocity = ship.velocity() + along * MUZZLE_SPEED;
    Bullet {
        x: position.x,
        y: position.y,
        vx: velocity.x,
        vy: velocity.y,
        life: ticks(rates, BULLET_SECS).min(255) as u8,
        shot: ship.shots,
        sector: ship.sector,
    }
}

/// Moves a rock or a bullet along its straight course for `ticks`. It moves a whole number of grid
/// steps per tick, so one call for several ticks gives the same bits as a call for each.
pub fn drift(rates: Rates, piece: &mut Piece, ticks: u64) {
    let (x, y, vx, vy, countdown) = match piece {
        Piece::Rock(it) => (&mut it.x, &mut it.y, it.vx, it.vy, &mut it.forming),
        Piece::Bullet(it) => (&mut it.x, &mut it.y, it.vx, it.vy, &mut it.life),
        Piece::Ship(_) | Piece::Score(_) | Piece::Round(_) => return,
    };
    let steps = (1_u32 << POSITION.fraction_bits) as f32;
    let way = |speed: f32| libm::roundf(speed * rates.step_secs() * steps) / steps;
    *x = wrapped(*x + way(vx) * ticks as f32, SIZE);
    *y = wrapped(*y + way(vy) * ticks as f32, SIZE);
    *countdown = countdown.saturating_sub(ticks as u8);
}

/// Returns the state of a ship after `ticks`: the keys of `base` run first, then those of
/// `steering` for as long as they have been held. Exact if the keys changed at most once and
/// nothing hit the ship.
pub(super) fn extrapolate(rates: Rates, base: &Ship, steering: &Ship, ticks: u64) -> Ship {
    let mut ship = *base;
    if !base.is_alive() {
        ship.respawn = base.respawn.saturating_sub(ticks as u16);
        return ship;
    }
    let at = |held: u8, tick| runs(base, steering, held, tick, ticks);
    for tick in 1..=ticks {
        let Ship { turn, thrust, .. } = *at(steering.held, tick);
        let fire = at(steering.fire_held, tick).fire;
        fly(rates, &mut ship, &Command { turn, thrust, fire });
        snap(&mut ship);
    }
    ship
}

/// Snaps a ship to the grid, as the world does after each step; integer fields are always on it.
pub(super) fn snap(ship: &mut Ship) {
    (ship.x, ship.y) = (snapped(SHIP_POSITION, ship.x), snapped(SHIP_POSITION, ship.y));
    (ship.vx, ship.vy) = (snapped(SHIP_PACE, ship.vx), snapped(SHIP_PACE, ship.vy));
    ship.heading = snapped(HEADING, ship.heading);
}

/// Returns the fraction of a tick at which an object is nearest to the centre of a circle, if it is
/// inside then. `to` is its current offset from the centre, `way` its motion in the tick relative
/// to the circle.
pub(super) fn meets(to: Vec2, way: Vec2, radius: f32) -> Option<f32> {
    let square = way.length_squared();
    let back = if square > 0.0 { (to.dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
    let nearest = to - way * back;
    (nearest.length_squared() < radius * radius).then_some(1.0 - back)
}

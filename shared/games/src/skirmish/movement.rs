//! Skirmish's movement: the one function that moves a player, on both sides.

use glam::Vec2;

use super::arena::Arena;
use super::entities::{Command, PACE, POSITION, Player};
use super::weapons::Weapon;
use crate::records::{held, runs, snapped};
use phaselock::physics::{Aabb, slide_circle};
use phaselock::time::Rates;

/// Radius of a player in metres.
pub const RADIUS: f32 = 0.4;
/// Running speed in metres per second.
pub const SPEED: f32 = 6.5;
/// Acceleration to that speed, in metres per second squared: a sixth of a second.
const ACCELERATION: f32 = 40.0;
/// Deceleration without keys, in metres per second squared: half as much, for some momentum.
const FRICTION: f32 = 20.0;
/// Seconds before a weapon that was just selected can fire. Arbitrary.
const SWITCH_SECS: f32 = 0.2;

/// Runs one tick of a living player: turn, run, slide along walls, fire. Returns the weapon that
/// fired.
pub fn movement(
    arena: &Arena,
    rates: Rates,
    player: &mut Player,
    command: &Command,
) -> Option<Weapon> {
    move_among(&arena.walls, rates, player, command)
}

/// Runs one tick of a living player with only the walls that it may touch.
fn move_among(
    walls: &[Aabb],
    rates: Rates,
    player: &mut Player,
    command: &Command,
) -> Option<Weapon> {
    let secs = rates.step_secs();
    let ran_alike = (player.right, player.down) == (command.right, command.down);
    player.held = held(player.held, ran_alike);
    player.fire_held = held(player.fire_held, player.fire == command.fire);
    (player.right, player.down, player.fire) = (command.right, command.down, command.fire);
    player.aim = command.aim;

    let wish = Vec2::new(f32::from(command.right), f32::from(command.down)).clamp_length_max(1.0);
    let mut velocity = player.velocity();
    let change = wish * SPEED - velocity;
    let most = if wish == Vec2::ZERO { FRICTION } else { ACCELERATION };
    velocity += change.clamp_length_max(most * secs);

    let mut position = player.position();
    slide_circle(&mut position, &mut velocity, RADIUS, walls, secs);
    (player.x, player.y) = position.into();
    (player.vx, player.vy) = velocity.into();

    handle(player, rates, command.fire, Weapon::asked(command.weapon))
}

/// Runs a tick of a player's weapons: switches, and the trigger. Returns the weapon that
/// fired.
///
/// *Invariant:* a weapon in hand has ammunition, so that other clients, which are not sent its
/// ammunition, know that it can fire.
fn handle(player: &mut Player, rates: Rates, fire: bool, asked: Option<Weapon>) -> Option<Weapon> {
    player.cooldown = player.cooldown.saturating_sub(1);
    let has = |player: &Player, weapon| player.ammunition(weapon) != Some(0);
    if let Some(weapon) = asked.filter(|weapon| *weapon != player.weapon() && has(player, *weapon))
    {
        player.take(weapon);
        let switch = (SWITCH_SECS * rates.tick_hz as f32).ceil() as u8;
        player.cooldown = player.cooldown.max(switch);
    }
    let weapon = player.weapon();
    if !fire || player.cooldown > 0 || player.is_carrying() || !has(player, weapon) {
        return None;
    }
    player.cooldown = weapon.reload_ticks(rates);
    player.shots = player.shots.wrapping_add(1);
    if let Some(left) = player.ammunition_mut(weapon) {
        *left = left.saturating_sub(1);
        if *left == 0 {
            player.take(Weapon::Rifle);
        }
    }
    Some(weapon)
}

/// Returns the state of a player after `ticks`: the keys of `base` run first, then those of
/// `steering` for as long as they have been held. Exact except for the aim, if the keys changed at
/// most once and no one shot.
pub(super) fn extrapolate(
    arena: &Arena,
    rates: Rates,
    base: &Player,
    steering: &Player,
    ticks: u64,
) -> Player {
    let mut player = *base;
    // Ammunition is not sent to others, but a weapon in hand always has some.
    let unknown = base.ammunition(base.weapon()) == Some(0);
    if let Some(left) = player.ammunition_mut(base.weapon()).filter(|_| unknown) {
        *left = AMMUNITION_UNKNOWN;
    }
    if base.health == 0 {
        player.respawn = base.respawn.saturating_sub(ticks as u16);
    } else {
        // Faster than a run only by its current speed, plus a push out of a wall.
        let speed = player.velocity().length().max(SPEED) + 1.0;
        let reach = RADIUS + speed * rates.step_secs() * ticks as f32 + RADIUS;
        let mut few = [Aabb::centred(Vec2::ZERO, Vec2::ZERO); NEAR_WALLS_MAX];
        let walls = walls_near(&arena.walls, player.position(), reach, &mut few);
        let at = |held: u8, tick| runs(base, steering, held, tick, ticks);
        for tick in 1..=ticks {
            let Player { right, down, .. } = *at(steering.held, tick);
            let fire = at(steering.fire_held, tick).fire;
            let command = Command { right, down, aim: base.aim, fire, ..Command::default() };
            move_among(walls, rates, &mut player, &command);
            // As the world does after each step; integers are on the grid anyway.
            (player.x, player.y) = (snapped(POSITION, player.x), snapped(POSITION, player.y));
            (player.vx, player.vy) = (snapped(PACE, player.vx), snapped(PACE, player.vy));
        }
    }
    if let Some(left) = player.ammunition_mut(base.weapon()).filter(|_| unknown) {
        *left = 0;
    }
    player
}

/// Number of walls that an extrapolation considers, if no more are near. Arbitrary; hardly ever
/// more.
const NEAR_WALLS_MAX: usize = 6;

/// Returns the walls within `reach` of a point, copied to `few`; all walls if there is not enough
/// space.
fn walls_near<'a>(
    walls: &'a [Aabb],
    point: Vec2,
    reach: f32,
    few: &'a mut [Aabb; NEAR_WALLS_MAX],
) -> &'a [Aabb] {
    let mut count = 0;
    for wall in walls.iter().filter(|it| it.nearest(point).distance_squared(point) < reach * reach)
    {
        let Some(place) = few.get_mut(count) else { return walls };
        *place = *wall;
        count += 1;
    }
    &few[..count]
}

/// More shots than anyone fires in the ticks that are extrapolated.
const AMMUNITION_UNKNOWN: u8 = 15;

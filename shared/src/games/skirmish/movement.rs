//! Skirmish's movement: the one function that moves a player, on both sides.

use glam::Vec2;

use super::arena::Arena;
use super::{Command, Player};
use crate::physics::slide_circle;
use crate::time::Rates;

/// Radius of a player in metres.
pub const RADIUS: f32 = 0.4;
/// Speed of a run in metres a second.
pub const SPEED: f32 = 6.5;
/// How fast a player gets there, in metres a second squared: a sixth of a second.
const ACCELERATION: f32 = 40.0;
/// How fast a player who lets go comes to rest: half as fast, so that there is some momentum.
const FRICTION: f32 = 20.0;
/// Seconds from one shot to the next.
const RELOAD_SECS: f32 = 0.16;

/// One tick of a living player: turn, run, slide along walls, pull the trigger.
pub fn movement(arena: &Arena, rates: Rates, player: &mut Player, command: &Command) {
    let secs = rates.step_secs();
    player.aim = command.aim;

    let wish = Vec2::new(f32::from(command.right), f32::from(command.down)).clamp_length_max(1.0);
    let mut velocity = player.velocity();
    let change = wish * SPEED - velocity;
    let most = if wish == Vec2::ZERO { FRICTION } else { ACCELERATION };
    velocity += change.clamp_length_max(most * secs);

    let mut position = player.position();
    slide_circle(&mut position, &mut velocity, RADIUS, &arena.walls, secs);
    (player.x, player.y) = position.into();
    (player.vx, player.vy) = velocity.into();

    player.cooldown = player.cooldown.saturating_sub(1);
    if command.fire && player.cooldown == 0 {
        player.cooldown = (RELOAD_SECS * rates.tick_hz as f32).ceil() as u8;
        player.shots = player.shots.wrapping_add(1);
    }
}

//! The scene, without a network: players who move in a square by their inputs. All libraries carry
//! it.
//!
//! Each player sees all others, and everything changes in every tick.

use std::f32::consts::TAU;

use glam::Vec2;

/// World ticks a second.
pub const TICK_HZ: u32 = 60;
/// Snapshots a second, and therefore updates of each player for each other one.
pub const SNAPSHOT_HZ: u32 = 30;
/// Seconds of a tick.
pub const STEP_SECS: f32 = 1.0 / TICK_HZ as f32;

/// Maximum speed in metres a second.
const SPEED: f32 = 8.0;
/// Maximum acceleration in metres a second squared.
const ACCELERATION: f32 = 40.0;
/// Distance from the middle of the square to an edge, in metres.
const HALF: f32 = 60.0;
/// Ticks for which a player holds the same keys.
const HOLD_TICKS: u64 = 40;

/// A player's command in one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Input {
    /// Direction in the plane, of length 0 to 1.
    pub way: Vec2,
    /// Aim in turns, 0 up to but excluding 1.
    pub aim: f32,
}

/// State of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Position in metres, within 60 m of the middle.
    pub position: Vec2,
    /// Velocity in metres a second.
    pub velocity: Vec2,
    /// Aim in turns, 0 up to but excluding 1.
    pub angle: f32,
}

/// Returns a pseudorandom number that follows from two numbers.
fn digits(a: u64, b: u64) -> u64 {
    let mixed = (a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ mixed >> 29).wrapping_mul(0x94D0_49BB_1331_11EB) >> 24
}

/// Returns a newcomer's position.
pub fn start(player: u64) -> State {
    let across = |which| (digits(player, which) % 1000) as f32 / 1000.0 - 0.5;
    let position = Vec2::new(across(u64::MAX), across(u64::MAX - 1)) * HALF;
    State { position, ..State::default() }
}

/// Returns a player's command in a tick: one of eight directions, held for two thirds of a second,
/// and a mouse that turns all the time, with the tremor of a hand.
pub fn input(player: u64, tick: u64) -> Input {
    let phase = digits(player, 0) % HOLD_TICKS;
    let direction = digits(player, 1 + (tick + phase) / HOLD_TICKS) % 8;
    let secs = tick as f32 * STEP_SECS;
    let own = player as f32;
    let tremor = (digits(player, !tick) % 5) as f32 - 2.0;
    let aim = 0.2 * (0.9 * secs + own).sin() + 0.1 * (3.1 * secs + 1.7 * own).sin();
    Input {
        way: Vec2::from_angle(direction as f32 * TAU / 8.0),
        aim: (own * 0.381 + aim + tremor / 4096.0).rem_euclid(1.0),
    }
}

/// Moves a player by a tick.
pub fn step(state: &mut State, input: &Input) {
    let wanted = input.way.clamp_length_max(1.0) * SPEED;
    state.velocity += (wanted - state.velocity).clamp_length_max(ACCELERATION * STEP_SECS);
    state.position += state.velocity * STEP_SECS;
    for axis in 0..2 {
        if state.position[axis].abs() > HALF {
            state.position[axis] = HALF.copysign(state.position[axis]);
            state.velocity[axis] = -state.velocity[axis];
        }
    }
    state.angle = input.aim;
}

/// Whether a state can follow another one after a number of ticks: the distance fits the
/// velocities, which a mixed-up or partial state's does not.
pub fn may_follow(before: &State, after: &State, ticks: u64) -> bool {
    let in_square = |state: &State| {
        state.position.abs().max_element() < HALF + 0.1
            && state.velocity.length() < SPEED + 0.5
            && (0.0..=1.0).contains(&state.angle)
    };
    if !in_square(before) || !in_square(after) {
        return false;
    }
    let secs = ticks as f32 * STEP_SECS;
    let at_edge = |state: &State| state.position.abs().max_element() > HALF - SPEED * secs - 0.1;
    if secs > 0.3 || at_edge(before) || at_edge(after) {
        return true;
    }
    let mean = (before.velocity + after.velocity) / 2.0;
    // Twice the effect of the greatest acceleration, plus the grid.
    let tolerance = ACCELERATION * secs * (secs + STEP_SECS) + 0.03;
    (after.position - before.position - mean * secs).length() < tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_follow_each_other_and_no_others() {
        let mut states: Vec<_> = (0..20).map(start).collect();
        let mut moved = 0;
        for tick in 1..2000 {
            let before = states.clone();
            for (player, state) in (0..).zip(&mut states) {
                step(state, &input(player, tick));
            }
            for (before, after) in before.iter().zip(&states) {
                assert!(may_follow(before, after, 1), "{before:?} {after:?}");
                moved += u32::from(before != after);
            }
        }
        assert_eq!(moved, 20 * 1999, "everything changes in every tick");
        let others = states.iter().zip(&states[1..]).filter(|(a, b)| !may_follow(a, b, 2));
        assert!(others.count() >= 18, "a mix-up is seen");
    }
}

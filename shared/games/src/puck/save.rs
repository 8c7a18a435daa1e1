//! Which touch of the puck was a save.

use glam::Vec2;

use super::entities::Puck;
use super::rink::{GOAL, HALF};
use phaselock::time::Rates;

/// Below that, in metres a second, a puck that rolls to the goal is no shot.
const SHOT_SPEED: f32 = 4.0;
/// Time within which it would have been in, in seconds.
const SOON_SECS: f32 = 1.0;

/// True if a side (-1 left, 1 right) that has just touched the puck, which moved as `before`,
/// turned a shot away: straight on, it would have been in.
pub(super) fn saves(rates: Rates, side: f32, puck: &Puck, before: Vec2) -> bool {
    let towards = before.x * side;
    if before.length() < SHOT_SPEED || towards <= 0.0 || puck.velocity().x * side > 0.0 {
        return false;
    }
    // Where it was struck is within a tick of where it is.
    let secs = (HALF.x - puck.x * side) / towards;
    let y = puck.y + before.y * secs;
    secs < SOON_SECS + rates.step_secs() && y.abs() < GOAL
}

//! A puck on a table that slides, bounces off the sides, and is struck by a paddle at either end.

use glam::Vec2;
use phaselock::physics::direction;
use phaselock::random::Random;
use phaselock::record;

use super::{Ahead, RATES, Recording, run};

/// Half of the range of its middle along and across a table of 2.4 m by 1.2 m, in metres.
const HALF: Vec2 = Vec2::new(1.15, 0.55);
/// Deceleration by sliding, in metres a second squared.
const FRICTION: f32 = 0.35;
/// Share of the speed into a side that a bounce keeps.
const BOUNCE: f32 = 0.9;
/// Speed below which the puck is fetched, in metres a second.
const SLOW: f32 = 0.6;

record! {
    /// The puck, in steps of 1/8192 m, within 2 m.
    struct Puck {
        x: f32 = Field::centred(15, 13).moved_by("vx"),
        y: f32 = Field::centred(15, 13).moved_by("vy"),
        vx: f32 = Field::centred(15, 11),
        vy: f32 = Field::centred(15, 11),
    }
}

/// Reflects a coordinate that is beyond a side.
fn bounce(position: &mut f32, speed: &mut f32, half: f32) {
    if position.abs() > half {
        *position = (2.0 * half).copysign(*position) - *position;
        *speed *= -BOUNCE;
    }
}

fn step(puck: &Puck) -> Puck {
    let secs = RATES.step_secs();
    let velocity = Vec2::new(puck.vx, puck.vy);
    let slower = (velocity.length() - FRICTION * secs).max(0.0);
    let velocity = velocity.clamp_length_max(slower);
    let position = Vec2::new(puck.x, puck.y) + velocity * secs;
    let Vec2 { mut x, mut y } = position;
    let Vec2 { x: mut vx, y: mut vy } = velocity;
    bounce(&mut x, &mut vx, HALF.x);
    bounce(&mut y, &mut vy, HALF.y);
    Puck { x, y, vx, vy }
}

pub(super) fn record(ticks: u64, seed: u64) -> Recording {
    let mut random = Random::new(seed);
    let (mut line, mut slow_secs) = (0.9, 0.0);
    let start = Puck { vx: 3.0, vy: 1.0, ..Puck::default() };
    run(start, ticks, Ahead::new(step), move |puck| {
        let velocity = Vec2::new(puck.vx, puck.vy);
        slow_secs = if velocity.length() < SLOW { slow_secs + RATES.step_secs() } else { 0.0 };
        // A paddle that defends its end strikes it there; otherwise it bounces.
        let comes = puck.x.abs() > line && puck.x * puck.vx > 0.0;
        if !comes && slow_secs < 0.7 {
            return;
        }
        line = if random.chance(0.2) { 9.0 } else { random.range(0.7, 1.05) };
        let towards = if puck.x > 0.0 { 0.5 } else { 0.0 };
        let struck = direction(towards + random.range(-0.17, 0.17)) * random.range(2.0, 6.5);
        (puck.vx, puck.vy) = struck.into();
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::fields::Record;

    #[test]
    fn the_puck_stays_on_the_table_and_is_kept_moving() {
        let recording = record(60 * 120, 1);
        let (mut strikes, mut bounces, mut speed) = (0, 0, 0.0);
        for pair in recording.samples.windows(2) {
            let [a, b]: [Puck; 2] = [0, 1].map(|at| Record::from_values(&pair[at].values));
            assert!(b.x.abs() <= HALF.x + 1e-3 && b.y.abs() <= HALF.y + 1e-3, "{b:?}");
            let ([before, after], turned) = (
                [a, b].map(|puck| Vec2::new(puck.vx, puck.vy).length()),
                a.vx * b.vx < 0.0 || a.vy * b.vy < 0.0,
            );
            strikes += usize::from(after > before + 0.01);
            bounces += usize::from(turned && after < before);
            speed += after / recording.samples.len() as f32;
        }
        assert!(strikes > 30 && bounces > 100, "{strikes} strikes, {bounces} bounces");
        assert!((1.0..6.0).contains(&speed), "{speed} m/s");
    }
}

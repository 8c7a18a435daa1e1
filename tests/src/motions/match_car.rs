//! A car as replays of matches have it: only its position, on a coarse grid, at irregular times.
//!
//! It steers in arcs, accelerates with a boost, brakes to a stop, bumps into others and the walls,
//! and jumps, which a view from above shows as a part of the arc without steering. Now and then it
//! is put elsewhere, where another segment begins.

use phaselock::physics::direction;
use phaselock::random::Random;
use phaselock_lab::Recording;
use phaselock_lab::file::Point;

/// Half the sides of the field, in units of the game.
const FIELD: [f64; 2] = [4096.0, 5120.0];
/// Steps of the simulation per second.
const HZ: f64 = 240.0;
/// Fastest with a boost, and without.
const FASTEST: [f64; 2] = [2300.0, 1400.0];

/// What the driver does for a while.
#[derive(Clone, Copy, Debug)]
struct Driven {
    until: f64,
    /// Turns per second, at full speed.
    steering: f64,
    /// Units per second and second.
    engine: f64,
    fastest: f64,
    in_air: bool,
}

/// Returns a number from `-1` to `1`.
fn either_way(random: &mut Random) -> f64 {
    f64::from(random.range(-1.0, 1.0))
}

fn between(random: &mut Random, least: f32, most: f32) -> f64 {
    f64::from(random.range(least, most))
}

fn drive(random: &mut Random, now: f64) -> Driven {
    let until = now + between(random, 0.15, 1.2);
    let steering = 0.35 * either_way(random);
    let straight =
        Driven { until, steering: 0.0, engine: 1600.0, fastest: FASTEST[1], in_air: false };
    match between(random, 0.0, 1.0) {
        kind if kind < 0.2 => Driven { engine: 2600.0, fastest: FASTEST[0], ..straight },
        kind if kind < 0.3 => Driven { engine: -3500.0, ..straight },
        kind if kind < 0.5 => Driven { in_air: true, engine: 0.0, ..straight },
        _ => Driven { steering, ..straight },
    }
}

/// Records a car for some seconds. Nothing but its position is stated.
pub fn match_car(secs: f64, seed: u64) -> Recording {
    let mut random = Random::new(seed);
    let mut points = Vec::new();
    let (mut position, mut velocity, mut heading) = ([0.0, 0.0], [600.0, 0.0], 0.0_f64);
    let mut driven = drive(&mut random, 0.0);
    let (mut segment, mut due, mut stays) = (0, 0.0, 0.0);
    let mut teleport = between(&mut random, 8.0, 25.0);
    for step in 0..(secs * HZ) as u64 {
        let now = step as f64 / HZ;
        if now >= driven.until {
            driven = drive(&mut random, now);
        }
        if now >= teleport {
            teleport = now + between(&mut random, 8.0, 25.0);
            position = FIELD.map(|side| 0.8 * side * either_way(&mut random));
            (velocity, heading) = ([0.0; 2], 0.5 * either_way(&mut random));
            (segment, stays) = (segment + 1, now + between(&mut random, 0.0, 2.0));
        }
        if now >= stays {
            advance(&mut position, &mut velocity, &mut heading, &driven);
            // Others bump into it every ten seconds.
            if between(&mut random, 0.0, 1.0) < 0.1 / HZ {
                velocity = velocity.map(|part| part + 900.0 * either_way(&mut random));
            }
        }
        if now >= due {
            let [x, y] = position.map(|part| (part * 100.0).round() / 100.0);
            points.push(Point { time: (now * 1e4).round() / 1e4, x, y, segment });
            // Network frames come every 33 ms; nearly every other one leaves the car out.
            due = now
                + 0.033 * if random.range(0.0, 1.0) < 0.45 { 1.0 } else { 2.0 }
                + 0.004 * either_way(&mut random).abs();
        }
    }
    Recording::of_points(&points).expect("it is a path")
}

/// Moves a car by a step.
fn advance(position: &mut [f64; 2], velocity: &mut [f64; 2], heading: &mut f64, driven: &Driven) {
    let speed = velocity[0].hypot(velocity[1]);
    if !driven.in_air {
        *heading += driven.steering * (speed / 1000.0).min(1.0) / HZ;
        let faster = (speed + driven.engine / HZ).clamp(0.0, driven.fastest.max(speed));
        let ahead = <[f32; 2]>::from(direction(*heading as f32)).map(f64::from);
        // The tyres turn what is left of a slide within a fifth of a second.
        for (part, ahead) in velocity.iter_mut().zip(ahead) {
            *part += (ahead * faster - *part) * (5.0 / HZ).min(1.0);
        }
    }
    for ((part, rate), side) in position.iter_mut().zip(velocity).zip(FIELD) {
        *part += *rate / HZ;
        if part.abs() > side {
            *part = side.copysign(*part);
            *rate *= -0.5;
            *heading += 0.25;
        }
    }
}

//! Visibility: what is in sight, and what is about to be.
//!
//! A player sees what its client is sent only after half a round trip and the interpolation delay,
//! while its own picture runs ahead by half a round trip. So a runner must be sent before there is
//! a free line, or it would pop up in the open: both are also taken to be where they run to.

use glam::Vec2;

use super::entities::{Piece, Player};
use super::movement::RADIUS;
use super::turn::outline;
use phaselock::game::Relevance;
use phaselock::physics::{Aabb, in_sight, ray_to_walls};

/// Range of sight, in metres: what a screen of 32 to 9 shows from a corner of the arena, and
/// further than a shot goes. Less would hide few: of all pairs of 64 bots 32 % are told of each
/// other, and within 30 m 29 %.
pub const REACH: f32 = 42.0;
/// Seconds ahead to which motion goes on: a round trip of 200 ms, and two snapshots at 30 Hz.
const AHEAD_SECS: f32 = 0.27;
/// Distance of the highest priority, in metres. Further away it falls in inverse proportion, as the
/// error of a rifle's aim at a wrong position does.
const NEAR: f32 = 5.0;
/// Highest priority; at the end of sight it is 1.
const MOST: u16 = 8;
/// Distance from the line of aim, in metres, within which a player has the highest priority.
const AIMED: f32 = 1.5;

/// Priority of a player for another, by walls and distance.
pub(super) fn relevance(walls: &[Aabb], viewer: &Player, other: &Player) -> Relevance {
    if !is_told(walls, viewer, other) {
        return Relevance::Secret;
    }
    let to = other.position() - viewer.position();
    let along = to.dot(viewer.facing());
    let aimed_at = viewer.health > 0 && along > 0.0 && {
        let miss = to - viewer.facing() * along;
        miss.length_squared() < AIMED * AIMED
    };
    Relevance::Matters(if aimed_at { MOST } else { weight(to.length()) })
}

/// Priority at a distance in metres.
fn weight(distance: f32) -> u16 {
    (f32::from(MOST) * (NEAR / distance.max(NEAR))).round() as u16
}

/// Range in which things are seen, in metres: what a screen of 32 to 9 shows to either side.
const THING_REACH: f32 = 25.0;
/// Range in which others see a mine, in metres: a step before it goes off.
const MINE_SEEN: f32 = 4.5;

/// Priority of a thing of another's: what is in sight, or will be in a moment; a mine only if it is
/// near or goes off.
pub(super) fn thing_relevance(walls: &[Aabb], viewer: &Player, piece: &Piece) -> Relevance {
    let Some((position, shape)) = outline(piece) else { return Relevance::Secret };
    let (viewpoint, far) = (viewer.position(), viewer.position().distance(position));
    let hidden = match piece {
        Piece::Mine(mine) => mine.burst == 0 && far > MINE_SEEN,
        _ => false,
    };
    if hidden || far > THING_REACH {
        return Relevance::Secret;
    }
    let half = shape.half().min_element();
    let aside = (position - viewpoint).perp().normalize_or_zero() * half;
    let viewpoints = [viewpoint, soon(walls, viewer)];
    let velocity = match piece {
        Piece::Shell(shell) => shell.velocity(),
        Piece::Prop(prop) => prop.velocity(),
        _ => Vec2::ZERO,
    };
    let velocity = if velocity.length() > 0.5 { velocity } else { Vec2::ZERO };
    let later = run_on(walls, position, velocity, half);
    let bodies = [position + aside, position - aside, later];
    let count = if later == position { 2 } else { 3 };
    let seen = any_free(walls, &viewpoints, &bodies[..count]);
    let weight = match piece {
        Piece::Shell(_) => MOST,
        Piece::Prop(_) | Piece::Mine(_) => weight(far),
        _ => 1,
    };
    if seen { Relevance::Matters(weight.max(1)) } else { Relevance::Secret }
}

/// True if one player sees another, or will in a moment.
fn is_told(walls: &[Aabb], viewer: &Player, other: &Player) -> bool {
    let (viewpoint, body) = (viewer.position(), other.position());
    let to = body - viewpoint;
    // Both flanks, to the full width: to see a shoulder is to see a player.
    let aside = to.perp().normalize_or_zero() * RADIUS;
    let viewpoints = [viewpoint, soon(walls, viewer)];
    let bodies = [body, body + aside, body - aside, soon(walls, other)];
    any_free(walls, &viewpoints, &bodies)
}

/// True if there is a free line from any of the viewpoints to any of the bodies.
fn any_free(walls: &[Aabb], viewpoints: &[Vec2], bodies: &[Vec2]) -> bool {
    // Few walls are anywhere near.
    let all = viewpoints.iter().chain(bodies);
    let bounds = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    let (min, max) = all.fold(bounds, |(min, max), point| (min.min(*point), max.max(*point)));
    let mut near = [Aabb { min: Vec2::ZERO, max: Vec2::ZERO }; WALLS_MAX];
    let mut count = 0;
    for wall in walls {
        if wall.min.cmplt(max).all() && wall.max.cmpgt(min).all() {
            // With too many walls in between nothing is seen.
            let Some(free) = near.get_mut(count) else { return false };
            *free = *wall;
            count += 1;
        }
    }
    let near = &near[..count];
    viewpoints.iter().any(|viewpoint| bodies.iter().any(|body| in_sight(*viewpoint, *body, near)))
}

/// Walls that may be between two players.
const WALLS_MAX: usize = 40;

/// Position of a player in a moment.
fn soon(walls: &[Aabb], player: &Player) -> Vec2 {
    let velocity = if player.health > 0 { player.velocity() } else { Vec2::ZERO };
    run_on(walls, player.position(), velocity, RADIUS)
}

/// Position in a moment of something that moves on, or before a wall that is in its way.
fn run_on(walls: &[Aabb], position: Vec2, velocity: Vec2, radius: f32) -> Vec2 {
    let speed = velocity.length();
    if speed == 0.0 {
        return position;
    }
    let along = velocity / speed;
    let free = ray_to_walls(position, along, walls, speed * AHEAD_SECS + radius) - radius;
    position + along * free.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skirmish::arena::Arena;
    use crate::skirmish::movement::{SPEED, movement};
    use crate::skirmish::{Command, HEALTH, Skirmish};
    use phaselock::game::Game;
    use phaselock::physics::turns;
    use phaselock::time::Rates;

    fn at(x: f32, y: f32) -> Player {
        Player { x, y, health: HEALTH, ..Player::default() }
    }

    fn weight(viewer: &Player, other: &Player) -> u16 {
        match relevance(&Arena::new().walls, viewer, other) {
            Relevance::Secret => 0,
            Relevance::Idle => panic!("a player matters or is secret"),
            Relevance::Matters(weight) => weight,
        }
    }

    #[test]
    fn walls_keep_secrets_and_what_is_near_or_aimed_at_matters_more() {
        let viewer = Player { aim: 0.25, ..at(-6.0, 0.0) };
        assert_eq!(weight(&viewer, &at(6.0, 0.0)), 0, "the pillar is in between");
        assert_eq!(weight(&viewer, &at(-2.0, 0.0)), 8);
        // Along a free lane.
        let viewer = Player { aim: 0.25, ..at(-20.0, 6.75) };
        let weights = [4.0, 10.0, 20.0, 27.0].map(|far| weight(&viewer, &at(far - 20.0, 6.75)));
        assert_eq!(weights, [8, 4, 2, 1]);
        let aiming = Player { aim: 0.0, ..viewer };
        assert_eq!(weight(&aiming, &at(0.0, 6.75)), 8);
        let dead = Player { health: 0, ..aiming };
        assert_eq!(weight(&dead, &at(0.0, 6.75)), 2, "the dead look on and do not aim");
        assert_eq!(weight(&viewer, &viewer), 8);
    }

    #[test]
    fn a_shoulder_is_somebody() {
        // Beside the pillar, whose corner hides the middle and not the flank.
        let (viewer, other) = (at(-6.0, 1.4), at(6.0, 1.5));
        let walls = Arena::new().walls;
        assert!(!in_sight(viewer.position(), other.position(), &walls));
        assert_ne!(weight(&viewer, &other), 0);
    }

    /// Ticks from being told to a free line between two middles, while both walk on.
    fn ahead(mut a: Player, mut b: Player, keys: [(i16, i16); 2]) -> (u32, u32) {
        let arena = Arena::new();
        let (mut told, mut free) = ([None; 2], None);
        for tick in 0..120 {
            for (player, (right, down)) in [&mut a, &mut b].into_iter().zip(keys) {
                let command = Command { right, down, ..Command::default() };
                movement(&arena, Rates::DEFAULT, player, &command);
            }
            for (told, (viewer, other)) in told.iter_mut().zip([(&a, &b), (&b, &a)]) {
                if relevance(&arena.walls, viewer, other) != Relevance::Secret {
                    told.get_or_insert(tick);
                }
            }
            if in_sight(a.position(), b.position(), &arena.walls) {
                free.get_or_insert(tick);
            }
        }
        let free: u32 = free.expect("they see each other at last");
        (free - told[0].expect("a is told"), free - told[1].expect("b is told"))
    }

    #[test]
    fn runners_around_a_corner_are_told_of_in_time_and_told_in_time() {
        let fast = |player: Player, down: f32| Player { vy: SPEED * down, ..player };
        // Along the wall on the right, whose end is at y = 3; somebody waits behind it.
        for (x, y) in [(10.5, 1.5), (9.0, 2.0), (8.9, 0.5)] {
            for start in [(14.0, -2.5), (14.5, -2.0), (15.5, -1.0)] {
                let runner = fast(at(start.0, start.1), 1.0);
                let (one, other) = ahead(runner, at(x, y), [(0, 1), (0, 0)]);
                assert!(one >= 12 && other >= 12, "{one} and {other} ticks from {start:?}");
                // Both run for the same end.
                let other = fast(at(x, y - 1.0), 1.0);
                let (one, other) = ahead(runner, other, [(0, 1), (0, 1)]);
                assert!(one >= 12 && other >= 12, "{one} and {other} ticks, both running");
            }
        }
    }

    #[test]
    fn nobody_looks_through_a_wall_by_running_against_it() {
        // The wall is a metre thick; at full speed one would be behind it in 0.27 s.
        let runner = Player { vx: SPEED, ..at(12.0, 0.0) };
        assert_eq!(weight(&runner, &at(16.0, 1.0)), 0);
        assert_eq!(weight(&at(16.0, 1.0), &runner), 0);
    }

    #[test]
    fn two_see_each_other_or_neither() {
        let arena = Arena::new();
        let mut random = phaselock::random::Random::new(4);
        let (mut told, mut alike) = (0, 0);
        let all = 20_000;
        for _ in 0..all {
            let mut somebody = || {
                let count = arena.waypoints.len() as u32;
                let position = arena.waypoints[random.below(count) as usize];
                let run = phaselock::physics::direction(random.unit()) * SPEED;
                Player { vx: run.x, vy: run.y, aim: turns(run), ..at(position.x, position.y) }
            };
            let (a, b) = (somebody(), somebody());
            let (to_a, to_b) = (weight(&a, &b) > 0, weight(&b, &a) > 0);
            let free = in_sight(a.position(), b.position(), &arena.walls);
            assert!(!free || (to_a && to_b), "a free line tells both");
            told += u32::from(to_a);
            alike += u32::from(to_a == to_b);
        }
        // They differ where the one's shoulder is behind the other's corner.
        assert!(alike > all * 95 / 100, "alike in {alike} of {all}");
        assert!((all / 10..all * 6 / 10).contains(&told), "{told} of {all} are told");
        let game = Skirmish::new(Rates::DEFAULT, 0);
        assert!(game.arena.walls.len() <= WALLS_MAX);
    }
}

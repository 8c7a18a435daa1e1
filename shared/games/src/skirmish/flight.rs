//! Flight of rockets and grenades: the one function for both sides and for extrapolation.

use glam::Vec2;

use super::arena::Arena;
use super::bodies::{BodyShape, sweep};
use super::entities::{Player, Shell};
use super::movement::RADIUS;
use phaselock::fields::Record;
use phaselock::physics::Aabb;
use phaselock::time::Rates;

/// Radius of both, in metres.
pub const SHELL_RADIUS: f32 = 0.12;
/// A rocket's speed in metres per second: three times a runner's, so that it can be dodged from 8 m
/// away.
pub const ROCKET_SPEED: f32 = 20.0;
/// Speed of a thrown grenade, in metres per second.
const GRENADE_SPEED: f32 = 15.0;
/// Drag of a grenade, as the fraction of its speed lost per second.
const GRENADE_DRAG: f32 = 1.1;
/// Fraction of its speed into a wall that it keeps when it bounces.
const BOUNCE: f32 = 0.55;
/// Maximum number of bounces in a tick; the rest of its way is lost.
const BOUNCES_MAX: u32 = 4;
/// Seconds from throwing a grenade until it explodes.
pub const FUSE_SECS: f32 = 1.6;
/// Seconds for which a burst shell stays, so that all clients learn about it.
const BURST_SECS: f32 = 0.4;

/// Creates a shell that a player has just fired. It starts at the player's centre, where there is
/// no wall.
pub(super) fn launch(rates: Rates, player: &Player, grenade: bool) -> Shell {
    let speed = if grenade { GRENADE_SPEED } else { ROCKET_SPEED };
    let velocity = player.facing() * speed;
    let fuse = if grenade { (FUSE_SECS * rates.tick_hz as f32).min(255.0) as u8 } else { 0 };
    Shell {
        grenade,
        x: player.x,
        y: player.y,
        vx: velocity.x,
        vy: velocity.y,
        fuse,
        burst: 0,
        shot: player.shots,
    }
}

/// Returns the ticks for which a burst shell stays.
pub(super) fn burst_ticks(rates: Rates) -> u8 {
    (BURST_SECS * rates.tick_hz as f32) as u8
}

/// Runs one tick of a flight among walls and props. A rocket bursts at the first obstacle, and a
/// grenade bounces off it; both burst at `bodies`. Returns whether it bursts in this tick.
pub(super) fn fly(
    shell: &mut Shell,
    rates: Rates,
    walls: &[Aabb],
    props: impl Iterator<Item = (Vec2, BodyShape)> + Clone,
    bodies: impl Iterator<Item = Vec2> + Clone,
) -> bool {
    if shell.burst > 0 {
        shell.burst = (shell.burst + 1).min(63);
        return false;
    }
    let secs = rates.step_secs();
    let middle = |wall: &Aabb| {
        let half = wall.size() / 2.0;
        (wall.min + half, BodyShape::Box(half))
    };
    let things = walls.iter().map(middle).chain(props);
    let bodies = bodies.map(|body| (body, BodyShape::Circle(RADIUS)));
    let (mut position, mut velocity) = (shell.position(), shell.velocity());
    let mut bursts = false;
    if shell.grenade {
        velocity -= velocity * (GRENADE_DRAG * secs).min(1.0);
        shell.fuse = shell.fuse.saturating_sub(1);
        bursts = shell.fuse == 0;
    }
    let mut left = velocity.length() * secs;
    for _ in 0..BOUNCES_MAX {
        let speed = velocity.length();
        // Below a grid step nothing moves.
        if left <= 0.0 || speed < 0.01 {
            break;
        }
        let along = velocity / speed;
        let thing = sweep(position, SHELL_RADIUS, along, left, things.clone());
        let free = thing.map_or(left, |(far, _)| far);
        if let Some((far, _)) = sweep(position, SHELL_RADIUS, along, free, bodies.clone()) {
            position += along * far;
            bursts = true;
            break;
        }
        position += along * free;
        left -= free;
        let Some((_, normal)) = thing else { break };
        if !shell.grenade {
            bursts = true;
            break;
        }
        velocity -= normal * (velocity.dot(normal) * (1.0 + BOUNCE));
    }
    (shell.x, shell.y) = position.into();
    if bursts {
        shell.burst = 1;
        velocity = Vec2::ZERO;
    }
    (shell.vx, shell.vy) = velocity.into();
    bursts
}

/// Returns the state of a shell after `ticks`, unless something other than a wall is in its way.
pub(super) fn extrapolate(arena: &Arena, rates: Rates, base: &Shell, ticks: u64) -> Shell {
    let mut shell = *base;
    for _ in 0..ticks {
        fly(&mut shell, rates, &arena.walls, std::iter::empty(), std::iter::empty());
        shell = shell.snapped();
    }
    shell
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::physics::direction;
    use proptest::prelude::*;

    fn thrown(x: f32, y: f32, aim: f32, grenade: bool) -> Shell {
        let player = Player { x, y, aim, ..Player::default() };
        launch(Rates::DEFAULT, &player, grenade).snapped()
    }

    #[test]
    fn a_rocket_flies_straight_and_bursts_at_a_wall() {
        let arena = Arena::new();
        let rocket = thrown(-10.0, 0.0, 0.0, false);
        let after = extrapolate(&arena, Rates::DEFAULT, &rocket, 20);
        assert_eq!((after.y, after.burst), (0.0, 0));
        assert!((after.x + 10.0 - 20.0 / 3.0).abs() < 0.01, "{after:?}");
        // The pillar's side is at -1.5.
        let after = extrapolate(&arena, Rates::DEFAULT, &rocket, 30);
        assert!((after.x + 1.5 + SHELL_RADIUS).abs() < 0.001, "{after:?}");
        assert!(after.burst > 1 && after.velocity() == Vec2::ZERO);
    }

    #[test]
    fn a_grenade_bounces_and_goes_off_in_time() {
        let arena = Arena::new();
        let grenade = thrown(-6.0, 0.0, 0.0, true);
        let bounced = extrapolate(&arena, Rates::DEFAULT, &grenade, 32);
        assert!(bounced.vx < -3.0 && bounced.burst == 0, "{bounced:?}");
        let mut grenade = grenade;
        let ticks = (1..200).find(|_| {
            let went = fly(
                &mut grenade,
                Rates::DEFAULT,
                &arena.walls,
                std::iter::empty(),
                std::iter::empty(),
            );
            grenade = grenade.snapped();
            went
        });
        assert_eq!(ticks, Some(96), "1.6 s at 60 a second");
    }

    proptest! {
        #[test]
        fn nothing_flies_through_a_wall(
            aim in 0.0_f32..1.0, at in 0_usize..150, grenade: bool, hz in 10_u32..128,
        ) {
            let arena = Arena::new();
            let rates = Rates { tick_hz: hz, ..Rates::DEFAULT };
            let from = arena.waypoints[at % arena.waypoints.len()];
            let player = Player { x: from.x, y: from.y, aim, ..Player::default() };
            let mut shell = launch(rates, &player, grenade).snapped();
            for _ in 0..5 * hz {
                let before = shell.position();
                fly(&mut shell, rates, &arena.walls, std::iter::empty(), std::iter::empty());
                shell = shell.snapped();
                let position = shell.position();
                for wall in &arena.walls {
                    let free = wall.nearest(position).distance(position);
                    prop_assert!(free > SHELL_RADIUS - 0.002, "{position} is {free} from {wall:?}");
                }
                let way = position.distance(before);
                prop_assert!(way <= ROCKET_SPEED / hz as f32 + 0.01, "{way} m in a tick");
            }
            prop_assert!(shell.burst > 0, "it is over in five seconds");
            prop_assert!(direction(aim).is_finite());
        }
    }
}

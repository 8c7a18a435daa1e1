//! Visibility compared with the plain rule: rays from both viewpoints to all of a body, against all
//! walls. Shortcuts are what it checks: the table of walls, shadows, and glances. What the rule
//! itself consists of (rays, outlines, and where a body runs on to) it shares with them.

use proptest::prelude::*;

use super::*;
use crate::skirmish::movement::SPEED;
use crate::skirmish::shadow::{Effect, Shadow, cell};
use crate::skirmish::visibility::{MINE_SEEN, PlayerView, THING_REACH, outline, pace, run_on};
use phaselock::physics::{Aabb, direction, has_line_of_sight};

/// Returns the position of a player in a moment.
fn soon(walls: &[Aabb], player: &Player) -> Vec2 {
    run_on(walls, player.position(), pace(player), RADIUS)
}

fn any_free(walls: &[Aabb], viewpoints: &[Vec2], bodies: &[Vec2]) -> bool {
    let all = viewpoints.iter().chain(bodies);
    let bounds = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    let (min, max) = all.fold(bounds, |(min, max), point| (min.min(*point), max.max(*point)));
    let near = |wall: &&Aabb| wall.min.cmplt(max).all() && wall.max.cmpgt(min).all();
    let walls: Vec<_> = walls.iter().filter(near).copied().collect();
    viewpoints.iter().any(|from| bodies.iter().any(|body| has_line_of_sight(*from, *body, &walls)))
}

/// Whether a player is sent an entity according to the plain rule.
fn is_visible_to(walls: &[Aabb], viewer: &Player, other: &Piece) -> bool {
    let (position, shape) = outline(other).expect("it is somewhere");
    let (viewpoint, far) = (viewer.position(), viewer.position().distance(position));
    let half = shape.half().min_element();
    let aside = (position - viewpoint).perp().normalize_or_zero() * half;
    let velocity = match other {
        Piece::Player(player) => {
            let bodies = [position, position + aside, position - aside, soon(walls, player)];
            return any_free(walls, &[viewpoint, soon(walls, viewer)], &bodies);
        }
        Piece::Shell(shell) => shell.velocity(),
        Piece::Prop(prop) => prop.velocity(),
        _ => Vec2::ZERO,
    };
    if far > THING_REACH || matches!(other, Piece::Mine(it) if it.burst == 0 && far > MINE_SEEN) {
        return false;
    }
    let velocity = if velocity.length() > 0.5 { velocity } else { Vec2::ZERO };
    let later = run_on(walls, position, velocity, half);
    let bodies = [position + aside, position - aside, later];
    let count = if later == position { 2 } else { 3 };
    any_free(walls, &[viewpoint, soon(walls, viewer)], &bodies[..count])
}

fn is_relevant(relevance: Relevance) -> bool {
    relevance != Relevance::Secret
}

#[test]
fn bots_at_play_are_told_of_what_the_plain_rule_tells() {
    let (mut all, mut some) = (0, 0);
    play(24, 5, 600, |game, world| {
        if !world.tick.0.is_multiple_of(20) {
            return;
        }
        for viewer in players(&world.entities) {
            let player = viewer.owner.expect("it belongs to a player");
            let relevance = game.relevance_to(&world.entities, player);
            for slot in world.entities.iter().filter(|slot| slot.entity.position().is_some()) {
                let is = is_relevant(relevance(slot));
                let want = is_visible_to(&game.arena.walls, &viewer.entity, &slot.entity);
                assert_eq!(is, want, "{:?} for {:?}", slot.entity, viewer.entity);
                all += 1;
                some += usize::from(is);
            }
        }
    });
    assert!(some * 10 > all && some * 2 < all, "{some} of {all}");
}

/// Anywhere, including in walls and outside of the arena; often exactly at the ends of walls, or
/// just next to them.
fn place() -> impl Strategy<Value = Vec2> {
    let walls = Arena::new().walls;
    let ends = walls.len();
    let hair = prop_oneof![Just(0.0), -1e-5_f32..1e-5, -0.01_f32..0.01, -0.6_f32..0.6];
    let beside = (0..ends, any::<[bool; 2]>(), hair.clone(), hair).prop_map(
        move |(wall, [right, down], x, y)| {
            let Aabb { min, max } = walls[wall];
            let corner =
                Vec2::new(if right { max.x } else { min.x }, if down { max.y } else { min.y });
            corner + Vec2::new(x, y)
        },
    );
    let anywhere = |x: f32, y: f32| (-x..x, -y..y).prop_map(|(x, y)| Vec2::new(x, y));
    let grid = (-48_i8..=48, -30_i8..=30)
        .prop_map(|(x, y)| Vec2::new(f32::from(x) / 2.0, f32::from(y) / 2.0));
    prop_oneof![6 => anywhere(24.0, 15.0), 1 => anywhere(32.0, 32.0), 2 => grid, 3 => beside]
}

fn somebody() -> impl Strategy<Value = Player> {
    let speed = prop_oneof![Just(0.0), Just(SPEED), 0.0_f32..15.5];
    (place(), 0.0_f32..1.0, speed, 0.0_f32..1.0, prop::bool::weighted(0.9)).prop_map(
        |(at, course, speed, aim, lives)| {
            let run = direction(course) * speed;
            let health = if lives { HEALTH } else { 0 };
            Player { x: at.x, y: at.y, vx: run.x, vy: run.y, aim, health, ..Player::default() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn sight_is_as_the_plain_rule_tells(
        viewer in somebody(), other in somebody(), kind in 0_u8..5,
    ) {
        static GAME: LazyLock<Skirmish> = LazyLock::new(|| Skirmish::new(Rates::DEFAULT, 0));
        let (x, y, vx, vy) = (other.x, other.y, other.vx, other.vy);
        let piece: Piece = match kind {
            0 => Shell { x, y, vx: vx * 2.0, vy: vy * 2.0, ..Shell::default() }.into(),
            1 => Prop { x, y, vx, vy, barrel: other.aim < 0.5, ..Prop::default() }.into(),
            2 => Mine { x, y, burst: u8::from(other.aim < 0.5), ..Mine::default() }.into(),
            3 => Pickup { x, y, ..Pickup::default() }.into(),
            _ => other.into(),
        };
        let walls = &GAME.arena.walls;
        let view = PlayerView::new(walls, GAME.between(), &viewer);
        let is = match &piece {
            Piece::Player(other) => view.of_player(other),
            thing => view.of_thing(thing),
        };
        prop_assert_eq!(is_relevant(is), is_visible_to(walls, &viewer, &piece));
    }

    #[test]
    fn walls_that_the_table_leaves_out_are_in_nobodys_way(a in place(), b in place()) {
        static GAME: LazyLock<Skirmish> = LazyLock::new(|| Skirmish::new(Rates::DEFAULT, 0));
        let kept: Vec<_> = GAME.between().walls(cell(a), cell(b)).iter().collect();
        for (n, wall) in GAME.arena.walls.iter().enumerate() {
            prop_assert!(kept.contains(&n) || has_line_of_sight(a, b, &[*wall]), "{wall:?}");
        }
    }

    #[test]
    fn shadows_are_where_rays_do_not_get(
        a in place(), b in place(), wall in 0_usize..31, out in 0.0_f32..1.0, angle in 0.0_f32..1.0,
    ) {
        let wall = Arena::new().walls[wall];
        let shadow = Shadow::new(a, &wall);
        match shadow.effect(b - a) {
            Effect::Free => prop_assert!(has_line_of_sight(a, b, &[wall])),
            Effect::Blocked => prop_assert!(!has_line_of_sight(a, b, &[wall])),
            Effect::Unsure => {}
        }
        let flank = b + direction(angle) * (RADIUS * out);
        prop_assert!(!shadow.hides(b - a, RADIUS) || !has_line_of_sight(a, flank, &[wall]));
        prop_assert!(!shadow.clears(b - a, RADIUS) || has_line_of_sight(a, flank, &[wall]));
    }
}

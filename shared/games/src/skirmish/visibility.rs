//! Visibility: what is in sight, and what is about to be.
//!
//! A player sees what its client is sent only after half a round trip plus the interpolation delay,
//! while its own picture runs ahead by half a round trip. So a runner must be sent before there is
//! a free line of sight, or it would appear out of nowhere: both are also assumed to be where they
//! are running to.

use glam::Vec2;

use super::bodies::BodyShape;
use super::entities::{Piece, Player};
use super::flight::SHELL_RADIUS;
use super::movement::RADIUS;
use super::shadow::{Between, Cell, Effect, Shadow, WALLS_MAX, Walls, cell};
use phaselock::game::Relevance;
use phaselock::physics::{Aabb, ray_to_box, ray_to_walls};

/// How far a player sees, in metres: what a 32:9 screen shows from a corner of the arena, and
/// farther than a shot goes. A shorter range would hide few: of all pairs of 64 bots 32 % are sent
/// to each other, and within 30 m 29 %.
pub const REACH: f32 = 42.0;
/// Seconds ahead for which motion is extrapolated: a round trip of 200 ms, plus two snapshots at 30
/// Hz.
pub(super) const AHEAD_SECS: f32 = 0.27;
/// Distance up to which priority is highest, in metres. Beyond, it decreases in inverse proportion,
/// like the effect of a wrong position on a rifle's aim.
const NEAR: f32 = 5.0;
/// Highest priority; at the end of the range it is 1.
const MOST: u16 = 8;
/// Distance from the line of aim, in metres, within which a player has the highest priority.
const AIMED: f32 = 1.5;

/// Returns the priority at a distance in metres.
fn weight(distance: f32) -> u16 {
    (f32::from(MOST) * (NEAR / distance.max(NEAR))).round() as u16
}

/// Range in which objects are seen, in metres: what a 32:9 screen shows to either side.
pub(super) const THING_REACH: f32 = 25.0;
/// Range in which others see a mine, in metres: a step before it explodes.
pub(super) const MINE_SEEN: f32 = 4.5;

/// A position to see from, with the shadows of all walls.
#[derive(Debug)]
struct Outlook {
    position: Vec2,
    cell: Cell,
    shadows: [Shadow; WALLS_MAX],
}

impl Outlook {
    fn new(walls: &[Aabb], position: Vec2) -> Self {
        let mut shadows = [Shadow::NONE; WALLS_MAX];
        for (shadow, wall) in shadows.iter_mut().zip(walls) {
            *shadow = Shadow::new(position, wall);
        }
        Self { position, cell: cell(position), shadows }
    }
}

/// Visibility of a body, determined without rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Glance {
    /// The line to its relevant part is free.
    Free,
    /// A single wall hides the whole body.
    Hidden,
    /// Rays must decide.
    Partly,
}

/// A player or object to be seen.
#[derive(Clone, Copy, Debug)]
struct Body {
    position: Vec2,
    cell: Cell,
    /// Half of its width, in metres.
    half: f32,
    /// Velocity in metres per second.
    velocity: Vec2,
}

/// What a player sees in a snapshot.
#[derive(Debug)]
pub(super) struct PlayerView<'a> {
    walls: &'a [Aabb],
    between: &'a Between,
    viewer: &'a Player,
    facing: Vec2,
    /// Outlook from the player's current position.
    now: Outlook,
    /// Outlook from the player's position in a moment, if that is different.
    soon: Option<Outlook>,
}

impl<'a> PlayerView<'a> {
    /// Creates the view of a player. `between` is the table of these walls.
    pub(super) fn new(walls: &'a [Aabb], between: &'a Between, viewer: &'a Player) -> Self {
        let now = Outlook::new(walls, viewer.position());
        let soon = run_on(walls, viewer.position(), pace(viewer), RADIUS);
        let soon = (soon != now.position).then(|| Outlook::new(walls, soon));
        Self { walls, between, viewer, facing: viewer.facing(), now, soon }
    }

    /// Returns the priority of a player for the viewer, by walls and distance.
    pub(super) fn of_player(&self, other: &Player) -> Relevance {
        let (viewer, position) = (self.viewer, other.position());
        let (velocity, cell) = (pace(other), cell(position));
        let body = Body { position, cell, half: RADIUS, velocity };
        if !self.sees(body, true) {
            return Relevance::Secret;
        }
        let to = position - viewer.position();
        let along = to.dot(self.facing);
        let aimed_at = viewer.health > 0 && along > 0.0 && {
            let miss = to - self.facing * along;
            miss.length_squared() < AIMED * AIMED
        };
        Relevance::Matters(if aimed_at { MOST } else { weight(to.length()) })
    }

    /// Returns the priority of another player's object: what is in sight, or will be in a moment; a
    /// mine only if it is near or explodes.
    pub(super) fn of_thing(&self, piece: &Piece) -> Relevance {
        let Some((position, shape)) = outline(piece) else { return Relevance::Secret };
        let far = self.now.position.distance(position);
        let hidden = match piece {
            Piece::Mine(mine) => mine.burst == 0 && far > MINE_SEEN,
            _ => false,
        };
        if hidden || far > THING_REACH {
            return Relevance::Secret;
        }
        let velocity = match piece {
            Piece::Shell(shell) => shell.velocity(),
            Piece::Prop(prop) => prop.velocity(),
            _ => Vec2::ZERO,
        };
        let velocity = if velocity.length() > 0.5 { velocity } else { Vec2::ZERO };
        let half = shape.half().min_element();
        let seen = self.sees(Body { position, cell: cell(position), half, velocity }, false);
        let weight = match piece {
            Piece::Shell(_) => MOST,
            Piece::Prop(_) | Piece::Mine(_) => weight(far),
            _ => 1,
        };
        if seen { Relevance::Matters(weight.max(1)) } else { Relevance::Secret }
    }

    /// Whether there is a free line to either flank of a body, to where it will be in a moment, or
    /// to its centre, if that counts.
    fn sees(&self, body: Body, middle: bool) -> bool {
        let counts = if middle { 0.0 } else { body.half };
        let now = self.glance(&self.now, body, counts);
        if now == Glance::Free {
            return true;
        }
        let soon = self.soon.as_ref().map(|soon| (soon, self.glance(soon, body, counts)));
        if soon.is_some_and(|(_, glance)| glance == Glance::Free) {
            return true;
        }
        let open = std::iter::once((&self.now, now)).chain(soon);
        let mut open = open.filter(|(_, glance)| *glance != Glance::Hidden).peekable();
        if open.peek().is_none() {
            return false;
        }
        let Body { position, half, .. } = body;
        // To the full width: seeing a shoulder is seeing a player.
        let aside = (position - self.now.position).perp().normalize_or_zero() * half;
        let later = self.later(body);
        let bodies = [position, position + aside, position - aside, later];
        let bodies = &bodies[usize::from(!middle)..if later == position { 3 } else { 4 }];
        // A wall that only touches the bounding box of all lines is in no one's way.
        let viewpoint = self.now.position;
        let soon = soon.map_or(viewpoint, |(soon, _)| soon.position);
        let first = (viewpoint.min(soon), viewpoint.max(soon));
        let (min, max) =
            bodies.iter().fold(first, |(min, max), body| (min.min(*body), max.max(*body)));
        let bounds = Aabb { min, max };
        open.any(|(from, _)| bodies.iter().any(|body| self.is_free(from, *body, &bounds)))
    }

    /// Determines without rays whether one wall hides a body including its next moments, since a
    /// shadow is convex, or whether all lines are free to everything within `counts` metres of its
    /// centre.
    fn glance(&self, from: &Outlook, body: Body, counts: f32) -> Glance {
        let to = body.position - from.position;
        let end = to + body.velocity * AHEAD_SECS;
        let mut glance = Glance::Free;
        for wall in self.between.walls(from.cell, body.cell).iter() {
            let shadow = &from.shadows[wall];
            if shadow.clears(to, counts) {
                continue;
            }
            if shadow.hides(to, body.half) && shadow.hides(end, 0.0) {
                return Glance::Hidden;
            }
            glance = Glance::Partly;
        }
        glance
    }

    /// Whether no wall is in between, of those that reach into the bounds.
    fn is_free(&self, from: &Outlook, to: Vec2, bounds: &Aabb) -> bool {
        let line = to - from.position;
        let mut unsure = Walls::default();
        for n in self.between.walls(from.cell, cell(to)).iter() {
            match from.shadows[n].effect(line) {
                Effect::Free => {}
                Effect::Blocked => return false,
                Effect::Unsure => {
                    let wall = &self.walls[n];
                    if wall.min.cmplt(bounds.max).all() && wall.max.cmpgt(bounds.min).all() {
                        unsure.insert(n);
                    }
                }
            }
        }
        if unsure.is_empty() {
            return true;
        }
        // As `has_line_of_sight` does.
        let distance = from.position.distance(to);
        let along = (to - from.position) / distance;
        let blocks = |wall: usize| ray_to_box(from.position, along, &self.walls[wall]);
        distance == 0.0 || !unsure.iter().any(|wall| blocks(wall).is_some_and(|far| far < distance))
    }

    /// Returns the position of a body in a moment, considering the few walls in its way.
    fn later(&self, body: Body) -> Vec2 {
        let Body { position, half, velocity, .. } = body;
        if velocity == Vec2::ZERO {
            return position;
        }
        // As far as `run_on` looks.
        let end = cell(position + velocity * AHEAD_SECS + velocity.normalize_or_zero() * half);
        let mut few = [Aabb { min: Vec2::ZERO, max: Vec2::ZERO }; WALLS_MAX];
        let mut count = 0;
        for wall in self.between.walls(body.cell, end).iter() {
            few[count] = self.walls[wall];
            count += 1;
        }
        run_on(&few[..count], position, velocity, half)
    }
}

/// Returns position and shape of a piece, if it has any.
pub(super) fn outline(piece: &Piece) -> Option<(Vec2, BodyShape)> {
    match piece {
        Piece::Player(player) => Some((player.position(), BodyShape::Circle(RADIUS))),
        Piece::Prop(prop) => Some((prop.position(), prop.shape())),
        Piece::Shell(shell) => Some((shell.position(), BodyShape::Circle(SHELL_RADIUS))),
        Piece::Mine(mine) => Some((mine.position(), BodyShape::Circle(0.2))),
        Piece::Pickup(pickup) => Some((pickup.position(), BodyShape::Circle(0.4))),
        Piece::Score(_) | Piece::Round(_) => None,
    }
}

/// Returns the velocity with which a player runs on; the dead lie still.
pub(super) fn pace(player: &Player) -> Vec2 {
    if player.health > 0 { player.velocity() } else { Vec2::ZERO }
}

/// Returns the position in a moment of a moving object, stopped by walls in its way.
pub(super) fn run_on(walls: &[Aabb], position: Vec2, velocity: Vec2, radius: f32) -> Vec2 {
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
    use phaselock::physics::{has_line_of_sight, turns};
    use phaselock::time::Rates;
    use std::sync::LazyLock;

    fn at(x: f32, y: f32) -> Player {
        Player { x, y, health: HEALTH, ..Player::default() }
    }

    fn relevance(viewer: &Player, other: &Player) -> Relevance {
        static BETWEEN: LazyLock<(Arena, Between)> = LazyLock::new(|| {
            let arena = Arena::new();
            let between = Between::new(&arena.walls);
            (arena, between)
        });
        PlayerView::new(&BETWEEN.0.walls, &BETWEEN.1, viewer).of_player(other)
    }

    fn weight(viewer: &Player, other: &Player) -> u16 {
        match relevance(viewer, other) {
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
        assert_eq!(weight(&dead, &at(0.0, 6.75)), 2, "dead players watch and do not aim");
        assert_eq!(weight(&viewer, &viewer), 8);
    }

    #[test]
    fn a_shoulder_is_somebody() {
        // Next to the pillar, whose corner hides the centre and not the flank.
        let (viewer, other) = (at(-6.0, 1.4), at(6.0, 1.5));
        let walls = Arena::new().walls;
        assert!(!has_line_of_sight(viewer.position(), other.position(), &walls));
        assert_ne!(weight(&viewer, &other), 0);
    }

    /// Returns the ticks from being sent to a free line between two centres, while both walk on.
    fn ahead(mut a: Player, mut b: Player, keys: [(i16, i16); 2]) -> (u32, u32) {
        let arena = Arena::new();
        let (mut told, mut free) = ([None; 2], None);
        for tick in 0..120 {
            for (player, (right, down)) in [&mut a, &mut b].into_iter().zip(keys) {
                let command = Command { right, down, ..Command::default() };
                movement(&arena, Rates::DEFAULT, player, &command);
            }
            for (told, (viewer, other)) in told.iter_mut().zip([(&a, &b), (&b, &a)]) {
                if relevance(viewer, other) != Relevance::Secret {
                    told.get_or_insert(tick);
                }
            }
            if has_line_of_sight(a.position(), b.position(), &arena.walls) {
                free.get_or_insert(tick);
            }
        }
        let free: u32 = free.expect("they see each other at last");
        (
            free - told[0].expect("client a is informed"),
            free - told[1].expect("client b is informed"),
        )
    }

    #[test]
    fn runners_around_a_corner_are_told_of_in_time_and_told_in_time() {
        let fast = |player: Player, down: f32| Player { vy: SPEED * down, ..player };
        // Along the wall on the right, whose end is at y = 3; another player waits behind it.
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
        // The wall is a metre thick; at full speed a player would be behind it in 0.27 s.
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
            let free = has_line_of_sight(a.position(), b.position(), &arena.walls);
            assert!(!free || (to_a && to_b), "a free line of sight works in both directions");
            told += u32::from(to_a);
            alike += u32::from(to_a == to_b);
        }
        // They differ where one's shoulder is behind the other's corner.
        assert!(alike > all * 95 / 100, "equal in {alike} of {all} cases");
        assert!((all / 10..all * 6 / 10).contains(&told), "{told} of {all} are sent");
        let game = Skirmish::new(Rates::DEFAULT, 0);
        assert!(game.arena.walls.len() <= WALLS_MAX);
    }
}

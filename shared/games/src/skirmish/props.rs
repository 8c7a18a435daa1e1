//! Crates and barrels: pushed, piled up, carried and thrown, by one set of functions on both sides.
//!
//! In a tick all props glide, and are then separated in the order of their ids, a limited number of
//! times: props give way to players, overlapping props give way by halves, and finally players give
//! way to props that could not. Only `shift` moves anything, and it passes through no wall.

use glam::Vec2;

use super::arena::Arena;
use super::bodies::{BodyShape, overlap, shift};
use super::entities::{PACE_MAX, Piece, Player, Prop};
use super::movement::RADIUS;
use phaselock::fields::Record;
use phaselock::game::Entities;
use phaselock::ids::EntityId;
use phaselock::physics::Aabb;
use phaselock::time::Rates;

/// Half of a crate's side, in metres.
pub const CRATE_HALF: f32 = 0.45;
/// A barrel's radius in metres.
pub const BARREL_RADIUS: f32 = 0.38;
/// Deceleration on the floor, in metres per second squared. Arbitrary.
const FRICTION: f32 = 13.0;
/// Maximum speed of a pushed prop, in metres per second: half of a run.
const PUSH_SPEED: f32 = 3.4;
/// Speed of a thrown prop, in metres per second; half of the thrower's own is added.
const THROW_SPEED: f32 = 13.0;
/// Maximum distance between the centres of a player and a prop to lift it, in metres.
const GRAB_REACH: f32 = 1.25;
/// Distance in front of its bearer at which a prop is carried, in metres.
const HOLD: f32 = 0.8;
/// Overlap that is tolerated, in metres: more than rounding causes, so that a pile comes to rest.
const SLOP: f32 = 0.012;
/// Number of separation passes in a tick; the rest waits for the next. Arbitrary.
const PASSES: u32 = 4;

/// A player among props.
#[derive(Clone, Copy, Debug)]
struct Walker {
    id: EntityId,
    position: Vec2,
    velocity: Vec2,
}

/// A prop on the floor.
#[derive(Clone, Copy, Debug)]
struct Thing {
    id: EntityId,
    shape: BodyShape,
    position: Vec2,
    velocity: Vec2,
    moves: bool,
}

/// Scratch lists for each tick; kept to reuse their memory.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    walkers: Vec<Walker>,
    things: Vec<Thing>,
}

impl Prop {
    /// Returns its outline.
    pub fn shape(&self) -> BodyShape {
        if self.barrel {
            BodyShape::Circle(BARREL_RADIUS)
        } else {
            BodyShape::Box(Vec2::splat(CRATE_HALF))
        }
    }

    /// Sets its velocity, within what the field holds.
    pub(super) fn set_velocity(&mut self, velocity: Vec2) {
        (self.vx, self.vy) = velocity.clamp_length_max(PACE_MAX).into();
    }
}

/// Maximum number of props considered in a tick; a world has far fewer, unless a server lies.
/// Arbitrary.
const THINGS_MAX: usize = 256;

/// Lets a prop glide for a tick.
fn glide(position: &mut Vec2, velocity: &mut Vec2, shape: BodyShape, rates: Rates, walls: &[Aabb]) {
    let speed = velocity.length();
    if speed == 0.0 {
        return;
    }
    let secs = rates.step_secs();
    *velocity *= (speed - FRICTION * secs).max(0.0) / speed;
    shift(position, velocity, shape, *velocity * secs, walls);
}

/// Returns the state of a prop after `ticks`, unless something comes in its way.
pub(super) fn extrapolate(arena: &Arena, rates: Rates, base: &Prop, ticks: u64) -> Prop {
    let mut prop = *base;
    for _ in 0..ticks {
        if !prop.stands() || (prop.vx, prop.vy) == (0.0, 0.0) {
            break;
        }
        let (mut position, mut velocity) = (prop.position(), prop.velocity());
        glide(&mut position, &mut velocity, prop.shape(), rates, &arena.walls);
        (prop.x, prop.y) = position.into();
        (prop.vx, prop.vy) = velocity.into();
        prop = prop.snapped();
    }
    prop
}

/// Runs a tick of a player's hands: lifts a prop, carries it, or throws it; only one that `moves`
/// selects.
pub(super) fn hands(
    arena: &Arena,
    entities: &mut Entities<Piece>,
    who: EntityId,
    grab: bool,
    moves: impl Fn(EntityId) -> bool,
) {
    let Some(owner) = entities.get(who).and_then(|slot| slot.owner) else { return };
    let Some(player) = entities.record::<Player>(who).copied() else { return };
    if !grab && !player.is_carrying() {
        return;
    }
    let by = owner.0.saturating_add(1);
    let found = if player.is_carrying() {
        let mut props = entities.records::<Prop>();
        props.find(|slot| slot.entity.held && slot.entity.by == by).map(|slot| slot.id)
    } else {
        let far = |prop: &Prop| prop.position().distance(player.position());
        let ahead = |prop: &Prop| (prop.position() - player.position()).dot(player.facing()) > 0.0;
        entities
            .records::<Prop>()
            .filter(|slot| slot.entity.stands() && moves(slot.id))
            .filter(|slot| far(&slot.entity) < GRAB_REACH && ahead(&slot.entity))
            .min_by(|a, b| far(&a.entity).total_cmp(&far(&b.entity)))
            .map(|slot| slot.id)
    };
    let Some(id) = found.filter(|id| moves(*id)) else { return };
    let Some(prop) = entities.record_mut::<Prop>(id) else { return };
    let mut position = player.position();
    let mut still = Vec2::ZERO;
    shift(&mut position, &mut still, prop.shape(), player.facing() * HOLD, &arena.walls);
    (prop.x, prop.y) = position.into();
    (prop.held, prop.by) = (grab, by);
    // It rests relative to its bearer, or clients would extrapolate it.
    let thrown = player.facing() * THROW_SPEED + player.velocity() * 0.5;
    prop.set_velocity(if grab { Vec2::ZERO } else { thrown });
    if let Some(player) = entities.record_mut::<Player>(who) {
        player.carry(grab);
    }
}

impl Contacts {
    /// Lists who can touch what after the players' own movement. Players that `walks` selects and
    /// props that `moves` selects can move; other props are obstacles.
    pub(super) fn gather(
        &mut self,
        entities: &Entities<Piece>,
        walks: impl Fn(EntityId) -> bool,
        moves: impl Fn(EntityId) -> bool,
    ) {
        self.walkers.clear();
        self.things.clear();
        for slot in entities.iter() {
            match &slot.entity {
                Piece::Player(player) if player.health > 0 && walks(slot.id) => {
                    let (position, velocity) = (player.position(), player.velocity());
                    self.walkers.push(Walker { id: slot.id, position, velocity });
                }
                Piece::Prop(prop) if prop.stands() && self.things.len() < THINGS_MAX => {
                    self.things.push(Thing {
                        id: slot.id,
                        shape: prop.shape(),
                        position: prop.position(),
                        velocity: prop.velocity(),
                        moves: moves(slot.id),
                    })
                }
                _ => {}
            }
        }
    }

    /// Resolves the contacts of all that was gathered.
    pub(super) fn settle(&mut self, arena: &Arena, rates: Rates, entities: &mut Entities<Piece>) {
        if self.things.is_empty() {
            return;
        }
        for thing in self.things.iter_mut().filter(|thing| thing.moves) {
            glide(&mut thing.position, &mut thing.velocity, thing.shape, rates, &arena.walls);
        }
        for _ in 0..PASSES {
            let pushed = self.push(&arena.walls);
            if !self.part(&arena.walls) && !pushed {
                break;
            }
        }
        self.stop(&arena.walls);
        self.put_back(entities);
    }

    /// Moves props out of the players' way. Returns whether any moved.
    fn push(&mut self, walls: &[Aabb]) -> bool {
        let mut any = false;
        for walker in &mut self.walkers {
            for thing in self.things.iter_mut().filter(|thing| thing.moves) {
                let Some((along, depth)) = touch(walker.position, PLAYER, thing) else { continue };
                let (runs, goes) = (walker.velocity.dot(along), thing.velocity.dot(along));
                if runs > goes {
                    let both = goes.max(runs.min(PUSH_SPEED));
                    walker.velocity += along * (both - runs);
                    thing.velocity += along * (both - goes);
                }
                let velocity = &mut thing.velocity;
                shift(&mut thing.position, velocity, thing.shape, along * depth, walls);
                any = true;
            }
        }
        any
    }

    /// Separates overlapping props by halves. Returns whether any moved.
    fn part(&mut self, walls: &[Aabb]) -> bool {
        let mut any = false;
        for second in 1..self.things.len() {
            let (before, rest) = self.things.split_at_mut(second);
            let b = &mut rest[0];
            for a in before.iter_mut().filter(|a| a.moves || b.moves) {
                let Some((along, depth)) = touch(a.position, a.shape, b) else { continue };
                let (by_a, by_b) = (a.velocity.dot(along), b.velocity.dot(along));
                let (share_a, share_b) = match (a.moves, b.moves) {
                    (true, true) => (0.5, 0.5),
                    (true, false) => (1.0, 0.0),
                    _ => (0.0, 1.0),
                };
                if by_a > by_b {
                    // Without a bounce.
                    let both = by_a * share_b + by_b * share_a;
                    a.velocity += along * ((both - by_a) * f32::from(u8::from(a.moves)));
                    b.velocity += along * ((both - by_b) * f32::from(u8::from(b.moves)));
                }
                let (back, on) = (-along * (depth * share_a), along * (depth * share_b));
                if a.moves {
                    shift(&mut a.position, &mut a.velocity, a.shape, back, walls);
                }
                if b.moves {
                    shift(&mut b.position, &mut b.velocity, b.shape, on, walls);
                }
                any = true;
            }
        }
        any
    }

    /// Moves players out of props that could not give way.
    fn stop(&mut self, walls: &[Aabb]) {
        for walker in &mut self.walkers {
            for thing in &self.things {
                let Some((along, depth)) = touch(walker.position, PLAYER, thing) else { continue };
                let into = walker.velocity.dot(along) - thing.velocity.dot(along).max(0.0);
                walker.velocity -= along * into.max(0.0);
                let velocity = &mut walker.velocity;
                shift(&mut walker.position, velocity, PLAYER, -along * depth, walls);
            }
        }
    }

    fn put_back(&self, entities: &mut Entities<Piece>) {
        for walker in &self.walkers {
            if let Some(player) = entities.record_mut::<Player>(walker.id) {
                (player.x, player.y) = walker.position.into();
                (player.vx, player.vy) = walker.velocity.into();
            }
        }
        for thing in self.things.iter().filter(|thing| thing.moves) {
            if let Some(prop) = entities.record_mut::<Prop>(thing.id) {
                (prop.x, prop.y) = thing.position.into();
                prop.set_velocity(thing.velocity);
            }
        }
    }
}

/// A player's outline.
const PLAYER: BodyShape = BodyShape::Circle(RADIUS);

/// Returns the overlap with a prop, if it exceeds what is tolerated.
fn touch(position: Vec2, shape: BodyShape, thing: &Thing) -> Option<(Vec2, f32)> {
    overlap(position, shape, thing.position, thing.shape).filter(|(_, depth)| *depth > SLOP)
}

//! The rifle's shots, and damage of any kind.

use glam::Vec2;

use super::blast::Hurt;
use super::bodies::BodyShape;
use super::entities::{Piece, Player, Prop, Score, player, players};
use super::movement::RADIUS;
use super::rules::{CO_PREDICTION_REACH, RANGE, RESPAWN_SECS, Skirmish};
use super::scratch::{Judged, Shot};
use super::weapons::Means;
use phaselock::game::{Entities, Game, Slot, World};
use phaselock::ids::EntityId;
use phaselock::physics::{Aabb, has_line_of_sight, ray_to_box, ray_to_circle, ray_to_walls};
use phaselock::rewind::{Favour, Outcome, Past, Rewound, RewoundHit, Tested, ViewTime};
use phaselock::time::Tick;

/// Damage of a hit: five hits kill.
const DAMAGE: u8 = 20;
/// Number of shots that set off a barrel.
pub const BARREL_WEAR: u8 = 2;

impl Skirmish {
    /// Returns the first target of a shot: another living player or a prop. It starts at `from`,
    /// and meets others where they are in `seen`, unless they have died since.
    pub(super) fn hit(
        &self,
        entities: &Entities<Piece>,
        seen: &Entities<Piece>,
        favour: Favour,
        (shooter, from): (EntityId, Vec2),
    ) -> Option<EntityId> {
        let along = player(entities, shooter)?.facing();
        let wall = ray_to_walls(from, along, &self.arena.walls, RANGE);
        let there = |slot: &Slot<Player>| {
            player(entities, slot.id).is_some_and(|now| {
                let same = now.health > 0 && now.spawns == slot.entity.spawns;
                let covered = || !has_line_of_sight(from, now.position(), &self.arena.walls);
                same && (favour == Favour::Shooter || !covered())
            })
        };
        let bodies = players(seen)
            .filter(|slot| slot.id != shooter && slot.entity.health > 0 && there(slot))
            .filter_map(|slot| {
                let far = ray_to_circle(from, along, slot.entity.position(), RADIUS)?;
                Some((far, slot.id))
            });
        let stands = |id| entities.record::<Prop>(id).is_some_and(Prop::stands);
        // The shooter's client predicts nearby props, and shows them where they are now.
        let is_near = |prop: &Prop| prop.position().distance(from) < CO_PREDICTION_REACH;
        let far = seen.records::<Prop>().filter(|slot| stands(slot.id));
        let far = far.filter(|slot| entities.record(slot.id).is_some_and(|now| !is_near(now)));
        let near = entities.records::<Prop>().filter(|slot| is_near(&slot.entity));
        let props = near
            .chain(far)
            .filter(|slot| slot.entity.stands())
            .filter_map(|slot| Some((ray_to_prop(from, along, &slot.entity)?, slot.id)));
        bodies
            .chain(props)
            .filter(|(far, _)| *far < wall)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, id)| id)
    }

    /// Judges a shot. Returns its first target, if it hits anything.
    pub(super) fn judge<G: Game<Entity = Piece>>(
        &self,
        world: &mut World<G>,
        seen: &mut Entities<Piece>,
        shot: Shot,
    ) -> Option<Judged> {
        let World { tick, entities, past, .. } = world;
        let entities = &*entities;
        let Shot { shooter, view, .. } = shot;
        let owner = entities.get(shooter)?.owner;
        let along = player(entities, shooter)?.facing();
        let (from, favour) = match view {
            Some(view) => {
                past.at(view.at, entities, seen);
                (origin(past, (*tick, entities), shot)?, past.policy().favour)
            }
            None => (player(entities, shooter)?.position(), Favour::Shooter),
        };
        // Without a view time, the shot meets the others where they are.
        let seen = if view.is_some() { &*seen } else { entities };
        let target = self.hit(entities, seen, favour, (shooter, from));
        let tried = Tried { entities, seen, favour, shooter, from, along };
        let hit = target.and_then(|target| {
            let position = |of: &Entities<Piece>| player(of, target).map(|it| it.position());
            Some(RewoundHit { target, then: position(seen)?, now: position(entities)? })
        });
        let tested = match hit {
            Some(RewoundHit { target, then, .. }) => Some((target, then, Outcome::Hit)),
            None if past.explains_all() => self.nearest(&tried),
            None => None,
        };
        let tested = tested.map(|(target, then, outcome)| {
            Tested::circle((from, along), (target, then), RADIUS, outcome)
        });
        let judged = owner.map(|shooter| Rewound {
            shooter,
            tick: *tick,
            from,
            along,
            view: view.unwrap_or(ViewTime::present(*tick)),
            most: past.policy().most,
            hit,
            tested,
        });
        if let Some(judged) = judged
            && (view.is_some() || past.explains_all())
        {
            past.note(judged);
        }
        let ruling = judged.filter(|_| hit.is_some()).map(|judged| judged.ruling());
        target.map(|target| Judged { shooter, target, ruling })
    }

    /// Returns the living player nearest to the line of a shot that hit no player, its position at
    /// the view time, and why it was not hit.
    fn nearest(&self, tried: &Tried<'_>) -> Option<(EntityId, Vec2, Outcome)> {
        let Tried { entities, seen, favour, shooter, from, along } = *tried;
        let ahead = |slot: &Slot<Player>| {
            let far = (slot.entity.position() - from).dot(along);
            (0.0..=RANGE).contains(&far)
        };
        let beside = |slot: &Slot<Player>| (slot.entity.position() - from).perp_dot(along).abs();
        let nearest = players(seen)
            .filter(|slot| slot.id != shooter && slot.entity.health > 0 && ahead(slot))
            .min_by(|a, b| beside(a).total_cmp(&beside(b)))?;
        let now = player(entities, nearest.id);
        let now = now.filter(|now| now.health > 0 && now.spawns == nearest.entity.spawns);
        let walls = &self.arena.walls;
        let outcome = match now {
            _ if beside(&nearest) > RADIUS => Outcome::Missed,
            None => Outcome::Gone,
            Some(now)
                if favour == Favour::Defender
                    && !has_line_of_sight(from, now.position(), walls) =>
            {
                Outcome::Covered
            }
            Some(_) => Outcome::Blocked,
        };
        Some((nearest.id, nearest.entity.position(), outcome))
    }

    /// Applies a shot to its target, a player or a barrel.
    pub(super) fn shot(&self, entities: &mut Entities<Piece>, shooter: EntityId, target: EntityId) {
        let by = entities.get(shooter).and_then(|slot| slot.owner);
        match entities.get_mut(target).map(|slot| &mut slot.entity) {
            Some(Piece::Player(_)) => {
                let means = Means::Rifle;
                self.hurt(entities, &Hurt { victim: target, by, means, damage: DAMAGE });
            }
            Some(Piece::Prop(prop)) if prop.barrel && prop.fuse == 0 => {
                prop.wear = (prop.wear + 1).min(BARREL_WEAR);
                if prop.wear == BARREL_WEAR {
                    prop.fuse = 1;
                    prop.by = by.map_or(0, |by| by.0.saturating_add(1));
                }
            }
            _ => {}
        }
    }

    /// Reduces a player's health, and counts a kill.
    pub(super) fn hurt(&self, entities: &mut Entities<Piece>, hurt: &Hurt) {
        let Some(of) = entities.get(hurt.victim).and_then(|slot| slot.owner) else { return };
        let Some(victim) = entities.record_mut::<Player>(hurt.victim) else { return };
        // Already dead in this tick.
        if victim.health == 0 || hurt.damage == 0 {
            return;
        }
        victim.health = victim.health.saturating_sub(hurt.damage);
        let killed = victim.health == 0;
        if killed {
            victim.respawn = (RESPAWN_SECS * self.rates.tick_hz as f32) as u16;
            (victim.vx, victim.vy) = (0.0, 0.0);
            victim.carry(false);
        }
        let own = hurt.by == Some(of);
        let shooter = entities.records_mut::<Player>().find(|(_, owner, _)| *owner == hurt.by);
        if let Some((_, Some(_), shooter)) = shooter.filter(|_| !own) {
            shooter.hits = (shooter.hits + 1) % 16;
        }
        if !killed {
            return;
        }
        for (_, owner, score) in entities.records_mut::<Score>() {
            if owner == Some(of) {
                score.deaths = score.deaths.saturating_add(1);
                score.killer = hurt.by.map_or(0, |by| by.0.saturating_add(1));
                score.means = hurt.means as u8;
                if own {
                    score.frags = score.frags.saturating_sub(1);
                }
            } else if hurt.by.is_some() && owner == hurt.by {
                score.frags = score.frags.saturating_add(1);
            }
        }
    }
}

/// A shot as it was tested.
struct Tried<'a> {
    entities: &'a Entities<Piece>,
    seen: &'a Entities<Piece>,
    favour: Favour,
    shooter: EntityId,
    from: Vec2,
    along: Vec2,
}

/// Returns where the shooter's client drew the shooter when the trigger was pulled.
fn origin(
    past: &Past<Piece>,
    (tick, entities): (Tick, &Entities<Piece>),
    shot: Shot,
) -> Option<Vec2> {
    let Shot { shooter, subtick, .. } = shot;
    let now = player(entities, shooter)?;
    let then = subtick.and_then(|it| past.entity_at(shooter, it.at(tick), entities));
    let then = then.and_then(|slot| slot.entity.player().copied());
    // A position in an earlier life does not count.
    let then = then.filter(|then| then.spawns == now.spawns && then.health > 0);
    Some(then.unwrap_or(now).position())
}

/// Returns the distance along a ray to a prop, in metres.
pub fn ray_to_prop(from: Vec2, along: Vec2, prop: &Prop) -> Option<f32> {
    match prop.shape() {
        BodyShape::Circle(radius) => ray_to_circle(from, along, prop.position(), radius),
        BodyShape::Box(half) => ray_to_box(from, along, &Aabb::centred(prop.position(), half)),
    }
}

//! A tick of the authoritative world, in order, and the part of it that a client predicts.

use glam::Vec2;

use super::blast::{self, BLASTS_MAX, Blast, Hurt};
use super::entities::{Command, Mine, Piece, Player, Prop, Shell, player, players};
use super::flight::{burst_ticks, fly, launch};
use super::messages::SkirmishEvent;
use super::movement::{RADIUS, movement};
use super::pickups::pick_up;
use super::props::{Contacts, hands};
use super::rules::Skirmish;
use super::scratch::{Judged, Scratch, Shot};
use super::weapons::{Means, Weapon};
use crate::rounds::{Phase, round};
use phaselock::game::{Ahead, Entities, Game, Inputs, Slot, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::rewind::Ruling;
use phaselock::time::Tick;

/// Maximum number of mines of one player; another one replaces the oldest.
pub const MINES_MAX: usize = 3;
/// Seconds from laying a mine until it is armed.
pub const ARMING_SECS: f32 = 1.0;
/// Distance of a player's centre that sets off a mine, in metres.
const MINE_REACH: f32 = 0.9;
/// Seconds until an exploded barrel returns.
const BARREL_SECS: f32 = 20.0;
/// Minimum speed of a prop that hurts, in metres per second: faster than it can be pushed.
const HURT_SPEED: f32 = 6.0;
/// Damage by such a prop.
const HURT_DAMAGE: u8 = 30;

impl Skirmish {
    /// Runs one tick of the rules, for games that build on them.
    pub fn advance<G>(&self, world: &mut World<G>, inputs: &Inputs<Command>)
    where
        G: Game<Entity = Piece, Memory = Scratch>,
    {
        let mut scratch = std::mem::take(&mut world.memory);
        let entities = &mut world.entities;
        self.walk(entities, &mut scratch, inputs);
        self.carry(entities, &mut scratch, inputs);
        scratch.contacts.gather(entities, |_| true, |_| true);
        scratch.contacts.settle(&self.arena, self.rates, entities);
        let blasts = &mut scratch.blasts;
        self.fly_all(entities, None, &mut scratch.over, blasts);
        self.trip(entities, world.tick, blasts);
        self.fire(world, &mut scratch);
        self.shoot(world, &mut scratch);
        self.go_off(world, &mut scratch);
        let entities = &mut world.entities;
        if round(entities).phase() != Phase::Results {
            self.strike(entities, &mut scratch.hurts);
            for hurt in &scratch.hurts {
                self.hurt(entities, hurt);
            }
        }
        pick_up(entities, self.rates, world.tick);
        self.bring_back(world, &scratch.returning);
        for id in &scratch.over {
            world.despawn(*id);
        }
        world.memory = scratch;
    }

    /// Runs the part of a tick that a client predicts, in the same order.
    pub(super) fn ahead(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        let moves = |id| ahead.covers(id);
        let Some(owner) = entities.get(own).and_then(|slot| slot.owner) else { return };
        let living = entities.record_mut::<Player>(own).filter(|player| player.health > 0);
        let mut fired = None;
        if let Some(player) = living {
            fired = movement(&self.arena, self.rates, player, command);
            hands(&self.arena, entities, own, command.grab, moves);
        }
        // If only one thread predicts, as on clients, it finds the lists of the last time.
        let mut contacts = self.contacts.try_lock();
        let mut others = Contacts::default();
        let contacts = contacts.as_deref_mut().unwrap_or(&mut others);
        contacts.gather(entities, |id| id == own, moves);
        contacts.settle(&self.arena, self.rates, entities);
        let (mut over, mut blasts) = (Vec::new(), Vec::new());
        self.fly_all(entities, Some(ahead), &mut over, &mut blasts);
        if let Some(weapon) = fired
            && let Some(piece) = self.fired(entities, own, weapon, ahead.tick)
            && let Some(number) = predicted_spawn(&piece)
        {
            entities.predict_spawn(number, Some(owner), piece);
        }
        for blast in &blasts {
            let touches = |id| id == own || moves(id);
            blast::throw_about(blast, &self.arena.walls, entities, touches, |_| {});
        }
        for id in over {
            entities.remove(id);
        }
    }

    fn walk(
        &self,
        entities: &mut Entities<Piece>,
        scratch: &mut Scratch,
        inputs: &Inputs<Command>,
    ) {
        scratch.shooters.clear();
        scratch.fired.clear();
        scratch.returning.clear();
        for (id, owner, player) in entities.records_mut::<Player>() {
            let command = owner.map_or(Command::default(), |owner| inputs.get(owner));
            if player.health == 0 {
                player.respawn = player.respawn.saturating_sub(1);
                if player.respawn == 0 {
                    scratch.returning.push(id);
                }
                continue;
            }
            match (movement(&self.arena, self.rates, player, &command), owner) {
                (Some(Weapon::Rifle), _) => {
                    let view = owner.and_then(|owner| inputs.view(owner));
                    let subtick = owner.and_then(|owner| inputs.subtick(owner));
                    scratch.shooters.push(Shot { shooter: id, view, subtick });
                }
                (Some(weapon), Some(owner)) => scratch.fired.push((id, owner, weapon)),
                _ => {}
            }
        }
    }

    /// Runs a tick of all hands. Props without a bearer fall to the floor, and bearers without a
    /// prop stop carrying.
    fn carry(
        &self,
        entities: &mut Entities<Piece>,
        scratch: &mut Scratch,
        inputs: &Inputs<Command>,
    ) {
        scratch.over.clear();
        scratch.over.extend(players(entities).map(|slot| slot.id));
        for id in &scratch.over {
            let Some(slot) = entities.get(*id) else { continue };
            let living = slot.entity.player().is_some_and(|player| player.health > 0);
            if let Some(owner) = slot.owner.filter(|_| living) {
                hands(&self.arena, entities, *id, inputs.get(owner).grab, |_| true);
            }
        }
        let is_held = |entities: &Entities<Piece>, by: Option<PlayerId>| {
            let mut props = entities.records::<Prop>();
            props.any(|slot| slot.entity.held && slot.entity.last_by() == by)
        };
        for id in &scratch.over {
            let Some(slot) = entities.get(*id) else { continue };
            let carrying = slot.entity.player().is_some_and(Player::is_carrying);
            if carrying
                && !is_held(entities, slot.owner)
                && let Some(player) = entities.record_mut::<Player>(*id)
            {
                player.carry(false);
            }
        }
        let has_bearer = |prop: &Prop| {
            let mut owned = prop.last_by().into_iter().flat_map(|by| entities.owned_by(by));
            owned.any(|slot| slot.entity.player().is_some_and(Player::is_carrying))
        };
        let held = entities.records::<Prop>().filter(|slot| slot.entity.held);
        scratch.over.clear();
        scratch.over.extend(held.filter(|slot| !has_bearer(&slot.entity)).map(|slot| slot.id));
        for id in scratch.over.drain(..) {
            if let Some(prop) = entities.record_mut::<Prop>(id) {
                prop.held = false;
            }
        }
    }

    /// Moves all shells on the server, and those that `ahead` covers on a client; shells that burst
    /// long enough ago are added to `over`. Only on the server, which knows where they are, players
    /// are obstacles too.
    fn fly_all(
        &self,
        entities: &mut Entities<Piece>,
        ahead: Option<Ahead<'_>>,
        over: &mut Vec<EntityId>,
        blasts: &mut Vec<Blast>,
    ) {
        let moves = |id| ahead.is_none_or(|ahead| ahead.covers(id));
        over.clear();
        let flying = entities.records::<Shell>().filter(|slot| moves(slot.id)).map(|slot| slot.id);
        over.extend(flying);
        let last = burst_ticks(self.rates);
        // Shells never meet each other.
        over.retain(|id| {
            let Some(slot) = entities.get(*id) else { return false };
            let (Piece::Shell(mut shell), owner) = (slot.entity, slot.owner) else { return false };
            let props = entities.records::<Prop>().filter(|slot| slot.entity.stands());
            let props = props.map(|slot| (slot.entity.position(), slot.entity.shape()));
            let bodies = players(entities)
                .filter(|slot| ahead.is_none() && slot.entity.health > 0 && slot.owner != owner)
                .map(|slot| slot.entity.position());
            if fly(&mut shell, self.rates, &self.arena.walls, props, bodies) {
                let means = if shell.grenade { Means::Grenade } else { Means::Rocket };
                blasts.push(Blast { at: shell.position(), by: owner, means });
            }
            let is_over = shell.burst > last;
            if let Some(slot) = entities.get_mut(*id) {
                slot.entity = Piece::Shell(shell);
            }
            is_over
        });
        for (id, _, mine) in entities.records_mut::<Mine>() {
            if mine.burst > 0 && moves(id) {
                mine.burst = (mine.burst + 1).min(63);
                if mine.burst > last {
                    over.push(id);
                }
            }
        }
    }

    /// Sets off mines under players.
    fn trip(&self, entities: &mut Entities<Piece>, now: Tick, blasts: &mut Vec<Blast>) {
        let armed_ticks = (ARMING_SECS * self.rates.tick_hz as f32) as i64;
        let waits = |mine: &Mine| mine.burst == 0 && now.span_24(mine.laid) >= armed_ticks;
        let comes = |mine: &Slot<Mine>| {
            players(entities).any(|other| {
                let near = other.entity.position().distance(mine.entity.position()) < MINE_REACH;
                near && other.entity.health > 0 && other.owner != mine.owner
            })
        };
        let waiting = entities.records::<Mine>().filter(|slot| waits(&slot.entity));
        let tripped: Vec<_> = waiting.filter(comes).collect();
        for Slot { id, owner, .. } in tripped {
            if let Some(mine) = entities.record_mut::<Mine>(id) {
                mine.burst = 1;
                blasts.push(Blast { at: mine.position(), by: owner, means: Means::Mine });
            }
        }
    }

    /// Creates the entity that a player has just fired.
    fn fired(
        &self,
        entities: &Entities<Piece>,
        by: EntityId,
        weapon: Weapon,
        tick: Tick,
    ) -> Option<Piece> {
        let by = entities.record::<Player>(by)?;
        match weapon {
            Weapon::Rifle => None,
            Weapon::Rockets => Some(Piece::Shell(launch(self.rates, by, false))),
            Weapon::Grenades => Some(Piece::Shell(launch(self.rates, by, true))),
            Weapon::Mines => {
                let Player { x, y, shots, .. } = *by;
                Some(Piece::Mine(Mine { x, y, laid: tick, burst: 0, shot: shots }))
            }
        }
    }

    fn fire<G: Game<Entity = Piece>>(&self, world: &mut World<G>, scratch: &mut Scratch) {
        for (by, owner, weapon) in scratch.fired.drain(..) {
            let Some(piece) = self.fired(&world.entities, by, weapon, world.tick) else {
                continue;
            };
            if let Piece::Mine(mine) = &piece {
                // The oldest one makes space, as does one with the same number, 256 shots ago.
                let lying = world
                    .entities
                    .records::<Mine>()
                    .filter(|slot| slot.owner == Some(owner) && slot.entity.burst == 0);
                let same = lying.clone().find(|slot| slot.entity.shot == mine.shot);
                let oldest = lying.clone().max_by_key(|slot| world.tick.span_24(slot.entity.laid));
                let full = lying.count() >= MINES_MAX;
                if let Some(slot) = same.or(oldest.filter(|_| full)) {
                    world.despawn(slot.id);
                }
            }
            world.spawn(Some(owner), piece);
        }
    }

    /// Resolves all shots of the tick at once, after all players have moved.
    fn shoot<G: Game<Entity = Piece>>(&self, world: &mut World<G>, scratch: &mut Scratch) {
        let Scratch { shooters, hits, seen, .. } = scratch;
        hits.clear();
        for shot in shooters.iter() {
            hits.extend(self.judge(world, seen, *shot));
        }
        if round(&world.entities).phase() == Phase::Results {
            return;
        }
        for Judged { shooter, target, ruling } in hits.iter() {
            let lives = |world: &World<G>| {
                player(&world.entities, *target).is_some_and(|player| player.health > 0)
            };
            let lived = lives(world);
            self.shot(&mut world.entities, *shooter, *target);
            if let Some(ruling) = ruling.filter(|_| lived && !lives(world)) {
                tell(world, *target, ruling);
            }
        }
    }

    /// Sets off barrels that have burned, then as many blasts as a tick may have.
    fn go_off<G: Game<Entity = Piece>>(&self, world: &mut World<G>, scratch: &mut Scratch) {
        let (entities, tick) = (&mut world.entities, world.tick);
        let Scratch { blasts, hurts, .. } = scratch;
        let back = tick.plus((BARREL_SECS * self.rates.tick_hz as f32) as u64);
        for (_, _, prop) in entities.records_mut::<Prop>() {
            if prop.fuse == 0 || prop.gone {
                continue;
            }
            prop.fuse -= 1;
            if prop.fuse == 0 {
                let (at, by) = (prop.position(), prop.last_by());
                blasts.push(Blast { at, by, means: Means::Barrel });
                (prop.gone, prop.held, prop.back) = (true, false, back);
                prop.set_velocity(Vec2::ZERO);
            }
        }
        hurts.clear();
        let walls = &self.arena.walls;
        let mut done = 0;
        while done < blasts.len().min(BLASTS_MAX) {
            let blast = blasts[done];
            blast::throw_about(&blast, walls, entities, |_| true, |hurt| hurts.push(hurt));
            blast::chain(&blast, self.rates, walls, entities, |more| blasts.push(more));
            done += 1;
        }
        blasts.drain(..done);
    }

    /// Lets thrown props hurt the players that they hit, who stop them.
    fn strike(&self, entities: &mut Entities<Piece>, hurts: &mut Vec<Hurt>) {
        let reach = |prop: &Prop| RADIUS + prop.shape().half().x + 0.1;
        let fast = |prop: &Prop| prop.stands() && prop.velocity().length() > HURT_SPEED;
        let first = hurts.len();
        for slot in entities.records::<Prop>().filter(|slot| fast(&slot.entity)) {
            let (prop, by) = (slot.entity, slot.entity.last_by());
            let hit = players(entities).find(|other| {
                let to = other.entity.position() - prop.position();
                let meets = to.length() < reach(&prop) && to.dot(prop.velocity()) > 0.0;
                meets && other.entity.health > 0 && other.owner != by
            });
            hurts.extend(hit.map(|hit| Hurt {
                victim: hit.id,
                by,
                means: Means::Thrown,
                damage: HURT_DAMAGE,
            }));
        }
        if hurts.len() == first {
            return;
        }
        for hurt in &hurts[first..] {
            let Some(victim) = player(entities, hurt.victim) else { continue };
            for (_, _, prop) in entities.records_mut::<Prop>().filter(|(_, _, prop)| fast(prop)) {
                let near = prop.position().distance(victim.position()) < reach(prop);
                if near && prop.last_by() == hurt.by {
                    prop.set_velocity(prop.velocity() * 0.2);
                }
            }
        }
    }

    /// Respawns the dead, and barrels whose position is free.
    fn bring_back<G: Game<Entity = Piece>>(&self, world: &mut World<G>, returning: &[EntityId]) {
        let World { tick, entities, random, .. } = world;
        self.put_all(entities, random, returning);
        let due = |prop: &Prop| prop.gone && tick.span_24(prop.back) >= 0;
        if !entities.records::<Prop>().any(|slot| due(&slot.entity)) {
            return;
        }
        for n in 0..self.arena.props.len() {
            let Some(slot) = entities.records::<Prop>().nth(n).filter(|slot| due(&slot.entity))
            else {
                continue;
            };
            let home = self.arena.props[n].position();
            let taken = |other: &Slot<Piece>| match &other.entity {
                Piece::Player(player) => {
                    player.health > 0 && player.position().distance(home) < 1.0
                }
                Piece::Prop(prop) => prop.stands() && prop.position().distance(home) < 1.1,
                _ => false,
            };
            if !entities.iter().any(taken)
                && let Some(prop) = entities.record_mut::<Prop>(slot.id)
            {
                *prop = self.prop(n, prop.puts);
            }
        }
    }
}

/// Returns the number of a predicted spawn: its shot, distinct for each kind.
pub(super) fn predicted_spawn(piece: &Piece) -> Option<u16> {
    match piece {
        Piece::Shell(shell) => Some(u16::from(shell.grenade) << 8 | u16::from(shell.shot)),
        Piece::Mine(mine) => Some(2 << 8 | u16::from(mine.shot)),
        _ => None,
    }
}

/// Tells a player who was shot how the shot was judged, if the host wants that.
fn tell<G: Game<Entity = Piece>>(world: &mut World<G>, victim: EntityId, ruling: Ruling) {
    let Some(owner) = world.entities.get(victim).and_then(|slot| slot.owner) else { return };
    let is_person = world.profile(owner).is_some_and(|profile| profile.key.is_some());
    if world.past.tells_victims() && is_person {
        // If there are too many events, the victim does without.
        let _ = world.emit(Some(owner), &SkirmishEvent::Killed(ruling));
    }
}

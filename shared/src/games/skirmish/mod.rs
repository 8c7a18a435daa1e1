//! Skirmish: a top-down arena shooter. Players have momentum, aim with the mouse, and carry a
//! rifle that hits at once.

pub mod arena;
mod bot;
mod entities;
pub mod movement;
pub mod sight;

use std::sync::LazyLock;

use glam::Vec2;

use crate::game::{Ahead, Cause, Entities, Eye, Game, Inputs, Relevance, Slot, World};
use crate::ids::{EntityId, PlayerId};
use crate::motion::choice::Choice;
use crate::physics::{in_sight, ray_to_circle, ray_to_walls};
use crate::random::Random;
use crate::rewind::{Favour, Past, Rewound, RewoundHit, View};
use crate::time::{Rates, Tick};
use crate::wire::model::Tables;

use arena::Arena;
pub use bot::Bot;
pub use entities::{Command, Piece, Player, Score, player, players, scores};
use movement::{RADIUS, foretell, movement};
use sight::{REACH, relevance};

/// How far a shot goes, in metres: across the arena.
pub const RANGE: f32 = 40.0;
/// Health of a fresh player.
pub const HEALTH: u8 = 100;
/// What a hit takes: five hits kill.
const DAMAGE: u8 = 20;
/// Seconds from death to return.
pub const RESPAWN_SECS: f32 = 2.0;

/// The rules and the map.
#[derive(Debug)]
pub struct Skirmish {
    /// The map.
    pub arena: Arena,
    rates: Rates,
}

/// Lists that each tick fills anew; kept for their memory.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Who shot, and what it saw.
    shooters: Vec<(EntityId, Option<View>)>,
    returning: Vec<EntityId>,
    /// Who hit whom.
    hits: Vec<(EntityId, EntityId)>,
    /// The players as the shooter saw them.
    seen: Entities<Piece>,
}

impl Skirmish {
    /// Puts a player where it is safest: at the start furthest from the living, chosen among a few
    /// at random.
    fn put(&self, entities: &Entities<Piece>, random: &mut Random, player: &mut Player) {
        let safety = |spawn: Vec2| {
            let living = players(entities).filter(|slot| slot.entity.health > 0);
            living.map(|slot| slot.entity.position().distance(spawn)).fold(f32::MAX, f32::min)
        };
        let count = self.arena.spawns.len() as u32;
        let tried = (0..4).map(|_| self.arena.spawns[random.below(count) as usize]);
        let best = tried.max_by(|a, b| safety(*a).total_cmp(&safety(*b))).unwrap_or(Vec2::ZERO);
        *player = Player {
            x: best.x,
            y: best.y,
            vx: 0.0,
            vy: 0.0,
            health: HEALTH,
            cooldown: 0,
            respawn: 0,
            spawns: player.spawns.wrapping_add(1),
            ..*player
        };
    }

    /// Somebody who has just come.
    pub fn newcomer(&self, entities: &Entities<Piece>, random: &mut Random) -> Player {
        let mut player = Player::default();
        self.put(entities, random, &mut player);
        player
    }

    /// One tick of the rules, which games with some of their own besides can build on.
    pub fn advance<G>(&self, world: &mut World<G>, inputs: &Inputs<Command>)
    where
        G: Game<Entity = Piece, Memory = Scratch>,
    {
        let World { tick, entities, memory: scratch, random, past, .. } = world;
        let Scratch { shooters, returning, hits, seen } = scratch;
        shooters.clear();
        returning.clear();
        hits.clear();
        for slot in entities.iter_mut() {
            let command = slot.owner.map_or(Command::default(), |owner| inputs.get(owner));
            let Piece::Player(player) = &mut slot.entity else { continue };
            if player.health == 0 {
                player.respawn = player.respawn.saturating_sub(1);
                if player.respawn == 0 {
                    returning.push(slot.id);
                }
                continue;
            }
            let shots = player.shots;
            movement(&self.arena, self.rates, player, &command);
            if player.shots != shots {
                let view = slot.owner.and_then(|owner| inputs.view(owner));
                shooters.push((slot.id, view));
            }
        }
        // All have moved; now all shots of the tick count, whoever comes first in the list.
        for (shooter, view) in shooters.iter() {
            let target = match view {
                Some(view) => self.rewound_hit(entities, past, seen, *tick, *shooter, *view),
                None => self.hit(entities, entities, Favour::Shooter, *shooter),
            };
            hits.extend(target.map(|target| (*shooter, target)));
        }
        for (shooter, target) in hits.iter() {
            self.damage(entities, *shooter, *target);
        }
        for &id in returning.iter() {
            let Some(mut returned) = player(entities, id) else { continue };
            self.put(entities, random, &mut returned);
            if let Some(player) = player_mut(entities, id) {
                *player = returned;
            }
        }
    }

    /// What a shot meets first: another living player, or none. It starts where the shooter is now, as its
    /// client predicted, and meets the others where they are in `seen`. Who has died or returned to the
    /// world since is not there to be hit.
    fn hit(
        &self,
        entities: &Entities<Piece>,
        seen: &Entities<Piece>,
        favour: Favour,
        shooter: EntityId,
    ) -> Option<EntityId> {
        let by = player(entities, shooter)?;
        let (from, along) = (by.position(), by.facing());
        let wall = ray_to_walls(from, along, &self.arena.walls, RANGE);
        let there = |slot: &Slot<Player>| {
            player(entities, slot.id).is_some_and(|now| {
                let same = now.health > 0 && now.spawns == slot.entity.spawns;
                let covered = || !in_sight(from, now.position(), &self.arena.walls);
                same && (favour == Favour::Shooter || !covered())
            })
        };
        players(seen)
            .filter(|slot| slot.id != shooter && slot.entity.health > 0 && there(slot))
            .filter_map(|slot| {
                let far = ray_to_circle(from, along, slot.entity.position(), RADIUS)?;
                (far < wall).then_some((far, slot.id))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, id)| id)
    }

    /// What a shot meets first in the world as the shooter saw it.
    fn rewound_hit(
        &self,
        entities: &Entities<Piece>,
        past: &mut Past<Piece>,
        seen: &mut Entities<Piece>,
        tick: Tick,
        shooter: EntityId,
        view: View,
    ) -> Option<EntityId> {
        past.at(view.at, entities, seen);
        let target = self.hit(entities, seen, past.policy().favour, shooter);
        let place = |of: &Entities<Piece>, id| player(of, id).map(|player| player.position());
        let hit = target.and_then(|target| {
            let (then, now) = (place(seen, target)?, place(entities, target)?);
            Some(RewoundHit { target, then, now })
        });
        if let Some(shooter) = entities.get(shooter).and_then(|slot| slot.owner) {
            past.note(Rewound { shooter, tick, view, hit });
        }
        target
    }

    fn damage(&self, entities: &mut Entities<Piece>, shooter: EntityId, target: EntityId) {
        let Some(by) = entities.get(shooter).and_then(|slot| slot.owner) else { return };
        let Some(of) = entities.get(target).and_then(|slot| slot.owner) else { return };
        let Some(victim) = player_mut(entities, target) else { return };
        // Killed by another in the same tick.
        if victim.health == 0 {
            return;
        }
        victim.health = victim.health.saturating_sub(DAMAGE);
        let killed = victim.health == 0;
        if killed {
            victim.respawn = (RESPAWN_SECS * self.rates.tick_hz as f32) as u16;
            (victim.vx, victim.vy) = (0.0, 0.0);
        }
        if let Some(shooter) = player_mut(entities, shooter) {
            shooter.hits = (shooter.hits + 1) % 16;
        }
        if !killed {
            return;
        }
        for slot in entities.iter_mut() {
            let Piece::Score(score) = &mut slot.entity else { continue };
            if slot.owner == Some(of) {
                score.deaths = score.deaths.saturating_add(1);
                score.killer = by.0.saturating_add(1);
            }
            if slot.owner == Some(by) {
                score.frags = score.frags.saturating_add(1);
            }
        }
    }
}

/// The player that somebody plays.
fn avatar_of(entities: &Entities<Piece>, player: PlayerId) -> Option<&Player> {
    entities.owned_by(player).find_map(|slot| slot.entity.player())
}

fn player_mut(entities: &mut Entities<Piece>, id: EntityId) -> Option<&mut Player> {
    entities.get_mut(id)?.entity.player_mut()
}

impl Game for Skirmish {
    const NAME: &'static str = "skirmish";
    const VERSION: u32 = 2;
    type Input = Command;
    type Entity = Piece;
    type Memory = Scratch;
    type Bot = Bot;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { arena: Arena::new(), rates }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let newcomer = self.newcomer(&world.entities, &mut world.random);
        world.spawn(Some(player), Piece::Player(newcomer));
        world.spawn(Some(player), Piece::Score(Score::default()));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.advance(world, inputs);
    }

    fn predict(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        _ahead: Ahead<'_>,
    ) {
        if let Some(player) = player_mut(entities, own)
            && player.health > 0
        {
            movement(&self.arena, self.rates, player, command);
        }
    }

    fn looks(command: &Command) -> bool {
        command.fire
    }

    fn foretell(&self, base: &Piece, steering: &Piece, ticks: u64) -> Option<Piece> {
        let (Piece::Player(base), Piece::Player(steering)) = (base, steering) else {
            return Some(*base);
        };
        Some(Piece::Player(foretell(&self.arena, self.rates, base, steering, ticks)))
    }

    fn presentation(_kind: u8) -> Choice {
        // What is aimed at is shown where it was and rewound to; of that the bench of presentation finds this
        // the best, or as good as the best (`tests/it/presentation.rs` holds it to that).
        Choice::Hermite
    }

    fn cause(&self, predicted: &Piece, truth: &Piece, _entities: &Entities<Piece>) -> Cause {
        // Nobody pushes anybody; only a shot that kills stops somebody.
        match (predicted, truth) {
            (Piece::Player(predicted), Piece::Player(truth))
                if truth.health == 0 && predicted.health > 0 =>
            {
                Cause::Shot
            }
            _ => Cause::Unknown,
        }
    }

    fn place(&self, entity: &Piece) -> Option<Vec2> {
        entity.player().map(Player::position)
    }

    fn eye(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Eye> {
        let place = avatar_of(entities, player)?.position();
        Some(Eye { place, reach: REACH })
    }

    fn relevance(
        &self,
        entities: &Entities<Piece>,
        player: PlayerId,
        other: &Slot<Piece>,
    ) -> Relevance {
        // Scores are everybody's, and come when there is room.
        let Piece::Player(other) = &other.entity else { return Relevance::Matters(1) };
        match avatar_of(entities, player) {
            Some(viewer) => relevance(&self.arena.walls, viewer, other),
            None => Relevance::Secret,
        }
    }

    fn tables() -> &'static Tables {
        static TABLES: LazyLock<Tables> =
            LazyLock::new(|| Tables::included(include_bytes!("skirmish.tables")));
        &TABLES
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        let mut owned = entities.owned_by(player);
        owned.find(|slot| matches!(slot.entity, Piece::Player(_))).map(|slot| slot.id)
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        // Keys are held by hands: for a while nothing else is to be expected. A tenth of a second
        // for the trigger and a quarter for the feet, at 60 Hz; arbitrary.
        Command {
            right: if missed <= 15 { last.right } else { 0 },
            down: if missed <= 15 { last.down } else { 0 },
            aim: last.aim,
            fire: last.fire && missed <= 6,
        }
    }

    fn bot(
        &self,
        bot: &mut Bot,
        _tick: Tick,
        seen: &Entities<Piece>,
        player: PlayerId,
        random: &mut Random,
    ) -> Command {
        bot::think(bot, &self.arena, self.rates, seen, player, random)
    }
}

#[cfg(test)]
mod tests;

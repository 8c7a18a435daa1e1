//! Skirmish: a top-down arena shooter. Players have momentum, aim with the mouse, and carry a
//! rifle that hits at once.

pub mod arena;
mod bot;
pub mod movement;

use glam::Vec2;

use crate::game::{Entities, Game, Inputs, World};
use crate::ids::{EntityId, PlayerId};
use crate::physics::{direction, ray_to_circle, ray_to_walls};
use crate::random::Random;
use crate::record;
use crate::replicate::Field;
use crate::time::Rates;

use arena::Arena;
pub use bot::Bot;
use movement::{RADIUS, foretell, movement};

/// How far a shot goes, in metres: across the arena.
pub const RANGE: f32 = 40.0;
/// Health of a fresh player.
pub const HEALTH: u8 = 100;
/// What a hit takes: five hits kill.
const DAMAGE: u8 = 20;
/// Seconds from death to return.
const RESPAWN_SECS: f32 = 2.0;

record! {
    /// What a player commands.
    pub struct Command {
        /// -1 left, 1 right.
        pub right: i16 = Field::centred(2, 0),
        /// -1 up, 1 down.
        pub down: i16 = Field::centred(2, 0),
        /// Where to aim, in turns from the x axis (right) towards the y axis (down).
        pub aim: f32 = Field::angle(12),
        /// Whether the trigger is held.
        pub fire: bool = Field::count(1),
    }
}

/// Places in metres: 4 mm fine, within 32 m.
const PLACE: Field = Field::centred(14, 8).snap_beyond(4.0);
/// Speeds in metres a second: 8 mm/s fine, below 16 m/s.
const PACE: Field = Field::centred(12, 7);

record! {
    /// A player.
    pub struct Player {
        /// Which way it runs: as the command of the last tick that it lived through.
        pub right: i16 = Field::centred(2, 0).steering(),
        /// The same, down.
        pub down: i16 = Field::centred(2, 0).steering(),
        /// For how many ticks it has run this way; 63 and more are 63. One more a tick, at the usual
        /// 60 a second.
        pub held: u8 = Field::count(6).steering().drifting(60.0),
        /// Whether it holds the trigger.
        pub fire: bool = Field::count(1).steering(),
        /// For how many ticks it has held or left it; bounded likewise.
        pub fire_held: u8 = Field::count(6).steering().drifting(60.0),
        /// Metres right of the middle.
        pub x: f32 = PLACE,
        /// Metres below the middle.
        pub y: f32 = PLACE,
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// Direction of the rifle in turns.
        pub aim: f32 = Field::angle(12).trending(),
        /// 0 is dead.
        pub health: u8 = Field::count(7).server_only(),
        /// Shots fired so far, modulo 256: when it changes, a shot is seen.
        pub shots: u8 = Field::count(8),
        /// Ticks until the rifle can fire again. Who sees the shots can count it.
        pub cooldown: u8 = Field::count(6),
        /// Ticks until a dead player returns.
        pub respawn: u16 = Field::count(9).owner_only().server_only(),
        /// Times the player came into the world, modulo 256.
        pub spawns: u8 = Field::cut(8).server_only(),
        /// Others killed.
        pub frags: u16 = Field::count(12).server_only(),
        /// Times killed.
        pub deaths: u16 = Field::count(12).server_only(),
        /// Who killed the player last: the seat plus 1; 0 before the first death.
        pub killer: u16 = Field::count(16).server_only(),
        /// Hits landed, modulo 16: when it changes, the shooter hears of it.
        pub hits: u8 = Field::count(4).owner_only().server_only(),
    }
}

impl Player {
    /// Where it is.
    pub fn position(&self) -> Vec2 {
        Vec2::new(self.x, self.y)
    }

    /// How it moves.
    pub fn velocity(&self) -> Vec2 {
        Vec2::new(self.vx, self.vy)
    }

    /// Where its rifle points.
    pub fn facing(&self) -> Vec2 {
        direction(self.aim)
    }

    /// What it commands as long as it holds its keys and aims where it does.
    pub fn keys(&self) -> Command {
        Command { right: self.right, down: self.down, aim: self.aim, fire: self.fire }
    }

    /// Who killed it last.
    pub fn killed_by(&self) -> Option<PlayerId> {
        self.killer.checked_sub(1).map(PlayerId)
    }
}

/// The rules and the map.
#[derive(Debug)]
pub struct Skirmish {
    /// The map.
    pub arena: Arena,
    rates: Rates,
}

impl Skirmish {
    /// Puts a player where it is safest: at the start furthest from the living, chosen among a few
    /// at random.
    fn place(&self, entities: &Entities<Player>, random: &mut Random, player: &mut Player) {
        let safety = |spawn: Vec2| {
            let living = entities.iter().filter(|slot| slot.entity.health > 0);
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

    /// What a shot meets first: another living player, or none.
    fn hit(&self, entities: &Entities<Player>, shooter: EntityId) -> Option<EntityId> {
        let player = entities.get(shooter)?.entity;
        let (from, along) = (player.position(), player.facing());
        let wall = ray_to_walls(from, along, &self.arena.walls, RANGE);
        entities
            .iter()
            .filter(|slot| slot.id != shooter && slot.entity.health > 0)
            .filter_map(|slot| {
                let far = ray_to_circle(from, along, slot.entity.position(), RADIUS)?;
                (far < wall).then_some((far, slot.id))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, id)| id)
    }

    fn damage(&self, entities: &mut Entities<Player>, shooter: EntityId, target: EntityId) {
        let Some(by) = entities.get(shooter).and_then(|slot| slot.owner) else { return };
        let Some(slot) = entities.get_mut(target) else { return };
        // Killed by another in the same tick.
        if slot.entity.health == 0 {
            return;
        }
        slot.entity.health = slot.entity.health.saturating_sub(DAMAGE);
        let killed = slot.entity.health == 0;
        if killed {
            slot.entity.deaths = slot.entity.deaths.saturating_add(1);
            slot.entity.killer = by.0.saturating_add(1);
            slot.entity.respawn = (RESPAWN_SECS * self.rates.tick_hz as f32) as u16;
            (slot.entity.vx, slot.entity.vy) = (0.0, 0.0);
        }
        if let Some(slot) = entities.get_mut(shooter) {
            slot.entity.hits = (slot.entity.hits + 1) % 16;
            slot.entity.frags = slot.entity.frags.saturating_add(u16::from(killed));
        }
    }
}

impl Game for Skirmish {
    const NAME: &'static str = "skirmish";
    const VERSION: u32 = 2;
    type Input = Command;
    type Entity = Player;
    type Memory = ();
    type Bot = Bot;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { arena: Arena::new(), rates }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let mut entity = Player::default();
        self.place(&world.entities, &mut world.random, &mut entity);
        world.spawn(Some(player), entity);
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        let mut shooters = Vec::new();
        let mut returning = Vec::new();
        for slot in world.entities.iter_mut() {
            let command = slot.owner.map_or(Command::default(), |owner| inputs.get(owner));
            if slot.entity.health == 0 {
                slot.entity.respawn = slot.entity.respawn.saturating_sub(1);
                if slot.entity.respawn == 0 {
                    returning.push(slot.id);
                }
                continue;
            }
            let shots = slot.entity.shots;
            movement(&self.arena, self.rates, &mut slot.entity, &command);
            if slot.entity.shots != shots {
                shooters.push(slot.id);
            }
        }
        // All have moved; now all shots of the tick count, whoever comes first in the list.
        let targets: Vec<_> =
            shooters.iter().filter_map(|id| Some((*id, self.hit(&world.entities, *id)?))).collect();
        for (shooter, target) in targets {
            self.damage(&mut world.entities, shooter, target);
        }
        for id in returning {
            let Some(mut player) = world.entities.get(id).map(|slot| slot.entity) else { continue };
            self.place(&world.entities, &mut world.random, &mut player);
            if let Some(slot) = world.entities.get_mut(id) {
                slot.entity = player;
            }
        }
    }

    fn predict(&self, entities: &mut Entities<Player>, own: EntityId, command: &Command) {
        if let Some(slot) = entities.get_mut(own)
            && slot.entity.health > 0
        {
            movement(&self.arena, self.rates, &mut slot.entity, command);
        }
    }

    fn foretell(&self, base: &Player, steering: &Player, ticks: u64) -> Option<Player> {
        Some(foretell(&self.arena, self.rates, base, steering, ticks))
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
        seen: &Entities<Player>,
        player: PlayerId,
        random: &mut Random,
    ) -> Command {
        bot::think(bot, &self.arena, self.rates, seen, player, random)
    }
}

#[cfg(test)]
mod tests;

//! The rules' state, where players start, and the course of a round.

use std::sync::{Mutex, OnceLock};

use glam::Vec2;

use super::arena::Arena;
use super::entities::{Pickup, Piece, Player, Prop, Score, player, players, scores};
use super::props::Contacts;
use super::scratch::Scratch;
use super::shadow::Between;
use super::weapons::Weapon;
use crate::records::remove_where;
use crate::rounds::{self, Contest, Lengths, Phase};
use phaselock::game::{Entities, World};
use phaselock::ids::EntityId;
use phaselock::random::Random;
use phaselock::time::Rates;

/// Range of a shot in metres: across the arena.
pub const RANGE: f32 = 40.0;
/// Health of a new player.
pub const HEALTH: u8 = 100;
/// Seconds from death to respawn.
pub const RESPAWN_SECS: f32 = 2.0;
/// Number of frags that win a round.
pub const FRAGS: u16 = 20;
/// Lengths of a round's parts.
pub const LENGTHS: Lengths = Lengths { warm_up: 8.0, play: 300.0, results: 8.0 };
/// Range of co-predicted props, in metres: a run of half a second, plus a prop's glide.
pub(super) const CO_PREDICTION_REACH: f32 = 4.5;

/// The rules and the map.
#[derive(Debug)]
pub struct Skirmish {
    /// The map.
    pub arena: Arena,
    /// Computed when relevance is first needed, which it never is on clients.
    between: OnceLock<Between>,
    /// Scratch lists for prediction.
    pub(super) contacts: Mutex<Contacts>,
    pub(super) rates: Rates,
}

impl Skirmish {
    /// Creates the rules.
    pub(super) fn at(rates: Rates) -> Self {
        Self { arena: Arena::new(), between: OnceLock::new(), contacts: Mutex::default(), rates }
    }

    pub(super) fn between(&self) -> &Between {
        self.between.get_or_init(|| Between::new(&self.arena.walls))
    }

    /// Places a player at the start that is farthest from living players, out of a few random ones.
    fn put(&self, entities: &Entities<Piece>, random: &mut Random, player: &mut Player) {
        let safety = |spawn: Vec2| {
            let living = players(entities).filter(|slot| slot.entity.health > 0);
            let far = living.map(|slot| slot.entity.position().distance(spawn));
            // Not inside a crate.
            let mut props = entities.records::<Prop>().map(|slot| slot.entity);
            let taken = props.any(|it| it.stands() && it.position().distance(spawn) < 1.0);
            far.fold(f32::MAX, f32::min) - if taken { 1000.0 } else { 0.0 }
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
            hands: Weapon::Rifle as u8,
            rockets: Weapon::Rockets.start(),
            grenades: Weapon::Grenades.start(),
            mines: Weapon::Mines.start(),
            ..*player
        };
    }

    /// Creates a player who has just joined.
    pub fn newcomer(&self, entities: &Entities<Piece>, random: &mut Random) -> Player {
        let mut player = Player::default();
        self.put(entities, random, &mut player);
        player
    }

    /// Runs one tick of the round. When the play begins, everything is reset.
    pub(super) fn keep_round(&self, world: &mut World<Self>) {
        let World { tick, entities, .. } = &mut *world;
        let count = scores(entities).count();
        let decided = scores(entities).any(|(_, score)| score.frags >= FRAGS);
        let begun = rounds::advance(
            entities,
            *tick,
            self.rates,
            LENGTHS,
            Contest { players: count, decided },
        );
        if begun == Some(Phase::Results) {
            rounds::report(world);
        }
        if begun != Some(Phase::Play) {
            return;
        }
        let entities = &mut world.entities;
        remove_where(entities, |slot| matches!(slot.entity, Piece::Shell(_) | Piece::Mine(_)));
        let World { entities, random, memory, .. } = world;
        *memory = Scratch::default();
        for ((_, _, prop), n) in entities.records_mut::<Prop>().zip(0..) {
            *prop = self.prop(n, prop.puts);
        }
        for (_, _, pickup) in entities.records_mut::<Pickup>() {
            pickup.taken = false;
        }
        for (_, _, score) in entities.records_mut::<Score>() {
            *score = Score::default();
        }
        // Each away from those who have been placed already.
        for (_, _, player) in entities.records_mut::<Player>() {
            player.health = 0;
        }
        let all: Vec<_> = players(entities).map(|slot| slot.id).collect();
        self.put_all(entities, random, &all);
    }

    /// Respawns players, one after the other.
    pub(super) fn put_all(
        &self,
        entities: &mut Entities<Piece>,
        random: &mut Random,
        ids: &[EntityId],
    ) {
        for id in ids {
            let Some(mut player) = player(entities, *id) else { continue };
            self.put(entities, random, &mut player);
            if let Some(entity) = entities.record_mut(*id) {
                *entity = player;
            }
        }
    }

    /// Returns a prop at its start, placed once more.
    pub(super) fn prop(&self, n: usize, puts: u8) -> Prop {
        Prop { puts: (puts + 1) % 16, ..self.arena.props[n] }
    }
}

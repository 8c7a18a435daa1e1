//! The game's rules of relevance, applied to whatever is near.

use std::marker::PhantomData;

use crate::game::{Entities, Game, Relevance, Slot, World};
use crate::ids::PlayerId;
use crate::interest::{Grid, Lingering, Relevant};
use crate::limits::WEIGHT_MAX;
use crate::time::{Rates, Tick};

use super::workers::{Workers, flat_map};

/// Finds what is near to each player, once a snapshot. Its memory is used again each time.
///
/// A [`Room`](super::Room) has one; benches measure it alone.
#[derive(Debug)]
pub struct Interest<G> {
    grid: Grid,
    /// Side of the grid's cells: the range of the last viewpoint.
    cell: f32,
    everything: Vec<u16>,
    game: PhantomData<fn() -> G>,
}

impl<G> Default for Interest<G> {
    fn default() -> Self {
        Self { grid: Grid::default(), cell: 1.0, everything: Vec::new(), game: PhantomData }
    }
}

impl<G: Game> Interest<G> {
    /// Decides for each player what it is told of in the snapshot of the present world.
    pub fn update<'s>(
        &mut self,
        game: &G,
        world: &World<G>,
        workers: &dyn Workers,
        players: impl Iterator<Item = (PlayerId, &'s mut Sight)>,
    ) {
        let entities = &world.entities;
        let positions = entities.iter().map(|slot| (slot.id.index, game.position(&slot.entity)));
        self.grid.rebuild(self.cell, positions);
        self.everything.clear();
        self.everything.extend(entities.iter().map(|slot| slot.id.index));
        let (tick, grid, everything) = (world.tick, &self.grid, &self.everything);
        let mut slots = vec![None; everything.last().map_or(0, |last| usize::from(*last) + 1)];
        for slot in entities.iter() {
            slots[usize::from(slot.id.index)] = Some(slot);
        }
        let scene = Scene { game, tick, entities, slots, grid, everything };
        let update = |(player, sight): (_, &mut Sight), ranges: &mut Vec<f32>| {
            ranges.extend(scene.update(player, sight));
        };
        let ranges = flat_map(workers, players.collect(), update);
        self.cell = ranges.last().copied().unwrap_or(self.cell);
    }
}

/// A player's share of the world.
#[derive(Debug)]
pub struct Sight {
    told: Lingering,
    /// Memory for those near.
    near: Vec<u16>,
}

impl Sight {
    /// For a player who has been told of nothing.
    pub fn new(rates: Rates) -> Self {
        Self { told: Lingering::new(rates), near: Vec::new() }
    }

    /// Entities that the player is told of in the newest snapshot.
    pub fn told(&self) -> &[Relevant] {
        self.told.told()
    }
}

/// The world as every player looks at it.
#[derive(Debug)]
struct Scene<'a, G: Game> {
    game: &'a G,
    tick: Tick,
    entities: &'a Entities<G::Entity>,
    /// Entities by their indices, which are looked up for each player.
    slots: Vec<Option<&'a Slot<G::Entity>>>,
    grid: &'a Grid,
    everything: &'a Vec<u16>,
}

impl<G: Game> Scene<'_, G> {
    /// Decides what a player is told of; returns the range of its viewpoint.
    fn update(&self, player: PlayerId, sight: &mut Sight) -> Option<f32> {
        let Self { game, entities, .. } = self;
        let viewpoint = game.viewpoint(entities, player);
        let Sight { told, near } = sight;
        match &viewpoint {
            Some(view) => self.grid.near(view.position, view.range, game.wraps(), near),
            None => near.clone_from(self.everything),
        }
        // Its own entities count as near wherever they are; idle ones count as far away.
        for index in entities.owned_by(player).map(|slot| slot.id.index) {
            if let Err(at) = near.binary_search(&index) {
                near.insert(at, index);
            }
        }
        let relevance = game.relevance_to(entities, player);
        told.update(self.tick, near, |index| {
            let Some(slot) = self.slots.get(usize::from(index)).copied().flatten() else {
                return (0, Some(0));
            };
            let weight = if slot.owner == Some(player) {
                Some(WEIGHT_MAX)
            } else {
                match relevance(slot) {
                    Relevance::Secret => Some(0),
                    Relevance::Idle => None,
                    Relevance::Matters(weight) => Some(weight.clamp(1, WEIGHT_MAX)),
                }
            };
            (slot.id.generation, weight)
        });
        viewpoint.map(|view| view.range)
    }
}

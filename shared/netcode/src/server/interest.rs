//! The game's rules of relevance, applied to whatever is near.

use std::marker::PhantomData;

use crate::game::{Entities, Game, Relevance, World};
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
    /// Positions of the entities by their indices, which are looked up for each player.
    places: Vec<u16>,
    game: PhantomData<fn() -> G>,
}

/// Position of an index without an entity.
const NOWHERE: u16 = u16::MAX;

impl<G> Default for Interest<G> {
    fn default() -> Self {
        Self {
            grid: Grid::default(),
            cell: 1.0,
            everything: Vec::new(),
            places: Vec::new(),
            game: PhantomData,
        }
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
        self.places.clear();
        self.places.resize(self.everything.last().map_or(0, |it| usize::from(*it) + 1), NOWHERE);
        for (index, place) in self.everything.iter().zip(0..) {
            self.places[usize::from(*index)] = place;
        }
        let Self { grid, everything, places, .. } = &*self;
        let scene = Scene { game, tick: world.tick, entities, places, grid, everything };
        let update = |(player, sight): (_, &mut Sight), take: &mut dyn FnMut(f32)| {
            if let Some(range) = scene.update(player, sight) {
                take(range);
            }
        };
        let mut cell = self.cell;
        flat_map(workers, players, update, |range| cell = range);
        self.cell = cell;
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
    places: &'a [u16],
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
            let place = self.places.get(usize::from(index)).copied().unwrap_or(NOWHERE);
            let Some(slot) = entities.nth(usize::from(place)) else { return (0, Some(0)) };
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

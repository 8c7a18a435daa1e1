//! Applies the game's rules of relevance to the entities near each player.

use std::marker::PhantomData;

use crate::game::{Entities, Game, Relevance, World};
use crate::ids::PlayerId;
use crate::interest::{Grid, Lingering, Relevant};
use crate::limits::WEIGHT_MAX;
use crate::time::{Rates, Tick};

use super::workers::{Workers, flat_map};

/// Finds the entities near each player, once per snapshot. Reuses its memory.
///
/// A [`Room`](super::Room) has one; benchmarks measure it separately.
#[derive(Debug)]
pub struct Interest<G> {
    grid: Grid,
    /// Side length of the grid's cells: the range of the last viewpoint.
    cell: f32,
    everything: Vec<u16>,
    /// Index of each entity in the world's order, by slot index.
    places: Vec<u16>,
    game: PhantomData<fn() -> G>,
}

/// Marks a slot without an entity.
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
    /// Determines for each player which entities the snapshot of the present world contains.
    pub fn update<'s>(
        &mut self,
        game: &G,
        world: &World<G>,
        workers: &dyn Workers,
        players: impl Iterator<Item = (PlayerId, &'s mut PlayerInterest)>,
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
        let update = |(player, interest): (_, &mut PlayerInterest), take: &mut dyn FnMut(f32)| {
            if let Some(range) = scene.update(player, interest) {
                take(range);
            }
        };
        let mut cell = self.cell;
        flat_map(workers, players, update, |range| cell = range);
        self.cell = cell;
    }
}

/// The entities that one player is sent.
#[derive(Debug)]
pub struct PlayerInterest {
    lingering: Lingering,
    /// Scratch space: entities that are near.
    near: Vec<u16>,
}

impl PlayerInterest {
    /// Creates the state of a player who has been sent nothing.
    pub fn new(rates: Rates) -> Self {
        Self { lingering: Lingering::new(rates), near: Vec::new() }
    }

    /// Returns the entities that the player is sent in the newest snapshot.
    pub fn sent(&self) -> &[Relevant] {
        self.lingering.sent()
    }
}

/// The world as seen by all players.
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
    /// Determines what a player is sent. Returns the range of its viewpoint.
    fn update(&self, player: PlayerId, interest: &mut PlayerInterest) -> Option<f32> {
        let Self { game, entities, .. } = self;
        let viewpoint = game.viewpoint(entities, player);
        let PlayerInterest { lingering, near } = interest;
        match &viewpoint {
            Some(view) => self.grid.near(view.position, view.range, game.wraps(), near),
            None => near.clone_from(self.everything),
        }
        // A player's own entities always count as near; idle ones count as far away.
        for index in entities.owned_by(player).map(|slot| slot.id.index) {
            if let Err(at) = near.binary_search(&index) {
                near.insert(at, index);
            }
        }
        let relevance = game.relevance_to(entities, player);
        lingering.update(self.tick, near, |index| {
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

//! The game's rules of relevance, applied to whatever is near.

use std::marker::PhantomData;

use crate::game::{Game, Relevance, World};
use crate::ids::PlayerId;
use crate::interest::{Grid, Lingering};
use crate::limits::WEIGHT_MAX;

/// Finds what is near to each player. Its memory is used again for each snapshot.
#[derive(Debug)]
pub(super) struct Interest<G> {
    grid: Grid,
    /// Side of the grid's cells: the range of the last viewpoint.
    cell: f32,
    near: Vec<u16>,
    everything: Vec<u16>,
    game: PhantomData<fn() -> G>,
}

impl<G> Default for Interest<G> {
    fn default() -> Self {
        Self {
            grid: Grid::default(),
            cell: 1.0,
            near: Vec::new(),
            everything: Vec::new(),
            game: PhantomData,
        }
    }
}

impl<G: Game> Interest<G> {
    /// Decides for each player what it is told of in the snapshot of the present world.
    pub(super) fn update<'s>(
        &mut self,
        game: &G,
        world: &World<G>,
        players: impl Iterator<Item = (PlayerId, &'s mut Lingering)>,
    ) {
        let entities = &world.entities;
        let positions = entities.iter().map(|slot| (slot.id.index, game.position(&slot.entity)));
        self.grid.rebuild(self.cell, positions);
        self.everything.clear();
        self.everything.extend(entities.iter().map(|slot| slot.id.index));
        let near = &mut self.near;
        for (player, told) in players {
            match game.viewpoint(entities, player) {
                Some(viewpoint) => {
                    self.cell = viewpoint.range;
                    self.grid.near(viewpoint.position, viewpoint.range, game.wraps(), near);
                }
                None => near.clone_from(&self.everything),
            }
            let relevance = |index: u16| match entities.at(index) {
                Some(slot) if slot.owner == Some(player) => Relevance::Matters(WEIGHT_MAX),
                Some(slot) => game.relevance(entities, player, slot),
                None => Relevance::Secret,
            };
            // Its own entities count as near wherever they are; idle ones count as far away.
            for index in entities.owned_by(player).map(|slot| slot.id.index) {
                if let Err(at) = near.binary_search(&index) {
                    near.insert(at, index);
                }
            }
            near.retain(|index| relevance(*index) != Relevance::Idle);
            told.update(world.tick, near, |index| {
                let generation = entities.at(index).map_or(0, |slot| slot.id.generation);
                let weight = match relevance(index) {
                    Relevance::Secret => 0,
                    Relevance::Idle => 1,
                    Relevance::Matters(weight) => weight.clamp(1, WEIGHT_MAX),
                };
                (generation, weight)
            });
        }
    }
}

//! Who is told of what: the game's rules, applied to whatever is near.

use std::marker::PhantomData;

use crate::game::{Game, Relevance, World};
use crate::ids::PlayerId;
use crate::interest::{Grid, Lingering};
use crate::limits::WEIGHT_MAX;

/// Finds what is near to each player. Its memory is used again for each snapshot.
#[derive(Debug)]
pub(super) struct Interest<G> {
    grid: Grid,
    /// The side of the grid's cells: what players last saw.
    cell: f32,
    near: Vec<u16>,
    everything: Vec<u16>,
    /// Index and generation of all in the last snapshot, and in this one.
    tenants: [Vec<(u16, u8)>; 2],
    /// Slots that have another tenant than in the last snapshot.
    replaced: Vec<u16>,
    game: PhantomData<fn() -> G>,
}

impl<G> Default for Interest<G> {
    fn default() -> Self {
        Self {
            grid: Grid::default(),
            cell: 1.0,
            near: Vec::new(),
            everything: Vec::new(),
            tenants: [Vec::new(), Vec::new()],
            replaced: Vec::new(),
            game: PhantomData,
        }
    }
}

impl<G: Game> Interest<G> {
    /// Decides for each player what it is told of in the snapshot of the world as it is now.
    pub(super) fn update<'s>(
        &mut self,
        game: &G,
        world: &World<G>,
        players: impl Iterator<Item = (PlayerId, &'s mut Lingering)>,
    ) {
        let entities = &world.entities;
        let places = entities.iter().map(|slot| (slot.id.index, game.position(&slot.entity)));
        self.grid.rebuild(self.cell, places);
        self.everything.clear();
        self.everything.extend(entities.iter().map(|slot| slot.id.index));
        self.find_replaced(world);
        for (player, told) in players {
            self.replaced.iter().for_each(|index| told.forget(*index));
            let near = match game.viewpoint(entities, player) {
                Some(viewpoint) => {
                    self.cell = viewpoint.range;
                    let (grid, found) = (&self.grid, &mut self.near);
                    match game.wraps() {
                        Some(period) => {
                            grid.near_around(viewpoint.position, viewpoint.range, period, found)
                        }
                        None => grid.near(viewpoint.position, viewpoint.range, found),
                    }
                    &mut self.near
                }
                None => {
                    self.near.clone_from(&self.everything);
                    &mut self.near
                }
            };
            let relevance = |index: u16| match entities.at(index) {
                Some(slot) if slot.owner == Some(player) => Relevance::Matters(WEIGHT_MAX),
                Some(slot) => game.relevance(entities, player, slot),
                None => Relevance::Secret,
            };
            // What it owns is told wherever it is; what is idle is as good as far away.
            let owned = entities.owned_by(player).map(|slot| slot.id.index);
            for index in owned {
                if let Err(at) = near.binary_search(&index) {
                    near.insert(at, index);
                }
            }
            near.retain(|index| relevance(*index) != Relevance::Idle);
            told.update(world.tick, near, |index| match relevance(index) {
                Relevance::Secret => 0,
                Relevance::Idle => 1,
                Relevance::Matters(weight) => weight.clamp(1, WEIGHT_MAX),
            });
        }
    }
    fn find_replaced(&mut self, world: &World<G>) {
        self.tenants.swap(0, 1);
        let [before, now] = &mut self.tenants;
        now.clear();
        now.extend(world.entities.iter().map(|slot| (slot.id.index, slot.id.generation)));
        self.replaced.clear();
        let mut before = before.iter().peekable();
        for (index, generation) in now.iter() {
            while before.next_if(|(old, _)| old < index).is_some() {}
            if before.next_if(|(old, of)| old == index && of != generation).is_some() {
                self.replaced.push(*index);
            }
        }
    }
}

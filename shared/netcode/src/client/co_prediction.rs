//! Entities that the client predicts besides its own: which ones, and since which tick.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::news::News;
use crate::game::{Entities, Game};
use crate::ids::EntityId;
use crate::limits::{
    CO_PREDICTED_MAX, CO_PREDICTION_LINGER, PREDICTED_SPAWN_GRACE, PREDICTED_SPAWN_INDEX_MIN,
    PREDICTED_SPAWNS_MAX,
};
use crate::time::{Micros, Rates, Tick};

/// Co-predicted entities and predicted spawns.
#[derive(Debug)]
pub(super) struct CoPrediction {
    rates: Rates,
    /// Each with the last tick, known or predicted, in which the game wanted it co-predicted.
    co_predicted: BTreeMap<EntityId, Tick>,
    /// Each with the tick of its spawn. Kept until the server's entity comes, even after its own
    /// end.
    predicted_spawns: BTreeMap<EntityId, Tick>,
    /// Entities that were already predicted before the last [`update`](Self::update).
    settled: Vec<EntityId>,
}

/// Changes caused by a snapshot.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether the inputs since then must be replayed.
    pub(super) replay: bool,
    /// Entities that are no longer co-predicted, and still exist.
    pub(super) released: Vec<EntityId>,
    /// Co-predicted entities that no longer exist.
    pub(super) gone: Vec<EntityId>,
    /// Predicted spawns, each with the server's entity that replaces it.
    pub(super) replaced: Vec<(EntityId, EntityId)>,
}

/// Returns the number that the game gave to a predicted spawn.
fn number_of(id: EntityId) -> u16 {
    (id.index - PREDICTED_SPAWN_INDEX_MIN) + u16::from(id.generation) * PREDICTED_SPAWNS_MAX
}

impl CoPrediction {
    pub(super) fn new(rates: Rates) -> Self {
        Self {
            rates,
            co_predicted: BTreeMap::new(),
            predicted_spawns: BTreeMap::new(),
            settled: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.co_predicted.clear();
        self.predicted_spawns.clear();
        self.settled.clear();
    }

    /// Returns all ids in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = EntityId> + Clone {
        self.co_predicted.keys().chain(self.predicted_spawns.keys()).copied()
    }

    /// Returns the co-predicted entities.
    pub(super) fn co_predicted(&self) -> impl Iterator<Item = EntityId> {
        self.co_predicted.keys().copied()
    }

    /// Whether an entity was predicted before the snapshot.
    pub(super) fn was(&self, id: EntityId) -> bool {
        self.settled.contains(&id)
    }

    /// Returns the spawns predicted up to a tick whose server entity has not come yet.
    pub(super) fn awaited(&self, tick: Tick) -> impl Iterator<Item = EntityId> {
        self.predicted_spawns.iter().filter(move |(_, born)| **born <= tick).map(|(id, _)| *id)
    }

    /// Removes all predicted spawns except those to keep; replaying the inputs predicts the removed
    /// ones again.
    pub(super) fn keep_predicted_spawns(&mut self, keep: impl Fn(EntityId, Tick) -> bool) {
        self.predicted_spawns.retain(|id, born| keep(*id, *born));
    }

    /// Registers the spawns of a predicted tick, unless the server's entity already exists.
    pub(super) fn note<G: Game>(
        &mut self,
        scene: &mut Entities<G::Entity>,
        own: EntityId,
        tick: Tick,
    ) {
        let predicted_spawn =
            scene.iter().rev().map(|slot| slot.id).take_while(|id| id.is_predicted_spawn());
        let new: Vec<_> =
            predicted_spawn.filter(|id| !self.predicted_spawns.contains_key(id)).collect();
        for id in new {
            if twin::<G>(scene, own, id).is_some() {
                scene.remove(id);
            } else {
                self.predicted_spawns.insert(id, tick);
            }
        }
    }

    /// Marks an entity as wanted in a tick. Returns whether it is new.
    fn want(&mut self, id: EntityId, tick: Tick) -> bool {
        let is_full = self.co_predicted.len() >= CO_PREDICTED_MAX;
        match self.co_predicted.entry(id) {
            Entry::Occupied(mut entry) => {
                let wanted = (*entry.get()).max(tick);
                entry.insert(wanted);
                false
            }
            Entry::Vacant(_) if is_full => false,
            Entry::Vacant(entry) => {
                entry.insert(tick);
                true
            }
        }
    }

    /// Co-predicts what the player reaches by the predicted tick, without a snapshot. Returns the
    /// new entities.
    pub(super) fn reach<G: Game>(
        &mut self,
        game: &G,
        own: EntityId,
        (at, scene): (Tick, &Entities<G::Entity>),
    ) -> Vec<EntityId> {
        let others = scene.iter().filter(|slot| slot.id != own && !slot.id.is_predicted_spawn());
        let reached = others.filter(|slot| game.co_predicts(scene, own, slot));
        reached.map(|slot| slot.id).filter(|id| self.want(*id, at)).collect()
    }

    /// Handles a snapshot; `before` is the predicted present, at tick `at`.
    pub(super) fn update<G: Game>(
        &mut self,
        game: &G,
        own: EntityId,
        (at, before): (Tick, &Entities<G::Entity>),
        news: &News<'_, G>,
    ) -> Changes {
        let mut changes = Changes::default();
        self.settled.clear();
        self.settled.extend(self.co_predicted.keys().chain(self.predicted_spawns.keys()));
        let step = self.rates.step();
        let ticks = |span: Micros| (span.0 / step.0.max(1)) as u64;

        // Predicted spawns that have come, or are overdue.
        let grace = ticks(PREDICTED_SPAWN_GRACE);
        let mut kept = BTreeMap::new();
        for (id, born) in std::mem::take(&mut self.predicted_spawns) {
            if let Some(real) = twin::<G>(news.scene, own, id) {
                changes.replaced.push((id, real));
                // Not bounded: it takes the place of its predicted spawn.
                let wanted = self.co_predicted.entry(real).or_insert(at);
                *wanted = (*wanted).max(at);
                changes.replay = true;
            } else if news.tick.since(born) > grace {
                changes.replay = true;
            } else {
                kept.insert(id, born);
            }
        }
        self.predicted_spawns = kept;

        // The game decides by the predicted present (of other entities, by their newest state), and
        // by the snapshot, from which inputs are replayed: by now, the player may have passed an
        // entity that it touches first.
        for slot in news.scene.iter().filter(|slot| slot.id != own) {
            let present = before.get(slot.id).unwrap_or(slot);
            if game.co_predicts(before, own, present) {
                changes.replay |= self.want(slot.id, at);
            } else if game.co_predicts(news.scene, own, slot) {
                changes.replay |= self.want(slot.id, news.tick);
            }
        }
        let linger = ticks(CO_PREDICTION_LINGER);
        self.co_predicted.retain(|id, wanted| {
            if news.scene.get(*id).is_none() {
                // The entity no longer exists, whatever was predicted.
                changes.replay |= before.get(*id).is_some();
                changes.gone.push(*id);
                return false;
            }
            // Until all ticks in which it was wanted are known.
            let keep = *wanted >= news.tick || at.since(*wanted) <= linger;
            if !keep {
                changes.released.push(*id);
            }
            keep
        });
        changes
    }
}

/// Returns the server's entity that replaces a predicted spawn.
fn twin<G: Game>(
    scene: &Entities<G::Entity>,
    own: EntityId,
    predicted_spawn: EntityId,
) -> Option<EntityId> {
    let owner = scene.get(own)?.owner?;
    let number = number_of(predicted_spawn);
    let mut owned = scene.owned_by(owner).filter(|slot| !slot.id.is_predicted_spawn());
    owned.find(|slot| G::predicted_spawn(&slot.entity) == Some(number)).map(|slot| slot.id)
}

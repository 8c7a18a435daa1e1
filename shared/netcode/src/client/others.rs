//! Which entities are computed ahead besides the own one, and since when.

use std::collections::BTreeMap;

use super::news::News;
use crate::game::{Entities, Game};
use crate::ids::EntityId;
use crate::limits::{
    CO_PREDICTED_MAX, CO_PREDICTION_LINGER, PREDICTED_SPAWN_GRACE, PREDICTED_SPAWN_INDEX_MIN,
    PREDICTED_SPAWNS_MAX,
};
use crate::time::{Micros, Rates, Tick};

/// What is shared and what is predicted.
#[derive(Debug)]
pub(super) struct Others {
    rates: Rates,
    /// With the tick at which the game last wanted it.
    shared: BTreeMap<EntityId, Tick>,
    /// With the tick of its birth. One that has ended is remembered until the server's is heard of.
    predicted_spawn: BTreeMap<EntityId, Tick>,
    /// What was computed ahead before the last [`update`](Self::update) too.
    settled: Vec<EntityId>,
}

/// What changed with news.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether what follows must be computed anew.
    pub(super) replay: bool,
    /// What is shared no longer, and is still there.
    pub(super) released: Vec<EntityId>,
    /// What was shared and is no more.
    pub(super) gone: Vec<EntityId>,
    /// What was predicted, and is now the server's of that name.
    pub(super) replaced: Vec<(EntityId, EntityId)>,
}

/// The number by which the game knows something predicted.
fn number_of(id: EntityId) -> u16 {
    (id.index - PREDICTED_SPAWN_INDEX_MIN) + u16::from(id.generation) * PREDICTED_SPAWNS_MAX
}

impl Others {
    pub(super) fn new(rates: Rates) -> Self {
        Self {
            rates,
            shared: BTreeMap::new(),
            predicted_spawn: BTreeMap::new(),
            settled: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.shared.clear();
        self.predicted_spawn.clear();
        self.settled.clear();
    }

    /// All of them, in the order of the ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = EntityId> {
        self.shared.keys().chain(self.predicted_spawn.keys()).copied()
    }

    /// What is shared.
    pub(super) fn shared(&self) -> impl Iterator<Item = EntityId> {
        self.shared.keys().copied()
    }

    /// Whether it was computed ahead before the news.
    pub(super) fn was(&self, id: EntityId) -> bool {
        self.settled.contains(&id)
    }

    /// What was predicted by a tick, and is still waited for.
    pub(super) fn awaited(&self, tick: Tick) -> impl Iterator<Item = EntityId> {
        self.predicted_spawn.iter().filter(move |(_, born)| **born <= tick).map(|(id, _)| *id)
    }

    /// Forgets what is predicted unless it is to be kept; the rest is predicted again when the inputs are
    /// run again.
    pub(super) fn keep_predicted_spawns(&mut self, keep: impl Fn(EntityId, Tick) -> bool) {
        self.predicted_spawn.retain(|id, born| keep(*id, *born));
    }

    /// A tick was predicted: takes note of what came into the world, unless the server's is there.
    pub(super) fn note<G: Game>(
        &mut self,
        scene: &mut Entities<G::Entity>,
        own: EntityId,
        tick: Tick,
    ) {
        let predicted_spawn =
            scene.iter().rev().map(|slot| slot.id).take_while(|id| id.is_predicted_spawn());
        let new: Vec<_> =
            predicted_spawn.filter(|id| !self.predicted_spawn.contains_key(id)).collect();
        for id in new {
            if twin::<G>(scene, own, id).is_some() {
                scene.remove(id);
            } else {
                self.predicted_spawn.insert(id, tick);
            }
        }
    }

    /// The server's word of a tick came; `before` is what was predicted of the present.
    pub(super) fn update<G: Game>(
        &mut self,
        game: &G,
        own: EntityId,
        before: &Entities<G::Entity>,
        news: &News<'_, G>,
    ) -> Changes {
        let mut changes = Changes::default();
        self.settled.clear();
        self.settled.extend(self.shared.keys().chain(self.predicted_spawn.keys()));
        let ticks = |span: Micros| (span.0 / self.rates.step().0.max(1)) as u64;

        // What was predicted and has come; what has not, and should have.
        let grace = ticks(PREDICTED_SPAWN_GRACE);
        let mut kept = BTreeMap::new();
        for (id, born) in std::mem::take(&mut self.predicted_spawn) {
            if let Some(real) = twin::<G>(&news.scene, own, id) {
                changes.replaced.push((id, real));
                self.shared.insert(real, news.tick);
                changes.replay = true;
            } else if news.tick.since(born) > grace {
                changes.replay = true;
            } else {
                kept.insert(id, born);
            }
        }
        self.predicted_spawn = kept;

        // What the game wants: as predicted where it is, else as the server says.
        for slot in news.scene.iter().filter(|slot| slot.id != own) {
            let present = before.get(slot.id).unwrap_or(slot);
            if game.co_predicts(before, own, present) {
                let known = self.shared.contains_key(&slot.id);
                if known || self.shared.len() < CO_PREDICTED_MAX {
                    self.shared.insert(slot.id, news.tick);
                    changes.replay |= !known;
                }
            }
        }
        let linger = ticks(CO_PREDICTION_LINGER);
        self.shared.retain(|id, wanted| {
            if news.scene.get(*id).is_none() {
                // Gone, in whatever way it was predicted.
                changes.replay |= before.get(*id).is_some();
                changes.gone.push(*id);
                return false;
            }
            let keep = news.tick.since(*wanted) <= linger;
            if !keep {
                changes.released.push(*id);
            }
            keep
        });
        changes
    }
}

/// The server's entity that something predicted turned out to be.
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

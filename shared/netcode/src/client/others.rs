//! Which entities are computed ahead besides the own one, and since when.

use std::collections::BTreeMap;

use super::news::News;
use crate::game::{Entities, Game};
use crate::ids::EntityId;
use crate::limits::{FORESEEN_GRACE, FORESEEN_INDEX_MIN, FORESEEN_MAX, SHARED_LINGER, SHARED_MAX};
use crate::time::{Micros, Rates, Tick};

/// What is shared and what is foreseen.
#[derive(Debug)]
pub(super) struct Others {
    rates: Rates,
    /// With the tick at which the game last wanted it.
    shared: BTreeMap<EntityId, Tick>,
    /// With the tick of its birth. One that has ended is remembered until the server's is heard of.
    foreseen: BTreeMap<EntityId, Tick>,
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
    /// What was foreseen, and is now the server's of that name.
    pub(super) replaced: Vec<(EntityId, EntityId)>,
}

/// The number by which the game knows something foreseen.
fn number_of(id: EntityId) -> u16 {
    (id.index - FORESEEN_INDEX_MIN) + u16::from(id.generation) * FORESEEN_MAX
}

impl Others {
    pub(super) fn new(rates: Rates) -> Self {
        Self { rates, shared: BTreeMap::new(), foreseen: BTreeMap::new(), settled: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.shared.clear();
        self.foreseen.clear();
        self.settled.clear();
    }

    /// All of them, in the order of the ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = EntityId> {
        self.shared.keys().chain(self.foreseen.keys()).copied()
    }

    /// What is shared.
    pub(super) fn shared(&self) -> impl Iterator<Item = EntityId> {
        self.shared.keys().copied()
    }

    /// Whether it was computed ahead before the news.
    pub(super) fn was(&self, id: EntityId) -> bool {
        self.settled.contains(&id)
    }

    /// What was foreseen by a tick, and is still waited for.
    pub(super) fn awaited(&self, tick: Tick) -> impl Iterator<Item = EntityId> {
        self.foreseen.iter().filter(move |(_, born)| **born <= tick).map(|(id, _)| *id)
    }

    /// Forgets what is foreseen unless it is to be kept; the rest is foreseen again when the inputs are
    /// run again.
    pub(super) fn keep_foreseen(&mut self, keep: impl Fn(EntityId, Tick) -> bool) {
        self.foreseen.retain(|id, born| keep(*id, *born));
    }

    /// A tick was predicted: takes note of what came into the world, unless the server's is there.
    pub(super) fn note<G: Game>(
        &mut self,
        scene: &mut Entities<G::Entity>,
        own: EntityId,
        tick: Tick,
    ) {
        let foreseen = scene.iter().rev().map(|slot| slot.id).take_while(|id| id.is_foreseen());
        let new: Vec<_> = foreseen.filter(|id| !self.foreseen.contains_key(id)).collect();
        for id in new {
            if twin::<G>(scene, own, id).is_some() {
                scene.remove(id);
            } else {
                self.foreseen.insert(id, tick);
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
        self.settled.extend(self.shared.keys().chain(self.foreseen.keys()));
        let ticks = |span: Micros| (span.0 / self.rates.step().0.max(1)) as u64;

        // What was foreseen and has come; what has not, and should have.
        let grace = ticks(FORESEEN_GRACE);
        let mut kept = BTreeMap::new();
        for (id, born) in std::mem::take(&mut self.foreseen) {
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
        self.foreseen = kept;

        // What the game wants: as predicted where it is, else as the server says.
        for slot in news.scene.iter().filter(|slot| slot.id != own) {
            let present = before.get(slot.id).unwrap_or(slot);
            if game.shares(before, own, present) {
                let known = self.shared.contains_key(&slot.id);
                if known || self.shared.len() < SHARED_MAX {
                    self.shared.insert(slot.id, news.tick);
                    changes.replay |= !known;
                }
            }
        }
        let linger = ticks(SHARED_LINGER);
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

/// The server's entity that something foreseen turned out to be.
fn twin<G: Game>(
    scene: &Entities<G::Entity>,
    own: EntityId,
    foreseen: EntityId,
) -> Option<EntityId> {
    let owner = scene.get(own)?.owner?;
    let number = number_of(foreseen);
    let mut owned = scene.owned_by(owner).filter(|slot| !slot.id.is_foreseen());
    owned.find(|slot| G::foreseen(&slot.entity) == Some(number)).map(|slot| slot.id)
}

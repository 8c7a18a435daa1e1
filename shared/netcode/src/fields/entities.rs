//! The entities of a world, by slot.

use super::records::{Entity, Holds, Record};
use crate::ids::{EntityId, PlayerId};
use crate::limits::{PREDICTED_SPAWN_INDEX_MIN, PREDICTED_SPAWNS_MAX};

/// An entity in its slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot<E> {
    /// Id of the entity.
    pub id: EntityId,
    /// The player that owns it, if any. Change it with [`Entities::set_owner`] only: the list
    /// indexes entities by owner.
    pub owner: Option<PlayerId>,
    /// State of the entity.
    pub entity: E,
}

/// Entities in the order of their ids, with at most one in each slot.
///
/// An entity keeps its id for life. Its owner may change; see [`set_owner`](Self::set_owner).
#[derive(Debug, PartialEq)]
pub struct Entities<E> {
    slots: Vec<Slot<E>>,
    /// Indices of owned slots by owner, in order.
    owned: Vec<(PlayerId, u16)>,
}

impl<E> Default for Entities<E> {
    fn default() -> Self {
        Self { slots: Vec::new(), owned: Vec::new() }
    }
}

impl<E: Clone> Clone for Entities<E> {
    fn clone(&self) -> Self {
        Self { slots: self.slots.clone(), owned: self.owned.clone() }
    }

    /// Reuses the memory that is already allocated.
    fn clone_from(&mut self, others: &Self) {
        self.slots.clone_from(&others.slots);
        self.owned.clone_from(&others.owned);
    }
}

impl<E: Entity> Entities<E> {
    fn position(&self, index: u16) -> Result<usize, usize> {
        self.slots.binary_search_by_key(&index, |slot| slot.id.index)
    }

    /// Returns the number of entities.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no entities.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Iterates over all entities in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Slot<E>> + Clone {
        self.slots.iter()
    }

    /// Iterates mutably over all entities in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Slot<E>> {
        self.slots.iter_mut()
    }

    /// Returns the entity with this id.
    pub fn get(&self, id: EntityId) -> Option<&Slot<E>> {
        self.position(id.index).ok().map(|at| &self.slots[at]).filter(|slot| slot.id == id)
    }

    /// Returns the entity with this id, to change it.
    pub fn get_mut(&mut self, id: EntityId) -> Option<&mut Slot<E>> {
        self.position(id.index).ok().map(|at| &mut self.slots[at]).filter(|slot| slot.id == id)
    }

    /// Gives an entity to another player, or to none. Returns `false` if it does not exist.
    ///
    /// For clients it remains the same entity, with the same id. Its complete state is sent once,
    /// since the new owner may see other fields; from then on the new owner's client predicts it.
    pub fn set_owner(&mut self, id: EntityId, owner: Option<PlayerId>) -> bool {
        let Some(slot) = self.get(id).copied() else { return false };
        self.insert(Slot { owner, ..slot });
        true
    }

    /// Returns the entity at an index in the order of ids.
    #[inline]
    pub(crate) fn nth(&self, position: usize) -> Option<&Slot<E>> {
        self.slots.get(position)
    }

    /// Returns the entity in this slot, whatever its generation.
    pub fn at(&self, index: u16) -> Option<&Slot<E>> {
        self.position(index).ok().map(|at| &self.slots[at])
    }

    /// Returns the entity with this id if it is a record of type `R`.
    pub fn record<R>(&self, id: EntityId) -> Option<&R>
    where
        E: Holds<R>,
    {
        self.get(id)?.entity.record()
    }

    /// Returns the entity with this id, to change it, if it is a record of type `R`.
    pub fn record_mut<R>(&mut self, id: EntityId) -> Option<&mut R>
    where
        E: Holds<R>,
    {
        self.get_mut(id)?.entity.record_mut()
    }

    /// Iterates over all records of type `R`, with their ids and owners.
    pub fn records<R: Record>(&self) -> impl DoubleEndedIterator<Item = Slot<R>> + Clone
    where
        E: Holds<R>,
    {
        self.slots.iter().filter_map(|slot| {
            Some(Slot { id: slot.id, owner: slot.owner, entity: *slot.entity.record()? })
        })
    }

    /// Iterates mutably over all records of type `R`.
    pub fn records_mut<'e, R: 'e>(
        &'e mut self,
    ) -> impl Iterator<Item = (EntityId, Option<PlayerId>, &'e mut R)>
    where
        E: Holds<R>,
    {
        self.slots
            .iter_mut()
            .filter_map(|slot| Some((slot.id, slot.owner, slot.entity.record_mut()?)))
    }

    /// Iterates over the entities that a player owns.
    pub fn owned_by(&self, player: PlayerId) -> impl Iterator<Item = &Slot<E>> {
        let from = self.owned.partition_point(|(owner, _)| *owner < player);
        let indices = self.owned[from..].iter().take_while(move |(owner, _)| *owner == player);
        indices.filter_map(|(_, index)| self.at(*index))
    }

    /// Puts an entity into its slot, replacing the previous one.
    pub fn insert(&mut self, slot: Slot<E>) {
        let index = slot.id.index;
        // Most are inserted in order.
        if self.slots.last().is_none_or(|last| last.id.index < index) {
            self.slots.push(slot);
            return self.own(slot.owner, index);
        }
        let before = match self.position(index) {
            Ok(at) => std::mem::replace(&mut self.slots[at], slot).owner,
            Err(at) => {
                self.slots.insert(at, slot);
                None
            }
        };
        if before != slot.owner {
            self.disown(before, index);
            self.own(slot.owner, index);
        }
    }

    fn own(&mut self, owner: Option<PlayerId>, index: u16) {
        let Some(owner) = owner else { return };
        if self.owned.last().is_none_or(|last| *last < (owner, index)) {
            self.owned.push((owner, index));
        } else if let Err(at) = self.owned.binary_search(&(owner, index)) {
            self.owned.insert(at, (owner, index));
        }
    }

    fn disown(&mut self, owner: Option<PlayerId>, index: u16) {
        let Some(owner) = owner else { return };
        if let Ok(at) = self.owned.binary_search(&(owner, index)) {
            self.owned.remove(at);
        }
    }

    /// Inserts a predicted spawn with this number
    /// ([`Game::predicted_spawn`](crate::game::Game::predicted_spawn)), in a slot above those of
    /// the world.
    pub fn predict_spawn(&mut self, number: u16, owner: Option<PlayerId>, entity: E) -> EntityId {
        let index = PREDICTED_SPAWN_INDEX_MIN + number % PREDICTED_SPAWNS_MAX;
        let id = EntityId { index, generation: (number / PREDICTED_SPAWNS_MAX) as u8 };
        self.insert(Slot { id, owner, entity });
        id
    }

    /// Removes an entity and returns it.
    pub fn remove(&mut self, id: EntityId) -> Option<Slot<E>> {
        let at = self.position(id.index).ok().filter(|&at| self.slots[at].id == id)?;
        let slot = self.slots.remove(at);
        self.disown(slot.owner, id.index);
        Some(slot)
    }

    /// Replaces all entities with these, which must be in the order of their ids.
    pub fn refill<'e>(&mut self, slots: impl Iterator<Item = &'e Slot<E>>) {
        self.slots.clear();
        self.slots.extend(slots.copied());
        self.owned.clear();
        let owned = self.slots.iter().filter_map(|slot| Some((slot.owner?, slot.id.index)));
        self.owned.extend(owned);
        self.owned.sort_unstable();
    }

    /// Removes all entities.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.owned.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::record;

    record! {
        struct Thing {
            x: u8 = Field::count(8),
        }
    }

    #[test]
    fn who_owns_what_is_known_whatever_comes_and_goes() {
        let mut random = Random::new(4);
        let mut entities = Entities::<Thing>::default();
        for step in 0..5000 {
            let id = EntityId { index: random.below(40) as u16, generation: random.below(2) as u8 };
            let owner = Some(PlayerId(random.below(6) as u16)).filter(|_| random.chance(0.8));
            match random.below(12) {
                0..4 => entities.insert(Slot { id, owner, entity: Thing { x: step as u8 } }),
                4..6 => {
                    let is_there = entities.get(id).is_some();
                    assert_eq!(entities.set_owner(id, owner), is_there);
                    assert!(!is_there || entities.get(id).is_some_and(|it| it.owner == owner));
                }
                6..11 => {
                    entities.remove(id);
                }
                _ => {
                    let kept = entities.clone();
                    entities.refill(kept.iter().skip(random.below(3) as usize));
                }
            }
            for player in (0..7).map(PlayerId) {
                let found: Vec<_> = entities.owned_by(player).collect();
                let all = entities.iter().filter(|slot| slot.owner == Some(player));
                assert_eq!(found, all.collect::<Vec<_>>(), "step {step}");
            }
        }
    }
}

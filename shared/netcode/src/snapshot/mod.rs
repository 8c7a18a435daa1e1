//! Delta snapshots: the server's memory of the world ([`history`]), its knowledge of each client
//! ([`sender`]), encodings shared by clients ([`encodings`]), the order of entities
//! ([`priority`]), and the states that a client keeps ([`store`]).
//!
//! The server codes each entity as its difference from what is extrapolated from older states,
//! which the client acknowledged. Packets are acknowledged one by one, so any pattern of loss,
//! duplication and reordering ends in the server's state: an acknowledged state is one that the
//! client has, and all others are sent again with every snapshot that has bytes for them.
//!
//! *Invariants:*
//! - What is sent depends on what the client acknowledged, never on what it was merely sent.
//! - Nothing is sent of an entity that a client may not know. That its slot is taken shows in the
//!   indices of others.
//! - No coder has a memory from one packet to the next.

pub mod encodings;
mod frames;
pub mod history;
pub mod priority;
pub mod sender;
pub mod store;
mod track;

use crate::fields::{Entity, Packed};
use crate::game::Slot;
use crate::ids::{EntityId, PlayerId};

/// An entity's state as the wire has it, without its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Generation of the slot's tenant.
    pub generation: u8,
    /// Index into the game's kinds.
    pub kind: u8,
    /// The player who owns it; never changes during an entity's life.
    pub owner: Option<PlayerId>,
    /// Field values.
    pub packed: Packed,
}

impl State {
    /// The state of an entity in the world.
    pub fn of<E: Entity>(slot: &Slot<E>) -> Self {
        Self {
            generation: slot.id.generation,
            kind: slot.entity.kind(),
            owner: slot.owner,
            packed: slot.entity.pack(),
        }
    }

    /// The entity in the world, in the slot `index`.
    pub fn to_slot<E: Entity>(&self, index: u16) -> Slot<E> {
        Slot {
            id: EntityId { index, generation: self.generation },
            owner: self.owner,
            entity: E::unpack(self.kind, &self.packed),
        }
    }

    /// Tells whether both are states of the same entity.
    pub fn same_entity(&self, other: &Self) -> bool {
        (self.generation, self.kind, self.owner) == (other.generation, other.kind, other.owner)
    }
}

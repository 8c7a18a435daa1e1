//! Delta snapshots: what the server keeps of the world's past ([`history`]), what it knows of each
//! client and sends it ([`sender`]), how that is coded once for all clients that have the same
//! ([`encodings`]), what goes first ([`priority`]) and how much of it ([`budget`]), and what a client
//! keeps ([`store`]).
//!
//! The server codes each entity as what it has that could not be expected from older states of it,
//! which the client acknowledged. Packets are acknowledged one by one, so any pattern of loss,
//! duplication and reordering ends in the server's state: an acknowledged state is one that the client
//! has, and everything not acknowledged is sent again with every snapshot that has room.
//!
//! *Invariants:*
//! - What is sent depends on what the client acknowledged, never on what it was merely sent.
//! - Of what a client may not know nothing is sent. That its slot is taken shows in the indices of
//!   others.
//! - No coder has a memory from one packet to the next.

pub mod budget;
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

/// An entity's state as the wire knows it, apart from its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The slot's tenant.
    pub generation: u8,
    /// Index into the game's kinds.
    pub kind: u8,
    /// The player it belongs to. Never changes during an entity's life.
    pub owner: Option<PlayerId>,
    /// Its fields.
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

    /// The reverse.
    pub fn to_slot<E: Entity>(&self, index: u16) -> Slot<E> {
        Slot {
            id: EntityId { index, generation: self.generation },
            owner: self.owner,
            entity: E::unpack(self.kind, &self.packed),
        }
    }

    /// Whether the two are states of the same entity.
    pub fn same_entity(&self, other: &Self) -> bool {
        (self.generation, self.kind, self.owner) == (other.generation, other.kind, other.owner)
    }
}

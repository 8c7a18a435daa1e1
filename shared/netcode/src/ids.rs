//! Names for players and entities.

use std::fmt;

use crate::limits::PREDICTED_SPAWN_INDEX_MIN;
use serde::{Deserialize, Serialize};

/// A player's seat in the room, given by the server when the player joins. Never reused while
/// anybody in the room may still refer to it; wraps after 65,535 joins, skipping seats in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u16);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// An entity: a slot in the world and the generation of its tenant.
///
/// Slots are reused, so that the wire's gaps between them stay short. The generation (which wraps
/// after 256 tenants) tells a tenant from the one before it, and keeps what is shown from sliding
/// out of the old one's place into the new one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId {
    /// Position in the world's list, below [`limits::ENTITIES_MAX`](crate::limits::ENTITIES_MAX).
    pub index: u16,
    /// How many tenants the slot had before this one, modulo 256.
    pub generation: u8,
}

impl EntityId {
    /// Whether it is a client's own, of an entity that the server has not spawned yet.
    pub fn is_predicted_spawn(self) -> bool {
        self.index >= PREDICTED_SPAWN_INDEX_MIN
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.index, self.generation)
    }
}

//! Identifiers of players and entities.

use std::fmt;

use crate::limits::PREDICTED_SPAWN_INDEX_MIN;
use serde::{Deserialize, Serialize};

/// A player's seat in the room. Wraps after 65,535 joins, skipping seats in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u16);

impl PlayerId {
    /// A number that no player has.
    pub const NOBODY: Self = Self(u16::MAX);
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// An entity: a slot in the world and the generation of its tenant.
///
/// Slots are reused, so that the gaps between them stay short on the wire. The generation, which
/// wraps after 256 tenants, tells a tenant from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId {
    /// Position in the world's list, below [`limits::ENTITIES_MAX`](crate::limits::ENTITIES_MAX).
    pub index: u16,
    /// Number of tenants that the slot had before, modulo 256.
    pub generation: u8,
}

impl EntityId {
    /// Tells whether this is a predicted spawn's, which the server does not know yet.
    pub fn is_predicted_spawn(self) -> bool {
        self.index >= PREDICTED_SPAWN_INDEX_MIN
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.index, self.generation)
    }
}

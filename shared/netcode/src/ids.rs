//! Identifiers of players and entities.

use std::fmt;

use crate::limits::PREDICTED_SPAWN_INDEX_MIN;
use serde::{Deserialize, Serialize};

/// Id of a player in a room. Wraps after 65,535 joins, skipping ids in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u16);

impl PlayerId {
    /// An id that no player has.
    pub const NOBODY: Self = Self(u16::MAX);
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// Id of an entity: a slot in the world, and its generation.
///
/// Slots are reused, so that gaps between them stay short on the wire. The generation distinguishes
/// an entity from earlier ones in its slot. It wraps after 256 entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityId {
    /// Index of the slot, less than [`limits::ENTITIES_MAX`](crate::limits::ENTITIES_MAX).
    pub index: u16,
    /// Number of entities that the slot held before, modulo 256.
    pub generation: u8,
}

impl EntityId {
    /// Whether this is a predicted spawn, which does not exist on the server yet.
    pub fn is_predicted_spawn(self) -> bool {
        self.index >= PREDICTED_SPAWN_INDEX_MIN
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.index, self.generation)
    }
}

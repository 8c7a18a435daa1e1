//! What a packet says about one entity, and how an entity is coded.

use super::references::References;
use crate::wire::state::EntityState;

/// What a packet says about one entity.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// The difference from states that the reader has.
    Known(References, Encoding),
    /// The complete state.
    Full(EntityState),
    /// The entity no longer exists.
    Gone,
    /// The reader may no longer see it.
    Hidden,
}

impl Change {
    /// Returns the cost of the fields' own groups in 1/1024 bit.
    pub(super) fn fields_cost(&self) -> u32 {
        match self {
            Self::Known(_, encoding) => encoding.cost,
            Self::Full(_) | Self::Gone | Self::Hidden => 0,
        }
    }
}

/// Coding of an entity's state for readers with certain older states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The entity's kind.
    pub kind: u8,
    /// Sizes of its last change, and of its change over all references.
    pub activity: [u8; 2],
    /// Whether all fields are as extrapolated.
    pub extrapolated: bool,
    /// Cost of its fields in 1/1024 bit; 0 if they are as extrapolated.
    pub cost: u32,
    /// Digest of its state.
    pub digest: u32,
}

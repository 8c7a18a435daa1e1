//! A packet's word of one entity, and an entity's coding.

use super::references::References;
use crate::wire::state::EntityState;

/// A packet's word of one entity.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// Difference from states that the reader has.
    Known(References, Encoding),
    /// The whole state.
    Full(EntityState),
    /// Its end.
    Gone,
    /// The reader may not see it any more.
    Hidden,
}

impl Change {
    /// Cost of the fields' own groups in 1/1024 bit.
    pub(super) fn fields_cost(&self) -> u32 {
        match self {
            Self::Known(_, encoding) => encoding.cost,
            Self::Full(_) | Self::Gone | Self::Hidden => 0,
        }
    }
}

/// Coding of an entity's state for readers with certain older ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The entity's kind.
    pub kind: u8,
    /// Size of its recent change, and of that over all references.
    pub activity: [u8; 2],
    /// All fields are as extrapolated.
    pub extrapolated: bool,
    /// Cost of its fields in 1/1024 bit; 0 if they are as extrapolated.
    pub cost: u32,
    /// Digest of its state.
    pub digest: u32,
}

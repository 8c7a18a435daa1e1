//! Sets of kinds, and the end of a snapshot in which absence has a meaning: kinds whose absent
//! entities are all as extrapolated.

use crate::wire::cast::count32;
use crate::wire::range::Coder;

/// A set of kinds, by number. Kinds from [`KindSet::MAX`] on are never in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSet(u32);

impl KindSet {
    /// Number of kinds that fit into a set.
    pub const MAX: usize = u32::BITS as usize;
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Creates a set from a bit for each kind.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns a bit for each kind.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// Adds or removes a kind. A kind without a bit stays out.
    pub fn set(&mut self, kind: u8, is_in: bool) {
        let bit = 1_u32.checked_shl(kind.into()).unwrap_or(0);
        self.0 = if is_in { self.0 | bit } else { self.0 & !bit };
    }

    /// Returns the kinds that are in either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a kind is in the set.
    pub fn contains(self, kind: u8) -> bool {
        self.0.checked_shr(kind.into()).unwrap_or(0) & 1 == 1
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Codes the set with a bit for each of a game's `kinds`.
    pub(super) fn code<C: Coder>(self, coder: &mut C, kinds: usize) -> Self {
        Self(coder.raw(self.0, Self::bits(kinds)))
    }

    /// Returns the bits that it takes in a game with this many kinds.
    pub(super) fn bits(kinds: usize) -> u32 {
        count32(kinds.min(Self::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::KindSet;

    #[test]
    fn a_set_has_the_kinds_that_have_a_bit() {
        let mut set = KindSet::NONE;
        for kind in [0, 31, 32, 255] {
            set.set(kind, true);
            assert_eq!(set.contains(kind), usize::from(kind) < KindSet::MAX);
        }
        assert!(!set.contains(1) && !set.is_empty());
        (0..=255).for_each(|kind| set.set(kind, false));
        assert_eq!(set, KindSet::NONE);
    }
}

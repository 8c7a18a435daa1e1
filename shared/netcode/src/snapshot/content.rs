//! What a packet says about entities, kept until its fate is known.

use super::bits::Bits;
use super::priority::{Owed, Priorities};

/// What a packet says about entities.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Entities that are present.
    pub(super) there: Bits,
    /// Those present that may stand still without updates; see
    /// [`Encodings::resting`](super::encodings::Encodings).
    pub(super) resting: Vec<u16>,
    /// Entities that are gone or hidden.
    pub(super) away: Vec<u16>,
    /// Priority sums to restore if the packet is lost. Empty while everything fits into a snapshot.
    pub(super) owed: Vec<(u16, Owed)>,
}

impl Content {
    /// Fills in a packet's entities and whether each is present, with the sums to restore if they
    /// were ordered by priority.
    pub(super) fn fill(
        &mut self,
        said: impl Iterator<Item = (u16, bool)>,
        mut order: Option<&mut Priorities>,
    ) {
        for (index, is_there) in said {
            match is_there {
                true => self.there.insert(index),
                false => self.away.push(index),
            }
            if let Some(priorities) = &mut order {
                self.owed.push((index, priorities.sent(index)));
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.there.clear();
        self.resting.clear();
        self.away.clear();
        self.owed.clear();
    }
}

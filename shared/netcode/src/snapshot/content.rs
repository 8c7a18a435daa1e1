//! A packet's word of entities, until its fate is known.

use super::bits::Bits;
use super::priority::{Owed, Priorities};

/// A packet's word of entities.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Those present.
    pub(super) there: Bits,
    /// Of these, those that may rest, see [`Encodings::resting`](super::encodings::Encodings).
    pub(super) resting: Vec<u16>,
    /// Those gone or hidden.
    pub(super) away: Vec<u16>,
    /// Sums that a loss gives back. While everything fits into a snapshot nothing is owed.
    pub(super) owed: Vec<(u16, Owed)>,
}

impl Content {
    /// Takes in a packet's entities and whether each is said to be there, with what is owed for
    /// them if they have an order.
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

//! Sets of snapshots, by number.

/// Which of the last 128 snapshots: what a client has of one entity. At 30 snapshots a second four
/// seconds, at 128 one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    newest: u64,
    /// Bit `n` is the one `n` before the newest.
    bits: u128,
}

impl Frames {
    /// Adds a snapshot; one that is too old is left out.
    pub(crate) fn insert(&mut self, number: u64) {
        if self.bits == 0 {
            self.newest = number;
        }
        if number > self.newest {
            let by = number - self.newest;
            self.bits = if by < 128 { self.bits << by } else { 0 };
            self.newest = number;
        }
        let back = self.newest - number;
        if back < 128 {
            self.bits |= 1 << back;
        }
    }

    /// Whether it is there.
    pub(crate) fn contains(&self, number: u64) -> bool {
        number <= self.newest
            && self.newest - number < 128
            && self.bits >> (self.newest - number) & 1 == 1
    }

    /// The newest one.
    pub(crate) fn newest(&self) -> Option<u64> {
        (self.bits != 0).then_some(self.newest)
    }

    /// The newest one that is `number` or older.
    pub(crate) fn at_most(&self, number: u64) -> Option<u64> {
        if number >= self.newest {
            return self.newest();
        }
        let back = self.newest - number;
        if back >= 128 {
            return None;
        }
        let older = self.bits >> back;
        (older != 0).then(|| number - u64::from(older.trailing_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_the_set_of_the_last_128(numbers in prop::collection::vec(0..400_u64, 0..60), asked in 0..500_u64) {
            let mut frames = Frames::default();
            let mut set = BTreeSet::new();
            for number in numbers {
                frames.insert(number);
                set.insert(number);
                let newest = *set.last().expect("just inserted");
                set.retain(|old| newest - old < 128);
            }
            prop_assert_eq!(frames.newest(), set.last().copied());
            prop_assert_eq!(frames.contains(asked), set.contains(&asked));
            prop_assert_eq!(frames.at_most(asked), set.range(..=asked).next_back().copied());
        }
    }
}

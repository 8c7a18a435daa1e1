//! Sets of snapshots, by number.

/// A set of the last 128 snapshots, which are four seconds at 30 Hz and one at 128 Hz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    newest: u64,
    /// Bit `n` stands for the snapshot `n` before the newest.
    bits: u128,
}

impl Frames {
    /// Adds a snapshot, unless it is too old.
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

    pub(crate) fn contains(&self, number: u64) -> bool {
        number <= self.newest
            && self.newest - number < 128
            && self.bits >> (self.newest - number) & 1 == 1
    }

    pub(crate) fn newest(&self) -> Option<u64> {
        (self.bits != 0).then_some(self.newest)
    }

    /// The newest snapshot that is `number` or older.
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
        fn frames_are_the_set_of_the_last_128(numbers in prop::collection::vec(0..400_u64, 0..60), asked in 0..500_u64) {
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

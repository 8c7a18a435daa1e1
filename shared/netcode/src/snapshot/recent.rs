//! Sets of recent numbers, of snapshots or packets.

use crate::time::Tick;

/// A set of numbers that remembers the last 64: snapshots of two seconds at 30 Hz, or half a second
/// at 128 Hz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recent {
    newest: u64,
    /// Bit `n` stands for the number `n` before the newest.
    bits: u64,
}

impl Recent {
    /// Adds a number, unless it is too old.
    pub(crate) fn insert(&mut self, number: u64) {
        if self.bits == 0 {
            self.newest = number;
        }
        if number > self.newest {
            let by = number - self.newest;
            self.bits = if by < 64 { self.bits << by } else { 0 };
            self.newest = number;
        }
        let back = self.newest - number;
        if back < 64 {
            self.bits |= 1 << back;
        }
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        number <= self.newest
            && self.newest - number < 64
            && self.bits >> (self.newest - number) & 1 == 1
    }

    /// Whether a number is new, as far back as [`mask`](Self::mask) reaches.
    pub(crate) fn is_new(&self, number: u64) -> bool {
        let in_reach = |newest: u64| number > newest || newest - number <= 32;
        self.newest().is_none_or(in_reach) && !self.contains(number)
    }

    /// Returns the 32 numbers before the newest: bit `n` stands for the one `n + 1` before it.
    pub(crate) fn mask(&self) -> u32 {
        (self.bits >> 1) as u32
    }

    /// Returns the members among the 32 numbers before `number`: bit `n` stands for the one `n + 1`
    /// before it.
    pub(crate) fn before(&self, number: u64) -> u32 {
        let bits = match number.checked_sub(self.newest) {
            Some(ahead) => u32::try_from(ahead).ok().and_then(|by| self.bits.checked_shl(by)),
            None => {
                u32::try_from(self.newest - number).ok().and_then(|by| self.bits.checked_shr(by))
            }
        };
        (bits.unwrap_or(0) >> 1) as u32
    }

    /// Returns the number with these low bits that is nearest to the newest.
    pub(crate) fn widen(&self, low: u16) -> u64 {
        Tick::widen(low, Tick(self.newest().unwrap_or(u64::from(low)))).0
    }

    pub(crate) fn newest(&self) -> Option<u64> {
        (self.bits != 0).then_some(self.newest)
    }

    /// Returns the members greater than `number`, newest first.
    pub(crate) fn after(self, number: u64) -> impl Iterator<Item = u64> {
        let mut left = self.bits;
        std::iter::from_fn(move || {
            let back = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(self.newest - u64::from(back))
        })
        .take_while(move |member| *member > number)
    }

    /// Returns the newest member that is at most `number`.
    pub(crate) fn at_most(&self, number: u64) -> Option<u64> {
        if number >= self.newest {
            return self.newest();
        }
        let back = self.newest - number;
        if back >= 64 {
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

    #[test]
    fn numbers_are_new_once_in_any_order() {
        let mut arrivals = Recent::default();
        for seq in [5, 3, 4, 40, 9, 39, 8, 100] {
            assert!(arrivals.is_new(seq), "{seq}");
            arrivals.insert(seq);
            assert!(!arrivals.is_new(seq), "{seq}");
        }
        assert!(!arrivals.is_new(5), "out of reach");
        assert_eq!((arrivals.newest(), arrivals.mask()), (Some(100), 0));
        let mut arrivals = Recent::default();
        arrivals.insert(10);
        arrivals.insert(42);
        assert_eq!(arrivals.mask(), 1 << 31, "the edge of the mask");

        let mut arrivals = Recent::default();
        arrivals.insert(65_536);
        assert_eq!(arrivals.widen(65_535), 65_535);
    }

    proptest! {
        #[test]
        fn recent_numbers_are_the_set_of_the_last_64(
            numbers in prop::collection::vec(0..400_u64, 0..60), asked in 0..500_u64,
        ) {
            let mut arrivals = Recent::default();
            let mut set = BTreeSet::new();
            for number in numbers {
                arrivals.insert(number);
                set.insert(number);
                let newest = *set.last().expect("just inserted");
                set.retain(|old| newest - old < 64);
            }
            prop_assert_eq!(arrivals.newest(), set.last().copied());
            prop_assert_eq!(arrivals.contains(asked), set.contains(&asked));
            prop_assert_eq!(arrivals.at_most(asked), set.range(..=asked).next_back().copied());
            let before = (0..32).filter(|bit| set.contains(&(asked.wrapping_sub(bit + 1))));
            prop_assert_eq!(arrivals.before(asked), before.fold(0, |mask, bit| mask | 1 << bit));
        }
    }
}

//! Sets of entities, with one bit per index.

/// Number of bits in a word.
const WORD: usize = u64::BITS as usize;

/// A set of entity indices. It uses memory for the words from the first to the last one with a
/// member, and keeps it when cleared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    /// Position of the first word.
    first: usize,
    words: Vec<u64>,
}

impl Bits {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    /// Returns the word at a position.
    #[inline]
    fn word(&self, at: usize) -> u64 {
        at.checked_sub(self.first).and_then(|at| self.words.get(at)).copied().unwrap_or(0)
    }

    /// Returns the position after the last word.
    fn end(&self) -> usize {
        self.first + self.words.len()
    }

    #[inline]
    fn word_mut(&mut self, at: usize) -> &mut u64 {
        if self.words.is_empty() {
            self.first = at;
        }
        if at < self.first {
            let missing = self.first - at;
            self.words.splice(..0, std::iter::repeat_n(0, missing));
            self.first = at;
        }
        let at = at - self.first;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        &mut self.words[at]
    }

    #[inline]
    pub(crate) fn insert(&mut self, index: u16) {
        let index = usize::from(index);
        *self.word_mut(index / WORD) |= 1 << (index % WORD);
    }

    pub(crate) fn remove(&mut self, index: u16) {
        let index = usize::from(index);
        let at = (index / WORD).checked_sub(self.first);
        if let Some(word) = at.and_then(|at| self.words.get_mut(at)) {
            *word &= !(1 << (index % WORD));
        }
    }

    #[inline]
    pub(crate) fn contains(&self, index: u16) -> bool {
        let index = usize::from(index);
        self.word(index / WORD) >> (index % WORD) & 1 == 1
    }

    /// Returns the number of members.
    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds all members of another set.
    pub(crate) fn add(&mut self, other: &Self) {
        if other.words.is_empty() {
            return;
        }
        if self.words.is_empty() {
            self.first = other.first;
            return self.words.clone_from(&other.words);
        }
        // Extends the words at both ends.
        self.word_mut(other.first);
        self.word_mut(other.end() - 1);
        let words = &mut self.words[other.first - self.first..];
        words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Copies another set.
    pub(crate) fn set(&mut self, other: &Self) {
        self.clear();
        self.add(other);
    }

    /// Removes all indices that are not in another set.
    pub(crate) fn keep(&mut self, other: &Self) {
        for (at, word) in (self.first..).zip(&mut self.words) {
            *word &= other.word(at);
        }
    }

    /// Removes all members of another set.
    pub(crate) fn subtract(&mut self, other: &Self) {
        for (at, word) in (self.first..).zip(&mut self.words) {
            *word &= !other.word(at);
        }
    }

    /// Iterates over the members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> {
        (self.first..).zip(&self.words).flat_map(|(at, word)| members(at, *word))
    }

    /// Iterates over the members in ascending order from `start` on, and then over those before.
    pub(crate) fn iter_from(&self, start: u16) -> impl Iterator<Item = u16> {
        let (at, before) = (usize::from(start) / WORD, (1 << (usize::from(start) % WORD)) - 1);
        let split = at.saturating_sub(self.first).min(self.words.len());
        let (low, high) = self.words.split_at(split);
        let masked = move |position: usize, word: u64, mask: u64| {
            members(position, if position == at { word & mask } else { word })
        };
        let from = (self.first + split..).zip(high);
        let until = (self.first..).zip(low.iter().chain(high.first()));
        // The start's word is visited at both ends; a later one is not repeated.
        let until = until.take_while(move |(position, _)| *position <= at);
        from.flat_map(move |(position, word)| masked(position, *word, !before))
            .chain(until.flat_map(move |(position, word)| masked(position, *word, before)))
    }
}

/// Returns the indices of the bits set in the word at a position.
#[inline]
fn members(at: usize, word: u64) -> impl Iterator<Item = u16> {
    let mut left = word;
    std::iter::from_fn(move || {
        let bit = (left != 0).then_some(left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some((at * WORD + bit) as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn bits(indices: &BTreeSet<u16>, order: &[u16]) -> Bits {
        let mut bits = Bits::default();
        order.iter().filter(|index| indices.contains(index)).for_each(|index| bits.insert(*index));
        bits
    }

    proptest! {
        #[test]
        fn bits_are_sets(
            some in prop::collection::vec(0..700_u16, 0..90),
            others in prop::collection::vec(0..700_u16, 0..90),
            start in 0..800_u16,
        ) {
            let [one, two] = [&some, &others].map(|it| it.iter().copied().collect::<BTreeSet<_>>());
            let list = |bits: &Bits| bits.iter().collect::<BTreeSet<_>>();
            let (mut a, b) = (bits(&one, &some), bits(&two, &others));
            prop_assert_eq!(&list(&a), &one);
            prop_assert_eq!(a.count(), one.len());
            let around: Vec<_> = one.range(start..).chain(one.range(..start)).copied().collect();
            prop_assert_eq!(a.iter_from(start).collect::<Vec<_>>(), around);
            prop_assert_eq!(a.contains(start), one.contains(&start));
            let mut kept = a.clone();
            kept.keep(&b);
            prop_assert_eq!(list(&kept), one.intersection(&two).copied().collect());
            let mut less = a.clone();
            less.subtract(&b);
            prop_assert_eq!(list(&less), one.difference(&two).copied().collect());
            a.add(&b);
            prop_assert_eq!(list(&a), one.union(&two).copied().collect());
            a.remove(start);
            prop_assert!(!a.contains(start));
        }
    }
}

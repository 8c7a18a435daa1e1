//! Encodings by the references that they are made from.
//!
//! A client's references for most entities are those of its packet. For an entity that it has seen
//! only recently, it has the newest few of them, so each row of references begins like those of
//! other clients. A row or its beginning is a [`Strand`], with the encodings of all entities from
//! exactly these references.

#![expect(clippy::disallowed_types, reason = "nothing depends on the order of the maps")]
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};

use super::bits::Bits;
use super::history::{History, WorldFrame};
use crate::limits::{BASELINE_AGE_TICKS_MAX, REFERENCES_MAX};
use crate::wire::snapshot::References;

/// Hasher of keys, which only the server makes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The odd number nearest to 2^64 divided by the golden ratio (Knuth, vol. 3, 6.4).
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// Returns the age in ticks of an older frame, if it can be a baseline.
fn age(newest: &WorldFrame, then: &WorldFrame) -> Option<u8> {
    let age = newest.tick.since(then.tick);
    (1..=BASELINE_AGE_TICKS_MAX).contains(&age).then_some(age as u8)
}

/// References, and the numbers of their frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReferenceSet {
    pub(crate) references: References,
    /// Numbers of the frames, newest first.
    numbers: [u64; REFERENCES_MAX],
    len: usize,
}

impl ReferenceSet {
    /// Adds a frame, older than those before. Returns `false` if it is too old.
    pub(crate) fn push(&mut self, newest: &WorldFrame, then: &WorldFrame) -> bool {
        let Some(age) = age(newest, then) else { return false };
        if self.len < REFERENCES_MAX {
            self.references.push(age);
            self.numbers[self.len] = then.number;
            self.len += 1;
        }
        true
    }

    /// Returns the numbers of the frames, newest first.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.numbers.into_iter().take(self.len)
    }

    /// Returns the number of references.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the newest `count` of them.
    pub(super) fn first(&self, count: usize) -> Self {
        let len = self.len.min(count);
        Self { references: self.references.first(len), len, ..*self }
    }
}

/// Marks an encoding for which there is no space.
pub(super) const NO_ROOM: u32 = u32::MAX - 1;

/// Position of a strand among those of the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrandId(u32);

/// Encodings from one set of references.
#[derive(Debug, Default)]
pub(super) struct Strand {
    pub(super) references: ReferenceSet,
    /// The strand with only the newest of these references, one or more fewer.
    pub(super) shorter: Option<StrandId>,
    /// Entities that are present in all its frames and in the newest one.
    pub(super) there: Bits,
    /// Place of an encoding plus one, by index; 0 for none.
    places: Vec<AtomicU32>,
}

impl Strand {
    /// Returns the place that was [set](Self::set_place), if it was.
    #[inline]
    pub(super) fn place(&self, index: u16) -> Option<u32> {
        self.places.get(usize::from(index))?.load(Ordering::Acquire).checked_sub(1)
    }

    /// Sets the place of an encoding that exists by now, or [`NO_ROOM`].
    pub(super) fn set_place(&self, index: u16, place: u32) {
        if let Some(slot) = self.places.get(usize::from(index)) {
            slot.store(place + 1, Ordering::Release);
        }
    }
}

/// The maximum number of strands. Clients with losses have their own; beyond this number their
/// encodings are shared by a map. Arbitrary.
const STRANDS_MAX: usize = 256;
/// Numbers of references in strands that do not have all of a packet's: each makes an encoding of
/// its own. Chosen by experiment: three or four of five cost time and save no bytes.
const LENGTHS: [usize; 2] = [1, 2];

/// The strands of one snapshot. Memory is reused for the next one.
#[derive(Debug, Default)]
pub(super) struct Strands {
    /// All strands; those in use come first.
    all: Vec<Strand>,
    used: usize,
    by_references: Map<u64, StrandId>,
    /// Entities that appeared so recently that a reference may be older, with the numbers of their
    /// first frames, newest first.
    young: Vec<(u64, u16)>,
}

impl Strands {
    /// Discards the strands of the previous snapshot.
    pub(super) fn begin(&mut self, history: &History, frame: &WorldFrame) {
        self.by_references.clear();
        self.used = 0;
        let first = history.first().unwrap_or(0);
        self.young.clear();
        let born = frame.iter().map(|(index, _)| (history.since(index), index));
        self.young.extend(born.filter(|(since, _)| *since > first));
        self.young.sort_unstable_by(|a, b| b.cmp(a));
    }

    pub(super) fn get(&self, id: StrandId) -> &Strand {
        &self.all[id.0 as usize]
    }

    /// Returns the strand with all of these references, if there is space for it. The newest frame
    /// has `present`.
    pub(super) fn find(
        &mut self,
        frame: &WorldFrame,
        present: &Bits,
        references: &ReferenceSet,
    ) -> Option<StrandId> {
        let key = references.references.key();
        if let Some(id) = self.by_references.get(&key) {
            return Some(*id);
        }
        let last = references.len.checked_sub(1)?;
        let shorter = match LENGTHS.into_iter().rfind(|len| *len < references.len) {
            Some(len) => Some(self.find(frame, present, &references.first(len))?),
            None => None,
        };
        if self.used == STRANDS_MAX {
            return None;
        }
        if self.all.len() == self.used {
            self.all.push(Strand::default());
        }
        let oldest = references.numbers[last];
        let strand = &mut self.all[self.used];
        (strand.references, strand.shorter) = (*references, shorter);
        strand.there.set(present);
        let later = self.young.iter().take_while(|(since, _)| *since > oldest);
        later.for_each(|(_, index)| strand.there.remove(*index));
        strand.places.clear();
        strand.places.resize_with(frame.len(), AtomicU32::default);
        let id = StrandId(self.used as u32);
        self.used += 1;
        self.by_references.insert(key, id);
        Some(id)
    }

    /// Returns a strand and its shorter ones, longest first.
    pub(super) fn and_shorter(&self, id: StrandId) -> impl Iterator<Item = &Strand> {
        std::iter::successors(Some(self.get(id)), |strand| Some(self.get(strand.shorter?)))
    }
}

//! Encodings of the newest snapshot's entities, shared by all clients with the same older states.
//!
//! An encoding depends on an entity's state, its references, and whether the reader owns it. Its
//! decisions are kept with their likelihoods; each client's packet is one pass of the range coder
//! over them.

#![expect(clippy::disallowed_types, reason = "nothing depends on the order of the map")]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::EntityState;
use super::history::{Frame, History};
use crate::fields::Entity;
use crate::game::Game;
use crate::limits::BASELINE_AGE_TICKS_MAX;
use crate::wire::extrapolation::ReferenceStates;
use crate::wire::fields::without_hidden;
use crate::wire::range::{DecisionRecorder, Symbol};
use crate::wire::snapshot::{Encoding, References, digest};
use crate::wire::state::Codec;

/// Index, references and ownership in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key(u64);

impl Key {
    fn new(index: u16, references: References, own: bool) -> Self {
        // 40 bits of ages, 16 of index, 1.
        Self(references.key() << 17 | u64::from(index) << 1 | u64::from(own))
    }
}

/// Hasher of keys, which only the server makes.
#[derive(Clone, Copy, Debug, Default)]
struct Spread(u64);

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

/// The newest snapshot and the data that encodings of it depend on.
#[derive(Debug)]
pub(crate) struct Source<'a, G> {
    pub(crate) game: &'a G,
    pub(crate) history: &'a History,
    pub(crate) frame: &'a Frame,
}

impl<G> Source<'_, G> {
    /// Age in ticks of an older frame, if it may be a baseline.
    pub(crate) fn age(&self, then: &Frame) -> Option<u8> {
        let age = self.frame.tick.since(then.tick);
        (1..=BASELINE_AGE_TICKS_MAX).contains(&age).then_some(age as u8)
    }
}

/// An encoding, and the range of its decisions in [`Encodings::symbols`].
pub(crate) type Placed = (Encoding, (usize, usize));

/// The encodings of one snapshot. The memory is used again for the next one.
#[derive(Debug)]
pub struct Encodings<G> {
    codec: Codec<G>,
    /// Number of the snapshot.
    frame: u64,
    kept: HashMap<Key, Placed, BuildHasherDefault<Spread>>,
    symbols: Vec<Symbol>,
    hits: u64,
    misses: u64,
}

impl<G: Game> Encodings<G> {
    /// No encodings yet.
    pub fn new(codec: Codec<G>) -> Self {
        Self {
            codec,
            frame: u64::MAX,
            kept: HashMap::default(),
            symbols: Vec::new(),
            hits: 0,
            misses: 0,
        }
    }

    /// The codec that makes them.
    pub fn codec(&self) -> &Codec<G> {
        &self.codec
    }

    /// Requests so far that an existing encoding served, and those that made a new one.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    /// Forgets the encodings of another snapshot.
    pub(crate) fn begin(&mut self, frame: &Frame) {
        if self.frame != frame.number {
            self.frame = frame.number;
            self.kept.clear();
            self.symbols.clear();
        }
    }

    /// The decisions of an encoding.
    pub(crate) fn symbols(&self, (from, to): (usize, usize)) -> &[Symbol] {
        &self.symbols[from..to]
    }

    /// The encoding of an entity for a client that has the `references`, all of the same entity.
    pub(crate) fn get(
        &mut self,
        source: &Source<'_, G>,
        index: u16,
        references: References,
        own: bool,
    ) -> Option<Placed> {
        let key = Key::new(index, references, own);
        if let Some(kept) = self.kept.get(&key) {
            self.hits += 1;
            return Some(*kept);
        }
        let Source { game, history, frame } = source;
        let state = frame.get(index)?;
        let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
        let mut past = ReferenceStates::default();
        for age in references.iter() {
            let then = history.at(frame.tick.minus(u64::from(age)))?.get(index)?;
            past.push(age, &without_hidden(fields, own, &then.packed));
        }
        if past.len == 0 {
            return None;
        }
        self.misses += 1;
        let mut shown =
            EntityState { packed: without_hidden(fields, own, &state.packed), ..*state };
        let activity = past.activity(fields);
        let from = self.symbols.len();
        let mut recorder = DecisionRecorder::new(self.codec.layout().levels(), &mut self.symbols);
        let packed = &mut shown.packed;
        let extrapolated = self.codec.code(game, &mut recorder, state.kind, own, &past, packed);
        let mut cost = recorder.cost;
        if extrapolated {
            self.symbols.truncate(from);
            cost = 0;
        }
        let digest = digest::<G::Entity>(index, Some(&shown));
        let encoding = Encoding { kind: state.kind, activity, extrapolated, cost, digest };
        let placed = (encoding, (from, self.symbols.len()));
        self.kept.insert(key, placed);
        Some(placed)
    }
}

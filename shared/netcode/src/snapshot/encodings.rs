//! Encodings of the newest snapshot's entities, made once for all clients that have the same older
//! states.
//!
//! An encoding depends on an entity's state, on the references that it is coded from, and on whether
//! the reader owns it, and on nothing else that differs between clients. What is shared are its
//! decisions with their likelihoods; each client's packet then is one pass of the range coder over
//! them, whatever else is in it.

#![expect(clippy::disallowed_types, reason = "nothing depends on the order of the map")]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::State;
use super::history::{Frame, History};
use crate::fields::Entity;
use crate::game::Game;
use crate::wire::extrapolation::Past;
use crate::wire::fields::without_hidden;
use crate::wire::range::{Recorder, Symbol};
use crate::wire::snapshot::{Encoding, References, digest};
use crate::wire::state::Codec;

/// Index, references and whether the reader is the owner, in one number that is well spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key(u64);

impl Key {
    fn new(index: u16, references: References, own: bool) -> Self {
        // 40 bits of ages, 16 of index, 1.
        Self(references.key() << 17 | u64::from(index) << 1 | u64::from(own))
    }
}

/// Multiplies: keys are no secret, and nobody but the server makes them.
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

#[derive(Clone, Copy, Debug)]
struct Kept {
    encoding: Encoding,
    from: usize,
    to: usize,
}

/// The encodings. Its memory grows to what one snapshot takes and is used again for the next.
#[derive(Debug)]
pub struct Encodings<G> {
    codec: Codec<G>,
    /// The number of the snapshot that they are of.
    frame: u64,
    kept: HashMap<Key, Kept, BuildHasherDefault<Spread>>,
    symbols: Vec<Symbol>,
    /// Whether they are kept; without, each is made anew, to measure what sharing is worth.
    shared: bool,
    asked: u64,
    made: u64,
}

impl<G: Game> Encodings<G> {
    /// None yet.
    pub fn new(codec: Codec<G>) -> Self {
        Self {
            codec,
            frame: u64::MAX,
            kept: HashMap::default(),
            symbols: Vec::new(),
            shared: true,
            asked: 0,
            made: 0,
        }
    }

    /// The same, but nothing is shared: for measuring.
    pub fn unshared(codec: Codec<G>) -> Self {
        Self { shared: false, ..Self::new(codec) }
    }

    /// What they are made with.
    pub fn codec(&self) -> &Codec<G> {
        &self.codec
    }

    /// How many were asked for and how many had to be made, so far.
    pub fn asked_and_made(&self) -> (u64, u64) {
        (self.asked, self.made)
    }

    /// From here on it is about the newest snapshot.
    pub(crate) fn begin(&mut self, frame: &Frame) {
        if self.frame != frame.number || !self.shared {
            self.frame = frame.number;
            self.kept.clear();
            self.symbols.clear();
        }
    }

    /// The decisions of an encoding.
    pub(crate) fn symbols(&self, range: (usize, usize)) -> &[Symbol] {
        &self.symbols[range.0..range.1]
    }

    /// How an entity of the newest snapshot is coded for one who has the `references`, which are all of
    /// the same entity, and where its decisions are.
    pub(crate) fn get(
        &mut self,
        game: &G,
        history: &History,
        frame: &Frame,
        index: u16,
        references: References,
        own: bool,
    ) -> Option<(Encoding, (usize, usize))> {
        self.asked += 1;
        let key = Key::new(index, references, own);
        if self.shared
            && let Some(kept) = self.kept.get(&key)
        {
            return Some((kept.encoding, (kept.from, kept.to)));
        }
        let state = frame.get(index)?;
        let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
        let mut past = Past::default();
        for age in references.iter() {
            let then = history.at(frame.tick.minus(u64::from(age)))?.get(index)?;
            past.push(age, &without_hidden(fields, own, &then.packed));
        }
        if past.len == 0 {
            return None;
        }
        self.made += 1;
        let mut shown = State { packed: without_hidden(fields, own, &state.packed), ..*state };
        let activity = past.activity(fields);
        let from = self.symbols.len();
        let mut recorder = Recorder::new(self.codec.layout().levels(), &mut self.symbols);
        let packed = &mut shown.packed;
        let extrapolated = self.codec.code(game, &mut recorder, state.kind, own, &past, packed);
        let mut cost = recorder.cost;
        if extrapolated {
            self.symbols.truncate(from);
            cost = 0;
        }
        let digest = digest(index, Some(&shown));
        let encoding = Encoding { kind: state.kind, activity, extrapolated, cost, digest };
        let to = self.symbols.len();
        if self.shared {
            self.kept.insert(key, Kept { encoding, from, to });
        }
        Some((encoding, (from, to)))
    }
}

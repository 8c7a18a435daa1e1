//! Encodings of the newest snapshot's entities, shared by all clients with the same older states.
//!
//! An encoding depends on an entity's state, its references, and whether the reader owns it. Most
//! clients have the same few *sets* of references, and for each set there is a table
//! by index. An encoding is made when the first client needs it, on whichever thread that is, and
//! kept as groups of decisions, which each client's packet takes in as they are. An extrapolation
//! depends on the baseline alone and serves every set with that baseline.

#![expect(clippy::disallowed_types, reason = "nothing depends on the order of the maps")]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::bits::Bits;
use super::history::{Frame, History, Source};
use super::silence::Silence;
use crate::fields::{Entity, Packed};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{BASELINE_AGE_TICKS_MAX, FIELDS_MAX};
use crate::motion::send_rule::SendRule;
use crate::wire::extrapolation::{REFERENCES_MAX, ReferenceStates};
use crate::wire::fields::without_hidden;
use crate::wire::range::{Coder, Group, Recorder};
use crate::wire::snapshot::{Encoding, Heads, References, digest};
use crate::wire::state::{Codec, Extrapolations};

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

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// Age in ticks of an older frame, if it may be a baseline.
fn age(newest: &Frame, then: &Frame) -> Option<u8> {
    let age = newest.tick.since(then.tick);
    (1..=BASELINE_AGE_TICKS_MAX).contains(&age).then_some(age as u8)
}

/// References of most entities in a packet, and the frames that they are of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReferenceSet {
    pub(crate) references: References,
    /// Numbers of the frames, newest first.
    numbers: [u64; REFERENCES_MAX],
    len: usize,
}

impl ReferenceSet {
    /// Adds a frame, older than those before. False if it is too old.
    pub(crate) fn push(&mut self, newest: &Frame, then: &Frame) -> bool {
        let Some(age) = age(newest, then) else { return false };
        if self.len < REFERENCES_MAX {
            self.references.push(age);
            self.numbers[self.len] = then.number;
            self.len += 1;
        }
        true
    }

    /// Numbers of the frames, newest first.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.numbers.into_iter().take(self.len)
    }
}

/// An entity's coding for readers who have certain older states.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    pub(crate) encoding: Encoding,
    groups: Groups,
    /// Beginnings, up to the fields, of one with the packet's references.
    pub(crate) heads: Heads,
}

impl Encoded {
    /// The fields' groups of decisions.
    pub(crate) fn groups(&self) -> &[Group] {
        match &self.groups {
            Groups::Few(count, few) => &few[..usize::from(*count)],
            Groups::Many(many) => many,
        }
    }
}

/// Groups, few of them in place.
#[derive(Clone, Debug)]
enum Groups {
    Few(u8, [Group; 8]),
    Many(Box<[Group]>),
}

impl Groups {
    fn new(groups: &[Group]) -> Self {
        let mut few = [Group::default(); 8];
        match few.get_mut(..groups.len()) {
            Some(place) => {
                place.copy_from_slice(groups);
                Self::Few(groups.len() as u8, few)
            }
            None => Self::Many(groups.into()),
        }
    }
}

/// Encodings by one set of references.
#[derive(Debug, Default)]
struct Set {
    references: ReferenceSet,
    /// Entities that are there in all its frames and in the newest one.
    there: Bits,
    /// Position of its baseline among the bases.
    base: usize,
    table: Vec<OnceLock<Encoded>>,
}

/// Extrapolations from one baseline.
#[derive(Debug, Default)]
struct Base {
    number: u64,
    table: Vec<OnceLock<Extrapolations>>,
}

/// Position of a set of references among those of the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetId(u32);

/// Sets of references in one snapshot that have a table. Clients with losses have sets of their
/// own; beyond so many they share by a map. Arbitrary.
const SETS_MAX: usize = 48;
/// Parts of the map, so that threads seldom wait for each other. Arbitrary.
const SHARDS: usize = 32;

/// The encodings of one snapshot. The memory is used again for the next one.
#[derive(Debug)]
pub struct Encodings<G> {
    codec: Codec<G>,
    /// Number of the snapshot.
    frame: u64,
    /// Its entities, ...
    there: Bits,
    /// ... those that may rest while they do not change, ...
    resting: Bits,
    /// ... and those of which their owners alone see all, by owners.
    private: Vec<(PlayerId, u16)>,
    /// Those in use come first.
    sets: Vec<Set>,
    used: usize,
    by_references: Map<u64, SetId>,
    bases: Vec<Base>,
    bases_used: usize,
    others: Vec<Mutex<Map<Key, Encoded>>>,
    made: AtomicU64,
    silence: Silence,
}

impl<G: Game> Encodings<G> {
    /// No encodings yet.
    pub fn new(codec: Codec<G>) -> Self {
        Self {
            silence: Silence::new(&codec),
            codec,
            frame: u64::MAX,
            there: Bits::default(),
            resting: Bits::default(),
            private: Vec::new(),
            sets: Vec::new(),
            used: 0,
            by_references: HashMap::default(),
            bases: Vec::new(),
            bases_used: 0,
            others: (0..SHARDS).map(|_| Mutex::default()).collect(),
            made: AtomicU64::new(0),
        }
    }

    /// The codec that makes them.
    pub fn codec(&self) -> &Codec<G> {
        &self.codec
    }

    /// Sends a kind, an index into [`Entity::KINDS`], by another rule from now on. With plain
    /// coding everything stays in every snapshot.
    pub fn set_rule(&mut self, kind: u8, rule: SendRule) {
        self.silence.set(&self.codec, kind, rule);
    }

    /// The rule by which a kind is sent.
    pub fn rule(&self, kind: u8) -> SendRule {
        self.silence.rule(kind)
    }

    pub(super) fn silence(&self) -> &Silence {
        &self.silence
    }

    /// Number of encodings made so far.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// The newest snapshot's entities.
    pub(super) fn there(&self) -> &Bits {
        &self.there
    }

    /// Those that may rest: they stay as they are while nothing is sent of them.
    pub(super) fn resting(&self) -> &Bits {
        &self.resting
    }

    /// Those of which their owner, this player, sees more than others do.
    pub(super) fn private(&self, owner: PlayerId) -> impl Iterator<Item = u16> {
        let from = self.private.partition_point(|(player, _)| *player < owner);
        let all = self.private[from..].iter().take_while(move |(player, _)| *player == owner);
        all.map(|(_, index)| *index)
    }

    /// Entities that are there in all frames of a set and in the newest one.
    pub(super) fn there_in(&self, set: SetId) -> &Bits {
        &self.sets[set.0 as usize].there
    }

    /// Forgets the encodings of another snapshot.
    pub(crate) fn begin(&mut self, frame: &Frame) {
        if self.frame == frame.number {
            return;
        }
        self.frame = frame.number;
        self.silence.begin(frame);
        self.there.clear();
        self.resting.clear();
        self.private.clear();
        for (index, state) in frame.iter() {
            self.there.insert(index);
            if self.codec.is_stepwise(state.kind) || self.silence.kinds().contains(state.kind) {
                self.resting.insert(index);
            }
            if let Some(owner) = state.owner.filter(|_| self.codec.hides(state.kind)) {
                self.private.push((owner, index));
            }
        }
        self.private.sort_unstable();
        self.by_references.clear();
        (self.used, self.bases_used) = (0, 0);
        for shard in &mut self.others {
            shard.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// The set of a client with these references, if there is room for another.
    pub(crate) fn set(&mut self, history: &History, references: ReferenceSet) -> Option<SetId> {
        let key = references.references.key();
        if let Some(id) = self.by_references.get(&key) {
            return Some(*id);
        }
        if references.len == 0 || self.used == SETS_MAX {
            return None;
        }
        let oldest = references.numbers[references.len - 1];
        let frame = history.newest()?;
        let base = self.base(frame, references.numbers[0]);
        if self.sets.len() == self.used {
            self.sets.push(Set::default());
        }
        let set = &mut self.sets[self.used];
        (set.references, set.base) = (references, base);
        set.there.clear();
        let steady = self.there.iter().filter(|index| history.since(*index) <= oldest);
        steady.for_each(|index| set.there.insert(index));
        set.table.clear();
        set.table.resize_with(frame.len(), OnceLock::new);
        let id = SetId(self.used as u32);
        self.used += 1;
        self.by_references.insert(key, id);
        Some(id)
    }

    fn base(&mut self, frame: &Frame, number: u64) -> usize {
        let used = &self.bases[..self.bases_used];
        if let Some(at) = used.iter().position(|base| base.number == number) {
            return at;
        }
        if self.bases.len() == self.bases_used {
            self.bases.push(Base::default());
        }
        let base = &mut self.bases[self.bases_used];
        base.number = number;
        base.table.clear();
        base.table.resize_with(frame.len(), OnceLock::new);
        self.bases_used += 1;
        self.bases_used - 1
    }

    /// The encoding of an entity for clients that have all of a set's references of it.
    #[inline]
    pub(crate) fn usual(
        &self,
        source: &Source<'_, G>,
        set: SetId,
        index: u16,
        memory: &mut Vec<Group>,
    ) -> Option<&Encoded> {
        let set = &self.sets[set.0 as usize];
        let slot = set.table.get(usize::from(index))?;
        match slot.get() {
            Some(made) => Some(made),
            None => self.make_usual(source, set, slot, index, memory),
        }
    }

    #[cold]
    fn make_usual<'s>(
        &'s self,
        source: &Source<'_, G>,
        set: &Set,
        slot: &'s OnceLock<Encoded>,
        index: u16,
        memory: &mut Vec<Group>,
    ) -> Option<&'s Encoded> {
        let extrapolations = self.bases[set.base].table.get(usize::from(index));
        let mut made = self.make(source, index, &set.references, false, extrapolations, memory)?;
        made.heads = Heads::new(&self.codec, &made.encoding, memory);
        Some(slot.get_or_init(|| made))
    }

    /// The encoding of an entity for a client that has the `references`, all of the same entity.
    pub(crate) fn other(
        &self,
        source: &Source<'_, G>,
        index: u16,
        references: &ReferenceSet,
        own: bool,
        memory: &mut Vec<Group>,
    ) -> Option<Encoded> {
        let baseline = references.numbers().next()?;
        if own {
            // Nobody else gets it.
            return self.make(source, index, references, own, None, memory);
        }
        let key = Key::new(index, references.references, own);
        let shard = &self.others[usize::from(index) % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = lock().get(&key) {
            return Some(kept.clone());
        }
        let base = self.bases[..self.bases_used].iter().find(|base| base.number == baseline);
        let extrapolations = base.and_then(|base| base.table.get(usize::from(index)));
        let made = self.make(source, index, references, own, extrapolations, memory)?;
        lock().insert(key, made.clone());
        Some(made)
    }

    /// Makes an encoding, with extrapolations that are `kept` or to be kept.
    fn make(
        &self,
        source: &Source<'_, G>,
        index: u16,
        references: &ReferenceSet,
        own: bool,
        kept: Option<&OnceLock<Extrapolations>>,
        groups: &mut Vec<Group>,
    ) -> Option<Encoded> {
        let state = source.frame.get(index)?;
        let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
        let hides = !own && self.codec.hides(state.kind);
        let mut shown: [Packed; REFERENCES_MAX] = [[0; FIELDS_MAX]; REFERENCES_MAX];
        let mut past = ReferenceStates::default();
        let ages = references.references.iter();
        for ((age, number), place) in ages.zip(references.numbers()).zip(&mut shown) {
            let then = source.history.numbered(number)?.get(index)?;
            if hides {
                *place = without_hidden(fields, own, &then.packed);
                past.push(age, place);
            } else {
                past.push(age, &then.packed);
            }
        }
        if past.len == 0 {
            return None;
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        let mut shown = *state;
        if hides {
            shown.packed = without_hidden(fields, own, &state.packed);
        }
        let activity = past.activity(fields);
        let (game, kind) = (source.game, state.kind);
        let extrapolate = || self.codec.extrapolations(game, kind, own, &past, &shown.packed);
        let own_ones;
        let extrapolations = match kept {
            Some(kept) => kept.get_or_init(extrapolate),
            None => {
                own_ones = extrapolate();
                &own_ones
            }
        };
        groups.clear();
        let mut recorder = Recorder::new(self.codec.layout().levels(), groups);
        let extrapolated =
            self.codec.write(&mut recorder, kind, own, &past, extrapolations, &mut shown.packed);
        recorder.end();
        let mut cost = recorder.cost;
        if extrapolated {
            groups.clear();
            cost = 0;
        }
        let digest = digest::<G::Entity>(index, Some(&shown));
        let encoding = Encoding { kind, activity, extrapolated, cost, digest };
        Some(Encoded { encoding, groups: Groups::new(groups), heads: Heads::default() })
    }
}

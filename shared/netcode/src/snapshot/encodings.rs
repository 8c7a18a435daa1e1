//! Encodings of the newest snapshot's entities, shared by all clients that have equal older states.
//!
//! An encoding depends on an entity's state, its references, and whether the reader owns it. Most
//! clients share a few rows of references; see `strands.rs`. An encoding is made when the first
//! client needs it, on any thread, and kept as groups of decisions, which are copied into each
//! client's packet unchanged. An extrapolation depends only on the baseline, and serves each strand
//! with that baseline.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::bits::Bits;
use super::history::{History, Source, WorldFrame};
use super::silence::Silence;
use super::strands::{Map, NO_ROOM, ReferenceSet, Strand, StrandId, Strands};
use crate::fields::{Entity, Packed};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{FIELDS_MAX, REFERENCES_MAX};
use crate::motion::send_rule::SendRule;
use crate::wire::extrapolation::ReferenceStates;
use crate::wire::fields::without_hidden;
use crate::wire::layout::BRIEF;
use crate::wire::range::{Coder, Group, Recorder};
use crate::wire::snapshot::{Encoding, ReferenceCoding, References, digest};
use crate::wire::state::{Basis, Codec, Extrapolations};

/// Index, references and ownership in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key(u64);

impl Key {
    fn new(index: u16, references: References, own: bool) -> Self {
        // 40 bits of ages, 16 of index, 1.
        Self(references.key() << 17 | u64::from(index) << 1 | u64::from(own))
    }
}

/// An entity, and whether its reader owns it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) index: u16,
    pub(crate) own: bool,
}

/// An entity's coding for readers with certain older states.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    pub(crate) coding: ReferenceCoding,
    groups: Groups,
}

impl Encoded {
    /// Returns the groups of decisions of the fields.
    pub(crate) fn groups(&self) -> &[Group] {
        match &self.groups {
            Groups::Few(count, few) => &few[..usize::from(*count)],
            Groups::Many(many) => many,
        }
    }
}

/// Groups, stored inline if they are few.
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

/// Extrapolations from one baseline.
#[derive(Debug, Default)]
struct Base {
    number: u64,
    table: Vec<OnceLock<Extrapolations>>,
}

/// The maximum number of encodings stored by strand; more are shared by the map. A thousand players
/// who see sixty others each need 6000. Arbitrary.
const STORED_MAX: usize = 1 << 17;
/// Number of parts of the map, so that threads seldom wait for each other. Arbitrary.
const SHARDS: usize = 32;

/// The encodings of one snapshot. Memory is reused for the next one.
#[derive(Debug)]
pub struct Encodings<G> {
    codec: Codec<G>,
    /// Number of the snapshot.
    frame: u64,
    /// The entities of the snapshot.
    there: Bits,
    /// Entities that may rest, which means that they stand still without updates.
    resting: Bits,
    /// Resting entities that differ from the snapshot before.
    changed: Bits,
    /// Entities of kinds that need only [`BRIEF`] references.
    brief: Bits,
    /// Entities that only their owners see completely, by owner.
    private: Vec<(PlayerId, u16)>,
    strands: Strands,
    /// Encodings stored by strand. Those in use come first; more may be requested than exist.
    stored: Vec<OnceLock<Encoded>>,
    taken: AtomicU32,
    bases: Vec<Base>,
    bases_used: usize,
    others: Vec<Mutex<Map<Key, Encoded>>>,
    made: AtomicU64,
    silence: Silence,
}

impl<G: Game> Encodings<G> {
    /// Creates an empty set of encodings.
    pub fn new(codec: Codec<G>) -> Self {
        Self {
            silence: Silence::new(&codec),
            codec,
            frame: u64::MAX,
            there: Bits::default(),
            resting: Bits::default(),
            private: Vec::new(),
            changed: Bits::default(),
            brief: Bits::default(),
            strands: Strands::default(),
            stored: Vec::new(),
            taken: AtomicU32::new(0),
            bases: Vec::new(),
            bases_used: 0,
            others: (0..SHARDS).map(|_| Mutex::default()).collect(),
            made: AtomicU64::new(0),
        }
    }

    /// Returns the codec that makes the encodings.
    pub fn codec(&self) -> &Codec<G> {
        &self.codec
    }

    /// Sets the send rule of a kind, an index into [`Entity::KINDS`]. With plain coding, all
    /// entities stay in each snapshot.
    pub fn set_rule(&mut self, kind: u8, rule: SendRule) {
        self.silence.set(&self.codec, kind, rule);
    }

    /// Returns the send rule of a kind.
    pub fn rule(&self, kind: u8) -> SendRule {
        self.silence.rule(kind)
    }

    pub(super) fn silence(&self) -> &Silence {
        &self.silence
    }

    /// Returns the number of encodings made so far.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Returns the newest snapshot's entities.
    pub(super) fn there(&self) -> &Bits {
        &self.there
    }

    /// Returns the entities that may rest: they stay unchanged while nothing is sent about them.
    pub(super) fn resting(&self) -> &Bits {
        &self.resting
    }

    /// Returns those that may rest but differ from the snapshot before.
    pub(super) fn changed(&self) -> &Bits {
        &self.changed
    }

    /// Returns this player's entities of which the player sees more than others do.
    pub(super) fn private(&self, owner: PlayerId) -> impl Iterator<Item = u16> {
        let from = self.private.partition_point(|(player, _)| *player < owner);
        let all = self.private[from..].iter().take_while(move |(player, _)| *player == owner);
        all.map(|(_, index)| *index)
    }

    /// Returns the entities of kinds that need only [`BRIEF`] references.
    pub(super) fn brief(&self) -> &Bits {
        &self.brief
    }

    /// Returns a strand and its shorter ones, longest first.
    pub(super) fn strands(&self, id: StrandId) -> impl Iterator<Item = &Strand> {
        self.strands.and_shorter(id)
    }

    /// Discards the encodings of the previous snapshot.
    pub(crate) fn begin(&mut self, history: &History, frame: &WorldFrame) {
        if self.frame == frame.number {
            return;
        }
        self.frame = frame.number;
        self.silence.begin(frame);
        self.there.clear();
        self.resting.clear();
        self.private.clear();
        self.changed.clear();
        self.brief.clear();
        for (index, state) in frame.iter() {
            self.there.insert(index);
            if self.codec.is_stepwise(state.kind) || self.silence.kinds().contains(state.kind) {
                self.resting.insert(index);
                if history.changed(index, true) == frame.number {
                    self.changed.insert(index);
                }
            }
            if let Some(owner) = state.owner.filter(|_| self.codec.hides(state.kind)) {
                self.private.push((owner, index));
            }
            if self.codec.layout().references(state.kind) == BRIEF {
                self.brief.insert(index);
            }
        }
        self.private.sort_unstable();
        self.strands.begin(history, frame);
        let taken = std::mem::take(self.taken.get_mut()) as usize;
        for kept in self.stored.iter_mut().take(taken) {
            kept.take();
        }
        if taken > self.stored.len() {
            let room = taken.min(STORED_MAX).next_power_of_two();
            self.stored.resize_with(room, OnceLock::new);
        }
        self.bases_used = 0;
        for shard in &mut self.others {
            shard.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// Returns the strand of a client with these references, if there is space for another.
    pub(crate) fn strand(
        &mut self,
        frame: &WorldFrame,
        references: &ReferenceSet,
    ) -> Option<StrandId> {
        let id = self.strands.find(frame, &self.there, references)?;
        self.base(frame, references.numbers().next()?);
        Some(id)
    }

    /// Makes space for the extrapolations from a baseline.
    fn base(&mut self, frame: &WorldFrame, number: u64) {
        let used = &self.bases[..self.bases_used];
        if used.iter().any(|base| base.number == number) {
            return;
        }
        if self.bases.len() == self.bases_used {
            self.bases.push(Base::default());
        }
        let base = &mut self.bases[self.bases_used];
        base.number = number;
        base.table.clear();
        base.table.resize_with(frame.len(), OnceLock::new);
        self.bases_used += 1;
    }

    /// Returns the encoding at a place.
    #[inline]
    pub(crate) fn stored(&self, place: u32) -> Option<&Encoded> {
        self.stored.get(place as usize)?.get()
    }

    /// Returns the place of an entity's encoding for clients that have all references of a strand
    /// for it; `None` if there is no space.
    #[inline]
    pub(super) fn place(
        &self,
        source: &Source<'_, G>,
        strand: &Strand,
        index: u16,
        memory: &mut Vec<Group>,
    ) -> Option<u32> {
        match strand.place(index) {
            Some(NO_ROOM) => None,
            Some(place) => Some(place),
            None => self.store_new(source, strand, index, memory),
        }
    }

    #[cold]
    fn store_new(
        &self,
        source: &Source<'_, G>,
        strand: &Strand,
        index: u16,
        memory: &mut Vec<Group>,
    ) -> Option<u32> {
        let kind = source.frame.get(index)?.kind;
        let needed = self.codec.layout().references(kind);
        let place = match strand.shorter {
            Some(shorter) if strand.references.len() > needed => {
                self.place(source, self.strands.get(shorter), index, memory)?
            }
            _ => {
                let place = self.taken.fetch_add(1, Ordering::Relaxed);
                let made = self.stored.get(place as usize).and_then(|room| {
                    let subject = Subject { index, own: false };
                    room.set(self.make(source, subject, &strand.references, memory)?).ok()
                });
                if made.is_none() {
                    // No client will ask for it again.
                    strand.set_place(index, NO_ROOM);
                    return None;
                }
                place
            }
        };
        strand.set_place(index, place);
        Some(place)
    }

    /// Returns the encoding of an entity for a client that has the `references`, all of them for
    /// that entity.
    pub(crate) fn other(
        &self,
        source: &Source<'_, G>,
        subject: Subject,
        references: &ReferenceSet,
        memory: &mut Vec<Group>,
    ) -> Option<Encoded> {
        let Subject { index, own } = subject;
        if own {
            // No other client can use it.
            return self.make(source, subject, references, memory);
        }
        let key = Key::new(index, references.references, own);
        let shard = &self.others[usize::from(index) % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = lock().get(&key) {
            return Some(kept.clone());
        }
        let made = self.make(source, subject, references, memory)?;
        lock().insert(key, made.clone());
        Some(made)
    }

    /// Makes an encoding.
    fn make(
        &self,
        source: &Source<'_, G>,
        subject: Subject,
        references: &ReferenceSet,
        groups: &mut Vec<Group>,
    ) -> Option<Encoded> {
        let Subject { index, own } = subject;
        let state = source.frame.get(index)?;
        let fields = G::Entity::kinds()[usize::from(state.kind)].fields;
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
        let kind = state.kind;
        let basis = Basis { kind, own, past: &past };
        let extrapolate = || self.codec.extrapolations(source.game, basis, &shown.packed);
        let baseline = references.numbers().next().filter(|_| !own);
        let base = |number| self.bases[..self.bases_used].iter().find(|it| it.number == number);
        let table = baseline.and_then(base).map(|base| &base.table);
        let own_ones;
        let extrapolations = match table.and_then(|table| table.get(usize::from(index))) {
            Some(kept) => kept.get_or_init(extrapolate),
            None => {
                own_ones = extrapolate();
                &own_ones
            }
        };
        groups.clear();
        let mut recorder = Recorder::new(self.codec.layout().levels(), groups);
        let extrapolated =
            self.codec.write(&mut recorder, basis, extrapolations, &mut shown.packed);
        recorder.end();
        let mut cost = recorder.cost;
        if extrapolated {
            groups.clear();
            cost = 0;
        }
        let digest = digest::<G::Entity>(index, Some(&shown));
        let encoding = Encoding { kind, activity, extrapolated, cost, digest };
        let layout = self.codec.layout();
        let needed = layout.references(kind) as u8;
        let levels = layout.extrapolated(kind, activity);
        let coding = ReferenceCoding { encoding, levels, count: past.len as u8, needed };
        Some(Encoded { coding, groups: Groups::new(groups) })
    }
}

//! Encodes snapshot packets.

use super::change::{Change, Encoding};
use super::early::{Early, EarlyChange, has_place};
use super::header::SnapshotHeader;
use super::progress::{
    CHECK_BITS, EARLY_KIND, Progress, SILENCE_KIND, SNAPSHOT_KIND, check, code_full, digest,
};
use super::references::{References, own_references};
use super::silence::KindSet;
use crate::fields::Entity;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::wire::cast::count32;
use crate::wire::layout::Layout;
use crate::wire::model::{Plain, gap, plain};
use crate::wire::range::{Coder, Group, Likelihood, RangeWriter, Recorder};
use crate::wire::state::{Codec, EntityState};

/// Bits at a packet's end: the last decision at its maximum cost, the checksum, the coder's last
/// byte.
pub(super) const END_BITS: u32 = 12 + CHECK_BITS + 8;

/// The maximum cost of an entity without its fields in 1/1024 bit, if its gap is short: each of
/// about 20 decisions takes less than 12 bits.
const HEAD_COST_MAX: u32 = 256 * 1024;

/// Coding of an entity from the newest references of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReferenceCoding {
    pub(crate) encoding: Encoding,
    /// Levels of being as extrapolated, by the two entities before.
    pub(crate) levels: [Likelihood; 4],
    /// Number of references, and the maximum that the kind uses.
    pub(crate) count: u8,
    pub(crate) needed: u8,
}

/// Encodes one packet.
#[derive(Debug)]
pub struct SnapshotWriter<'l> {
    layout: &'l Layout,
    coder: RangeWriter,
    /// Groups of the entity that is being written.
    groups: &'l mut Vec<Group>,
    /// Cost in 1/1024 bit.
    pub(super) cost: u32,
    references: References,
    references_count: usize,
    progress: Progress,
    reader: PlayerId,
    /// Kinds for which absence has a meaning, and the bits that they take in the last packet.
    silent: KindSet,
    pub(super) silent_bits: u32,
    is_last: bool,
}

impl<'l> SnapshotWriter<'l> {
    /// Starts a packet for `reader`, who sees all fields of its own entities, in a buffer; `groups`
    /// is scratch memory.
    pub fn new<G: Game>(
        codec: &'l Codec<G>,
        mut header: SnapshotHeader,
        reader: PlayerId,
        mut buffer: Vec<u8>,
        groups: &'l mut Vec<Group>,
    ) -> Self {
        let layout = codec.layout();
        buffer.clear();
        buffer.push(SNAPSHOT_KIND);
        let stamp = header.stamp(codec.rates());
        buffer.extend(stamp.bytes());
        let unstamped = count32(buffer.len());
        groups.clear();
        let mut recorder = Recorder::new(layout.levels(), groups);
        // A header that is written is always valid.
        let _ = header.code(&mut recorder, codec.rates(), header.tick, stamp);
        recorder.end();
        let cost = unstamped * 8 * 1024 + recorder.cost;
        let mut coder = RangeWriter::new(buffer);
        groups.iter().for_each(|group| coder.group(*group));
        let references = header.references;
        let progress = Progress::default();
        let silent = header.silent;
        let kinds = G::Entity::kinds().len();
        let silent_bits = if silent.is_empty() { 0 } else { KindSet::bits(kinds) };
        Self {
            layout,
            coder,
            groups,
            cost,
            references,
            references_count: references.iter().count(),
            progress,
            reader,
            silent,
            silent_bits,
            is_last: false,
        }
    }

    /// Adds an entity, with its fields' groups if it is [`Change::Known`], unless the packet would
    /// then exceed `bytes_max`. Indices ascend, but may wrap once.
    pub fn push<G: Game>(
        &mut self,
        index: u16,
        change: &Change,
        fields: &[Group],
        bytes_max: usize,
    ) -> bool {
        if !self.progress.may_follow(self.progress.gap_to(index)) {
            return false;
        }
        self.groups.clear();
        let mut recorder = Recorder::new(self.layout.levels(), self.groups);
        let mut progress = self.progress;
        let packet = (self.layout, self.references, self.reader);
        entity::<G, _>(&mut recorder, packet, &mut progress, index, change);
        recorder.end();
        let cost = self.cost + recorder.cost + change.fields_cost();
        if !self.fits(cost, bytes_max) {
            return false;
        }
        self.groups.iter().for_each(|group| self.coder.group(*group));
        fields.iter().for_each(|group| self.coder.group(*group));
        self.progress = progress;
        self.cost = cost;
        true
    }

    /// Adds an entity that is coded from the packet's newest references, like [`push`](Self::push).
    #[inline]
    pub(crate) fn push_referenced<G: Game>(
        &mut self,
        index: u16,
        coding: &ReferenceCoding,
        fields: &[Group],
        bytes_max: usize,
    ) -> bool {
        let ReferenceCoding { encoding, levels, count, needed } = coding;
        let (count, needed) = (usize::from(*count), usize::from(*needed));
        let usual = count == self.references_count.min(needed);
        let (progress, gap) = (&self.progress, self.progress.gap_to(index));
        let opening = self.layout.opening(gap, progress.gap, progress.usual, usual);
        let fits = self.fits(self.cost + encoding.cost + HEAD_COST_MAX, bytes_max);
        let (Some(opening), true) = (opening.filter(|_| progress.may_follow(gap)), fits) else {
            let change = Change::Known(self.references.first(count), *encoding);
            return self.push::<G>(index, &change, fields, bytes_max);
        };
        let mut growing = opening.growing;
        self.cost += opening.cost + encoding.cost;
        if let Some(ended) = opening.ended {
            self.coder.group(ended);
        }
        if !usual {
            let levels = self.layout.present_levels().iter().take(self.references_count - 1);
            for (level, nth) in levels.zip(1..) {
                let ended = growing.bit(*level, nth < count);
                self.write_counted(ended);
            }
        }
        let level = levels[usize::from(self.progress.lately)];
        let ended = growing.bit(level, encoding.extrapolated).or_else(|| growing.take());
        self.write_counted(ended);
        fields.iter().for_each(|group| self.coder.group(*group));
        self.progress.usual = usual;
        self.progress.predicted(encoding.extrapolated);
        self.progress.add(index, encoding.digest);
        true
    }

    /// Writes a finished group, if there is one, and adds its cost.
    #[inline]
    fn write_counted(&mut self, ended: Option<Group>) {
        if let Some(group) = ended {
            self.coder.group(group);
            self.cost += group.cost();
        }
    }

    /// Whether a packet of this cost is small enough.
    #[inline]
    fn fits(&self, cost: u32, bytes_max: usize) -> bool {
        cost.div_ceil(1024) + END_BITS + self.silent_bits <= count32(bytes_max).saturating_mul(8)
    }

    /// Returns the number of entities.
    pub fn count(&self) -> usize {
        self.progress.count
    }

    /// Makes this the snapshot's last packet, which contains the kinds whose absent entities are
    /// all as extrapolated.
    pub fn end_snapshot(&mut self) {
        self.is_last = true;
    }

    /// Returns the finished packet.
    pub fn finish(self) -> Vec<u8> {
        self.finish_with(&[])
    }

    /// Returns the finished packet with how its entities will be steered, as far as that fits into
    /// `bytes_max`. `early` has the packet's present entities in their order, each with its
    /// changes.
    pub fn finish_early<'e, G: Game>(
        self,
        bytes_max: usize,
        early: impl Iterator<Item = (&'e EntityState, &'e [EarlyChange])>,
    ) -> Vec<u8> {
        let placed = early.filter(|(state, _)| has_place::<G::Entity>(state, self.reader));
        let mut early: Vec<_> = placed
            .map(|(state, changes)| Early {
                fields: G::Entity::kinds()[usize::from(state.kind)].fields,
                state: &state.packed,
                changes,
            })
            .collect();
        let least: u32 = early.iter().map(|one| Early { changes: &[], ..*one }.bits()).sum();
        let taken = self.cost.div_ceil(1024) + END_BITS + self.silent_bits + least;
        let left = count32(bytes_max).saturating_mul(8).saturating_sub(taken);
        // Each group of at least 16 bits wastes a fraction of one.
        let mut left = left - left.div_ceil(64);
        for one in &mut early {
            let none = Early { changes: &[], ..*one };
            match left.checked_sub(one.bits() - none.bits()) {
                Some(rest) => left = rest,
                None => *one = none,
            }
        }
        if early.iter().all(|one| one.changes.is_empty()) {
            early.clear();
        }
        self.finish_with(&early)
    }

    /// Returns the finished packet with these changes of its present entities that have a place for
    /// them, if there are any.
    fn finish_with(mut self, early: &[Early<'_>]) -> Vec<u8> {
        let is_silent = self.is_last && self.silent_bits > 0;
        self.groups.clear();
        let mut recorder = Recorder::new(self.layout.levels(), self.groups);
        plain(&mut recorder, Plain::More, false);
        if is_silent {
            self.silent.code(&mut recorder, self.silent_bits as usize);
        }
        for one in early {
            one.code(&mut recorder);
        }
        recorder.raw(check(self.progress.sum), CHECK_BITS);
        recorder.end();
        self.groups.iter().for_each(|group| self.coder.group(*group));
        let mut packet = self.coder.finish();
        if let Some(first) = packet.first_mut() {
            *first = if is_silent { SILENCE_KIND } else { SNAPSHOT_KIND };
            *first += if early.is_empty() { 0 } else { EARLY_KIND };
        }
        packet
    }
}

/// Codes whether an entity is as extrapolated.
fn prediction<C: Coder>(
    coder: &mut C,
    layout: &Layout,
    progress: &mut Progress,
    encoding: &Encoding,
) {
    let Encoding { kind, activity, extrapolated: yes, .. } = *encoding;
    coder.bit(layout.extrapolated_context(kind, activity, progress.lately), yes);
    progress.predicted(yes);
}

/// Codes an entity without its fields' decisions, in a packet with these references for a reader.
fn entity<G: Game, C: Coder>(
    coder: &mut C,
    (layout, packet, reader): (&Layout, References, PlayerId),
    progress: &mut Progress,
    index: u16,
    change: &Change,
) {
    plain(coder, Plain::More, true);
    gap(coder, progress.gap, progress.gap_to(index));
    let sum = match change {
        Change::Known(references, encoding) => {
            plain(coder, Plain::Known, true);
            let usual = *references == packet.first(layout.references(encoding.kind));
            let (mut own, before) = (*references, progress.usual);
            let coded = own_references(coder, packet, before, usual, &mut own);
            progress.usual = coded.unwrap_or(false);
            prediction(coder, layout, progress, encoding);
            encoding.digest
        }
        Change::Full(state) => {
            plain(coder, Plain::Known, false);
            plain(coder, Plain::There, true);
            let mut state = *state;
            let _ = code_full::<G, C>(coder, &mut state, reader);
            digest::<G::Entity>(index, Some(&state))
        }
        Change::Gone | Change::Hidden => {
            plain(coder, Plain::Known, false);
            plain(coder, Plain::There, false);
            plain(coder, Plain::Gone, matches!(change, Change::Gone));
            digest::<G::Entity>(index, None)
        }
    };
    progress.add(index, sum);
}

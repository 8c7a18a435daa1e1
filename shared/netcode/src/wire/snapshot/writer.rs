//! The writer of snapshot packets.

#![allow(clippy::cast_possible_truncation, reason = "values are bounded")]

use super::change::{Change, Encoding};
use super::header::SnapshotHeader;
use super::progress::{
    CHECK_BITS, Progress, SILENCE_KIND, SNAPSHOT_KIND, check, code_full, digest,
};
use super::references::{References, own_references};
use super::silence::KindSet;
use crate::fields::Entity;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::wire::model::{Layout, Plain, extrapolated, gap, plain};
use crate::wire::range::{Coder, Group, Growing, RangeWriter, Recorder};
use crate::wire::state::Codec;

/// Bits of a packet's end: the last decision at its dearest, the checksum, the coder's last byte.
pub(super) const END_BITS: u32 = 12 + CHECK_BITS + 8;

/// Writer of one packet.
#[derive(Debug)]
pub struct SnapshotWriter<'l> {
    layout: &'l Layout,
    coder: RangeWriter,
    /// Groups of the entity that is being written.
    groups: &'l mut Vec<Group>,
    /// In 1/1024 bit.
    pub(super) cost: u32,
    references: References,
    progress: Progress,
    reader: PlayerId,
    /// Kinds of which silence says something, and the bits that this takes in the last packet.
    silent: KindSet,
    pub(super) silent_bits: u32,
    is_last: bool,
}

impl<'l> SnapshotWriter<'l> {
    /// Starts a packet for `reader`, who sees all fields of its own entities, in a buffer; `groups`
    /// is memory for it.
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
        let unstamped = buffer.len() as u32;
        groups.clear();
        let mut recorder = Recorder::new(layout.levels(), groups);
        // Nothing is wrong with a header that is written.
        let _ = header.code(&mut recorder, codec.rates(), header.tick, stamp);
        recorder.end();
        let cost = unstamped * 8 * 1024 + recorder.cost;
        let mut coder = RangeWriter::new(buffer);
        groups.iter().for_each(|group| coder.group(*group));
        let references = header.references;
        let progress = Progress::default();
        let silent = header.silent;
        let kinds = G::Entity::KINDS.len();
        let silent_bits = if silent.is_empty() { 0 } else { KindSet::bits(kinds) };
        Self {
            layout,
            coder,
            groups,
            cost,
            references,
            progress,
            reader,
            silent,
            silent_bits,
            is_last: false,
        }
    }

    /// Adds an entity, with its fields' groups if it is [`Change::Known`], unless the packet
    /// exceeds `bytes_max` then. Indices rise, but may go around once.
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
        if cost.div_ceil(1024) + END_BITS + self.silent_bits > bytes_max as u32 * 8 {
            return false;
        }
        self.groups.iter().for_each(|group| self.coder.group(*group));
        fields.iter().for_each(|group| self.coder.group(*group));
        self.progress = progress;
        self.cost = cost;
        true
    }

    /// Adds an entity whose references are the packet's, like [`push`](Self::push).
    #[inline]
    pub(crate) fn push_usual<G: Game>(
        &mut self,
        index: u16,
        encoding: &Encoding,
        heads: &Heads,
        fields: &[Group],
        bytes_max: usize,
    ) -> bool {
        let head = heads.0.as_ref().filter(|_| self.progress.is_usual(index));
        let Some(head) = head.map(|heads| heads[usize::from(self.progress.lately)]) else {
            let change = Change::Known(self.references, *encoding);
            return self.push::<G>(index, &change, fields, bytes_max);
        };
        let cost = self.cost + head.cost + encoding.cost;
        let is_full = cost.div_ceil(1024) + END_BITS + self.silent_bits > bytes_max as u32 * 8;
        if is_full || !self.progress.may_follow(0) {
            return false;
        }
        self.coder.group(head.group);
        fields.iter().for_each(|group| self.coder.group(*group));
        self.progress.predicted(encoding.extrapolated);
        self.progress.add(index, encoding.digest);
        self.cost = cost;
        true
    }

    /// Number of entities.
    pub fn count(&self) -> usize {
        self.progress.count
    }

    /// Makes it the snapshot's last packet: it says of which kinds all that no packet of the
    /// snapshot names is as extrapolated.
    pub fn end_snapshot(&mut self) {
        self.is_last = true;
    }

    /// The finished packet.
    pub fn finish(mut self) -> Vec<u8> {
        let is_silent = self.is_last && self.silent_bits > 0;
        self.groups.clear();
        let mut recorder = Recorder::new(self.layout.levels(), self.groups);
        plain(&mut recorder, Plain::More, false);
        if is_silent {
            self.silent.code(&mut recorder, self.silent_bits as usize);
        }
        recorder.raw(check(self.progress.sum), CHECK_BITS);
        recorder.end();
        self.groups.iter().for_each(|group| self.coder.group(*group));
        let mut packet = self.coder.finish();
        if is_silent && let Some(first) = packet.first_mut() {
            *first = SILENCE_KIND;
        }
        packet
    }
}

/// Beginnings of an entity that comes right behind a usual one, up to its fields, by the two
/// entities before it: bits of [`Progress::lately`]. None if one of them is not one group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heads(Option<[Head; 4]>);

#[derive(Clone, Copy, Debug, Default)]
struct Head {
    group: Group,
    /// In 1/1024 bit.
    cost: u32,
}

impl Heads {
    /// Those of an encoding; `groups` is memory.
    pub(crate) fn new<G: Game>(
        codec: &Codec<G>,
        encoding: &Encoding,
        groups: &mut Vec<Group>,
    ) -> Self {
        let layout = codec.layout();
        let Some(begun) = usual(layout, groups) else { return Self(None) };
        let mut heads = [Head::default(); 4];
        for (head, lately) in heads.iter_mut().zip(0..) {
            groups.clear();
            let mut recorder = Recorder::new(layout.levels(), groups);
            recorder.resume(begun);
            let mut progress = Progress { lately, ..Progress::default() };
            prediction(&mut recorder, layout, &mut progress, encoding);
            recorder.end();
            head.cost = recorder.cost;
            let [group] = groups[..] else { return Self(None) };
            head.group = group;
        }
        Self(Some(heads))
    }
}

/// The beginning of an entity's group if it and the one before have the packet's references,
/// without a gap; none if it is more than a group.
fn usual(layout: &Layout, groups: &mut Vec<Group>) -> Option<Growing> {
    groups.clear();
    let mut recorder = Recorder::new(layout.levels(), groups);
    plain(&mut recorder, Plain::More, true);
    gap(&mut recorder, 0, 0);
    plain(&mut recorder, Plain::Known, true);
    plain(&mut recorder, Plain::Usual(true), true);
    recorder.pause()
}

/// Codes whether an entity is as extrapolated.
fn prediction<C: Coder>(
    coder: &mut C,
    layout: &Layout,
    progress: &mut Progress,
    encoding: &Encoding,
) {
    let Encoding { kind, activity, extrapolated: yes, .. } = *encoding;
    extrapolated(coder, layout, kind, activity, progress.lately, yes);
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
            let mut references = *references;
            let _ = own_references(coder, packet, progress.usual, &mut references);
            progress.usual = references == packet;
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

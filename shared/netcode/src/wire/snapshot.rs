//! The snapshot packet, from the server to a client: a header, and entities, each against
//! acknowledged states. A snapshot may take several packets; each is useful alone.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are bounded")]

mod header;
mod progress;
mod reading;
mod references;
mod silence;
#[cfg(test)]
mod tests;

use super::model::{Layout, Plain, extrapolated, gap, plain};
use super::range::{Coder, Group, Growing, RangeWriter, Recorder};
use super::state::{Codec, EntityState};
use crate::fields::Entity;
use crate::game::Game;
use crate::ids::PlayerId;

pub use header::{InputReport, Perceived, SnapshotHeader, stamp};
pub(crate) use progress::digest;
use progress::{CHECK_BITS, Progress, check, code_full};
pub use progress::{SILENCE_KIND, SNAPSHOT_KIND};
pub(crate) use reading::count_snapshot;
pub use reading::{Told, read_header, read_snapshot};
pub use references::References;
use references::own_references;
pub use silence::KindSet;

/// A packet's word of one entity.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// Difference from states that the reader has.
    Known(References, Encoding),
    /// The whole state.
    Full(EntityState),
    /// Its end.
    Gone,
    /// The reader may not see it any more.
    Hidden,
}

impl Change {
    /// Cost of the fields' own groups in 1/1024 bit.
    fn fields_cost(&self) -> u32 {
        match self {
            Self::Known(_, encoding) => encoding.cost,
            Self::Full(_) | Self::Gone | Self::Hidden => 0,
        }
    }
}

/// Coding of an entity's state for readers with certain older ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The entity's kind.
    pub kind: u8,
    /// Size of its recent change, and of that over all references.
    pub activity: [u8; 2],
    /// All fields are as extrapolated.
    pub extrapolated: bool,
    /// Cost of its fields in 1/1024 bit; 0 if they are as extrapolated.
    pub cost: u32,
    /// Digest of its state.
    pub digest: u32,
}

/// Bits of a packet's end: the last decision at its dearest, the checksum, the coder's last byte.
const END_BITS: u32 = 12 + CHECK_BITS + 8;

/// Writer of one packet.
#[derive(Debug)]
pub struct SnapshotWriter<'l> {
    layout: &'l Layout,
    coder: RangeWriter,
    /// Beginning of a usual entity's group behind another one.
    usual: Option<Growing>,
    /// Groups of the entity that is being written.
    groups: &'l mut Vec<Group>,
    /// In 1/1024 bit.
    cost: u32,
    references: References,
    progress: Progress,
    reader: PlayerId,
    /// Kinds of which silence says something, and the bits that this takes in the last packet.
    silent: KindSet,
    silent_bits: u32,
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
        let usual = usual(layout, references);
        let silent = header.silent;
        let kinds = G::Entity::KINDS.len();
        let silent_bits = if silent.is_empty() { 0 } else { KindSet::bits(kinds) };
        Self {
            layout,
            coder,
            usual,
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
        match (change, self.usual) {
            (Change::Known(references, encoding), Some(begun))
                if progress.is_usual(index) && *references == self.references =>
            {
                recorder.resume(begun);
                prediction(&mut recorder, self.layout, &mut progress, encoding);
                progress.add(index, encoding.digest);
            }
            _ => {
                let packet = (self.layout, self.references, self.reader);
                entity::<G, _>(&mut recorder, packet, &mut progress, index, change);
            }
        }
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

/// The beginning of an entity's group if it and the one before are usual, without a gap; none in a
/// packet without references, or if it is more than a group.
fn usual(layout: &Layout, references: References) -> Option<Growing> {
    references.baseline()?;
    let mut groups = Vec::new();
    let mut recorder = Recorder::new(layout.levels(), &mut groups);
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
    progress.lately = (progress.lately << 1 | u8::from(yes)) & 3;
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

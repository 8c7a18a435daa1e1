//! The snapshot packet, from the server to a client: a header, and entities, each against
//! acknowledged states. A snapshot may take several packets; each is useful alone.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are bounded")]

mod header;
mod references;
#[cfg(test)]
mod tests;
mod writer;

use super::counts::Counts;
use super::datagram::kind_of;
use super::error::WireError;
use super::extrapolation::ReferenceStates;
use super::fields::visible;
use super::model::{Plain, extrapolated, gap, plain};
use super::range::{Coder, RangeReader};
use super::state::{AsExtrapolated, Codec, EntityState};
use crate::fields::{Entity, Packed};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{ENTITIES_MAX, FIELDS_MAX, PACKET_ENTITIES_MAX};
use crate::time::Tick;

use header::Stamp;
pub use header::{InputReport, Perceived, SnapshotHeader, stamp};
pub use references::References;
use references::own_references;
pub(crate) use writer::Heads;
pub use writer::SnapshotWriter;

/// First byte of a snapshot packet.
pub const SNAPSHOT_KIND: u8 = 2;

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

/// 32-bit FNV-1a of an entity.
pub(crate) fn digest<E: Entity>(index: u16, state: Option<&EntityState>) -> u32 {
    let step = |hash: u32, word: u32| (hash ^ word).wrapping_mul(0x0100_0193);
    let start = step(0x811c_9dc5, u32::from(index));
    let Some(state) = state else { return start };
    let owner = state.owner.map_or(0, |owner| u32::from(owner.0) + 1);
    let head = (u32::from(state.generation) << 8) | (u32::from(state.kind) + 1);
    let fields = &state.packed[..E::KINDS[usize::from(state.kind)].fields.len()];
    fields.iter().fold(step(step(start, head), owner), |hash, value| step(hash, *value))
}

fn add_digest(sum: u32, digest: u32) -> u32 {
    (sum.rotate_left(5) ^ digest).wrapping_mul(0x0100_0193)
}

/// Bits of a packet's checksum, which tells of different extrapolations or references; QUIC
/// protects the bytes.
const CHECK_BITS: u32 = 16;

fn check(sum: u32) -> u32 {
    (sum ^ sum >> 16) & ((1 << CHECK_BITS) - 1)
}

/// State of both sides while they go through a packet's entities.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    count: usize,
    /// Index behind the last entity, and the number of indices since the first.
    next: u16,
    turned: u32,
    /// The gap before the last entity.
    gap: u16,
    /// Two bits: the entities before were as extrapolated.
    lately: u8,
    /// The one before had the packet's references.
    usual: bool,
    sum: u32,
}

impl Progress {
    fn gap_to(&self, index: u16) -> u16 {
        index.wrapping_sub(self.next)
    }

    /// Tells whether an entity comes right behind one with the packet's references, which itself
    /// came right behind another.
    fn is_usual(&self, index: u16) -> bool {
        self.usual && self.gap == 0 && self.gap_to(index) == 0
    }

    /// Tells whether an entity may follow: indices go around at most once.
    fn may_follow(&self, gap: u16) -> bool {
        let turned = if self.count == 0 { 0 } else { self.turned + u32::from(gap) };
        self.count < PACKET_ENTITIES_MAX && turned <= u32::from(u16::MAX)
    }

    fn predicted(&mut self, yes: bool) {
        self.lately = (self.lately << 1 | u8::from(yes)) & 3;
    }

    fn add(&mut self, index: u16, digest: u32) {
        self.gap = self.gap_to(index);
        self.turned += if self.count == 0 { 1 } else { u32::from(self.gap) + 1 };
        self.count += 1;
        self.next = index.wrapping_add(1);
        self.sum = add_digest(self.sum, digest);
    }
}

/// Bits for the number of a kind.
fn kind_bits<E: Entity>() -> u32 {
    usize::BITS - (E::KINDS.len() - 1).leading_zeros()
}

/// Writes a whole state, or reads into it.
fn code_full<G: Game, C: Coder>(
    coder: &mut C,
    state: &mut EntityState,
    reader: PlayerId,
) -> Result<(), WireError> {
    state.generation = coder.raw(u32::from(state.generation), 8) as u8;
    state.kind = coder.raw(u32::from(state.kind), kind_bits::<G::Entity>()) as u8;
    let kind = <G::Entity as Entity>::KINDS.get(usize::from(state.kind));
    let kind = kind.ok_or(WireError::Range("entity's kind"))?;
    state.owner = plain(coder, Plain::Owned, state.owner.is_some())
        .then(|| PlayerId(coder.raw(state.owner.map_or(0, |owner| u32::from(owner.0)), 16) as u16));
    let own = state.owner == Some(reader);
    for (field, value) in kind.fields.iter().zip(&mut state.packed) {
        *value = match visible(field, own) {
            true => coder.raw(*value, field.bits).min(field.greatest),
            false => 0,
        };
    }
    Ok(())
}

/// A packet's word of an entity, with every reference looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Index of its slot.
    pub index: u16,
    /// Its state at the packet's tick; none if it is gone or hidden.
    pub state: Option<EntityState>,
    /// True if it is hidden, not gone.
    pub hidden: bool,
}

/// Reads any bytes as a packet into `told`, which is cleared first. `near` is a tick near the
/// packet's, `reader` its player, and `known` finds an entity's received state at a tick. Nothing
/// else is changed; the caller commits.
pub fn read_snapshot<'s, G: Game>(
    bytes: &[u8],
    codec: &Codec<G>,
    game: &G,
    near: Tick,
    reader: PlayerId,
    known: impl Fn(u16, Tick) -> Option<&'s EntityState>,
    told: &mut Vec<Told>,
) -> Result<SnapshotHeader, WireError> {
    told.clear();
    let (stamp, bytes) = open(bytes)?;
    let mut coder = RangeReader::new(codec.layout().levels(), bytes);
    let read = read_from(&mut coder, codec, game, near, stamp, reader, known, told)?;
    coder.finish()?;
    Ok(read)
}

/// Reads the header of any bytes as a packet, and leaves its entities unread: for programs that
/// acknowledge without looking, such as a crowd that loads a server. `near` is a tick near the
/// packet's. Errors are those of a packet too short or of another kind.
pub fn read_header<G: Game>(
    bytes: &[u8],
    codec: &Codec<G>,
    near: Tick,
) -> Result<SnapshotHeader, WireError> {
    let (stamp, bytes) = open(bytes)?;
    let mut header = SnapshotHeader::default();
    let mut coder = RangeReader::new(codec.layout().levels(), bytes);
    header.code(&mut coder, codec.rates(), near, stamp)?;
    Ok(header)
}

/// Splits a packet into its stamp and what is coded.
fn open(bytes: &[u8]) -> Result<(Stamp, &[u8]), WireError> {
    let (kind, rest) = bytes.split_first().ok_or(WireError::Short)?;
    if kind_of(*kind) != SNAPSHOT_KIND {
        return Err(WireError::Kind(*kind));
    }
    let (stamp, coded) = rest.split_first_chunk().ok_or(WireError::Short)?;
    Ok((Stamp::read(*stamp), coded))
}

/// Counts the decisions of a readable packet.
pub(crate) fn count_snapshot<'s, G: Game>(
    bytes: &[u8],
    codec: &Codec<G>,
    game: &G,
    near: Tick,
    reader: PlayerId,
    known: impl Fn(u16, Tick) -> Option<&'s EntityState>,
    counts: &mut Counts,
) {
    let Ok((stamp, coded)) = open(bytes) else { return };
    let coder = RangeReader::new(codec.layout().levels(), coded);
    let mut coder = Counting { coder, counts };
    let _ = read_from(&mut coder, codec, game, near, stamp, reader, known, &mut Vec::new());
}

/// Reads, and counts what it reads.
struct Counting<'a> {
    coder: RangeReader<'a>,
    counts: &'a mut Counts,
}

impl Coder for Counting<'_> {
    fn bit(&mut self, context: usize, yes: bool) -> bool {
        let yes = self.coder.bit(context, yes);
        self.counts.bit(context, yes)
    }

    fn raw(&mut self, value: u32, count: u32) -> u32 {
        let value = self.coder.raw(value, count);
        self.counts.raw(value, count)
    }

    fn end(&mut self) {
        self.coder.end();
    }
}

/// All behind the stamp.
#[expect(clippy::too_many_arguments, reason = "a packet is read by all of this")]
fn read_from<'s, G: Game, C: Coder>(
    coder: &mut C,
    codec: &Codec<G>,
    game: &G,
    near: Tick,
    stamp: Stamp,
    reader: PlayerId,
    known: impl Fn(u16, Tick) -> Option<&'s EntityState>,
    told: &mut Vec<Told>,
) -> Result<SnapshotHeader, WireError> {
    let layout = codec.layout();
    let mut header = SnapshotHeader::default();
    header.code(coder, codec.rates(), near, stamp)?;
    coder.end();
    let tick = header.tick;
    let mut progress = Progress::default();
    while plain(coder, Plain::More, false) {
        let gap = gap(coder, progress.gap, 0);
        if !progress.may_follow(gap) {
            return Err(WireError::Range("entity's index"));
        }
        let index = progress.next.wrapping_add(gap);
        if index >= ENTITIES_MAX {
            return Err(WireError::Range("entity's index"));
        }
        let mut hidden = false;
        let state = if plain(coder, Plain::Known, false) {
            let mut references = References::NONE;
            own_references(coder, header.references, progress.usual, &mut references)?;
            progress.usual = references == header.references;
            let find = |age: u8| {
                let then = tick.0.checked_sub(u64::from(age)).ok_or(WireError::Baseline)?;
                known(index, Tick(then)).ok_or(WireError::Baseline)
            };
            let base = *find(references.baseline().ok_or(WireError::Baseline)?)?;
            let mut past = ReferenceStates::default();
            for age in references.iter() {
                let state = find(age)?;
                if !state.same_entity(&base) {
                    return Err(WireError::Baseline);
                }
                past.push(age, &state.packed);
            }
            let own = base.owner == Some(reader);
            let fields = <G::Entity as Entity>::KINDS[usize::from(base.kind)].fields;
            let activity = past.activity(fields);
            let mut packed: Packed = [0; FIELDS_MAX];
            let lately = progress.lately;
            let yes = extrapolated(coder, layout, base.kind, activity, lately, false);
            coder.end();
            if yes {
                codec.read(game, &mut AsExtrapolated, base.kind, own, &past, &mut packed);
            } else {
                codec.read(game, coder, base.kind, own, &past, &mut packed);
            }
            progress.predicted(yes);
            Some(EntityState { packed, ..base })
        } else if plain(coder, Plain::There, false) {
            let mut state =
                EntityState { generation: 0, kind: 0, owner: None, packed: [0; FIELDS_MAX] };
            code_full::<G, _>(coder, &mut state, reader)?;
            Some(state)
        } else {
            hidden = !plain(coder, Plain::Gone, false);
            None
        };
        coder.end();
        progress.add(index, digest::<G::Entity>(index, state.as_ref()));
        told.push(Told { index, state, hidden });
    }
    if coder.raw(0, CHECK_BITS) != check(progress.sum) {
        return Err(WireError::Check);
    }
    Ok(header)
}

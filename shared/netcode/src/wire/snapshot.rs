//! The snapshot packet, from the server to a client: a header, and entities, each against
//! acknowledged states. A snapshot may take several packets; each is useful alone.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are bounded")]

mod header;
mod references;
#[cfg(test)]
mod tests;

use super::counts::Counts;
use super::datagram::kind_of;
use super::error::WireError;
use super::extrapolation::ReferenceStates;
use super::fields::visible;
use super::model::{Layout, Plain, extrapolated, gap, plain};
use super::range::{Coder, Level, RangeReader, RangeWriter, Symbol};
use super::state::{AsExtrapolated, Codec, EntityState};
use crate::fields::{Entity, Packed};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{ENTITIES_MAX, FIELDS_MAX, PACKET_ENTITIES_MAX};
use crate::time::Tick;

pub use header::{InputReport, Perceived, SnapshotHeader};
pub use references::References;
use references::own_references;

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

    /// Tells whether an entity may follow: indices go around at most once.
    fn may_follow(&self, gap: u16) -> bool {
        let turned = if self.count == 0 { 0 } else { self.turned + u32::from(gap) };
        self.count < PACKET_ENTITIES_MAX && turned <= u32::from(u16::MAX)
    }

    fn add(&mut self, index: u16, digest: u32) {
        self.gap = self.gap_to(index);
        self.turned += if self.count == 0 { 1 } else { u32::from(self.gap) + 1 };
        self.count += 1;
        self.next = index.wrapping_add(1);
        self.sum = add_digest(self.sum, digest);
    }
}

/// Sum of the costs of decisions, in 1/1024 bit.
struct Meter<'t> {
    levels: &'t [Level],
    cost: u32,
}

impl Coder for Meter<'_> {
    fn bit(&mut self, context: usize, yes: bool) -> bool {
        self.cost += super::range::cost(self.levels[context], yes);
        yes
    }

    fn even(&mut self, yes: bool) -> bool {
        self.cost += 1024;
        yes
    }
}

/// Bits of a packet's end: the last decision at its dearest, the checksum, the coder's last byte.
const END_BITS: u32 = 12 + CHECK_BITS + 8;

/// Writer of one packet.
#[derive(Debug)]
pub struct SnapshotWriter<'l> {
    layout: &'l Layout,
    coder: RangeWriter<'l>,
    /// In 1/1024 bit.
    cost: u32,
    references: References,
    progress: Progress,
    reader: PlayerId,
}

impl<'l> SnapshotWriter<'l> {
    /// Starts a packet for `reader`, who sees all fields of its own entities, in an empty buffer.
    pub fn new<G: Game>(
        codec: &'l Codec<G>,
        mut header: SnapshotHeader,
        reader: PlayerId,
        mut buffer: Vec<u8>,
    ) -> Self {
        let layout = codec.layout();
        let levels = layout.levels();
        buffer.clear();
        buffer.push(SNAPSHOT_KIND);
        let mut meter = Meter { levels, cost: 8 * 1024 };
        let mut coder = RangeWriter::new(levels, buffer);
        // Nothing is wrong with a header that is written.
        let (rates, near) = (codec.rates(), header.tick);
        let _ = header.code(&mut meter, rates, near);
        let _ = header.code(&mut coder, rates, near);
        let references = header.references;
        let progress = Progress::default();
        Self { layout, coder, cost: meter.cost, references, progress, reader }
    }

    /// Adds an entity, with its fields' decisions if it is [`Change::Known`], unless the packet
    /// exceeds `bytes_max` then. Indices rise, but may go around once.
    pub fn push<G: Game>(
        &mut self,
        index: u16,
        change: &Change,
        symbols: &[Symbol],
        bytes_max: usize,
    ) -> bool {
        if !self.progress.may_follow(self.progress.gap_to(index)) {
            return false;
        }
        let mut meter = Meter { levels: self.layout.levels(), cost: 0 };
        let mut progress = self.progress;
        self.entity::<G, _>(&mut meter, &mut progress, index, change);
        let fields = match change {
            Change::Known(_, encoding) => encoding.cost,
            _ => 0,
        };
        let cost = self.cost + meter.cost + fields;
        if cost.div_ceil(1024) + END_BITS > bytes_max as u32 * 8 {
            return false;
        }
        // The borrow checker cannot see that the coder is apart from the rest.
        let mut coder = std::mem::replace(&mut self.coder, RangeWriter::new(&[], Vec::new()));
        let mut progress = self.progress;
        self.entity::<G, _>(&mut coder, &mut progress, index, change);
        for symbol in symbols {
            coder.symbol(*symbol);
        }
        self.coder = coder;
        self.progress = progress;
        self.cost = cost;
        true
    }

    /// Codes an entity without its fields' decisions.
    fn entity<G: Game, C: Coder>(
        &self,
        coder: &mut C,
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
                let _ = own_references(coder, self.references, progress.usual, &mut references);
                progress.usual = references == self.references;
                extrapolated(
                    coder,
                    self.layout,
                    encoding.kind,
                    encoding.activity,
                    progress.lately,
                    encoding.extrapolated,
                );
                progress.lately = (progress.lately << 1 | u8::from(encoding.extrapolated)) & 3;
                encoding.digest
            }
            Change::Full(state) => {
                plain(coder, Plain::Known, false);
                plain(coder, Plain::There, true);
                let mut state = *state;
                let _ = code_full::<G, C>(coder, &mut state, self.reader);
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

    /// Number of entities.
    pub fn count(&self) -> usize {
        self.progress.count
    }

    /// The finished packet.
    pub fn finish(mut self) -> Vec<u8> {
        plain(&mut self.coder, Plain::More, false);
        self.coder.raw(check(self.progress.sum), CHECK_BITS);
        self.coder.finish()
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
    let mut coder = reader_of(bytes, codec)?;
    let read = read_from(&mut coder, codec, game, near, reader, known, told)?;
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
    let mut header = SnapshotHeader::default();
    header.code(&mut reader_of(bytes, codec)?, codec.rates(), near)?;
    Ok(header)
}

/// Reader of what is behind the first byte of a snapshot packet.
fn reader_of<'b, G: Game>(
    bytes: &'b [u8],
    codec: &'b Codec<G>,
) -> Result<RangeReader<'b>, WireError> {
    let (kind, bytes) = bytes.split_first().ok_or(WireError::Short)?;
    if kind_of(*kind) != SNAPSHOT_KIND {
        return Err(WireError::Kind(*kind));
    }
    Ok(RangeReader::new(codec.layout().levels(), bytes))
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
    let coder = RangeReader::new(codec.layout().levels(), &bytes[1.min(bytes.len())..]);
    let mut coder = Counting { coder, counts };
    let _ = read_from(&mut coder, codec, game, near, reader, known, &mut Vec::new());
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

    fn even(&mut self, yes: bool) -> bool {
        let yes = self.coder.even(yes);
        self.counts.even(yes)
    }
}

/// All behind the first byte.
fn read_from<'s, G: Game, C: Coder>(
    coder: &mut C,
    codec: &Codec<G>,
    game: &G,
    near: Tick,
    reader: PlayerId,
    known: impl Fn(u16, Tick) -> Option<&'s EntityState>,
    told: &mut Vec<Told>,
) -> Result<SnapshotHeader, WireError> {
    let layout = codec.layout();
    let mut header = SnapshotHeader::default();
    header.code(coder, codec.rates(), near)?;
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
            if yes {
                codec.code(game, &mut AsExtrapolated, base.kind, own, &past, &mut packed);
            } else {
                codec.code(game, coder, base.kind, own, &past, &mut packed);
            }
            progress.lately = (lately << 1 | u8::from(yes)) & 3;
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
        progress.add(index, digest::<G::Entity>(index, state.as_ref()));
        told.push(Told { index, state, hidden });
    }
    if coder.raw(0, CHECK_BITS) != check(progress.sum) {
        return Err(WireError::Check);
    }
    Ok(header)
}

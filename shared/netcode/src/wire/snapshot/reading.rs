//! Decodes a snapshot packet: everything is decoded and validated before the caller commits any of
//! it.

use super::early::{EarlySteering, code_changes, has_place};
use super::header::{SnapshotHeader, Stamp};
use super::progress::{
    CHECK_BITS, EARLY_KIND, Progress, SILENCE_KIND, SNAPSHOT_KIND, check, code_full, digest,
};
use super::references::{References, own_references};
use super::silence::KindSet;
use crate::fields::{Entity, Packed};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{ENTITIES_MAX, FIELDS_MAX};
use crate::time::Tick;
use crate::wire::counts::Counts;
use crate::wire::datagram::kind_of;
use crate::wire::error::WireError;
use crate::wire::extrapolation::ReferenceStates;
use crate::wire::model::{Plain, gap, plain};
use crate::wire::range::{Coder, RangeReader};
use crate::wire::state::{AsExtrapolated, Basis, Codec, EntityState};

/// What a packet says about an entity, with all references resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityUpdate {
    /// Index of its slot.
    pub index: u16,
    /// State of the entity at the packet's tick; `None` if it is gone or hidden.
    pub state: Option<EntityState>,
    /// Whether it is hidden, not gone.
    pub hidden: bool,
}

/// What a reader knows before it decodes a packet.
#[derive(Clone, Copy, Debug)]
pub struct DecodeContext<'a, G, F> {
    /// The game's coding.
    pub codec: &'a Codec<G>,
    /// The rules.
    pub game: &'a G,
    /// A tick near the packet's.
    pub near: Tick,
    /// The player who reads.
    pub reader: PlayerId,
    /// Finds an entity's received state at a tick.
    pub known: F,
}

/// Decodes bytes with arbitrary content as a packet into `updates` and `early`, which are cleared
/// first. Changes nothing else; the caller commits.
pub fn read_snapshot<'s, G: Game>(
    bytes: &[u8],
    reading: &DecodeContext<'_, G, impl Fn(u16, Tick) -> Option<&'s EntityState>>,
    (updates, early): (&mut Vec<EntityUpdate>, &mut EarlySteering),
) -> Result<SnapshotHeader, WireError> {
    updates.clear();
    early.clear();
    let (opened, bytes) = open(bytes)?;
    let mut coder = RangeReader::new(reading.codec.layout().levels(), bytes);
    let read = read_from(&mut coder, reading, opened, (updates, early))?;
    coder.finish()?;
    Ok(read)
}

/// Decodes only the header of a packet with arbitrary content, for programs that acknowledge
/// without looking, such as a crowd that loads a server. `near` is a tick near the packet's.
///
/// # Errors
///
/// The packet is too short, or of another kind.
pub fn read_header<G: Game>(
    bytes: &[u8],
    codec: &Codec<G>,
    near: Tick,
) -> Result<SnapshotHeader, WireError> {
    let (Opened { stamp, .. }, bytes) = open(bytes)?;
    let mut header = SnapshotHeader::default();
    let mut coder = RangeReader::new(codec.layout().levels(), bytes);
    header.code(&mut coder, codec.rates(), near, stamp)?;
    Ok(header)
}

/// The part of a packet that is not coded.
#[derive(Clone, Copy, Debug)]
struct Opened {
    stamp: Stamp,
    /// Whether the packet contains kinds for which absence has a meaning.
    is_silent: bool,
    /// Whether it tells how its entities will be steered.
    is_early: bool,
}

/// Splits a packet into its start and the coded part.
fn open(bytes: &[u8]) -> Result<(Opened, &[u8]), WireError> {
    let (kind, rest) = bytes.split_first().ok_or(WireError::Short)?;
    const EARLY_SNAPSHOT_KIND: u8 = SNAPSHOT_KIND + EARLY_KIND;
    const EARLY_SILENCE_KIND: u8 = SILENCE_KIND + EARLY_KIND;
    let (is_silent, is_early) = match kind_of(*kind) {
        SNAPSHOT_KIND => (false, false),
        SILENCE_KIND => (true, false),
        EARLY_SNAPSHOT_KIND => (false, true),
        EARLY_SILENCE_KIND => (true, true),
        _ => return Err(WireError::Kind(*kind)),
    };
    let (stamp, coded) = rest.split_first_chunk().ok_or(WireError::Short)?;
    Ok((Opened { stamp: Stamp::read(*stamp), is_silent, is_early }, coded))
}

/// Counts the decisions of a valid packet.
pub(crate) fn count_snapshot<'s, G: Game>(
    bytes: &[u8],
    reading: &DecodeContext<'_, G, impl Fn(u16, Tick) -> Option<&'s EntityState>>,
    counts: &mut Counts,
) {
    let Ok((opened, coded)) = open(bytes) else { return };
    let coder = RangeReader::new(reading.codec.layout().levels(), coded);
    let mut coder = Counting { coder, counts };
    let _ =
        read_from(&mut coder, reading, opened, (&mut Vec::new(), &mut EarlySteering::default()));
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

/// Decodes everything that is coded.
fn read_from<'s, G: Game, C: Coder>(
    coder: &mut C,
    reading: &DecodeContext<'_, G, impl Fn(u16, Tick) -> Option<&'s EntityState>>,
    opened: Opened,
    (updates, early): (&mut Vec<EntityUpdate>, &mut EarlySteering),
) -> Result<SnapshotHeader, WireError> {
    let mut header = SnapshotHeader::default();
    header.code(coder, reading.codec.rates(), reading.near, opened.stamp)?;
    coder.end();
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
            Some(read_known(coder, reading, &header, &mut progress, index)?)
        } else if plain(coder, Plain::There, false) {
            let mut state =
                EntityState { generation: 0, kind: 0, owner: None, packed: [0; FIELDS_MAX] };
            code_full::<G, _>(coder, &mut state, reading.reader)?;
            Some(state)
        } else {
            hidden = !plain(coder, Plain::Gone, false);
            None
        };
        coder.end();
        progress.add(index, digest::<G::Entity>(index, state.as_ref()));
        updates.push(EntityUpdate { index, state, hidden });
    }
    if opened.is_silent {
        header.silent = KindSet::NONE.code(coder, G::Entity::kinds().len());
    }
    for update in updates.iter().filter(|_| opened.is_early) {
        let Some(state) = update.state else { continue };
        if has_place::<G::Entity>(&state, reading.reader) {
            let fields = G::Entity::kinds()[usize::from(state.kind)].fields;
            code_changes(coder, fields, &state.packed, &[], |change| {
                early.push(update.index, change);
            })?;
        }
    }
    early.sort();
    if coder.raw(0, CHECK_BITS) != check(progress.sum) {
        return Err(WireError::Check);
    }
    Ok(header)
}

/// Decodes an entity whose older states the reader has.
#[inline]
fn read_known<'s, G: Game, C: Coder>(
    coder: &mut C,
    reading: &DecodeContext<'_, G, impl Fn(u16, Tick) -> Option<&'s EntityState>>,
    header: &SnapshotHeader,
    progress: &mut Progress,
    index: u16,
) -> Result<EntityState, WireError> {
    let DecodeContext { codec, game, reader, known, .. } = reading;
    let layout = codec.layout();
    let mut references = References::NONE;
    let (packet, before) = (header.references, progress.usual);
    progress.usual = own_references(coder, packet, before, false, &mut references)?;
    let find = |age: u8| {
        let then = header.tick.0.checked_sub(u64::from(age)).ok_or(WireError::Baseline)?;
        known(index, Tick(then)).ok_or(WireError::Baseline)
    };
    let mut ages = references.iter();
    let age = ages.next().ok_or(WireError::Baseline)?;
    let base = find(age)?;
    let mut past = ReferenceStates::default();
    past.push(age, &base.packed);
    for age in ages.take(layout.references(base.kind) - 1) {
        let state = find(age)?;
        if !state.same_entity(base) {
            return Err(WireError::Baseline);
        }
        past.push(age, &state.packed);
    }
    let fields = G::Entity::kinds()[usize::from(base.kind)].fields;
    let context = layout.extrapolated_context(base.kind, past.activity(fields), progress.lately);
    let is_extrapolated = coder.bit(context, false);
    coder.end();
    let basis = Basis { kind: base.kind, own: base.owner == Some(*reader), past: &past };
    let mut packed: Packed = [0; FIELDS_MAX];
    if is_extrapolated {
        codec.read(game, &mut AsExtrapolated, basis, &mut packed);
    } else {
        codec.read(game, coder, basis, &mut packed);
    }
    progress.predicted(is_extrapolated);
    Ok(EntityState { packed, ..*base })
}

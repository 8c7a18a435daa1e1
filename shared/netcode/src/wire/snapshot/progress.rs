//! Common parts of the writer and the reader of a snapshot's packets: kinds, digests, complete
//! states, and progress.

use crate::fields::Entity;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::PACKET_ENTITIES_MAX;
use crate::wire::cast::{low8, low16};
use crate::wire::error::WireError;
use crate::wire::fields::visible;
use crate::wire::model::{Plain, plain};
use crate::wire::range::Coder;
use crate::wire::state::EntityState;

/// First byte of a snapshot packet.
pub const SNAPSHOT_KIND: u8 = 2;
/// First byte of a snapshot's last packet, if absence from the snapshot means that an entity is as
/// extrapolated.
pub const SILENCE_KIND: u8 = 3;
/// Added to the first byte of a packet that tells how its entities will be steered.
pub(super) const EARLY_KIND: u8 = 2;

/// Returns the 32-bit FNV-1a of an entity.
pub(crate) fn digest<E: Entity>(index: u16, state: Option<&EntityState>) -> u32 {
    let step = |hash: u32, word: u32| (hash ^ word).wrapping_mul(0x0100_0193);
    let start = step(0x811c_9dc5, u32::from(index));
    let Some(state) = state else { return start };
    let owner = state.owner.map_or(0, |owner| u32::from(owner.0) + 1);
    let head = (u32::from(state.generation) << 8) | (u32::from(state.kind) + 1);
    let fields = &state.packed[..E::kinds()[usize::from(state.kind)].fields.len()];
    fields.iter().fold(step(step(start, head), owner), |hash, value| step(hash, *value))
}

fn add_digest(sum: u32, digest: u32) -> u32 {
    (sum.rotate_left(5) ^ digest).wrapping_mul(0x0100_0193)
}

/// Bits of a packet's checksum, which detects different extrapolations or references; QUIC protects
/// the bytes.
pub(super) const CHECK_BITS: u32 = 16;

pub(super) fn check(sum: u32) -> u32 {
    (sum ^ sum >> 16) & ((1 << CHECK_BITS) - 1)
}

/// State of both sides as they process a packet's entities.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) count: usize,
    /// Index after the last entity, and the number of indices since the first.
    pub(super) next: u16,
    pub(super) turned: u32,
    /// The gap before the last entity.
    pub(super) gap: u16,
    /// Two bits: whether the previous two entities were as extrapolated.
    pub(super) lately: u8,
    /// Whether the previous one had the packet's references.
    pub(super) usual: bool,
    pub(super) sum: u32,
}

impl Progress {
    pub(super) fn gap_to(&self, index: u16) -> u16 {
        index.wrapping_sub(self.next)
    }

    /// Whether an entity may follow: indices wrap at most once.
    pub(super) fn may_follow(&self, gap: u16) -> bool {
        let turned = if self.count == 0 { 0 } else { self.turned + u32::from(gap) };
        self.count < PACKET_ENTITIES_MAX && turned <= u32::from(u16::MAX)
    }

    pub(super) fn predicted(&mut self, yes: bool) {
        self.lately = (self.lately << 1 | u8::from(yes)) & 3;
    }

    pub(super) fn add(&mut self, index: u16, digest: u32) {
        self.gap = self.gap_to(index);
        self.turned += if self.count == 0 { 1 } else { u32::from(self.gap) + 1 };
        self.count += 1;
        self.next = index.wrapping_add(1);
        self.sum = add_digest(self.sum, digest);
    }
}

/// Returns the number of bits for a kind.
fn kind_bits<E: Entity>() -> u32 {
    usize::BITS - (E::kinds().len() - 1).leading_zeros()
}

/// Codes a complete state.
pub(super) fn code_full<G: Game, C: Coder>(
    coder: &mut C,
    state: &mut EntityState,
    reader: PlayerId,
) -> Result<(), WireError> {
    state.generation = low8(coder.raw(u32::from(state.generation), 8).into());
    state.kind = low8(coder.raw(u32::from(state.kind), kind_bits::<G::Entity>()).into());
    let kind = G::Entity::kinds().get(usize::from(state.kind));
    let kind = kind.ok_or(WireError::Range("entity's kind"))?;
    state.owner = plain(coder, Plain::Owned, state.owner.is_some())
        .then(|| coder.raw(state.owner.map_or(0, |owner| u32::from(owner.0)), 16))
        .map(|owner| PlayerId(low16(owner)));
    let own = state.owner == Some(reader);
    for (field, value) in kind.fields.iter().zip(&mut state.packed) {
        *value = match visible(field, own) {
            true => coder.raw(*value, field.bits).min(field.greatest),
            false => 0,
        };
    }
    Ok(())
}

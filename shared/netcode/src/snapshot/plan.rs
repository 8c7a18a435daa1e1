//! Working data of a client's snapshot while it is packed.

use super::bits::Bits;
use super::content::Content;
use super::early::EarlyReach;
use super::encodings::{Encoded, Encodings};
use super::history::Source;
use super::strands::{ReferenceSet, StrandId};
use crate::limits::REFERENCES_MAX;
use crate::wire::range::Group;
use crate::wire::snapshot::{EarlySteering, References};

/// A snapshot of one client that was begun and not yet packed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Begun {
    /// References of most entities.
    pub(super) references: ReferenceSet,
    /// Encodings from exactly these references, if there is space for them.
    pub(super) strand: Option<StrandId>,
}

/// Memory that is reused for each snapshot.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// Entities to send, and those of them whose removal must be sent to the client.
    pub(super) listed: Bits,
    pub(super) ended: Bits,
    /// Relevant entities that may rest; see [`Encodings::resting`].
    pub(super) resting: Bits,
    /// Resting entities for which the server must check whether the client has them.
    pub(super) unsure: Bits,
    /// Entities for which the client has all the packet's references that they need.
    pub(super) usual: Bits,
    /// Entities for which the client has this many of the newest references, indexed by the number,
    /// from one on.
    pub(super) led: [Bits; REFERENCES_MAX],
    /// Some of the listed entities, most important first.
    pub(super) due: Vec<u16>,
    pub(super) chosen: Vec<Chosen>,
    /// Encodings from references other than the packet's.
    pub(super) others: Vec<(References, Encoded)>,
    pub(super) packets: Vec<Packed>,
    /// Buffers of packets that did not fit.
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) contents: Vec<Content>,
    pub(super) groups: Vec<Group>,
}

/// An entity in a snapshot, and its coding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) index: u16,
    /// Position in the order of priorities.
    pub(super) rank: u16,
    pub(super) coded: Coded,
}

/// Coding of an entity.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coded {
    /// From the newest references of the packet: the place of an encoding.
    Shared(u32),
    /// From its own references: a position in [`Space::others`].
    Other(u16),
    /// The complete state.
    Full,
    Gone,
    Hidden,
}

/// A finished packet.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    /// Number of entities in it.
    pub(super) count: usize,
}

/// Everything that a client's snapshot is made from.
#[derive(Debug)]
pub(super) struct Scene<'a, G> {
    pub(super) source: Source<'a, G>,
    pub(super) encodings: &'a Encodings<G>,
    pub(super) begun: Begun,
    pub(super) early: &'a EarlySteering,
    pub(super) reach: EarlyReach,
}

/// Maximum size in bytes of one packet, and of all packets of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) packet: usize,
    pub(super) snapshot: usize,
}

//! The parts of a client's snapshot while it is packed.

use super::bits::Bits;
use super::content::Content;
use super::encodings::{Encoded, Encodings};
use super::history::Source;
use super::strands::{ReferenceSet, StrandId};
use crate::limits::REFERENCES_MAX;
use crate::wire::range::Group;
use crate::wire::snapshot::References;

/// A begun snapshot of one client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Begun {
    /// References of most entities.
    pub(super) references: ReferenceSet,
    /// Encodings from just these, if there is room for them.
    pub(super) strand: Option<StrandId>,
}

/// Memory that is used again for each snapshot.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// Entities to send, and of these those of whose end the client must be told.
    pub(super) listed: Bits,
    pub(super) ended: Bits,
    /// Relevant entities that may rest, see [`Encodings::resting`].
    pub(super) resting: Bits,
    /// Of these, those of which it has to be found out whether the client has them.
    pub(super) unsure: Bits,
    /// Entities of which the client has all the packet's references that they need.
    pub(super) usual: Bits,
    /// By their number, from one on, entities of which it has so many of the newest ones.
    pub(super) led: [Bits; REFERENCES_MAX],
    /// Some of the listed, the most important first.
    pub(super) due: Vec<u16>,
    pub(super) chosen: Vec<Chosen>,
    /// Encodings from other references than the packet's.
    pub(super) others: Vec<(References, Encoded)>,
    pub(super) packets: Vec<Packed>,
    /// Buffers of packets that did not fit.
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) contents: Vec<Content>,
    pub(super) groups: Vec<Group>,
}

/// An entity of a snapshot, and its coding.
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
    Led(u32),
    /// From references of its own, at a position in [`Space::others`].
    Other(u16),
    /// The whole state.
    Full,
    Gone,
    Hidden,
}

/// A finished packet.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    /// Number of the chosen entities in it.
    pub(super) count: usize,
}

/// All that a client's snapshot is made of.
#[derive(Debug)]
pub(super) struct Scene<'a, G> {
    pub(super) source: Source<'a, G>,
    pub(super) encodings: &'a Encodings<G>,
    pub(super) begun: Begun,
}

/// Most bytes of one packet, and of all of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) packet: usize,
    pub(super) snapshot: usize,
}

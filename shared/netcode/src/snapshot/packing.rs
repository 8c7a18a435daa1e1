//! Chooses the content of a client's snapshot, and packs it.

use std::mem::take;

use super::EntityState;
use super::early::EarlyReach;
use super::encodings::{Encoded, Subject};
use super::plan::{Chosen, Coded, Packed, Scene, Size, Space};
use super::sender::{Departure, Sender};
use super::strands::Strand;
use crate::fields::Entity;
use crate::game::Game;
use crate::limits::{DATAGRAM_BYTES_MIN, SNAPSHOT_PACKETS_MAX};
use crate::wire::fields::without_hidden;
use crate::wire::layout::BRIEF;
use crate::wire::snapshot::{Change, EarlyChange, References, SnapshotHeader, SnapshotWriter};

/// Minimum space in bytes for which a packet is started. Headers measured 24 to 40.
const HEADER_BYTES: usize = 48;
/// Bytes that the first packet may always use: a header and one whole entity.
const PACKET_BYTES_MIN: usize = DATAGRAM_BYTES_MIN;
/// Estimated cost of a removal in 1/1024 bit.
const AWAY_COST: u64 = 12 * 1024;

/// Where the codings of the chosen entities are.
struct Listing<'a, G> {
    scene: &'a Scene<'a, G>,
    others: &'a [(References, Encoded)],
}

impl<G> Clone for Listing<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for Listing<'_, G> {}

impl Sender {
    /// Fills the packets of a snapshot with the listed entities: all of them, or the most important
    /// ones. Returns whether they had to be ordered.
    pub(super) fn fill<G: Game>(
        &mut self,
        scene: &Scene<'_, G>,
        space: &mut Space,
        departure: &Departure<'_>,
        size: Size,
    ) -> bool {
        let Departure { relevant, header, .. } = *departure;
        self.find_usual(scene, space);
        if self.left_out == 0 {
            self.choose_all(scene, space);
            let packed = self.write(scene, space, header, size);
            let bytes: usize = space.packets.iter().map(|packed| packed.bytes.len()).sum();
            if packed == space.chosen.len() && bytes <= size.snapshot.max(HEADER_BYTES) {
                self.priorities.skip();
                return false;
            }
        }
        self.priorities.begin();
        let told = relevant.iter().filter(|told| space.listed.contains(told.index));
        told.for_each(|told| self.priorities.relevant(told.index, told.weight));
        space.ended.iter().for_each(|index| self.priorities.urgent(index));
        let mut due = take(&mut space.due);
        self.priorities.order(usize::MAX, &mut due);
        self.choose(scene, space, &due, size);
        space.due = due;
        // The choice was an estimate. While it does not fit, drop the least important entities.
        loop {
            let packed = self.write(scene, space, header, size);
            if packed == space.chosen.len() {
                return true;
            }
            let over = (space.chosen.len() - packed).max(space.chosen.len() / 16).max(1);
            let keep = space.chosen.len() - over;
            // The chosen entities are in the order of indices.
            space.chosen.retain(|chosen| usize::from(chosen.rank) < keep);
        }
    }

    /// Finds the entities for which the client has the packet's references, or the newest of them.
    /// A reader who sees no more of its own entities than others do shares their encodings.
    fn find_usual<G: Game>(&self, scene: &Scene<'_, G>, space: &mut Space) {
        let Scene { encodings, begun, .. } = scene;
        let Space { usual, led, ended, .. } = space;
        usual.clear();
        let strands = begun.strand.into_iter().flat_map(|strand| encodings.strands(strand));
        self.knowledge.write_led(strands, led);
        let [newest, ..] = &mut *led;
        newest.subtract(ended);
        encodings.private(self.reader).for_each(|index| newest.remove(index));
        let len = begun.references.len();
        if let Some(few) = led.get(BRIEF.min(len).wrapping_sub(1)) {
            usual.set(few);
            usual.keep(encodings.brief());
        }
        if let Some(all) = led.get(len.wrapping_sub(1)) {
            usual.add(all);
        }
        usual.keep(&led[0]);
    }

    /// Returns the strand for an entity for which the client has the packet's newest references.
    #[inline]
    fn strand<'s, G: Game>(scene: &Scene<'s, G>, space: &Space, index: u16) -> Option<&'s Strand> {
        let mut strands = scene.encodings.strands(scene.begun.strand?);
        if space.usual.contains(index) {
            return strands.next();
        }
        if !space.led[0].contains(index) {
            return None;
        }
        strands.find(|strand| space.led[strand.references.len() - 1].contains(index))
    }

    /// Chooses all listed entities, from the cursor on.
    fn choose_all<G: Game>(&self, scene: &Scene<'_, G>, space: &mut Space) {
        space.chosen.clear();
        space.others.clear();
        let listed = take(&mut space.listed);
        for index in listed.iter_from(self.cursor) {
            let Scene { source, encodings, .. } = scene;
            let place = Self::strand(scene, space, index)
                .and_then(|strand| encodings.place(source, strand, index, &mut space.groups));
            let coded = match place {
                Some(place) => Coded::Shared(place),
                None => self.coded(scene, space, index).0,
            };
            space.chosen.push(Chosen { index, rank: 0, coded });
        }
        space.listed = listed;
    }

    /// Chooses from those `due`, in this order, and sorts them by index from the cursor on.
    fn choose<G: Game>(&self, scene: &Scene<'_, G>, space: &mut Space, due: &[u16], size: Size) {
        space.chosen.clear();
        space.others.clear();
        let most = size.snapshot.min(SNAPSHOT_PACKETS_MAX * size.packet) as u64 * 8 * 1024;
        let mut cost = 0;
        for (rank, &index) in (0..).zip(due) {
            let (coded, its_cost) = self.coded(scene, space, index);
            cost += its_cost;
            // At least one, or a large entity would wait forever.
            if cost > most && !space.chosen.is_empty() {
                break;
            }
            space.chosen.push(Chosen { index, rank, coded });
        }
        space.chosen.sort_unstable_by_key(|chosen| (chosen.index < self.cursor, chosen.index));
    }

    /// Returns an entity's coding, and its estimated cost in 1/1024 bit: of the fields, and of what
    /// usually accompanies them.
    fn coded<G: Game>(&self, scene: &Scene<'_, G>, space: &mut Space, index: u16) -> (Coded, u64) {
        let Scene { source, encodings, begun, .. } = scene;
        let state = source.frame.get(index).filter(|_| !space.ended.contains(index));
        let Some(state) = state else {
            let away = match self.knowledge.away(source, index) {
                Change::Gone => Coded::Gone,
                _ => Coded::Hidden,
            };
            return (away, AWAY_COST);
        };
        let cost = |encoded: &Encoded| u64::from(encoded.coding.encoding.cost) + 1024;
        let strand = Self::strand(scene, space, index);
        if let Some(strand) = strand
            && let Some(place) = encodings.place(source, strand, index, &mut space.groups)
            && let Some(encoded) = encodings.stored(place)
        {
            return (Coded::Shared(place), cost(encoded));
        }
        let own = state.owner == Some(self.reader) && encodings.codec().hides(state.kind);
        let needed = encodings.codec().layout().references(state.kind);
        let references = match strand {
            Some(strand) => strand.references,
            None => self.knowledge.references(source, &begun.references, index),
        };
        let references = references.first(needed);
        match encodings.other(source, Subject { index, own }, &references, &mut space.groups) {
            Some(encoded) => {
                let cost = cost(&encoded);
                space.others.push((references.references, encoded));
                (Coded::Other((space.others.len() - 1) as u16), cost)
            }
            None => {
                let fields = G::Entity::kinds()[usize::from(state.kind)].fields;
                let bits: u32 = fields.iter().map(|field| field.bits).sum();
                (Coded::Full, u64::from(bits + 40) * 1024)
            }
        }
    }

    /// Writes the chosen entities into packets. Returns how many fit.
    fn write<G: Game>(
        &self,
        scene: &Scene<'_, G>,
        space: &mut Space,
        header: SnapshotHeader,
        size: Size,
    ) -> usize {
        space.buffers.extend(space.packets.drain(..).map(|packed| packed.bytes));
        // An entity left out for lack of space must not count as extrapolated.
        let is_whole = space.chosen.len() == space.listed.count();
        let mut left = space.chosen.as_slice();
        let mut remaining = size.snapshot;
        let codec = scene.encodings.codec();
        while space.packets.len() < SNAPSHOT_PACKETS_MAX
            && (space.packets.is_empty() || !left.is_empty() && remaining > HEADER_BYTES)
        {
            let seq = (self.next_seq + space.packets.len() as u64) as u16;
            let header = SnapshotHeader { seq, ..header };
            let buffer = space.buffers.pop().unwrap_or_else(|| Vec::with_capacity(size.packet));
            let mut writer =
                SnapshotWriter::new(codec, header, self.reader, buffer, &mut space.groups);
            let first = space.packets.is_empty();
            let most = if first { remaining.max(PACKET_BYTES_MIN) } else { remaining };
            let most = most.min(size.packet);
            let listing = Listing { scene, others: &space.others };
            for chosen in left {
                if !self.push(&mut writer, listing, chosen, most) {
                    break;
                }
            }
            let count = writer.count();
            if count == 0 && !first {
                break;
            }
            if is_whole && count == left.len() {
                writer.end_snapshot();
            }
            let packet = match scene.reach {
                EarlyReach::NONE => writer.finish(),
                reach => writer.finish_early::<G>(most, early(scene, &left[..count], reach)),
            };
            remaining = remaining.saturating_sub(packet.len());
            left = &left[count..];
            space.packets.push(Packed { bytes: packet, count });
            if count == 0 {
                break;
            }
        }
        space.chosen.len() - left.len()
    }

    /// Writes an entity into a packet of at most `bytes_max` bytes, if it fits.
    fn push<G: Game>(
        &self,
        writer: &mut SnapshotWriter<'_>,
        listing: Listing<'_, G>,
        chosen: &Chosen,
        most: usize,
    ) -> bool {
        let Listing { scene: Scene { source, encodings, .. }, others } = listing;
        let index = chosen.index;
        match chosen.coded {
            Coded::Shared(place) => encodings.stored(place).is_some_and(|kept| {
                writer.push_referenced::<G>(index, &kept.coding, kept.groups(), most)
            }),
            Coded::Other(at) => {
                let (references, encoded) = &others[usize::from(at)];
                let change = Change::Known(*references, encoded.coding.encoding);
                writer.push::<G>(index, &change, encoded.groups(), most)
            }
            Coded::Full => source.frame.get(index).is_some_and(|state| {
                let fields = G::Entity::kinds()[usize::from(state.kind)].fields;
                let own = state.owner == Some(self.reader);
                let packed = without_hidden(fields, own, &state.packed);
                let whole = Change::Full(EntityState { packed, ..*state });
                writer.push::<G>(index, &whole, &[], most)
            }),
            Coded::Gone => writer.push::<G>(index, &Change::Gone, &[], most),
            Coded::Hidden => writer.push::<G>(index, &Change::Hidden, &[], most),
        }
    }
}

/// Returns the present entities among those of a packet, and how they will be steered.
fn early<'s, G>(
    scene: &Scene<'s, G>,
    chosen: &[Chosen],
    reach: EarlyReach,
) -> impl Iterator<Item = (&'s EntityState, &'s [EarlyChange])> {
    let (frame, early) = (scene.source.frame, scene.early);
    let present = chosen.iter().filter(|it| !matches!(it.coded, Coded::Gone | Coded::Hidden));
    let present = present.filter_map(|it| Some((it.index, frame.get(it.index)?)));
    present.map(move |(index, state)| (state, reach.told(early, index, state.kind)))
}

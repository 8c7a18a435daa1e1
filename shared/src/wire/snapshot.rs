//! The snapshot packet, from the server to a client: timing, and entities, each against a state
//! of it that the client acknowledged. A snapshot may take several packets; each is useful alone.

use super::bits::{BitReader, BitWriter, unzigzag, zigzag};
use super::fields::{read_delta, read_full, write_delta, write_full};
use super::{Echo, WireError};
use crate::ids::PlayerId;
use crate::limits::{BASELINE_AGE_TICKS_MAX, ENTITIES_MAX, PACKET_ENTITIES_MAX};
use crate::replicate::{Entity, Packed};
use crate::snapshot::State;
use crate::time::Tick;

/// First byte of a snapshot packet.
pub const SNAPSHOT_KIND: u8 = 2;

/// What the server measured of a client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perceived {
    /// The client's offset less the one in its welcome, in microseconds.
    pub offset_change: i32,
    /// Round trip in microseconds; saturates at 16.7 s.
    pub round_trip: u32,
    /// By how much the offset may be wrong, in microseconds; saturates at 1.05 s.
    pub error_max: u32,
}

/// How early a client's inputs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputReport {
    /// Low bits of the newest tick for which the server has an input.
    pub newest: u16,
    /// How long before its tick was due that input came, in microseconds; negative is
    /// after that, which may have been too late.
    /// Saturates at +-8.3 s.
    pub newest_early: i32,
    /// How many ticks before `newest` the one lies that came closest to being late, or latest,
    /// in the time of the last few snapshots; at most 127.
    pub worst_back: u8,
    /// How early that one came.
    pub worst_early: i32,
    /// Low bits of how many ticks so far ran without this client's input.
    pub late: u16,
    /// Low bits of how many input packets so far did not come.
    pub missing: u16,
}

/// All of a snapshot packet but the entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// Low bits of the packet's sequence number for this client.
    pub seq: u16,
    /// Low bits of the tick that the states are of.
    pub tick: u16,
    /// Low bits of the server's time when it sent this, in microseconds.
    pub sent: u32,
    /// The send time of the client's newest input packet.
    pub echo: Option<Echo>,
    /// The client's clock as the server perceives it; none before the first round trip.
    pub perceived: Option<Perceived>,
    /// How early inputs come; none before the first.
    pub inputs: Option<InputReport>,
    /// Age in ticks of the first entity's baseline, which most others in the packet share; 0 if it
    /// has none.
    pub baseline_age: u8,
}

/// What a packet says of one entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change<'a> {
    /// It is as it was `age` ticks ago.
    Same {
        /// Age of the baseline in ticks, at least 1.
        age: u8,
    },
    /// It differs from what it was `age` ticks ago.
    Delta {
        /// Age of the baseline in ticks, at least 1.
        age: u8,
        /// The state then.
        base: &'a Packed,
        /// The state now.
        state: &'a State,
    },
    /// All of its state.
    Full(&'a State),
    /// It is no more.
    Gone,
}

/// Order of the code for gaps between ids: neighbours cost 1 bit.
const GAP_ORDER: u32 = 0;

/// Fills one packet up to a budget.
#[derive(Debug)]
pub struct SnapshotWriter {
    header: SnapshotHeader,
    header_bytes: usize,
    entities: BitWriter,
    count: usize,
    next_index: u32,
    reader: PlayerId,
}

impl SnapshotWriter {
    /// Starts a packet for `reader`, who sees the hidden fields of what it owns.
    pub fn new(header: SnapshotHeader, reader: PlayerId) -> Self {
        let mut writer = BitWriter::new();
        write_header(&mut writer, &header);
        // The count of entities comes between header and entities.
        let header_bytes = (writer.bit_len() + 10).div_ceil(8);
        Self { header, header_bytes, entities: BitWriter::new(), count: 0, next_index: 0, reader }
    }

    /// Adds an entity if the packet then has at most `budget` bytes; indices must rise.
    pub fn push<E: Entity>(&mut self, index: u16, change: &Change<'_>, budget: usize) -> bool {
        if self.count == PACKET_ENTITIES_MAX || u32::from(index) < self.next_index {
            return false;
        }
        let mut one = BitWriter::new();
        one.golomb(u32::from(index) - self.next_index, GAP_ORDER);
        match change {
            Change::Same { age } => {
                one.flag(true);
                self.write_age(&mut one, *age);
            }
            Change::Delta { age, base, state } => {
                one.bits(0b10, 2);
                self.write_age(&mut one, *age);
                let fields = E::KINDS[usize::from(state.kind)].fields;
                write_delta(&mut one, fields, self.owns(state), base, &state.packed);
            }
            Change::Full(state) => {
                one.bits(0b100, 3);
                one.bits(u64::from(state.generation), 8);
                one.bits(u64::from(state.kind), kind_bits::<E>());
                one.flag(state.owner.is_some());
                if let Some(owner) = state.owner {
                    one.bits(u64::from(owner.0), 16);
                }
                let fields = E::KINDS[usize::from(state.kind)].fields;
                write_full(&mut one, fields, self.owns(state), &state.packed);
            }
            Change::Gone => one.bits(0b000, 3),
        }
        let bits = self.entities.bit_len() + one.bit_len();
        // A byte more covers the header's own fraction of one.
        if self.header_bytes + bits.div_ceil(8) + 1 > budget {
            return false;
        }
        self.entities.append(&one);
        self.count += 1;
        self.next_index = u32::from(index) + 1;
        true
    }

    fn write_age(&self, one: &mut BitWriter, age: u8) {
        one.flag(age == self.header.baseline_age);
        if age != self.header.baseline_age {
            one.bits(u64::from(age), 8);
        }
    }

    fn owns(&self, state: &State) -> bool {
        state.owner == Some(self.reader)
    }

    /// How many entities are in it.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The packet.
    pub fn finish(self) -> Vec<u8> {
        let mut writer = BitWriter::new();
        write_header(&mut writer, &self.header);
        writer.bits(self.count as u64, 10);
        writer.append(&self.entities);
        writer.into_bytes()
    }
}

/// Bits for the number of a kind.
fn kind_bits<E: Entity>() -> u32 {
    usize::BITS - (E::KINDS.len() - 1).leading_zeros()
}

fn write_header(writer: &mut BitWriter, header: &SnapshotHeader) {
    writer.bits(u64::from(SNAPSHOT_KIND), 8);
    writer.bits(u64::from(header.seq), 16);
    writer.bits(u64::from(header.tick), 16);
    writer.bits(u64::from(header.sent), 32);
    Echo::write(writer, header.echo);
    writer.flag(header.perceived.is_some());
    if let Some(perceived) = header.perceived {
        writer.bits(u64::from(zigzag(perceived.offset_change)), 32);
        writer.bits(u64::from(perceived.round_trip.min((1 << 24) - 1)), 24);
        writer.bits(u64::from(perceived.error_max.min((1 << 20) - 1)), 20);
    }
    writer.flag(header.inputs.is_some());
    if let Some(inputs) = header.inputs {
        writer.bits(u64::from(inputs.newest), 16);
        write_signed_24(writer, inputs.newest_early);
        writer.bits(u64::from(inputs.worst_back.min(127)), 7);
        write_signed_24(writer, inputs.worst_early);
        writer.bits(u64::from(inputs.late), 16);
        writer.bits(u64::from(inputs.missing), 16);
    }
    writer.bits(u64::from(header.baseline_age), 8);
}

fn write_signed_24(writer: &mut BitWriter, value: i32) {
    let most = (1 << 23) - 1;
    writer.bits(u64::from(zigzag(value.clamp(-most, most))), 24);
}

fn read_signed_24(reader: &mut BitReader<'_>) -> Result<i32, WireError> {
    Ok(unzigzag(reader.u32(24)?))
}

fn read_header(reader: &mut BitReader<'_>) -> Result<SnapshotHeader, WireError> {
    let kind = reader.u8(8)?;
    if kind != SNAPSHOT_KIND {
        return Err(WireError::Kind(kind));
    }
    let seq = reader.u16(16)?;
    let tick = reader.u16(16)?;
    let sent = reader.u32(32)?;
    let echo = Echo::read(reader)?;
    let perceived = if reader.flag()? {
        let offset_change = unzigzag(reader.u32(32)?);
        Some(Perceived { offset_change, round_trip: reader.u32(24)?, error_max: reader.u32(20)? })
    } else {
        None
    };
    let inputs = if reader.flag()? {
        Some(InputReport {
            newest: reader.u16(16)?,
            newest_early: read_signed_24(reader)?,
            worst_back: reader.u8(7)?,
            worst_early: read_signed_24(reader)?,
            late: reader.u16(16)?,
            missing: reader.u16(16)?,
        })
    } else {
        None
    };
    let baseline_age = reader.u8(8)?;
    Ok(SnapshotHeader { seq, tick, sent, echo, perceived, inputs, baseline_age })
}

/// A snapshot packet's content, every baseline applied.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotPacket {
    /// Timing.
    pub header: SnapshotHeader,
    /// The tick in full.
    pub tick: Tick,
    /// Entities by index: their state at that tick, or none for what is no more.
    pub entities: Vec<(u16, Option<State>)>,
}

/// Reads a packet that may be anything. `near` is a tick near the packet's, `reader` the player
/// that it was sent to, and `baseline` finds the state that an entity had at a tick, if it was
/// received. Nothing is changed; the caller commits what it gets.
pub fn read_snapshot<'s, E: Entity>(
    bytes: &[u8],
    near: Tick,
    reader: PlayerId,
    baseline: impl Fn(u16, Tick) -> Option<&'s State>,
) -> Result<SnapshotPacket, WireError> {
    let mut bits = BitReader::new(bytes);
    let header = read_header(&mut bits)?;
    let tick = Tick::widen(header.tick, near);
    let count = usize::from(bits.u16(10)?);
    // An entity takes 3 bits or more, so this allocates in proportion to what is there.
    if count > PACKET_ENTITIES_MAX || count * 3 > bits.left() {
        return Err(WireError::Range("count of entities"));
    }
    let mut entities = Vec::with_capacity(count);
    let mut next_index = 0_u32;
    for _ in 0..count {
        let index = next_index
            .checked_add(bits.golomb(GAP_ORDER)?)
            .and_then(|index| u16::try_from(index).ok())
            .filter(|index| *index < ENTITIES_MAX)
            .ok_or(WireError::Range("entity's index"))?;
        next_index = u32::from(index) + 1;
        let state = if bits.flag()? {
            let age = read_age(&mut bits, &header)?;
            let base = find(&baseline, index, tick, age)?;
            Some(*base)
        } else if bits.flag()? {
            let age = read_age(&mut bits, &header)?;
            let base = find(&baseline, index, tick, age)?;
            let fields = E::KINDS[usize::from(base.kind)].fields;
            let own = base.owner == Some(reader);
            Some(State { packed: read_delta(&mut bits, fields, own, &base.packed)?, ..*base })
        } else if bits.flag()? {
            let generation = bits.u8(8)?;
            let kind = bits.u8(kind_bits::<E>())?;
            let kind_table =
                E::KINDS.get(usize::from(kind)).ok_or(WireError::Range("entity's kind"))?;
            let owner = if bits.flag()? { Some(PlayerId(bits.u16(16)?)) } else { None };
            let packed = read_full(&mut bits, kind_table.fields, owner == Some(reader))?;
            Some(State { generation, kind, owner, packed })
        } else {
            None
        };
        entities.push((index, state));
    }
    bits.finish()?;
    Ok(SnapshotPacket { header, tick, entities })
}

fn read_age(bits: &mut BitReader<'_>, header: &SnapshotHeader) -> Result<u8, WireError> {
    let age = if bits.flag()? { header.baseline_age } else { bits.u8(8)? };
    if age == 0 || u64::from(age) > BASELINE_AGE_TICKS_MAX {
        return Err(WireError::Range("age of a baseline"));
    }
    Ok(age)
}

fn find<'s>(
    baseline: &impl Fn(u16, Tick) -> Option<&'s State>,
    index: u16,
    tick: Tick,
    age: u8,
) -> Result<&'s State, WireError> {
    let then = tick.0.checked_sub(u64::from(age)).ok_or(WireError::Baseline)?;
    baseline(index, Tick(then)).ok_or(WireError::Baseline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{DATAGRAM_BYTES_MAX, FIELDS_MAX};
    use crate::replicate::Record;
    use crate::wire::documented;
    use proptest::prelude::*;

    crate::record! {
        struct Ball {
            x: f32 = Field::centred(10, 2),
            bounces: u8 = Field::count(3),
            plan: u8 = Field::count(4).owner_only(),
        }
    }

    const READER: PlayerId = PlayerId(3);

    fn header() -> SnapshotHeader {
        SnapshotHeader {
            seq: 9,
            tick: 600,
            sent: 10_000_000,
            echo: Some(Echo { time: 77, held: 1234 }),
            perceived: Some(Perceived { offset_change: -2, round_trip: 40_000, error_max: 19_000 }),
            inputs: Some(InputReport {
                newest: 606,
                newest_early: 9000,
                worst_back: 2,
                worst_early: -1,
                late: 1,
                missing: 3,
            }),
            baseline_age: 6,
        }
    }

    fn state(x: f32, owner: Option<PlayerId>) -> State {
        let packed = Record::pack(&Ball { x, bounces: 2, plan: 5 });
        let fields = Ball::FIELDS;
        let packed = super::super::fields::without_hidden(fields, owner == Some(READER), &packed);
        State { generation: 1, kind: 0, owner, packed }
    }

    fn sample() -> (Vec<u8>, State, State) {
        let (old, new) = (state(1.0, Some(READER)), state(2.5, Some(READER)));
        let other = state(-3.0, Some(PlayerId(4)));
        let mut writer = SnapshotWriter::new(header(), READER);
        let mut push = |index, change: Change<'_>| {
            assert!(writer.push::<Ball>(index, &change, DATAGRAM_BYTES_MAX));
        };
        push(0, Change::Same { age: 6 });
        push(1, Change::Delta { age: 4, base: &old.packed, state: &new });
        push(5, Change::Full(&other));
        push(6, Change::Gone);
        (writer.finish(), old, other)
    }

    fn read(bytes: &[u8], old: &State) -> Result<SnapshotPacket, WireError> {
        read_snapshot::<Ball>(bytes, Tick(580), READER, |index, tick| {
            ((index, tick) == (0, Tick(594)) || (index, tick) == (1, Tick(596))).then_some(old)
        })
    }

    #[test]
    fn a_packet_is_laid_out_as_documented() {
        let (bytes, old, other) = sample();
        assert_eq!(bytes, documented("example-snapshot"), "{bytes:02x?}");
        let packet = read(&bytes, &old).unwrap();
        assert_eq!(packet.header, header());
        assert_eq!(packet.tick, Tick(600));
        let moved = State { packed: state(2.5, Some(READER)).packed, ..old };
        assert_eq!(
            packet.entities,
            [(0, Some(old)), (1, Some(moved)), (5, Some(other)), (6, None)]
        );
        assert_eq!(other.packed[2], 0, "another player's plan is not told");
    }

    #[test]
    fn a_missing_baseline_refuses_the_packet() {
        let (bytes, ..) = sample();
        let result = read_snapshot::<Ball>(&bytes, Tick(580), READER, |_, _| None);
        assert_eq!(result, Err(WireError::Baseline));
    }

    #[test]
    fn the_budget_is_kept() {
        for budget in 50..200 {
            let state = state(1.0, None);
            let mut writer = SnapshotWriter::new(header(), READER);
            let mut index = 0;
            while writer.push::<Ball>(index, &Change::Full(&state), budget) {
                index += 3;
            }
            let bytes = writer.finish();
            assert!(bytes.len() <= budget && (index == 0 || bytes.len() + 8 > budget));
        }
    }

    proptest! {
        #[test]
        fn garbage_is_refused_or_read_without_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), near: u64) {
            let old = state(1.0, Some(READER));
            if let Some(kind) = bytes.first_mut() {
                *kind = SNAPSHOT_KIND;
            }
            if let Ok(packet) = read_snapshot::<Ball>(&bytes, Tick(near), READER, |_, _| Some(&old)) {
                prop_assert!(packet.entities.len() * 3 <= bytes.len() * 8);
                for state in packet.entities.iter().filter_map(|(_, state)| state.as_ref()) {
                    prop_assert_eq!(Entity::pack(&<Ball as Entity>::unpack(0, &state.packed)), state.packed);
                    prop_assert!(state.packed[3..] == [0; FIELDS_MAX - 3]);
                }
            }
        }

        #[test]
        fn a_flipped_bit_or_a_cut_never_panics(bit in 0..300_usize, cut in 0..60_usize) {
            let (mut bytes, old, _) = sample();
            let at = bit % (bytes.len() * 8);
            bytes[at / 8] ^= 1 << (at % 8);
            let _ = read(&bytes, &old);
            let (bytes, ..) = sample();
            prop_assert!(read(&bytes[..cut.min(bytes.len() - 1)], &old).is_err());
        }
    }
}

//! Packets as they are written and read, and invalid ones.

#![allow(clippy::cast_possible_truncation, reason = "values of tests are small")]

mod balls;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::writer::END_BITS;
use super::*;
use crate::fields::{Entity, Record};
use crate::ids::PlayerId;
use crate::limits::{
    DATAGRAM_BYTES_MAX, ENTITIES_MAX, FIELDS_MAX, PACKET_ENTITIES_MAX, REFERENCES_MAX,
};
use crate::random::Random;
use crate::time::{Rates, Tick};
use crate::wire::error::WireError;
use crate::wire::extrapolation::ReferenceStates;
use crate::wire::fields::without_hidden;
use crate::wire::range::{Coder, Group, Recorder};
use crate::wire::state::{Basis, Codec, EntityState};
use crate::wire::{Echo, documented};
use balls::{Ball, Balls};

const READER: PlayerId = PlayerId(3);
const TICK: Tick = Tick(600);

fn codec() -> Codec<Balls> {
    Codec::new(Rates::DEFAULT)
}

fn references(ages: &[u8]) -> References {
    let mut references = References::NONE;
    for age in ages {
        references.push(*age);
    }
    references
}

fn header() -> SnapshotHeader {
    SnapshotHeader {
        seq: 8,
        tick: TICK,
        sent: 10_002_000,
        echo: Some(Echo { time: 77, held: 1234 }),
        perceived: Some(Perceived { offset_change: -2, round_trip: 40_000, error_max: 19_008 }),
        inputs: Some(InputReport {
            newest: 606,
            newest_early: 8992,
            worst_back: 2,
            worst_early: -16,
            assumed_back: Some(5),
            late: Some(1),
            missing: Some(3),
        }),
        references: references(&[6, 8]),
        silent: KindSet::NONE,
    }
}

/// Returns a state as the reader may know it.
fn state(x: f32, owner: Option<PlayerId>) -> EntityState {
    let packed = Record::pack(&Ball { x, bounces: 2, plan: 5 });
    let packed = without_hidden(Ball::FIELDS, owner == Some(READER), &packed);
    EntityState { generation: 1, kind: 0, owner, packed }
}

/// The states that a client has.
type Had = BTreeMap<(u16, Tick), EntityState>;

/// What a packet says about an entity.
#[derive(Clone, Debug)]
enum Say {
    Known(References, EntityState),
    Full(EntityState),
    Gone,
    Hidden,
}

/// Encodes a state for a client that has older ones.
fn encode(
    codec: &Codec<Balls>,
    had: &Had,
    (index, references): (u16, References),
    state: &EntityState,
    groups: &mut Vec<Group>,
) -> Encoding {
    let mut past = ReferenceStates::default();
    for age in references.iter() {
        past.push(age, &had[&(index, TICK.minus(u64::from(age)))].packed);
    }
    let own = state.owner == Some(READER);
    let mut recorder = Recorder::new(codec.layout().levels(), groups);
    let mut packed = state.packed;
    let basis = Basis { kind: 0, own, past: &past };
    let extrapolations = codec.extrapolations(&Balls, basis, &packed);
    let extrapolated = codec.write(&mut recorder, basis, &extrapolations, &mut packed);
    recorder.end();
    let cost = if extrapolated { 0 } else { recorder.cost };
    if extrapolated {
        groups.clear();
    }
    let activity = past.activity(Ball::FIELDS);
    Encoding { kind: 0, activity, extrapolated, cost, digest: digest::<Ball>(index, Some(state)) }
}

/// Writes as much as fits. Returns the packet and how much that was.
fn write(
    header: SnapshotHeader,
    had: &Had,
    said: &[(u16, Say)],
    budget: usize,
) -> (Vec<u8>, usize) {
    write_by(&Way { codec: codec(), led: false }, header, had, said, budget)
}

/// A way of writing.
struct Way {
    codec: Codec<Balls>,
    /// Uses the newest references where possible.
    led: bool,
}

fn write_by(
    way: &Way,
    header: SnapshotHeader,
    had: &Had,
    said: &[(u16, Say)],
    budget: usize,
) -> (Vec<u8>, usize) {
    let Way { codec, led } = way;
    let mut memory = Vec::new();
    let mut writer = SnapshotWriter::new(codec, header, READER, Vec::new(), &mut memory);
    for (index, say) in said {
        let mut groups = Vec::new();
        let change = match say {
            Say::Known(references, state) => {
                let encoding = encode(codec, had, (*index, *references), state, &mut groups);
                let count = references.iter().count();
                if *led && *references == header.references.first(count) {
                    let levels = codec.layout().extrapolated(0, encoding.activity);
                    let needed = codec.layout().references(0) as u8;
                    let coding = ReferenceCoding { encoding, levels, count: count as u8, needed };
                    if !writer.push_referenced::<Balls>(*index, &coding, &groups, budget) {
                        break;
                    }
                    continue;
                }
                Change::Known(*references, encoding)
            }
            Say::Full(state) => Change::Full(*state),
            Say::Gone => Change::Gone,
            Say::Hidden => Change::Hidden,
        };
        if !writer.push::<Balls>(*index, &change, &groups, budget) {
            break;
        }
    }
    let count = writer.count();
    writer.end_snapshot();
    let end_bits = END_BITS + writer.silent_bits;
    let most = (writer.cost.div_ceil(1024) + end_bits).div_ceil(8) as usize;
    let bytes = writer.finish();
    assert!(bytes.len() <= most, "{} bytes, not the {most} that were said", bytes.len());
    (bytes, count)
}

fn read(bytes: &[u8], had: &Had) -> Result<(SnapshotHeader, Tick, Vec<EntityUpdate>), WireError> {
    let known = |index, tick| had.get(&(index, tick));
    let mut updates = Vec::new();
    let (codec, near) = (&codec(), Tick(580));
    let reading = DecodeContext { codec, game: &Balls, near, reader: READER, known };
    let header = read_snapshot(bytes, &reading, (&mut updates, &mut EarlySteering::default()))?;
    let alone = SnapshotHeader { silent: KindSet::NONE, ..header };
    assert_eq!(read_header(bytes, codec, near), Ok(alone), "only the header");
    Ok((header, header.tick, updates))
}

fn updates(said: &[(u16, Say)]) -> Vec<EntityUpdate> {
    let updates = |(index, say): &(u16, Say)| {
        let state = match say {
            Say::Known(_, state) | Say::Full(state) => Some(*state),
            Say::Gone | Say::Hidden => None,
        };
        EntityUpdate { index: *index, state, hidden: matches!(say, Say::Hidden) }
    };
    said.iter().map(updates).collect()
}

/// Returns one small packet with everything in it.
fn sample() -> (Had, Vec<(u16, Say)>) {
    let own = |x| state(x, Some(READER));
    let mut had = Had::new();
    // Two that have the packet's references, one of which continues as before.
    for (index, at) in [(0, [2.0, 1.0]), (1, [1.0, 1.0])] {
        had.insert((index, TICK.minus(6)), own(at[0]));
        had.insert((index, TICK.minus(8)), own(at[1]));
    }
    let said = vec![
        (0, Say::Known(references(&[6, 8]), own(5.0))),
        (1, Say::Known(references(&[6, 8]), own(2.5))),
        (5, Say::Full(state(-3.0, Some(PlayerId(4))))),
        (6, Say::Gone),
        (9, Say::Hidden),
    ];
    (had, said)
}

#[test]
fn a_packet_is_laid_out_as_documented() {
    let (had, said) = sample();
    let (bytes, count) = write(header(), &had, &said, DATAGRAM_BYTES_MAX);
    assert_eq!(count, said.len());
    let hex: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(bytes, documented("example-snapshot"), "it is {}", hex.join(" "));
}

#[test]
fn a_plain_packet_is_laid_out_as_documented() {
    let (had, mut said) = sample();
    said[0].1 = Say::Known(references(&[6]), state(2.0, Some(READER)));
    said[1].1 = Say::Known(references(&[8]), state(2.5, Some(READER)));
    let header = SnapshotHeader { references: references(&[6]), ..header() };
    let codec = Codec::plain(Rates::DEFAULT);
    let (bytes, _) = write_by(&Way { codec, led: false }, header, &had, &said, DATAGRAM_BYTES_MAX);
    let hex: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(bytes, documented("example-plain"), "it is {}", hex.join(" "));
}

#[test]
fn the_sample_is_read_as_it_was_written() {
    let (had, said) = sample();
    let (bytes, _) = write(header(), &had, &said, DATAGRAM_BYTES_MAX);
    assert_eq!(read(&bytes, &had), Ok((header(), TICK, updates(&said))));
    let Say::Full(other) = &said[2].1 else { panic!("the client gets the complete state") };
    assert_eq!(other.packed[2], 0, "another player's plan is not sent");
    let codec = codec();
    let extrapolated = |at: usize| {
        let (index, Say::Known(references, state)) = &said[at] else { panic!("it is known") };
        encode(&codec, &had, (*index, *references), state, &mut Vec::new()).extrapolated
    };
    assert_eq!([extrapolated(0), extrapolated(1)], [true, false]);
}

#[test]
fn a_missing_or_foreign_baseline_refuses_the_packet() {
    let (had, said) = sample();
    let (bytes, _) = write(header(), &had, &said, DATAGRAM_BYTES_MAX);
    for missing in had.keys() {
        let mut less = had.clone();
        less.remove(missing);
        assert_eq!(read(&bytes, &less), Err(WireError::Baseline), "without {missing:?}");
        // Another entity in the slot.
        let mut other = had.clone();
        other.insert(*missing, EntityState { generation: 7, ..had[missing] });
        assert_eq!(read(&bytes, &other), Err(WireError::Baseline));
        // Another state of the same entity.
        let packed = Record::pack(&Ball { x: 100.0, bounces: 7, plan: 1 });
        other.insert(*missing, EntityState { packed, ..had[missing] });
        assert!(read(&bytes, &other).is_err(), "{missing:?} was something else");
    }
}

#[test]
fn a_cut_packet_is_refused() {
    let (had, said) = sample();
    let (bytes, _) = write(header(), &had, &said, DATAGRAM_BYTES_MAX);
    for cut in 0..bytes.len() {
        assert!(read(&bytes[..cut], &had).is_err(), "cut at {cut}");
    }
    for more in [&[0_u8][..], &[1], &[255], &[0, 0, 0, 0, 0, 0, 0, 0, 1]] {
        let longer = [&bytes, more].concat();
        match read(&longer, &had) {
            Err(_) => {}
            // A coder's last number may have more digits than necessary.
            Ok(read) => assert!(more[0] != 0 && read == (header(), TICK, updates(&said))),
        }
    }
}

#[test]
fn a_flipped_bit_does_no_harm() {
    let (had, said) = sample();
    let (bytes, _) = write(header(), &had, &said, DATAGRAM_BYTES_MAX);
    let mut taken = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // The checksum covers the states; QUIC protects the rest.
        if let Ok((.., entities)) = read(&flipped, &had) {
            taken += 1;
            let states = |updates: &[EntityUpdate]| {
                updates.iter().map(|t| (t.index, t.state)).collect::<Vec<_>>()
            };
            assert_eq!(states(&entities), states(&updates(&said)), "bit {bit}");
        }
    }
    assert!(taken <= 16 + 32 + 32 + 24 + 160, "{taken} of {} were taken", bytes.len() * 8);
}

#[test]
fn indices_go_around_once() {
    let all = |said: &[u16]| {
        let said: Vec<_> = said.iter().map(|index| (*index, Say::Gone)).collect();
        let (bytes, count) = write(header(), &Had::new(), &said, DATAGRAM_BYTES_MAX);
        let (.., read) = read(&bytes, &Had::new()).expect("it can be read");
        assert_eq!(read, updates(&said[..count]));
        count
    };
    let last = ENTITIES_MAX - 1;
    assert_eq!(all(&[4000, last, 0, 3999]), 4);
    assert_eq!(all(&[4000, last, 0, 3999, 4000]), 4, "not twice");
    assert_eq!(all(&[last, 0, last]), 2);
    assert_eq!(all(&[7, 7]), 1);
    assert_eq!(all(&[7, 9, 8]), 2, "nor back");
    let many: Vec<u16> = (0..PACKET_ENTITIES_MAX as u16 + 1).collect();
    let said: Vec<_> = many.iter().map(|index| (*index, Say::Hidden)).collect();
    let (bytes, count) = write(header(), &Had::new(), &said, 100_000);
    assert_eq!(count, PACKET_ENTITIES_MAX);
    assert!(read(&bytes, &Had::new()).is_ok());
}

fn any_header(random: &mut Random) -> SnapshotHeader {
    let number = |random: &mut Random| random.bits() as u32 >> random.below(32);
    let signed = |random: &mut Random| (random.bits() as u32 as i32) >> random.below(32);
    let mut ages = Vec::new();
    let mut last = 0;
    for _ in 0..random.below(REFERENCES_MAX as u32 + 1) {
        last += 1 + random.below(44) as u8;
        ages.push(last);
    }
    let seq = random.bits() as u16;
    let mut silent = KindSet::NONE;
    silent.set(0, random.chance(0.5));
    SnapshotHeader {
        silent,
        seq,
        tick: TICK,
        // Up to 2.1 s after its tick, coarsely from 33 ms on.
        sent: 10_000_000
            + [random.below(32_768), 64 * random.below(32_768)][random.below(2) as usize],
        echo: random.chance(0.5).then(|| Echo {
            time: random.bits() as u32 >> 8,
            held: number(random).min(Echo::HELD_MAX),
        }),
        perceived: random.chance(0.5).then(|| Perceived {
            offset_change: signed(random),
            // These are in units of 16 microseconds.
            round_trip: number(random) & !15,
            error_max: number(random) >> 1 & !15,
        }),
        inputs: random.chance(0.5).then(|| InputReport {
            newest: random.bits() as u16,
            newest_early: signed(random) & !15,
            worst_back: random.bits() as u8,
            worst_early: signed(random) & !15,
            assumed_back: random.chance(0.5).then(|| random.bits() as u8),
            late: seq.is_multiple_of(4).then(|| random.bits() as u16),
            missing: seq.is_multiple_of(4).then(|| random.bits() as u16),
        }),
        references: references(&ages),
    }
}

fn any_state(random: &mut Random, owner: Option<PlayerId>, generation: u8) -> EntityState {
    let mut packed = [0; FIELDS_MAX];
    for (value, field) in packed.iter_mut().zip(Ball::FIELDS) {
        *value = random.below(1 << field.bits);
    }
    let packed = without_hidden(Ball::FIELDS, owner == Some(READER), &packed);
    EntityState { generation, kind: 0, owner, packed }
}

/// Returns arbitrary content for a packet: from any index on, wrapping at most once.
fn anything(random: &mut Random, header: &SnapshotHeader) -> (Had, Vec<(u16, Say)>) {
    let (mut had, mut said) = (Had::new(), Vec::new());
    let mut index = random.below(u32::from(ENTITIES_MAX));
    let end = index + u32::from(ENTITIES_MAX);
    for _ in 0..random.below(60) {
        let owner = match random.below(3) {
            0 => None,
            1 => Some(READER),
            _ => Some(PlayerId(random.bits() as u16)),
        };
        let generation = random.bits() as u8;
        let now = any_state(random, owner, generation);
        let at = (index % u32::from(ENTITIES_MAX)) as u16;
        let say = match random.below(5) {
            0 => Say::Gone,
            1 => Say::Hidden,
            2 => Say::Full(now),
            _ => {
                let own = if header.references == References::NONE || random.chance(0.3) {
                    // Its own baseline, and some of the packet's before it.
                    let baseline = 1 + random.below(240) as u8;
                    let older = header.references.iter().filter(|age| *age > baseline);
                    let older: Vec<_> = older.filter(|_| random.chance(0.5)).collect();
                    references(&[&[baseline], &older[..]].concat())
                } else {
                    // Those of the packet, or the newest of them.
                    let count = header.references.iter().count();
                    let fewer = random.below(count as u32) as usize + 1;
                    header.references.first(if random.chance(0.7) { count } else { fewer })
                };
                let rests = random.chance(0.5);
                for age in own.iter() {
                    let then = if rests { now } else { any_state(random, owner, generation) };
                    had.insert((at, TICK.minus(u64::from(age))), then);
                }
                Say::Known(own, now)
            }
        };
        said.push((at, say));
        let most = [1, 200][random.below(2) as usize];
        let most = random.below(most) + 1;
        index += 1 + random.below(most);
        if index >= end {
            break;
        }
    }
    (had, said)
}

proptest! {
    #[test]
    fn what_was_written_is_read(seed: u64) {
        let mut random = Random::new(seed);
        let header = any_header(&mut random);
        let (had, said) = anything(&mut random, &header);
        let (bytes, count) = write(header, &had, &said, 100_000);
        prop_assert_eq!(count, said.len());
        prop_assert_eq!(read(&bytes, &had), Ok((header, TICK, updates(&said))));
    }

    #[test]
    fn a_packet_never_exceeds_its_budget(seed: u64, budget in 0_usize..400) {
        let mut random = Random::new(seed);
        let header = any_header(&mut random);
        let (had, said) = anything(&mut random, &header);
        let (empty, _) = write(header, &had, &[], budget);
        let (bytes, count) = write(header, &had, &said, budget);
        prop_assert!(bytes.len() <= budget.max(empty.len()), "{} bytes", bytes.len());
        prop_assert!(count == 0 || bytes.len() <= budget);
        // Nor is it wasteful: what was left out would hardly have fitted.
        let (more, _) = write(header, &had, &said[..said.len().min(count + 1)], 100_000);
        prop_assert!(count == said.len() || more.len() + 5 > budget, "{} of {budget}", more.len());
        prop_assert_eq!(read(&bytes, &had), Ok((header, TICK, updates(&said[..count]))));
    }

    #[test]
    fn the_quick_way_of_writing_writes_the_same(seed: u64, budget in 0_usize..600) {
        let mut random = Random::new(seed);
        let header = any_header(&mut random);
        let (had, said) = anything(&mut random, &header);
        let quick = write_by(&Way { codec: codec(), led: true }, header, &had, &said, budget);
        prop_assert_eq!(quick, write(header, &had, &said, budget));
    }

    #[test]
    fn garbage_is_refused_or_read_without_a_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..300), near: u64, proper: u64, cut: u8,
    ) {
        // The start of a valid packet gets further.
        let mut random = Random::new(proper);
        let header = any_header(&mut random);
        let (had, said) = anything(&mut random, &header);
        let (start, _) = write(header, &had, &said, 300);
        let cut = usize::from(cut).min(start.len());
        bytes.splice(..0, start[..cut].iter().copied());
        if let Some(kind) = bytes.first_mut() {
            *kind = [SNAPSHOT_KIND, SILENCE_KIND][cut % 2];
        }
        let old = state(1.0, Some(READER));
        let mut updates = Vec::new();
        let (codec, near, known) = (&codec(), Tick(near), |_, _| Some(&old));
        let reading = DecodeContext { codec, game: &Balls, near, reader: READER, known };
        let read = read_snapshot(&bytes, &reading, (&mut updates, &mut EarlySteering::default()));
        prop_assert!(updates.len() <= PACKET_ENTITIES_MAX);
        for updates in updates.iter().filter(|_| read.is_ok()) {
            prop_assert!(updates.index < ENTITIES_MAX);
            if let Some(state) = updates.state {
                let entity = <Ball as Entity>::unpack(0, &state.packed);
                prop_assert_eq!(Entity::pack(&entity), state.packed);
                prop_assert!(state.owner == Some(READER) || state.packed[2] == 0);
            }
        }
    }
}

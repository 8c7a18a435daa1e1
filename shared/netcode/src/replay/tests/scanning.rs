//! Files without an index, whole and damaged.

use super::*;
use crate::replay::Damage;
use crate::server::VerifyError;

/// Returns a file of four chunks as a killed server leaves it, and where its chunks are.
fn unfinished() -> (Vec<u8>, Vec<usize>) {
    let (pieces, _) = record(4.0, Pace { past_every: 1, ..pace(5) });
    let mut bytes = file(&pieces);
    let replay = open(&bytes);
    let places = replay.chunks().iter().map(|chunk| chunk.at as usize).collect();
    let lengths = pieces.iter().map(|(Piece::Start(bytes) | Piece::Chunk(bytes))| bytes.len());
    bytes.truncate(lengths.sum());
    (bytes, places)
}

/// Returns what is damaged after a bit has changed, and the first ticks of the other chunks.
fn changed(bytes: &[u8], at: usize, bit: u8) -> (Vec<Damage>, Vec<u64>) {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1 << bit;
    let replay = open(&bytes);
    let firsts = replay.chunks().iter().map(|chunk| chunk.first).collect();
    assert_eq!(replay.check(), Err(ReplayError::Damaged));
    (replay.damage().to_vec(), firsts)
}

#[test]
fn a_changed_bit_is_damage_and_costs_one_chunk_wherever_it_is() {
    let (bytes, places) = unfinished();
    let replay = open(&bytes);
    assert_eq!((replay.damage(), replay.check()), (&[] as &[_], Err(ReplayError::Short)));
    let ends: Vec<_> = places[1..].iter().copied().chain([bytes.len()]).collect();
    for (number, (start, end)) in places.iter().zip(ends).enumerate() {
        let others: Vec<_> = (0..4).filter(|it| *it != number as u64).map(|it| it * 60).collect();
        // All of the kind, the length and the head, and some of the rest.
        let rest = (start + 20..end).step_by(97).chain(end - 4..end);
        for at in (*start..start + 20).chain(rest) {
            for bit in 0..8 {
                let (damage, firsts) = changed(&bytes, at, bit);
                assert_eq!(firsts, others, "bit {bit} of byte {at} in chunk {number}");
                let [damage] = &damage[..] else { panic!("{damage:?}") };
                assert_eq!(damage.bytes, *start as u64..end as u64);
                // What comes before the first chunk or after the last one is not known.
                let ticks = [(60, 60), (60, 120), (120, 180), (180, 180)];
                assert_eq!((damage.first.0, damage.last.0), ticks[number]);
            }
        }
    }
}

#[test]
fn verification_names_what_is_damaged_without_an_index() {
    let (bytes, places) = unfinished();
    let verdict = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        verify::<Range>(&open(&bytes))
    };
    let found = verdict(places[1] + 50).expect("the others can be run");
    assert_eq!((found.ticks, found.skipped, found.difference), (180, 60, None));
    let damage = found.damage.expect("it is damaged");
    assert_eq!(damage.to_string(), "ticks 61 to 120: the recording is damaged");
    for (number, end) in [(0, places[1]), (3, bytes.len())] {
        let found = verdict(places[number] + 50).expect("the others can be run");
        assert_eq!((found.ticks, found.difference), (180, None));
        let expected = format!("bytes {} to {end}: the recording is damaged", places[number]);
        assert_eq!(found.damage.expect("it is damaged").to_string(), expected);
    }
    // The only chunk with the past.
    let (pieces, _) = record(1.0, pace(5));
    let mut only = file(&pieces);
    only.truncate(only.len() - 1);
    let at = open(&only).chunks()[0].at as usize;
    only[at + 50] ^= 1;
    let refused = verify::<Range>(&open(&only)).expect_err("nothing is left");
    assert!(matches!(refused, VerifyError::Damaged(_)), "{refused}");
}

#[test]
fn an_end_that_is_missing_is_no_damage() {
    let (bytes, places) = unfinished();
    for end in places[3]..bytes.len() {
        let replay = open(&bytes[..end]);
        assert_eq!((replay.damage(), replay.chunks().len()), (&[] as &[_], 3), "{end} bytes");
    }
    let (pieces, _) = record(4.0, pace(5));
    let whole = file(&pieces);
    for end in bytes.len()..whole.len() {
        let replay = open(&whole[..end]);
        assert_eq!((replay.damage(), replay.chunks().len()), (&[] as &[_], 4), "{end} bytes");
    }
}

#[test]
fn a_hostile_file_is_given_up_after_some_passes() {
    let (bytes, places) = unfinished();
    let (start, chunk) = (&bytes[..places[0]], &bytes[places[0]..places[1]]);
    // A head that is right at every few bytes, each time with a length up to the end.
    let head = [0, 60, 0, 0, 1, 0, 0, 0, 0];
    const COUNT: usize = 60_000;
    let mut hostile = start.to_vec();
    for left in (0..COUNT).rev() {
        hostile.push(b'C');
        hostile.extend((((left + 1) * 14 - 9) as u32).to_le_bytes());
        hostile.extend(head);
    }
    hostile.extend([0; 4]);
    // Checking each of them would be 25 GB. The reader gives up long before the chunk at the end.
    hostile.extend(chunk);
    let replay = open(&hostile);
    assert_eq!((replay.chunks().len(), replay.damage().len()), (0, 1));
    // Garbage does not hide what follows.
    let mut honest = [start, &[b'C'; 10_000]].concat();
    honest.extend(chunk);
    let replay = open(&honest);
    assert_eq!((replay.chunks().len(), replay.damage().len()), (1, 1));
}

//! The coder against itself, with arbitrary input and output.

#![allow(clippy::cast_possible_truncation, reason = "values of tests are small")]

use super::*;
use proptest::prelude::*;

/// A decision at a level, digits, or the end of a group.
#[derive(Clone, Copy, Debug)]
enum Op {
    Bit(u8, bool),
    Raw(u32, u32),
    End,
}

fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => any::<(u8, bool)>().prop_map(|(level, yes)| Op::Bit(level, yes)),
        // The likely outcome, so that long runs of cheap ones occur.
        12 => any::<u8>().prop_map(|level| Op::Bit(level, level >= EVEN)),
        2 => (any::<u32>(), 0..=32_u32).prop_map(|(value, count)| Op::Raw(value, count)),
        1 => Just(Op::End),
    ];
    prop::collection::vec(op, 0..most)
}

fn levels() -> Vec<Likelihood> {
    (0..=255).collect()
}

fn low(value: u32, count: u32) -> u32 {
    (u64::from(value) & ((1 << count) - 1)) as u32
}

fn written(ops: &[Op], prefix: Vec<u8>) -> (Vec<u8>, u32) {
    let (levels, mut groups) = (levels(), Vec::new());
    let mut recorder = Recorder::new(&levels, &mut groups);
    for op in ops {
        match *op {
            Op::Bit(level, yes) => drop(recorder.bit(usize::from(level), yes)),
            Op::Raw(value, count) => drop(recorder.raw(value, count)),
            Op::End => recorder.end(),
        }
    }
    recorder.end();
    let cost = recorder.cost;
    let mut writer = RangeWriter::new(prefix);
    groups.into_iter().for_each(|group| writer.group(group));
    (writer.finish(), cost)
}

proptest! {
    #[test]
    fn what_was_written_is_read_and_costs_what_was_said(
        ops in ops(2000), prefix in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let (bytes, cost) = written(&ops, prefix.clone());
        prop_assert_eq!(&bytes[..prefix.len()], &prefix[..]);
        let own = &bytes[prefix.len()..];
        let said = f64::from(cost) / 8192.0;
        prop_assert!(own.len() as f64 <= said + 1.0, "{} for {said}", own.len());
        let bits: f64 = ops.iter().map(|op| match *op {
            Op::Bit(level, yes) => f64::from(super::cost(level, yes)) / 1024.0,
            Op::Raw(_, count) => f64::from(count),
            Op::End => 0.0,
        }).sum();
        prop_assert!(said <= bits * 1.002 / 8.0 + 1.0, "{said} for {}", bits / 8.0);
        let levels = levels();
        let mut reader = RangeReader::new(&levels, own);
        for op in &ops {
            match *op {
                Op::Bit(level, yes) => {
                    prop_assert_eq!(reader.bit(usize::from(level), false), yes);
                }
                Op::Raw(value, count) => {
                    prop_assert_eq!(reader.raw(0, count), low(value, count));
                }
                Op::End => reader.end(),
            }
        }
        prop_assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn anything_is_read_without_a_panic(bytes: Vec<u8>, ops in ops(300)) {
        let levels = levels();
        let mut reader = RangeReader::new(&levels, &bytes);
        for op in ops {
            match op {
                Op::Bit(level, _) => drop(reader.bit(usize::from(level), false)),
                Op::Raw(_, count) => drop(reader.raw(0, count)),
                Op::End => reader.end(),
            }
        }
    }
}

#[test]
fn what_follows_the_end_is_refused() {
    let (bytes, _) = written(&[Op::Raw(0xa5, 8)], Vec::new());
    assert_eq!(bytes, [0xa5]);
    let check = |bytes: &[u8]| {
        let mut reader = RangeReader::new(&[], bytes);
        (reader.raw(0, 8), reader.finish())
    };
    assert_eq!(check(&bytes), (0xa5, Ok(())));
    assert_eq!(check(&[0xa5, 0]).1, Err(WireError::Trailing));
    assert_eq!(check(&[0xa5, 0, 0, 0, 0, 0, 0, 1]).1, Err(WireError::Trailing));
}

#[test]
fn levels_are_what_they_say() {
    assert_eq!(scale().likelihood[usize::from(EVEN)], 32_768);
    assert_eq!(cost(EVEN, true), 1024);
    assert_eq!(level_of(1.0, 2.0), EVEN);
    assert!(level_of(1.0, 1000.0) < 32 && level_of(0.0, 10.0) == 1);
}

#[test]
fn groups_cost_what_they_say() {
    for width in [1, 2, 3, 1000, 0xffff, 0x1_0000, 0xdead_beef, u32::MAX] {
        let exact = 1024.0 * (32.0 - f64::from(width).log2());
        let said = f64::from(Group { start: 0, width }.cost());
        assert!((exact..exact + 8.0).contains(&said), "{width}: {said} for {exact}");
    }
}

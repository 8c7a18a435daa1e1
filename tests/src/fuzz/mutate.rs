//! Random changes to bytes, like a fuzzer's, but from a seed.

use phaselock::random::Random;

/// Maximum number of bytes in a result.
const BYTES_MAX: usize = 8192;

/// Numbers at which behaviour often changes.
const EDGES: [u8; 9] = [0, 1, 2, 63, 64, 127, 128, 254, 255];

/// Insertions into texts and scripts.
const WORDS: [&str; 12] =
    ["\0\0", "\u{7f}", "=", ";", ",", ":", ".", "\n", "\"", "999999999999999999999", "-", "é"];

/// Returns `bytes` with one to six changes; parts may come from `other`.
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(6) {
        change(bytes, other, random);
    }
    bytes.truncate(BYTES_MAX);
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = below(random, bytes.len());
    let some = |random: &mut Random| 1 + below(random, 8);
    match random.below(10) {
        0..=2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        3 if at < bytes.len() => bytes[at] = EDGES[below(random, EDGES.len())],
        4 if at < bytes.len() => bytes[at] = random.bits() as u8,
        5 => bytes.truncate(at),
        6 => {
            let end = (at + some(random)).min(bytes.len());
            bytes.drain(at..end);
        }
        7 => {
            let new: Vec<u8> = (0..some(random)).map(|_| random.bits() as u8).collect();
            bytes.splice(at..at, new);
        }
        8 => {
            let from = below(random, other.len());
            let to = (from + 1 + below(random, 64)).min(other.len());
            let end = (at + below(random, 64)).min(bytes.len());
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        _ => {
            let word = WORDS[below(random, WORDS.len())];
            bytes.splice(at..at, word.bytes());
        }
    }
}

fn below(random: &mut Random, count: usize) -> usize {
    random.below(u32::try_from(count).unwrap_or(u32::MAX)) as usize
}

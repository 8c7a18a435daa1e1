//! The fuzz targets without a fuzzer: over the checked-in corpus and mutations of it.

use std::hash::{BuildHasher, RandomState};

use crate::depth;
use phaselock::random::Random;
use phaselock_tests::fuzz::mutate::mutate;
use phaselock_tests::fuzz::{Body, TARGETS, seeds};

/// Number of mutations of each target's corpus. Targets that play whole games take longer.
fn rounds(target: &str) -> u32 {
    match target {
        "c_client" | "client" | "room" | "snapshot" => 600,
        "c_description" | "config" | "identity" | "known_hosts" | "replay" => 1000,
        _ => 10_000,
    }
}

/// The seed from `PHASELOCK_TEST_SEED`; by default a new one for each run.
fn seed() -> u64 {
    match std::env::var("PHASELOCK_TEST_SEED") {
        Ok(seed) => seed.parse().expect("PHASELOCK_TEST_SEED is a number"),
        Err(_) => RandomState::new().hash_one(0),
    }
}

#[test]
fn every_target_takes_some_of_its_corpus() {
    let mut bytes = 0;
    for (target, body) in TARGETS {
        let corpus = seeds(target);
        let mut taken = 0;
        for (name, input) in &corpus {
            bytes += input.len();
            // This is all that a panic shows of its input.
            eprintln!("{name}");
            taken += usize::from(body(input));
        }
        // Some inputs are wrong on purpose. If most are refused, the corpus was made for another
        // layout: run the program `corpus`.
        assert!(taken * 3 >= corpus.len(), "{target} takes {taken} of {}", corpus.len());
    }
    assert!(bytes < 300_000, "the corpus has {bytes} bytes");
}

#[test]
fn every_target_bears_changes_to_its_corpus() {
    let seed = seed();
    eprintln!("PHASELOCK_TEST_SEED={seed}");
    std::thread::scope(|scope| {
        for (number, (target, body)) in (0..).zip(TARGETS) {
            scope.spawn(move || changed(target, body, Random::new(seed ^ number << 32)));
        }
    });
}

fn changed(target: &str, body: Body, mut random: Random) {
    let corpus: Vec<_> = seeds(target).into_values().collect();
    let any = |random: &mut Random| &corpus[random.below(corpus.len() as u32) as usize];
    for _ in 0..depth::times(rounds(target)) {
        let mut bytes = any(&mut random).clone();
        mutate(&mut bytes, any(&mut random), &mut random);
        let input = CurrentInput { target, bytes };
        body(&input.bytes);
    }
}

/// Prints an input if it makes the target panic.
struct CurrentInput<'a> {
    target: &'a str,
    bytes: Vec<u8>,
}

impl Drop for CurrentInput<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} panics on {:02x?}", self.target, self.bytes);
        }
    }
}

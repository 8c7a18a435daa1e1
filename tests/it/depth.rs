//! Depth of the tests: one variable scales seeds, seconds and repetitions of the slow ones.
//!
//! `PHASELOCK_TEST_DEPTH` is a whole number from 1, the default. It multiplies everything that
//! takes long. At depth 1 all tests together take a minute or two, and each is still long enough to
//! fail if its subject is broken. `.ci/deep` runs at depth 4; bounds fit its figures, too.

use std::ops::Range;
use std::sync::LazyLock;

use phaselock::time::Micros;

const VARIABLE: &str = "PHASELOCK_TEST_DEPTH";
/// Deeper runs would overflow the counters of the simulation.
const DEPTH_MAX: u32 = 100;

static DEPTH: LazyLock<u32> = LazyLock::new(|| match std::env::var(VARIABLE) {
    Ok(text) => match text.parse() {
        Ok(depth) if (1..=DEPTH_MAX).contains(&depth) => depth,
        _ => panic!("{VARIABLE} is '{text}', not a whole number from 1 to {DEPTH_MAX}"),
    },
    Err(_) => 1,
});

fn depth() -> u32 {
    *DEPTH
}

/// Number of rounds or cases, times the depth.
pub(crate) fn times(count: u32) -> u32 {
    count * depth()
}

/// Seeds from `first` on: `count` times the depth.
pub(crate) fn seeds(first: u64, count: u32) -> Range<u64> {
    first..first + u64::from(times(count))
}

/// Seconds to simulate, times the depth.
pub(crate) fn secs(secs: f64) -> f64 {
    secs * f64::from(depth())
}

/// Time between two frames of a client, for tests dominated by frames: as on a display of 60 Hz, or
/// 250 Hz in a deep run.
pub(crate) fn frame() -> Micros {
    Micros::from_ms(if depth() > 1 { 4 } else { 16 })
}

/// The first `count` of some cases, which begin with the most revealing ones; all of them in a deep
/// run.
pub(crate) fn first<T>(cases: &[T], count: usize) -> &[T] {
    if depth() > 1 { cases } else { &cases[..count] }
}

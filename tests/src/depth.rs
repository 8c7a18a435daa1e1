//! How deep the tests go: seeds, seconds and repetitions of the slow ones come from one variable.
//!
//! `PHASELOCK_DEPTH` is a whole number from 1, which it is unless it is set. Everything that takes long is
//! multiplied by it. At depth 1 all tests together take a minute or two, and each is still long enough to
//! fail when what it guards is broken; the deep tier, `.ci/deep`, runs them at [`DEEP`].

use std::ops::Range;
use std::sync::LazyLock;

use phaselock::time::Micros;

/// The variable's name.
pub const VARIABLE: &str = "PHASELOCK_DEPTH";
/// The depth of the deep tier, to whose figures bounds are fitted too.
pub const DEEP: u32 = 4;
/// Deeper than that some sessions would outlast what the simulation counts in.
const DEPTH_MAX: u32 = 100;

static DEPTH: LazyLock<u32> = LazyLock::new(|| match std::env::var(VARIABLE) {
    Ok(text) => match text.parse() {
        Ok(depth) if (1..=DEPTH_MAX).contains(&depth) => depth,
        _ => panic!("{VARIABLE} is '{text}', not a whole number from 1 to {DEPTH_MAX}"),
    },
    Err(_) => 1,
});

/// The depth of this run.
pub fn depth() -> u32 {
    *DEPTH
}

/// Whether this run goes deeper than usual.
pub fn is_deep() -> bool {
    depth() > 1
}

/// So many rounds or cases, times the depth.
pub fn times(count: u32) -> u32 {
    count * depth()
}

/// Seeds from `first` on: `count` times the depth.
pub fn seeds(first: u64, count: u32) -> Range<u64> {
    first..first + u64::from(times(count))
}

/// Seconds to simulate, times the depth.
pub fn secs(secs: f64) -> f64 {
    secs * f64::from(depth())
}

/// The time between two frames of a client where that takes most of a test: as on a display of 60 Hz, and of
/// 250 Hz in a deep run.
pub fn frame() -> Micros {
    Micros::from_ms(if is_deep() { 4 } else { 16 })
}

/// The first `count` of some cases, the most telling ones first; all of them in a deep run.
pub fn first<T>(cases: &[T], count: usize) -> &[T] {
    if is_deep() { cases } else { &cases[..count] }
}

//! When rooms are stored: each at the same interval, one after the other.

use phaselock::time::Micros;

/// Interval between checkpoints: what a player loses at most when the server is killed.
pub(super) const INTERVAL: Micros = Micros::from_ms(1000);

/// Returns the time from a room's opening to its first checkpoint. All rooms tick at the same
/// moments, and many are opened at once: with multiples of the golden ratio any number of them take
/// turns.
pub(super) fn first_after(number: u16) -> Micros {
    /// The fractional part of the golden ratio, times 2^32.
    const GOLDEN: u32 = 0x9e37_79b9;
    let part = GOLDEN.wrapping_mul(u32::from(number) + 1);
    Micros((i64::from(part) * INTERVAL.0) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_kept_one_after_the_other() {
        for count in [2, 8, 64] {
            let mut times: Vec<_> = (0..count).map(|number| first_after(number).0).collect();
            times.sort_unstable();
            assert!((0..INTERVAL.0).contains(&times[0]));
            times.push(times[0] + INTERVAL.0);
            let apart = times.windows(2).map(|pair| pair[1] - pair[0]).min().expect("some");
            let evenly = INTERVAL.0 / i64::from(count);
            assert!(apart > evenly / 3, "{apart} us, evenly {evenly} us, for {count} rooms");
        }
    }
}

//! Outages: packets that come so late that no lead and no delay should cover them.
//!
//! A path that stops for a second delivers a second's packets at once, which then are a third of
//! all recent ones. A lead or delay that covers them comes too late for this outage, and makes the
//! game sluggish long after it. So such packets are ignored, unless they keep coming: then the path
//! has become longer, or varies that much.

use crate::time::{LocalTime, Micros};

/// Distinguishes packets of an outage from those of a path that has become longer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outage {
    /// Excess of the transit time from which a packet belongs to an outage.
    excess: Micros,
    /// When the first of these packets was handled, and the last.
    begun: Option<LocalTime>,
    last: LocalTime,
    is_over: bool,
}

impl Outage {
    /// Excess at or below which the outage is over.
    const OVER: Micros = Micros::from_ms(30);
    /// How long an outage may last before the path counts as longer, and the time between two that
    /// are not one. Arbitrary; what is queued during an outage comes faster than it left.
    const LASTS: Micros = Micros::from_ms(2000);

    /// Creates the state of a path on which packets that take longer by `excess` make an outage.
    pub(super) fn new(excess: Micros) -> Self {
        Self { excess, begun: None, last: LocalTime(0), is_over: true }
    }

    /// Handles a packet that took this much longer than usual, and returns whether that was due to
    /// an outage.
    pub(super) fn handle_packet(&mut self, now: LocalTime, excess: Micros) -> bool {
        if excess > self.excess {
            if now - self.last > Self::LASTS {
                self.begun = None;
            }
            self.begun.get_or_insert(now);
            (self.last, self.is_over) = (now, false);
        } else if excess <= Self::OVER {
            self.is_over = true;
        }
        !self.is_over && self.begun.is_some_and(|begun| now - begun < Self::LASTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many packets of this many milliseconds each are ignored, one every 33 ms.
    fn ignored(outage: &mut Outage, excesses_ms: impl Iterator<Item = i64>) -> usize {
        let excesses = (0..).zip(excesses_ms);
        let times = excesses.map(|(n, ms)| (LocalTime(n * 33_333), Micros::from_ms(ms)));
        times.filter(|(now, excess)| outage.handle_packet(*now, *excess)).count()
    }

    #[test]
    fn packets_that_keep_coming_late_count_after_two_seconds() {
        let new = || Outage::new(Micros::from_ms(250));
        assert_eq!(ignored(&mut new(), std::iter::repeat_n(300, 300)), 61);
        // Also if others come in time: the path varies.
        let every_fourth = (0..300).map(|n| if n % 4 == 0 { 300 } else { 0 });
        assert_eq!(ignored(&mut new(), every_fourth), 16);
        // Two outages, and what is a little late right after them.
        let outage = |n: i64| {
            [(0..6, 600), (6..9, 100), (10..20, 100)]
                .map(|(at, ms)| if at.contains(&(n % 150)) { ms } else { 0 })
        };
        let twice = (0..300).map(|n| outage(n).into_iter().max().unwrap_or(0));
        assert_eq!(ignored(&mut new(), twice), 2 * 9);
    }

    #[test]
    fn less_than_the_excess_is_no_outage() {
        let mut outage = Outage::new(Micros::from_ms(600));
        assert_eq!(ignored(&mut outage, [0, 300, 600, 0].into_iter()), 0);
        assert_eq!(ignored(&mut outage, [0, 700, 0].into_iter()), 1);
    }
}

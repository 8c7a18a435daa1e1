//! The server's view of one client's clock, from four timestamps.
//!
//! A snapshot leaves the server at `s1`; the client gets it at `c1` and sends an input packet at
//! `c2`, stating `c2` and how long it held the echo, `c2 - c1`; that arrives at `s2`. The round
//! trip is `(s2 - s1) - (c2 - c1)`, and if both ways took equally long, the server's clock showed
//! `s2 - round trip / 2` when the client's showed `c2`. What the ways differ by is invisible: the
//! estimate is wrong by at most half the round trip (as NTP's is: RFC 5905, section 8).

use std::collections::VecDeque;

use crate::time::{LocalTime, Micros, Offset, ServerTime};

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: ServerTime,
    offset: Offset,
    round_trip: Micros,
}

/// What is known of a client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// To add to the client's clock. Wrong by at most half of `round_trip`.
    pub offset: Offset,
    /// The round trip that the offset was measured by: the shortest of the window.
    pub round_trip: Micros,
}

/// Estimates one client's offset: that of the fastest round trip lately, because whatever delays
/// a packet in a queue delays it one way only.
#[derive(Clone, Debug, Default)]
pub struct OffsetEstimator {
    samples: VecDeque<Sample>,
}

impl OffsetEstimator {
    /// How long a fast round trip counts. Clocks that differ by 200 ppm part by 0.4 ms in it.
    pub const WINDOW: Micros = Micros::from_ms(2000);
    /// Most measurements kept; at 60 Hz, those of two seconds.
    pub const SAMPLES_MAX: usize = 128;

    /// A packet arrived at `now` that was sent at `sent` on the client's clock, and echoed one
    /// that the server had sent at `echoed`, after `held`. Impossible echoes are left out.
    pub fn observe(&mut self, now: ServerTime, sent: LocalTime, echoed: ServerTime, held: Micros) {
        let round_trip = (now - echoed) - held;
        if round_trip < Micros::ZERO || held < Micros::ZERO {
            return;
        }
        let middle = now - Micros(round_trip.0 / 2);
        let offset = Offset(middle.0.saturating_sub(sent.0));
        while self.samples.len() >= Self::SAMPLES_MAX
            || self.samples.front().is_some_and(|sample| now - sample.at > Self::WINDOW)
        {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample { at: now, offset, round_trip });
    }

    /// Forgets everything: one of the clocks was set.
    pub fn clear(&mut self) {
        self.samples.clear();
    }

    /// The estimate, after the first measurement.
    pub fn estimate(&self) -> Option<Estimate> {
        // Of equally fast ones the newest: it is nearest to where the clocks are now.
        let best = self.samples.iter().rev().min_by_key(|sample| sample.round_trip)?;
        Some(Estimate { offset: best.offset, round_trip: best.round_trip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A client whose clock is `ahead` of the server's, over delays of 20 ms up and 30 ms down,
    /// each a little longer now and then.
    fn error_ms(ahead: i64, jitter_ms: f32) -> f64 {
        let mut random = Random::new(3);
        let mut estimator = OffsetEstimator::default();
        let mut delay = |base_ms: i64| {
            Micros::from_ms(base_ms) + Micros((random.unit() * jitter_ms * 1000.0) as i64)
        };
        for n in 0..300 {
            let s1 = ServerTime(n * 33_333);
            let arrived = s1 + delay(30);
            let held = Micros(7000);
            let left = arrived + held;
            let s2 = left + delay(20);
            estimator.observe(s2, LocalTime(left.0 + ahead), s1, held);
        }
        let estimate = estimator.estimate().unwrap();
        assert!(estimate.round_trip >= Micros::from_ms(50));
        (estimate.offset.0 + ahead) as f64 / 1000.0
    }

    #[test]
    fn the_error_is_the_asymmetry_whatever_the_clocks_and_the_jitter() {
        for ahead in [0, -5_000_000, 3_600_000_000 * 7] {
            assert!((error_ms(ahead, 0.0) + 5.0).abs() < 0.01);
            assert!((error_ms(ahead, 40.0) + 5.0).abs() < 4.0);
        }
    }

    #[test]
    fn impossible_echoes_are_left_out() {
        let mut estimator = OffsetEstimator::default();
        estimator.observe(ServerTime(10), LocalTime(0), ServerTime(5), Micros(6));
        estimator.observe(ServerTime(10), LocalTime(0), ServerTime(5), Micros(-1));
        estimator.observe(ServerTime(10), LocalTime(0), ServerTime(50), Micros(0));
        assert_eq!(estimator.estimate(), None);
        estimator.observe(ServerTime(10), LocalTime(i64::MIN), ServerTime(5), Micros(0));
        assert_eq!(estimator.estimate().unwrap().offset, Offset(i64::MAX));
    }
}

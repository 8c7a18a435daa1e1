//! The server's view of one client's clock, from four timestamps.
//!
//! A snapshot leaves the server at `s1` and reaches the client at `c1`. The client sends an input
//! packet at `c2`, stating `c2` and the held time `c2 - c1`, which arrives at `s2`. The offset is
//! what to add to the client's clock. No packet arrives before it was sent, so the way up proves
//! that the offset is at most `s2 - c2`, and the way down that it is at least `s1 - c1`. Delay only
//! weakens a proof, so the strongest one in each direction counts. The middle between the two is
//! the estimate: exact if the fastest packets of both directions took equally long, and wrong by at
//! most half the interval.
//!
//! That half is at most half of the shortest round trip, the bound of NTP's filter (RFC 5905,
//! sections 8 and 10), which needs both directions fast at once. With uniform jitter of +-30 ms
//! each way the middle is about five times closer.
//!
//! Clocks drift. A proof is extrapolated along the measured slope between the clocks, and is
//! loosened by the slope's error. So it fades slowly, and the estimate moves slowly when a path
//! changes in one direction. Proofs that contradict each other show that a clock was set; the older
//! ones are discarded.

use std::collections::VecDeque;

use crate::time::{LocalTime, Micros, Offset, ServerTime};

/// Estimate of a client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// What to add to the client's clock.
    pub offset: Offset,
    /// Bound of the error, if the path is as asymmetric as the shortest round trip allows.
    pub error_max: Micros,
    /// The shortest recent round trip time.
    pub round_trip: Micros,
}

/// A limit of the offset, and when it was proven.
#[derive(Clone, Copy, Debug)]
struct Proof {
    at: ServerTime,
    offset: i64,
}

/// The strongest proofs of one second.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    begun: ServerTime,
    /// The offset is at most this.
    most: Proof,
    /// The offset is at least this.
    least: Proof,
    round_trip: Micros,
}

impl Bucket {
    fn width(&self) -> i64 {
        self.most.offset.saturating_sub(self.least.offset)
    }

    /// Returns the middle of the interval: seconds before `now`, and microseconds from `origin`.
    fn middle(&self, now: ServerTime, origin: i64) -> (f64, f64) {
        let at = -((now - self.most.at).as_secs() + (now - self.least.at).as_secs()) / 2.0;
        let far = |proof: Proof| proof.offset.saturating_sub(origin) as f64;
        (at, (far(self.most) + far(self.least)) / 2.0)
    }
}

/// Estimates one client's offset.
#[derive(Clone, Debug)]
pub struct OffsetEstimator {
    buckets: VecDeque<Bucket>,
    /// Growth of the offset in microseconds per second, which is parts per million.
    slope: f64,
    /// Bound of the slope's error.
    slope_error: f64,
}

impl Default for OffsetEstimator {
    fn default() -> Self {
        let slope_error = Self::SURE * Self::SLOPE_PRIOR;
        Self { buckets: VecDeque::new(), slope: 0.0, slope_error }
    }
}

impl OffsetEstimator {
    /// Length of a bucket, whose fastest packets count.
    const BUCKET: Micros = Micros::from_ms(1000);
    /// Number of buckets that are remembered: a minute.
    pub const BUCKETS_MAX: usize = 60;
    /// Expected skew of two clocks, as one standard deviation in ppm: quartz is good to some tens
    /// of ppm.
    const SLOPE_PRIOR: f64 = 100.0;
    /// The maximum skew in ppm: two hosts, each slewed by NTP at 500 ppm (RFC 5905).
    const SLOPE_MAX: f64 = 1000.0;
    /// Number of standard deviations within which a slope is trusted ...
    const SURE: f64 = 3.0;
    /// The minimum error of the skew in ppm, since temperature changes the slope.
    const SLOPE_ERROR_MIN: f64 = 20.0;
    /// The minimum number of seconds that a slope is fitted to.
    const FIT_MIN: usize = 6;
    /// Microseconds by which an interval may be wider than the narrowest, besides a quarter.
    const WIDER: i64 = 1000;
    /// The smallest clock change in microseconds that is detected where the round trip hides it.
    const SET_BY_MIN: i64 = 5000;

    /// Handles a packet that arrived at `now`, sent at `sent` on the client's clock, with the echo
    /// of one that the server had sent at `echoed`, after `held`. Ignores impossible echoes.
    pub fn observe(&mut self, now: ServerTime, sent: LocalTime, echoed: ServerTime, held: Micros) {
        let round_trip = (now - echoed) - held;
        if round_trip < Micros::ZERO || held < Micros::ZERO {
            return;
        }
        let most = Proof { at: now, offset: now.0.saturating_sub(sent.0) };
        let got = sent - held;
        let least = Proof { at: now - held, offset: echoed.0.saturating_sub(got.0) };

        let fresh = self.buckets.back().is_none_or(|last| now - last.begun >= Self::BUCKET);
        if fresh {
            self.notice_setting();
            self.fit(now);
            if self.buckets.len() == Self::BUCKETS_MAX {
                self.buckets.pop_front();
            }
            self.buckets.push_back(Bucket { begun: now, most, least, round_trip });
        } else if let Some(last) = self.buckets.back_mut() {
            last.round_trip = last.round_trip.min(round_trip);
            // Of equally strong ones the newer.
            let (lower, higher) =
                (most.offset <= last.most.offset, least.offset >= last.least.offset);
            if lower {
                last.most = most;
            }
            if higher {
                last.least = least;
            }
            // Proofs only weaken with time, so without a new one there is no new contradiction.
            if !lower && !higher {
                return;
            }
        }
        // A clock was set: earlier proofs are void.
        while self.buckets.len() > 1 && self.limits(now).is_some_and(|(least, most)| least > most) {
            self.buckets.pop_front();
        }
        if self.limits(now).is_some_and(|(least, most)| least > most) {
            self.buckets = [Bucket { begun: now, most, least, round_trip }].into();
        }
    }

    /// Detects a clock change that the round trip hides: one limit became narrower and the other
    /// wider by as much. A longer path moves only one.
    fn notice_setting(&mut self) {
        let Some(last) = self.buckets.pop_back() else { return };
        // The second before may contain both sides of the change.
        let mixed = self.buckets.pop_back();
        let before = self.limits(last.begun);
        self.buckets.extend(mixed);
        if let Some((least, most)) = before {
            let by =
                [last.least.offset.saturating_sub(least), last.most.offset.saturating_sub(most)];
            let forward = by.iter().all(|by| *by > Self::SET_BY_MIN);
            let back = by.iter().all(|by| *by < -Self::SET_BY_MIN);
            if forward || back {
                self.buckets.clear();
            }
        }
        self.buckets.push_back(last);
    }

    /// Fits a slope to the middles of the narrower half of the seconds, but only of those that are
    /// almost as narrow as the narrowest: disturbances widen an interval.
    fn fit(&mut self, now: ServerTime) {
        let mut buckets: Vec<_> = self.buckets.iter().collect();
        buckets.sort_unstable_by_key(|bucket| bucket.width());
        buckets.truncate((buckets.len() / 2).max(Self::FIT_MIN));
        let narrowest = buckets.first().map_or(0, |bucket| bucket.width());
        let most = narrowest.saturating_add(narrowest / 4).saturating_add(Self::WIDER);
        buckets.retain(|bucket| bucket.width() <= most);
        if buckets.len() < Self::FIT_MIN {
            return; // What was known of the slope is still valid.
        }
        let origin = buckets[0].most.offset;
        let points: Vec<_> = buckets.iter().map(|bucket| bucket.middle(now, origin)).collect();
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let product: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = product / spread.max(1e-9);
        let residue: f64 =
            points.iter().map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
        let variance = (residue / (count - 2.0) / spread.max(1e-9)).max(1e-3);
        // Measurement and prior, each weighted by its certainty.
        let prior = Self::SLOPE_PRIOR * Self::SLOPE_PRIOR;
        self.slope = (slope * prior / (prior + variance)).clamp(-Self::SLOPE_MAX, Self::SLOPE_MAX);
        let error = Self::SURE * (prior * variance / (prior + variance)).sqrt();
        // A middle may be off by half of its interval's excess width: a transit time that grows
        // slowly looks like drift.
        let widest = buckets.iter().map(|bucket| bucket.width()).max().unwrap_or(narrowest);
        let (first, last) = points
            .iter()
            .fold((f64::MAX, f64::MIN), |(first, last), (x, _)| (first.min(*x), last.max(*x)));
        let unequal = widest.saturating_sub(narrowest) as f64 / 2.0 / (last - first).max(1.0);
        self.slope_error = (error + unequal).max(Self::SLOPE_ERROR_MIN);
    }

    /// Returns the minimum and maximum offset at `now`, by all proofs.
    fn limits(&self, now: ServerTime) -> Option<(i64, i64)> {
        let carry = |proof: Proof, loosen: f64| {
            let secs = (now - proof.at).as_secs().max(0.0);
            proof.offset.saturating_add(Micros::from_f64(secs * (self.slope + loosen)).0)
        };
        let least = self.buckets.iter().map(|bucket| carry(bucket.least, -self.slope_error)).max();
        let most = self.buckets.iter().map(|bucket| carry(bucket.most, self.slope_error)).min();
        least.zip(most)
    }

    /// Discards everything because one of the clocks was set.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the estimate for `now`, after the first measurement.
    pub fn estimate(&self, now: ServerTime) -> Option<Estimate> {
        let (least, most) = self.limits(now)?;
        let round_trip = self.buckets.iter().rev().take(2).map(|bucket| bucket.round_trip).min()?;
        let width = most.saturating_sub(least);
        let offset = Offset(least.saturating_add(width / 2));
        Some(Estimate { offset, error_max: Micros(width / 2 + 1), round_trip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A client whose clock is off, with given delays in both directions.
    struct Exchange {
        estimator: OffsetEstimator,
        random: Random,
        now: i64,
        ahead: i64,
        ppm: f64,
        up_ms: i64,
        down_ms: i64,
        jitter_ms: f32,
    }

    impl Exchange {
        fn new() -> Self {
            Self {
                estimator: OffsetEstimator::default(),
                random: Random::new(3),
                now: 0,
                ahead: 0,
                ppm: 0.0,
                up_ms: 20,
                down_ms: 30,
                jitter_ms: 0.0,
            }
        }

        /// Returns the true offset.
        fn truth(&self, at: i64) -> i64 {
            -self.ahead - (at as f64 * self.ppm * 1e-6) as i64
        }

        /// Exchanges 30 packets a second. Returns the largest error of the last half, which must
        /// not exceed the reported bound.
        fn run(&mut self, secs: i64) -> f64 {
            let mut worst = 0.0_f64;
            for n in 0..secs * 30 {
                let mut way = |base_ms: i64| {
                    base_ms * 1000 + (self.random.unit() * self.jitter_ms * 1000.0) as i64
                };
                let s1 = self.now;
                let (arrived, held) = (s1 + way(self.down_ms), 7000);
                let left = arrived + held;
                let s2 = left + way(self.up_ms);
                let client = |at: i64| LocalTime(at - self.truth(at));
                let held = client(left) - client(arrived);
                self.estimator.observe(ServerTime(s2), client(left), ServerTime(s1), held);
                self.now += 33_333;
                let estimate = self.estimator.estimate(ServerTime(s2)).unwrap();
                let error = (estimate.offset.0 - self.truth(s2)).abs();
                assert!(error <= estimate.error_max.0 + 2, "{error} µs, {estimate:?} at {s2}");
                if n >= secs * 15 {
                    worst = worst.max(error as f64 / 1000.0);
                }
            }
            worst
        }
    }

    #[test]
    fn the_error_is_the_asymmetry_whatever_the_clocks_and_the_jitter() {
        for ahead in [0, -5_000_000, 3_600_000_000 * 7] {
            let mut exchange = Exchange { ahead, ..Exchange::new() };
            assert!((exchange.run(10) - 5.0).abs() < 0.2);
            let mut exchange = Exchange { ahead, jitter_ms: 60.0, up_ms: 30, ..Exchange::new() };
            let error = exchange.run(30);
            assert!(error < 2.0, "{error} ms");
        }
    }

    #[test]
    fn drift_is_learnt_and_followed() {
        for ppm in [-200.0, 50.0, 700.0] {
            let mut exchange = Exchange { ppm, jitter_ms: 60.0, up_ms: 30, ..Exchange::new() };
            exchange.run(20);
            let error = exchange.run(60);
            assert!(error < 2.5, "{error} ms at {ppm} ppm");
            let slope = exchange.estimator.slope;
            assert!((slope + ppm).abs() < 40.0, "{slope} for {ppm}");
        }
    }

    #[test]
    fn a_longer_path_moves_nothing_if_both_ways_grow_and_little_if_one_does() {
        let mut exchange = Exchange { up_ms: 30, jitter_ms: 10.0, ..Exchange::new() };
        exchange.run(20);
        (exchange.up_ms, exchange.down_ms) = (80, 80);
        let error = exchange.run(90);
        assert!(error < 3.0, "{error} ms: the drift is known less and less");
        exchange.up_ms = 180;
        // No earlier proof rules out the new offset, nor makes it likely; for some time the error
        // stays below half of the growth.
        assert!(exchange.run(10) < 2.0);
        (exchange.up_ms, exchange.down_ms) = (30, 30);
        assert!(exchange.run(5) < 1.0);
    }

    #[test]
    fn a_way_that_grows_little_by_little_is_no_drift() {
        // `run` checks the error against the reported bound.
        for (base_ms, jitter_ms, grows_ms) in [(5, 1.0, 1), (30, 4.0, 2), (30, 4.0, 5)] {
            let mut exchange =
                Exchange { up_ms: base_ms, down_ms: base_ms, jitter_ms, ..Exchange::new() };
            exchange.run(20);
            for _ in 0..60 {
                exchange.up_ms += grows_ms;
                exchange.run(1);
            }
            let error = exchange.run(90);
            let half = (60 * grows_ms) as f64 / 2.0;
            assert!((error - half).abs() < 3.0, "{error} ms, not {half}");
        }
    }

    #[test]
    fn a_clock_that_was_set_is_followed_at_once() {
        for by in [-10_000_000, 20_000, -20_000, 3_600_000_000] {
            let mut exchange = Exchange { up_ms: 30, jitter_ms: 4.0, ..Exchange::new() };
            exchange.run(20);
            exchange.ahead = by;
            // The reported bound does not cover clock changes that are not detected at once.
            for _ in 0..70 {
                let (at, held) = (exchange.now, Micros(0));
                let client = LocalTime(at + 30_000 - exchange.truth(at));
                let (now, echoed) = (ServerTime(at + 60_000), ServerTime(at));
                exchange.estimator.observe(now, client, echoed, held);
                exchange.now += 33_333;
            }
            assert!(exchange.run(5) < 1.0, "set by {by}");
        }
    }

    #[test]
    fn impossible_echoes_are_left_out() {
        let mut estimator = OffsetEstimator::default();
        estimator.observe(ServerTime(10), LocalTime(0), ServerTime(5), Micros(6));
        estimator.observe(ServerTime(10), LocalTime(0), ServerTime(5), Micros(-1));
        estimator.observe(ServerTime(10), LocalTime(0), ServerTime(50), Micros(0));
        assert_eq!(estimator.estimate(ServerTime(10)), None);
        estimator.observe(ServerTime(10), LocalTime(i64::MIN), ServerTime(5), Micros(0));
        assert_eq!(estimator.estimate(ServerTime(10)).unwrap().offset, Offset(i64::MAX));
    }

    #[test]
    fn lies_of_all_kinds_are_borne() {
        let mut estimator = OffsetEstimator::default();
        let mut random = Random::new(8);
        for n in 0..20_000 {
            let mut any = || random.bits() as i64 >> random.below(64);
            let (sent, echoed, held) = (any(), any(), any());
            let now = ServerTime(n * 10_000);
            estimator.observe(now, LocalTime(sent), ServerTime(echoed), Micros(held));
            if let Some(estimate) = estimator.estimate(now) {
                assert!(estimate.error_max >= Micros::ZERO);
            }
        }
        assert!(estimator.buckets.len() <= OffsetEstimator::BUCKETS_MAX);
    }
}

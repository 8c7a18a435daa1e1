//! A token bucket that limits the rate of requests.

use crate::time::{LocalTime, Micros};

/// Limit of requests of one kind.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct RequestLimit {
    /// Maximum number of requests at once.
    pub(in crate::server) burst: u32,
    /// Time after which another one is allowed.
    pub(in crate::server) interval: Micros,
}

/// One client's allowance of requests of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::server) struct Bucket {
    /// Time until which requests are paid for, if it is in the future.
    paid: Option<LocalTime>,
}

impl Bucket {
    /// Takes one request from the allowance. Returns `false` if it is used up.
    pub(in crate::server) fn take(&mut self, now: LocalTime, limit: RequestLimit) -> bool {
        let paid = self.paid.map_or(now, |paid| paid.max(now)) + limit.interval;
        let is_within = (paid - now).0 <= limit.interval.0 * i64::from(limit.burst);
        if is_within {
            self.paid = Some(paid);
        }
        is_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_lets_a_burst_through_and_then_the_rate() {
        let limit = RequestLimit { burst: 4, interval: Micros::from_ms(1000) };
        let mut bucket = Bucket::default();
        let mut taken = Vec::new();
        for ms in (0..10_000).step_by(100) {
            if bucket.take(LocalTime(0) + Micros::from_ms(ms), limit) {
                taken.push(ms);
            }
        }
        assert_eq!(taken[..5], [0, 100, 200, 300, 1000]);
        assert_eq!(taken.len(), 4 + 9);
    }

    #[test]
    fn bucket_survives_any_time() {
        let limit = RequestLimit { burst: 1, interval: Micros::from_ms(1000) };
        let mut bucket = Bucket::default();
        assert!(bucket.take(LocalTime(0), limit));
        assert!(!bucket.take(LocalTime(-1_000_000), limit));
        assert!(bucket.take(LocalTime(1_000_000), limit));
    }
}

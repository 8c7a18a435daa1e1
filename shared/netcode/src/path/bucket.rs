//! A token bucket: the number of bytes that may be sent now while keeping to an average rate.

use crate::time::LocalTime;

/// Bytes that may still be sent at a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// Content in millionths of a byte; negative after sending more than it held.
    tokens: i64,
    filled: LocalTime,
}

impl Bucket {
    /// Creates a bucket with this many bytes.
    pub(super) fn new(now: LocalTime, bytes: usize) -> Self {
        Self { tokens: millionths(bytes), filled: now }
    }

    /// Adds what the rate in bytes per second allows since the last call, up to `full` bytes, and
    /// returns the content in millionths of a byte. An excess over `full` stays until it is spent.
    pub(super) fn fill(&mut self, now: LocalTime, rate: u64, full: usize) -> i64 {
        let span = (now - self.filled).0.clamp(0, 1_000_000);
        self.filled = self.filled.max(now);
        let filled = (self.tokens + rate as i64 * span).min(millionths(full));
        self.tokens = self.tokens.max(filled);
        self.tokens
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.tokens = self.tokens.saturating_sub(millionths(bytes));
    }
}

fn millionths(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX).saturating_mul(1_000_000)
}

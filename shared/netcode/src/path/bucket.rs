//! A token bucket: bytes that may be sent now, so that a rate is kept on average.

use crate::time::LocalTime;

/// Bytes that a rate has left to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// Content in millionths of a byte; less than none after more than that was sent.
    tokens: i64,
    filled: LocalTime,
}

impl Bucket {
    /// A bucket with so many bytes.
    pub(super) fn new(now: LocalTime, bytes: usize) -> Self {
        Self { tokens: millionths(bytes), filled: now }
    }

    /// Adds what the rate in bytes a second allows since the last call, up to `full` bytes, and
    /// returns the content in millionths of a byte. More than `full` stays until it is spent.
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

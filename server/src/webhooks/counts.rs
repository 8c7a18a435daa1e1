//! Counters of sent messages.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of all webhooks since the start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(super) delivered: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) failed: AtomicU64,
}

impl Counts {
    /// Returns delivered and dropped messages, and failed attempts.
    pub(crate) fn get(&self) -> [(&'static str, u64); 3] {
        [
            ("delivered", self.delivered.load(Ordering::Relaxed)),
            ("dropped", self.dropped.load(Ordering::Relaxed)),
            ("failed", self.failed.load(Ordering::Relaxed)),
        ]
    }

    pub(super) fn add(count: &AtomicU64, number: usize) {
        count.fetch_add(number as u64, Ordering::Relaxed);
    }
}

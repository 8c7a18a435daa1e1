//! Counts of a server since its start, which all its threads add to.

use std::sync::atomic::{AtomicU64, Ordering};

use phaselock::wire::disconnect::Code;

/// Codes of goodbyes that are counted each for itself; those above are counted as the last.
const CODES: usize = 64;

/// Counts of a server since its start.
#[derive(Debug)]
pub(super) struct Counters {
    packets_in: AtomicU64,
    bytes_in: AtomicU64,
    packets_out: AtomicU64,
    bytes_out: AtomicU64,
    refusals: [AtomicU64; CODES],
}

/// The same at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// UDP packets that came.
    pub packets_in: u64,
    /// Bytes in them.
    pub bytes_in: u64,
    /// UDP packets that were sent.
    pub packets_out: u64,
    /// Bytes in them.
    pub bytes_out: u64,
    /// Goodbyes by their codes, those left out of which there was none.
    pub goodbyes: Vec<(Code, u64)>,
}

impl Default for Counters {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            packets_in: zero(),
            bytes_in: zero(),
            packets_out: zero(),
            bytes_out: zero(),
            refusals: std::array::from_fn(|_| zero()),
        }
    }
}

impl Counters {
    /// Counts packets that came.
    pub(super) fn received(&self, packets: usize, bytes: usize) {
        self.packets_in.fetch_add(packets as u64, Ordering::Relaxed);
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts packets that left.
    pub(super) fn sent(&self, packets: usize, bytes: usize) {
        self.packets_out.fetch_add(packets as u64, Ordering::Relaxed);
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a goodbye.
    pub(super) fn goodbye(&self, code: Code) {
        let number = usize::from(u16::from(code)).min(CODES - 1);
        self.refusals[number].fetch_add(1, Ordering::Relaxed);
    }

    /// The counts now.
    pub(super) fn traffic(&self) -> Traffic {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counted = (0..).zip(&self.refusals).map(|(code, count)| (Code::from(code), of(count)));
        Traffic {
            packets_in: of(&self.packets_in),
            bytes_in: of(&self.bytes_in),
            packets_out: of(&self.packets_out),
            bytes_out: of(&self.bytes_out),
            goodbyes: counted.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

//! Counters of a server since its start, shared by all its threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use phaselock::wire::disconnect::Code;

use super::tally::Tally;

/// Number of goodbye codes that are counted separately; higher ones count as the last.
const CODES: usize = 64;

/// Names of transports: QUIC directly, and WebTransport.
const TRANSPORTS: [&str; 2] = ["native", "web"];

/// Counters of a server since its start.
#[derive(Debug)]
pub(super) struct Counters {
    packets_in: AtomicU64,
    bytes_in: AtomicU64,
    packets_out: AtomicU64,
    bytes_out: AtomicU64,
    refusals: [AtomicU64; CODES],
    queries: AtomicU64,
    /// Connections that entered a room, by transport.
    transports: [AtomicU64; TRANSPORTS.len()],
    dropped: Mutex<Tally>,
}

/// The counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// UDP packets received.
    pub packets_in: u64,
    /// Bytes in these packets.
    pub bytes_in: u64,
    /// UDP packets sent.
    pub packets_out: u64,
    /// Bytes in these packets.
    pub bytes_out: u64,
    /// Goodbyes by code, without codes that have not occurred.
    pub goodbyes: Vec<(Code, u64)>,
    /// Queries answered.
    pub queries: u64,
    /// Connections that entered a room, by name of the transport: `native` and `web`.
    pub transports: [(&'static str, u64); 2],
    /// Packets and connections of strangers that were dropped, by name of the reason; updated every
    /// ten seconds.
    pub dropped: Vec<(&'static str, u64)>,
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
            queries: zero(),
            transports: std::array::from_fn(|_| zero()),
            dropped: Mutex::default(),
        }
    }
}

impl Counters {
    /// Counts received packets.
    pub(super) fn received(&self, packets: usize, bytes: usize) {
        self.packets_in.fetch_add(packets as u64, Ordering::Relaxed);
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts sent packets.
    pub(super) fn sent(&self, packets: usize, bytes: usize) {
        self.packets_out.fetch_add(packets as u64, Ordering::Relaxed);
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a goodbye.
    pub(super) fn goodbye(&self, code: Code) {
        let number = usize::from(u16::from(code)).min(CODES - 1);
        self.refusals[number].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts answers to queries.
    pub(super) fn answered(&self, queries: usize) {
        self.queries.fetch_add(queries as u64, Ordering::Relaxed);
    }

    /// Counts a connection that enters a room.
    pub(super) fn entered(&self, is_web: bool) {
        self.transports[usize::from(is_web)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts dropped packets and connections of strangers.
    pub(super) fn dropped(&self, tally: Tally) {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).add(tally);
    }

    /// Returns the current counts.
    pub(super) fn traffic(&self) -> Traffic {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counted = (0..).zip(&self.refusals).map(|(code, count)| (Code::from(code), of(count)));
        Traffic {
            packets_in: of(&self.packets_in),
            bytes_in: of(&self.bytes_in),
            packets_out: of(&self.packets_out),
            bytes_out: of(&self.bytes_out),
            goodbyes: counted.filter(|(_, count)| *count > 0).collect(),
            queries: of(&self.queries),
            transports: std::array::from_fn(|at| (TRANSPORTS[at], of(&self.transports[at]))),
            dropped: self.dropped.lock().unwrap_or_else(PoisonError::into_inner).named().collect(),
        }
    }
}

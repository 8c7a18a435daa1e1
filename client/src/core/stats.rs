//! What a client counts.

use phaselock_shared::snapshot::store::Received;
use phaselock_shared::time::{Micros, Tick};

use super::Correction;

/// Counters since the start of a session.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Datagrams received, good or bad.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Datagrams sent.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Datagrams that were refused: garbage, duplicates, stragglers.
    pub refused: u64,
    /// Snapshots of different ticks received.
    pub snapshots: u64,
    /// States of entities received.
    pub entity_updates: u64,
    /// Snapshot packets that were sent to this client, as far as their numbers tell.
    pub expected: u64,
    /// Of these, how many came.
    pub arrived: u64,
    /// The last measured round trip.
    pub round_trip: Micros,
    /// How early the newest input was, as the server last reported.
    pub input_early: Micros,
    /// Ticks that the server ran without this client's input.
    pub late_inputs: u64,
    /// Ticks predicted.
    pub ticks: u64,
    /// Ticks left out after a stall.
    pub skipped_ticks: u64,
    /// Predictions that the server contradicted.
    pub mispredictions: u64,
    /// The last of them.
    pub last_correction: Option<Correction>,
    /// Frames drawn.
    pub frames: u64,
    /// Frames in which something had no later state to move towards.
    pub underruns: u64,
}

/// Counts, and remembers what it takes to.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) stats: Stats,
    first_seq: Option<u64>,
    newest_seq: u64,
    newest_tick: Option<Tick>,
    late_low: Option<u16>,
}

impl Counter {
    pub(super) fn new(round_trip: Micros) -> Self {
        Self {
            stats: Stats { round_trip, ..Stats::default() },
            first_seq: None,
            newest_seq: 0,
            newest_tick: None,
            late_low: None,
        }
    }

    pub(super) fn handle_received(&mut self, received: &Received) {
        self.stats.entity_updates += received.entities as u64;
        self.stats.arrived += 1;
        let first = *self.first_seq.get_or_insert(received.seq);
        self.newest_seq = self.newest_seq.max(received.seq);
        self.stats.expected = self.newest_seq.saturating_sub(first) + 1;
        // Packets of one snapshot come one after the other.
        if self.newest_tick.is_none_or(|newest| newest < received.tick) {
            self.newest_tick = Some(received.tick);
            self.stats.snapshots += 1;
        }
    }

    pub(super) fn is_newest(&self, received: &Received) -> bool {
        received.seq == self.newest_seq
    }

    pub(super) fn handle_late(&mut self, low: u16) {
        let before = self.late_low.replace(low).unwrap_or(0);
        // A report that was overtaken counts backwards: leave it out.
        let more = low.wrapping_sub(before);
        if more < 1 << 15 {
            self.stats.late_inputs += u64::from(more);
        } else {
            self.late_low = Some(before);
        }
    }

    pub(super) fn handle_correction(&mut self, correction: Correction) {
        self.stats.mispredictions += 1;
        self.stats.last_correction = Some(correction);
    }
}

impl Stats {
    /// Share of the snapshot packets that did not come: 0 to 1.
    pub fn loss(&self) -> f64 {
        1.0 - self.arrived.min(self.expected) as f64 / self.expected.max(1) as f64
    }
}

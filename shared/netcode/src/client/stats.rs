//! Counters of a client.

use crate::clock::lateness::LateCauses;
use crate::game::MispredictionCause;
use crate::snapshot::store::Received;
use crate::time::{Micros, Tick};
use crate::wire::snapshot::InputReport;

use super::news::Correction;

/// Counters since the start of a session.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Datagrams received, valid or not.
    pub rx_packets: u64,
    /// Bytes of these datagrams.
    pub rx_bytes: u64,
    /// Datagrams sent.
    pub tx_packets: u64,
    /// Bytes of these datagrams.
    pub tx_bytes: u64,
    /// Datagrams that were refused: invalid, duplicate or too late.
    pub refused: u64,
    /// Snapshots received that were newer than all before.
    pub snapshots: u64,
    /// Entity states received.
    pub entity_updates: u64,
    /// Snapshot packets sent to this client, inferred from their numbers.
    pub expected: u64,
    /// Snapshot packets that arrived, of those expected.
    pub arrived: u64,
    /// Input packets that the server reported missing.
    pub tx_lost: u64,
    /// The last round trip time measured.
    pub round_trip: Micros,
    /// Smoothed variation of the round trip time over 16 measurements (the interarrival jitter of
    /// RFC 3550).
    pub jitter: Micros,
    /// Bound of the clock's error from path asymmetry, as last reported by the server.
    pub clock_error_max: Micros,
    /// How early the newest input arrived, as last reported by the server; negative if it was late.
    pub input_early: Micros,
    /// How early the latest input of the last few snapshots arrived.
    pub input_early_min: Micros,
    /// Ticks that the server ran without this client's input.
    pub late_inputs: u64,
    /// Causes of late inputs, as far as the server has reported their arrival, and of skipped
    /// ticks.
    pub late_causes: LateCauses,
    /// Ticks predicted.
    pub ticks: u64,
    /// Sum of the leads of those ticks.
    pub lead_sum: Micros,
    /// Ticks skipped after a stall.
    pub skipped_ticks: u64,
    /// Number of mispredictions.
    pub mispredictions: u64,
    /// Mispredictions by cause, in the order of [`MispredictionCause::ALL`].
    pub misses: [Misses; MispredictionCause::ALL.len()],
    /// Mispredictions without a cause: faults of the game or the netcode.
    pub unexplained: Misses,
    /// The last misprediction.
    pub last_correction: Option<Correction>,
    /// Frames drawn.
    pub frames: u64,
    /// Sum of the interpolation delays of those frames.
    pub delay_sum: Micros,
    /// Frames in which an entity had no later state to interpolate towards.
    pub underruns: u64,
}

/// Mispredictions of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Misses {
    /// Number of mispredictions.
    pub count: u64,
    /// Sum of their sizes: for each, the error of the field with the largest error, in its unit.
    pub size_sum: f64,
    /// The largest size.
    pub size_max: f32,
}

/// Counters, with the state needed to update them.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) stats: Stats,
    /// Totals of earlier games.
    expected_before: u64,
    first_seq: Option<u64>,
    newest_seq: u64,
    newest_tick: Option<Tick>,
    late_low: Low,
    missing_low: Low,
    jittered: Option<Micros>,
}

/// The low bits of a counter on the server that only rises.
#[derive(Clone, Copy, Debug, Default)]
struct Low(u16);

impl Low {
    /// Returns by how much the counter rose. Ignores reordered reports, which would count
    /// backwards.
    fn rise(&mut self, low: Option<u16>) -> u64 {
        let Some(low) = low else { return 0 };
        let more = low.wrapping_sub(self.0);
        if more >= 1 << 15 {
            return 0;
        }
        self.0 = low;
        u64::from(more)
    }
}

impl Counter {
    pub(super) fn new(round_trip: Micros) -> Self {
        Self {
            stats: Stats { round_trip, ..Stats::default() },
            expected_before: 0,
            first_seq: None,
            newest_seq: 0,
            newest_tick: None,
            late_low: Low::default(),
            missing_low: Low::default(),
            jittered: None,
        }
    }

    /// Continues with another game of the same server. Packet numbers start again, the loss count
    /// does not.
    pub(super) fn go_on(&mut self) {
        self.stats.last_correction = None;
        self.expected_before = self.stats.expected;
        self.first_seq = None;
        self.newest_seq = 0;
        self.newest_tick = None;
        self.late_low = Low::default();
    }

    pub(super) fn handle_received(&mut self, received: &Received) {
        self.stats.entity_updates += received.entities as u64;
        self.stats.arrived += 1;
        let first = *self.first_seq.get_or_insert(received.seq);
        self.newest_seq = self.newest_seq.max(received.seq);
        self.stats.expected = self.expected_before + self.newest_seq.saturating_sub(first) + 1;
        // Packets of one snapshot arrive in sequence.
        if self.newest_tick.is_none_or(|newest| newest < received.tick) {
            self.newest_tick = Some(received.tick);
            self.stats.snapshots += 1;
        }
    }

    /// Whether this packet directly follows the newest one. Call it before
    /// [`handle_received`](Self::handle_received).
    pub(super) fn follows(&self, received: &Received) -> bool {
        received.seq == self.newest_seq.saturating_add(1)
    }

    pub(super) fn is_newest(&self, received: &Received) -> bool {
        received.seq == self.newest_seq
    }

    pub(super) fn handle_round_trip(&mut self, round_trip: Micros) {
        if let Some(before) = self.jittered.replace(round_trip) {
            let change = Micros((round_trip - before).0.saturating_abs());
            self.stats.jitter += Micros((change - self.stats.jitter).0 / 16);
        }
        self.stats.round_trip = round_trip;
    }

    pub(super) fn handle_report(&mut self, report: &InputReport) {
        self.stats.late_inputs += self.late_low.rise(report.late);
        // A packet that was merely reordered counts as missing for a moment; that is not undone.
        self.stats.tx_lost += self.missing_low.rise(report.missing);
        self.stats.input_early = Micros(i64::from(report.newest_early));
        self.stats.input_early_min = Micros(i64::from(report.worst_early));
    }

    pub(super) fn handle_correction(&mut self, correction: Correction) {
        self.stats.mispredictions += 1;
        let Stats { misses, unexplained, .. } = &mut self.stats;
        let mut counted = MispredictionCause::ALL.iter().zip(misses);
        let counted = counted.find(|(cause, _)| Some(**cause) == correction.cause);
        let misses = counted.map_or(unexplained, |(_, misses)| misses);
        misses.count += 1;
        misses.size_sum += f64::from(correction.size);
        misses.size_max = misses.size_max.max(correction.size);
        self.stats.last_correction = Some(correction);
    }
}

impl Stats {
    /// Returns the difference of all counters since `before`. Other values are the current ones.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            rx_packets: self.rx_packets - before.rx_packets,
            rx_bytes: self.rx_bytes - before.rx_bytes,
            tx_packets: self.tx_packets - before.tx_packets,
            tx_bytes: self.tx_bytes - before.tx_bytes,
            refused: self.refused - before.refused,
            snapshots: self.snapshots - before.snapshots,
            entity_updates: self.entity_updates - before.entity_updates,
            expected: self.expected - before.expected,
            arrived: self.arrived - before.arrived,
            tx_lost: self.tx_lost - before.tx_lost,
            late_inputs: self.late_inputs - before.late_inputs,
            late_causes: self.late_causes.since(&before.late_causes),
            ticks: self.ticks - before.ticks,
            lead_sum: self.lead_sum - before.lead_sum,
            skipped_ticks: self.skipped_ticks - before.skipped_ticks,
            mispredictions: self.mispredictions - before.mispredictions,
            frames: self.frames - before.frames,
            delay_sum: self.delay_sum - before.delay_sum,
            underruns: self.underruns - before.underruns,
            ..self.clone()
        }
    }

    /// Returns the mispredictions of a cause.
    pub fn missed_by(&self, cause: MispredictionCause) -> Misses {
        let mut counted = MispredictionCause::ALL.iter().zip(&self.misses);
        counted.find(|(of, _)| **of == cause).map(|(_, misses)| *misses).unwrap_or_default()
    }

    /// Returns the mean lead.
    pub fn lead_mean(&self) -> Micros {
        Micros(self.lead_sum.0 / self.ticks.max(1) as i64)
    }

    /// Returns the mean interpolation delay.
    pub fn delay_mean(&self) -> Micros {
        Micros(self.delay_sum.0 / self.frames.max(1) as i64)
    }

    /// Returns the fraction of snapshot packets that were lost: 0 to 1.
    pub fn loss(&self) -> f64 {
        1.0 - self.arrived.min(self.expected) as f64 / self.expected.max(1) as f64
    }
}

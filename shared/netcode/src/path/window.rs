//! The congestion window of a client's path to its server: loss does not close it, but a queue of
//! the stream's own does.
//!
//! The amount of input is fixed, and controllers for bulk transfer shrink the window to two packets
//! under loss, which gains nothing. The real problem is a path that is too narrow: packets wait in
//! its queue for seconds. There the round trip grows, and the window shrinks to what the path
//! carries in the shortest round trip.
//!
//! A round trip also grows with a longer route or another stream's queue, which sending less does
//! not shorten. So each reduction is a trial: if packets take as long as before, the path is that
//! long, and the window opens again.
//!
//! The window starts small and, without a queue, grows by what has passed. It always holds what the
//! path carries in one round trip, plus one snapshot interval, plus a packet besides one in flight.
//! During silence an extra packet may be sent from time to time.

use crate::limits::DATAGRAM_BYTES_MAX;
use crate::time::{LocalTime, Micros};

/// Bytes of a UDP packet on any path of QUIC (RFC 9000, 14.1). quinn sends only while that much of
/// the window is free.
const PACKET_BYTES: u64 = 1200;

/// Limits of a [`CongestionWindow`], in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionLimits {
    /// Initial size.
    pub initial: u64,
    /// The minimum size.
    pub least: u64,
    /// The maximum size.
    pub most: u64,
}

impl CongestionLimits {
    /// For a path to a server: packets of about 100 bytes at 60 Hz. `least` is six of them, `most`
    /// is fifteen seconds of them at 128 Hz, after which a silent connection is lost.
    pub const INPUTS: Self =
        Self { initial: 4 * PACKET_BYTES, least: 3 * PACKET_BYTES / 2, most: 240 * PACKET_BYTES };
}

/// How many bytes may be in flight on a path. Time is the sender's clock.
#[derive(Clone, Copy, Debug)]
pub struct CongestionWindow {
    limits: CongestionLimits,
    bytes: u64,
    in_flight: u64,
    /// The shortest round trip of the path without a queue.
    base: Micros,
    queued: bool,
    trial: Option<Trial>,
    /// The shortest round trips of the current moment and the one before.
    moments: [Micros; 2],
    moment_since: LocalTime,
    moment_batches: u32,
    /// Number of rounds in a row with a queue and nothing left to reduce.
    stuck: u32,
    round: Round,
}

/// The state before the window shrank, to check whether that helps.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Maximum number of bytes in flight.
    most: u64,
    round_trip: Micros,
    /// Expected round trip if the queue is the stream's own.
    expected: Micros,
}

/// Measurements between two decisions.
#[derive(Clone, Copy, Debug)]
struct Round {
    since: LocalTime,
    /// Sum of the round trips of the packets that count.
    sum: Micros,
    min: Micros,
    packets: u32,
    /// Bytes acknowledged and bytes lost.
    passed: u64,
    /// Maximum number of bytes in flight.
    most: u64,
    /// Bytes of the acknowledgements that are being handled.
    acked: u64,
}

/// Result of a round.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The shortest round trip.
    min: Micros,
    /// Excess of `min` over the base, and the tolerated excess.
    queue: Micros,
    bound: Micros,
    /// Maximum number of bytes in flight.
    most: u64,
    passed: u64,
    /// Bytes passed per second.
    rate: u64,
}

impl Round {
    fn new(since: LocalTime) -> Self {
        Self {
            since,
            sum: Micros::ZERO,
            min: Micros(i64::MAX),
            packets: 0,
            passed: 0,
            most: 0,
            acked: 0,
        }
    }
}

impl CongestionWindow {
    /// Delay below which there is no queue: two snapshot intervals at 30 Hz.
    const QUEUE_MAX: Micros = Micros::from_ms(67);
    /// Target delay, so that the path does not run dry: one snapshot interval.
    const QUEUE: Micros = Micros::from_ms(33);
    /// Spread of round trips within a round that is only jitter, or a snapshot's packets in a row.
    const SPREAD_MAX: Micros = Micros::from_ms(100);
    /// Length of a moment: the last two show what a round does not show yet.
    const MOMENT: Micros = Micros::from_ms(50);
    /// Number of acknowledgements in a moment, since a few may be lost in a row.
    const MOMENT_BATCHES: u32 = 4;
    /// The shortest round: several snapshots, even on a short path.
    const ROUND_MIN: Micros = Micros::from_ms(200);
    /// Number of packets in a round; fewer say little about a path with jitter.
    const ROUND_PACKETS: u32 = 4;
    /// Number of rounds with a queue and nothing left to reduce after which the window opens once,
    /// because the route may have changed. Arbitrary; six seconds and more.
    const STUCK_ROUNDS: u32 = 32;
    /// Time without an acknowledgement after which an extra packet of this many bytes may be sent.
    const SILENCE: Micros = Micros::from_ms(500);
    const SILENT_BYTES: u64 = 256;

    /// Creates the window of a new path.
    pub fn new(limits: CongestionLimits, now: LocalTime) -> Self {
        Self {
            limits,
            bytes: limits.initial,
            in_flight: 0,
            base: Micros(i64::MAX),
            queued: false,
            trial: None,
            moments: [Micros(i64::MAX); 2],
            moment_since: now,
            moment_batches: 0,
            stuck: 0,
            round: Round::new(now),
        }
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a packet could be sent at once, with `more` bytes on top of the window.
    pub fn may_send(&self, more: u64) -> bool {
        self.in_flight + PACKET_BYTES < self.bytes + more
    }

    /// Returns the bytes on top of the window after this long without an acknowledgement: one input
    /// packet each half second. QUIC's own probes become ever rarer, and would detect too late that
    /// a path is back after ten seconds.
    pub fn more_in_silence(silence: Micros) -> u64 {
        (silence.0.max(0) / Self::SILENCE.0).unsigned_abs() * Self::SILENT_BYTES
    }

    /// Notes that bytes were sent.
    pub fn handle_sent(&mut self, bytes: u64) {
        self.in_flight += bytes;
    }

    /// Notes that bytes were lost.
    pub fn handle_lost(&mut self, bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.round.passed += bytes;
    }

    /// Handles the acknowledgement of a packet.
    pub fn handle_ack(&mut self, now: LocalTime, sent: LocalTime, bytes: u64) {
        let round_trip = Micros((now - sent).0.max(0));
        self.base = self.base.min(round_trip);
        if now - self.moment_since >= Self::MOMENT && self.moment_batches >= Self::MOMENT_BATCHES {
            self.moments = [self.moments[1], Micros(i64::MAX)];
            (self.moment_since, self.moment_batches) = (now, 0);
        }
        self.moments[1] = self.moments[1].min(round_trip);
        let round = &mut self.round;
        round.acked += bytes;
        round.passed += bytes;
        // Only packets sent after the window shrank show whether that helped.
        if self.trial.is_none() || sent >= round.since {
            round.sum += round_trip;
            round.min = round.min.min(round_trip);
            round.packets += 1;
        }
    }

    /// Ends a batch of acknowledgements; `in_flight` bytes are still in flight.
    pub fn handle_acked(&mut self, now: LocalTime, in_flight: u64) {
        self.in_flight = in_flight;
        self.moment_batches += 1;
        let round = &mut self.round;
        round.most = round.most.max(in_flight + std::mem::take(&mut round.acked));
        if round.packets == 0 {
            return;
        }
        let mean = Micros(round.sum.0 / i64::from(round.packets));
        let time = if self.trial.is_none() { mean.0 } else { mean.0 / 2 * 3 };
        let (time, passed) = (time.max(Self::ROUND_MIN.0), (now - round.since).0);
        let few = round.packets < Self::ROUND_PACKETS && passed < 2 * time;
        let spread = (mean - round.min).min(Self::SPREAD_MAX);
        let bound = (Self::QUEUE_MAX + spread).max(Micros(self.base.0 / 4));
        let recent = self.moments[0].min(self.moments[1]);
        // A growing queue ends the round early.
        let grows = self.trial.is_none() && recent < Micros(i64::MAX) && recent - self.base > bound;
        if few || passed < time && !(grows && passed >= Self::ROUND_MIN.0) {
            return;
        }
        let min = if self.trial.is_none() { round.min.max(recent) } else { round.min };
        let rate = round.passed.saturating_mul(1_000_000) / passed.unsigned_abs().max(1);
        // A window that has just shrunk still has more than its size in flight.
        let most = if self.trial.is_none() { round.most } else { round.most.min(self.bytes) };
        let (queue, bytes) = (min - self.base, round.passed);
        let seen = Seen { queue, bound, min, most, passed: bytes, rate };
        self.round = Round::new(now);
        self.judge(seen);
    }

    fn judge(&mut self, seen: Seen) {
        let Seen { queue, bound, .. } = seen;
        let trial = self.trial.take();
        if queue <= bound {
            self.stuck = 0;
            if !self.queued {
                // What has passed at most doubles the window in each round trip.
                self.bytes = (self.bytes + seen.passed.min(self.bytes)).min(self.limits.most);
            } else if queue.0 <= bound.0 / 2 {
                self.open(5, 4);
            }
            return;
        }
        if let Some(trial) = trial
            && seen.min.0 > (trial.round_trip.0 + trial.expected.0) / 2
        {
            // The queue, if there is one, is not the stream's own.
            self.base = seen.min;
            self.queued = false;
            self.bytes = self.bytes.max(trial.most * 2).min(self.limits.most);
            return;
        }
        let queued = std::mem::replace(&mut self.queued, true);
        // Enough to fill the path and a short queue, but at least half of what was in flight, since
        // the measured rate may be wrong.
        let fill = (self.base + Self::QUEUE).0.unsigned_abs();
        let target = seen.rate.saturating_mul(fill) / 1_000_000;
        let bytes = (target + PACKET_BYTES).max(seen.most / 2);
        let bytes = bytes.max(self.limits.least).min(self.bytes);
        if bytes <= seen.most / 8 * 5 {
            self.stuck = 0;
            // While the queue grew, packets took less time than the last ones will. It does not
            // grow in a second trial in a row.
            let last = seen.most.saturating_mul(1_000_000) / seen.rate.max(1);
            let last = Micros(i64::try_from(last).unwrap_or(i64::MAX / 2));
            let round_trip = if trial.is_none() { seen.min.max(last) } else { seen.min };
            let expected = (round_trip.0 / seen.most as i64).saturating_mul(bytes as i64);
            let most = trial.map_or(seen.most, |trial| trial.most);
            let expected = Micros(expected).max(self.base);
            self.trial = Some(Trial { most, round_trip, expected });
            self.bytes = bytes;
            return;
        }
        // The stream hardly fills the window, or it is small already.
        if queued {
            self.bytes = bytes;
        }
        self.stuck += 1;
        if self.stuck >= Self::STUCK_ROUNDS {
            self.stuck = 0;
            self.open(2, 1);
        }
    }

    fn open(&mut self, times: u64, part: u64) {
        self.bytes = (self.bytes * times / part).min(self.limits.most);
    }
}

const _: () = {
    assert!(PACKET_BYTES > DATAGRAM_BYTES_MAX as u64);
    let up = CongestionLimits::INPUTS;
    assert!(up.least > PACKET_BYTES, "a packet fits in");
    assert!(up.least <= up.initial && up.initial <= up.most);
};

#[cfg(test)]
mod tests;

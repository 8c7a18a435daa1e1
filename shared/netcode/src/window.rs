//! How many bytes may be on their way to the other side: a window that loss does not close, but a
//! queue of its own does.
//!
//! A game's traffic is limited by its rate: packets a snapshot times bytes a packet times snapshots
//! a second, and a packet of inputs a tick the other way. Under loss, controllers for bulk transfer
//! shrink the window to two packets, and at a round trip of 200 ms snapshots then come ten times a
//! second at best, though nothing would be gained by sending fewer. What does harm is a path too
//! narrow for that rate: packets then wait in its queue for seconds, worth nothing when they come,
//! and with them all that is told of the clock. There the round trip grows, and by that the window
//! shrinks: to what the path was seen to carry in the shortest round trip.
//!
//! A round trip also grows when the route becomes longer, or when others make the queue: somebody's
//! download, what goes the other way. Sending less would then shorten nothing. So each shrinking is a
//! trial: in a queue of its own, what is under way takes the longer the more it is; when packets take
//! as long as before, that is how long they take, and the window opens again.
//!
//! It starts small, because nothing is known of the path, and without a queue grows by what has
//! passed: what a path of 64 kbit/s is sent before it answers takes half a second of it, not ten.
//!
//! It never becomes so small that the path runs dry: what one round trip of the path holds and one
//! interval of snapshots more stays open, and always room for a packet besides one under way.

use crate::limits::{DATAGRAM_BYTES_MAX, SNAPSHOT_PACKETS_MAX};
use crate::time::{LocalTime, Micros};

/// Bytes of a UDP packet: QUIC's least that every path carries (RFC 9000, 14.1). quinn sends only
/// what leaves that much of the window free.
pub const PACKET_BYTES: u64 = 1200;

/// Bounds of a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLimits {
    /// It starts with so many bytes.
    pub initial: u64,
    /// It is never smaller.
    pub least: u64,
    /// It is never greater.
    pub most: u64,
    /// A stream of no more bytes a second is left alone.
    pub alone: u64,
}

impl WindowLimits {
    /// Towards a client. It starts with three packets and the free one; at least it sends one packet
    /// while another is under way; at most it holds greatest snapshots 60 times a second for half a
    /// second, which is twice the rate cap times a round trip of 250 ms. What a small game takes every
    /// path must carry, 28 kbit/s; where jitter and losses are great, so little tells nothing of a queue.
    pub const SNAPSHOTS: Self = Self {
        initial: 4 * PACKET_BYTES,
        least: 2 * PACKET_BYTES + 1,
        most: (SNAPSHOT_PACKETS_MAX as u64) * PACKET_BYTES * 30,
        alone: 3500,
    };
    /// Towards a server, with a packet of at most some 100 bytes 60 times a second. At least six of them
    /// may be under way; at most fifteen seconds' at 128 Hz, after which a silent connection is lost.
    pub const INPUTS: Self = Self {
        initial: 4 * PACKET_BYTES,
        least: 3 * PACKET_BYTES / 2,
        most: 240 * PACKET_BYTES,
        alone: 0,
    };
}

/// A window. Time is the sender's clock.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    limits: WindowLimits,
    bytes: u64,
    /// Bytes under way, as far as it has been told.
    in_flight: u64,
    /// How long packets take without a queue, as far as is known.
    base: Micros,
    /// Whether there has been a queue.
    queued: bool,
    trial: Option<Trial>,
    /// Shortest round trips of the last moment and of the one before, and when the last one began.
    moments: [Micros; 2],
    moment_since: LocalTime,
    moment_batches: u32,
    /// Rounds in a row in which there was a queue, but nothing left to close.
    stuck: u32,
    round: Round,
}

/// It shrank to see whether that helps.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Most bytes under way before.
    most: u64,
    /// How long packets took before.
    before: Micros,
    /// How long they should take now, if the queue is its own.
    expected: Micros,
}

/// The time between two decisions.
#[derive(Clone, Copy, Debug)]
struct Round {
    since: LocalTime,
    /// Round trips of the packets that count.
    sum: Micros,
    min: Micros,
    packets: u32,
    /// Bytes that arrived, and bytes that were lost: all that passed the narrowest place or its queue.
    passed: u64,
    /// Most bytes that were under way.
    most: u64,
    /// Bytes acknowledged by what is being handled.
    acked: u64,
}

/// What a round has shown.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// How long packets took that took the shortest.
    min: Micros,
    /// How much longer that is than without a queue.
    queue: Micros,
    /// How much longer it may be.
    bound: Micros,
    /// Most bytes that were under way.
    most: u64,
    /// Bytes that passed, and how many a second that is.
    passed: u64,
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

impl Window {
    /// A queue that takes less is none: two intervals of snapshots at 30 a second. What is queued is
    /// then at most one snapshot behind what could have been sent instead.
    const QUEUE_MAX: Micros = Micros::from_ms(67);
    /// What it aims at, so that the path does not run dry between two snapshots: one interval.
    const QUEUE: Micros = Micros::from_ms(33);
    /// Within a round, round trips differ by jitter, and by how long a snapshot's packets take one after
    /// the other. So much of that is no queue either.
    const SPREAD_MAX: Micros = Micros::from_ms(100);
    /// The last two moments show what a round does not yet.
    const MOMENT: Micros = Micros::from_ms(50);
    /// Several acknowledgements are in a moment, for a few may be lost in a row.
    const MOMENT_BATCHES: u32 = 4;
    /// A round has several snapshots in it, however short the way.
    const ROUND_MIN: Micros = Micros::from_ms(200);
    /// Fewer packets tell little of a path with jitter.
    const ROUND_PACKETS: u32 = 4;
    /// After so many rounds with a queue and nothing left to close, it is tried whether more passes:
    /// the route may be another one by now. Arbitrary; six seconds and more.
    const STUCK_ROUNDS: u32 = 32;

    /// The window of a new path.
    pub fn new(limits: WindowLimits, now: LocalTime) -> Self {
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

    /// Bytes that may be under way.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a packet could go out at once.
    pub fn has_room(&self) -> bool {
        self.in_flight + PACKET_BYTES < self.bytes
    }

    /// So many bytes were sent.
    pub fn handle_sent(&mut self, bytes: u64) {
        self.in_flight += bytes;
    }

    /// So many bytes were lost.
    pub fn handle_lost(&mut self, bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.round.passed += bytes;
    }

    /// A packet was acknowledged.
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
        // Whether shrinking helped shows only in what was sent after it.
        if self.trial.is_none() || sent >= round.since {
            round.sum += round_trip;
            round.min = round.min.min(round_trip);
            round.packets += 1;
        }
    }

    /// All packets that were acknowledged together have been handled; so many bytes are still under
    /// way.
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
        // A queue that grows is not waited for until the round is over.
        let grows = self.trial.is_none() && recent < Micros(i64::MAX) && recent - self.base > bound;
        if few || passed < time && !(grows && passed >= Self::ROUND_MIN.0) {
            return;
        }
        let min = if self.trial.is_none() { round.min.max(recent) } else { round.min };
        let rate = round.passed.saturating_mul(1_000_000) / passed.unsigned_abs().max(1);
        // At first more is under way than a window that has just shrunk.
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
                // By what has passed, which at most doubles it each round trip.
                self.bytes = (self.bytes + seen.passed.min(self.bytes)).min(self.limits.most);
            } else if queue.0 <= bound.0 / 2 {
                self.open(5, 4);
            }
            return;
        }
        if let Some(trial) = trial
            && seen.min.0 > (trial.before.0 + trial.expected.0) / 2
        {
            // It was not this window that made the queue, if it is one.
            self.base = seen.min;
            self.queued = false;
            self.bytes = self.bytes.max(trial.most * 2).min(self.limits.most);
            return;
        }
        let queued = std::mem::replace(&mut self.queued, true);
        // All that it takes to fill the path and a short queue; but no less than half at a time, for
        // what the path carries may have been seen wrongly.
        let fill = (self.base + Self::QUEUE).0.unsigned_abs();
        let target = seen.rate.saturating_mul(fill) / 1_000_000;
        let bytes = (target + PACKET_BYTES).max(seen.most / 2);
        let bytes = bytes.max(self.limits.least).min(self.bytes);
        let alone = seen.rate <= self.limits.alone;
        if bytes <= seen.most / 8 * 5 && !alone {
            self.stuck = 0;
            // While it still grew, packets took less long than the last ones will. In a second trial in a
            // row it does not grow.
            let last = seen.most.saturating_mul(1_000_000) / seen.rate.max(1);
            let last = Micros(i64::try_from(last).unwrap_or(i64::MAX / 2));
            let before = if trial.is_none() { seen.min.max(last) } else { seen.min };
            let expected = (before.0 / seen.most as i64).saturating_mul(bytes as i64);
            let most = trial.map_or(seen.most, |trial| trial.most);
            self.trial = Some(Trial { most, before, expected: Micros(expected).max(self.base) });
            self.bytes = bytes;
            return;
        }
        // What is sent hardly fills it, or it is small already: there is nothing to try.
        if queued && !alone {
            self.bytes = bytes;
        }
        self.stuck += 1;
        if self.stuck >= Self::STUCK_ROUNDS {
            self.stuck = 0;
            self.open(2, 1);
        }
    }

    /// Opens by a factor.
    fn open(&mut self, times: u64, part: u64) {
        self.bytes = (self.bytes * times / part).min(self.limits.most);
    }
}

const _: () = {
    assert!(PACKET_BYTES > DATAGRAM_BYTES_MAX as u64);
    let (down, up) = (WindowLimits::SNAPSHOTS, WindowLimits::INPUTS);
    assert!(down.least > 2 * PACKET_BYTES && up.least > PACKET_BYTES, "it must let something out");
    assert!(down.least <= down.initial && down.initial <= down.most);
    assert!(up.least <= up.initial && up.initial <= up.most);
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A path of its own, with what is sent over it.
    struct Path {
        now: LocalTime,
        window: Window,
        /// Bytes a second that pass; none if all do.
        rate: Option<u64>,
        delay: Micros,
        /// Evenly more, up to so much.
        jitter: Micros,
        loss: f32,
        random: Random,
        /// When the narrowest place is free again.
        free: LocalTime,
        /// Sent at, acknowledged at, bytes; not acknowledged if lost.
        under_way: Vec<(LocalTime, LocalTime, u64, bool)>,
        /// Of every snapshot that was wanted: whether it went out.
        sent: Vec<bool>,
        /// Longest wait in the narrowest place's queue, before the packet's own turn.
        waited: Micros,
        waits: Vec<Micros>,
        seen: (u64, u64),
        /// Bytes that were sent.
        carried: u64,
    }

    impl Path {
        fn new(limits: WindowLimits, rate: Option<u64>, delay_ms: i64) -> Self {
            let now = LocalTime(1_000_000);
            Self {
                now,
                window: Window::new(limits, now),
                rate,
                delay: Micros::from_ms(delay_ms),
                jitter: Micros::ZERO,
                loss: 0.0,
                random: Random::new(1),
                free: now,
                under_way: Vec::new(),
                sent: Vec::new(),
                waited: Micros::ZERO,
                waits: Vec::new(),
                seen: (u64::MAX, 0),
                carried: 0,
            }
        }

        fn restart(&mut self) {
            self.carried = 0;
            self.sent.clear();
            self.waited = Micros::ZERO;
            self.waits.clear();
            self.seen = (u64::MAX, 0);
        }

        /// Snapshots of so many packets of so many bytes, 30 a second, where there is room.
        fn run(&mut self, secs: u64, packets: u64, bytes: u64) {
            self.restart();
            for _ in 0..secs * 30 {
                self.step(packets, bytes);
            }
        }

        fn step(&mut self, packets: u64, bytes: u64) {
            // Acknowledgements come with the other side's packets.
            for _ in 0..2 {
                self.now = self.now + Micros(16_667);
                self.acknowledge();
            }
            self.sent.push(self.window.has_room());
            for _ in 0..packets {
                if !self.window.has_room() {
                    break;
                }
                self.window.handle_sent(bytes);
                self.carried += bytes;
                let begin = self.free.max(self.now);
                let turn = self.rate.map_or(0, |rate| (bytes * 1_000_000 / rate) as i64);
                self.waited = self.waited.max(begin - self.now);
                self.waits.push(begin - self.now);
                self.free = begin + Micros(turn);
                let jitter = Micros((self.jitter.0 as f32 * self.random.unit()) as i64);
                let lost = self.random.chance(self.loss);
                self.under_way.push((self.now, self.free + self.delay + jitter, bytes, lost));
            }
            self.seen =
                (self.seen.0.min(self.window.bytes()), self.seen.1.max(self.window.bytes()));
        }

        fn acknowledge(&mut self) {
            let now = self.now;
            let due: Vec<_> = self.under_way.extract_if(.., |packet| packet.1 <= now).collect();
            let lost = due.iter().filter(|packet| packet.3).map(|packet| packet.2).sum();
            for packet in due.iter().filter(|packet| !packet.3) {
                self.window.handle_ack(now, packet.0, packet.2);
            }
            self.window.handle_lost(lost);
            if due.iter().any(|packet| !packet.3) {
                self.window.handle_acked(now, self.under_way.iter().map(|packet| packet.2).sum());
            }
        }

        /// What 95 of a hundred packets do not wait longer for.
        fn usually_waited(&mut self) -> Micros {
            self.waits.sort_unstable();
            self.waits[self.waits.len() * 95 / 100]
        }

        /// Of the snapshots that were wanted.
        fn share(&self) -> f64 {
            self.sent.iter().filter(|sent| **sent).count() as f64 / self.sent.len() as f64
        }
    }

    #[test]
    fn loss_and_jitter_do_not_close_it() {
        for loss in [0.0, 0.05, 0.3] {
            for (delay_ms, jitter_ms) in [(1, 0), (40, 30), (200, 20), (300, 120)] {
                let mut path = Path::new(WindowLimits::SNAPSHOTS, None, delay_ms);
                (path.loss, path.jitter) = (loss, Micros::from_ms(jitter_ms));
                let told = format!("{loss} loss, {delay_ms} ms, {jitter_ms} ms jitter");
                path.run(2, 3, 1150);
                let missed = path.sent.iter().filter(|sent| !**sent).count();
                assert!(missed <= 36, "{told}: {missed} are missed while it opens");
                path.run(600, 3, 1150);
                assert!(path.share() > 0.999, "{told}: {}", path.share());
            }
        }
    }

    #[test]
    fn a_queue_of_its_own_is_short_and_the_path_is_used() {
        for rate in [5_000, 8_000, 16_000, 32_000, 64_000] {
            for delay_ms in [2, 40, 200, 400] {
                for packets in [1, 3] {
                    let mut path = Path::new(WindowLimits::SNAPSHOTS, Some(rate), delay_ms);
                    path.jitter = Micros::from_ms(20);
                    let told = format!("{rate} B/s, {delay_ms} ms, {packets} packets");
                    path.run(20, packets, 1150);
                    // It opens blindly for a round trip, and rounds are longer on longer ways.
                    let first_ms = 1800.0 + 2.0 * delay_ms as f64;
                    assert!(path.waited.as_ms() < first_ms, "{told}: {} at first", path.waited);
                    path.run(1200, packets, 1150);
                    let turn_ms = 1_150_000.0 / rate as f64;
                    // On long ways it shows a round trip late that it opened too far.
                    let (usual, bound) = (path.usually_waited().as_ms(), 67.0 + 3.0 * turn_ms);
                    assert!(usual < bound + 0.75 * delay_ms as f64, "{told}: {usual} ms");
                    let wanted = 30 * 1200 * 1150 * packets;
                    let carried = path.carried as f64 / (rate * 1200).min(wanted) as f64;
                    assert!(carried > 0.98, "{told}: {carried}");
                }
            }
        }
    }

    #[test]
    fn a_longer_route_closes_it_for_a_moment_only() {
        for (packets, delay_ms) in [(1, 330), (1, 660), (3, 330), (3, 660), (8, 960)] {
            let mut path = Path::new(WindowLimits::SNAPSHOTS, None, 60);
            path.run(20, packets, 1150);
            path.delay = Micros::from_ms(delay_ms);
            path.run(10, packets, 1150);
            assert!(path.share() > 0.9, "{packets} packets, {delay_ms} ms: {}", path.share());
            path.run(60, packets, 1150);
            assert_eq!(path.share(), 1.0, "{packets} packets, {delay_ms} ms");
        }
    }

    #[test]
    fn a_wider_path_is_found() {
        for delay_ms in [20, 200] {
            let mut path = Path::new(WindowLimits::SNAPSHOTS, Some(8_000), delay_ms);
            path.run(60, 2, 1150);
            path.rate = None;
            path.run(20, 2, 1150);
            path.run(10, 2, 1150);
            assert_eq!(path.share(), 1.0, "{delay_ms} ms");
        }
    }

    #[test]
    fn inputs_have_a_short_queue_of_their_own_too() {
        // Two packets each 33 ms, 6600 bytes a second.
        for (rate, waited_ms) in [(2_500, 600.0), (5_000, 200.0)] {
            let mut path = Path::new(WindowLimits::INPUTS, Some(rate), 40);
            path.run(60, 2, 110);
            path.run(600, 2, 110);
            assert!(path.waited.as_ms() < waited_ms, "{rate} B/s: {}", path.waited);
            assert!(path.carried > 600 * rate / 100 * 99, "{rate} B/s: {} bytes", path.carried);
        }
    }

    #[test]
    fn it_lets_something_out_when_the_stream_dries_up_while_it_looks_for_a_queue() {
        for steps in 1..60 {
            let mut path = Path::new(WindowLimits::SNAPSHOTS, None, 40);
            path.run(5, 1, 1150);
            // The route grows, and a moment later there is next to nothing to send.
            path.delay = Micros::from_ms(500);
            for _ in 0..steps {
                path.step(1, 1150);
            }
            path.run(10, 1, 80);
            path.run(10, 1, 80);
            assert!(path.share() > 0.9, "{steps}: {}", path.share());
        }
    }
}

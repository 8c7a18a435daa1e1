//! Windows over simulated paths, in virtual time.

use super::*;
use crate::random::Random;

/// Limits for packets that are larger than inputs.
const LARGE: CongestionLimits =
    CongestionLimits { initial: 4800, least: 2401, most: 240 * PACKET_BYTES };

/// A simulated path, with the data sent over it.
struct Path {
    now: LocalTime,
    window: CongestionWindow,
    /// Bytes per second that pass; `None` if all do.
    rate: Option<u64>,
    delay: Micros,
    /// Maximum of a uniformly distributed extra delay.
    jitter: Micros,
    loss: f32,
    random: Random,
    /// When the bottleneck is free again.
    free: LocalTime,
    /// Send time, acknowledgement time, bytes, and whether it was acknowledged or lost.
    under_way: Vec<(LocalTime, LocalTime, u64, bool)>,
    /// For each wanted snapshot, whether it was sent.
    sent: Vec<bool>,
    /// The longest wait in the bottleneck's queue, before the packet's own transmission.
    waited: Micros,
    waits: Vec<Micros>,
    seen: (u64, u64),
    /// Bytes that were sent.
    carried: u64,
}

impl Path {
    fn new(limits: CongestionLimits, rate: Option<u64>, delay_ms: i64) -> Self {
        let now = LocalTime(1_000_000);
        Self {
            now,
            window: CongestionWindow::new(limits, now),
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

    /// Sends 30 snapshots per second of `packets` packets each, as far as the window allows.
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
        self.sent.push(self.window.may_send(0));
        for _ in 0..packets {
            if !self.window.may_send(0) {
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
        self.seen = (self.seen.0.min(self.window.bytes()), self.seen.1.max(self.window.bytes()));
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

    /// Returns the longest wait of 95 out of a hundred packets.
    fn usually_waited(&mut self) -> Micros {
        self.waits.sort_unstable();
        self.waits[self.waits.len() * 95 / 100]
    }

    /// Returns the fraction of the wanted snapshots that was sent.
    fn share(&self) -> f64 {
        self.sent.iter().filter(|sent| **sent).count() as f64 / self.sent.len() as f64
    }
}

#[test]
fn window_stays_open_under_loss_and_jitter() {
    for loss in [0.0, 0.05, 0.3] {
        for (delay_ms, jitter_ms) in [(1, 0), (40, 30), (200, 20), (300, 120)] {
            let mut path = Path::new(LARGE, None, delay_ms);
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
fn queue_of_its_own_is_short_and_the_path_is_used() {
    for rate in [5_000, 8_000, 16_000, 32_000, 64_000] {
        for delay_ms in [2, 40, 200, 400] {
            for packets in [1, 3] {
                let mut path = Path::new(LARGE, Some(rate), delay_ms);
                path.jitter = Micros::from_ms(20);
                let told = format!("{rate} B/s, {delay_ms} ms, {packets} packets");
                path.run(20, packets, 1150);
                // It opens blindly for a round trip, and rounds are longer on longer paths.
                let first_ms = 1800.0 + 2.0 * delay_ms as f64;
                assert!(path.waited.as_ms() < first_ms, "{told}: {} at first", path.waited);
                path.run(1200, packets, 1150);
                let turn_ms = 1_150_000.0 / rate as f64;
                // On long paths it learns a round trip late that it opened too far.
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
fn window_reopens_soon_after_the_route_becomes_longer() {
    for (packets, delay_ms) in [(1, 330), (1, 660), (3, 330), (3, 660), (8, 960)] {
        let mut path = Path::new(LARGE, None, 60);
        path.run(20, packets, 1150);
        path.delay = Micros::from_ms(delay_ms);
        path.run(10, packets, 1150);
        assert!(path.share() > 0.9, "{packets} packets, {delay_ms} ms: {}", path.share());
        path.run(60, packets, 1150);
        assert_eq!(path.share(), 1.0, "{packets} packets, {delay_ms} ms");
    }
}

#[test]
fn window_finds_a_path_that_became_wider() {
    for delay_ms in [20, 200] {
        let mut path = Path::new(LARGE, Some(8_000), delay_ms);
        path.run(60, 2, 1150);
        path.rate = None;
        path.run(20, 2, 1150);
        path.run(10, 2, 1150);
        assert_eq!(path.share(), 1.0, "{delay_ms} ms");
    }
}

#[test]
fn queue_of_inputs_is_short_too() {
    // Two packets every 33 ms, 6600 bytes per second.
    for (rate, waited_ms) in [(2_500, 600.0), (5_000, 200.0)] {
        let mut path = Path::new(CongestionLimits::INPUTS, Some(rate), 40);
        path.run(60, 2, 110);
        path.run(600, 2, 110);
        assert!(path.waited.as_ms() < waited_ms, "{rate} B/s: {}", path.waited);
        assert!(path.carried > 600 * rate / 100 * 99, "{rate} B/s: {} bytes", path.carried);
    }
}

#[test]
fn window_lets_packets_out_when_the_stream_dries_up_during_a_trial() {
    for steps in 1..60 {
        let mut path = Path::new(LARGE, None, 40);
        path.run(5, 1, 1150);
        // The route gets longer, and a moment later there is hardly anything to send.
        path.delay = Micros::from_ms(500);
        for _ in 0..steps {
            path.step(1, 1150);
        }
        path.run(10, 1, 80);
        path.run(10, 1, 80);
        assert!(path.share() > 0.9, "{steps}: {}", path.share());
    }
}

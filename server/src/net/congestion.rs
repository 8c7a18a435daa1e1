//! A congestion window that loss does not close, but a queue of its own does.
//!
//! A game's traffic is limited by its rate: packets a snapshot times bytes a packet times snapshots
//! a second. Under loss, controllers for bulk transfer shrink the window to two packets, and at a
//! round trip of 200 ms snapshots then come ten times a second at best, though nothing would be
//! gained by sending fewer. What does harm is a path too narrow for that rate: snapshots then wait
//! in its queue for seconds, worth nothing when they come, and with them all that is told of the
//! clock. There the round trip grows, and by that the window shrinks.
//!
//! A round trip also grows when the route becomes longer, or when others make the queue: the
//! client's own packets on a narrow way up, somebody's download. Sending fewer snapshots would then
//! shorten nothing. In a queue of its own, what is under way takes the longer the more it is; so
//! when the window shrinks and packets take as long as before, that is how long they take, and the
//! window opens again.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

/// Bytes that may be on their way to one client: 64 snapshot packets, which at 30 snapshots a
/// second of one packet each is a round trip of two seconds.
const WINDOW_BYTES: u64 = 64 * 1200;
/// Fewer under way than that are left alone. It leaves room for the two steps that it takes to see
/// whether shrinking helps.
const LEAST_BYTES: u64 = 9 * 1200;
/// What two steps leave of that. It must be well above two packets: quinn sends nothing unless one fits
/// in besides what is under way.
const SHRUNK_BYTES: u64 = LEAST_BYTES / 16 * 9;
/// So are fewer bytes a second: what a small game takes, and every path must carry.
const LEAST_BYTES_PER_SECOND: u64 = 7000;
/// A round trip so much longer than the shortest may be a queue's doing. Jitter alone makes a quarter
/// of a second on the worst network that can be played on.
const QUEUE_MAX: Duration = Duration::from_millis(300);
/// A round has several snapshots in it, however short the way.
const ROUND_MIN: Duration = Duration::from_millis(200);

/// Makes [`QueueWindow`]s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueWindows;

impl ControllerFactory for QueueWindows {
    fn build(self: Arc<Self>, now: Instant, _mtu: u16) -> Box<dyn Controller> {
        Box::new(QueueWindow::new(now))
    }
}

/// The window of a connection.
#[derive(Clone, Copy, Debug)]
struct QueueWindow {
    bytes: u64,
    /// The shortest round trip; quinn's own takes the initial guess for one, and forgets none.
    shortest: Duration,
    /// How often in a row it shrank, and the mean round trip when it last did.
    shrinks: u32,
    before: Duration,
    round: Round,
}

/// The time between two decisions.
#[derive(Clone, Copy, Debug)]
struct Round {
    since: Instant,
    /// The sum of the round trips that count.
    sum: Duration,
    packets: u32,
    /// Most bytes that were under way.
    most: u64,
    /// Bytes acknowledged by what is being handled.
    acked: u64,
}

impl Round {
    fn new(since: Instant) -> Self {
        Self { since, sum: Duration::ZERO, packets: 0, most: 0, acked: 0 }
    }
}

impl QueueWindow {
    fn new(now: Instant) -> Self {
        Self {
            bytes: WINDOW_BYTES,
            shortest: Duration::MAX,
            shrinks: 0,
            before: Duration::ZERO,
            round: Round::new(now),
        }
    }

    fn handle_ack(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let round_trip = now.saturating_duration_since(sent);
        self.shortest = self.shortest.min(round_trip);
        self.round.acked += bytes;
        // Whether shrinking helped shows only in what was sent after it.
        if sent >= self.round.since || self.shrinks == 0 {
            self.round.sum += round_trip;
            self.round.packets += 1;
        }
    }

    fn handle_acked(&mut self, now: Instant, in_flight: u64) {
        let round = &mut self.round;
        round.most = round.most.max(in_flight + std::mem::take(&mut round.acked));
        let Some(mean) = round.sum.checked_div(round.packets) else { return };
        let time = if self.shrinks == 0 { mean } else { mean * 3 / 2 };
        if now.saturating_duration_since(round.since) < time.max(ROUND_MIN) {
            return;
        }
        let most = round.most;
        self.round = Round::new(now);
        self.judge(mean, most);
    }

    /// Packets took so long on average, with so many bytes under way at most.
    fn judge(&mut self, mean: Duration, most: u64) {
        // What a route that is long already grows by little by little is not tried at each step.
        let long = mean.saturating_sub(self.shortest) > QUEUE_MAX.max(self.shortest / 2);
        let least = LEAST_BYTES_PER_SECOND * mean.as_millis() as u64 / 1000;
        let least = least.max(LEAST_BYTES);
        if long && self.shrinks >= 2 && mean > self.before / 8 * 7 {
            // A quarter less should have taken a quarter less long. The first time that it shrinks
            // tells nothing: the queue still grew until then.
            self.shortest = mean;
            self.shrinks = 0;
            self.bytes = WINDOW_BYTES;
        } else if long && (self.shrinks == 1 || most >= least) {
            // A window that was not full has no part in it until it is as small as what is sent. When less
            // is to be sent all at once, it must not follow: nothing would go out, and so nothing come
            // back that could open it.
            self.bytes = (self.bytes.min(most) / 4 * 3).max(SHRUNK_BYTES);
            self.before = mean;
            self.shrinks += 1;
        } else {
            // Also when it is as small as can be: one that nothing opens would stay so for good.
            self.bytes = (self.bytes / 8 * 9).min(WINDOW_BYTES);
            self.shrinks = 0;
        }
    }
}

impl Controller for QueueWindow {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.handle_ack(now, sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.handle_acked(now, in_flight);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _mtu: u16) {}

    fn window(&self) -> u64 {
        self.bytes
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        WINDOW_BYTES
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A client that is sent as much as the window allows, and acknowledges 30 times a second.
    struct Path {
        now: Instant,
        window: QueueWindow,
        /// Least and most window so far.
        seen: (u64, u64),
    }

    impl Path {
        fn new() -> Self {
            let now = Instant::now();
            Self { now, window: QueueWindow::new(now), seen: (u64::MAX, 0) }
        }

        /// Packets are `way` long under way, or longer by a queue, and `wanted` bytes go out meanwhile.
        fn run(
            &mut self,
            secs: u32,
            way: impl Fn(u64) -> Duration,
            wanted: impl Fn(Duration) -> u64,
        ) {
            self.seen = (u64::MAX, 0);
            for _ in 0..secs * 30 {
                self.step(&way, &wanted);
            }
        }

        /// One acknowledgement.
        fn step(&mut self, way: impl Fn(u64) -> Duration, wanted: impl Fn(Duration) -> u64) {
            self.now += 33 * MS;
            let most = self.window.window();
            let in_flight = most.min(wanted(way(most)));
            let round_trip = way(in_flight);
            let sent = self.now - round_trip;
            self.window.on_congestion_event(self.now, sent, true, 1200);
            self.window.handle_ack(self.now, sent, 1200);
            self.window.handle_acked(self.now, in_flight - in_flight.min(1200));
            let window = self.window.window();
            self.seen = (self.seen.0.min(window), self.seen.1.max(window));
        }
    }

    /// So many bytes a second are to be sent.
    fn stream(rate: u64) -> impl Fn(Duration) -> u64 {
        move |round_trip| rate * round_trip.as_millis() as u64 / 1000
    }

    #[test]
    fn a_queue_of_its_own_closes_it_and_its_end_opens_it_again() {
        let mut path = Path::new();
        path.run(5, |_| 40 * MS, stream(30_000));
        // 32 bytes a millisecond pass.
        let narrow = |bytes: u64| 40 * MS + MS * (bytes / 32) as u32;
        path.run(20, narrow, |_| u64::MAX);
        for _ in 0..20 {
            path.run(30, narrow, |_| u64::MAX);
            assert!(path.seen.1 < 32 * 500, "{} bytes make half a second of queue", path.seen.1);
            assert!(path.seen.0 > 32 * 150, "{} bytes leave the path idle", path.seen.0);
        }
        path.run(30, |_| 40 * MS, stream(30_000));
        assert_eq!(path.window.window(), WINDOW_BYTES);
    }

    #[test]
    fn a_longer_route_closes_it_for_a_moment_only() {
        let mut path = Path::new();
        path.run(30, |_| 100 * MS, stream(40_000));
        assert_eq!(path.seen.0, WINDOW_BYTES);
        path.run(6, |_| 900 * MS, stream(40_000));
        assert!(path.seen.0 < WINDOW_BYTES / 2, "it looks like a queue at first");
        path.run(120, |_| 900 * MS, stream(40_000));
        assert_eq!(path.seen.0, WINDOW_BYTES);
    }

    #[test]
    fn a_small_stream_is_left_alone() {
        let mut path = Path::new();
        path.run(5, |_| 40 * MS, stream(4500));
        for secs in 1..10 {
            path.run(10, |_| 1000 * MS * secs, stream(4500));
            assert_eq!(path.seen.0, WINDOW_BYTES, "{secs} s");
        }
    }

    #[test]
    fn it_stays_open_when_the_stream_dries_up_while_it_looks_for_a_queue() {
        for rounds in 1..40 {
            let mut path = Path::new();
            path.run(5, |_| 40 * MS, stream(33_000));
            // The route grows, and a moment later there is next to nothing to send.
            for _ in 0..rounds {
                path.step(|_| 500 * MS, stream(33_000));
            }
            for _ in 0..300 {
                path.step(|_| 500 * MS, stream(2400));
                assert!(path.window.window() > 4 * 1200, "{} bytes", path.window.window());
            }
        }
    }
}

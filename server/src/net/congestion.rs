//! A congestion window that loss does not close, but a queue does.
//!
//! A game's traffic is limited by its rate: packets a snapshot times bytes a packet times snapshots
//! a second. Under loss, controllers for bulk transfer shrink the window to two packets, and at a
//! round trip of 200 ms snapshots then come ten times a second at best, though nothing would be
//! gained by sending fewer. What does harm is a path too narrow for that rate: snapshots then wait
//! in its queue for seconds, worth nothing when they come, and with them all that is told of the
//! clock. There the round trip grows, and by that the window shrinks.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

/// Bytes that may be on their way to one client: 64 snapshot packets, which at 30 snapshots a
/// second of one packet each is a round trip of two seconds.
const WINDOW_BYTES: u64 = 64 * 1200;
/// What a queue leaves of it at least: a small game's snapshots
/// go on over half a second of round trip.
const LEAST_BYTES: u64 = 8 * 1200;
/// A round trip so much longer than the shortest is a queue's doing. Jitter alone makes a quarter
/// of a second on the worst network that can be played on.
const QUEUE_MAX: Duration = Duration::from_millis(400);
/// A shortest round trip is forgotten after one to two times so long: the route may have become longer.
const SHORTEST_KEPT: Duration = Duration::from_secs(30);

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
    changed: Instant,
    /// The smoothed one.
    round_trip: Duration,
    /// The shortest round trips of the last full [`SHORTEST_KEPT`] and since; quinn's own takes the
    /// initial guess for one, and forgets none.
    shortest: [Duration; 2],
    shortest_since: Instant,
}

impl QueueWindow {
    fn new(now: Instant) -> Self {
        Self {
            bytes: WINDOW_BYTES,
            changed: now,
            round_trip: Duration::ZERO,
            shortest: [Duration::MAX; 2],
            shortest_since: now,
        }
    }

    fn handle_ack(&mut self, now: Instant, round_trip: Duration, smoothed: Duration) {
        self.round_trip = smoothed;
        if now.saturating_duration_since(self.shortest_since) > SHORTEST_KEPT {
            self.shortest = [self.shortest[1], Duration::MAX];
            self.shortest_since = now;
        }
        self.shortest[1] = self.shortest[1].min(round_trip);
    }
}

impl Controller for QueueWindow {
    fn on_ack(&mut self, now: Instant, sent: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        self.handle_ack(now, now.saturating_duration_since(sent), rtt.get());
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        // What a change brings shows a round trip later.
        if now.saturating_duration_since(self.changed) < self.round_trip {
            return;
        }
        self.changed = now;
        let queue = self.round_trip.saturating_sub(self.shortest[0].min(self.shortest[1]));
        self.bytes = if queue > QUEUE_MAX {
            // A window that was not full has no part in it until it is as small as what is sent.
            (self.bytes.min(in_flight) / 4 * 3).max(LEAST_BYTES)
        } else if queue < QUEUE_MAX / 2 {
            (self.bytes / 8 * 9).min(WINDOW_BYTES)
        } else {
            self.bytes
        };
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

    #[test]
    fn a_queue_closes_it_down_to_a_rest_and_its_end_opens_it_again() {
        let mut now = Instant::now();
        let ms = Duration::from_millis;
        let mut window = QueueWindow::new(now);
        (window.round_trip, window.shortest) = (ms(900), [ms(300); 2]);
        let mut after = |window: &mut QueueWindow, time| {
            now += time;
            window.on_congestion_event(now, now, true, 1200);
            window.on_end_acks(now, 40_000, false, None);
            window.window()
        };
        assert_eq!(after(&mut window, ms(500)), WINDOW_BYTES, "too early to tell");
        assert_eq!(after(&mut window, ms(500)), 30_000);
        for _ in 0..20 {
            after(&mut window, ms(900));
        }
        assert_eq!(window.window(), LEAST_BYTES);
        // Neither long nor short.
        window.round_trip = ms(600);
        assert_eq!(after(&mut window, ms(900)), LEAST_BYTES);
        window.round_trip = ms(400);
        for _ in 0..20 {
            after(&mut window, ms(900));
        }
        assert_eq!(window.window(), WINDOW_BYTES);
    }

    #[test]
    fn a_route_that_became_longer_is_no_queue_for_ever() {
        let start = Instant::now();
        let mut window = QueueWindow::new(start);
        let ms = Duration::from_millis;
        let mut least = WINDOW_BYTES;
        for n in 0..3000_u32 {
            // Five acknowledgements a second; after a minute the route is 800 ms longer.
            let now = start + ms(200) * n;
            let round_trip = if n < 300 { ms(100) } else { ms(900) };
            window.handle_ack(now, round_trip, round_trip);
            window.on_end_acks(now, 40_000, false, None);
            least = least.min(window.window());
        }
        assert!(least < WINDOW_BYTES / 2, "it looks like a queue at first");
        assert_eq!(window.window(), WINDOW_BYTES);
    }
}

//! Tells quinn how much may be on its way to the peer: what a [`CongestionWindow`] says.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use phaselock::path::{CongestionLimits, CongestionWindow};
use phaselock::time::LocalTime;
use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

/// Makes [`QueueWindow`]s within these limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueWindows(pub(crate) CongestionLimits);

impl ControllerFactory for QueueWindows {
    fn build(self: Arc<Self>, now: Instant, _mtu: u16) -> Box<dyn Controller> {
        let window = CongestionWindow::new(self.0, LocalTime(0));
        Box::new(QueueWindow { origin: now, initial: self.0.initial, window })
    }
}

/// The window of a connection's path. quinn copies it for a client's new port, and makes a new one
/// for a new address.
#[derive(Clone, Copy, Debug)]
struct QueueWindow {
    /// When its time began.
    origin: Instant,
    initial: u64,
    window: CongestionWindow,
}

impl QueueWindow {
    fn time(&self, at: Instant) -> LocalTime {
        let since = at.saturating_duration_since(self.origin).as_micros();
        LocalTime(i64::try_from(since).unwrap_or(i64::MAX))
    }
}

/// True if the window would let a datagram out at once; always with another controller.
pub(crate) fn may_send(state: Box<dyn Controller>) -> bool {
    let state = state.into_any().downcast::<QueueWindow>();
    state.map_or(true, |state| state.window.may_send())
}

impl Controller for QueueWindow {
    fn on_sent(&mut self, _now: Instant, bytes: u64, _last_packet_number: u64) {
        self.window.handle_sent(bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.window.handle_ack(self.time(now), self.time(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.window.handle_acked(self.time(now), in_flight);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, lost_bytes: u64) {
        self.window.handle_lost(lost_bytes);
    }

    fn on_mtu_update(&mut self, _mtu: u16) {}

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

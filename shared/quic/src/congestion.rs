//! Limits how much quinn has in flight to the peer. Neither controller probes by itself: towards a
//! client the limit is what the room's [`SendRate`] allows, towards a server what a
//! [`CongestionWindow`] says.
//!
//! [`SendRate`]: phaselock::path::SendRate

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use phaselock::limits::SNAPSHOT_PACKETS_MAX;
use phaselock::path::{CongestionLimits, CongestionWindow, PathWindow};
use phaselock::time::LocalTime;
use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

/// Bytes of a UDP packet on any path of QUIC (RFC 9000, 14.1). quinn sends only while that much of
/// the window is free.
const PACKET_BYTES: u64 = 1200;
/// Initial window towards a client: three packets plus the free one.
const ROOM_WINDOW_INITIAL: u64 = 4 * PACKET_BYTES;
/// Window towards a client if the room knows no limit: half a second of the largest snapshots at 60
/// Hz.
const ROOM_WINDOW_MAX: u64 = SNAPSHOT_PACKETS_MAX as u64 * PACKET_BYTES * 30;
/// For each such period without an acknowledgement, extra packets may be sent to find out whether
/// the path is back: quinn declares packets in flight lost only when a later one arrives.
const SILENCE: Duration = Duration::from_millis(500);
const SILENCE_PACKETS: u64 = 2;
/// Excess of a round trip over the shortest that means packets are queued: three intervals at 30
/// Hz.
const QUEUE_MAX: Duration = Duration::from_millis(100);
/// Values that mean no limit: a window that may grow, and one that may not.
const GROWING: u64 = 0;
const OPEN: u64 = u64::MAX;
/// Value for the round trip before the first measurement.
const UNKNOWN: u64 = u64::MAX;

/// Creates [`RoomWindow`]s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoomWindows;

impl ControllerFactory for RoomWindows {
    fn build(self: Arc<Self>, now: Instant, _mtu: u16) -> Box<dyn Controller> {
        let (bound, shortest) = (AtomicU64::new(GROWING), AtomicU64::new(UNKNOWN));
        let limits = Arc::new(RoomLimits { bound, shortest });
        Box::new(RoomWindow {
            limits,
            opened: ROOM_WINDOW_INITIAL,
            in_flight: 0,
            acked: now,
            acked_in_flight: 0,
        })
    }
}

/// What the room says about a client's path.
#[derive(Debug)]
struct RoomLimits {
    /// How many bytes may be in flight, [`GROWING`] or [`OPEN`].
    bound: AtomicU64,
    /// Shortest round trip in microseconds since the room last took one for the path's own.
    shortest: AtomicU64,
}

/// The window towards a client. If the room knows no limit, what has passed without a queue at most
/// doubles it in each round trip. quinn copies it for a client's new port, and creates a new one
/// for a new address.
#[derive(Clone, Debug)]
struct RoomWindow {
    /// Shared with all copies.
    limits: Arc<RoomLimits>,
    /// Size if the room knows no limit.
    opened: u64,
    in_flight: u64,
    /// Time of the last acknowledgement, and the bytes in flight then.
    acked: Instant,
    acked_in_flight: u64,
}

/// Keeps everything towards a client within the room's window. Returns whether a datagram could be
/// sent at once. Other controllers are not affected.
pub(crate) fn keep_within(state: Box<dyn Controller>, window: PathWindow, now: Instant) -> bool {
    let Ok(state) = state.into_any().downcast::<RoomWindow>() else { return true };
    let bound = match window {
        // Packet headers and control messages come on top, and losses are detected late. quinn
        // keeps one packet's space free.
        PathWindow::Snapshots(bytes) => bytes as u64 * 3 / 2 + PACKET_BYTES,
        PathWindow::Open => OPEN,
        PathWindow::Growing => GROWING,
    };
    let silences = now.saturating_duration_since(state.acked).as_millis() / SILENCE.as_millis();
    let more = u64::try_from(silences).unwrap_or(u64::MAX).min(64) * SILENCE_PACKETS * PACKET_BYTES;
    let bound = match bound {
        _ if more == 0 => bound,
        GROWING | OPEN => state.opened.max(state.acked_in_flight) + more,
        bound => bound.max(state.acked_in_flight) + more,
    };
    if state.limits.bound.swap(bound, Ordering::Relaxed) != bound && bound == GROWING {
        state.limits.shortest.store(UNKNOWN, Ordering::Relaxed);
    }
    state.in_flight + PACKET_BYTES < state.window()
}

impl Controller for RoomWindow {
    fn on_sent(&mut self, _now: Instant, bytes: u64, _last_packet_number: u64) {
        self.in_flight += bytes;
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.acked = now;
        let round_trip = now.saturating_duration_since(sent);
        let micros = u64::try_from(round_trip.as_micros()).unwrap_or(u64::MAX);
        let shortest = self.limits.shortest.fetch_min(micros, Ordering::Relaxed).min(micros);
        let is_queued = round_trip > Duration::from_micros(shortest) + QUEUE_MAX;
        // A window that was not used has proved nothing.
        let is_used = self.in_flight >= self.opened / 2;
        if self.limits.bound.load(Ordering::Relaxed) == GROWING && is_used && !is_queued {
            self.opened = (self.opened + bytes).min(ROOM_WINDOW_MAX);
        }
    }

    fn on_end_acks(&mut self, _: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.in_flight = in_flight;
        self.acked_in_flight = in_flight;
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, lost_bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
    }

    fn on_mtu_update(&mut self, _mtu: u16) {}

    fn window(&self) -> u64 {
        match self.limits.bound.load(Ordering::Relaxed) {
            GROWING | OPEN => self.opened,
            bound => bound,
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        ROOM_WINDOW_INITIAL
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Creates [`InputWindow`]s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputWindows;

impl ControllerFactory for InputWindows {
    fn build(self: Arc<Self>, now: Instant, _mtu: u16) -> Box<dyn Controller> {
        let window = CongestionWindow::new(CongestionLimits::INPUTS, LocalTime(0));
        let more = Arc::new(AtomicU64::new(0));
        Box::new(InputWindow { origin: now, acked: now, more, window })
    }
}

/// The window towards a server.
#[derive(Clone, Debug)]
struct InputWindow {
    /// Start of its time.
    origin: Instant,
    /// When the last acknowledgement came.
    acked: Instant,
    /// Extra bytes during silence, shared with all copies.
    more: Arc<AtomicU64>,
    window: CongestionWindow,
}

impl InputWindow {
    fn time(&self, at: Instant) -> LocalTime {
        let since = at.saturating_duration_since(self.origin).as_micros();
        LocalTime(i64::try_from(since).unwrap_or(i64::MAX))
    }
}

/// Whether an input packet could be sent at once; always true with another controller. During
/// silence one may be sent from time to time, so that a server finds out that its client's path is
/// back.
pub(crate) fn may_send(state: Box<dyn Controller>, now: Instant) -> bool {
    let Ok(state) = state.into_any().downcast::<InputWindow>() else { return true };
    let more = CongestionWindow::more_in_silence(state.time(now) - state.time(state.acked));
    state.more.store(more, Ordering::Relaxed);
    state.window.may_send(more)
}

impl Controller for InputWindow {
    fn on_sent(&mut self, _now: Instant, bytes: u64, _last_packet_number: u64) {
        self.window.handle_sent(bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.acked = now;
        self.more.store(0, Ordering::Relaxed);
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
        self.window.bytes() + self.more.load(Ordering::Relaxed)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        CongestionLimits::INPUTS.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

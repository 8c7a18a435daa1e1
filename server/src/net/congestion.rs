//! A congestion window that never closes.
//!
//! A game's traffic is limited by its rate, not by the window, and what waits in a queue is worth
//! nothing. Under loss, controllers for bulk transfer shrink the window to two packets, and at a
//! round trip of 200 ms snapshots then come ten times a second at best. The rate is bounded
//! elsewhere: packets a snapshot times bytes a packet times snapshots a second.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};

/// Bytes that may be on their way to one client: 64 snapshot packets, which at 30 snapshots a
/// second of one packet each is a round trip of two seconds.
const WINDOW_BYTES: u64 = 64 * 1200;

/// Makes [`FixedWindow`]s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FixedWindow;

impl ControllerFactory for FixedWindow {
    fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

impl Controller for FixedWindow {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _mtu: u16) {}

    fn window(&self) -> u64 {
        WINDOW_BYTES
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

//! A congestion window that never closes.
//!
//! A client sends one small packet a tick, whatever happens. quinn's usual controller shrinks the
//! window to two full packets under loss, and one of these must be free for a packet to go at all:
//! on a network of 300 ms round trip that loses 15 %, inputs then wait for acknowledgements of
//! earlier ones, and when all of a window is lost, for probes that come ever more rarely, until
//! the server takes the client for gone.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};

/// Bytes that may be on their way: at 128 packets of 150 bytes a second, those of the fifteen
/// seconds after which a silent connection is lost.
const WINDOW_BYTES: u64 = 240 * 1200;

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

//! The network of a visit: QUIC in a window, WebTransport in a page.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use phaselock_quic::client::{Changed, Driver};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use phaselock_quic::clock::Clock;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use phaselock_quic::local::LocalServer;
#[cfg(target_arch = "wasm32")]
pub(crate) use phaselock_web::{network::Driver, page::Clock};

/// A server in this program, of which there is none in a page.
#[cfg(target_arch = "wasm32")]
#[derive(Debug)]
pub(crate) enum LocalServer {}

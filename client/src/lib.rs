//! Phaselock's client.
//!
//! [`core`] is the headless client, a state machine without I/O. With the feature `net`, the
//! module `net` drives it over QUIC, for bots and for the window.

#[cfg(feature = "net")]
pub mod bots;
pub mod core;
#[cfg(feature = "net")]
pub mod net;

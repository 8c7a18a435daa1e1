//! Phaselock's client.
//!
//! ```text
//! main, window (macroquad) ---+
//! bots (headless, measuring) -+--> net (quinn, a thread or a task) <-- channels
//!                             +--> core::Client (no I/O): packets and time in, packets and views out
//! ```
//!
//! *Invariants:* `net` is the only module that names quinn; `core` does no I/O and reads no clock, and
//! builds without the feature `net`.

#[cfg(feature = "net")]
pub mod bots;
pub mod core;
pub mod lab;
#[cfg(feature = "net")]
pub mod net;

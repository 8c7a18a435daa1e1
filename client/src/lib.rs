//! Phaselock's client.
//!
//! ```text
//! main, window (macroquad) ---+
//! bots (headless, measuring) -+--> net (quinn, a thread or a task) <-- channels
//!                             +--> core::Client (no I/O): packets and time in, packets and views out
//! bin/lab, window/lab -------------> lab (no I/O): motion, network and method in, scores out
//! ```
//!
//! *Invariants:* `net` is the only module that names quinn; `core` and `lab` do no I/O and read no clock, and
//! build without the feature `net`.

#[cfg(feature = "net")]
pub mod bots;
pub mod core;
pub mod lab;
#[cfg(feature = "net")]
pub mod net;
#[cfg(feature = "net")]
pub mod record;

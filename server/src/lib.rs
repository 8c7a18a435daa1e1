//! Phaselock's dedicated server.
//!
//! ```text
//! main ---- config, logging, identity
//!   |
//!   v
//! net (quinn, tokio) --- handle_* ---> core::Room (the world; no I/O)
//!       ^-------------- poll_output ---+
//! ```
//!
//! *Invariants:* `net` is the only module that names quinn (and `health`, which is a client); `core` does no I/O and reads no clock.

pub mod config;
pub mod core;
pub mod health;
pub mod host;
pub mod identity;
pub mod local;
pub mod logging;
pub mod net;

//! Phaselock's dedicated server: configuration, log, lifecycle. Rooms are `phaselock`'s, QUIC is
//! `phaselock-quic`'s.

pub mod config;
pub mod logging;

//! Phaselock's dedicated server: configuration, log, lifecycle. Rooms are `phaselock`'s, QUIC is
//! `phaselock-quic`'s, and the games are whatever value is handed to [`run`].

pub mod config;
pub mod logging;
mod run;

pub use run::run;

//! Phaselock's dedicated server: configuration, log, lifecycle. The caller of [`run`] gives the
//! games.

pub mod config;
pub mod logging;
mod run;

pub use run::run;

//! Phaselock's dedicated server: configuration, log, lifecycle. The caller of [`run`] gives the
//! games:
//!
//! ```no_run
//! # fn main_of<MyGame: phaselock::game::Game>() -> std::process::ExitCode {
//! use phaselock::games::Games;
//!
//! phaselock_server::run(&Games::new().with::<MyGame>())
//! # }
//! ```

pub mod config;
pub mod logging;
mod run;
mod status;

pub use run::run;

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

mod admin;
mod beside;
pub mod config;
mod ctl;
mod host;
pub mod lifecycle;
pub mod logging;
mod people;
mod run;
mod serve;
mod signals;
mod store;
mod worlds;

pub use run::run;

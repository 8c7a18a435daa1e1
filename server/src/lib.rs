//! Phaselock's dedicated server as a library: settings, logging, administration, database, and the
//! life of the process. A program passes its games to [`run`], which reads the command line:
//!
//! ```no_run
//! # fn main_of<MyGame: phaselock::game::Game>() -> std::process::ExitCode {
//! use phaselock::games::Games;
//!
//! phaselock_server::run(&Games::new().with::<MyGame>())
//! # }
//! ```
//!
//! For a server inside of your own program, see `phaselock_quic::local`. The manual for hosts is
//! `server/HOSTING.md`.

#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod admin;
pub mod api;
pub mod author;
mod backups;
mod certificate;
pub mod clocks;
pub mod commands;
pub mod config;
pub mod ctl;
mod data;
mod data_dir;
pub mod deny;
pub mod error;
mod games;
pub mod host;
mod host_thread;
mod http;
pub mod lifecycle;
pub mod logging;
mod notify;
mod outgoing;
pub mod people;
mod preflight;
pub mod ranges;
pub mod reload;
mod run;
pub mod schedule;
pub mod sentence;
mod serve;
mod signals;
mod status;
pub mod store;
pub mod subject;
#[cfg(test)]
mod tests;
pub mod time;
pub mod token;
mod web;
mod webhooks;
pub mod worlds;
mod writer;

pub use run::run;

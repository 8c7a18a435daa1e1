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

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

mod admin;
mod agones;
mod api;
mod author;
mod backups;
mod certificate;
mod clocks;
pub mod commands;
pub mod config;
mod ctl;
mod data;
mod data_dir;
mod deny;
mod error;
#[cfg(windows)]
mod event_log;
mod games;
mod host;
mod host_thread;
mod http;
mod lifecycle;
mod logging;
mod notify;
mod outgoing;
mod people;
mod preflight;
mod ranges;
mod recordings;
mod reload;
mod run;
mod schedule;
mod sentence;
mod serve;
#[cfg(windows)]
mod service;
mod signals;
mod status;
mod store;
mod subject;
#[cfg(test)]
mod tests;
mod time;
mod token;
mod verify;
mod web;
mod webhooks;
mod worlds;
mod writer;

pub use run::run;

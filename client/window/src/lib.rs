//! Phaselock's client in a window, on the desktop and in a browser: menu, settings, server list,
//! chat, net graph, and visits to servers.
//!
//! A game is drawn by its [`GameView`](phaselock_ui::view::GameView). A program registers its views
//! in a [`Views`] and passes that to [`run`]:
//!
//! ```no_run
//! # fn main_of<MyView: phaselock_ui::view::GameView>() -> std::process::ExitCode {
//! use phaselock_client::Views;
//!
//! phaselock_client::run(&Views::new().with::<MyView>())
//! # }
//! ```
//!
//! ```text
//! desktop, page   what each machine has: command line, menu, servers; the page's card; network
//!    |     +---> online (a directory chooses the server)
//!    |
//!  shell          the frame loop: reads controls, moves the visit on, paints, sounds
//!    |
//! platform        the seam: Platform (clock, pads, glass, pace), Lobby (between two visits)
//!    |
//!  visit -+-> Connection (the session, over QUIC or WebTransport)
//!         +-> play (the picture) -> GameView, one per game
//!         +-> overlay, developer, graph, presentation, talk, people
//! ```
//!
//! macroquad opens the window, reads keys and mouse, and runs the frames; egui paints them.
//!
//! *Invariant:* the library decides nothing about a game and names none. It shows the state of
//! [`phaselock::client::Session`] and passes it the player's input.
//!
//! *Invariant:* except for lints, only `desktop`, `page` and `files` know the target platform.

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

#[cfg(not(target_arch = "wasm32"))]
mod desktop;
mod developer;
mod eyes;
mod files;
mod graph;
#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod manual_tests;
mod marks;
mod meter;
mod online;
mod overlay;
#[cfg(any(target_arch = "wasm32", test))]
mod page;
mod people;
mod platform;
mod play;
mod presentation;
mod records;
mod registry;
mod replay;
mod settings;
mod setup;
mod shell;
mod sounds;
mod talk;
mod tell;
mod visit;
mod watch;

#[cfg(not(target_arch = "wasm32"))]
pub use desktop::run;
#[cfg(target_arch = "wasm32")]
pub use page::run;
pub use registry::Views;

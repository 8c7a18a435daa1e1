//! Phaselock's client in a window: a lobby, and visits to servers.
//!
//! ```text
//! desktop, page   what each machine has: command line, menu, servers; the page's card; network
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
//! A game is drawn by its [`GameView`](phaselock_ui::view::GameView). A program registers it beside
//! the game in a [`Views`] and hands that to [`run`].
//!
//! ```no_run
//! # fn main_of<MyView: phaselock_ui::view::GameView>() -> std::process::ExitCode {
//! use phaselock_client::Views;
//!
//! phaselock_client::run(&Views::new().with::<MyView>())
//! # }
//! ```
//!
//! macroquad opens the window, reads the keys and the mouse, and runs the frames; egui paints them.
//!
//! *Invariant:* the library decides nothing about a game and names none; it shows the state of
//! [`phaselock::client::Session`] and hands it the player's input.
//!
//! *Invariant:* `desktop`, `page` and `files` alone know which machine they are built for,
//! apart from lints.

#[cfg(not(target_arch = "wasm32"))]
mod desktop;
mod developer;
mod files;
mod graph;
#[cfg(test)]
mod layout_tests;
mod marks;
mod meter;
mod overlay;
#[cfg(any(target_arch = "wasm32", test))]
mod page;
mod people;
mod platform;
mod play;
mod presentation;
mod records;
mod registry;
mod settings;
mod setup;
mod shell;
mod sounds;
mod talk;
mod visit;
mod watch;

#[cfg(not(target_arch = "wasm32"))]
pub use desktop::run;
#[cfg(target_arch = "wasm32")]
pub use page::run;
pub use registry::Views;

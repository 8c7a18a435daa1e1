//! Phaselock's client in a window: a menu, and visits to servers.
//!
//! ```text
//! run -> args -> display -> app -+-> settings, sounds
//!                                +-> menu
//!                                +-> lab
//!                                +-> visit -+-> phaselock_quic::client::Driver (the session)
//!                                           +-> play (the picture) -> GameView, one per game
//!                                           +-> overlay, developer, graph, presentation
//! ```
//!
//! A game is drawn by its [`GameView`](phaselock_ui::view::GameView). A program registers it beside the game in a
//! [`Views`] and hands that to [`run`]. The other public modules help views to draw.
//!
//! ```no_run
//! # fn main_of<MyView: phaselock_ui::view::GameView>() -> std::process::ExitCode {
//! use phaselock_client::Views;
//!
//! phaselock_client::run(&Views::new().with::<MyView>())
//! # }
//! ```
//!
//! Sound, shake and rumble follow from a view's [cues](phaselock_ui::cues).
//!
//! egui paints everything: it smooths edges on every display. macroquad opens the window, reads the
//! keys and the mouse, and runs the frames; a view may use its textures and shaders beneath egui.
//!
//! *Invariant:* the library decides nothing about a game and names none; it shows the state of
//! [`phaselock::client::Session`] and hands it the player's input.

#[cfg(not(target_arch = "wasm32"))]
mod desktop;
mod developer;
mod files;
mod graph;
mod languages;
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

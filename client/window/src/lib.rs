//! Phaselock's client in a window: a menu, and visits to servers in which a game is drawn and steered.
//!
//! ```text
//! run -> args -> display -> app -+-> menu
//!                                +-> lab
//!                                +-> visit -+-> phaselock_quic::client::Driver (the session)
//!                                           +-> play (what is drawn) -> GameView, one a game
//!                                           +-> overlay, developer, graph, presentation
//! ```
//!
//! A game is seen here through its [`view::GameView`], which a program registers beside the game in a
//! [`view::Views`] and hands to [`run`].
//!
//! Everything is painted through egui: it smooths edges whatever the display can do, and its fonts
//! are the only ones there are. macroquad opens the window, reads keys and mouse, and keeps the
//! frames coming; a game that wants textures or shaders may draw with it beneath what egui paints.
//!
//! *Invariant:* nothing in here decides anything about a game, and nothing names one; it shows what
//! [`phaselock::client::Session`] says and tells it which keys are held.

mod app;
mod args;
mod background;
pub mod camera;
pub mod controls;
mod developer;
mod display;
pub mod feed;
mod graph;
mod lab;
mod menu;
mod meter;
mod overlay;
pub mod paint;
pub mod palette;
pub mod particles;
mod play;
mod presentation;
pub mod rig;
pub mod scoreboard;
mod screenshot;

pub mod view;
mod visit;

use std::process::ExitCode;

/// Runs the program with these games: reads the command line, opens the window, and stays until
/// the player leaves.
pub fn run(views: &view::Views) -> ExitCode {
    let args = match args::Args::parse(std::env::args_os(), views.games()) {
        Ok(args) => args,
        Err(error) => return error.report(),
    };
    match app::run(args, views) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("phaselock: {reason}");
            ExitCode::FAILURE
        }
    }
}

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

// A page is a part of the window: what is of no use in it is left out when it is linked.
#![cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports))]

#[cfg(not(target_arch = "wasm32"))]
mod app;
mod args;
#[cfg(any(target_arch = "wasm32", test))]
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "only a page shows it"))]
mod before;
#[cfg(target_arch = "wasm32")]
mod browser;
mod desktop;
mod developer;
mod display;
#[cfg_attr(target_arch = "wasm32", path = "files/kept.rs")]
mod files;
mod focus;
mod graph;
#[cfg(not(target_arch = "wasm32"))]
mod holds;
mod languages;
#[cfg(test)]
mod layout_tests;
#[cfg(not(target_arch = "wasm32"))]
mod menu;
mod meter;
mod network;
mod overlay;
mod pacing;
mod people;
mod play;
mod presentation;
mod records;
mod registry;
#[cfg(not(target_arch = "wasm32"))]
mod servers;
mod settings;
mod sounds;
mod talk;
mod visit;
pub mod watch;

#[cfg(not(target_arch = "wasm32"))]
use std::process::ExitCode;

#[cfg(target_arch = "wasm32")]
pub use browser::run;
pub use registry::Views;

#[cfg(not(target_arch = "wasm32"))]
/// Runs the program with these games: reads the command line, opens the window, and stays until
/// the player leaves.
pub fn run(views: &Views) -> ExitCode {
    let args = match args::Args::parse(std::env::args_os(), views.games()) {
        Ok(args) => args,
        Err(error) => return error.report(),
    };
    keep_freed_memory();
    match app::run(args, views) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("phaselock: {reason}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
/// Lets the program keep the memory that it frees, for the next frame.
///
/// glibc hands large pieces back to the kernel and asks for them anew: in faults, a seventh of a
/// frame of Skirmish by `perf record -e cpu-clock`. Freeing one piece of this size raises its
/// thresholds to it and to twice that (`mallopt(3)`, `M_MMAP_THRESHOLD`); the piece itself is never
/// touched, so that it takes no memory here or elsewhere.
fn keep_freed_memory() {
    const BYTES: usize = 16 << 20;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BYTES)));
}

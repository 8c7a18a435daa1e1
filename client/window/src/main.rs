//! The client program: the window with the five games and their views.

// On Windows no console opens beside the window; see `desktop/console.rs`.
#![cfg_attr(windows, windows_subsystem = "windows")]

use phaselock_client::Views;

fn main() -> std::process::ExitCode {
    phaselock_client::run(&phaselock_views::all(Views::new()))
}

//! The game's program: the window, with the five games and their views.

mod views;

use std::process::ExitCode;

fn main() -> ExitCode {
    phaselock_client::run(&views::all())
}

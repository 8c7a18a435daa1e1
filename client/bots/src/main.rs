//! Headless clients on the command line, with the five games.

use std::process::ExitCode;

fn main() -> ExitCode {
    phaselock_bots::run(&phaselock_games::all())
}

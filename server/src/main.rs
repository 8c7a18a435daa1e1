//! The dedicated server, with the five games.

use std::process::ExitCode;

fn main() -> ExitCode {
    phaselock_server::run(&phaselock_games::all())
}

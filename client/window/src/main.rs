//! The client program: the window with the five games and their views.

use phaselock_client::Views;

fn main() -> std::process::ExitCode {
    phaselock_client::run(&phaselock_views::all(Views::new()))
}

//! The game's program: the window, with the five games and their views.

use phaselock_client::Views;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    phaselock_client::run(&phaselock_views::all(Views::new()))
}

#[cfg(target_arch = "wasm32")]
fn main() {
    phaselock_client::run(&phaselock_views::all(Views::new()));
}

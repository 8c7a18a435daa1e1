//! The game's program: the window, with the five games and their views.

mod views;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    phaselock_client::run(&views::all())
}

#[cfg(target_arch = "wasm32")]
fn main() {
    phaselock_client::run(&views::all());
}

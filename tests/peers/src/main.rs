//! One crowd on Phaselock and on other libraries: `cargo run --release`

use std::process::ExitCode;

use clap::Parser as _;
use peers::arguments::Arguments;

fn main() -> ExitCode {
    match Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! The game's program: arguments, a window, and what happens in it.

mod window;

use std::process::ExitCode;

use window::args::Args;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => return error.report(),
    };
    match window::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("phaselock: {reason}");
            ExitCode::FAILURE
        }
    }
}

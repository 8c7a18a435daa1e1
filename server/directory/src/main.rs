//! The directory's program.

#![warn(clippy::print_stderr)]

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use phaselock_directory::args::{Args, DirectoryCommand};
use phaselock_directory::{ask, drive};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return phaselock_cli::report("phaselock-directory", &error),
    };
    let done = match &args.command {
        None => drive::run(&args),
        Some(DirectoryCommand::List { directory }) => ask::print_list(directory),
        Some(DirectoryCommand::Healthcheck { directory }) => ask::check_health(directory),
        Some(DirectoryCommand::Documentation(wanted)) => {
            wanted.write(Args::command()).map_err(anyhow::Error::msg)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // `eprintln!` would panic if nobody can read it.
            let _ = writeln!(io::stderr(), "phaselock-directory: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! The directory's program.

#![warn(clippy::print_stderr)]

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use phaselock_directory::args::{Args, DirectoryCommand};
use phaselock_directory::{ask, documentation, drive};

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.command {
        None => drive::run(&args),
        Some(DirectoryCommand::List { directory }) => ask::print_list(directory),
        Some(DirectoryCommand::Healthcheck { directory }) => ask::check_health(directory),
        Some(DirectoryCommand::Completions { shell }) => documentation::complete(*shell),
        Some(DirectoryCommand::Man { folder }) => documentation::write_manual(folder),
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

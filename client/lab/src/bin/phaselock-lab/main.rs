//! The laboratory on the command line: which method shows a motion best over a network.
//!
//! ```text
//! args -> files (motions in) -> run (threads, progress, Ctrl-C) -> lab (no I/O)
//!      -> files (tables, plots out)
//! ```

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

mod advise;
mod args;
mod files;
mod run;
mod sweep;
mod thesis;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Args, Command};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return phaselock_cli::report("phaselock-lab", &error),
    };
    let games = phaselock_games::all();
    let done = match args.command {
        Command::Sweep(args) => sweep::run(args, &games),
        Command::Thesis(args) => thesis::run(args),
        Command::Advise(args) => advise::run(args, &games),
        Command::Documentation(wanted) => {
            wanted.write(Args::command()).map(|()| ExitCode::SUCCESS).map_err(anyhow::Error::msg)
        }
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            run::report(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

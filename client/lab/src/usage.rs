//! Reports mistakes on the command line in one sentence.

use std::io::{self, Write};
use std::process::ExitCode;

/// Prints help, or a mistake as a sentence, and returns the exit code.
pub fn report(program: &str, error: &clap::Error) -> ExitCode {
    // A closed pipe is the reader's choice.
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(io::stderr(), "{program}: {}", mistake(error));
    ExitCode::from(2)
}

/// The mistake as a sentence, and where to look for help.
pub fn mistake(error: &clap::Error) -> String {
    format!("{}; see --help", sentence(error))
}

/// clap's first paragraph on one line.
pub fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

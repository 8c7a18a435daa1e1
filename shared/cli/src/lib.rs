//! Manual pages and completions of programs whose command line is made with clap, and mistakes on
//! the command line in one sentence.
//!
//! ```
//! use clap::{CommandFactory as _, Parser};
//! use phaselock_cli::{Documentation, sentence};
//!
//! #[derive(Parser)]
//! #[command(name = "example")]
//! struct Args {
//!     #[command(subcommand)]
//!     command: Command,
//! }
//!
//! #[derive(clap::Subcommand)]
//! enum Command {
//!     Play,
//!     #[command(flatten)]
//!     Documentation(Documentation),
//! }
//!
//! let args = Args::try_parse_from(["example", "completions", "bash"]).expect("a command");
//! if let Command::Documentation(wanted) = args.command {
//!     wanted.write(Args::command()).expect("a script");
//! }
//!
//! let error = Args::try_parse_from(["example", "plya"]).err().expect("a mistake");
//! assert_eq!(sentence(&error), "unrecognized subcommand 'plya'; did you mean play? See --help");
//! ```

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use clap::error::{ContextKind, ContextValue};
use clap_complete::Shell;

/// Commands with which a program documents itself.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Documentation {
    /// Print a completion script for a shell
    Completions {
        /// Shell that will read the script
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write the manual pages into a folder
    Man {
        /// Folder; created if it does not exist
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

impl Documentation {
    /// Carries out the command for a program with this command line. An error is a sentence.
    pub fn write(&self, mut command: clap::Command) -> Result<(), String> {
        let (done, what) = match self {
            Self::Completions { shell } => {
                let script = completion_script(*shell, &mut command);
                (io::stdout().write_all(script.as_bytes()), "print the completions".to_owned())
            }
            Self::Man { folder } => {
                let pages = |()| clap_mangen::generate_to(command, folder);
                let what = format!("write the manual pages into {}", folder.display());
                (fs::create_dir_all(folder).and_then(pages), what)
            }
        };
        match done {
            // A closed pipe is the reader's choice.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(format!("cannot {what}: {error}"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns a program's completion script.
fn completion_script(shell: Shell, command: &mut clap::Command) -> String {
    let program = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, command, &program, &mut script);
    let script = String::from_utf8_lossy(&script);
    // clap_complete 4.6 spells the name of a program with a dash in two ways for bash, so that
    // nothing after a subcommand would be completed.
    let [told, meant] = ["__subcmd__", "__"].map(|dash| program.replace('-', dash));
    script.replace(&told, &meant)
}

/// Prints help, or a mistake as a sentence, and returns the exit code: 0 for help and the version,
/// which go to standard output, otherwise 2.
pub fn report(program: &str, error: &clap::Error) -> ExitCode {
    // A closed pipe is the reader's choice.
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(io::stderr(), "{program}: {}", sentence(error));
    ExitCode::from(2)
}

/// Returns a mistake in one line: what is wrong, what was probably meant, and where to find help.
pub fn sentence(error: &clap::Error) -> String {
    // clap's first paragraph is the mistake; the rest repeats the help.
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let meant = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    let meant = meant.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(name) => Some(name.clone()),
        // The most similar comes last.
        ContextValue::Strings(names) => names.last().cloned(),
        _ => None,
    });
    match meant {
        Some(name) => format!("{line}; did you mean {name}? See --help"),
        None => format!("{line}; see --help"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> clap::Command {
        let command = clap::Command::new("two-words").arg(clap::Arg::new("fast").long("fast"));
        Documentation::augment_subcommands(command)
    }

    #[test]
    fn manual_has_a_page_for_each_command() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man1");
        let write = |folder| Documentation::Man { folder }.write(command());
        write(pages.clone()).unwrap();
        for (name, word) in [("", "\\-\\-fast"), ("-completions", "SHELL"), ("-man", "FOLDER")] {
            let page = pages.join(format!("two-words{name}.1"));
            let page = fs::read_to_string(page).unwrap();
            assert!(page.contains(word), "{page}");
        }
        // A file is in the way.
        let error = write(pages.join("two-words.1")).unwrap_err();
        assert!(error.starts_with("cannot write the manual pages into"), "{error}");
    }

    #[test]
    fn script_for_bash_spells_the_program_in_one_way() {
        let script = completion_script(Shell::Bash, &mut command());
        assert!(script.contains("--fast") && !script.contains("two__subcmd__words"), "{script}");
    }

    #[test]
    fn mistakes_are_sentences() {
        let command = command().subcommand(clap::Command::new("main"));
        for (word, says) in [
            ("--fats", "unexpected argument '--fats' found; did you mean --fast? See --help"),
            // More similar than `main`.
            ("mann", "unrecognized subcommand 'mann'; did you mean man? See --help"),
            ("--x", "unexpected argument '--x' found; see --help"),
            // clap spreads it over lines.
            ("man", "the following required arguments were not provided: <FOLDER>; see --help"),
        ] {
            let error = command.clone().try_get_matches_from(["two-words", word]).unwrap_err();
            assert_eq!(sentence(&error), says);
        }
    }
}

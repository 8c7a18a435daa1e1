//! The program's own documentation, from its command line.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;

/// Prints a completion script.
pub fn complete(shell: Shell) -> Result<()> {
    let mut command = Args::command();
    let program = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, &program, &mut script);
    let script = String::from_utf8(script).context("the script is not text")?;
    // clap_complete 4.6 spells the name of a program with a dash in two ways for bash, so that
    // nothing after a subcommand would be completed.
    let [told, meant] = ["__subcmd__", "__"].map(|dash| program.replace('-', dash));
    let script = script.replace(&told, &meant);
    io::stdout().write_all(script.as_bytes()).context("cannot write to the standard output")
}

/// Writes the manual pages, one for each command, into a folder, which is created if it does not
/// exist.
pub fn write_manual(folder: &Path) -> Result<()> {
    let failed = || format!("cannot write the manual pages into {}", folder.display());
    fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(Args::command(), folder).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_has_a_page_for_each_command() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man1");
        write_manual(&pages).unwrap();
        for (name, word) in [("", "agones"), ("-list", "ADDR"), ("-man", "FOLDER")] {
            let page = format!("phaselock-directory{name}.1");
            let page = fs::read_to_string(pages.join(page)).unwrap();
            assert!(page.contains(word), "{page}");
        }
        let error = write_manual(&pages.join("phaselock-directory.1")).unwrap_err();
        assert!(error.to_string().contains("cannot write the manual pages into"), "{error}");
    }
}

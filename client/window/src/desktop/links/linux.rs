//! Linux: a desktop entry in the user's data folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use etcetera::BaseStrategy as _;

/// Name of the entry. It hides the package's, which has the same name.
const NAME: &str = "phaselock.desktop";

pub(super) fn register(program: &str) -> io::Result<()> {
    register_in(&folder()?, program)?;
    let status = Command::new("xdg-mime")
        .args(["default", NAME, "x-scheme-handler/phaselock"])
        .status()
        .map_err(|error| io::Error::other(format!("xdg-mime, of xdg-utils: {error}")))?;
    if status.success() { Ok(()) } else { Err(io::Error::other("xdg-mime failed")) }
}

pub(super) fn remove() -> io::Result<()> {
    match fs::remove_file(folder()?.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where the user's desktop entries are.
fn folder() -> io::Result<PathBuf> {
    let base = etcetera::choose_base_strategy().map_err(io::Error::other)?;
    Ok(base.data_dir().join("applications"))
}

fn register_in(folder: &Path, program: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let program = quoted(program);
    let entry = format!(
        "[Desktop Entry]\nType=Application\nName=Phaselock\nExec={program} %u\n\
         Categories=Game;\nMimeType=x-scheme-handler/phaselock;\nStartupWMClass=phaselock\n"
    );
    fs::write(folder.join(NAME), entry)
}

/// Quotes an argument for `Exec`: once as an argument, and once more as a string.
fn quoted(argument: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in argument.chars() {
        match letter {
            '"' | '`' | '$' => quoted.push_str(r"\\"),
            '\\' => quoted.push_str(r"\\\"),
            '%' => quoted.push('%'),
            _ => {}
        }
        quoted.push(letter);
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_names_a_program_in_any_folder() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("share/applications");
        for (program, exec) in [
            ("/opt/phaselock", r#"Exec="/opt/phaselock" %u"#),
            ("/a b/100%/phaselock", r#"Exec="/a b/100%%/phaselock" %u"#),
            (r#"/$x/a"b\c"#, r#"Exec="/\\$x/a\\"b\\\\c" %u"#),
        ] {
            register_in(&folder, program).expect("it can be written");
            let entry = fs::read_to_string(folder.join(NAME)).expect("it is there");
            assert!(entry.lines().any(|line| line == exec), "{entry}");
            assert!(entry.contains("\nMimeType=x-scheme-handler/phaselock;\n"));
        }
    }
}

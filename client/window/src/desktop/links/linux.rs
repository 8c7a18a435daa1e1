//! Linux: a desktop entry in the user's data folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use etcetera::BaseStrategy as _;

/// Name of the entry. An entry named like the package's would hide that one.
const NAME: &str = "phaselock-user.desktop";

pub(super) fn register(program: &str) -> io::Result<()> {
    let folder = folder()?;
    register_in(&folder, program)?;
    make_default().inspect_err(|_| drop(fs::remove_file(folder.join(NAME))))
}

/// Has the system open links with the entry.
fn make_default() -> io::Result<()> {
    let status = Command::new("xdg-mime")
        .args(["default", NAME, "x-scheme-handler/phaselock"])
        .status()
        .map_err(|error| io::Error::other(format!("xdg-mime, of xdg-utils: {error}")))?;
    if status.success() { Ok(()) } else { Err(io::Error::other("xdg-mime failed")) }
}

pub(super) fn remove(program: &str) -> io::Result<()> {
    remove_from(&folder()?, program)
}

/// Removes the entry if it is this program's.
fn remove_from(folder: &Path, program: &str) -> io::Result<()> {
    let path = folder.join(NAME);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(entry) if entry.lines().any(|line| line == exec(program)) => fs::remove_file(path),
        Ok(_) => Err(io::Error::other("links are registered for another program")),
    }
}

/// Where the user's desktop entries are.
fn folder() -> io::Result<PathBuf> {
    let base = etcetera::choose_base_strategy().map_err(io::Error::other)?;
    Ok(base.data_dir().join("applications"))
}

fn register_in(folder: &Path, program: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let exec = exec(program);
    let entry = format!(
        "[Desktop Entry]\nType=Application\nName=Phaselock\n{exec}\nNoDisplay=true\n\
         Categories=Game;\nMimeType=x-scheme-handler/phaselock;\nStartupWMClass=phaselock\n"
    );
    fs::write(folder.join(NAME), entry)
}

/// Returns the line that names the program. After `--`, nothing in a link is an option.
fn exec(program: &str) -> String {
    format!("Exec={} join -- %u", quoted(program))
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
            ("/opt/phaselock", r#"Exec="/opt/phaselock" join -- %u"#),
            ("/a b/100%/phaselock", r#"Exec="/a b/100%%/phaselock" join -- %u"#),
            (r#"/$x/a"b\c"#, r#"Exec="/\\$x/a\\"b\\\\c" join -- %u"#),
        ] {
            register_in(&folder, program).expect("it can be written");
            let entry = fs::read_to_string(folder.join(NAME)).expect("it is there");
            assert!(entry.lines().any(|line| line == exec), "{entry}");
            assert!(entry.contains("\nMimeType=x-scheme-handler/phaselock;\n"));
            remove_from(&folder, "/other").expect_err("it is another program's");
            assert!(folder.join(NAME).exists());
            remove_from(&folder, program).expect("it is its own");
            assert!(!folder.join(NAME).exists());
            remove_from(&folder, program).expect("there is nothing to remove");
        }
    }
}

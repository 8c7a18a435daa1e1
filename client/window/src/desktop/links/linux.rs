//! Linux: a desktop entry in the user's data folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use etcetera::BaseStrategy as _;

/// Name of the entry. An entry named like the package's would hide that one.
const NAME: &str = "phaselock-user.desktop";

pub(super) fn register(program: &str) -> io::Result<()> {
    register_in(&folder()?, program, make_default)
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

/// Writes the entry and makes it the default. If either fails, the folder stays as it was.
fn register_in(
    folder: &Path,
    program: &str,
    make_default: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let path = folder.join(NAME);
    let before = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        before => Some(before?),
    };
    replace(&path, entry(program).as_bytes())?;
    make_default().inspect_err(|_| {
        let _ = match &before {
            Some(before) => replace(&path, before),
            None => fs::remove_file(&path),
        };
    })
}

/// Replaces a file at once, so that a full disk does not leave half of it.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, content)
        .and_then(|()| fs::rename(&new, path))
        .inspect_err(|_| drop(fs::remove_file(&new)))
}

/// Returns the entry of a program.
fn entry(program: &str) -> String {
    let exec = exec(program);
    format!(
        "[Desktop Entry]\nType=Application\nName=Phaselock\n{exec}\nNoDisplay=true\n\
         Categories=Game;\nMimeType=x-scheme-handler/phaselock;\nStartupWMClass=phaselock\n"
    )
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
            register_in(&folder, program, || Ok(())).expect("it can be written");
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

    #[test]
    fn a_failure_leaves_the_entry_as_it_was() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path();
        let files = || fs::read_dir(folder).expect("it is there").count();
        let fail = || Err(io::Error::other("xdg-mime failed"));
        register_in(folder, "/a", fail).expect_err("it cannot be the default");
        assert_eq!(files(), 0);
        register_in(folder, "/a", || Ok(())).expect("it can be written");
        register_in(folder, "/b", fail).expect_err("it cannot be the default");
        assert_eq!(fs::read_to_string(folder.join(NAME)).expect("it is there"), entry("/a"));
        register_in(folder, "/b", || Ok(())).expect("it can be written");
        assert_eq!(fs::read_to_string(folder.join(NAME)).expect("it is there"), entry("/b"));
        assert_eq!(files(), 1);
    }
}

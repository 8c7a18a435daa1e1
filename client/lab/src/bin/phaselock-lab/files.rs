//! Reads motions from files, and writes results into files.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use phaselock::games::Games;
use phaselock_lab::Recording;
use phaselock_lab::formulas::Formula;
use phaselock_lab::load::{LoadError, load};
use phaselock_lab::sweep::SweepSubject;

use super::run;

/// Minimum length of a motion in seconds. Arbitrary: a few updates and some dozen frames.
const SECS_MIN: f64 = 0.5;

/// Reads a motion.
pub(crate) fn read(path: &Path, games: &Games) -> Result<Recording> {
    let motion = load(path, games).map_err(|error| match error {
        LoadError::Io(error) => anyhow!("cannot read {}: {error}", path.display()),
        LoadError::File(error) => anyhow!("{}: {error}", path.display()),
    })?;
    if let Some(hint) = motion.unit_hint() {
        run::report(&format!("{}: {hint}", path.display()));
    }
    Recording::of_motion(&motion, games)
        .ok_or_else(|| anyhow!("{}: the record has no fields x and y", path.display()))
}

/// A built-in path of `secs` seconds, or a file's motion.
pub(crate) fn subject(name: &OsStr, secs: f64, games: &Games) -> Result<SweepSubject> {
    if let Some(shape) = name.to_str().and_then(|name| name.parse::<Formula>().ok()) {
        return Ok(SweepSubject {
            name: shape.name().into(),
            recording: Arc::new(shape.record(secs)),
        });
    }
    let path = Path::new(name);
    if !path.exists() && path.components().count() == 1 && path.extension().is_none() {
        let names = Formula::ALL.iter().map(|shape| shape.name()).collect::<Vec<_>>().join(", ");
        return Err(anyhow!("{} is neither a file nor a built-in path: {names}", path.display()));
    }
    let name = path.file_stem().map_or_else(|| path.display().to_string(), stem);
    let recording = read(path, games)?;
    if recording.secs() < SECS_MIN {
        bail!(
            "{}: the motion takes {} s, but at least {SECS_MIN} s are needed",
            path.display(),
            recording.secs()
        );
    }
    Ok(SweepSubject { name, recording: Arc::new(recording) })
}

fn stem(name: &OsStr) -> String {
    name.to_string_lossy().chars().filter(|letter| !letter.is_control()).take(48).collect()
}

/// Numbers paths that have the same name.
pub(crate) fn number_duplicates(subjects: &mut [SweepSubject]) {
    for at in 1..subjects.len() {
        let (before, rest) = subjects.split_at_mut(at);
        let plain = rest[0].name.clone();
        let mut number = 1;
        while before.iter().any(|other| other.name == rest[0].name) {
            number += 1;
            rest[0].name = format!("{plain} {number}");
        }
    }
}

/// Destination of a result. It is opened before hours of measuring; until then, nothing changes.
#[derive(Debug)]
pub(crate) struct Output {
    /// `None`: the standard output.
    path: Option<PathBuf>,
}

impl Output {
    /// Opens a destination; `-` is the standard output.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self { path: None });
        }
        let fresh = fs::symlink_metadata(path).is_err();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        file.with_context(|| format!("cannot write {}", path.display()))?;
        if fresh {
            // It does not matter if the empty file cannot be removed.
            let _ = fs::remove_file(path);
        }
        Ok(Self { path: Some(path.to_owned()) })
    }

    pub(crate) fn is_standard(&self) -> bool {
        self.path.is_none()
    }

    pub(crate) fn write(&self, text: &str) -> Result<()> {
        let Some(path) = &self.path else { return print(text) };
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Whether two paths lead to the same file, which may not exist yet.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    // A file that does not exist yet is named by its directory.
    let whole = |path: &Path| {
        let within = || {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(parent.join(path.file_name()?))
        };
        path.canonicalize().ok().or_else(within)
    };
    one == other || whole(one).is_some_and(|one| whole(other) == Some(one))
}

/// Writes to the standard output; a closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("cannot write to the standard output"),
    }
}

#[derive(Debug)]
pub(crate) struct Pictures {
    directory: PathBuf,
    /// Names written so far, in lower case.
    names: RefCell<HashSet<String>>,
}

impl Pictures {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the directory {}", path.display()))?;
        Ok(Self { directory: path.to_owned(), names: RefCell::default() })
    }

    /// Writes a picture under a name that any file system accepts and no other picture has.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.directory.join(self.free(name)).with_extension("svg");
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn free(&self, name: &str) -> String {
        let tame = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
        let tame: String = name.chars().map(tame).collect();
        let mut free = tame.clone();
        let mut number = 1;
        while !self.names.borrow_mut().insert(free.to_lowercase()) {
            number += 1;
            free = format!("{tame}-{number}");
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_picture_takes_another_ones_place() {
        let pictures = Pictures { directory: PathBuf::new(), names: RefCell::default() };
        let names = ["a b.c", "a-b c", "A-B-C", "a-b-c 2"].map(|name| pictures.free(name));
        assert_eq!(names, ["a-b-c", "a-b-c-2", "A-B-C-3", "a-b-c-2-2"]);
    }

    #[test]
    fn a_file_is_the_same_by_whatever_path() {
        let directory = tempfile::tempdir().expect("there is space");
        let path = directory.path().join("a.csv");
        let other = directory.path().join(".").join("a.csv");
        assert!(is_same(&path, &other), "it is not there yet");
        fs::write(&path, "").expect("there is space");
        assert!(is_same(&path, &other) && !is_same(&path, directory.path()));
        assert!(!is_same(&path, &directory.path().join("b.csv")));
    }
}

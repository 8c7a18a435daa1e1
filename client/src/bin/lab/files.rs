//! Motions from files, and results into files.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use phaselock_client::lab::Recording;
use phaselock_client::lab::file::{self, FILE_BYTES_MAX};
use phaselock_client::lab::shapes::Shape;
use phaselock_client::lab::sweep::Subject;

/// Reads a motion; one byte more than may be is enough to know.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    let what = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(what)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).with_context(what)?;
    let motion = file::read(&bytes).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Recording::of_motion(&motion)
        .ok_or_else(|| anyhow!("{}: nothing in it says where it is", path.display()))
}

/// A path by formula, or of a file. Formulas take so many seconds.
pub(crate) fn subject(name: &OsStr, secs: f64) -> Result<Subject> {
    if let Some(shape) = name.to_str().and_then(|name| name.parse::<Shape>().ok()) {
        return Ok(Subject { name: shape.name().into(), recording: Arc::new(shape.record(secs)) });
    }
    let path = Path::new(name);
    if !path.exists() && path.components().count() == 1 && path.extension().is_none() {
        let names = Shape::ALL.iter().map(|shape| shape.name()).collect::<Vec<_>>().join(", ");
        return Err(anyhow!("{} is neither a file nor a path by formula: {names}", path.display()));
    }
    let name = path.file_stem().map_or_else(|| path.display().to_string(), stem);
    Ok(Subject { name, recording: Arc::new(read(path)?) })
}

fn stem(name: &OsStr) -> String {
    name.to_string_lossy().chars().filter(|letter| !letter.is_control()).take(60).collect()
}

/// Gives those that have the same name numbers.
pub(crate) fn tell_apart(subjects: &mut [Subject]) {
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

/// Where a result goes. It is opened beforehand, so that a path that cannot be written is known before
/// hours of measuring; nothing in it is touched until then.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    /// None: the standard output.
    file: Option<File>,
    /// Whether there was no such file before.
    fresh: bool,
}

impl Output {
    /// `-` is the standard output.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self { path: path.to_owned(), file: None, fresh: false });
        }
        let fresh = !path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: Some(file), fresh })
    }

    /// Whether it is the standard output.
    pub(crate) fn is_standard(&self) -> bool {
        self.file.is_none()
    }

    /// Puts a text there, in place of what there was.
    pub(crate) fn write(mut self, text: &str) -> Result<()> {
        self.fresh = false;
        let what = || format!("cannot write {}", self.path.display());
        let Some(file) = &mut self.file else { return print(text) };
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).with_context(what)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.fresh {
            // Nobody wants an empty file; whether it can be removed changes nothing.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes to the standard output; that its reader has gone is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("cannot write to the standard output"),
    }
}

/// A directory for pictures.
#[derive(Debug)]
pub(crate) struct Pictures(PathBuf);

impl Pictures {
    /// Makes sure that there is one.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the directory {}", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// Puts one there, under a name that any file system takes.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        let tame = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
        let path = self.0.join(name.chars().map(tame).collect::<String>()).with_extension("svg");
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

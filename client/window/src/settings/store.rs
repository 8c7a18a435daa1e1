//! The settings and their file: read at the start, written a second after the last change.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;

use super::Settings;
use super::file::{self, FILE_BYTES_MAX, FileError};
use crate::languages::Languages;
use crate::words::fill;

/// Time without a change after which the file is written: a slider moves in many frames.
const WRITE_AFTER: Duration = Duration::from_secs(1);
/// Files set aside beside the one in use, before somebody has to tidy up.
const ASIDE_MAX: usize = 100;

/// The settings, in a file or without one.
#[derive(Debug)]
pub(crate) struct Store {
    /// The settings; changes find their way into the file.
    pub(crate) settings: Settings,
    path: Option<PathBuf>,
    /// As in the file.
    base: Settings,
    /// As of the last poll, and when they last changed.
    polled: Settings,
    changed_at: Option<Duration>,
    problems: Vec<String>,
}

impl Store {
    /// Reads the settings of a file, which need not exist; without one they live as long as the
    /// program.
    pub(crate) fn open(path: Option<PathBuf>) -> Self {
        let mut problems = Vec::new();
        let mut settings = Settings::default();
        if let Some(path) = &path {
            let name = path.display();
            match read(path) {
                Ok(None) => {}
                Ok(Some(bytes)) => match file::read(&bytes) {
                    Ok((read, found)) => {
                        settings = read;
                        problems.extend(found.into_iter().map(|it| format!("{name}, {it}")));
                    }
                    Err(error) => problems.push(format!(
                        "The settings in {name} cannot be read, so the defaults are used: {error}. \
                         Mend the file before you change a setting here, or it is set aside."
                    )),
                },
                Err(error) => problems.push(format!(
                    "The settings in {name} cannot be read, so the defaults are used: {error}."
                )),
            }
        }
        let (base, polled) = (settings.clone(), settings.clone());
        Self { settings, path, base, polled, changed_at: None, problems }
    }

    /// Path of a player's settings, unless the system knows no home.
    pub(crate) fn default_path() -> Option<PathBuf> {
        Some(folder()?.join("settings.toml"))
    }

    /// The folder of the player's language files, beside the settings.
    pub(crate) fn languages(&self) -> Option<PathBuf> {
        Some(self.path.as_deref()?.parent()?.join("languages"))
    }

    /// Has the chosen language spoken.
    pub(crate) fn speak(&self, languages: &mut Languages) {
        languages.follow(&self.settings.display.language, self.languages().as_deref());
    }

    /// Faults of the file, a sentence each.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The first of the faults, for where there is room for one.
    pub(crate) fn notice(&self) -> Option<String> {
        let first = self.problems.first()?;
        Some(match self.problems.len() - 1 {
            0 => first.clone(),
            more => {
                let count = more.to_string();
                let values = [("first", &**first), ("count", &*count)];
                fill("{first} Settings shows {count} more.", &values)
            }
        })
    }

    /// Writes the file if a change is old enough. `now` is the time since any fixed moment.
    pub(crate) fn poll(&mut self, now: Duration) {
        if self.settings != self.polled {
            self.polled = self.settings.clone();
            self.changed_at = Some(now);
        }
        if self.changed_at.is_some_and(|at| now.saturating_sub(at) >= WRITE_AFTER) {
            self.save();
        }
    }

    /// Writes what has changed.
    pub(crate) fn save(&mut self) {
        self.changed_at = None;
        let Some(path) = self.path.clone().filter(|_| self.settings != self.base) else { return };
        match save(&path, &self.base, &self.settings) {
            Ok(aside) => {
                self.base = self.settings.clone();
                let told = |aside: PathBuf| {
                    let file = aside.display().to_string();
                    fill("The file that could not be read is now {file}.", &[("file", &file)])
                };
                self.problems = aside.map(told).into_iter().collect();
            }
            Err(error) => {
                let (file, error) = (path.display().to_string(), error.to_string());
                let values = [("file", &*file), ("error", &*error)];
                self.problems =
                    vec![fill("The settings cannot be kept in {file}: {error}.", &values)];
            }
        }
    }
}

/// The player's folder, which holds the settings and the known servers.
pub(crate) fn folder() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("phaselock"))
}

/// Content of a file; none if there is no such file. One byte more than allowed tells a larger one.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // A pipe would block, and a folder cannot be read.
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(about) if !about.is_file() => return Err(io::Error::other("it is not a file")),
        about => about?,
    };
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes the changes into the file as it is now. A file that cannot be used is set aside first;
/// returns its new name.
fn save(path: &Path, base: &Settings, now: &Settings) -> io::Result<Option<PathBuf>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder)?;
    }
    // Follow a link, so that it stays one.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // Another window may be about to write as well; not every file system can lock.
    let lock = File::create(with_end(&path, ".lock"))?;
    let _ = lock.lock();
    let bytes = read(&path)?.unwrap_or_default();
    let mut aside = None;
    let text = match file::write(&bytes, base, now) {
        Ok(text) => text,
        Err(FileError::TooBig | FileError::Utf8 | FileError::Toml { .. }) => {
            aside = Some(set_aside(&path)?);
            file::write(&[], &Settings::default(), now).map_err(io::Error::other)?
        }
    };
    let new = with_end(&path, ".new");
    let mut out = File::create(&new)?;
    let written = out.write_all(text.as_bytes()).and_then(|()| out.sync_all());
    drop(out);
    let renamed = written.and_then(|()| fs::rename(&new, &path));
    if renamed.is_err() {
        // The old file is as it was; the half of a new one is of no use.
        let _ = fs::remove_file(&new);
    }
    renamed.map(|()| aside)
}

/// Renames a file that cannot be used, to a name that is free.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let number = |n: usize| if n == 1 { ".broken".into() } else { format!(".broken-{n}") };
    let free = (1..=ASIDE_MAX).map(|n| with_end(path, &number(n))).find(|to| !to.exists());
    let to = free.ok_or_else(|| io::Error::other("too many broken files stand beside it"))?;
    fs::rename(path, &to)?;
    Ok(to)
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

//! The settings and their file: read at the start, written a second after the last change.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::file::{self, FILE_BYTES_MAX, FileError};
use super::model::Settings;
use crate::files::{self, LockedFile};
use crate::settings::languages::Languages;
use phaselock_ui::words::fill;

/// Time without a change after which the file is written: a slider changes in many frames.
const WRITE_AFTER: Duration = Duration::from_secs(1);

/// The settings, with or without a file.
#[derive(Debug)]
pub(crate) struct Store {
    /// The settings; changes to them are saved.
    pub(crate) settings: Settings,
    path: Option<PathBuf>,
    /// Settings as they are in the file.
    base: Settings,
    /// Settings as of the last poll, and when they last changed.
    polled: Settings,
    changed_at: Option<Duration>,
    problems: Vec<String>,
}

impl Store {
    /// Reads the settings from a file, which need not exist. Without a file, they live as long as
    /// the program.
    pub(crate) fn open(path: Option<PathBuf>) -> Self {
        let mut problems = Vec::new();
        let mut settings = Settings::default();
        if let Some(path) = &path {
            let name = path.display();
            match files::read(path, FILE_BYTES_MAX) {
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

    /// Path of another file of the player, next to the settings.
    pub(crate) fn sibling(&self, name: &str) -> Option<PathBuf> {
        Some(self.path.as_deref()?.with_file_name(name))
    }

    /// The folder of the player's language files, next to the settings.
    pub(crate) fn languages(&self) -> Option<PathBuf> {
        Some(self.path.as_deref()?.parent()?.join("languages"))
    }

    /// Switches to the chosen language.
    pub(crate) fn speak(&self, languages: &mut Languages) {
        languages.follow(&self.settings.display.language, self.languages().as_deref());
    }

    /// Faults of the file, one sentence each.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The first of the faults, where there is only space for one.
    pub(crate) fn notice(&self) -> Option<String> {
        let first = self.problems.first()?;
        Some(match self.problems.len() - 1 {
            0 => first.clone(),
            more => {
                let count = more.to_string();
                let values = [("first", &**first), ("count", &*count)];
                fill("{first} See Settings for {count} more.", &values)
            }
        })
    }

    /// Writes the file if the last change is old enough. `now` counts from any fixed moment.
    pub(crate) fn poll(&mut self, now: Duration) {
        if self.settings != self.polled {
            self.polled = self.settings.clone();
            self.changed_at = Some(now);
        }
        if self.changed_at.is_some_and(|at| now.saturating_sub(at) >= WRITE_AFTER) {
            self.save();
        }
    }

    /// Writes the changes.
    pub(crate) fn save(&mut self) {
        self.changed_at = None;
        let Some(path) = self.path.clone().filter(|_| self.settings != self.base) else { return };
        match save(&path, &self.base, &self.settings) {
            Ok(aside) => {
                self.base = self.settings.clone();
                let told = |aside: PathBuf| {
                    let file = aside.display().to_string();
                    fill("The unreadable file is now called {file}.", &[("file", &file)])
                };
                self.problems = aside.map(told).into_iter().collect();
            }
            Err(error) => {
                let (file, error) = (path.display().to_string(), error.to_string());
                let values = [("file", &*file), ("error", &*error)];
                self.problems = vec![fill("Cannot save the settings in {file}: {error}.", &values)];
            }
        }
    }
}

/// Writes the changes into the file as it is now. An unreadable file is renamed first. Returns its
/// new name.
fn save(path: &Path, base: &Settings, now: &Settings) -> io::Result<Option<PathBuf>> {
    let held = LockedFile::new(path)?;
    let bytes = held.read(FILE_BYTES_MAX)?.unwrap_or_default();
    let mut aside = None;
    let text = match file::write(&bytes, base, now) {
        Ok(text) => text,
        Err(FileError::Text(_) | FileError::Toml { .. }) => {
            aside = Some(held.set_aside()?);
            file::write(&[], &Settings::default(), now).map_err(io::Error::other)?
        }
    };
    held.write(text.as_bytes()).map(|()| aside)
}

//! What is shown: a motion that is made here, or one from a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use phaselock_lab::Recording;
use phaselock_lab::load::{LoadError, load};

use crate::motions::{Motion, RATES};

/// A motion to measure.
#[derive(Clone, Debug)]
pub struct Subject {
    name: String,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Made(Motion),
    File(Arc<Recording>),
}

impl From<Motion> for Subject {
    fn from(motion: Motion) -> Self {
        Self { name: motion.to_string(), source: Source::Made(motion) }
    }
}

impl Subject {
    /// A recording that has no pixel of its own, as if it came from a file.
    pub fn recorded(name: String, recording: Recording) -> Self {
        Self { name, source: Source::File(Arc::new(recording)) }
    }

    /// Reads a motion in one of the laboratory's formats, named after its file.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let games = phaselock_games::all();
        let motion = load(path, &games)?;
        // A file has at least two points, and all are finite.
        let recording = Recording::of_motion(&motion, &games).expect("a file is a path");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self::recorded(name, recording))
    }

    /// Whether it comes from a file, whose unit of length is unknown.
    pub fn is_file(&self) -> bool {
        matches!(self.source, Source::File(_))
    }

    /// A pixel in its unit: on the screen of such a game, or a thousandth of the longer side of a
    /// file's path.
    pub fn pixel(&self) -> f64 {
        match &self.source {
            Source::Made(motion) => motion.pixel(),
            Source::File(recording) => recording.pixel(),
        }
    }

    /// Returns the recording: of this many seconds from a seed, or that of the file.
    pub fn record(&self, secs: f64, seed: u64) -> Arc<Recording> {
        match &self.source {
            Source::Made(motion) => {
                let ticks = (secs * f64::from(RATES.tick_hz)) as u64 + 1;
                Arc::new(motion.record(ticks, seed))
            }
            Source::File(recording) => Arc::clone(recording),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

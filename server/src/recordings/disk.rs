//! The thread that writes recordings.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use phaselock::replay::{Assembly, Piece};

use super::settings::Recording;
use super::shelf::{END, PART, make_way};
use crate::clocks::Clocks;
use crate::data_dir;

/// Number of chunks between two waits for the disk.
const SYNC_EVERY: usize = 6;
/// The maximum number of files that share a name but for a number. Arbitrary.
const NAMES_MAX: u32 = 1000;

/// A file that is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(pub(super) u64);

/// A job for the thread.
#[derive(Debug)]
pub(super) enum Job {
    Begin { id: Id, stem: String, start: Vec<u8> },
    Append { id: Id, chunk: Vec<u8> },
    End { id: Id },
    Stop,
}

/// A growing file.
#[derive(Debug)]
struct Growing {
    path: PathBuf,
    file: File,
    assembly: Assembly,
    unsynced: usize,
    /// Whether a write has failed. The file keeps its name until the recording ends, since it still
    /// tells what the round hides.
    has_failed: bool,
}

/// What the thread owns.
#[derive(Debug)]
pub(super) struct Disk {
    settings: Recording,
    clocks: Clocks,
    files: BTreeMap<Id, Growing>,
}

impl Disk {
    pub(super) fn new(settings: Recording, clocks: Clocks) -> Self {
        Self { settings, clocks, files: BTreeMap::new() }
    }

    /// Does jobs until it is told to stop.
    pub(super) fn run(&mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            let (id, done) = match job {
                Job::Begin { id, stem, start } => (id, self.begin(id, &stem, start)),
                Job::Append { id, chunk } => (id, self.append(id, chunk)),
                Job::End { id } => (id, self.finish(id)),
                Job::Stop => break,
            };
            if let Err(error) = done {
                let growing = self.files.get_mut(&id);
                let file = growing.map(|growing| {
                    growing.has_failed = true;
                    growing.path.display().to_string()
                });
                tracing::warn!(
                    name: "recording_failed",
                    file,
                    %error,
                    "cannot write a recording; it ended, and the game goes on"
                );
            }
        }
        for id in self.files.keys().copied().collect::<Vec<_>>() {
            // The next start finishes what cannot be ended now.
            let _ = self.finish(id);
        }
    }

    fn begin(&mut self, id: Id, stem: &str, start: Vec<u8>) -> io::Result<()> {
        data_dir::make_private_dir(&self.settings.dir)?;
        make_way(&self.settings, &self.clocks)?;
        let (path, file) = create(&self.settings.dir, stem)?;
        // Another server that uses the directory must not take it for the file of a killed one.
        if let Err(error) = file.try_lock() {
            tracing::debug!(%error, "cannot lock a recording");
        }
        tracing::info!(name: "recording_begun", file = %path.display(), "recording");
        let assembly = Assembly::default();
        let growing = Growing { path, file, assembly, unsynced: 0, has_failed: false };
        self.files.entry(id).or_insert(growing).write(&Piece::Start(start))
    }

    fn append(&mut self, id: Id, chunk: Vec<u8>) -> io::Result<()> {
        let Some(growing) = self.files.get_mut(&id) else { return Ok(()) };
        if growing.has_failed {
            return Ok(());
        }
        growing.write(&Piece::Chunk(chunk))?;
        growing.unsynced += 1;
        if growing.unsynced >= SYNC_EVERY {
            growing.unsynced = 0;
            growing.file.sync_data()?;
            make_way(&self.settings, &self.clocks)?;
        }
        Ok(())
    }

    /// Ends a file and gives it its name. One that could not be written lacks the index, which
    /// readers rebuild.
    fn finish(&mut self, id: Id) -> io::Result<()> {
        let Some(mut growing) = self.files.remove(&id) else { return Ok(()) };
        if !growing.has_failed {
            growing.file.write_all(&growing.assembly.end())?;
            growing.file.sync_all()?;
        }
        let path = growing.path.with_extension("");
        fs::rename(&growing.path, &path)?;
        tracing::info!(
            name: "recording_ended",
            file = %path.display(),
            bytes = growing.assembly.bytes(),
            "a recording has ended"
        );
        Ok(())
    }
}

impl Growing {
    fn write(&mut self, piece: &Piece) -> io::Result<()> {
        let full = || io::Error::other("the recording is too long");
        let bytes = self.assembly.push(piece).ok_or_else(full)?;
        self.file.write_all(bytes)
    }
}

/// Creates a new file whose name begins with `stem`.
fn create(dir: &Path, stem: &str) -> io::Result<(PathBuf, File)> {
    for number in 0..NAMES_MAX {
        let name = if number == 0 { stem.to_owned() } else { format!("{stem}-{number}") };
        let path = dir.join(format!("{name}.{END}.{PART}"));
        if dir.join(format!("{name}.{END}")).exists() {
            continue;
        }
        match data_dir::new_private(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((path, made?)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

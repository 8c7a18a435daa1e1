//! The thread that writes recordings.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use phaselock::replay::{Assembly, Piece, start_at};

use super::settings::Recording;
use super::shelf::{END, PART, make_way, offer};
use crate::clocks::Clocks;
use crate::config::RecordMode;
use crate::data_dir;

/// Number of chunks between two waits for the disk.
const SYNC_EVERY: usize = 6;
/// The maximum number of files that share a name but for a number. Arbitrary.
const NAMES_MAX: u32 = 1000;
/// Interval at which old recordings are looked for while nothing is recorded.
const LOOK_INTERVAL: Duration = Duration::from_secs(3600);
/// Time for which the size of all recordings is known from what was written, since looking into a
/// directory of 10,000 files takes a while.
const SIZE_KNOWN: Duration = Duration::from_secs(60);

/// A file that is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(pub(super) u64);

/// Why a recording is not written any further, once it is not.
pub(super) type Failure = Arc<OnceLock<String>>;

/// A job for the thread.
#[derive(Clone, Debug)]
pub(super) enum Job {
    /// Creates a file.
    Begin {
        id: Id,
        stem: String,
        /// The start of the recording, and the last chunks.
        pieces: Vec<Arc<Piece>>,
        /// Where to say why it failed.
        failure: Failure,
    },
    Append {
        id: Id,
        chunk: Arc<Piece>,
    },
    /// Adds the index. The file keeps its name.
    End {
        id: Id,
    },
    /// Gives an ended file its final name.
    Offer {
        id: Id,
        after: Duration,
    },
    Stop,
}

/// A growing file.
#[derive(Debug)]
struct Growing {
    path: PathBuf,
    file: File,
    assembly: Assembly,
    unsynced: usize,
    /// Why a write has failed.
    failure: Failure,
}

/// An ended file whose name still ends in `.part`.
#[derive(Debug)]
struct Ended {
    path: PathBuf,
    /// Locked, so that no other server takes it for the file of a killed one.
    _file: File,
    /// When it gets its name; `None` if its round is not over.
    due: Option<Instant>,
}

/// What the thread owns.
#[derive(Debug)]
pub(super) struct Disk {
    settings: Recording,
    clocks: Clocks,
    growing: BTreeMap<Id, Growing>,
    ended: BTreeMap<Id, Ended>,
    /// When old recordings were last looked for, and the size of all recordings.
    size: Option<(Instant, u64)>,
}

impl Disk {
    pub(super) fn new(settings: Recording, clocks: Clocks) -> Self {
        let (growing, ended) = (BTreeMap::new(), BTreeMap::new());
        Self { settings, clocks, growing, ended, size: None }
    }

    /// Takes over the file of a server before, whose round is not over.
    pub(super) fn adopt(&mut self, id: Id, path: PathBuf, file: File) {
        self.ended.insert(id, Ended { path, _file: file, due: None });
    }

    /// Does jobs until it is told to stop.
    pub(super) fn run(&mut self, jobs: &Receiver<Job>) {
        self.look();
        let mut looked = Instant::now();
        loop {
            match jobs.recv_timeout(self.next_due().unwrap_or(LOOK_INTERVAL).min(LOOK_INTERVAL)) {
                Ok(Job::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(job) => self.handle(job),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            self.offer_due(|ended| ended.due.is_some_and(|due| due <= now));
            if now - looked >= LOOK_INTERVAL {
                looked = now;
                self.look();
            }
        }
        // What is still growing belongs to rounds that the next start may continue.
        for id in self.growing.keys().copied().collect::<Vec<_>>() {
            self.handle(Job::End { id });
        }
        self.offer_due(|ended| ended.due.is_some());
    }

    /// Returns the time until the next file gets its name.
    fn next_due(&self) -> Option<Duration> {
        let due = self.ended.values().filter_map(|ended| ended.due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    fn handle(&mut self, job: Job) {
        let (id, done) = match job {
            Job::Begin { id, stem, mut pieces, failure } => {
                tell_start(&mut pieces);
                let begun = self.begin(id, &stem, &failure);
                let begun =
                    begun.and_then(|()| pieces.iter().try_for_each(|piece| self.append(id, piece)));
                note(&failure, &begun);
                (id, begun)
            }
            Job::Append { id, chunk } => {
                let appended = self.append(id, &chunk);
                if let Some(growing) = self.growing.get(&id) {
                    note(&growing.failure, &appended);
                }
                (id, appended)
            }
            Job::End { id } => (id, self.end(id)),
            Job::Offer { id, after } => {
                let due = Instant::now().checked_add(after);
                self.ended.entry(id).and_modify(|ended| ended.due = due);
                return;
            }
            Job::Stop => return,
        };
        if let Err(error) = done {
            let growing = self.growing.get(&id).map(|growing| &growing.path);
            let path = growing.or_else(|| self.ended.get(&id).map(|ended| &ended.path));
            let path = path.unwrap_or(&self.settings.dir);
            tracing::warn!(
                name: "recording_failed",
                file = %path.display(),
                %error,
                "cannot write a recording; it ended, and the game goes on"
            );
        }
    }

    /// Deletes recordings that are too old, as far as there are any.
    fn look(&mut self) {
        let made = self.make_way(0);
        if let Err(error) = made
            && error.kind() != io::ErrorKind::NotFound
            && self.settings.mode != RecordMode::Off
        {
            tracing::warn!(
                name: "recording_failed",
                file = %self.settings.dir.display(),
                %error,
                "cannot look for old recordings"
            );
        }
    }

    /// Makes room for what was or will be written.
    fn make_way(&mut self, bytes: u64) -> io::Result<()> {
        let now = Instant::now();
        let known = self.size.filter(|(looked, _)| bytes > 0 && now - *looked < SIZE_KNOWN);
        self.size = known.map(|(looked, before)| (looked, before.saturating_add(bytes)));
        if self.size.is_none_or(|(_, size)| size > self.settings.bytes) {
            self.size = None;
            self.size = Some((now, make_way(&self.settings, &self.clocks)?));
        }
        Ok(())
    }

    fn begin(&mut self, id: Id, stem: &str, failure: &Failure) -> io::Result<()> {
        data_dir::make_private_dir(&self.settings.dir)?;
        self.make_way(1)?;
        let (path, file) = create(&self.settings.dir, stem)?;
        // Another server that uses the directory must not take it for the file of a killed one.
        if let Err(error) = file.try_lock() {
            tracing::debug!(%error, "cannot lock a recording");
        }
        tracing::info!(name: "recording_begun", file = %path.display(), "recording");
        let (assembly, failure) = (Assembly::default(), Arc::clone(failure));
        self.growing.insert(id, Growing { path, file, assembly, unsynced: 0, failure });
        Ok(())
    }

    fn append(&mut self, id: Id, piece: &Piece) -> io::Result<()> {
        let Some(growing) = self.growing.get_mut(&id).filter(|it| it.failure.get().is_none())
        else {
            return Ok(());
        };
        let written = growing.write(piece)?;
        growing.unsynced += 1;
        if growing.unsynced >= SYNC_EVERY {
            growing.unsynced = 0;
            growing.file.sync_data()?;
        }
        self.make_way(written)
    }

    /// Adds the index to a file. One that could not be written lacks it, and readers rebuild it.
    fn end(&mut self, id: Id) -> io::Result<()> {
        let Some(growing) = self.growing.remove(&id) else { return Ok(()) };
        let Growing { path, mut file, assembly, failure, .. } = growing;
        let written = match failure.get() {
            Some(_) => Ok(()),
            None => file.write_all(&assembly.end()).and_then(|()| file.sync_all()),
        };
        self.ended.insert(id, Ended { path, _file: file, due: None });
        written
    }

    fn offer_due(&mut self, is_due: impl Fn(&Ended) -> bool) {
        for (_, Ended { path, .. }) in self.ended.extract_if(.., |_, ended| is_due(ended)) {
            offer(&path);
        }
    }
}

/// Lets a file say when its first chunk began, and who was there: the chunks since the start of the
/// recording may be gone from memory.
fn tell_start(pieces: &mut [Arc<Piece>]) {
    if let [start, first, ..] = pieces
        && let Ok(told) = start_at(start, first)
    {
        *start = Arc::new(told);
    }
}

/// Notes why something has failed, if it has.
fn note(failure: &Failure, done: &io::Result<()>) {
    if let Err(error) = done {
        // The first reason counts.
        let _ = failure.set(error.to_string());
    }
}

impl Growing {
    /// Writes a piece and returns its size.
    fn write(&mut self, piece: &Piece) -> io::Result<u64> {
        let full = || io::Error::other("the recording is too long");
        let bytes = self.assembly.push(piece).ok_or_else(full)?;
        self.file.write_all(bytes)?;
        Ok(bytes.len() as u64)
    }
}

/// Creates a new file whose name begins with `stem`.
fn create(dir: &Path, stem: &str) -> io::Result<(PathBuf, File)> {
    for number in 0..NAMES_MAX {
        let name = if number == 0 { stem.to_owned() } else { format!("{stem}_{number}") };
        let path = dir.join(format!("{name}.{END}.{PART}"));
        match data_dir::new_private(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            // Looked for afterwards: another server may give such a file its name meanwhile.
            Ok(_) if path.with_extension("").exists() => std::fs::remove_file(&path)?,
            Ok(file) => return Ok((path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

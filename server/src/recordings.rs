//! Recordings of rooms as files.
//!
//! The rooms' threads hand in the pieces of their recordings. The last minutes of each room stay in
//! memory. A separate thread writes ([`disk`]); its queue is bounded, so a slow or full disk ends a
//! recording but delays no room. While a file grows, its name ends in `.part`, and the
//! administration does not hand it out: it tells what a running round hides.

mod disk;
mod settings;
mod shelf;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phaselock::replay::Piece;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::server::Archive;

use self::disk::{Disk, Id, Job};
pub(crate) use self::settings::{FOLDER, Recording};
pub(crate) use self::shelf::{Shelf, Shelved};
use crate::clocks::Clocks;
use crate::config::RecordMode;
use crate::data_dir;
use crate::time::date;
use crate::writer::Writer;

/// Number of jobs that wait for the thread: a chunk of each of 256 rooms, and as many again.
const JOBS_MAX: usize = 512;
/// Maximum bytes in memory for each room.
const RING_BYTES_MAX: usize = 6 << 20;
/// Chunks of each room that stay in memory: five minutes. A round whose first player comes late is
/// recorded from that far back.
const RING_CHUNKS: usize = 30;
/// One room's recording.
#[derive(Debug, Default)]
struct Reel {
    start: Vec<u8>,
    /// The last chunks, oldest first.
    chunks: VecDeque<Vec<u8>>,
    bytes: usize,
    file: Option<Id>,
    /// Whether the disk was too slow for this recording.
    has_failed: bool,
}

/// The recordings of all rooms, in memory.
#[derive(Debug, Default)]
struct Reels {
    rooms: BTreeMap<RoomCode, Reel>,
    last: Id,
    /// Files that should end, of which the thread could not be told yet.
    unended: Vec<Id>,
}

/// The recordings of all rooms.
#[derive(Debug)]
pub(crate) struct Recordings {
    settings: Recording,
    clocks: Clocks,
    reels: Mutex<Reels>,
    jobs: SyncSender<Job>,
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct RecordingsThread {
    jobs: SyncSender<Job>,
    writer: Writer,
}

impl Recordings {
    /// Finishes the files of a server that was killed, and starts the thread that writes.
    pub(crate) fn open(
        settings: Recording,
        clocks: Clocks,
    ) -> io::Result<(Arc<Self>, RecordingsThread)> {
        if settings.mode != RecordMode::Off {
            data_dir::make_private_dir(&settings.dir)?;
            shelf::finish_parts(&settings.dir)?;
        }
        let (jobs, waiting) = sync_channel(JOBS_MAX);
        let mut disk = Disk::new(settings.clone(), clocks.clone());
        let writer = Writer::spawn("recordings", move || disk.run(&waiting))?;
        let recordings = Self { settings, clocks, reels: Mutex::default(), jobs: jobs.clone() };
        Ok((Arc::new(recordings), RecordingsThread { jobs, writer }))
    }

    /// Returns the finished recordings.
    pub(crate) fn shelf(&self) -> Shelf {
        Shelf::new(&self.settings.dir)
    }

    fn reels(&self) -> MutexGuard<'_, Reels> {
        self.reels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a job to the thread. Returns `false` if it is too far behind.
    fn send(&self, room: &RoomCode, job: Job) -> bool {
        let is_sent = self.jobs.try_send(job).is_ok();
        if !is_sent {
            tracing::warn!(
                name: "recording_slow",
                %room,
                "the disk is too slow to record; the recording ended, and the game goes on"
            );
        }
        is_sent
    }

    /// Begins a file with everything of the recording that is in memory.
    fn begin(&self, room: &RoomCode, reels: &mut Reels) {
        let Some(reel) = reels.rooms.get_mut(room) else { return };
        reels.last.0 += 1;
        let id = reels.last;
        let time = date(self.clocks.unix());
        let time: String = time.trim_end_matches(" UTC").replace(' ', "-").replace(':', "");
        let stem = format!("{time}-{room}");
        reel.has_failed = !self.send(room, Job::Begin { id, stem, start: reel.start.clone() });
        if reel.has_failed {
            return;
        }
        reel.file = Some(id);
        let chunks: Vec<_> = reel.chunks.iter().cloned().collect();
        for chunk in chunks {
            self.append(room, reels, chunk);
        }
    }

    /// Adds a chunk to a room's file, or ends it if the thread is too far behind.
    fn append(&self, room: &RoomCode, reels: &mut Reels, chunk: Vec<u8>) {
        let Some(reel) = reels.rooms.get_mut(room) else { return };
        let Some(id) = reel.file else { return };
        if !self.send(room, Job::Append { id, chunk }) {
            (reel.file, reel.has_failed) = (None, true);
            reels.unended.push(id);
        }
    }

    /// Tells the thread which files have ended, as far as it has time.
    fn end_files(&self, reels: &mut Reels) {
        let is_told = |id: &mut Id| self.jobs.try_send(Job::End { id: *id }).is_ok();
        while reels.unended.pop_if(is_told).is_some() {}
    }
}

impl Archive for Recordings {
    fn archive(&self, room: &RoomCode, piece: Piece, people: usize) {
        let mut reels = self.reels();
        let reels = &mut *reels;
        self.end_files(reels);
        let reel = reels.rooms.entry(room.clone()).or_default();
        let chunk = match piece {
            Piece::Start(start) => {
                let before = std::mem::replace(reel, Reel { start, ..Reel::default() });
                reels.unended.extend(before.file);
                self.end_files(reels);
                return;
            }
            Piece::Chunk(chunk) => chunk,
        };
        reel.bytes += chunk.len();
        reel.chunks.push_back(chunk.clone());
        let is_wanted = match self.settings.mode {
            RecordMode::Off => false,
            RecordMode::Rounds => people > 0,
            RecordMode::Always => true,
        };
        if reel.file.is_some() {
            self.append(room, reels, chunk);
        } else if is_wanted && !reel.has_failed {
            self.begin(room, reels);
        }
        let Some(reel) = reels.rooms.get_mut(room) else { return };
        while reel.bytes > RING_BYTES_MAX || reel.chunks.len() > RING_CHUNKS {
            reel.bytes -= reel.chunks.pop_front().map_or(reel.bytes, |oldest| oldest.len());
        }
    }

    fn end(&self, room: &RoomCode) {
        let mut reels = self.reels();
        let reel = reels.rooms.remove(room);
        reels.unended.extend(reel.and_then(|reel| reel.file));
        self.end_files(&mut reels);
    }
}

impl RecordingsThread {
    /// Whether the thread has ended, which it never does by itself.
    pub(crate) fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        self.writer.watch()
    }

    /// Writes what is left, and ends the thread. Returns false if it has panicked or is stuck.
    pub(crate) fn end(self) -> bool {
        self.writer.end(|| self.jobs.try_send(Job::Stop).is_ok())
    }
}

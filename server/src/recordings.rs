//! Recordings of rooms as files.
//!
//! The rooms' threads hand in the pieces of their recordings. The last minutes of each room stay in
//! memory. A separate thread writes ([`disk`]); its queue is bounded, so a slow or full disk ends a
//! recording but delays no room.
//!
//! A file tells what its round hides. So its name ends in `.part`, and the administration does not
//! hand it out, until the round is over and spectators have seen its end.

mod catalogue;
mod disk;
mod settings;
mod shelf;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phaselock::replay::Piece;
use phaselock::server::Secrecy;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::server::{Archive, Recorded, RecordingEnd};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

pub(crate) use self::catalogue::{Catalogue, Label, Shelved};
use self::disk::{Disk, Failure, Id, Job};
pub(crate) use self::settings::{FOLDER, Recording};
use crate::clocks::Clocks;
use crate::config::RecordMode;
use crate::time::date;
use crate::writer::Writer;

/// Number of jobs that wait for the thread: a chunk of each of 256 rooms, and as many again.
const JOBS_MAX: usize = 512;
/// Maximum bytes in memory for each room.
const RING_BYTES_MAX: usize = 6 << 20;
/// Chunks of each room that stay in memory: five minutes. A round whose first player comes late is
/// recorded from that far back.
const RING_CHUNKS: usize = 30;

/// The maximum number of files of a room that wait for the end of its round, each of which is open.
/// Arbitrary: enough for one a minute in a long round.
const HELD_MAX: usize = 30;

/// Time for which a listing waits for the one before. Less than the time that a request has.
const LIST_WAIT: Duration = Duration::from_secs(5);

/// One room's recording.
#[derive(Debug)]
struct Reel {
    start: Arc<Piece>,
    /// The last chunks, oldest first.
    chunks: VecDeque<Arc<Piece>>,
    bytes: usize,
    file: Option<Id>,
    failure: Failure,
    /// Whether the last chunks are written to a file of their own once the present one ends.
    is_asked_for: bool,
    /// What the room hid at the beginning and at the end of the last chunk.
    secrecy: [Secrecy; 2],
}

impl Reel {
    fn new(start: Piece, secrecy: Secrecy) -> Self {
        let (chunks, secrecy) = (VecDeque::new(), [secrecy; 2]);
        let (start, failure) = (Arc::new(start), Failure::default());
        Self { start, chunks, bytes: 0, file: None, failure, is_asked_for: false, secrecy }
    }

    /// Returns the file to which it is being written.
    fn growing(&self) -> Option<Id> {
        self.file.filter(|_| self.failure.get().is_none())
    }

    /// Ends it for a disk that is too slow.
    fn give_up(&mut self) {
        self.file = None;
        let _ = self.failure.set("the disk is too slow".to_owned());
    }

    /// Returns why it is not being written to a file, if it is not.
    fn unwritten(&self, mode: RecordMode) -> Option<String> {
        match (self.failure.get(), self.file, mode) {
            (Some(why), ..) => Some(format!("the recording failed: {why}")),
            (None, Some(_), _) => None,
            (None, None, RecordMode::Rounds) => {
                Some("a file begins within seconds once someone is there".to_owned())
            }
            (None, None, RecordMode::Memory) => {
                Some("only its last minutes are kept; ctl save-replay writes them".to_owned())
            }
            (None, None, _) => Some("its file has not begun yet".to_owned()),
        }
    }

    fn push(&mut self, chunk: Arc<Piece>) {
        let length = |piece: &Piece| match piece {
            Piece::Start(bytes) | Piece::Chunk(bytes) => bytes.len(),
        };
        self.bytes += length(&chunk);
        self.chunks.push_back(chunk);
        while self.bytes > RING_BYTES_MAX || self.chunks.len() > RING_CHUNKS {
            let oldest = self.chunks.pop_front();
            self.bytes -= oldest.map_or(self.bytes, |oldest| length(&oldest));
        }
    }
}

/// Ended files that still tell what a running round of their room hides.
#[derive(Debug, Default)]
struct Held {
    files: Vec<Id>,
    /// The running round; `None` before the room that continues it has recorded anything.
    round: Option<u32>,
}

/// The recordings of all rooms, in memory.
#[derive(Debug, Default)]
struct Reels {
    rooms: BTreeMap<RoomCode, Reel>,
    held: BTreeMap<RoomCode, Held>,
    last: Id,
    /// Ends of files of which the thread could not be told yet, oldest first.
    late: VecDeque<Job>,
}

impl Reels {
    /// Ends a room's file. If its round runs on, it is held back.
    fn end(&mut self, room: &RoomCode, file: Option<Id>, secrecy: Secrecy, runs_on: bool) {
        let Some(id) = file else { return };
        self.late.push_back(Job::End { id });
        if runs_on {
            let held = self.held.entry(room.clone()).or_default();
            held.files.push(id);
            held.round = secrecy.round;
        } else {
            self.late.push_back(Job::Offer { id, after: delay(secrecy) });
        }
    }

    /// Offers what was held back of a room's former rounds.
    fn offer(&mut self, room: &RoomCode, secrecy: Secrecy) {
        let Some(held) = self.held.get_mut(room) else { return };
        if held.round.is_none() && secrecy.round.is_some() {
            held.round = secrecy.round;
        } else if held.round != secrecy.round || secrecy.round.is_none() {
            self.offer_all(room, secrecy);
        }
    }

    fn offer_all(&mut self, room: &RoomCode, secrecy: Secrecy) {
        let held = self.held.remove(room).unwrap_or_default();
        let after = delay(secrecy);
        self.late.extend(held.files.into_iter().map(|id| Job::Offer { id, after }));
    }
}

/// Time after which spectators have seen what a recording tells.
fn delay(secrecy: Secrecy) -> Duration {
    Duration::from_micros(u64::try_from(secrecy.watch_delay.0).unwrap_or(0))
}

/// The recordings of all rooms.
#[derive(Debug)]
pub(crate) struct Recordings {
    settings: Recording,
    clocks: Clocks,
    reels: Mutex<Reels>,
    jobs: SyncSender<Job>,
    catalogue: Arc<AsyncMutex<Catalogue>>,
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct RecordingsThread {
    jobs: SyncSender<Job>,
    writer: Writer,
}

impl Recordings {
    /// Takes over the files of the server before, and starts the thread that writes. `stored` are
    /// the rooms whose games continue: their last files are held back until the round is over.
    pub(crate) fn open(
        settings: Recording,
        clocks: Clocks,
        stored: &[RoomCode],
    ) -> io::Result<(Arc<Self>, RecordingsThread)> {
        let (jobs, waiting) = sync_channel(JOBS_MAX);
        let mut disk = Disk::new(settings.clone(), clocks.clone());
        let mut reels = Reels::default();
        for (room, path, file) in shelf::take_parts(&settings, &clocks, stored) {
            reels.last.0 += 1;
            disk.adopt(reels.last, path, file);
            reels.held.entry(room).or_default().files.push(reels.last);
        }
        let writer = Writer::spawn("recordings", move || disk.run(&waiting))?;
        let recordings = Self::new(settings, clocks, reels, jobs.clone());
        Ok((Arc::new(recordings), RecordingsThread { jobs, writer }))
    }

    fn new(settings: Recording, clocks: Clocks, reels: Reels, jobs: SyncSender<Job>) -> Self {
        let catalogue = Arc::new(AsyncMutex::new(Catalogue::new(settings.dir.clone())));
        Self { settings, clocks, reels: Mutex::new(reels), jobs, catalogue }
    }

    /// Returns the rooms (or of one room, whether it) whose recording is only in memory, and why.
    pub(crate) fn unwritten(&self, room: Option<&RoomCode>) -> Vec<(RoomCode, String)> {
        let reels = self.reels();
        let asked = reels.rooms.iter().filter(|(code, _)| room.is_none_or(|room| room == *code));
        let why = |reel: &Reel| reel.unwritten(self.settings.mode);
        asked.filter_map(|(code, reel)| Some((code.clone(), why(reel)?))).collect()
    }

    /// Saves the last minutes of a room, or of all rooms, to files once the present chunk ends:
    /// within ten seconds, unless the room sleeps (see [`save_waiting`](Self::save_waiting)).
    /// Leaves out rooms whose recording is being written anyway, and rooms of which [`HELD_MAX`]
    /// files already wait for the end of a round. Returns the rooms, and what each hides.
    pub(crate) fn save(&self, room: Option<&RoomCode>) -> Vec<(RoomCode, Secrecy)> {
        let mut reels = self.reels();
        let Reels { rooms, held, .. } = &mut *reels;
        let has_place = |code| held.get(code).is_none_or(|held| held.files.len() < HELD_MAX);
        let asked = rooms.iter_mut().filter(|(code, reel)| {
            room.is_none_or(|room| room == *code) && reel.growing().is_none() && has_place(code)
        });
        let asked = asked.map(|(code, reel)| {
            reel.is_asked_for = true;
            (code.clone(), reel.secrecy[1])
        });
        asked.collect()
    }

    /// Saves the last minutes of rooms that were asked for, and whose present chunk does not end,
    /// since they sleep.
    pub(crate) fn save_waiting(&self) {
        let mut reels = self.reels();
        let waits = |reel: &Reel| reel.is_asked_for && !reel.chunks.is_empty();
        let waiting = reels.rooms.iter().filter(|(_, reel)| waits(reel));
        let waiting: Vec<_> = waiting.map(|(code, _)| code.clone()).collect();
        for room in &waiting {
            self.save_last(room, &mut reels);
        }
    }

    /// Returns the list of finished recordings, once no one else is reading it. `None` if that
    /// takes longer than [`LIST_WAIT`], as on a disk that hangs.
    pub(crate) async fn catalogue(&self) -> Option<OwnedMutexGuard<Catalogue>> {
        let free = Arc::clone(&self.catalogue).lock_owned();
        tokio::time::timeout(LIST_WAIT, free).await.ok()
    }

    /// Returns the path of a finished recording; `None` if there is none of this name.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        shelf::path(&self.settings.dir, name)
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
                "the disk is too slow to write this recording; the game goes on"
            );
        }
        is_sent
    }

    /// Begins a file with the part of a recording that is in memory. Returns `None` if the thread
    /// is too far behind.
    fn begin(&self, room: &RoomCode, reels: &mut Reels, failure: Failure) -> Option<Id> {
        let reel = reels.rooms.get_mut(room)?;
        reel.is_asked_for = false;
        reels.last.0 += 1;
        let id = reels.last;
        let time = date(self.clocks.unix());
        let time: String = time.trim_end_matches(" UTC").replace(' ', "-").replace(':', "");
        // Codes of rooms have no underscores.
        let stem = match &self.settings.owner {
            Some(owner) => format!("{time}_{room}_{owner}"),
            None => format!("{time}_{room}"),
        };
        let pieces = [&reel.start].into_iter().chain(&reel.chunks).cloned().collect();
        self.send(room, Job::Begin { id, stem, pieces, failure }).then_some(id)
    }

    /// Begins the file of a room's recording.
    fn record(&self, room: &RoomCode, reels: &mut Reels) {
        let Some(failure) = reels.rooms.get(room).map(|reel| Arc::clone(&reel.failure)) else {
            return;
        };
        let file = self.begin(room, reels, failure);
        let Some(reel) = reels.rooms.get_mut(room) else { return };
        match file {
            Some(_) => reel.file = file,
            None => reel.give_up(),
        }
    }

    /// Writes the part of a recording that is in memory to a file of its own, which is held back
    /// until the end of a running round. Does not resume a recording that has failed.
    fn save_last(&self, room: &RoomCode, reels: &mut Reels) {
        let Some(secrecy) = reels.rooms.get(room).map(|reel| reel.secrecy[1]) else { return };
        let file = self.begin(room, reels, Failure::default());
        if let Some(reel) = reels.rooms.get_mut(room) {
            // With the next chunk, the disk may be faster.
            reel.is_asked_for = file.is_none();
        }
        reels.end(room, file, secrecy, secrecy.round.is_some());
        self.send_late(reels);
    }

    /// Adds a chunk to a room's file, or ends it if the thread is too far behind.
    fn append(&self, room: &RoomCode, reels: &mut Reels, id: Id, chunk: Arc<Piece>) {
        if self.send(room, Job::Append { id, chunk }) {
            return;
        }
        let Some(reel) = reels.rooms.get_mut(room) else { return };
        reel.give_up();
        let secrecy = reel.secrecy[1];
        reels.end(room, Some(id), secrecy, secrecy.round.is_some());
    }

    /// Tells the thread which files have ended, as far as it has time.
    fn send_late(&self, reels: &mut Reels) {
        while let Some(job) = reels.late.front()
            && self.jobs.try_send(job.clone()).is_ok()
        {
            reels.late.pop_front();
        }
    }
}

impl Archive for Recordings {
    fn archive(&self, room: &RoomCode, piece: Piece, recorded: Recorded) {
        let Recorded { people, secrecy } = recorded;
        let mut reels = self.reels();
        let reels = &mut *reels;
        reels.offer(room, secrecy);
        self.send_late(reels);
        if matches!(piece, Piece::Start(_)) {
            if let Some(reel) = reels.rooms.insert(room.clone(), Reel::new(piece, secrecy)) {
                // If no round ended in its last chunk, it was cut because it was long.
                let [begun, ended] = reel.secrecy;
                let runs_on = begun.round.is_some() && begun.round == ended.round;
                reels.end(room, reel.file, secrecy, runs_on);
                self.send_late(reels);
            }
            return;
        }
        let Some(reel) = reels.rooms.get_mut(room) else { return };
        reel.secrecy = [reel.secrecy[1], secrecy];
        let chunk = Arc::new(piece);
        reel.push(Arc::clone(&chunk));
        let is_wanted = match self.settings.mode {
            RecordMode::Off | RecordMode::Memory => false,
            RecordMode::Rounds => people > 0,
            RecordMode::Always => true,
        };
        match reel.growing() {
            Some(id) => self.append(room, reels, id, chunk),
            None if is_wanted && reel.failure.get().is_none() => self.record(room, reels),
            None if reel.is_asked_for => self.save_last(room, reels),
            None => {}
        }
    }

    fn end(&self, room: &RoomCode, end: RecordingEnd) {
        let mut reels = self.reels();
        let reels = &mut *reels;
        if let Some(reel) = reels.rooms.remove(room) {
            let secrecy = reel.secrecy[1];
            match end {
                RecordingEnd::Interrupted => reels.end(room, reel.file, secrecy, true),
                RecordingEnd::GameOver => {
                    reels.end(room, reel.file, secrecy, false);
                    reels.offer_all(room, secrecy);
                }
            }
        }
        self.send_late(reels);
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

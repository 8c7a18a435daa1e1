//! Rooms saved as files, so that a server that was killed can resume them.
//!
//! Each room has its own file in `rooms/` of the data directory, which is replaced atomically. A
//! separate thread writes. If a room is saved again before it was written, only the newer state is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use phaselock::filename::is_device;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::server::Keeper;
use ring::digest::{SHA256, digest};

use crate::clocks::Clocks;
use crate::data_dir;
use crate::writer::Writer;

/// First bytes of a file.
const MAGIC: [u8; 8] = *b"phl-room";
/// Bytes before the checkpoint: magic, Unix time in seconds, whether the room is open, SHA-256.
const HEAD_BYTES: usize = 8 + 8 + 1 + 32;
/// Maximum bytes of a file: far more than the largest world needs.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Maximum seconds by which the clock may have been set back since a room was saved.
const SET_BACK_MAX: i64 = 86_400;
/// Time until a failed write or removal is retried. Arbitrary.
const RETRY: Duration = Duration::from_secs(1);
/// Number of jobs beyond which a failed one is dropped. Strangers choose the codes of rooms, so
/// jobs of rooms that are gone must not accumulate. Arbitrary.
const WAITING_MAX: usize = 4096;
/// Extension of a room's file.
const END: &str = "room";
/// Extension of a file that was set aside.
const ASIDE: &str = "damaged";

/// A job for a room's file.
#[derive(Debug)]
enum Job {
    Write { is_open: bool, checkpoint: Vec<u8> },
    Remove,
}

#[derive(Debug, Default)]
struct Jobs {
    /// The newest job for each room, and the earliest time for it if it has failed before.
    waiting: BTreeMap<RoomCode, (Job, Option<Instant>)>,
    ends: bool,
    /// Rooms whose file could not be written or removed, and why.
    unkept: BTreeMap<RoomCode, String>,
    /// Failed attempts since the start.
    errors: u64,
}

impl Jobs {
    /// Takes a job that is due; when the thread ends, all are due.
    fn take_due(&mut self, now: Instant) -> Option<(RoomCode, Job)> {
        let is_due = |at: &Option<Instant>| self.ends || at.is_none_or(|at| at <= now);
        let code = self.waiting.iter().find(|(_, (_, at))| is_due(at))?.0.clone();
        let (job, _) = self.waiting.remove(&code)?;
        Some((code, job))
    }

    /// Returns when the next failed job is due.
    fn retry_at(&self) -> Option<Instant> {
        self.waiting.values().filter_map(|(_, at)| *at).min()
    }

    /// Records a failure, and puts the job back unless there is a newer one for the room.
    fn put_back(&mut self, code: RoomCode, job: Job, error: &io::Error) {
        self.errors += 1;
        if self.waiting.len() >= WAITING_MAX && !self.waiting.contains_key(&code) {
            self.unkept.remove(&code);
            return;
        }
        self.unkept.insert(code.clone(), error.to_string());
        if !self.ends {
            self.waiting.entry(code).or_insert((job, Some(Instant::now() + RETRY)));
        }
    }
}

/// How well rooms are being saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeepingHealth {
    /// Number of rooms whose latest state could not be saved.
    pub unkept: usize,
    /// Failed attempts since the start.
    pub errors: u64,
    /// What is wrong, in a sentence, if anything is.
    pub problem: Option<String>,
}

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    clocks: Clocks,
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

/// Checkpoints of rooms, each with whether the room is open.
type StoredRooms = BTreeMap<RoomCode, (bool, Vec<u8>)>;

/// The saved rooms.
#[derive(Clone, Debug)]
pub(crate) struct Worlds {
    shared: Arc<Shared>,
    /// Rooms of the previous run, until they are taken.
    kept: Arc<Mutex<StoredRooms>>,
}

impl Worlds {
    /// Loads the rooms that were saved in a data directory within the last `secs_max` seconds.
    /// Older ones are removed, since their players can no longer resume. Starts the thread that
    /// writes.
    pub(crate) fn open(
        data_dir: &Path,
        secs_max: u32,
        clocks: Clocks,
    ) -> io::Result<(Self, WorldsThread)> {
        let directory = data_dir.join(data_dir::ROOMS_DIR);
        data_dir::make_private_dir(&directory)?;
        let mut kept = BTreeMap::new();
        let mut old = BTreeSet::new();
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            match code_of(&path) {
                Some(code) => match read(&path, clocks.unix(), secs_max) {
                    Ok(room) => drop(kept.insert(code, room)),
                    // A room that seems old only by an unsure date stays until it is opened.
                    Err(Unusable::Old) if !clocks.is_sure() => {}
                    Err(Unusable::Old) => drop(old.insert(path)),
                    Err(Unusable::Damaged(problem)) => set_aside(&path, problem),
                },
                // A partial file of a server that was killed while writing.
                None if path.extension().is_some_and(|end| end == "new") => drop(old.insert(path)),
                // Not the server's file.
                None => {}
            }
        }
        for path in old {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(
                    name: "room_file_stuck",
                    file = %path.display(),
                    %error,
                    "cannot remove the file of an old room"
                );
            }
        }
        let (jobs, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { directory, clocks, jobs, changed });
        let written = Arc::clone(&shared);
        let writer = Writer::spawn("worlds", move || written.run())?;
        let worlds = Self { shared: Arc::clone(&shared), kept: Arc::new(Mutex::new(kept)) };
        Ok((worlds, WorldsThread { shared, writer }))
    }
}

/// Returns the name of a room's file. If the code is a device's name on Windows, the name begins
/// with an underscore, which no code has.
fn file_name(code: &RoomCode) -> String {
    let mark = if is_device(code.as_str()) { "_" } else { "" };
    format!("{mark}{code}.{END}")
}

/// Returns the code of the room with this file; `None` if no room's file has this name.
fn code_of(path: &Path) -> Option<RoomCode> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(END)?.strip_suffix('.')?;
    let code: RoomCode = stem.strip_prefix('_').unwrap_or(stem).parse().ok()?;
    (name == file_name(&code)).then_some(code)
}

/// Why a room starts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unusable {
    /// Its players can no longer resume.
    Old,
    /// The file is not as a server wrote it; the text says why.
    Damaged(&'static str),
}

/// Returns whether the room is open, and its checkpoint, from an intact and recent file.
fn read(path: &Path, now: i64, secs_max: u32) -> Result<(bool, Vec<u8>), Unusable> {
    let size = fs::metadata(path).map(|it| it.len()).unwrap_or(u64::MAX);
    let bytes = (size <= FILE_BYTES_MAX).then(|| fs::read(path).ok()).flatten();
    let bytes = bytes.ok_or(Unusable::Damaged("cannot be read"))?;
    let split = bytes.split_at_checked(HEAD_BYTES);
    let (head, checkpoint) = split.ok_or(Unusable::Damaged("is cut off"))?;
    let (magic, rest) = head.split_at(8);
    let (time, rest) = rest.split_at(8);
    let (is_open, hash) = rest.split_at(1);
    if magic != MAGIC || digest(&SHA256, checkpoint).as_ref() != hash {
        return Err(Unusable::Damaged("is damaged"));
    }
    let time = time.try_into().map_or(0, i64::from_le_bytes);
    let age = now - time;
    let is_young = (-SET_BACK_MAX..=i64::from(secs_max)).contains(&age);
    is_young.then(|| (is_open != [0], checkpoint.to_vec())).ok_or(Unusable::Old)
}

/// Renames an invalid file, for people to examine. The next one of that code replaces it.
fn set_aside(path: &Path, problem: &str) {
    let aside = path.with_extension(ASIDE);
    let renamed = fs::rename(path, &aside);
    tracing::warn!(
        name: "room_kept_invalid",
        file = %path.display(),
        problem,
        aside = %aside.display(),
        error = renamed.err().map(tracing::field::display),
        "a saved room is damaged and was set aside; its game starts over"
    );
}

impl Shared {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        loop {
            let (code, job) = {
                let mut jobs = self.jobs();
                loop {
                    let now = Instant::now();
                    if let Some(job) = jobs.take_due(now) {
                        break job;
                    }
                    if jobs.ends {
                        return;
                    }
                    let until = |at: Instant| at.saturating_duration_since(now);
                    let timeout = jobs.retry_at().map_or(Duration::MAX, until);
                    let waited = self.changed.wait_timeout(jobs, timeout);
                    jobs = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            };
            let path = self.directory.join(file_name(&code));
            let done = match &job {
                Job::Write { is_open, checkpoint } => self.write(&path, *is_open, checkpoint),
                Job::Remove => match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                },
            };
            self.note(code, job, done);
        }
    }

    /// Records the result of a job. Logs the first of several failures, and the recovery.
    fn note(&self, code: RoomCode, job: Job, done: io::Result<()>) {
        let mut jobs = self.jobs();
        let had_failed = !jobs.unkept.is_empty();
        match done {
            Err(error) => {
                jobs.put_back(code.clone(), job, &error);
                drop(jobs);
                if !had_failed {
                    tracing::error!(
                        name: "room_keep_failed",
                        %error,
                        %code,
                        "cannot save the room for the next start"
                    );
                }
            }
            Ok(()) => {
                jobs.unkept.remove(&code);
                let is_well = jobs.unkept.is_empty();
                drop(jobs);
                if had_failed && is_well {
                    tracing::info!(name: "room_keep_recovered", %code, "all rooms are saved again");
                }
            }
        }
    }

    /// Replaces a file atomically: after a kill there is the old one or the new one. It does not
    /// wait for the disk, so after a loss of power the file may be damaged, which is detected.
    fn write(&self, path: &Path, is_open: bool, checkpoint: &[u8]) -> io::Result<()> {
        let new = path.with_extension("new");
        let mut file = match fs::File::create(&new) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // The directory was removed.
                data_dir::make_private_dir(&self.directory)?;
                fs::File::create(&new)?
            }
            file => file?,
        };
        file.write_all(&MAGIC)?;
        file.write_all(&self.clocks.unix().to_le_bytes())?;
        file.write_all(&[u8::from(is_open)])?;
        file.write_all(digest(&SHA256, checkpoint).as_ref())?;
        file.write_all(checkpoint)?;
        drop(file);
        fs::rename(&new, path)
    }

    fn give(&self, room: &RoomCode, job: Job) {
        let mut jobs = self.jobs();
        jobs.waiting.insert(room.clone(), (job, None));
        self.changed.notify_all();
    }
}

impl Worlds {
    /// Returns how well rooms are being saved.
    pub(crate) fn health(&self) -> KeepingHealth {
        let jobs = self.shared.jobs();
        let problem = jobs.unkept.iter().next().map(|(code, why)| {
            let others = match jobs.unkept.len() - 1 {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            format!(
                "room {code}{others} cannot be saved ({why}); after a crash it resumes from its \
                 last saved state"
            )
        });
        KeepingHealth { unkept: jobs.unkept.len(), errors: jobs.errors, problem }
    }
}

impl Keeper for Worlds {
    fn stored_rooms(&self) -> Vec<(RoomCode, bool)> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|(code, (is_open, _))| (code.clone(), *is_open)).collect()
    }

    fn take(&self, room: &RoomCode) -> Option<Vec<u8>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(room).map(|(_, checkpoint)| checkpoint)
    }

    fn keep(&self, room: &RoomCode, is_open: bool, checkpoint: Vec<u8>) {
        self.shared.give(room, Job::Write { is_open, checkpoint });
    }

    fn forget(&self, room: &RoomCode) {
        self.shared.give(room, Job::Remove);
    }
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct WorldsThread {
    shared: Arc<Shared>,
    writer: Writer,
}

impl WorldsThread {
    /// Whether the thread has ended, which it never does by itself.
    pub(crate) fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        self.writer.watch()
    }

    /// Writes what is left, and ends the thread. Returns false if it has panicked or is stuck.
    pub(crate) fn end(self) -> bool {
        self.writer.end(|| {
            self.shared.jobs().ends = true;
            self.shared.changed.notify_all();
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::PATIENCE;

    fn code(text: &str) -> RoomCode {
        text.parse().expect("it is a code")
    }

    /// Longer than any test takes: no room becomes too old.
    const SECS: u32 = 3600;

    fn until(worlds: &Worlds, what: &str, is_so: impl Fn(&KeepingHealth) -> bool) -> KeepingHealth {
        let begun = Instant::now();
        while !is_so(&worlds.health()) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {:?}", worlds.health());
            std::thread::sleep(Duration::from_millis(2));
        }
        worlds.health()
    }

    #[test]
    fn rooms_are_saved_whole_or_not_at_all() {
        let dir = tempfile::tempdir().expect("a directory");
        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        assert_eq!(worlds.stored_rooms(), []);
        worlds.keep(&code("1"), true, vec![1; 1000]);
        worlds.keep(&code("1"), true, vec![2; 1000]);
        worlds.keep(&code("friday"), false, vec![3; 10]);
        worlds.keep(&code("aux"), true, vec![5; 10]);
        worlds.keep(&code("gone"), false, vec![4; 10]);
        worlds.forget(&code("gone"));
        assert!(thread.end());

        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        let rooms = [("1", true), ("aux", true), ("friday", false)];
        assert_eq!(worlds.stored_rooms(), rooms.map(|(it, is_open)| (code(it), is_open)));
        assert_eq!(worlds.take(&code("1")), Some(vec![2; 1000]));
        assert_eq!(worlds.take(&code("1")), None, "once");
        assert!(thread.end());

        // Damaged, truncated, partial, and under a name that the server never writes or removes.
        let path = |name: &str| dir.path().join("rooms").join(name);
        // Some versions of Windows take the first for a device.
        let others: &[_] =
            if cfg!(windows) { &["_monday.room"] } else { &["_monday.room", "con.room"] };
        for other in others {
            fs::copy(path("friday.room"), path(other)).expect("it can be written");
        }
        let mut bytes = fs::read(path("1.room")).expect("it is there");
        bytes[HEAD_BYTES + 3] ^= 1;
        fs::write(path("1.room"), bytes).expect("it can be written");
        fs::write(path("2.room"), b"phl").expect("it can be written");
        fs::write(path("3.new"), b"phl-room").expect("it can be written");
        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        assert_eq!(worlds.stored_rooms(), [(code("aux"), true), (code("friday"), false)]);
        assert!(thread.end());
        let names = fs::read_dir(path("")).expect("a directory").filter_map(Result::ok);
        let mut names: Vec<_> = names.map(|it| it.file_name()).collect();
        names.sort();
        assert!(others.iter().all(|other| names.iter().any(|name| name == *other)));
        names.retain(|name| others.iter().all(|other| name != *other));
        assert_eq!(names, ["1.damaged", "2.damaged", "_aux.room", "friday.room"]);
    }

    #[test]
    fn failed_saves_are_reported_until_they_succeed() {
        let dir = tempfile::tempdir().expect("a directory");
        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        assert_eq!(worlds.health(), KeepingHealth::default());
        // A directory in place of the file simulates a disk that refuses writes.
        for room in ["1", "2"] {
            fs::create_dir_all(dir.path().join("rooms").join(room).with_extension("new"))
                .expect("a directory");
            worlds.keep(&code(room), true, vec![1; 10]);
        }
        let health = until(&worlds, "two fail", |health| health.unkept == 2);
        let problem = health.problem.expect("a sentence");
        assert!(problem.starts_with("room 1 and 1 more cannot be saved ("), "{problem}");
        assert!(health.errors >= 2);
        // A successful save does not hide another room's failure.
        worlds.keep(&code("3"), true, vec![1; 10]);
        fs::remove_dir(dir.path().join("rooms").join("1.new")).expect("it is empty");
        worlds.keep(&code("1"), true, vec![1; 10]);
        let health = until(&worlds, "one is left", |health| health.unkept == 1);
        assert!(health.problem.is_some_and(|problem| problem.starts_with("room 2 cannot")));
        worlds.forget(&code("2"));
        let health = until(&worlds, "all are well", |health| health.unkept == 0);
        assert!(health.errors >= 2, "failures stay counted");
        assert_eq!(health.problem, None);
        assert!(thread.end());
    }

    #[test]
    fn failed_jobs_are_retried_unless_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let rooms = dir.path().join("rooms");
        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        worlds.keep(&code("1"), true, vec![1; 10]);
        worlds.keep(&code("2"), true, vec![1; 10]);
        until(&worlds, "both are kept", |_| {
            ["1.room", "2.room"].iter().all(|name| rooms.join(name).exists())
        });
        // Directories are put in the places of the files, and removed later.
        for name in ["1.room", "2.room"] {
            fs::remove_file(rooms.join(name)).expect("it is there");
            fs::create_dir(rooms.join(name)).expect("a directory");
        }
        worlds.forget(&code("1"));
        worlds.keep(&code("2"), true, vec![2; 10]);
        until(&worlds, "both fail", |health| health.unkept == 2);
        worlds.keep(&code("1"), true, vec![3; 10]);
        worlds.forget(&code("1"));
        for name in ["1.room", "2.room"] {
            fs::remove_dir(rooms.join(name)).expect("it is empty");
        }
        until(&worlds, "both are done", |health| health.unkept == 0);
        // The newest job of a room may still wait while an older one succeeds; the end completes
        // it.
        assert!(thread.end());
        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        assert_eq!(worlds.stored_rooms(), [(code("2"), true)], "room 1 was forgotten last");
        assert_eq!(worlds.take(&code("2")), Some(vec![2; 10]));
        assert!(thread.end());
    }

    #[test]
    fn jobs_that_always_fail_do_not_accumulate() {
        let mut jobs = Jobs::default();
        let error = io::Error::from(io::ErrorKind::StorageFull);
        for room in 0..WAITING_MAX + 5 {
            jobs.put_back(code(&format!("room-{room}")), Job::Remove, &error);
        }
        assert_eq!((jobs.waiting.len(), jobs.unkept.len()), (WAITING_MAX, WAITING_MAX));
        assert!(jobs.take_due(Instant::now() - RETRY).is_none(), "none is due yet");
        assert!(jobs.take_due(Instant::now() + RETRY).is_some());
    }

    #[test]
    fn rooms_too_old_to_resume_are_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        worlds.keep(&code("1"), true, vec![1; 10]);
        assert!(thread.end());
        let path = dir.path().join("rooms").join("1.room");
        let mut bytes = fs::read(&path).expect("it is there");
        bytes[8..16]
            .copy_from_slice(&(Clocks::begin(None).unix() - i64::from(SECS) - 1).to_le_bytes());
        fs::write(&path, bytes).expect("it can be written");
        let (worlds, thread) =
            Worlds::open(dir.path(), SECS, Clocks::begin(None)).expect("it opens");
        assert_eq!(worlds.stored_rooms(), []);
        assert!(thread.end());
        assert!(!path.exists());
    }
}

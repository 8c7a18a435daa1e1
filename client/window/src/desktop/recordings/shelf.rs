//! The folder of recordings, which a thread of its own reads: its files, and for those in view the
//! header, the length and a picture.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::UNIX_EPOCH;

use phaselock::games::Games;
use phaselock::replay::{Replay, ReplayError, Summary};
use phaselock_quic::files::read_range;

use super::picture::Picture;
use crate::desktop::download::too_large;
use crate::desktop::replays::FILE_BYTES_MAX;
use crate::visit::minutes::END;

/// The maximum number of files that are listed: the newest. Arbitrary.
const FILES_MAX: usize = 20_000;
/// The maximum number of files whose contents are remembered: some screens full.
const FACTS_MAX: usize = 200;
/// The maximum number of files that the thread is asked about at a time, so that it soon comes to
/// those in view.
const ASKED_MAX: usize = 8;
/// Maximum size of a file that gets a picture, in bytes: an hour with 64 players. It is read whole.
const PICTURE_BYTES_MAX: u64 = 32 << 20;

/// A file in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// Unix time of the last change in seconds.
    pub(super) changed: i64,
}

impl Listed {
    /// Name of the file.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// What a file says about itself.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) summary: Summary,
    pub(super) picture: Option<Picture>,
}

/// What is known of a file: what it says, or why it cannot be read.
pub(super) type Known = Result<Facts, String>;

enum Job {
    Scan,
    Load(PathBuf),
    Delete(PathBuf),
}

enum Told {
    Files(Result<Vec<Listed>, String>),
    Loaded(PathBuf, Box<Known>),
    /// Why a file could not be deleted.
    Kept(String),
}

/// The folder, as far as it has been read.
pub(super) struct Shelf {
    jobs: Sender<Job>,
    told: Receiver<Told>,
    /// The files, newest first; `None` before the folder has been read.
    files: Option<Arc<[Listed]>>,
    /// Why the folder could not be read, or a file not be deleted.
    pub(super) problem: Option<String>,
    known: BTreeMap<PathBuf, Arc<Known>>,
    /// Files in the order in which they became known.
    order: VecDeque<PathBuf>,
    asked: Vec<PathBuf>,
}

impl Shelf {
    /// Starts to read a folder, which need not exist.
    ///
    /// # Errors
    ///
    /// There is no thread for it.
    pub(super) fn open(dir: PathBuf, games: Games) -> io::Result<Self> {
        let (jobs, waiting) = channel();
        let (tell, told) = channel();
        let work = move || serve((&dir, &games), &waiting, &tell);
        thread::Builder::new().name("recordings".to_owned()).spawn(work)?;
        let (files, problem, known) = (None, None, BTreeMap::new());
        let (order, asked) = (VecDeque::new(), Vec::new());
        let shelf = Self { jobs, told, files, problem, known, order, asked };
        shelf.send(Job::Scan);
        Ok(shelf)
    }

    /// Gives the thread something to do. It lives as long as this.
    fn send(&self, job: Job) {
        let _ = self.jobs.send(job);
    }

    /// Returns the files, newest first; `None` until the folder has been read.
    pub(super) fn files(&self) -> Option<Arc<[Listed]>> {
        self.files.clone()
    }

    /// Returns what is known of a file, or asks for it.
    pub(super) fn known(&mut self, path: &Path) -> Option<Arc<Known>> {
        let known = self.known.get(path).cloned();
        let is_asked = self.asked.iter().any(|it| it == path);
        if known.is_none() && !is_asked && self.asked.len() < ASKED_MAX {
            self.asked.push(path.to_owned());
            self.send(Job::Load(path.to_owned()));
        }
        known
    }

    /// Whether the folder has been read, and all that was asked for.
    #[cfg(test)]
    pub(super) fn is_settled(&self) -> bool {
        self.files.is_some() && self.asked.is_empty()
    }

    /// Deletes a file.
    pub(super) fn delete(&self, path: &Path) {
        self.send(Job::Delete(path.to_owned()));
        self.send(Job::Scan);
    }

    /// Takes what the thread has found out.
    pub(super) fn poll(&mut self) {
        while let Ok(told) = self.told.try_recv() {
            match told {
                Told::Files(Ok(files)) => self.files = Some(files.into()),
                Told::Files(Err(why)) => {
                    (self.files, self.problem) = (Some(Arc::default()), Some(why));
                }
                Told::Kept(why) => self.problem = Some(why),
                Told::Loaded(path, known) => {
                    self.asked.retain(|it| *it != path);
                    self.known.insert(path.clone(), Arc::new(*known));
                    self.order.push_back(path);
                    if self.order.len() > FACTS_MAX
                        && let Some(oldest) = self.order.pop_front()
                    {
                        self.known.remove(&oldest);
                    }
                }
            }
        }
    }
}

/// Does jobs until nobody wants to know.
fn serve((dir, games): (&Path, &Games), jobs: &Receiver<Job>, tell: &Sender<Told>) {
    while let Ok(job) = jobs.recv() {
        let told = match job {
            Job::Scan => Told::Files(scan(dir).map_err(|error| told(dir, &error))),
            Job::Load(path) => {
                let known = load(&path, games);
                Told::Loaded(path, Box::new(known))
            }
            Job::Delete(path) => match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Told::Kept(told(&path, &error))
                }
                _ => continue,
            },
        };
        if tell.send(told).is_err() {
            return;
        }
    }
}

fn told(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Returns the recordings in a folder, newest first.
fn scan(dir: &Path) -> io::Result<Vec<Listed>> {
    let entries = match fs::read_dir(dir) {
        // Nothing has been saved yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        // It may have been deleted meanwhile.
        let Ok(facts) = fs::metadata(&path) else { continue };
        if path.extension().is_none_or(|end| end != END) || !facts.is_file() {
            continue;
        }
        let changed = facts.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let changed = changed.and_then(|it| i64::try_from(it.as_secs()).ok()).unwrap_or(0);
        files.push(Listed { path, bytes: facts.len(), changed });
        if files.len() >= 2 * FILES_MAX {
            keep_newest(&mut files);
        }
    }
    keep_newest(&mut files);
    Ok(files)
}

fn keep_newest(files: &mut Vec<Listed>) {
    files.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| b.path.cmp(&a.path)));
    files.truncate(FILES_MAX);
}

/// Reads what a file says about itself, or why it cannot be played.
fn load(path: &Path, games: &Games) -> Known {
    let words = |error: io::Error| error.to_string();
    let file = File::open(path).map_err(words)?;
    let length = file.metadata().map_err(words)?.len();
    let summary = Summary::read(length, |range| read_range(&file, range)).map_err(words)?;
    games.get(&summary.header.game).map_err(|error| error.to_string())?;
    if length > FILE_BYTES_MAX {
        return Err(too_large(FILE_BYTES_MAX));
    }
    let replay = (length <= PICTURE_BYTES_MAX).then(|| whole(&file)).transpose()?;
    let picture = replay.as_ref().and_then(Picture::of);
    Ok(Facts { summary, picture })
}

/// Reads a recording that has at most [`PICTURE_BYTES_MAX`].
fn whole(file: &File) -> Result<Replay, String> {
    let bytes = read_range(file, 0..PICTURE_BYTES_MAX).map_err(|error| error.to_string())?;
    let replay = Replay::open(bytes).map_err(|error| error.to_string())?;
    let has_chunks = replay.span().is_some();
    has_chunks.then_some(replay).ok_or_else(|| ReplayError::Short.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant, SystemTime};

    use phaselock::server::{RecordConfig, Room, RoomConfig, RoomSettings};
    use phaselock::time::Tick;
    use phaselock_games::race::Race;
    use phaselock_testing::{file_of, record_until};

    use super::*;

    /// A recording of some seconds of a race with bots.
    fn recording(ticks: u64) -> Vec<u8> {
        let record = Some(RecordConfig::default());
        let settings = RoomSettings { bots: 3, ..RoomSettings::default() };
        let mut room = Room::<Race>::new(RoomConfig { record, settings, ..RoomConfig::default() });
        file_of(&record_until(&mut room, Tick(ticks), |_| ()))
    }

    /// Waits until the thread has told something.
    fn wait<T>(shelf: &mut Shelf, mut found: impl FnMut(&mut Shelf) -> Option<T>) -> T {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            shelf.poll();
            if let Some(found) = found(shelf) {
                return found;
            }
            assert!(Instant::now() < until, "the thread tells nothing");
            thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn files_are_listed_with_what_they_say_newest_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = recording(700);
        let last = Replay::open(whole.clone()).expect("it is one").chunks()[1].at as usize;
        let mut other = whole.clone();
        other[8 + 5 + 20] ^= 1;
        for (number, (name, bytes)) in [
            ("whole.plr", &whole[..]),
            ("cut.plr", &whole[..whole.len() - 30]),
            ("killed.plr", &whole[..last + 100]),
            ("damaged.plr", &other[..]),
            ("foreign.plr", &b"a text"[..]),
            ("notes.txt", &b"a text"[..]),
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(name);
            fs::write(&path, bytes).expect("written");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - number as u64);
            let file = File::options().write(true).open(&path).expect("written");
            file.set_modified(time).expect("set");
        }
        fs::create_dir(folder.path().join("folder.plr")).expect("made");
        let mut shelf =
            Shelf::open(folder.path().to_owned(), phaselock_games::all()).expect("a thread");
        let files = wait(&mut shelf, |it| it.files());
        let names: Vec<_> = files.iter().map(Listed::name).collect();
        assert_eq!(names, ["whole.plr", "cut.plr", "killed.plr", "damaged.plr", "foreign.plr"]);
        let mut known = |name: &str| {
            let path = folder.path().join(name);
            wait(&mut shelf, |it| it.known(&path))
        };
        let facts = known("whole.plr");
        let facts = facts.as_ref().as_ref().expect("it can be read");
        let summary = &facts.summary;
        assert_eq!((summary.header.game.as_str(), summary.secs()), ("race", Some(11)));
        assert_eq!(summary.people.len(), 3);
        assert!(facts.picture.as_ref().expect("cars move").visited() > 20);
        let cut = known("cut.plr");
        let cut = cut.as_ref().as_ref().expect("it can be read");
        assert_eq!(cut.summary.secs(), Some(11), "only the index is missing");
        let killed = known("killed.plr");
        let killed = killed.as_ref().as_ref().expect("it can be read");
        assert_eq!(killed.summary.secs(), Some(10), "the second chunk is cut off");
        let reason = |known: Arc<Known>| known.as_ref().as_ref().err().cloned();
        assert_eq!(reason(known("damaged.plr")).as_deref(), Some("the recording is damaged"));
        assert!(reason(known("foreign.plr")).expect("a reason").contains("not a recording"));
    }

    #[test]
    fn ten_thousand_files_cost_little_and_what_is_known_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..10_000 {
            fs::write(folder.path().join(format!("{number:05}.plr")), "no").expect("written");
        }
        let mut shelf =
            Shelf::open(folder.path().to_owned(), phaselock_games::all()).expect("a thread");
        let files = wait(&mut shelf, |it| it.files());
        assert_eq!(files.len(), 10_000);
        // As if the list were scrolled through.
        for rows in files[..1_000].chunks(20) {
            for row in rows {
                shelf.known(&row.path);
            }
            assert!(shelf.asked.len() <= ASKED_MAX);
            wait(&mut shelf, |it| it.asked.is_empty().then_some(()));
            assert!(shelf.known.len() <= FACTS_MAX && shelf.order.len() <= FACTS_MAX);
        }
    }

    #[test]
    fn files_are_deleted_and_a_missing_folder_is_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("none");
        let mut shelf = Shelf::open(missing, phaselock_games::all()).expect("a thread");
        assert!(wait(&mut shelf, |it| it.files()).is_empty());
        assert_eq!(shelf.problem, None);
        let path = folder.path().join("a.plr");
        fs::write(&path, "no").expect("written");
        let mut shelf =
            Shelf::open(folder.path().to_owned(), phaselock_games::all()).expect("a thread");
        assert_eq!(wait(&mut shelf, |it| it.files()).len(), 1);
        shelf.delete(&path);
        wait(&mut shelf, |it| it.files().filter(|files| files.is_empty()));
        assert!(!path.exists());
        // A folder in place of a file cannot be deleted so.
        fs::create_dir(&path).expect("made");
        shelf.delete(&path);
        let told = wait(&mut shelf, |it| it.problem.clone());
        assert!(told.contains("a.plr: "), "{told}");
    }
}

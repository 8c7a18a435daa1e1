//! Writes recordings into the player's folder, on a thread of its own.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread::{self, JoinHandle};

use phaselock_quic::private;
use phaselock_ui::words::{fill, tr};

/// The maximum number of files that share a name but for a number. Arbitrary.
const NAMES_MAX: u32 = 1000;
/// The maximum number of recordings that wait to be written. Arbitrary: each is in memory.
const WAITING_MAX: usize = 64;

/// What has become of a recording: the path of its file, or why there is none.
pub(super) type Saved = Result<String, String>;

/// Why a recording was not written.
enum Failure {
    /// It never reached the thread, for this reason.
    Refused(String),
    /// The folder cannot be written. The thread does not know the player's language.
    Io(io::Error),
}

/// The writer of recordings.
pub(super) struct Saver {
    dir: Option<PathBuf>,
    tell: Sender<Result<String, Failure>>,
    told: Receiver<Result<String, Failure>>,
    /// The thread, from the first recording on, and what it is to write.
    writer: Option<(SyncSender<File>, JoinHandle<()>)>,
}

/// Name and content of a recording.
type File = (String, Vec<u8>);

impl Saver {
    pub(super) fn new(dir: Option<PathBuf>) -> Self {
        let (tell, told) = channel();
        Self { dir, tell, told, writer: None }
    }

    /// Writes a recording, under this name or one with a number.
    pub(super) fn save(&mut self, name: String, bytes: Vec<u8>) {
        if let Err(why) = self.pass((name, bytes)) {
            // The receiver lives as long as this.
            let _ = self.tell.send(Err(Failure::Refused(why)));
        }
    }

    /// Passes a recording to the thread, which is started if there is none.
    fn pass(&mut self, file: File) -> Result<(), String> {
        let Some(dir) = &self.dir else {
            return Err(tr("your data folder was not found").to_owned());
        };
        if self.writer.is_none() {
            let (files, waiting) = sync_channel(WAITING_MAX);
            let (dir, tell) = (dir.clone(), self.tell.clone());
            let begun = thread::Builder::new().name("recordings".to_owned());
            let begun = begun.spawn(move || write_all(&dir, &waiting, &tell));
            self.writer = Some((files, begun.map_err(|error| error.to_string())?));
        }
        let sent = self.writer.as_ref().map_or(Ok(()), |(files, _)| files.try_send(file));
        sent.map_err(|error| match error {
            TrySendError::Full(_) => {
                tr("earlier recordings are still being written; try again in a moment").to_owned()
            }
            TrySendError::Disconnected(_) => {
                tr("no more recordings can be written; start the program again").to_owned()
            }
        })
    }

    /// Takes what has become of the next recording.
    pub(super) fn poll(&self) -> Option<Saved> {
        let saved = self.told.try_recv().ok()?;
        Some(saved.map_err(|failure| match failure {
            Failure::Refused(why) => why,
            Failure::Io(error) => words(self.dir.as_deref().unwrap_or(Path::new("")), &error),
        }))
    }

    /// Waits until all are written.
    pub(super) fn finish(&mut self) {
        if let Some((files, writer)) = self.writer.take() {
            drop(files);
            let _ = writer.join();
        }
    }
}

/// Writes what arrives, one file after the other.
fn write_all(dir: &Path, waiting: &Receiver<File>, tell: &Sender<Result<String, Failure>>) {
    for (name, bytes) in waiting {
        let written = write(dir, &name, &bytes);
        let _ = tell.send(written.map(|path| path.display().to_string()).map_err(Failure::Io));
    }
}

/// Why a folder cannot be written, and what the player can do about it.
fn words(dir: &Path, error: &io::Error) -> String {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let dir = dir.display().to_string();
    match error.kind() {
        StorageFull | QuotaExceeded => fill(
            "the disk is full; delete files there that you no longer need, such as recordings in \
             {folder}, then save again",
            &[("folder", &dir)],
        ),
        PermissionDenied | ReadOnlyFilesystem => fill(
            "you may not write to {folder}; change its permissions, then save again",
            &[("folder", &dir)],
        ),
        _ => format!("{dir}: {error}"),
    }
}

/// Writes a file completely or not at all. Returns its path.
fn write(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    private::create_dir(dir)?;
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    for number in 1..=NAMES_MAX {
        let name = if number == 1 { name.to_owned() } else { format!("{stem}-{number}.{end}") };
        let path = dir.join(&name);
        let part = dir.join(format!("{name}.part"));
        let mut file = match private::create_new(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created?,
        };
        if path.exists() {
            drop(file);
            std::fs::remove_file(&part)?;
            continue;
        }
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        drop(file);
        let renamed = written.and_then(|()| std::fs::rename(&part, &path));
        // A part of a recording is useless.
        renamed.inspect_err(|_| drop(std::fs::remove_file(&part)))?;
        return Ok(path);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(saver: &mut Saver, name: &str) -> Saved {
        saver.save(name.to_owned(), vec![1, 2, 3]);
        saver.finish();
        saver.poll().expect("it has ended")
    }

    #[test]
    fn files_get_names_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("new/recordings");
        let mut saver = Saver::new(Some(dir.clone()));
        for name in ["a.plr", "a-2.plr", "a-3.plr"] {
            let path = dir.join(name);
            assert_eq!(saved(&mut saver, "a.plr"), Ok(path.display().to_string()));
            assert_eq!(std::fs::read(path).expect("written"), [1, 2, 3]);
        }
        assert_eq!(std::fs::read_dir(&dir).expect("a folder").count(), 3);
        assert_eq!(saver.poll(), None);
    }

    #[test]
    fn all_games_of_the_last_minutes_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut saver = Saver::new(Some(folder.path().to_owned()));
        (0..20).for_each(|number| saver.save(format!("{number}.plr"), vec![number]));
        saver.finish();
        let saved: Vec<_> = std::iter::from_fn(|| saver.poll()).collect();
        assert!(saved.len() == 20 && saved.iter().all(Result::is_ok), "{saved:?}");
        assert_eq!(std::fs::read(folder.path().join("19.plr")).expect("written"), [19]);
    }

    #[test]
    fn folder_that_cannot_be_written_costs_a_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("written");
        let told = saved(&mut Saver::new(Some(file.clone())), "a.plr").expect_err("no folder");
        assert!(told.starts_with(&format!("{}: ", file.display())), "{told}");
        assert!(saved(&mut Saver::new(None), "a.plr").is_err());
    }

    #[test]
    fn failures_that_the_player_can_mend_say_how() {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        for (kind, told) in [
            (StorageFull, "the disk is full; delete"),
            (QuotaExceeded, "the disk is full; delete"),
            (PermissionDenied, "you may not write to /r; change"),
            (ReadOnlyFilesystem, "you may not write to /r; change"),
        ] {
            let words = words(Path::new("/r"), &kind.into());
            assert!(words.starts_with(told) && words.contains("/r"), "{words}");
        }
    }
}

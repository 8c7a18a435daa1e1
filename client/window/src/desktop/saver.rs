//! Writes recordings into the player's folder, on threads of their own.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use phaselock_quic::private;
use phaselock_ui::words::tr;

/// The maximum number of files that share a name but for a number. Arbitrary.
const NAMES_MAX: u32 = 1000;
/// The maximum number of files that are written at a time. Arbitrary: each is in memory.
const WRITING_MAX: usize = 4;

/// What has become of a recording: the path of its file, or why there is none.
pub(super) type Saved = Result<String, String>;

/// The writer of recordings.
pub(super) struct Saver {
    dir: Option<PathBuf>,
    tell: Sender<Saved>,
    told: Receiver<Saved>,
    writing: Vec<JoinHandle<()>>,
}

impl Saver {
    pub(super) fn new(dir: Option<PathBuf>) -> Self {
        let (tell, told) = channel();
        Self { dir, tell, told, writing: Vec::new() }
    }

    /// Writes a recording, under this name or one with a number.
    pub(super) fn save(&mut self, name: String, bytes: Vec<u8>) {
        let told = self.tell.clone();
        // The receiver lives as long as this.
        let tell = move |saved: Saved| drop(told.send(saved));
        let Some(dir) = self.dir.clone() else {
            return tell(Err(tr("there is no folder for it").to_owned()));
        };
        self.writing.retain(|writing| !writing.is_finished());
        if self.writing.len() >= WRITING_MAX {
            return tell(Err(tr("the disk is too slow").to_owned()));
        }
        let failed = tell.clone();
        let work = move || {
            let written = write(&dir, &name, &bytes);
            tell(
                written
                    .map(|path| path.display().to_string())
                    .map_err(|error| format!("{}: {error}", dir.display())),
            );
        };
        match thread::Builder::new().name("recording".to_owned()).spawn(work) {
            Ok(writing) => self.writing.push(writing),
            Err(error) => failed(Err(error.to_string())),
        }
    }

    /// Takes what has become of the next recording.
    pub(super) fn poll(&self) -> Option<Saved> {
        self.told.try_recv().ok()
    }

    /// Waits until all are written.
    pub(super) fn finish(&mut self) {
        for writing in self.writing.drain(..) {
            let _ = writing.join();
        }
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
    fn folder_that_cannot_be_written_costs_a_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("written");
        let told = saved(&mut Saver::new(Some(file.clone())), "a.plr").expect_err("no folder");
        assert!(told.starts_with(&format!("{}: ", file.display())), "{told}");
        assert!(saved(&mut Saver::new(None), "a.plr").is_err());
    }
}

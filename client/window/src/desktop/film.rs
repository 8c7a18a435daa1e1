//! Exports in files: an animated PNG, or a folder with a PNG for each picture and the sound as WAV.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use phaselock_sound::{Stereo, wav};
use phaselock_ui::screenshot::Picture;
use phaselock_ui::words::{fill, tr};

use super::apng::{ClipFile, part_of};
use super::target::Target;
use crate::files::plain_stem;
use crate::replay::{CLIP_FPS, Film, FilmFormat};

/// Number of pictures that wait for the thread that writes them: 4 of 1920 x 1080 are 25 MB.
const QUEUE: usize = 4;
/// Pictures per second in a folder, by default.
const FOLDER_FPS: u32 = 60;
/// The maximum number of clips of one recording. Arbitrary.
const NAMES_MAX: u32 = 10_000;
/// Name of the file of sound in a folder.
const SOUND: &str = "sound.wav";

/// Whether an export is an animated PNG.
fn is_clip(path: &Path) -> bool {
    path.extension().is_some_and(|it| it.eq_ignore_ascii_case("png"))
}

/// Pictures per second of an export, by default.
pub(super) fn fps(path: &Path) -> u32 {
    if is_clip(path) { CLIP_FPS } else { FOLDER_FPS }
}

/// Opens the place for an export: an animated PNG if the name ends in `.png`, a folder otherwise.
pub(super) fn open(path: &Path, format: FilmFormat) -> Result<Box<dyn Film>, String> {
    let target: io::Result<Box<dyn Target>> = match is_clip(path) {
        true => ClipFile::create(path, format).map(|file| Box::new(file) as _),
        false => Folder::create(path, format).map(|folder| Box::new(folder) as _),
    };
    let target = target.map_err(|error| cannot_write(path, &error))?;
    FileFilm::start(path, target).map(|film| Box::new(film) as _)
}

/// Returns a name in a folder of clips that no file has yet, and creates the folder.
pub(super) fn new_clip(folder: &Path, title: &str) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let stem = plain_stem(title);
    let stem = if stem.is_empty() { "clip" } else { &stem };
    let names = (1..=NAMES_MAX).map(|number| folder.join(format!("{stem}-{number}.png")));
    // A program that was killed leaves a part.
    let is_free = |path: &PathBuf| !path.exists() && !part_of(path).exists();
    let full = || cannot_write(folder, &io::ErrorKind::AlreadyExists.into());
    names.into_iter().find(is_free).ok_or_else(full)
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    let (path, why) = (path.display().to_string(), error.to_string());
    fill("Cannot write {file}: {why}.", &[("file", &path), ("why", &why)])
}

/// A picture, and the sound until the next one.
type Piece = (Picture, Vec<Stereo>);

/// An export that a thread writes.
struct FileFilm {
    path: PathBuf,
    /// `None` at the end.
    pieces: Option<SyncSender<Option<Piece>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl FileFilm {
    fn start(path: &Path, target: Box<dyn Target>) -> Result<Self, String> {
        let (pieces, waiting) = sync_channel(QUEUE);
        let spawned =
            thread::Builder::new().name("export".into()).spawn(move || write(target, &waiting));
        let writer = spawned.map_err(|error| cannot_write(path, &error))?;
        Ok(Self { path: path.to_owned(), pieces: Some(pieces), writer: Some(writer) })
    }

    /// Waits for the thread. Returns why it failed.
    fn join(&mut self) -> Result<(), String> {
        self.pieces = None;
        let ended = self.writer.take().map(JoinHandle::join);
        match ended {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(cannot_write(&self.path, &error)),
            Some(Err(_)) => Err(cannot_write(&self.path, &io::Error::other("the export panicked"))),
        }
    }

    fn send(&mut self, piece: Option<Piece>) -> Result<(), String> {
        let sent = self.pieces.as_ref().map(|pieces| pieces.send(piece));
        match sent {
            Some(Ok(())) => Ok(()),
            // The thread has ended.
            _ => self.join(),
        }
    }
}

impl Film for FileFilm {
    fn add(&mut self, picture: Picture, sound: Vec<Stereo>) -> Result<(), String> {
        self.send(Some((picture, sound)))
    }

    fn finish(mut self: Box<Self>) -> Result<String, String> {
        self.send(None)?;
        self.join()?;
        Ok(self.path.display().to_string())
    }
}

impl Drop for FileFilm {
    fn drop(&mut self) {
        // What was written is removed when this returns.
        let _ = self.join();
    }
}

/// Writes what arrives until the end.
fn write(mut target: Box<dyn Target>, waiting: &Receiver<Option<Piece>>) -> io::Result<()> {
    // The size of the first picture.
    let mut size = None;
    while let Ok(piece) = waiting.recv() {
        let Some((picture, sound)) = piece else { return target.end() };
        let its = (picture.width, picture.height);
        if *size.get_or_insert(its) != its {
            return Err(io::Error::other(tr("the window's size has changed").to_owned()));
        }
        target.add(picture, &sound)?;
    }
    // Cancelled.
    Ok(())
}

/// A folder with a file for each picture, and one for the sound.
struct Folder {
    path: PathBuf,
    is_new: bool,
    sound: Option<BufWriter<File>>,
    /// Number of pictures.
    written: u32,
}

impl Folder {
    fn create(path: &Path, format: FilmFormat) -> io::Result<Self> {
        let is_new = !path.exists();
        fs::create_dir_all(path)?;
        if fs::read_dir(path)?.next().is_some() {
            let why = tr("the folder is not empty; choose a new one");
            return Err(io::Error::other(why.to_owned()));
        }
        let mut folder = Self { path: path.to_owned(), is_new, sound: None, written: 0 };
        let mut sound = BufWriter::new(File::create_new(path.join(SOUND))?);
        wav::write_header(&mut sound, format.sound_until(format.frames))?;
        folder.sound = Some(sound);
        Ok(folder)
    }

    fn picture(&self, number: u32) -> PathBuf {
        self.path.join(format!("frame-{number:06}.png"))
    }
}

impl Target for Folder {
    fn add(&mut self, picture: Picture, sound: &[Stereo]) -> io::Result<()> {
        self.written += 1;
        let file = BufWriter::new(File::create_new(self.picture(self.written))?);
        picture.write_png(file, png::Compression::Fast)?;
        self.sound.as_mut().map_or(Ok(()), |file| wav::write_frames(file, sound))
    }

    fn end(&mut self) -> io::Result<()> {
        self.sound.as_mut().map_or(Ok(()), BufWriter::flush)?;
        (self.sound, self.written, self.is_new) = (None, 0, false);
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // After the end, there is nothing to remove. A failure leaves files, nothing worse.
        if self.sound.take().is_some() {
            let _ = fs::remove_file(self.path.join(SOUND));
        }
        for number in 1..=self.written {
            let _ = fs::remove_file(self.picture(number));
        }
        if self.is_new {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: FilmFormat = FilmFormat { frames: 4, fps: 20 };

    /// A picture in which one pixel moves.
    fn picture(number: u32) -> Picture {
        let mut rgb = vec![20; 8 * 4 * 3];
        rgb[number as usize * 3] = 255;
        Picture { width: 8, height: 4, rgb }
    }

    fn film(path: &Path, pictures: u32) -> Result<Box<dyn Film>, String> {
        let mut film = open(path, FORMAT)?;
        for number in 0..pictures {
            film.add(picture(number), vec![[0.5; 2]; 2400])?;
        }
        Ok(film)
    }

    fn files(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).expect("it exists");
        let names = names.map(|entry| entry.expect("readable").file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().expect("plain")).collect();
        names.sort();
        names
    }

    #[test]
    fn folder_gets_every_picture_and_the_whole_sound() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("out");
        film(&path, 4).and_then(Film::finish).expect("it can be written");
        let pictures = (1..=4).map(|number| format!("frame-{number:06}.png"));
        assert_eq!(files(&path), pictures.chain([SOUND.to_owned()]).collect::<Vec<_>>());
        let sound = fs::read(path.join(SOUND)).expect("the sound");
        assert_eq!(sound.len(), 44 + 4 * 2400 * 4);
        let error = film(&path, 1).err().expect("it is not empty");
        assert!(error.contains("not empty") && files(&path).len() == 5, "{error}");
    }

    #[test]
    fn clip_shows_each_picture_as_it_was() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("clip.png");
        film(&path, 4).and_then(Film::finish).expect("it can be written");
        let file = io::BufReader::new(File::open(&path).expect("the clip"));
        let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
        let control = *reader.info().animation_control().expect("animated");
        assert_eq!(control.num_frames, 4);
        let mut canvas = [0_u8; 8 * 4 * 4];
        let mut frame = vec![0; reader.output_buffer_size().expect("small")];
        for number in 0..4 {
            reader.next_frame(&mut frame).expect("a frame");
            let part = *reader.info().frame_control().expect("its place");
            let places = (0..part.height).flat_map(|y| (0..part.width).map(move |x| (x, y)));
            for (pixel, (x, y)) in frame.chunks_exact(4).zip(places).filter(|(it, _)| it[3] > 0) {
                let at = ((y + part.y_offset) * 8 + x + part.x_offset) as usize * 4;
                canvas[at..at + 4].copy_from_slice(pixel);
            }
            let shown: Vec<u8> =
                canvas.chunks_exact(4).flat_map(|it| [it[0], it[1], it[2]]).collect();
            assert_eq!(shown, picture(number).rgb, "picture {number}");
        }
        assert_eq!(files(home.path()), ["clip.png"]);
    }

    #[test]
    fn cancelled_and_failed_exports_leave_nothing() {
        let home = tempfile::tempdir().expect("a folder");
        let [folder, clip] = ["out", "clip.png"].map(|name| home.path().join(name));
        for path in [&folder, &clip] {
            drop(film(path, 2).expect("it can be written"));
            assert_eq!(files(home.path()), [""; 0]);
            let mut resized = film(path, 2).expect("it can be written");
            let other = Picture { width: 4, height: 8, rgb: vec![0; 96] };
            let added = resized.add(other, Vec::new()).and_then(|()| resized.finish());
            let error = added.expect_err("the size has changed");
            assert!(error.contains("size"), "{error}");
            assert_eq!(files(home.path()), [""; 0]);
        }
        fs::write(&clip, b"mine").expect("a file");
        drop(film(&clip, 2).expect("it can be written"));
        assert_eq!(fs::read(&clip).expect("still there"), b"mine");
        let error = open(&clip.join("x"), FORMAT).err().expect("below a file");
        assert!(error.contains("Cannot write"), "{error}");
    }

    #[test]
    fn clip_names_are_new_and_plain() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("clips");
        let name = |title| {
            let path = new_clip(&folder, title).expect("a name");
            fs::write(&path, b"").expect("a file");
            path.file_name().expect("a name").to_string_lossy().into_owned()
        };
        assert_eq!(name("race-7.plr"), "race-7-1.png");
        assert_eq!(name("race-7.plr"), "race-7-2.png");
        fs::write(folder.join("race-7-3.png.part"), b"").expect("a file");
        assert_eq!(name("race-7.plr"), "race-7-4.png");
        assert_eq!(name("../../etc/passwd"), "etcpasswd-1.png");
        assert_eq!(name("..."), "clip-1.png");
    }
}

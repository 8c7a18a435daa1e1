//! Records play into files: the local player's motion, one line for each tick that the server
//! confirmed.
//!
//! Each game of a run has its own file: `FILE`, then `FILE-2` and so on, with the number before the
//! extension. For the format, see [`lab::file`](crate::file).

#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use phaselock::time::{LocalTime, Micros};
use thiserror::Error;

use crate::file::{FILE_BYTES_MAX, POINTS_MAX, SPAN_HOURS_MAX, Source, header, line};
use phaselock::client::{MotionSample, Recorded, Session};

/// Maximum time before lines are written to disk: what a crash can lose.
const FLUSH_AFTER: Micros = Micros::from_ms(1000);

/// Why recording failed or ended early. Play goes on.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file cannot be opened.
    #[error("cannot write the motion to {path}: {1}", path = .0.display())]
    Open(PathBuf, io::Error),
    /// Writing to the file failed; it has only whole lines.
    #[error("the motion in {path} ends here; writing failed: {1}", path = .0.display())]
    Write(PathBuf, io::Error),
    /// The file has reached the maximum length.
    #[error(
        "the motion in {} ends here: a file has at most {POINTS_MAX} points, {SPAN_HOURS_MAX} \
         hours and {FILE_BYTES_MAX} bytes; start again to record more",
        .0.display()
    )]
    Full(PathBuf),
    /// The player's entity has no position in this game.
    #[error("the motion in {0} cannot be recorded: the player's entity has no fields x and y")]
    NoPosition(&'static str),
}

/// A file for recorded motion, and its successors. The first one is opened in advance, so that a
/// path that cannot be written is known before anything else happens. The file keeps its old
/// content until the first line is recorded.
#[derive(Debug)]
pub struct MotionFiles {
    path: PathBuf,
    /// The first file until it is used, and whether it is new.
    first: Option<(File, bool)>,
    /// Number of files begun.
    begun: u32,
    current: Current,
    stay: Option<u32>,
    /// Points and bytes of a file.
    room: (usize, usize),
}

/// The state of recording.
#[derive(Debug)]
enum Current {
    /// The next line starts a file.
    Next,
    /// Lines go into this file.
    Open(Open),
    /// Lines are dropped: the recording of this game ended early.
    Over,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    source: Source,
    /// Whole lines waiting since `flushed`.
    waiting: String,
    flushed: LocalTime,
    written: usize,
    points: usize,
    /// The first point's time in seconds.
    first: f64,
}

impl Open {
    fn flush(&mut self) -> Result<(), RecordError> {
        if let Err(error) = self.file.write_all(self.waiting.as_bytes()) {
            // A partial line could not be read. If it remains, its reader reports it.
            let _ = self.file.set_len(self.written as u64);
            self.waiting.clear();
            return Err(RecordError::Write(self.path.clone(), error));
        }
        self.written += self.waiting.len();
        self.waiting.clear();
        Ok(())
    }
}

impl MotionFiles {
    /// Checks that the file can be written.
    pub fn prepare(path: &Path) -> Result<Self, RecordError> {
        let fresh = !path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| RecordError::Open(path.to_owned(), error))?;
        Ok(Self {
            path: path.to_owned(),
            first: Some((file, fresh)),
            begun: 0,
            current: Current::Next,
            stay: None,
            room: (POINTS_MAX, FILE_BYTES_MAX),
        })
    }

    /// Ends the file; the next line starts another one.
    pub fn begin(&mut self) -> Result<(), RecordError> {
        match std::mem::replace(&mut self.current, Current::Next) {
            Current::Open(mut open) => open.flush(),
            Current::Next | Current::Over => Ok(()),
        }
    }

    /// Takes what a session recorded ([`Session::record_motion`]), and writes it when due. After an
    /// error, nothing more of this game is recorded.
    pub fn take_from(&mut self, session: &mut Session, now: LocalTime) -> Result<(), RecordError> {
        while let Some(motion) = session.poll_motion() {
            if self.stay.replace(motion.stay).is_some_and(|stay| stay != motion.stay) {
                self.begin()?;
            }
            let MotionSample { game, kinds, rates, seed, recorded, .. } = motion;
            let source = || {
                let source = Source::of(game, kinds, recorded.kind, rates, seed);
                source.ok_or(RecordError::NoPosition(game))
            };
            self.take(now, source, rates.time_of(recorded.tick).0 as f64 / 1e6, &recorded)?;
        }
        self.flush(now)
    }

    fn take(
        &mut self,
        now: LocalTime,
        source: impl FnOnce() -> Result<Source, RecordError>,
        time: f64,
        recorded: &Recorded,
    ) -> Result<(), RecordError> {
        if let Current::Open(open) = &self.current
            && open.source.kind != recorded.kind
        {
            let begun = self.begin();
            if begun.is_err() {
                self.current = Current::Over;
            }
            begun?;
        }
        if let Current::Next = &self.current {
            // Over, unless this succeeds.
            self.current = Current::Over;
            let source = source()?;
            let (path, file) = self.next_file()?;
            self.begun += 1;
            let waiting = header(&source);
            let (flushed, written) = (now, 0);
            let open =
                Open { path, file, source, waiting, flushed, written, points: 0, first: time };
            self.current = Current::Open(open);
        }
        let Current::Open(open) = &mut self.current else { return Ok(()) };
        let line = line(&open.source, time, recorded.segment, &recorded.values);
        let (points_max, bytes_max) = self.room;
        let has_room = open.points < points_max
            && open.written + open.waiting.len() + line.len() <= bytes_max
            && time - open.first <= f64::from(SPAN_HOURS_MAX) * 3600.0;
        if !has_room {
            let path = open.path.clone();
            let flushed = self.begin();
            self.current = Current::Over;
            flushed?;
            return Err(RecordError::Full(path));
        }
        open.waiting.push_str(&line);
        open.points += 1;
        Ok(())
    }

    fn next_file(&mut self) -> Result<(PathBuf, File), RecordError> {
        let path = numbered(&self.path, self.begun + 1);
        let empty = |file: &File| {
            // A pipe or a device has no length.
            if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
        };
        let file = match self.first.take() {
            Some((file, _)) => empty(&file).map(|()| file),
            None => File::create(&path),
        };
        match file {
            Ok(file) => Ok((path, file)),
            Err(error) => Err(RecordError::Open(path, error)),
        }
    }

    fn flush(&mut self, now: LocalTime) -> Result<(), RecordError> {
        let Current::Open(open) = &mut self.current else { return Ok(()) };
        if now - open.flushed < FLUSH_AFTER {
            return Ok(());
        }
        open.flushed = now;
        let flushed = open.flush();
        if flushed.is_err() {
            self.current = Current::Over;
        }
        flushed
    }
}

impl Drop for MotionFiles {
    fn drop(&mut self) {
        // Call `begin` first to get the error.
        let _ = self.begin();
        if let Some((_, true)) = self.first {
            // An empty file is useless; failing to remove it does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The path of the n-th file, from 1.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

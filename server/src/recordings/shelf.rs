//! The directory of recordings: what is in it, and what must go.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use phaselock::replay::{Replay, read_span};
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::files::read_range;

use super::settings::{Recording, is_owner};
use crate::clocks::Clocks;
use crate::config::RecordMode;
use crate::data_dir;

/// Extension of a recording, and what is added to it while the file grows.
pub(super) const END: &str = "plr";
pub(super) const PART: &str = "part";
/// Maximum size of a file that is completed, in bytes: a day of a full room. It is read whole.
const COMPLETED_BYTES_MAX: u64 = 512 << 20;
/// Days after which an unfinished file of another server is taken for one that nobody continues.
const LEFT_DAYS: u32 = 1;
/// Bytes at the end of a file among which its index is looked for: that of 14 hours.
const END_BYTES: u64 = 64 << 10;

/// A file of a recording.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// Unix time of the last change in seconds.
    pub(super) changed: i64,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) is_growing: bool,
}

/// Returns the recordings in a folder. Anything else in it is left alone.
pub(super) fn find(dir: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        let is_growing = path.extension().is_some_and(|end| end == PART);
        let named = if is_growing { path.with_extension("") } else { path.clone() };
        if named.extension().is_none_or(|end| end != END) {
            continue;
        }
        // It may have been removed meanwhile, by another server.
        let Ok(facts) = entry.metadata() else { continue };
        if facts.is_file() {
            let changed = facts.modified()?.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
            let changed = i64::try_from(changed.as_secs()).unwrap_or(i64::MAX);
            found.push(Found { changed, path, bytes: facts.len(), is_growing });
        }
    }
    Ok(found)
}

/// Removes recordings that are too old, and the oldest if all take too many bytes. Returns the size
/// of the rest. Fails if that is still too much. Recordings of other servers do not count, unless
/// the server has written nothing for as long as recordings are kept.
pub(super) fn make_way(settings: &Recording, clocks: &Clocks) -> io::Result<u64> {
    let mut files = find(&settings.dir)?;
    let expired_before = clocks.expired_before(settings.days);
    let is_old = |file: &Found| expired_before.is_some_and(|before| file.changed < before);
    let owner = |file: &Found| owner_of(&file.path).map(str::to_owned);
    let writing = files.iter().filter(|file| !is_old(file)).filter_map(owner);
    let is_other = |it: &String| settings.owner.as_ref().is_some_and(|own| own != it);
    let writing: BTreeSet<String> = writing.filter(is_other).collect();
    files.retain(|file| owner(file).is_none_or(|it| !writing.contains(&it)));
    files.sort();
    let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
    for file in files.into_iter().filter(|file| !file.is_growing) {
        let is_old = is_old(&file);
        if !is_old && bytes <= settings.bytes {
            continue;
        }
        match fs::remove_file(&file.path) {
            // Another server uses the directory too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(
                    name: "recording_stuck",
                    file = %file.path.display(),
                    %error,
                    "cannot remove an old recording"
                );
                continue;
            }
            Ok(()) => {}
        }
        bytes -= file.bytes;
        tracing::info!(
            name: "recording_removed",
            file = %file.path.display(),
            "removed an old recording"
        );
    }
    let full = || io::Error::other("the recordings take more than record_megabytes");
    (bytes <= settings.bytes).then_some(bytes).ok_or_else(full)
}

/// Takes the files of servers before: those that were killed, and those whose rounds were not over.
/// Returns the ones of stored rooms, locked. The others get their names. Those of other servers
/// that use the directory are left alone for a while: while one restarts, its files are not locked.
pub(super) fn take_parts(
    settings: &Recording,
    clocks: &Clocks,
    stored: &[RoomCode],
) -> Vec<(RoomCode, PathBuf, File)> {
    let dir = &settings.dir;
    let made = match settings.mode {
        RecordMode::Off => Ok(()),
        _ => data_dir::make_private_dir(dir),
    };
    let parts = match made.and_then(|()| find(dir)) {
        Ok(found) => found.into_iter().filter(|file| {
            let left_before = clocks.expired_before(LEFT_DAYS);
            let is_left = left_before.is_some_and(|before| file.changed < before);
            let owner = settings.owner.as_deref();
            let is_own = || owner.is_none_or(|own| owner_of(&file.path) == Some(own));
            file.is_growing && (is_left || is_own())
        }),
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound || settings.mode != RecordMode::Off {
                tracing::warn!(
                    name: "recording_failed",
                    file = %dir.display(),
                    %error,
                    "cannot use the directory of recordings; the game goes on"
                );
            }
            return Vec::new();
        }
    };
    let mut taken = Vec::new();
    for Found { path, .. } in parts {
        // Another server that uses the directory may be writing it.
        let Some(file) = open(&path).ok().filter(|file| file.try_lock().is_ok()) else { continue };
        if let Err(error) = complete(&file) {
            tracing::warn!(
                name: "recording_failed",
                file = %path.display(),
                %error,
                "cannot complete the recording of a server that was killed; it stays as it is"
            );
        }
        match stored.iter().find(|room| is_of(&path, room)) {
            Some(room) => taken.push((room.clone(), path, file)),
            None => offer(&path),
        }
    }
    taken
}

/// Opens a file to complete it, or at least to lock it.
fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(path).or_else(|_| File::open(path))
}

/// Writes the index that the file of a killed server lacks. The time of its last change stays, and
/// if writing fails, so does everything else.
pub(super) fn complete(file: &File) -> io::Result<()> {
    let facts = file.metadata()?;
    if facts.len() > COMPLETED_BYTES_MAX || has_index(file, facts.len())? {
        return Ok(());
    }
    let bytes = read_range(file, 0..COMPLETED_BYTES_MAX)?;
    // An unreadable file stays as it is; the list says so.
    let ending = Replay::open(bytes.clone()).ok().and_then(|replay| replay.ending());
    let Some((at, end)) = ending else { return Ok(()) };
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    put(file, at, &end).inspect_err(|_| {
        let _ = put(file, at, rest);
    })?;
    file.set_modified(facts.modified()?)
}

/// Replaces the end of a file.
fn put(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)?;
    file.set_len(at + bytes.len() as u64)?;
    file.sync_all()
}

/// Whether a file of this length has its index.
fn has_index(file: &File, length: u64) -> io::Result<bool> {
    let end = read_range(file, length.saturating_sub(END_BYTES)..length)?;
    Ok(read_span(&end, length).is_some())
}

/// Returns a part of a file's name: a time, the room's code, the server's number if the directory
/// may be shared, and maybe another number, with underscores between.
fn word(path: &Path, number: usize) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let (name, _) = name.split_once('.')?;
    name.split('_').nth(number)
}

/// Whether a file is of a room.
fn is_of(path: &Path, room: &RoomCode) -> bool {
    word(path, 1) == Some(room.as_str())
}

/// Returns the number of the server that wrote a file, if its name has one.
fn owner_of(path: &Path) -> Option<&str> {
    word(path, 2).filter(|it| is_owner(it))
}

/// Gives an ended file its final name.
pub(super) fn offer(path: &Path) {
    let name = path.with_extension("");
    if let Err(error) = fs::rename(path, &name) {
        tracing::warn!(
            name: "recording_stuck",
            file = %path.display(),
            %error,
            "cannot rename a recording that has ended; the next start tries again"
        );
        return;
    }
    tracing::info!(
        name: "recording_ended",
        file = %name.display(),
        bytes = fs::metadata(&name).map_or(0, |facts| facts.len()),
        "a recording can be downloaded"
    );
}

/// Returns the path of a finished recording in a folder; `None` if there is none of this name.
pub(super) fn path(dir: &Path, name: &str) -> Option<PathBuf> {
    let path = dir.join(name);
    let is_plain = path.file_name().is_some_and(|file| file == name)
        && path.extension().is_some_and(|end| end == END);
    let is_there = || fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_file());
    (is_plain && is_there()).then_some(path)
}

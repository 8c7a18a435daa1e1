//! The list of finished recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use phaselock::replay::{ReplayError, Summary};
use phaselock_quic::files::read_range;

use super::shelf::{Found, find};

/// The maximum number of new files that a listing reads, with up to 2 MB of each. Arbitrary; twice
/// as many as `ctl replays` and the admin page ask for.
pub(super) const READ_MAX: usize = 100;
/// The maximum number of files and players that are remembered: about 10 MB.
const KNOWN_MAX: usize = 100_000;

/// A finished recording.
#[derive(Clone, Debug)]
pub(crate) struct Shelved {
    /// Name of the file.
    pub(crate) name: String,
    /// Unix time of the end in seconds.
    pub(crate) ended: i64,
    pub(crate) bytes: u64,
    pub(crate) label: Label,
}

/// What is known about a finished recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// Nothing yet: the listing had reached its limit.
    Unread,
    /// It is damaged, or the disk failed.
    Unreadable,
    Read {
        game: String,
        /// Unix time of the beginning in seconds.
        began: i64,
        /// Duration in seconds, if it is known.
        seconds: Option<u64>,
        /// Names of the people who were there, without bots.
        players: Vec<String>,
    },
}

/// The finished recordings in a folder, with what has been read from them.
#[derive(Debug)]
pub(crate) struct Catalogue {
    dir: PathBuf,
    /// By name, size and time, so a file that has changed is read again.
    known: BTreeMap<Found, Label>,
}

impl Catalogue {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir, known: BTreeMap::new() }
    }

    /// Returns up to `count` recordings after the first `skip`, the newest first.
    pub(crate) fn list(&mut self, skip: usize, count: usize) -> io::Result<Vec<Shelved>> {
        let found = match find(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            found => found?,
        };
        let mut files: Vec<_> = found.into_iter().filter(|file| !file.is_growing).collect();
        files.sort_by(|a, b| b.cmp(a));
        self.forget(&files);
        let mut unread_max = READ_MAX;
        let shelved = |file: Found| Shelved {
            name: file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            ended: file.changed,
            bytes: file.bytes,
            label: self.label(file, &mut unread_max),
        };
        Ok(files.into_iter().skip(skip).take(count).map(shelved).collect())
    }

    /// Returns what is known about a file. Reads a new file if `unread_max` allows it.
    fn label(&mut self, file: Found, unread_max: &mut usize) -> Label {
        if let Some(known) = self.known.get(&file) {
            return known.clone();
        }
        let Some(left) = unread_max.checked_sub(1) else { return Label::Unread };
        *unread_max = left;
        // A failure is not remembered: the next listing may have more luck.
        let Ok(label) = Label::of(&file) else { return Label::Unreadable };
        self.known.insert(file, label.clone());
        label
    }

    /// Forgets files that are gone, and if too many are left, the oldest ones.
    fn forget(&mut self, found: &[Found]) {
        let there: BTreeSet<_> = found.iter().collect();
        self.known.retain(|file, _| there.contains(file));
        let mut size: usize = self.known.values().map(Label::size).sum();
        while size > KNOWN_MAX
            && let Some((_, oldest)) = self.known.pop_first()
        {
            size -= oldest.size();
        }
    }
}

impl Label {
    /// Number of files and players in it.
    fn size(&self) -> usize {
        match self {
            Self::Unread | Self::Unreadable => 1,
            Self::Read { players, .. } => 1 + players.len(),
        }
    }

    /// Reads the label of a file.
    fn of(found: &Found) -> io::Result<Self> {
        let summary = File::open(&found.path)
            .and_then(|file| Summary::read(found.bytes, |range| read_range(&file, range)));
        let summary = match summary {
            Ok(summary) => summary,
            Err(error) if error.get_ref().is_some_and(|why| why.is::<ReplayError>()) => {
                return Ok(Self::Unreadable);
            }
            Err(error) => return Err(error),
        };
        let began = summary.header.unix_micros.div_euclid(1_000_000);
        let seconds = summary.secs();
        let players = summary.names(false).into_iter().map(str::to_owned).collect();
        Ok(Self::Read { game: summary.header.game, began, seconds, players })
    }
}

//! What a list shows of a recording, found with a few reads of bounded size.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;

use super::chunk_reader::{read_entries, read_key};
use super::entries::{Entry, News};
use super::error::ReplayError;
use super::file::{Block, BlockKind, ChunkEntry, Index};
use super::header::{Header, Person};
use super::reader::{ends_in_time, read_header};
use super::scan::Scan;
use crate::ids::PlayerId;
use crate::limits::{REPLAY_HEADER_BYTES_MAX, SEATS_MAX, WATCHERS_MAX};
use crate::time::{ServerTime, Tick};

/// Bytes at the start among which the header is looked for first: most are short.
const START_BYTES: u64 = 8 << 10;
/// Bytes at the end among which the index is looked for: that of 14 hours.
const INDEX_BYTES: u64 = 64 << 10;
/// Bytes at the end of a file without an index among which its last chunk is looked for: a minute
/// of 64 players.
const TAIL_BYTES: u64 = 512 << 10;
/// Number of chunks, spread over the file, that are asked who was there.
const ASKED_CHUNKS: usize = 12;
/// The maximum size of such a chunk in bytes: one of 64 players.
const ASKED_BYTES_MAX: u64 = 64 << 10;
/// The maximum number of people. Arbitrary; twice as many as a room holds.
const PEOPLE_MAX: usize = 2 * (SEATS_MAX + WATCHERS_MAX) as usize;

/// What a list shows of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The file's header.
    pub header: Header,
    /// The last tick; `None` if no chunk was found. In a file without an index, it is that of the
    /// last intact chunk among the last bytes.
    pub last: Option<Tick>,
    /// Who was there. People who stayed briefly in a long recording may be missing.
    pub people: Vec<Person>,
}

impl Summary {
    /// Reads the summary of a file with `length` bytes. `read` returns a range of them. It is asked
    /// for at most 512 kB at once, and for at most 2 MB in all.
    ///
    /// # Errors
    ///
    /// Reading fails, or the header cannot be read (a [`ReplayError`]).
    pub fn read(
        length: u64,
        mut read: impl FnMut(Range<u64>) -> io::Result<Vec<u8>>,
    ) -> io::Result<Self> {
        let header = match read_header(&read(0..START_BYTES.min(length))?) {
            Err(ReplayError::Short) => {
                read_header(&read(0..(REPLAY_HEADER_BYTES_MAX as u64).min(length))?)
            }
            header => header,
        };
        let header = header.map_err(io::Error::other)?;
        let mut chunks = chunks(length, &mut read)?;
        let last = chunks.last().map(ChunkEntry::end);
        let step = chunks.len().div_ceil(ASKED_CHUNKS).max(1);
        chunks.push(ChunkEntry { at: length, first: 0, ticks: 0 });
        let mut people = Present::default();
        people.add(&header.people);
        for two in chunks.windows(2).step_by(step) {
            let end = two[1].at.min(two[0].at.saturating_add(ASKED_BYTES_MAX));
            people.add_of_chunk(&read(two[0].at..end.max(two[0].at))?);
        }
        Ok(Self { header, last, people: people.0.into_values().collect() })
    }

    /// Returns the person whose client made the recording, if it was not the server. Another person
    /// may have had the same id before or afterwards.
    pub fn viewer(&self) -> Option<&Person> {
        let viewer = self.header.viewer?;
        let mut known = self.header.people.iter().chain(&self.people);
        known.find(|person| person.player == viewer)
    }

    /// Returns the names of the bots, or of everyone else. Someone who left and came back with
    /// another id is listed once.
    pub fn names(&self, of_bots: bool) -> BTreeSet<&str> {
        let people = self.people.iter().filter(|person| person.bot == of_bots);
        people.map(|person| &*person.name).collect()
    }

    /// Returns its duration in seconds.
    pub fn secs(&self) -> Option<u64> {
        self.last.map(|last| {
            let ServerTime(micros) = self.header.rates.time_of(Tick(last.since(self.header.first)));
            micros.unsigned_abs() / 1_000_000
        })
    }
}

/// Returns the chunks by the index, or else those among the last bytes.
fn chunks(
    length: u64,
    read: &mut impl FnMut(Range<u64>) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<ChunkEntry>> {
    let from = length.saturating_sub(INDEX_BYTES);
    if let Ok(Index { chunks }) = Index::find(&read(from..length)?, from)
        && chunks.iter().all(ends_in_time)
    {
        return Ok(chunks);
    }
    let from = length.saturating_sub(TAIL_BYTES);
    let mut chunks = Scan::new(&read(from..length)?, 0).chunks;
    chunks.iter_mut().for_each(|chunk| chunk.at += from);
    Ok(chunks)
}

/// Who was there.
#[derive(Debug, Default)]
struct Present(BTreeMap<(PlayerId, String), Person>);

impl Present {
    fn add(&mut self, people: &[Person]) {
        for person in people {
            if self.0.len() < PEOPLE_MAX {
                // Another player gets the id of one who left.
                self.0.insert((person.player, person.name.clone()), person.clone());
            }
        }
    }

    /// Adds those in a chunk, if it can be read.
    fn add_of_chunk(&mut self, bytes: &[u8]) {
        let Ok(block) = Block::read(bytes) else { return };
        if block.kind != BlockKind::Chunk {
            return;
        }
        if let Ok((_, key)) = read_key(block.payload) {
            self.add(&key.people);
        }
        for (_, entry) in read_entries(block.payload).unwrap_or_default() {
            if let Entry::News(News::Joined(people)) = entry {
                self.add(&people);
            }
        }
    }
}

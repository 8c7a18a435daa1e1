//! Finds the chunks of a file without an index, and what lies between them that cannot be read.
//!
//! Behind a damaged block, the next chunk is searched for byte by byte, since the block's length
//! may be what is damaged. Checksums that turn out wrong cost a budget, so a file made for it
//! cannot take longer than a few passes over its bytes.

use std::fmt;
use std::ops::Range;

use super::chunk_reader::read_head;
use super::error::ReplayError;
use super::file::{Block, BlockKind, ChunkEntry, FRAMING, PAYLOAD_AT, block};
use crate::limits::{REPLAY_BLOCK_BYTES_MAX, REPLAY_CHUNKS_MAX};
use crate::time::Tick;

/// How many times the size of a file is checked in vain at most.
const PASSES_MAX: usize = 4;

/// A part of a recording that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where it is in the file.
    pub bytes: Range<u64>,
    /// The ticks after this one are affected.
    pub first: Tick,
    /// The last affected tick. If it is also the first, it is not known which ticks are affected,
    /// or none is.
    pub last: Tick,
    /// What is wrong.
    pub error: ReplayError,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, first, last, error } = self;
        match first < last {
            true => write!(f, "ticks {} to {}: {error}", first.0.saturating_add(1), last.0),
            false => write!(f, "bytes {} to {}: {error}", bytes.start, bytes.end),
        }
    }
}

/// What a file without an index holds.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    /// The chunks that can be read.
    pub(super) chunks: Vec<ChunkEntry>,
    /// The damaged parts between them, at most one before each chunk and one at the end.
    pub(super) damage: Vec<Damage>,
    /// Number of bytes that may still be checked in vain.
    budget: usize,
}

impl<'a> Scan<'a> {
    /// Finds the chunks from `at` on. A block that the end of the file cuts short is no damage.
    pub(super) fn new(bytes: &'a [u8], mut at: usize) -> Self {
        let budget = bytes.len().saturating_mul(PASSES_MAX);
        let mut scan = Self { bytes, chunks: Vec::new(), damage: Vec::new(), budget };
        while at < bytes.len() && scan.chunks.len() < REPLAY_CHUNKS_MAX {
            if let Some((length, chunk)) = scan.read(at) {
                scan.chunks.extend(chunk);
                at += length;
                continue;
            }
            let next = (at + 1..bytes.len()).find(|next| scan.is_chunk(*next));
            if next.is_some() || !is_cut(&bytes[at..]) {
                scan.note_damage(at..next.unwrap_or(bytes.len()));
            }
            at = next.unwrap_or(bytes.len());
        }
        scan
    }

    /// Returns the length of the block at a position, and what the index would say of it if it is a
    /// chunk. `None` if the block is damaged.
    fn read(&mut self, at: usize) -> Option<(usize, Option<ChunkEntry>)> {
        let rest = &self.bytes[at..];
        let length = Block::length(rest).ok()?;
        let left = self.budget.checked_sub(length)?;
        let Ok(block) = Block::read(rest) else {
            self.budget = left;
            return None;
        };
        match block.kind {
            BlockKind::Header => None,
            BlockKind::Chunk => Some((length, Some(self.entry(at, block.payload)?))),
            BlockKind::Index | BlockKind::End => Some((length, None)),
        }
    }

    /// Whether there is an intact chunk at any position.
    fn is_chunk(&mut self, at: usize) -> bool {
        let rest = &self.bytes[at..];
        BlockKind::of(rest[0]) == Some(BlockKind::Chunk)
            && Block::length(rest).is_ok_and(|length| {
                // Almost all that only look like a chunk are found out without their checksum.
                self.entry(at, &rest[PAYLOAD_AT..length - (FRAMING - PAYLOAD_AT)]).is_some()
            })
            && self.read(at).is_some()
    }

    /// Returns what the index would say of a chunk, if it can follow those before it.
    fn entry(&self, at: usize, payload: &[u8]) -> Option<ChunkEntry> {
        let head = read_head(payload).ok()?;
        let follows = self.chunks.last().is_none_or(|last| last.first <= head.first);
        follows.then_some(ChunkEntry { at: at as u64, first: head.first, ticks: head.ticks })
    }

    /// Adds a damaged part, up to the next chunk or the end of the file.
    fn note_damage(&mut self, bytes: Range<usize>) {
        let payload = self.bytes.get(bytes.end + PAYLOAD_AT..);
        let next = payload.and_then(|payload| read_head(payload).ok());
        let before = self.chunks.last().map(|last| last.end());
        let next = next.map(|head| Tick(head.first)).or(before).unwrap_or_default();
        let first = before.unwrap_or(next).min(next);
        let bytes = bytes.start as u64..bytes.end as u64;
        self.damage.push(Damage { bytes, first, last: next, error: ReplayError::Damaged });
    }
}

/// Whether the file just ends too early in this block, its last one.
fn is_cut(rest: &[u8]) -> bool {
    if Block::length(rest) != Err(ReplayError::Short) {
        return false;
    }
    // If all of the block is there, its length is damaged.
    let framing = (rest.first_chunk::<PAYLOAD_AT>(), rest.last_chunk::<4>());
    let payload = rest.get(PAYLOAD_AT..rest.len().saturating_sub(4)).unwrap_or_default();
    let ((Some([letter, ..]), Some(sum)), 1..=REPLAY_BLOCK_BYTES_MAX) = (framing, payload.len())
    else {
        return true;
    };
    BlockKind::of(*letter).is_none_or(|kind| !block(kind, payload).ends_with(sum))
}

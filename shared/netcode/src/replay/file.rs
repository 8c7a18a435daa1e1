//! The container: blocks that each end with their checksum, and the index at the end.
//!
//! A file that was cut short, as by a crash, lacks its last blocks; all before them are intact. The
//! index can be rebuilt from the chunks.

use serde::{Deserialize, Serialize};

use super::error::ReplayError;
use crate::limits::{REPLAY_BLOCK_BYTES_MAX, REPLAY_CHUNKS_MAX};
use crate::time::Tick;

/// The first bytes of a file. As in PNG, they show whether a program took it for text.
pub const MAGIC: [u8; 8] = *b"\x89PLR\r\n\x1a\n";
/// Bytes of a block besides its payload.
pub(super) const FRAMING: usize = PAYLOAD_AT + 4;
/// Where the payload begins in a block.
pub(super) const PAYLOAD_AT: usize = 1 + 4;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Header,
    Chunk,
    Index,
    /// The position of the index.
    End,
}

impl BlockKind {
    const ALL: [(u8, Self); 4] =
        [(b'H', Self::Header), (b'C', Self::Chunk), (b'I', Self::Index), (b'E', Self::End)];

    fn letter(self) -> u8 {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or(0, |(letter, _)| *letter)
    }

    pub(super) fn of(letter: u8) -> Option<Self> {
        Self::ALL.iter().find(|(it, _)| *it == letter).map(|(_, kind)| *kind)
    }
}

/// A block in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub(super) kind: BlockKind,
    pub(super) payload: &'a [u8],
}

impl<'a> Block<'a> {
    /// Reads the block at the start of the bytes.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, ReplayError> {
        let length = Self::length(bytes)?;
        let kind = BlockKind::of(bytes[0]).ok_or(ReplayError::Damaged)?;
        let (summed, sum) = bytes[..length].split_last_chunk::<4>().ok_or(ReplayError::Short)?;
        if crc32(summed) != u32::from_le_bytes(*sum) {
            return Err(ReplayError::Damaged);
        }
        Ok(Self { kind, payload: &summed[PAYLOAD_AT..] })
    }

    /// Returns the size in the file of the block at the start of the bytes, by what it says itself.
    ///
    /// # Errors
    ///
    /// It says something impossible, or is longer than the bytes.
    pub(super) fn length(bytes: &[u8]) -> Result<usize, ReplayError> {
        let head = bytes.first_chunk::<PAYLOAD_AT>().ok_or(ReplayError::Short)?;
        let [letter, length @ ..] = *head;
        let length = u32::from_le_bytes(length) as usize;
        if BlockKind::of(letter).is_none() || length > REPLAY_BLOCK_BYTES_MAX {
            return Err(ReplayError::Damaged);
        }
        let length = length + FRAMING;
        (length <= bytes.len()).then_some(length).ok_or(ReplayError::Short)
    }

    /// Returns the size of the block in the file.
    pub(super) fn len(&self) -> usize {
        self.payload.len() + FRAMING
    }
}

/// Returns a payload as a block.
pub(super) fn block(kind: BlockKind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + FRAMING);
    bytes.push(kind.letter());
    // No caller has more than `REPLAY_BLOCK_BYTES_MAX`.
    bytes.extend(u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(payload);
    bytes.extend(crc32(&bytes).to_le_bytes());
    bytes
}

/// Where a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkEntry {
    /// Position of its block in the file.
    pub at: u64,
    /// Tick of its key frame.
    pub first: u64,
    /// Number of ticks after the key frame.
    pub ticks: u32,
}

impl ChunkEntry {
    /// Returns the last tick.
    pub fn end(&self) -> Tick {
        Tick(self.first).plus(self.ticks.into())
    }
}

/// The list of chunks at the end of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    pub(super) chunks: Vec<ChunkEntry>,
}

impl Index {
    pub(super) fn read(payload: &[u8]) -> Result<Self, ReplayError> {
        const DAMAGED: ReplayError = ReplayError::Damaged;
        // Before memory is taken for them.
        let (count, _) = postcard::take_from_bytes::<u64>(payload).map_err(|_| DAMAGED)?;
        if count > REPLAY_CHUNKS_MAX as u64 {
            return Err(DAMAGED);
        }
        let (index, rest): (Self, _) = postcard::take_from_bytes(payload).map_err(|_| DAMAGED)?;
        let is_valid =
            rest.is_empty() && index.chunks.is_sorted_by(|a, b| a.at < b.at && a.first <= b.first);
        is_valid.then_some(index).ok_or(DAMAGED)
    }

    /// Returns the last blocks of a file whose chunks end at `at`.
    pub(super) fn blocks(&self, at: u64) -> Vec<u8> {
        let payload = postcard::to_stdvec(self).unwrap_or_default();
        let mut bytes = block(BlockKind::Index, &payload);
        bytes.extend(block(BlockKind::End, &at.to_le_bytes()));
        bytes
    }

    /// Finds the index from the end of a file: all of it but the first `skipped` bytes.
    pub(super) fn find(bytes: &[u8], skipped: u64) -> Result<Self, ReplayError> {
        const END: usize = 8 + FRAMING;
        let last = bytes.len().checked_sub(END).ok_or(ReplayError::Short)?;
        let end = Block::read(&bytes[last..])?;
        let at = end.payload.try_into().map_err(|_| ReplayError::Damaged)?;
        let at = u64::from_le_bytes(at).checked_sub(skipped).ok_or(ReplayError::Short)?;
        let at = usize::try_from(at).map_err(|_| ReplayError::Damaged)?;
        let block = Block::read(bytes.get(at..last).ok_or(ReplayError::Damaged)?)?;
        if (end.kind, block.kind) != (BlockKind::End, BlockKind::Index) || at + block.len() != last
        {
            return Err(ReplayError::Damaged);
        }
        Self::read(block.payload)
    }
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        let mut sum = at as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 != 0 { 0xedb8_8320 ^ sum >> 1 } else { sum >> 1 };
            bit += 1;
        }
        table[at] = sum;
        at += 1;
    }
    table
};

/// Returns the CRC-32 of zip, PNG and Ethernet (ISO 3309).
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| TABLE[usize::from(sum as u8 ^ byte)] ^ sum >> 8;
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_common_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}

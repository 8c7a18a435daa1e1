//! A file of a part of a recording.

use super::chunk_reader::read_key;
use super::error::ReplayError;
use super::file::{Block, BlockKind, MAGIC, block};
use super::reader::read_header;
use super::recorder::{Assembly, Piece};
use crate::time::Tick;

/// Returns the start of a file whose first chunk is this one of a longer recording. Its header
/// tells when the chunk began, and who was there.
///
/// # Errors
///
/// The pieces are invalid.
pub fn start_at(start: &Piece, first: &Piece) -> Result<Piece, ReplayError> {
    let (Piece::Start(start), Piece::Chunk(first)) = (start, first) else {
        return Err(ReplayError::Damaged);
    };
    let mut header = read_header(start)?;
    let (first, key) = read_key(Block::read(first)?.payload)?;
    let passed = header.rates.time_of(Tick(first.since(header.first)));
    header.first = first;
    header.unix_micros = header.unix_micros.saturating_add(passed.0);
    header.people = key.people;
    Ok(Piece::Start([&MAGIC[..], &block(BlockKind::Header, &header.write())].concat()))
}

/// Returns a file with some consecutive chunks of a recording, whose start is `start`, as in
/// [`start_at`].
///
/// # Errors
///
/// There is no chunk, or the pieces are invalid.
pub fn clip<'p>(
    start: &Piece,
    chunks: impl IntoIterator<Item = &'p Piece>,
) -> Result<Vec<u8>, ReplayError> {
    let mut chunks = chunks.into_iter().peekable();
    let start = start_at(start, chunks.peek().ok_or(ReplayError::Short)?)?;
    let mut assembly = Assembly::default();
    let mut bytes = assembly.push(&start).ok_or(ReplayError::Damaged)?.to_vec();
    for chunk in chunks {
        bytes.extend(assembly.push(chunk).ok_or(ReplayError::Damaged)?);
    }
    bytes.extend(assembly.end());
    Ok(bytes)
}

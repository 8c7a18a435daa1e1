//! A file of a part of a recording.

use super::chunk_reader::read_key;
use super::error::ReplayError;
use super::file::{Block, BlockKind, MAGIC, block};
use super::reader::read_header;
use super::recorder::{Assembly, Piece};
use crate::time::Tick;

/// Returns a file with some consecutive chunks of a recording, whose start is `start`. Its header
/// tells when the first of these began, and who was there.
///
/// # Errors
///
/// There is no chunk, or the pieces are invalid.
pub fn clip<'p>(
    start: &Piece,
    chunks: impl IntoIterator<Item = &'p Piece>,
) -> Result<Vec<u8>, ReplayError> {
    let (Piece::Start(start), mut chunks) = (start, chunks.into_iter().peekable()) else {
        return Err(ReplayError::Damaged);
    };
    let Some(Piece::Chunk(first)) = chunks.peek() else { return Err(ReplayError::Short) };
    let mut header = read_header(start)?;
    let (first, key) = read_key(Block::read(first)?.payload)?;
    let passed = header.rates.time_of(Tick(first.since(header.first)));
    header.first = first;
    header.unix_micros = header.unix_micros.saturating_add(passed.0);
    header.people = key.people;
    let mut assembly = Assembly::default();
    let start = [&MAGIC[..], &block(BlockKind::Header, &header.write())].concat();
    let start = Piece::Start(start);
    let mut bytes = assembly.push(&start).ok_or(ReplayError::Damaged)?.to_vec();
    for chunk in chunks {
        bytes.extend(assembly.push(chunk).ok_or(ReplayError::Damaged)?);
    }
    bytes.extend(assembly.end());
    Ok(bytes)
}

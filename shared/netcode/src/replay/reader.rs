//! Reads recordings: opens a file, finds its chunks, and plays from any tick.

use std::sync::Arc;

use super::chunk::{Chunk, Frame, TickRecord};
use super::chunk_reader::{ChunkReader, OpenChunk, Section, read_entries, read_head};
use super::entries::Entry;
use super::error::ReplayError;
use super::file::{Block, BlockKind, ChunkEntry, Index, MAGIC, PAYLOAD_AT};
use super::header::Header;
use super::scan::{Damage, Scan};
use super::tables::Translation;
use crate::fields::{Entities, Entity, Slot};
use crate::ids::EntityId;
use crate::motion::interpolate::{TickTime, blend_values, cut_between};
use crate::time::Tick;

/// An opened recording.
#[derive(Clone, Debug)]
pub struct Replay {
    bytes: Arc<[u8]>,
    header: Arc<Header>,
    chunks: Arc<[ChunkEntry]>,
    /// What lies between the chunks, if there was no index.
    damage: Arc<[Damage]>,
    is_complete: bool,
}

/// Reads the header from the first bytes of a file, at most
/// [`REPLAY_HEADER_BYTES_MAX`](crate::limits::REPLAY_HEADER_BYTES_MAX) of them, for lists.
pub fn read_header(bytes: &[u8]) -> Result<Header, ReplayError> {
    opened(bytes).map(|(header, _)| header)
}

/// Reads the first and the last tick from the last bytes of a file of `length` bytes, for lists.
/// `None` if there is no intact index among them.
pub fn read_span(end: &[u8], length: u64) -> Option<(Tick, Tick)> {
    let index = Index::find(end, length.checked_sub(end.len() as u64)?).ok()?;
    span_of(&index.chunks)
}

fn span_of(chunks: &[ChunkEntry]) -> Option<(Tick, Tick)> {
    let (first, last) = (chunks.first()?, chunks.last()?);
    Some((Tick(first.first), last.end()))
}

/// Reads the header, and returns the position after it.
fn opened(bytes: &[u8]) -> Result<(Header, usize), ReplayError> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or(ReplayError::Foreign)?;
    let block = Block::read(rest)?;
    if block.kind != BlockKind::Header {
        return Err(ReplayError::Damaged);
    }
    Ok((Header::read(block.payload)?, MAGIC.len() + block.len()))
}

impl Replay {
    /// Opens a recording. If its index is missing or damaged, it is rebuilt from the chunks that
    /// can be read.
    ///
    /// # Errors
    ///
    /// The bytes are not a recording, are of a newer format, or have a damaged header.
    pub fn open(bytes: impl Into<Arc<[u8]>>) -> Result<Self, ReplayError> {
        let bytes = bytes.into();
        let (header, start) = opened(&bytes)?;
        let (chunks, damage, is_complete) = match Index::find(&bytes, 0) {
            Ok(index) if index.chunks.iter().all(ends_in_time) => (index.chunks, Vec::new(), true),
            Ok(_) => return Err(ReplayError::Damaged),
            Err(_) => {
                let Scan { chunks, damage, .. } = Scan::new(&bytes, start);
                (chunks, damage, false)
            }
        };
        let (header, chunks, damage) = (Arc::new(header), chunks.into(), damage.into());
        Ok(Self { bytes, header, chunks, damage, is_complete })
    }

    /// Returns what the recording is of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the file was ended properly. Otherwise the last seconds may be missing.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns where the chunks are.
    pub fn chunks(&self) -> &[ChunkEntry] {
        &self.chunks
    }

    /// Returns the damaged parts that were found in place of chunks while the index was rebuilt, in
    /// the order of the file. [`chunk`](Self::chunk) finds out about damage within a chunk.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Returns the bytes that complete a file that was not ended, and where they belong: behind the
    /// last chunk, in place of what is left of a block. `None` if the file has its index, or no
    /// chunk, or if a part of it is damaged: an index would hide that.
    pub fn ending(&self) -> Option<(u64, Vec<u8>)> {
        let last = self.chunks.last().filter(|_| !self.is_complete && self.damage.is_empty())?;
        let rest = self.bytes.get(usize::try_from(last.at).ok()?..)?;
        let end = last.at + Block::length(rest).ok()? as u64;
        Some((end, Index { chunks: self.chunks.to_vec() }.blocks(end)))
    }

    /// Checks the bytes of a chunk, and returns their damage, if any.
    pub fn damage_to(&self, number: usize) -> Option<Damage> {
        self.payload(number).err().and_then(|error| self.damage_of(number, error))
    }

    /// Returns the damage to a chunk for which there is this error.
    pub(crate) fn damage_of(&self, number: usize, error: ReplayError) -> Option<Damage> {
        let entry = self.chunks.get(number)?;
        let end = self.chunks.get(number + 1).map_or(self.bytes.len() as u64, |next| next.at);
        Some(Damage { bytes: entry.at..end, first: Tick(entry.first), last: entry.end(), error })
    }

    /// Returns the first and the last tick; `None` if there is no chunk.
    pub fn span(&self) -> Option<(Tick, Tick)> {
        span_of(&self.chunks)
    }

    /// Returns the number of recorded ticks after `from` and up to `to`, without those of damaged
    /// chunks.
    pub fn ticks_between(&self, from: Tick, to: Tick) -> u64 {
        let recorded = self.chunks.iter().enumerate().map(|(number, chunk)| {
            let (first, last) = (Tick(chunk.first), chunk.end());
            let counts = last > from && first < to && self.payload(number).is_ok();
            if counts { last.min(to).since(first.max(from)) } else { 0 }
        });
        recorded.fold(0, u64::saturating_add)
    }

    /// Returns the number of the chunk with a tick: the last one whose key frame is not later.
    pub fn chunk_at(&self, tick: Tick) -> Option<usize> {
        self.chunks.partition_point(|chunk| chunk.first <= tick.0).checked_sub(1)
    }

    fn payload(&self, number: usize) -> Result<Section, ReplayError> {
        let entry = self.chunks.get(number).ok_or(ReplayError::Short)?;
        let place = |entry: &ChunkEntry| usize::try_from(entry.at).unwrap_or(usize::MAX);
        // Chunks that overlap would make a small file take long.
        let end = self.chunks.get(number + 1).map_or(self.bytes.len(), place);
        let start = place(entry);
        let bytes = self.bytes.get(start..end).ok_or(ReplayError::Short)?;
        let block = Block::read(bytes)?;
        let head = read_head(block.payload)?;
        let is_it = (head.first, head.ticks) == (entry.first, entry.ticks);
        if block.kind != BlockKind::Chunk || !is_it {
            return Err(ReplayError::Damaged);
        }
        let start = start + PAYLOAD_AT;
        Ok(Section::new(&self.bytes, start..start + block.payload.len()))
    }

    /// Decodes a chunk.
    pub fn chunk(&self, number: usize) -> Result<Chunk, ReplayError> {
        self.open_chunk(number)?.finish()
    }

    /// Decodes a chunk up to its key frame; the rest is decoded on demand.
    pub fn open_chunk(&self, number: usize) -> Result<OpenChunk, ReplayError> {
        OpenChunk::new(&self.header, self.payload(number)?)
    }

    /// Begins to decode a chunk, for callers that keep only a part of it.
    pub(super) fn read_chunk(&self, number: usize) -> Result<(ChunkReader, Chunk), ReplayError> {
        ChunkReader::begin(&self.header, self.payload(number)?)
    }

    /// Decodes what happened between the ticks of a chunk, each with the tick before it. Much
    /// faster than [`chunk`](Self::chunk), for markers and lists.
    pub fn entries(&self, number: usize) -> Result<Vec<(Tick, Entry)>, ReplayError> {
        let first = Tick(self.chunks.get(number).ok_or(ReplayError::Short)?.first);
        let entries = read_entries(self.payload(number)?.as_ref())?;
        Ok(entries.into_iter().map(|(ticks, entry)| (first.plus(ticks.into()), entry)).collect())
    }

    /// Checks every byte.
    ///
    /// # Errors
    ///
    /// Anything is damaged or missing.
    pub fn check(&self) -> Result<(), ReplayError> {
        (0..self.chunks.len()).try_for_each(|number| self.chunk(number).map(drop))?;
        self.damage.first().map_or(Ok(()), |damage| Err(damage.error))?;
        self.is_complete.then_some(()).ok_or(ReplayError::Short)
    }
}

/// Whether all ticks of a chunk can exist.
pub(super) fn ends_in_time(chunk: &ChunkEntry) -> bool {
    chunk.first <= Tick::MAX_SENT.0
}

/// A position in a recording, with the chunk around it, which is decoded slightly beyond the
/// position.
#[derive(Debug)]
pub struct Cursor {
    replay: Replay,
    tick: Tick,
    loaded: Option<(usize, OpenChunk)>,
}

impl Cursor {
    /// Creates a position at the start of a recording.
    pub fn new(replay: Replay) -> Self {
        let tick = replay.span().map_or(Tick(0), |(first, _)| first);
        Self { replay, tick, loaded: None }
    }

    /// Returns the recording.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Returns the position.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Moves to a tick; if that was not recorded, to the last one before it, or else to the first.
    /// Decodes the chunk, from where decoding has stopped before, up to the first stored states
    /// that are more than one tick later.
    ///
    /// # Errors
    ///
    /// The chunk is damaged; the position does not change.
    pub fn seek(&mut self, tick: Tick) -> Result<Tick, ReplayError> {
        let (first, last) = self.replay.span().ok_or(ReplayError::Short)?;
        let tick = tick.clamp(first, last);
        let number = self.replay.chunk_at(tick).ok_or(ReplayError::Short)?;
        let entry = self.replay.chunks[number];
        let tick = tick.min(entry.end());
        match &mut self.loaded {
            Some((loaded, open)) if *loaded == number => open.read_beyond(tick.plus(1))?,
            loaded => {
                let mut open = self.replay.open_chunk(number)?;
                open.read_beyond(tick.plus(1))?;
                *loaded = Some((number, open));
            }
        }
        self.tick = tick;
        Ok(tick)
    }

    /// Returns the chunk around the position, as far as it is decoded; `None` before the first
    /// [`seek`](Self::seek).
    pub fn chunk(&self) -> Option<&Chunk> {
        self.loaded.as_ref().map(|(_, open)| open.chunk())
    }

    /// Returns the tick at the position: inputs, and what the server made of them. `None` at the
    /// key frame of a chunk: that tick is the last one of the chunk before.
    pub fn record(&self) -> Option<&TickRecord> {
        let chunk = self.chunk()?;
        let at = self.tick.since(chunk.first).checked_sub(1)?;
        chunk.ticks.get(usize::try_from(at).ok()?)
    }

    /// Returns the stored states before and after a time in the current chunk, which may be up to
    /// one tick after the position. At the end of the chunk, both are the last ones.
    pub fn around(&self, at: TickTime) -> Option<(&Frame, &Frame)> {
        let frames = &self.chunk()?.frames;
        let next = frames.partition_point(|frame| frame.tick <= at.tick).max(1);
        let before = frames.get(next - 1)?;
        Some((before, frames.get(next).unwrap_or(before)))
    }

    /// Returns the entities at a time as in [`around`](Self::around), in the records of this build.
    /// They are interpolated between the stored states before and after.
    pub fn scene<E: Entity>(&self, translation: &Translation, at: TickTime) -> Entities<E> {
        let mut scene = Entities::default();
        let Some((before, after)) = self.around(at) else { return scene };
        let span = after.tick.since(before.tick).max(1) as f64;
        let part = (f64::from(at.since(before.tick)) / span).clamp(0.0, 1.0);
        for (index, state) in &before.states {
            let Some(entity) = translation.entity::<E>(state.kind, &state.packed) else { continue };
            let later = after.states.binary_search_by_key(index, |(index, _)| *index);
            let later = later.ok().map(|at| &after.states[at].1);
            let later = later.filter(|later| later.same_entity(state));
            let later = later.and_then(|later| translation.entity::<E>(later.kind, &later.packed));
            let entity = later.map_or(entity, |later| blended(&entity, &later, part));
            let id = EntityId { index: *index, generation: state.generation };
            scene.insert(Slot { id, owner: state.owner, entity });
        }
        scene
    }
}

/// Interpolates an entity, unless there is a discontinuity in between.
fn blended<E: Entity>(from: &E, to: &E, part: f64) -> E {
    let fields = from.fields();
    let (a, b) = (from.values(), to.values());
    if part <= 0.0 || cut_between(fields, &a, &b) {
        return *from;
    }
    E::from_values(from.kind(), &blend_values(fields, &a, &b, part))
}

//! Decodes chunks tick by tick, so that a seek or a search need not wait for a whole chunk.

use std::ops::Range;
use std::sync::Arc;

use super::chunk::{Budget, Chunk, ChunkHead, Frame, TickRecord, unpack};
use super::coder::{Coder as _, Decoder};
use super::entries::{Entry, KeyState, Player};
use super::error::ReplayError;
use super::frames::FrameCoder;
use super::header::{Header, are_valid};
use super::steps::StepCoder;
use crate::limits::{
    ENTITIES_MAX, REPLAY_CHUNK_TICKS_MAX, REPLAY_ENTRIES_MAX, REPLAY_PAST_MAX, SEATS_MAX,
};
use crate::time::Tick;

/// A part of a file's bytes.
#[derive(Clone, Debug)]
pub(super) struct Section {
    bytes: Arc<[u8]>,
    range: Range<usize>,
}

impl Section {
    /// Returns a range of bytes, clipped to those that exist.
    pub(super) fn new(bytes: &Arc<[u8]>, range: Range<usize>) -> Self {
        let end = range.end.min(bytes.len());
        Self { bytes: Arc::clone(bytes), range: range.start.min(end)..end }
    }

    /// Returns the last `count` bytes of this section.
    fn last(self, count: usize) -> Self {
        let start = self.range.end.saturating_sub(count).max(self.range.start);
        Self { range: start..self.range.end, ..self }
    }
}

impl AsRef<[u8]> for Section {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// The parts of a chunk that are not decoded yet.
struct Parts<'a> {
    head: ChunkHead,
    key: &'a [u8],
    entries: &'a [u8],
    stream: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(payload: &'a [u8]) -> Result<Self, ReplayError> {
        const HEAD: ReplayError = ReplayError::Chunk("head");
        let (head, rest): (ChunkHead, _) = postcard::take_from_bytes(payload).map_err(|_| HEAD)?;
        if head.first > Tick::MAX_SENT.0
            || head.ticks > REPLAY_CHUNK_TICKS_MAX
            || usize::from(head.past) > REPLAY_PAST_MAX
            || u64::from(head.past) > head.first
        {
            return Err(HEAD);
        }
        let (key, rest) = rest.split_at_checked(head.key[0] as usize).ok_or(HEAD)?;
        let (entries, stream) = rest.split_at_checked(head.entries[0] as usize).ok_or(HEAD)?;
        Ok(Self { head, key, entries, stream })
    }

    fn key(&self) -> Result<KeyState, ReplayError> {
        const KEY: ReplayError = ReplayError::Chunk("key frame");
        let raw = unpack(self.key, self.head.key[1]).ok_or(KEY)?;
        let (mut key, rest): (KeyState, _) = postcard::take_from_bytes(&raw).map_err(|_| KEY)?;
        let is_valid = rest.is_empty()
            && key.generations.len() <= usize::from(ENTITIES_MAX)
            && key.players.len() <= usize::from(SEATS_MAX)
            && key.players.iter_mut().all(Player::clean)
            && are_valid(&mut key.people);
        is_valid.then_some(key).ok_or(KEY)
    }

    fn entries(&self) -> Result<Vec<(u32, Entry)>, ReplayError> {
        const ENTRIES: ReplayError = ReplayError::Chunk("entries");
        let raw = unpack(self.entries, self.head.entries[1]).ok_or(ENTRIES)?;
        let (mut rest, mut entries, mut last) = (&raw[..], Vec::new(), 0);
        while !rest.is_empty() {
            let (mut entry, after): ((u32, Entry), _) =
                postcard::take_from_bytes(rest).map_err(|_| ENTRIES)?;
            let is_valid = entry.0 >= last
                && entry.0 <= self.head.ticks
                && entries.len() < REPLAY_ENTRIES_MAX
                && entry.1.clean();
            if !is_valid {
                return Err(ENTRIES);
            }
            last = entry.0;
            entries.push(entry);
            rest = after;
        }
        Ok(entries)
    }
}

/// Returns the head of a chunk: its first tick, its length, and the sizes of its parts.
pub(super) fn read_head(payload: &[u8]) -> Result<ChunkHead, ReplayError> {
    Parts::read(payload).map(|parts| parts.head)
}

/// Decodes only what happened between ticks.
pub(super) fn read_entries(payload: &[u8]) -> Result<Vec<(u32, Entry)>, ReplayError> {
    Parts::read(payload)?.entries()
}

/// Decodes only the key frame's tick, and its state without the entities.
pub(super) fn read_key(payload: &[u8]) -> Result<(Tick, KeyState), ReplayError> {
    let parts = Parts::read(payload)?;
    Ok((Tick(parts.head.first), parts.key()?))
}

/// Decodes a chunk, tick by tick.
#[derive(Debug)]
pub(super) struct ChunkReader {
    stream: Decoder<Section>,
    frames: FrameCoder,
    steps: StepCoder,
    budget: Budget,
    every: u64,
    /// The tick that was decoded last, and the last one of the chunk.
    tick: Tick,
    last: Tick,
    /// Why nothing more can be decoded.
    error: Option<ReplayError>,
}

impl ChunkReader {
    /// Decodes the payload of a chunk up to its key frame. The returned chunk has no ticks yet.
    pub(super) fn begin(header: &Header, payload: Section) -> Result<(Self, Chunk), ReplayError> {
        let parts = Parts::read(payload.as_ref())?;
        let (head, length) = (parts.head, parts.stream.len());
        let (key, entries) = (parts.key()?, parts.entries()?);
        let first = Tick(head.first);
        let mut reader = Self {
            stream: Decoder::new(payload.last(length)),
            frames: FrameCoder::new(&header.tables, header.rates.tick_hz),
            steps: StepCoder::new(&header.tables.input, header.rates.tick_hz),
            budget: Budget::default(),
            every: header.every.into(),
            tick: first,
            last: first.plus(head.ticks.into()),
            error: None,
        };
        let older = (0..u64::from(head.past)).rev().map(|at| first.minus(at + 1));
        let mut past = older.map(|tick| reader.frame(tick)).collect::<Result<Vec<_>, _>>()?;
        let frame = reader.frame(first)?;
        past.extend(head.past_has_key.then(|| frame.clone()));
        let past = head.has_past.then_some(past);
        let chunk = Chunk { first, key, past, frames: vec![frame], ticks: Vec::new(), entries };
        Ok((reader, chunk))
    }

    /// Returns the tick that was decoded last.
    pub(super) fn tick(&self) -> Tick {
        self.tick
    }

    /// Decodes the next tick, and the states at it if they are stored. `None` after the last tick
    /// of the chunk.
    ///
    /// # Errors
    ///
    /// The chunk is damaged from here on.
    pub(super) fn read(&mut self) -> Result<Option<(TickRecord, Option<Frame>)>, ReplayError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let read = match self.tick < self.last {
            true => self.next_tick().map(Some),
            false => self.stream.is_at_end().then_some(None).ok_or(ReplayError::Chunk("length")),
        };
        self.error = read.as_ref().err().copied();
        read
    }

    fn next_tick(&mut self) -> Result<(TickRecord, Option<Frame>), ReplayError> {
        let tick = self.tick.plus(1);
        let steps = self.steps.code(&mut self.stream, &[])?;
        self.budget.note_steps(&steps);
        let checksum = self.stream.plain(0, u16::BITS) as u16;
        if !self.is_sane() {
            return Err(ReplayError::Chunk("inputs"));
        }
        let mut frame = None;
        if tick.0.is_multiple_of(self.every) {
            self.frames.echo(&steps);
            frame = Some(self.frame(tick)?);
        }
        self.tick = tick;
        Ok((TickRecord { tick, steps, checksum }, frame))
    }

    fn frame(&mut self, tick: Tick) -> Result<Frame, ReplayError> {
        let states = self.frames.code(&mut self.stream, tick, &[])?;
        self.budget.note_states(&states);
        self.is_sane().then_some(Frame { tick, states }).ok_or(ReplayError::Chunk("states"))
    }

    /// Whether the bytes have sufficed so far, and the chunk is within its budget.
    fn is_sane(&self) -> bool {
        !self.stream.is_beyond() && self.budget.is_kept()
    }
}

/// A chunk of which only the first ticks may be decoded.
#[derive(Debug)]
pub struct OpenChunk {
    chunk: Chunk,
    reader: ChunkReader,
}

impl OpenChunk {
    /// Decodes the payload of a chunk up to its key frame.
    pub(super) fn new(header: &Header, payload: Section) -> Result<Self, ReplayError> {
        let (reader, chunk) = ChunkReader::begin(header, payload)?;
        Ok(Self { chunk, reader })
    }

    /// Returns the chunk, as far as it is decoded.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// Decodes the next tick. Returns `false` at the end of the chunk.
    ///
    /// # Errors
    ///
    /// The chunk is damaged from here on.
    pub fn read(&mut self) -> Result<bool, ReplayError> {
        let Some((record, frame)) = self.reader.read()? else { return Ok(false) };
        self.chunk.ticks.push(record);
        self.chunk.frames.extend(frame);
        Ok(true)
    }

    /// Decodes up to the first states that are stored after a tick, or to the end.
    ///
    /// # Errors
    ///
    /// The chunk is damaged before that.
    pub(super) fn read_beyond(&mut self, tick: Tick) -> Result<(), ReplayError> {
        while self.chunk.frames.last().is_none_or(|frame| frame.tick <= tick) && self.read()? {}
        Ok(())
    }

    /// Decodes the rest.
    ///
    /// # Errors
    ///
    /// The chunk is damaged.
    pub(super) fn finish(mut self) -> Result<Chunk, ReplayError> {
        while self.read()? {}
        Ok(self.chunk)
    }
}

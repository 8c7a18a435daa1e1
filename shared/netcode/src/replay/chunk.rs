//! A chunk: some seconds of a recording that can be read without the others.

use serde::{Deserialize, Serialize};

use super::coder::{Coder, Decoder, Encoder, Model};
use super::entries::{Entry, KeyState};
use super::error::ReplayError;
use super::frames::{FrameCoder, States};
use super::header::Header;
use super::steps::{PlayerSteps, StepCoder};
use crate::limits::{
    REPLAY_BLOCK_BYTES_MAX, REPLAY_CHUNK_STATES_MAX, REPLAY_CHUNK_TICKS_MAX, REPLAY_ENTRIES_MAX,
    REPLAY_ENTRY_BYTES_MAX, REPLAY_PAST_MAX,
};
use crate::snapshot::EntityState;
use crate::time::Tick;

/// The first fields of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChunkHead {
    /// Tick of the key frame.
    pub(super) first: u64,
    /// Number of ticks after it.
    pub(super) ticks: u32,
    /// Number of states before the key frame, of one tick each, against which shots are tested.
    pub(super) past: u8,
    /// Whether the key frame is among these states too.
    pub(super) past_has_key: bool,
    /// Whether [`past`](Self::past) is given at all.
    pub(super) has_past: bool,
    /// Sizes in bytes: of the key's state, of the entries, and of each when decompressed.
    pub(super) key: [u32; 2],
    pub(super) entries: [u32; 2],
}

/// States of all entities at a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The tick.
    pub tick: Tick,
    /// The entities, by ascending index.
    pub states: Vec<(u16, EntityState)>,
}

/// A tick of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickRecord {
    /// The tick that ran.
    pub tick: Tick,
    /// What every player did, by ascending id.
    pub steps: Vec<PlayerSteps>,
    /// Low bits of the checksum of the world after the tick.
    pub checksum: u16,
}

/// A decoded chunk.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Tick of the key frame.
    pub first: Tick,
    /// State at the key frame besides the entities.
    pub key: KeyState,
    /// States of the moving entities in the ticks up to the key frame, one tick after the other;
    /// `None` if the chunk does not hold them.
    pub past: Option<Vec<Frame>>,
    /// Stored states, the key frame first.
    pub frames: Vec<Frame>,
    /// The ticks after the key frame.
    pub ticks: Vec<TickRecord>,
    /// What happened between ticks, with the number of ticks of the chunk that had run.
    pub entries: Vec<(u32, Entry)>,
}

/// The last ticks before a key frame.
#[derive(Debug)]
pub(super) struct PastStates {
    /// States of moving entities, one tick after the other, the last at the key frame or the tick
    /// before it.
    pub(super) states: Vec<States>,
    pub(super) has_key: bool,
}

impl PastStates {
    /// Whether a chunk can hold them. A world with thousands of moving entities has too many.
    fn fits(&self) -> bool {
        self.states.iter().map(Vec::len).sum::<usize>() <= REPLAY_CHUNK_STATES_MAX / 4
    }
}

/// Writes one chunk.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    head: ChunkHead,
    key: Vec<u8>,
    entries: Vec<u8>,
    stream: Encoder,
    frames: FrameCoder,
    steps: StepCoder,
    budget: Budget,
    entry_count: usize,
    every: u64,
}

/// Number of entity states, players and their steps in a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn note_states(&mut self, states: &States) {
        self.0 += states.len();
    }

    pub(super) fn note_steps(&mut self, players: &[PlayerSteps]) {
        self.0 += players.iter().map(|it| 1 + it.steps.len()).sum::<usize>();
    }

    /// Whether a chunk can hold that much.
    pub(super) fn is_kept(self) -> bool {
        self.0 <= REPLAY_CHUNK_STATES_MAX
    }
}

impl ChunkWriter {
    /// Begins a chunk with its key frame.
    pub(super) fn new(
        header: &Header,
        first: Tick,
        key: &KeyState,
        past: Option<PastStates>,
        states: &States,
    ) -> Result<Self, ReplayError> {
        const KEY: ReplayError = ReplayError::Chunk("key frame");
        let past = past.filter(PastStates::fits);
        let key = postcard::to_stdvec(key).map_err(|_| KEY)?;
        if key.len() > REPLAY_ENTRY_BYTES_MAX {
            return Err(KEY);
        }
        let mut writer = Self {
            head: ChunkHead {
                first: first.0,
                ticks: 0,
                past: 0,
                past_has_key: false,
                has_past: past.is_some(),
                key: [0; 2],
                entries: [0; 2],
            },
            key,
            entries: Vec::new(),
            stream: Encoder::new(),
            frames: FrameCoder::new(&header.tables, header.rates.tick_hz),
            steps: StepCoder::new(&header.tables.input, header.rates.tick_hz),
            budget: Budget::default(),
            entry_count: 0,
            every: header.every.into(),
        };
        if let Some(PastStates { states, has_key }) = past {
            // The key frame follows, and holds the moving entities too.
            let older = states.len().min(REPLAY_PAST_MAX) - usize::from(has_key);
            writer.head.past = older as u8;
            writer.head.past_has_key = has_key;
            for (at, states) in states.iter().take(older).enumerate() {
                let tick = first.minus((older - at) as u64);
                writer.frames.code(&mut writer.stream, tick, states)?;
                writer.budget.note_states(states);
            }
        }
        writer.frames.code(&mut writer.stream, first, states)?;
        writer.budget.note_states(states);
        Ok(writer)
    }

    /// Whether the chunk should end.
    pub(super) fn is_full(&self) -> bool {
        self.head.ticks >= REPLAY_CHUNK_TICKS_MAX
            || self.budget.0 >= REPLAY_CHUNK_STATES_MAX / 2
            || self.entry_count >= REPLAY_ENTRIES_MAX / 2
            || self.entries.len() >= REPLAY_ENTRY_BYTES_MAX / 2
            || self.len() >= REPLAY_BLOCK_BYTES_MAX / 2
    }

    /// Returns about how many bytes the chunk has so far.
    pub(super) fn len(&self) -> usize {
        self.key.len() + self.entries.len() + self.stream.len()
    }

    /// Adds an entry. Fails if the entries of a single tick are more than a chunk holds.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        const ENTRIES: ReplayError = ReplayError::Chunk("entries");
        let bytes = postcard::to_stdvec(&(self.head.ticks, entry)).map_err(|_| ENTRIES)?;
        let is_full = self.entry_count >= REPLAY_ENTRIES_MAX
            || self.entries.len() + bytes.len() > REPLAY_ENTRY_BYTES_MAX;
        if is_full {
            return Err(ENTRIES);
        }
        self.entry_count += 1;
        self.entries.extend(bytes);
        Ok(())
    }

    /// Adds a tick. `states` is asked for only if they are stored.
    pub(super) fn tick(
        &mut self,
        record: &TickRecord,
        states: impl FnOnce() -> States,
    ) -> Result<(), ReplayError> {
        self.steps.code(&mut self.stream, &record.steps)?;
        self.budget.note_steps(&record.steps);
        self.stream.plain(record.checksum.into(), u16::BITS);
        if record.tick.0.is_multiple_of(self.every) {
            let states = states();
            self.frames.echo(&record.steps);
            self.frames.code(&mut self.stream, record.tick, &states)?;
            self.budget.note_states(&states);
        }
        self.head.ticks += 1;
        Ok(())
    }

    pub(super) fn head(&self) -> ChunkHead {
        self.head
    }

    /// Ends the chunk and returns its payload.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let (key, entries) = (pack(&self.key), pack(&self.entries));
        let sizes = |packed: &[u8], raw: &[u8]| [packed.len() as u32, raw.len() as u32];
        self.head.key = sizes(&key, &self.key);
        self.head.entries = sizes(&entries, &self.entries);
        let mut payload = postcard::to_stdvec(&self.head).unwrap_or_default();
        payload.extend(key);
        payload.extend(entries);
        payload.extend(self.stream.finish());
        payload
    }
}

impl Chunk {
    /// Iterates over what happened after this many ticks of the chunk.
    pub fn entries_at(&self, ticks: u64) -> impl Iterator<Item = &Entry> {
        let from = self.entries.partition_point(|(at, _)| u64::from(*at) < ticks);
        let entries = self.entries[from..].iter();
        entries.take_while(move |(at, _)| u64::from(*at) == ticks).map(|(_, entry)| entry)
    }
}

/// Models of bytes, by the upper half of the byte before.
struct ByteModels(Vec<[Model; 256]>);

impl ByteModels {
    fn new() -> Self {
        Self(vec![[Model::EVEN; 256]; 16])
    }

    fn code(&mut self, coder: &mut impl Coder, before: u8, byte: u8) -> u8 {
        let models = &mut self.0[usize::from(before >> 4)];
        let node = (0..8).rev().fold(1, |node, at| {
            node << 1 | usize::from(coder.bit(&mut models[node], byte >> at & 1 != 0))
        });
        node as u8
    }
}

/// Compresses bytes.
fn pack(raw: &[u8]) -> Vec<u8> {
    let (mut coder, mut models, mut before) = (Encoder::new(), ByteModels::new(), 0);
    for byte in raw {
        before = models.code(&mut coder, before, *byte);
    }
    coder.finish()
}

/// Decompresses bytes to this length, if it is allowed and they hold as many.
pub(super) fn unpack(packed: &[u8], length: u32) -> Option<Vec<u8>> {
    if length as usize > REPLAY_ENTRY_BYTES_MAX {
        return None;
    }
    let (mut coder, mut models, mut raw) = (Decoder::new(packed), ByteModels::new(), Vec::new());
    let mut before = 0;
    for _ in 0..length {
        before = models.code(&mut coder, before, 0);
        raw.push(before);
        if coder.is_beyond() {
            return None;
        }
    }
    coder.is_at_end().then_some(raw)
}

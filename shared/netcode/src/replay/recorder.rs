//! Records a world: blocks of a file come out, and the caller does the I/O.

use std::collections::{BTreeMap, VecDeque};

use super::chunk::{ChunkWriter, PastStates, TickRecord};
use super::entries::{Act, Entry, KeyState, News, Player};
use super::error::ReplayError;
use super::file::{BlockKind, ChunkEntry, FRAMING, Index, MAGIC, block};
use super::frames::States;
use super::header::{About, Header, Person};
use super::steps::{PlayerSteps, RecordedStep, RecordedView};
use crate::fields::{Entities, Entity, Record};
use crate::game::{Game, Inputs, PlayerInputs, Step, World};
use crate::ids::PlayerId;
use crate::limits::{REPLAY_CHUNKS_MAX, REPLAY_PIECES_MAX};
use crate::snapshot::EntityState;
use crate::time::{Micros, Rates, ServerTime, Tick};

/// Time after which a player's view time is stored even if the rules did not ask for it.
const VIEW_EVERY: Micros = Micros::from_ms(2000);

/// How often what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Stored states of all entities per second. The ticks in between follow from the inputs, or
    /// are interpolated.
    pub states_hz: u32,
    /// Duration of a chunk in seconds.
    pub chunk_secs: u32,
    /// Every how many chunks the past is stored, against which shots are tested, so that
    /// re-simulation can begin there.
    pub past_every: u32,
}

impl Pace {
    /// What a server records: chosen by measurement, see `REPLAY.md`.
    pub const DEFAULT: Self = Self { states_hz: 6, chunk_secs: 10, past_every: 6 };
}

impl Default for Pace {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A part of a recording, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The start of a file: a new recording begins.
    Start(Vec<u8>),
    /// A chunk, which can be read on its own after the start.
    Chunk(Vec<u8>),
}

/// Finds the index of a file from the pieces that are written to it.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    at: u64,
    index: Index,
}

impl Assembly {
    /// Adds the next piece; returns its bytes. `None` if the file is full or the piece is not one.
    pub fn push<'p>(&mut self, piece: &'p Piece) -> Option<&'p [u8]> {
        let bytes = match piece {
            Piece::Start(bytes) if self.at == 0 => bytes,
            Piece::Chunk(bytes) if self.at > 0 && self.index.chunks.len() < REPLAY_CHUNKS_MAX => {
                let payload = bytes.get(5..bytes.len().checked_sub(FRAMING - 5)?)?;
                let head = super::chunk_reader::read_head(payload).ok()?;
                let (at, first, ticks) = (self.at, head.first, head.ticks);
                self.index.chunks.push(ChunkEntry { at, first, ticks });
                bytes
            }
            _ => return None,
        };
        self.at += bytes.len() as u64;
        Some(bytes)
    }

    /// Returns the number of bytes so far.
    pub fn bytes(&self) -> u64 {
        self.at
    }

    /// Returns the last bytes of the file.
    pub fn end(&self) -> Vec<u8> {
        self.index.blocks(self.at)
    }
}

/// Records one game of a room.
#[derive(Debug)]
pub struct Recorder<G: Game> {
    header: Header,
    pace: Pace,
    chunk: Option<ChunkWriter>,
    chunks: u32,
    pieces: VecDeque<Piece>,
    people: BTreeMap<PlayerId, Person>,
    /// The steps of the last tick: their memory serves for the next one.
    steps: Vec<PlayerSteps>,
    /// The tick of each player's last view time in the present chunk.
    viewed: BTreeMap<PlayerId, Tick>,
    error: Option<ReplayError>,
    game: std::marker::PhantomData<fn() -> G>,
}

impl<G: Game> Recorder<G> {
    /// Begins a recording with the present state of the world, which is on the wire's grid.
    pub fn new(about: About, rates: Rates, pace: Pace, world: &World<G>) -> Self {
        let every = (rates.tick_hz / pace.states_hz.max(1)).clamp(1, u16::MAX.into());
        let people = about.people.iter().map(|person| (person.player, person.clone()));
        let people = people.collect();
        let mut header = Header::of::<G>(about, rates, every as u16, world.tick);
        let checked = header.check();
        let mut start = MAGIC.to_vec();
        start.extend(block(BlockKind::Header, &header.write()));
        let mut recorder = Self {
            header,
            pace,
            chunk: None,
            chunks: 0,
            pieces: VecDeque::from([Piece::Start(start)]),
            people,
            steps: Vec::new(),
            viewed: BTreeMap::new(),
            error: None,
            game: std::marker::PhantomData,
        };
        match checked {
            Ok(()) => recorder.begin(world),
            Err(error) => recorder.fail(error),
        }
        recorder
    }

    /// Returns why the recording has ended early, if it has.
    pub fn error(&self) -> Option<ReplayError> {
        self.error
    }

    /// Adds a change of the world.
    pub fn act(&mut self, act: Act) {
        self.add(&Entry::Act(act));
    }

    /// Adds news.
    pub fn news(&mut self, news: News) {
        match &news {
            News::Joined(people) => {
                let entries = people.iter().map(|person| (person.player, person.clone()));
                self.people.extend(entries);
            }
            News::Left(player) => drop(self.people.remove(player)),
            _ => {}
        }
        self.add(&Entry::News(news));
    }

    fn add(&mut self, entry: &Entry) {
        if let Some(chunk) = &mut self.chunk
            && let Err(error) = chunk.add(entry)
        {
            self.fail(error);
        }
    }

    /// Ends the recording: it would be one that no reader accepts.
    fn fail(&mut self, error: ReplayError) {
        tracing::warn!(
            name: "recording_impossible",
            game = G::NAME,
            %error,
            "cannot record the game; the recording ended, and the game goes on"
        );
        (self.error, self.chunk) = (Some(error), None);
    }

    /// Adds a tick that has run with these inputs, and the [`checksum`](super::checksum()) of the
    /// world after it.
    pub fn tick(&mut self, world: &World<G>, inputs: &Inputs<G::Input>, checksum: u16) {
        if self.chunk.is_none() {
            return;
        }
        let steps = self.note_steps(world.tick, inputs);
        let Some(chunk) = &mut self.chunk else { return };
        let record = TickRecord { tick: world.tick, steps, checksum };
        let added = chunk.tick(&record, || states_of(&world.entities));
        self.steps = record.steps;
        if let Err(error) = added {
            self.fail(error);
            return;
        }
        let secs = u64::from(chunk.head().ticks) / u64::from(self.header.rates.tick_hz);
        if secs >= self.pace.chunk_secs.into() || chunk.is_full() {
            self.finish();
            self.begin(world);
        }
    }

    /// Returns what the players did in a tick.
    fn note_steps(&mut self, tick: Tick, inputs: &Inputs<G::Input>) -> Vec<PlayerSteps> {
        let every = self.header.rates.tick_at(ServerTime(VIEW_EVERY.0)).0;
        let mut all = std::mem::take(&mut self.steps);
        let mut count = 0;
        for PlayerInputs { player, steps, age, origin, late } in inputs.all() {
            if count == all.len() {
                all.push(PlayerSteps { player, origin, late, age, steps: Vec::new() });
            }
            let last = self.viewed.get(&player);
            let is_due = last.is_none_or(|last| tick.since(*last) >= every);
            let noted = &mut all[count];
            (noted.player, noted.origin, noted.late, noted.age) = (player, origin, late, age);
            noted.steps.clear();
            noted.steps.extend(
                steps
                    .iter()
                    .zip(1..)
                    .map(|(step, number)| note_step(step, is_due && number == steps.len())),
            );
            if noted.steps.iter().any(|step| step.view.is_some()) {
                self.viewed.insert(player, tick);
            }
            count += 1;
        }
        all.truncate(count);
        all
    }

    fn begin(&mut self, world: &World<G>) {
        self.viewed.clear();
        let players = world.players().map(|(player, profile)| Player {
            player,
            name: profile.name.clone(),
            bot: profile.key.is_none(),
        });
        let Ok(memory) = postcard::to_stdvec(&world.memory) else {
            self.fail(ReplayError::Chunk("memory"));
            return;
        };
        let key = KeyState {
            generations: world.generations.clone(),
            random: world.random.clone(),
            memory,
            players: players.collect(),
            rewind: world.past.policy().into(),
            people: self.people.values().cloned().collect(),
        };
        let has_past = self.chunks.is_multiple_of(self.pace.past_every.max(1));
        let past = has_past.then(|| PastStates {
            states: world.past.iter().map(|(_, entities)| states_of(entities)).collect(),
            has_key: world.past.iter().last().is_some_and(|(tick, _)| tick == world.tick),
        });
        let states = states_of(&world.entities);
        match ChunkWriter::new(&self.header, world.tick, &key, past, &states) {
            Ok(chunk) => self.chunk = Some(chunk),
            Err(error) => self.fail(error),
        }
        self.chunks += 1;
    }

    /// Ends the present chunk, so that all of the recording so far can be fetched, and begins the
    /// next one.
    pub fn cut(&mut self, world: &World<G>) {
        if self.chunk.as_ref().is_some_and(|chunk| chunk.head().ticks > 0) {
            self.skip(world);
        }
    }

    /// Goes on with a world that is any number of ticks ahead, in another chunk.
    pub(crate) fn skip(&mut self, world: &World<G>) {
        if self.error.is_none() {
            self.finish();
            self.begin(world);
        }
    }

    /// Returns the number of ticks between two stored states.
    pub(crate) fn every(&self) -> u64 {
        self.header.every.into()
    }

    fn finish(&mut self) {
        let Some(chunk) = self.chunk.take().filter(|chunk| chunk.head().ticks > 0) else { return };
        self.pieces.push_back(Piece::Chunk(block(BlockKind::Chunk, &chunk.finish())));
        // Without its start, nothing of a recording can be read.
        while self.pieces.len() > REPLAY_PIECES_MAX {
            let is_of_start = matches!(self.pieces.get(1), Some(Piece::Chunk(_)))
                && matches!(self.pieces.front(), Some(Piece::Start(_)));
            self.pieces.remove(usize::from(is_of_start));
        }
    }

    /// Takes the next piece.
    pub fn poll(&mut self) -> Option<Piece> {
        self.pieces.pop_front()
    }

    /// Takes all finished pieces.
    pub(crate) fn take(&mut self) -> Vec<Piece> {
        self.pieces.drain(..).collect()
    }

    /// Puts finished pieces of an earlier recording before its own.
    pub(crate) fn put_before(&mut self, pieces: Vec<Piece>) {
        for piece in pieces.into_iter().rev() {
            self.pieces.push_front(piece);
        }
    }

    /// Returns the first tick.
    pub fn began(&self) -> Tick {
        self.header.first
    }

    /// Returns about how many bytes the present chunk has so far.
    pub fn unfinished_bytes(&self) -> usize {
        self.chunk.as_ref().map_or(0, ChunkWriter::len)
    }

    /// Returns the tick of the present chunk's key frame.
    pub fn chunk_tick(&self) -> Option<Tick> {
        self.chunk.as_ref().map(|chunk| Tick(chunk.head().first))
    }
}

/// Returns the states of entities as they are stored.
pub(crate) fn states_of<E: Entity>(entities: &Entities<E>) -> States {
    entities.iter().map(|slot| (slot.id.index, EntityState::of(slot))).collect()
}

/// Returns a step as it is stored: with its view time if the rules asked for it or one `is_due`.
fn note_step<I: Record>(step: &Step<I>, is_due: bool) -> RecordedStep {
    RecordedStep {
        age: step.age,
        packed: step.input.pack(),
        subtick: step.subtick,
        view: step.recorded_view(is_due).map(|view| RecordedView {
            claimed: view.claimed,
            accepted: view.accepted,
            adjusted: view.adjusted,
        }),
    }
}

//! Recordings of rooms, simulated or without clients.

use std::path::PathBuf;

use phaselock::game::Game;
use phaselock::replay::{Assembly, Piece};
use phaselock::server::{AnyRoom as _, Room};
use phaselock::time::Tick;

/// The pieces of a room's recording so far. If a test fails while it is recorded, they are written
/// to a file.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    pieces: Vec<Piece>,
    seed: u64,
}

/// Folder for the recordings of failing tests. Every simulation is recorded while it is set.
const FOLDER: &str = "PHASELOCK_REPLAYS";

/// The maximum number of chunks that are kept, besides the start. Arbitrary.
const CHUNKS_MAX: usize = 4096;

/// Runs a room without clients until a tick, and returns the pieces of its recording. After every
/// tick, `each` may send commands to the room.
pub fn record_until<G: Game>(
    room: &mut Room<G>,
    end: Tick,
    mut each: impl FnMut(&mut Room<G>),
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while room.tick() < end {
        let now = room.next_timeout();
        room.handle_timeout(now);
        while room.poll_output(now).is_some() {}
        each(room);
        if room.tick() >= end {
            room.cut_replay();
        }
        pieces.extend(std::iter::from_fn(|| room.poll_replay()));
    }
    pieces
}

/// Returns the file of a recording. Pieces that are not in order are left out.
pub fn file_of(pieces: &[Piece]) -> Vec<u8> {
    let (mut assembly, mut bytes) = (Assembly::default(), Vec::new());
    for piece in pieces {
        bytes.extend(assembly.push(piece).unwrap_or_default());
    }
    bytes.extend(assembly.end());
    bytes
}

impl Tape {
    pub(crate) fn new(seed: u64) -> Self {
        Self { pieces: Vec::new(), seed }
    }

    /// Whether every simulation is recorded.
    pub(crate) fn is_wanted() -> bool {
        std::env::var_os(FOLDER).is_some()
    }

    pub(crate) fn push(&mut self, piece: Piece) {
        if self.pieces.len() > CHUNKS_MAX {
            self.pieces.remove(1);
        }
        self.pieces.push(piece);
    }

    pub(crate) fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    /// Returns the file of the last recording so far.
    pub(crate) fn file(&self) -> Vec<u8> {
        let is_start = |piece: &Piece| matches!(piece, Piece::Start(_));
        let from = self.pieces.iter().rposition(is_start).unwrap_or(0);
        file_of(&self.pieces[from..])
    }

    fn path(&self) -> Option<PathBuf> {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("test").replace("::", "-");
        Some(PathBuf::from(std::env::var_os(FOLDER)?).join(format!("{name}-{}.plr", self.seed)))
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        if !std::thread::panicking() || self.pieces.is_empty() {
            return;
        }
        let Some(path) = self.path() else { return };
        match std::fs::write(&path, self.file()) {
            Ok(()) => eprintln!("what happened is in {}", path.display()),
            Err(error) => eprintln!("cannot write {}: {error}", path.display()),
        }
    }
}

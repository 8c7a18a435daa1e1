//! Explains the shots of a recording, by running it again.

use super::resimulation::Resimulation;
use crate::game::Game;
use crate::replay::{OpenChunk, Replay};
use crate::rewind::Rewound;
use crate::time::Tick;

/// Runs a recording again, some ticks at a time, and finds out how each shot was judged.
///
/// Parts that are damaged, or that cannot be run again, have no shots.
#[derive(Debug)]
pub struct ShotFinder<G: Game> {
    running: Option<(Resimulation<G>, OpenChunk)>,
    /// Number of the next chunk.
    next: usize,
}

impl<G: Game> Default for ShotFinder<G> {
    fn default() -> Self {
        Self { running: None, next: 0 }
    }
}

impl<G: Game> ShotFinder<G> {
    /// Runs up to this number of ticks, and adds their shots. Returns `false` at the end of the
    /// recording.
    pub fn find(&mut self, replay: &Replay, ticks: u32, shots: &mut Vec<Rewound>) -> bool {
        for _ in 0..ticks {
            let goes_on = match &mut self.running {
                Some((world, open)) => open.read() == Ok(true) && world.step(open.chunk()),
                None => false,
            };
            if !goes_on {
                return self.open_next(replay);
            }
            if let Some((world, _)) = &mut self.running {
                shots.extend(std::iter::from_fn(|| world.poll_rewound()));
            }
        }
        true
    }

    /// Goes on with the next chunk. Returns `false` if there is none.
    fn open_next(&mut self, replay: &Replay) -> bool {
        let Some(entry) = replay.chunks().get(self.next) else { return false };
        let before = self.running.take().filter(|(world, _)| world.tick() == Tick(entry.first));
        let opened = replay.open_chunk(self.next);
        self.next += 1;
        let Ok(open) = opened else { return true };
        let new = || {
            // Without the past, the first shots would be judged by another one.
            open.chunk().past.as_ref()?;
            let mut world = Resimulation::new(replay.header(), open.chunk()).ok()?;
            world.explain_shots();
            Some(world)
        };
        let world = before.map(|(world, _)| world).or_else(new);
        self.running = world.map(|world| (world, open));
        true
    }
}

//! The ghost beside the player: where it is, and how far the player is behind it.

use super::ghosts::FetchedGhost;
use crate::fields::Slot;
use crate::game::{Game, RunStage};
use crate::replay::{ReplayError, Run};
use crate::time::{Rates, ServerTime, Tick};

/// How many states of the run are searched for the player's position, before and after the last
/// match: two seconds.
const SOUGHT: usize = 40;

/// A ghost as it is shown in a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Ghost<E> {
    /// Name of the player who made the run.
    pub name: String,
    /// The ghost.
    pub entity: E,
    /// By how many seconds the player is later than the ghost was here; negative if earlier.
    pub behind: f64,
}

/// Shows a run beside the player's own, from the same start.
#[derive(Debug)]
pub(super) struct Pace {
    name: String,
    pub(super) hash: u64,
    run: Run,
    stage: Option<RunStage>,
    began: Option<ServerTime>,
    /// Index of the run's state nearest to the player.
    reached: usize,
}

impl Pace {
    /// Reads a ghost's run.
    pub(super) fn new<G: Game>(
        game: &G,
        rates: Rates,
        ghost: &FetchedGhost,
    ) -> Result<Self, ReplayError> {
        let run = Run::read(game, rates, &ghost.bytes)?;
        let (name, hash) = (ghost.name.clone(), ghost.hash);
        Ok(Self { name, hash, run, stage: None, began: None, reached: 0 })
    }

    /// Returns the ghost beside the player, who is shown at `time`. `None` unless an attempt runs
    /// whose start was seen.
    pub(super) fn show<G: Game>(
        &mut self,
        (game, rates): (&G, Rates),
        own: &Slot<G::Entity>,
        time: ServerTime,
    ) -> Option<Ghost<G::Entity>> {
        let stage = (G::KIT.runs?.stage)(game, &own.entity)?;
        let before = self.stage.replace(stage);
        let begins =
            before.is_some_and(|before| !before.is_running || stage.finished != before.finished);
        if !stage.is_running {
            self.began = None;
        } else if let Some(ticks) = stage.ticks {
            // The entity counts them, however late the first frame is.
            self.reached = if begins { 0 } else { self.reached };
            let passed = rates.time_of(Tick(u64::from(ticks)));
            if begins || before.is_none() {
                self.began = Some(ServerTime(time.0 - passed.0));
            }
        } else if begins {
            (self.began, self.reached) = (Some(time), 0);
        }
        let secs = (time - self.began?).as_secs();
        let entity = self.run.at(secs)?;
        let behind = secs - self.time_at::<G>(game, &own.entity)?;
        Some(Ghost { name: self.name.clone(), entity, behind })
    }

    /// Returns the time at which the ghost was nearest to where the player is.
    fn time_at<G: Game>(&mut self, game: &G, own: &G::Entity) -> Option<f64> {
        let at = game.position(own)?;
        let sought = self.reached.saturating_sub(SOUGHT)..=self.reached + SOUGHT;
        let far = |index: usize| {
            let (_, there) = self.run.sample::<G::Entity>(index)?;
            Some(game.position(&there)?.distance_squared(at))
        };
        let known = sought.filter(|index| *index < self.run.len());
        let near = known.filter_map(|index| Some((far(index)?, index)));
        self.reached = near.min_by(|(a, _), (b, _)| a.total_cmp(b))?.1;
        // Between the nearest state and the nearer of its neighbours.
        let (secs, here) = self.run.sample::<G::Entity>(self.reached)?;
        let here = game.position(&here)?;
        let beside = [self.reached.checked_sub(1), Some(self.reached + 1)];
        let beside = beside.into_iter().flatten().filter(|index| *index < self.run.len());
        let part = beside.filter_map(|index| {
            let (then, there) = self.run.sample::<G::Entity>(index)?;
            let way = game.position(&there)? - here;
            let part = (at - here).dot(way) / way.length_squared().max(1e-6);
            (part > 0.0).then(|| f64::from(part.min(1.0)) * (then - secs))
        });
        Some(
            secs + part
                .fold(0.0, |most: f64, part| if part.abs() > most.abs() { part } else { most }),
        )
    }
}

//! The inputs of all players in one tick.

use std::cell::Cell;

use super::subtick::{Subtick, Timed};
use crate::fields::Record;
use crate::ids::PlayerId;
use crate::rewind::ViewTime;

/// One step of a player: its commands, and the view time that goes with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<I> {
    /// How many ticks behind the world this step is; 0 unless the game waits for late inputs.
    pub age: u64,
    /// The player's commands.
    pub input: I,
    /// When the commands were given, if that counts; see [`Game::SUBTICKS`](super::Game::SUBTICKS).
    pub subtick: Option<Subtick>,
    view: Option<ViewTime>,
    /// Whether the rules asked for it, so that the world depends on it.
    is_view_used: Cell<bool>,
}

impl<I> Step<I> {
    pub(crate) fn new(
        age: u64,
        Timed { input, subtick }: Timed<I>,
        view: Option<ViewTime>,
    ) -> Self {
        Self { age, input, subtick, view, is_view_used: Cell::new(false) }
    }

    /// Returns the view time of the input, for [`Past::at`](crate::rewind::Past::at). `None` is the
    /// present.
    ///
    /// A recording stores all view times that the rules ask for, so ask only for those of shots.
    pub fn view(&self) -> Option<ViewTime> {
        self.is_view_used.set(true);
        self.view
    }

    /// Returns the view time if it is to be recorded: the rules asked for it, or one `is_due`.
    pub(crate) fn recorded_view(&self, is_due: bool) -> Option<ViewTime> {
        self.view.filter(|_| is_due || self.is_view_used.get())
    }
}

/// Where a player's input came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The player sent it, and it arrived before its tick ran.
    #[default]
    Used,
    /// None arrived in time: the game's substitute for a late input ([`Game::repeat`]).
    ///
    /// [`Game::repeat`]: super::Game::repeat
    Repeated,
    /// A bot of the server.
    Bot,
}

/// Range of a player's steps, and the player's lag after them in ticks.
#[derive(Clone, Copy, Debug)]
struct Steps {
    player: PlayerId,
    first: usize,
    end: usize,
    age: u64,
    origin: Origin,
    /// Inputs that arrived since the last tick, but after the tick for which they were meant.
    late: u64,
}

/// What a player did in one tick, and how it arrived.
#[derive(Debug)]
pub(crate) struct PlayerInputs<'a, I> {
    pub(crate) player: PlayerId,
    /// The steps, oldest first.
    pub(crate) steps: &'a [Step<I>],
    /// The player's lag after them in ticks.
    pub(crate) age: u64,
    pub(crate) origin: Origin,
    /// Inputs that arrived since the last tick, but after the tick for which they were meant.
    pub(crate) late: u64,
}

/// Commands of all players in one tick.
#[derive(Clone, Debug)]
pub struct Inputs<I> {
    by_player: Vec<Steps>,
    steps: Vec<Step<I>>,
}

impl<I> Default for Inputs<I> {
    fn default() -> Self {
        Self { by_player: Vec::new(), steps: Vec::new() }
    }
}

impl<I: Record> Inputs<I> {
    fn position(&self, player: PlayerId) -> Result<usize, usize> {
        self.by_player.binary_search_by_key(&player, |steps| steps.player)
    }

    /// Sets the input of a player that sees the present, such as a bot.
    pub fn set(&mut self, player: PlayerId, input: I) {
        self.set_seen(player, input, None);
    }

    /// Sets a player's input and its view time. A view time of `None` is the present.
    pub fn set_seen(&mut self, player: PlayerId, input: I, view: Option<ViewTime>) {
        self.set_timed(player, input.into(), view);
    }

    /// Sets a player's input with its instant, and its view time. A view time of `None` is the
    /// present.
    pub fn set_timed(&mut self, player: PlayerId, timed: Timed<I>, view: Option<ViewTime>) {
        self.set_steps(player, |steps| {
            steps.push(Step::new(0, timed, view));
            0
        });
    }

    /// Sets a player's steps. `add` appends them to a list and returns the lag after them in ticks.
    pub fn set_steps(&mut self, player: PlayerId, add: impl FnOnce(&mut Vec<Step<I>>) -> u64) {
        let first = self.steps.len();
        let age = add(&mut self.steps);
        let (end, origin, late) = (self.steps.len(), Origin::Used, 0);
        let entry = Steps { player, first, end, age, origin, late };
        match self.position(player) {
            Ok(at) => self.by_player[at] = entry,
            Err(at) => self.by_player.insert(at, entry),
        }
    }

    /// Sets where a player's input came from, and how many others came too late.
    pub(crate) fn note_arrival(&mut self, player: PlayerId, origin: Origin, late: u64) {
        if let Ok(at) = self.position(player) {
            (self.by_player[at].origin, self.by_player[at].late) = (origin, late);
        }
    }

    /// Iterates over the players with steps, by ascending id.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.by_player.iter().map(|steps| steps.player)
    }

    /// Iterates over what the players did and how it arrived, by ascending id.
    pub(crate) fn all(&self) -> impl Iterator<Item = PlayerInputs<'_, I>> {
        self.by_player.iter().map(|&Steps { player, first, end, age, origin, late }| {
            let steps = self.steps.get(first..end).unwrap_or_default();
            PlayerInputs { player, steps, age, origin, late }
        })
    }

    /// Returns a player's steps in this tick, oldest first. Usually that is one; with
    /// [`Late::Wait`](super::Late::Wait) it may be any number. An absent player has none.
    pub fn steps(&self, player: PlayerId) -> &[Step<I>] {
        let Ok(at) = self.position(player) else { return &[] };
        let Steps { first, end, .. } = self.by_player[at];
        self.steps.get(first..end).unwrap_or_default()
    }

    /// Returns a player's newest input, or an input with nothing pressed if the player sent none.
    pub fn get(&self, player: PlayerId) -> I {
        self.steps(player).last().map_or(I::default(), |step| step.input)
    }

    /// Returns the view time of the player's newest input; see [`Step::view`].
    pub fn view(&self, player: PlayerId) -> Option<ViewTime> {
        self.steps(player).last().and_then(Step::view)
    }

    /// Returns the instant of the player's newest input; see [`Step::subtick`].
    pub fn subtick(&self, player: PlayerId) -> Option<Subtick> {
        self.steps(player).last().and_then(|step| step.subtick)
    }

    /// Returns how far a player's own time lags behind the world's after these steps, in ticks.
    pub fn age(&self, player: PlayerId) -> u64 {
        self.position(player).map_or(0, |at| self.by_player[at].age)
    }

    /// Removes all inputs, to prepare for the next tick.
    pub fn clear(&mut self) {
        self.by_player.clear();
        self.steps.clear();
    }
}

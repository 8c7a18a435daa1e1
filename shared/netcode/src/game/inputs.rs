//! The inputs of one tick, player by player.

use crate::fields::Record;
use crate::ids::PlayerId;
use crate::rewind::ViewTime;

/// One step of a player's: what it commands, and what it saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<I> {
    /// Its tick, in ticks before the world's: 0 unless late inputs are waited for.
    pub age: u64,
    /// Commands.
    pub input: I,
    /// View time of the input, for [`Past::at`](crate::rewind::Past::at); none is the present.
    pub view: Option<ViewTime>,
}

/// Range of a player's steps, and its lag in ticks after them.
#[derive(Clone, Copy, Debug)]
struct Steps {
    player: PlayerId,
    first: usize,
    end: usize,
    age: u64,
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

    /// Sets the input of a player who sees the present, such as a bot.
    pub fn set(&mut self, player: PlayerId, input: I) {
        self.set_seen(player, input, None);
    }

    /// Sets a player's input and its view time; none is the present.
    pub fn set_seen(&mut self, player: PlayerId, input: I, view: Option<ViewTime>) {
        self.set_steps(player, |steps| {
            steps.push(Step { age: 0, input, view });
            0
        });
    }

    /// Sets a player's steps: `add` adds them to a list and returns the lag in ticks after them.
    pub fn set_steps(&mut self, player: PlayerId, add: impl FnOnce(&mut Vec<Step<I>>) -> u64) {
        let first = self.steps.len();
        let age = add(&mut self.steps);
        let entry = Steps { player, first, end: self.steps.len(), age };
        match self.position(player) {
            Ok(at) => self.by_player[at] = entry,
            Err(at) => self.by_player.insert(at, entry),
        }
    }

    /// A player's steps in this tick, in order: one, or with [`Late::Wait`](super::Late::Wait) any
    /// number; none for an absent player.
    pub fn steps(&self, player: PlayerId) -> &[Step<I>] {
        let Ok(at) = self.position(player) else { return &[] };
        let Steps { first, end, .. } = self.by_player[at];
        self.steps.get(first..end).unwrap_or_default()
    }

    /// A player's newest input; nothing pressed for one who sent none.
    pub fn get(&self, player: PlayerId) -> I {
        self.steps(player).last().map_or(I::default(), |step| step.input)
    }

    /// View time of the player's newest input; see [`Step::view`].
    pub fn view(&self, player: PlayerId) -> Option<ViewTime> {
        self.steps(player).last().and_then(|step| step.view)
    }

    /// Lag of a player's own time behind the world's after these steps, in ticks.
    pub fn age(&self, player: PlayerId) -> u64 {
        self.position(player).map_or(0, |at| self.by_player[at].age)
    }

    /// Forgets all, for the next tick.
    pub fn clear(&mut self) {
        self.by_player.clear();
        self.steps.clear();
    }
}

//! The player's input delay: the number of ticks between reading an input and its effect.
//!
//! A delay costs that much reaction time. In return, the server has each input that much earlier,
//! since the lead stays the same: fewer inputs are late and need a correction, and other players
//! see sooner what this one does.

use crate::fields::Record;
use crate::limits::INPUT_DELAY_TICKS_MAX;
use crate::time::Tick;

/// The input delay, and the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InputDelay {
    ticks: u64,
    before: u64,
    /// First tick whose input was read with the present delay.
    since: Tick,
}

impl InputDelay {
    /// Sets the delay for inputs that are read from `next` on.
    pub(super) fn set(&mut self, next: Tick, ticks: u8) {
        let ticks = ticks.min(INPUT_DELAY_TICKS_MAX).into();
        if ticks != self.ticks {
            *self = Self { ticks, before: self.ticks, since: next };
        }
    }

    /// Forgets the delay before, because ticks begin again.
    pub(super) fn restart(&mut self) {
        (self.before, self.since) = (self.ticks, Tick(0));
    }

    /// Returns the tick in which the input that is read for `tick` takes effect.
    pub(super) fn at(&self, tick: Tick) -> Tick {
        tick.plus(self.ticks)
    }

    /// Returns the delay of the input that takes effect in a tick.
    pub(super) fn of(&self, tick: Tick) -> u64 {
        // When it becomes shorter, the next ticks already have their inputs.
        let first = self.since.plus(self.ticks.max(self.before));
        if tick >= first { self.ticks } else { self.before }
    }
}

/// Merges two inputs that were read one after the other and take effect in the same tick, after
/// `before`: the first change of each field counts, so no key press is lost.
pub(super) fn merged<I: Record>(before: &I, first: &I, second: &I) -> I {
    let (before, first, mut both) = (before.pack(), first.pack(), second.pack());
    for at in (0..I::declared().fields.len()).filter(|at| first[*at] != before[*at]) {
        both[at] = first[at];
    }
    I::unpack(&both)
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::record! {
        struct Keys {
            jump: bool = Field::count(1),
            right: i16 = Field::centred(2, 0),
        }
    }

    #[test]
    fn merged_inputs_keep_each_key_that_was_pressed_or_released() {
        let keys = |jump, right| Keys { jump, right };
        let (none, jump, right) = (keys(false, 0), keys(true, 0), keys(false, 1));
        assert_eq!(merged(&none, &jump, &none), jump, "pressed and released");
        assert_eq!(merged(&jump, &none, &jump), none, "released and pressed again");
        assert_eq!(merged(&none, &jump, &right), keys(true, 1), "two keys");
        assert_eq!(merged(&none, &right, &keys(false, -1)), right, "one direction, then the other");
        assert_eq!(merged(&right, &right, &none), none, "only the second is a change");
    }

    #[test]
    fn inputs_keep_the_delay_with_which_they_were_read() {
        let mut delay = InputDelay::default();
        assert_eq!((delay.at(Tick(7)), delay.of(Tick(7))), (Tick(7), 0));
        delay.set(Tick(10), 200);
        assert_eq!(delay.at(Tick(10)), Tick(13), "limited");
        assert_eq!([9, 12, 13].map(|tick| delay.of(Tick(tick))), [0, 0, 3]);
        delay.set(Tick(15), 3);
        assert_eq!(delay.of(Tick(13)), 3, "not a change");
        delay.set(Tick(20), 1);
        assert_eq!([20, 22, 23].map(|tick| delay.of(Tick(tick))), [3, 3, 1]);
        delay.restart();
        assert_eq!(delay.of(Tick(0)), 1);
    }
}

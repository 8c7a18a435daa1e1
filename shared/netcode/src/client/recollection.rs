//! What a client received in the last seconds, kept to show them again.

use std::collections::{BTreeMap, VecDeque};

use crate::limits::{RECOLLECTION, RECOLLECTION_STATES_MAX};
use crate::snapshot::EntityState;
use crate::time::{Rates, Tick};

/// A state as it was received, or the end of an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// Index of the entity's slot.
    pub(super) index: u16,
    /// Tick of the state.
    pub(super) tick: Tick,
    /// Server time of its arrival, in seconds.
    pub(super) arrival: f64,
    /// Whether it was received, instead of following from silence.
    pub(super) said: bool,
    /// The state; `None` if the entity ended.
    pub(super) state: Option<EntityState>,
}

/// The states of the last seconds, and before them the last one of each slot.
///
/// *Invariant:* it holds nothing but what the server sent to this client.
#[derive(Debug, Default)]
pub(super) struct Recollection {
    before: BTreeMap<u16, Heard>,
    /// In the order of their arrival.
    heard: VecDeque<Heard>,
    /// Number of states that are no longer in `heard`.
    passed: u64,
}

impl Recollection {
    /// Adds a state. The oldest states become those before.
    pub(super) fn push(&mut self, rates: Rates, heard: Heard) {
        self.heard.push_back(heard);
        let kept = rates.tick_at(crate::time::ServerTime(RECOLLECTION.0)).0;
        let oldest = heard.tick.minus(kept);
        let is_over = |heard: &VecDeque<Heard>| heard.len() > RECOLLECTION_STATES_MAX;
        while is_over(&self.heard) || self.heard.front().is_some_and(|it| it.tick < oldest) {
            let Some(first) = self.heard.pop_front() else { return };
            self.passed += 1;
            let known = self.before.get(&first.index);
            if known.is_none_or(|known| known.tick <= first.tick) {
                self.before.insert(first.index, first);
            }
        }
    }

    /// Calls `each` with the states from number `next` on, up to a tick, and those before them if
    /// they have passed. Returns the number of the next one.
    pub(super) fn since(&self, next: Option<u64>, to: Tick, mut each: impl FnMut(&Heard)) -> u64 {
        let next = next.filter(|next| *next >= self.passed).unwrap_or_else(|| {
            self.before.values().for_each(&mut each);
            self.passed
        });
        let skipped = usize::try_from(next - self.passed).unwrap_or(usize::MAX);
        let due = self.heard.iter().skip(skipped).take_while(|heard| heard.tick <= to);
        next + due.map(each).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FIELDS_MAX;

    const RATES: Rates = Rates::DEFAULT;

    fn heard(index: u16, tick: u64) -> Heard {
        let packed = [tick as u32; FIELDS_MAX];
        let state = EntityState { generation: 0, kind: 0, owner: None, packed };
        Heard { index, tick: Tick(tick), arrival: 0.0, said: true, state: Some(state) }
    }

    fn ticks(of: &Recollection, next: Option<u64>, to: u64) -> (Vec<(u16, u64)>, u64) {
        let mut ticks = Vec::new();
        let next = of.since(next, Tick(to), |heard| ticks.push((heard.index, heard.tick.0)));
        (ticks, next)
    }

    #[test]
    fn states_are_told_once_up_to_a_tick() {
        let mut recollection = Recollection::default();
        (0..4).for_each(|tick| recollection.push(RATES, heard(0, tick)));
        let (first, next) = ticks(&recollection, None, 1);
        assert_eq!((first, next), (vec![(0, 0), (0, 1)], 2));
        recollection.push(RATES, heard(1, 4));
        let (rest, next) = ticks(&recollection, Some(next), 9);
        assert_eq!((rest, next), (vec![(0, 2), (0, 3), (1, 4)], 5));
        assert_eq!(ticks(&recollection, Some(next), 9), (Vec::new(), 5));
    }

    #[test]
    fn memory_is_bounded_and_things_at_rest_are_not_forgotten() {
        let mut recollection = Recollection::default();
        recollection.push(RATES, heard(7, 1));
        for tick in 0..100_000 {
            recollection.push(RATES, heard(tick as u16 % 3, tick / 100));
        }
        assert!(recollection.heard.len() <= RECOLLECTION_STATES_MAX);
        let (all, _) = ticks(&recollection, None, u64::MAX);
        assert_eq!(all.iter().filter(|(index, _)| *index == 7).count(), 1, "it was told before");
        let span = all.last().map_or(0, |(_, last)| 999 - last);
        assert_eq!(span, 0);
        // One who looked long ago is told what came before.
        let (again, _) = ticks(&recollection, Some(3), u64::MAX);
        assert_eq!(again, all);
    }
}

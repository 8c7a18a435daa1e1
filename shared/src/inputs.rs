//! One player's inputs on the server: each runs in its own tick, exactly once.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::limits::INPUT_AHEAD_TICKS_MAX;
use crate::replicate::Record;
use crate::rewind::Claim;
use crate::time::{Micros, Tick};
use crate::wire::snapshot::InputReport;

/// What became of an input that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It waits for its tick.
    InTime,
    /// Its tick ran without it.
    Late,
    /// It came before, or lies too far ahead or behind. Changes nothing.
    Ignored,
}

/// Inputs that wait for their ticks, and how early they came.
#[derive(Debug)]
pub struct InputBuffer<I> {
    waiting: BTreeMap<Tick, (I, Option<Claim>)>,
    /// Ticks that ran without an input, lately.
    missing: BTreeSet<Tick>,
    last: I,
    /// Ticks since `last` was new.
    missed: u64,
    /// The tick of the first input that came; before it a player is not late but only arriving.
    first: Option<Tick>,
    /// The newest tick for which an input came, and how early.
    newest: Option<(Tick, Micros)>,
    /// The one since the last report that came closest to being late.
    worst: Option<(Tick, Micros)>,
    /// The same for the reports before, since reports are lost.
    worst_before: VecDeque<Option<(Tick, Micros)>>,
    late: u64,
}

impl<I: Record> Default for InputBuffer<I> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            missing: BTreeSet::new(),
            last: I::default(),
            missed: 0,
            first: None,
            newest: None,
            worst: None,
            worst_before: VecDeque::new(),
            late: 0,
        }
    }
}

impl<I: Record> InputBuffer<I> {
    /// Reports that an input which came closest to being late is in.
    const REPORTS: usize = 8;

    /// An input arrived `early` before its tick was due, while the world is at tick `now`; `claim` is what
    /// its player is said to have seen.
    pub fn insert(
        &mut self,
        now: Tick,
        tick: Tick,
        input: I,
        claim: Option<Claim>,
        early: Micros,
    ) -> Accepted {
        let accepted = if tick.since(now) > INPUT_AHEAD_TICKS_MAX {
            Accepted::Ignored
        } else if tick > now {
            match self.waiting.entry(tick) {
                Entry::Occupied(_) => Accepted::Ignored,
                Entry::Vacant(place) => {
                    place.insert((input, claim));
                    Accepted::InTime
                }
            }
        } else if self.missing.remove(&tick) || self.newest.is_none() {
            // Also the very first, whose ticks nobody missed: else a client whose inputs are late
            // from the start would never be told so.
            Accepted::Late
        } else {
            Accepted::Ignored
        };
        if accepted != Accepted::Ignored {
            // A packet has its newest input first.
            self.first = Some(self.first.map_or(tick, |first| first.min(tick)));
            if self.newest.is_none_or(|(newest, _)| newest < tick) {
                self.newest = Some((tick, early));
            }
            if self.worst.is_none_or(|(_, worst)| early < worst) {
                self.worst = Some((tick, early));
            }
        }
        accepted
    }

    /// The input for the next tick to run and what its player claims to have seen: the player's, or what
    /// `repeat` makes of the last one, for which nothing is claimed.
    pub fn take(&mut self, tick: Tick, repeat: impl Fn(&I, u64) -> I) -> (I, Option<Claim>) {
        let input = self.waiting.remove(&tick);
        // Ticks that the server skipped will not run any more.
        while self.waiting.first_key_value().is_some_and(|(at, _)| *at < tick) {
            self.waiting.pop_first();
        }
        if let Some((input, claim)) = input {
            self.last = input;
            self.missed = 0;
            return (input, claim);
        }
        self.missed += 1;
        if self.first.is_some_and(|first| first <= tick) {
            self.late += 1;
            self.missing.insert(tick);
            let oldest = tick.minus(INPUT_AHEAD_TICKS_MAX);
            while self.missing.first().is_some_and(|at| *at < oldest) {
                self.missing.pop_first();
            }
        }
        (repeat(&self.last, self.missed), None)
    }

    /// Tick 0 moved: what waits was meant for other moments.
    pub fn restart(&mut self) {
        self.waiting.clear();
        self.missing.clear();
        self.first = None;
        self.newest = None;
        self.worst = None;
        self.worst_before.clear();
    }

    /// Ticks that ran without this player's input, since its first.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// What to tell the client of its inputs, and of its `missing` packets. The worst input is that of
    /// the last eight reports.
    pub fn report(&mut self, missing: u64) -> Option<InputReport> {
        let (newest, newest_early) = self.newest?;
        if self.worst_before.len() == Self::REPORTS {
            self.worst_before.pop_front();
        }
        self.worst_before.push_back(self.worst.take());
        // Of what a report can state.
        let lately = |(tick, _): &&(Tick, Micros)| newest.since(*tick) <= 127;
        let worst = self.worst_before.iter().flatten().filter(lately);
        let worst = worst.min_by_key(|(_, early)| *early);
        let (worst, worst_early) = worst.copied().unwrap_or((newest, newest_early));
        Some(InputReport {
            newest: newest.low(),
            newest_early: clamp(newest_early),
            worst_back: newest.since(worst).min(127) as u8,
            worst_early: clamp(worst_early),
            late: Some(self.late as u16),
            missing: Some(missing as u16),
        })
    }
}

fn clamp(micros: Micros) -> i32 {
    micros.0.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::record! {
        struct Go { x: i16 = Field::centred(8, 0) }
    }

    fn repeat(last: &Go, missed: u64) -> Go {
        Go { x: if missed < 3 { last.x } else { 0 } }
    }

    #[test]
    fn each_input_runs_once_in_its_tick() {
        let mut buffer = InputBuffer::default();
        let run = |buffer: &mut InputBuffer<Go>, tick| buffer.take(Tick(tick), repeat).0.x;
        assert_eq!(run(&mut buffer, 1), 0);
        assert_eq!(buffer.late(), 0);
        let early = Micros(4000);
        assert_eq!(buffer.insert(Tick(1), Tick(3), Go { x: 3 }, None, early), Accepted::InTime);
        assert_eq!(buffer.insert(Tick(1), Tick(2), Go { x: 2 }, None, -early), Accepted::InTime);
        assert_eq!(buffer.insert(Tick(1), Tick(2), Go { x: 9 }, None, early), Accepted::Ignored);
        assert_eq!([run(&mut buffer, 2), run(&mut buffer, 3), run(&mut buffer, 4)], [2, 3, 3]);
        assert_eq!(buffer.insert(Tick(4), Tick(3), Go { x: 9 }, None, early), Accepted::Ignored);
        assert_eq!(buffer.insert(Tick(4), Tick(4), Go { x: 9 }, None, Micros(-50)), Accepted::Late);
        assert_eq!(
            buffer.insert(Tick(4), Tick(4), Go { x: 9 }, None, Micros(-99)),
            Accepted::Ignored
        );
        assert_eq!([run(&mut buffer, 5), run(&mut buffer, 6)], [3, 0]);
        assert_eq!(buffer.late(), 3);
        let report = buffer.report(7).unwrap();
        assert_eq!((report.newest, report.newest_early, report.late), (4, -50, Some(3)));
        assert_eq!((report.worst_back, report.worst_early, report.missing), (2, -4000, Some(7)));
        for _ in 1..InputBuffer::<Go>::REPORTS {
            assert_eq!(buffer.report(7).unwrap().worst_early, -4000, "reports may be lost");
        }
        assert_eq!(buffer.report(7).unwrap().worst_early, -50, "it is history");
    }

    #[test]
    fn what_ran_before_the_first_input_was_not_late() {
        let mut buffer = InputBuffer::default();
        buffer.insert(Tick(1), Tick(4), Go { x: 4 }, None, Micros(4000));
        assert_eq!([2, 3, 4, 5].map(|tick| buffer.take(Tick(tick), repeat).0.x), [0, 0, 4, 4]);
        assert_eq!(buffer.late(), 1);
    }

    #[test]
    fn a_player_who_is_late_from_the_start_is_told() {
        let mut buffer = InputBuffer::default();
        buffer.take(Tick(9), repeat);
        let first = buffer.insert(Tick(9), Tick(5), Go { x: 1 }, None, Micros(-70_000));
        assert_eq!(first, Accepted::Late);
        assert_eq!(buffer.report(0).unwrap().newest_early, -70_000);
    }

    #[test]
    fn what_lies_too_far_ahead_is_refused() {
        let mut buffer = InputBuffer::default();
        for ahead in 1..10_000 {
            buffer.insert(Tick(5), Tick(5 + ahead), Go { x: 1 }, None, Micros::ZERO);
        }
        assert_eq!(buffer.waiting.len() as u64, INPUT_AHEAD_TICKS_MAX);
        buffer.take(Tick(1000), repeat);
        assert!(buffer.waiting.is_empty());
    }
}

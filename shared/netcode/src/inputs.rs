//! One player's inputs on the server. Each runs once: in its own tick, or, if the game waits for
//! late inputs ([`Late::Wait`]), in its turn.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::fields::Record;
use crate::game::{Late, Timed};
use crate::limits::{INPUT_AHEAD_TICKS_MAX, OWN_TIME_BEHIND_MAX};
use crate::rewind::Claim;
use crate::time::{Micros, Rates, ServerTime, Tick};
use crate::wire::snapshot::InputReport;

/// What happened to an input that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The input waits for its tick.
    InTime,
    /// The input's tick ran without it. With [`Late::Wait`] it waits for its turn.
    Late,
    /// The input was a duplicate, too early or too late, and changes nothing.
    Ignored,
}

/// An input as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<I> {
    /// Tick of the input.
    pub tick: Tick,
    /// The input.
    pub input: Timed<I>,
    /// The player's claim of its view time.
    pub claim: Option<Claim>,
    /// How long it arrived before its tick was due; negative if late.
    pub early: Micros,
}

/// Inputs that wait for their ticks, and statistics of how early they came.
#[derive(Debug)]
pub struct InputBuffer<I> {
    policy: Late,
    /// The tick that the player's own time has reached, with [`Late::Wait`].
    own: Option<Tick>,
    begun: bool,
    waiting: BTreeMap<Tick, (Timed<I>, Option<Claim>)>,
    /// Recent ticks that ran without an input.
    missing: BTreeSet<Tick>,
    last: I,
    /// Ticks since `last` came.
    missed: u64,
    /// Tick of the first input. Before it the player is joining, not late.
    first: Option<Tick>,
    /// The newest tick with an input, and how early it came.
    newest: Option<(Tick, Micros)>,
    /// The latest input since the last report.
    worst: Option<(Tick, Micros)>,
    /// The latest inputs of earlier reports, which are repeated because reports may be lost.
    worst_before: VecDeque<Option<(Tick, Micros)>>,
    late: u64,
    /// The newest ticks that ran on an assumed input; with [`Late::Wait`], the last tick of each
    /// part of the player's own time that was skipped. Oldest first.
    assumed: VecDeque<Tick>,
}

impl<I: Record> InputBuffer<I> {
    /// Number of reports that repeat the latest input.
    const REPORTS: usize = 8;
    /// Number of assumed inputs that are remembered. Arbitrary: more than the ticks that run while
    /// a snapshot waits to be packed.
    const ASSUMED_MAX: usize = 64;

    /// Creates an empty buffer.
    pub fn new(policy: Late) -> Self {
        Self {
            policy,
            own: None,
            begun: false,
            waiting: BTreeMap::new(),
            missing: BTreeSet::new(),
            last: I::default(),
            missed: 0,
            first: None,
            newest: None,
            worst: None,
            worst_before: VecDeque::new(),
            late: 0,
            assumed: VecDeque::new(),
        }
    }

    /// Adds an input while the world is at tick `now`.
    pub fn insert(&mut self, now: Tick, arrived: Arrived<I>) -> Accepted {
        let Arrived { tick, input, claim, early } = arrived;
        let accepted = if tick.since(now) > INPUT_AHEAD_TICKS_MAX {
            Accepted::Ignored
        } else if tick > now {
            match self.waiting.entry(tick) {
                Entry::Occupied(_) => Accepted::Ignored,
                Entry::Vacant(entry) => {
                    entry.insert((input, claim));
                    Accepted::InTime
                }
            }
        } else if self.policy == Late::Wait {
            // Its turn may still come.
            if self.own.is_none_or(|own| tick <= own) || self.waiting.contains_key(&tick) {
                Accepted::Ignored
            } else {
                self.waiting.insert(tick, (input, claim));
                Accepted::Late
            }
        } else if self.missing.remove(&tick) || self.newest.is_none() {
            // The very first input counts too: a client that is late from the start must know it.
            Accepted::Late
        } else {
            Accepted::Ignored
        };
        if accepted != Accepted::Ignored {
            // The newest input comes first in a packet.
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

    /// Returns the input for the next tick to run, with its claim. Without an input from the
    /// player, this is what `repeat` makes of the last one, without claim or instant.
    pub fn take(&mut self, tick: Tick, repeat: impl Fn(&I, u64) -> I) -> (Timed<I>, Option<Claim>) {
        let input = self.waiting.remove(&tick);
        // Ticks that the server skipped will never run.
        while self.waiting.first_key_value().is_some_and(|(at, _)| *at < tick) {
            self.waiting.pop_first();
        }
        if let Some((input, claim)) = input {
            self.last = input.input;
            self.missed = 0;
            return (input, claim);
        }
        self.missed += 1;
        self.note_assumed(tick);
        if self.first.is_some_and(|first| first <= tick) {
            self.late += 1;
            self.missing.insert(tick);
            let oldest = tick.minus(INPUT_AHEAD_TICKS_MAX);
            while self.missing.first().is_some_and(|at| *at < oldest) {
                self.missing.pop_first();
            }
        }
        (repeat(&self.last, self.missed).into(), None)
    }

    /// Whether the last tick ran without an input of the player.
    pub fn is_assumed(&self) -> bool {
        self.missed > 0
    }

    /// Returns the inputs of the ticks after the last one that ran, up to the first missing one,
    /// while the world is at tick `now`.
    pub fn ahead(&self, now: Tick) -> impl Iterator<Item = I> + Clone {
        let next = self.own.unwrap_or(now).plus(1);
        let waiting = self.waiting.range(next..).zip(next.0..);
        waiting.take_while(|((tick, _), at)| tick.0 == *at).map(|((_, (timed, _)), _)| timed.input)
    }

    /// Passes the player's own steps in a tick of the world to `run`, each with its own tick, for
    /// games that wait for late inputs. Returns the lag of the player's own time in ticks.
    ///
    /// The player's own time moves by one tick per step and never past the world's, so no more
    /// steps run than ticks have passed. It waits for missing inputs, but never lags by more than
    /// [`OWN_TIME_BEHIND_MAX`]: older inputs are lost.
    pub fn take_own(
        &mut self,
        rates: Rates,
        tick: Tick,
        mut run: impl FnMut(Tick, Timed<I>, Option<Claim>),
    ) -> u64 {
        let behind_max = rates.tick_at(ServerTime(OWN_TIME_BEHIND_MAX.0)).0;
        let mut own = self.own.unwrap_or(tick.minus(1));
        if !self.begun
            && let Some((first, _)) = self.waiting.first_key_value()
        {
            // The player's own time starts at the first input.
            let start = own.max(first.minus(1).min(tick));
            if start > std::mem::replace(&mut own, start) {
                self.note_assumed(own);
            }
        }
        while own < tick {
            if let Some((input, claim)) = self.waiting.remove(&own.plus(1)) {
                own = own.plus(1);
                self.begun = true;
                run(own, input, claim);
            } else if tick.since(own) > behind_max {
                own = tick.minus(behind_max);
                self.note_assumed(own);
            } else {
                break;
            }
        }
        while self.waiting.first_key_value().is_some_and(|(at, _)| *at <= own) {
            self.waiting.pop_first();
        }
        self.own = Some(own);
        let behind = tick.since(own);
        self.late += u64::from(self.begun && behind > 0);
        behind
    }

    fn note_assumed(&mut self, tick: Tick) {
        if self.assumed.len() == Self::ASSUMED_MAX {
            self.assumed.pop_front();
        }
        self.assumed.push_back(tick);
    }

    /// Drops the waiting inputs because tick 0 moved.
    pub fn restart(&mut self) {
        let (last, missed, late) = (self.last, self.missed, self.late);
        *self = Self { last, missed, late, ..Self::new(self.policy) };
    }

    /// Returns the report on the client's inputs and `missing` packets, for the snapshot of `tick`.
    /// It repeats the latest input of the last eight reports.
    pub fn report(&mut self, tick: Tick, missing: u64) -> Option<InputReport> {
        let (newest, newest_early) = self.newest?;
        if self.worst_before.len() == Self::REPORTS {
            self.worst_before.pop_front();
        }
        self.worst_before.push_back(self.worst.take());
        // As far back as a report can express.
        let lately = |(tick, _): &&(Tick, Micros)| newest.since(*tick) <= 127;
        let worst = self.worst_before.iter().flatten().filter(lately);
        let worst = worst.min_by_key(|(_, early)| *early);
        let (worst, worst_early) = worst.copied().unwrap_or((newest, newest_early));
        let assumed = self.assumed.iter().rev().find(|at| **at <= tick);
        Some(InputReport {
            newest: newest.low(),
            newest_early: clamp(newest_early),
            worst_back: newest.since(worst).min(127) as u8,
            worst_early: clamp(worst_early),
            late: Some(self.late as u16),
            missing: Some(missing as u16),
            assumed_back: assumed.and_then(|at| u8::try_from(tick.since(*at)).ok()),
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

    /// Inserts an input without a claim that arrives `early` microseconds before its tick.
    fn insert(buffer: &mut InputBuffer<Go>, now: u64, tick: u64, x: i16, early: i64) -> Accepted {
        let (tick, input, early) = (Tick(tick), Go { x }.into(), Micros(early));
        buffer.insert(Tick(now), Arrived { tick, input, claim: None, early })
    }

    fn repeat(last: &Go, missed: u64) -> Go {
        Go { x: if missed < 3 { last.x } else { 0 } }
    }

    #[test]
    fn each_input_runs_once_in_its_tick() {
        let mut buffer = InputBuffer::new(Late::Repeat);
        let run = |buffer: &mut InputBuffer<Go>, tick| buffer.take(Tick(tick), repeat).0.input.x;
        assert_eq!(run(&mut buffer, 1), 0);
        assert_eq!(buffer.late, 0);
        let early = 4000;
        assert_eq!(insert(&mut buffer, 1, 3, 3, early), Accepted::InTime);
        assert_eq!(insert(&mut buffer, 1, 2, 2, -early), Accepted::InTime);
        assert_eq!(insert(&mut buffer, 1, 2, 9, early), Accepted::Ignored);
        assert_eq!([run(&mut buffer, 2), run(&mut buffer, 3), run(&mut buffer, 4)], [2, 3, 3]);
        assert_eq!(insert(&mut buffer, 4, 3, 9, early), Accepted::Ignored);
        assert_eq!(insert(&mut buffer, 4, 4, 9, -50), Accepted::Late);
        assert_eq!(insert(&mut buffer, 4, 4, 9, -99), Accepted::Ignored);
        assert_eq!([run(&mut buffer, 5), run(&mut buffer, 6)], [3, 0]);
        assert_eq!(buffer.late, 3);
        let report = buffer.report(Tick(6), 7).unwrap();
        assert_eq!((report.newest, report.newest_early, report.late), (4, -50, Some(3)));
        assert_eq!((report.worst_back, report.worst_early, report.missing), (2, -4000, Some(7)));
        assert_eq!(report.assumed_back, Some(0));
        for _ in 1..InputBuffer::<Go>::REPORTS {
            assert_eq!(
                buffer.report(Tick(6), 7).unwrap().worst_early,
                -4000,
                "reports may be lost"
            );
        }
        assert_eq!(buffer.report(Tick(6), 7).unwrap().worst_early, -50, "it is history");
        assert_eq!(buffer.report(Tick(3), 7).unwrap().assumed_back, Some(2), "tick 1 had none");
    }

    #[test]
    fn inputs_are_known_ahead_up_to_the_first_that_is_missing() {
        for policy in [Late::Repeat, Late::Wait] {
            let mut buffer = InputBuffer::new(policy);
            let ahead = |buffer: &InputBuffer<Go>, now| -> Vec<_> {
                buffer.ahead(Tick(now)).map(|input| input.x).collect()
            };
            assert_eq!(ahead(&buffer, 1), []);
            for tick in [2, 3, 4, 6] {
                insert(&mut buffer, 1, tick, tick as i16, 4000);
            }
            assert_eq!(ahead(&buffer, 1), [2, 3, 4]);
            match policy {
                Late::Repeat => drop(buffer.take(Tick(2), repeat)),
                Late::Wait => drop(own(&mut buffer, 2)),
            }
            assert_eq!(ahead(&buffer, 2), [3, 4]);
            if policy == Late::Wait {
                for tick in 3..=6 {
                    own(&mut buffer, tick);
                }
                assert_eq!(ahead(&buffer, 6), [], "the player's own time waits for tick 5");
                insert(&mut buffer, 6, 5, 5, -4000);
                assert_eq!(ahead(&buffer, 6), [5, 6]);
            }
        }
    }

    #[test]
    fn what_ran_before_the_first_input_was_not_late() {
        let mut buffer = InputBuffer::new(Late::Repeat);
        insert(&mut buffer, 1, 4, 4, 4000);
        assert_eq!(
            [2, 3, 4, 5].map(|tick| buffer.take(Tick(tick), repeat).0.input.x),
            [0, 0, 4, 4]
        );
        assert_eq!(buffer.late, 1);
    }

    #[test]
    fn a_player_who_is_late_from_the_start_is_told() {
        let mut buffer = InputBuffer::new(Late::Repeat);
        buffer.take(Tick(9), repeat);
        let first = insert(&mut buffer, 9, 5, 1, -70_000);
        assert_eq!(first, Accepted::Late);
        assert_eq!(buffer.report(Tick(9), 0).unwrap().newest_early, -70_000);
    }

    #[test]
    fn what_lies_too_far_ahead_is_refused() {
        let mut buffer = InputBuffer::new(Late::Repeat);
        for ahead in 1..10_000 {
            insert(&mut buffer, 5, 5 + ahead, 1, 0);
        }
        assert_eq!(buffer.waiting.len() as u64, INPUT_AHEAD_TICKS_MAX);
        buffer.take(Tick(1000), repeat);
        assert!(buffer.waiting.is_empty());
    }

    /// Returns the ticks of the player's own time that run in a tick of the world, and the
    /// remaining lag.
    fn own(buffer: &mut InputBuffer<Go>, tick: u64) -> (Vec<u64>, u64) {
        let mut ran = Vec::new();
        let behind = buffer.take_own(Rates::DEFAULT, Tick(tick), |at, input, _| {
            assert_eq!(at.0 % 100, input.input.x as u64, "it is the input of that tick");
            ran.push(at.0);
        });
        (ran, behind)
    }

    fn came(buffer: &mut InputBuffer<Go>, now: u64, ticks: impl Iterator<Item = u64>) -> usize {
        let mut insert = |tick: u64| insert(buffer, now, tick, (tick % 100) as i16, 0);
        ticks.filter(|tick| insert(*tick) != Accepted::Ignored).count()
    }

    #[test]
    fn own_time_waits_and_catches_up() {
        let mut buffer = InputBuffer::new(Late::Wait);
        assert_eq!(own(&mut buffer, 1), (vec![], 1), "nothing has come yet");
        assert_eq!(came(&mut buffer, 1, 3..5), 2);
        assert_eq!(own(&mut buffer, 2), (vec![], 0), "the first is for the next tick");
        assert_eq!(own(&mut buffer, 3), (vec![3], 0));
        assert_eq!(own(&mut buffer, 4), (vec![4], 0));
        assert_eq!(came(&mut buffer, 4, 6..8), 2);
        assert_eq!(own(&mut buffer, 5), (vec![], 1));
        assert_eq!(own(&mut buffer, 6), (vec![], 2), "six waits for five");
        assert_eq!(buffer.late, 2);
        assert_eq!(came(&mut buffer, 6, 5..6), 1);
        assert_eq!(own(&mut buffer, 7), (vec![5, 6, 7], 0));
        assert_eq!(came(&mut buffer, 7, 0..8), 0, "these ran");
        buffer.restart();
        assert_eq!(own(&mut buffer, 8).0, Vec::<u64>::new());
    }

    #[test]
    fn who_waits_too_long_loses_the_rest() {
        let mut buffer = InputBuffer::new(Late::Wait);
        assert_eq!(came(&mut buffer, 0, 1..2), 1);
        assert_eq!(own(&mut buffer, 1), (vec![1], 0));
        let behind: Vec<_> = (2..40).map(|tick| own(&mut buffer, tick).1).collect();
        assert_eq!(behind[..15], (1..=15).collect::<Vec<_>>());
        assert!(behind[15..].iter().all(|behind| *behind == 15), "a quarter of a second at 60 Hz");
        assert_eq!(came(&mut buffer, 39, 2..42), 17, "ticks that it jumped over are lost");
        assert_eq!(own(&mut buffer, 40), ((25..=40).collect(), 0));
        assert_eq!(buffer.report(Tick(40), 0).unwrap().assumed_back, Some(16), "up to tick 24");
        assert_eq!(own(&mut buffer, 41), (vec![41], 0));
    }

    #[test]
    fn no_more_steps_run_than_ticks_whatever_comes() {
        let mut random = crate::random::Random::new(2);
        let mut buffer = InputBuffer::new(Late::Wait);
        let (mut ran, mut last) = (0, 0);
        for tick in 1..5000 {
            for _ in 0..random.below(4) {
                let from = (tick + u64::from(random.below(300))).saturating_sub(150);
                came(&mut buffer, tick - 1, from..from + u64::from(random.below(40)));
            }
            let (steps, behind) = own(&mut buffer, tick);
            assert!(steps.len() <= 16 && behind <= 15, "{steps:?}, {behind} behind");
            assert!(steps.iter().all(|step| *step <= tick));
            for step in steps {
                assert!(step > last, "once and in order");
                last = step;
                ran += 1;
            }
            assert!(ran <= tick && buffer.waiting.len() as u64 <= INPUT_AHEAD_TICKS_MAX + 16);
        }
        assert!(ran > 2500, "{ran} of 5000 ran");
    }
}

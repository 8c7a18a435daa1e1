//! Properties of a link over time.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::LinkConfig;
use crate::time::Micros;

/// Properties of a link over time. Clones share memory, and the cost of all calls grows with the
/// logarithm of the number of changes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSchedule {
    /// The different properties.
    configs: Arc<[LinkConfig]>,
    /// Spans in ascending order; the first begins at the start.
    spans: Arc<[Span]>,
    repeat: Option<Micros>,
}

/// A time of constant properties.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    from: Micros,
    /// Index of the properties.
    config: u32,
    /// How many millionths of a bit can pass from the start until `from`.
    passed: u128,
}

impl LinkSchedule {
    /// Creates a schedule of properties, each with its time since the start. Times ascend from 0
    /// for the first one; others are left out. It starts over at `repeat`, if given.
    pub fn new(
        first: LinkConfig,
        changes: impl IntoIterator<Item = (Micros, LinkConfig)>,
        repeat: Option<Micros>,
    ) -> Self {
        let mut builder = ScheduleBuilder::new(first);
        changes.into_iter().for_each(|(from, config)| builder.push(from, config));
        builder.build(repeat)
    }

    /// Returns the initial properties.
    pub fn first(&self) -> &LinkConfig {
        &self.configs[0]
    }

    /// Returns the properties at each change, by time since the start, in ascending order.
    pub fn changes(&self) -> impl Iterator<Item = (Micros, &LinkConfig)> {
        self.spans.iter().skip(1).map(|span| (span.from, self.config(span)))
    }

    #[cfg(test)]
    pub(super) fn configs_len(&self) -> usize {
        self.configs.len()
    }

    /// Returns when the schedule starts over, if it does.
    pub fn repeat(&self) -> Option<Micros> {
        self.repeat
    }

    /// Returns this schedule, starting over at `repeat`.
    pub fn repeating(self, repeat: Option<Micros>) -> Self {
        let repeat = repeat.filter(|period| *period > Micros::ZERO);
        Self { repeat, ..self }
    }

    /// Returns a schedule with other properties at the same times.
    pub(super) fn map<E>(
        &self,
        mut change: impl FnMut(LinkConfig) -> Result<LinkConfig, E>,
    ) -> Result<Self, E> {
        let configs = self.configs.iter().map(|config| change(*config));
        let configs: Vec<_> = configs.collect::<Result<_, E>>()?;
        let config = |span: &Span| (span.from, configs[span.config as usize]);
        Ok(Self::new(configs[0], self.spans.iter().skip(1).map(config), self.repeat))
    }

    /// Returns the properties in force this long after the start.
    pub fn at(&self, elapsed: Micros) -> &LinkConfig {
        let elapsed = match self.repeat {
            Some(period) => Micros(elapsed.0.rem_euclid(period.0)),
            None => elapsed,
        };
        self.config(self.span(elapsed))
    }

    fn config(&self, span: &Span) -> &LinkConfig {
        &self.configs[span.config as usize]
    }

    fn span(&self, elapsed: Micros) -> &Span {
        let begun = self.spans.partition_point(|span| span.from <= elapsed);
        &self.spans[begun.max(1) - 1]
    }

    /// Returns how many millionths of a bit can pass from the start until this time after it.
    pub(super) fn passed(&self, until: Micros) -> u128 {
        let until = until.max(Micros::ZERO);
        match self.repeat {
            Some(Micros(period)) => {
                let runs = (until.0 / period) as u128;
                runs * self.passed_in_run(Micros(period))
                    + self.passed_in_run(Micros(until.0 % period))
            }
            None => self.passed_in_run(until),
        }
    }

    fn passed_in_run(&self, until: Micros) -> u128 {
        let span = self.span(until);
        span.passed + self.config(span).speed() * (until - span.from).0 as u128
    }

    /// Returns the time after `from` in which this many millionths of a bit pass, if they ever do.
    pub(super) fn passing(&self, from: Micros, amount: u128) -> Option<Micros> {
        if amount == 0 {
            return Some(Micros::ZERO);
        }
        let goal = self.passed(from) + amount;
        let Some(Micros(period)) = self.repeat else {
            return Some(self.passing_in_run(goal)? - from);
        };
        let run = Some(self.passed_in_run(Micros(period))).filter(|run| *run > 0)?;
        let runs = (goal - 1) / run;
        let last = self.passing_in_run(goal - runs * run)?;
        let before = i64::try_from(runs).ok()?.checked_mul(period)?;
        Some(last + Micros(before) - from)
    }

    /// Returns the time after the start of a run until which this many millionths of a bit pass.
    fn passing_in_run(&self, goal: u128) -> Option<Micros> {
        let begun = self.spans.partition_point(|span| span.passed < goal);
        let span = &self.spans[begun.max(1) - 1];
        let speed = Some(self.config(span).speed()).filter(|speed| *speed > 0)?;
        let time = i64::try_from((goal - span.passed).div_ceil(speed)).ok()?;
        Some(span.from + Micros(time))
    }
}

/// Up to this number, different properties are searched one by one: for the few changes that people
/// write, a map would take most of the memory. Arbitrary.
const FEW: usize = 8;

/// A schedule while it is put together.
#[derive(Debug)]
pub(super) struct ScheduleBuilder {
    configs: Vec<LinkConfig>,
    /// Index of each of the properties, once there are more than a few.
    known: BTreeMap<Key, u32>,
    spans: Vec<Span>,
}

impl ScheduleBuilder {
    /// Starts a schedule with its initial properties.
    pub(super) fn new(first: LinkConfig) -> Self {
        let spans = vec![Span { from: Micros::ZERO, config: 0, passed: 0 }];
        Self { configs: vec![first], known: BTreeMap::new(), spans }
    }

    /// Adds a change, unless it is not later than the one before or changes nothing.
    pub(super) fn push(&mut self, from: Micros, config: LinkConfig) {
        let before = self.spans[self.spans.len() - 1];
        let was = self.configs[before.config as usize];
        if from <= before.from || config == was {
            return;
        }
        let index = self.index_of(config);
        if index != before.config {
            let passed = before.passed + was.speed() * (from - before.from).0 as u128;
            self.spans.push(Span { from, config: index, passed });
        }
    }

    /// Returns the index of properties, which are added if they are new.
    fn index_of(&mut self, config: LinkConfig) -> u32 {
        let next = self.configs.len() as u32;
        let index = if self.configs.len() <= FEW {
            let mut known = (0..).zip(&self.configs).map(|(at, known)| (at, key(known)));
            known.find(|(_, known)| *known == key(&config)).map_or(next, |(at, _)| at)
        } else {
            if self.known.is_empty() {
                self.known = self.configs.iter().map(key).zip(0..).collect();
            }
            *self.known.entry(key(&config)).or_insert(next)
        };
        if index == next {
            self.configs.push(config);
        }
        index
    }

    /// Finishes the schedule, which starts over at `repeat`, if given.
    pub(super) fn build(self, repeat: Option<Micros>) -> LinkSchedule {
        let repeat = repeat.filter(|period| *period > Micros::ZERO);
        LinkSchedule { configs: self.configs.into(), spans: self.spans.into(), repeat }
    }
}

impl From<LinkConfig> for LinkSchedule {
    fn from(first: LinkConfig) -> Self {
        Self::new(first, [], None)
    }
}

/// Equal for equal properties.
type Key = ((Micros, Micros, u8, bool), [u32; 5], (Option<u64>, u32, u8));

fn key(config: &LinkConfig) -> Key {
    let LinkConfig { delay, jitter, spread, ordered, loss, burst, .. } = *config;
    let LinkConfig { burst_loss, stray_loss, duplication, rate, queue_bytes, drops, .. } = *config;
    let shares = [loss, burst, burst_loss, stray_loss, duplication].map(f32::to_bits);
    ((delay, jitter, spread as u8, ordered), shares, (rate, queue_bytes, drops as u8))
}

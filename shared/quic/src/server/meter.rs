//! Measures a running room: its durations and its players' inputs.

use std::collections::BTreeMap;
use std::time::Duration;

use phaselock::ids::PlayerId;
use phaselock::server::{MemberStats, PlayerFigures};
use phaselock::time::{LocalTime, Micros};

/// Interval between updates.
const INTERVAL: Micros = Micros::from_ms(1000);
/// Number of durations remembered for a second: all ticks at the highest rate.
const SAMPLES_MAX: usize = 256;

/// Upper bounds of a histogram's classes in microseconds; one more class is above.
pub const TIME_CLASSES: [u64; 12] =
    [125, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000];

/// A histogram of durations since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Number of durations in each class of [`TIME_CLASSES`], and above the last.
    pub counts: [u64; TIME_CLASSES.len() + 1],
    /// Sum of all durations in microseconds.
    pub micros: u64,
}

impl Times {
    /// Adds a duration.
    pub fn add(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.counts[TIME_CLASSES.partition_point(|end| *end < micros)] += 1;
        self.micros = self.micros.saturating_add(micros);
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Durations of the ticks in the last second, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickMicros {
    /// The mean.
    pub mean: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The maximum.
    pub max: u64,
}

impl TickMicros {
    fn of(samples: &mut [u64]) -> Self {
        samples.sort_unstable();
        let Some(max) = samples.last() else { return Self::default() };
        let mean = samples.iter().sum::<u64>() / samples.len() as u64;
        Self { mean, p99: samples[(samples.len() * 99).div_ceil(100) - 1], max: *max }
    }
}

/// Counters of all players' inputs in a room since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputCounts {
    /// Input packets that were accepted.
    pub accepted: u64,
    /// Inputs that came after their tick.
    pub late: u64,
    /// Input packets that were lost.
    pub missing: u64,
}

/// Measurements of a running room.
#[derive(Debug)]
pub(super) struct Meter {
    updated_at: LocalTime,
    ticks: Times,
    sending: Times,
    /// Durations of this second's ticks in microseconds.
    samples: Vec<u64>,
    inputs: InputCounts,
    /// Each session's counters at the last update.
    before: BTreeMap<PlayerId, MemberStats>,
}

impl Meter {
    pub(super) fn new(now: LocalTime) -> Self {
        Self {
            updated_at: now,
            ticks: Times::default(),
            sending: Times::default(),
            samples: Vec::new(),
            inputs: InputCounts::default(),
            before: BTreeMap::new(),
        }
    }

    /// Notes the durations of a tick and of sending after it.
    pub(super) fn note(&mut self, tick: Duration, sending: Duration) {
        self.ticks.add(tick);
        self.sending.add(sending);
        if self.samples.len() < SAMPLES_MAX {
            self.samples.push(u64::try_from(tick.as_micros()).unwrap_or(u64::MAX));
        }
    }

    /// Whether figures are due; the next ones are an interval later.
    pub(super) fn take_due(&mut self, now: LocalTime) -> bool {
        let is_due = now - self.updated_at >= INTERVAL;
        if is_due {
            self.updated_at = now;
        }
        is_due
    }

    /// Returns the figures at a tick, with these people in the room.
    pub(super) fn measure(
        &mut self,
        tick: u64,
        is_asleep: bool,
        players: Vec<PlayerFigures>,
    ) -> Measured {
        self.count(&players);
        let last_second = TickMicros::of(&mut self.samples);
        self.samples.clear();
        Measured {
            tick,
            is_asleep,
            players,
            inputs: self.inputs,
            ticks: self.ticks.clone(),
            sending: self.sending.clone(),
            last_second,
        }
    }

    fn count(&mut self, players: &[PlayerFigures]) {
        let mut before = std::mem::take(&mut self.before);
        for PlayerFigures { player, stats, .. } in players {
            let mut was = before.remove(player).unwrap_or_default();
            if was.accepted > stats.accepted {
                // Another player has this id now.
                was = MemberStats::default();
            }
            self.inputs.accepted += stats.accepted - was.accepted;
            self.inputs.late += stats.late.saturating_sub(was.late);
            self.inputs.missing += stats.missing.saturating_sub(was.missing);
            self.before.insert(*player, *stats);
        }
    }
}

/// Figures about a room that are updated once a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The world's tick.
    pub tick: u64,
    /// Whether the room is paused because it is empty.
    pub is_asleep: bool,
    /// Figures about the people in the room.
    pub players: Vec<PlayerFigures>,
    /// Counters of their inputs.
    pub inputs: InputCounts,
    /// Durations of ticks since the room was opened.
    pub ticks: Times,
    /// Durations of sending after a tick, including packing snapshots.
    pub sending: Times,
    /// Durations of the ticks in the last second.
    pub last_second: TickMicros,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_their_classes() {
        let mut times = Times::default();
        for micros in [0, 125, 126, 16_000, 1_000_000] {
            times.add(Duration::from_micros(micros));
        }
        assert_eq!((times.counts[0], times.counts[1], times.counts[7]), (2, 1, 1));
        assert_eq!((times.counts[12], times.count(), times.micros), (1, 5, 1_016_251));
    }

    #[test]
    fn a_second_is_told_by_its_mean_its_slowest_and_its_slow() {
        let mut samples: Vec<_> = (1..=200).rev().collect();
        assert_eq!(TickMicros::of(&mut samples), TickMicros { mean: 100, p99: 198, max: 200 });
        assert_eq!(TickMicros::of(&mut []), TickMicros::default());
    }
}

//! A client's counters, sampled ten times a second while the graph is shown.

use std::collections::VecDeque;

use phaselock::client::Stats;
use phaselock::time::{LocalTime, Micros};

use crate::overlay::SILENCE_WARN;
use crate::play::Readings;

/// Time between two samples.
pub(super) const EVERY: Micros = Micros::from_ms(100);
/// Time span of the graph.
pub(super) const SHOWN: Micros = Micros::from_ms(10_000);
/// Number of samples kept: all that are shown, one that leaves and one that is being filled.
const KEPT: usize = (SHOWN.0 / EVERY.0) as usize + 2;
/// Number of samples over which losses are averaged: five seconds' worth, as in the corner of the
/// window.
const LOSS_SAMPLES: i64 = 50;

/// Events of a tenth of a second, and gauges at its end; times are in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// Index, in tenths of a second since the clock's start.
    slot: i64,
    /// Whether the server was heard from lately.
    pub(super) heard: bool,
    /// Whether the counters restarted because the client rejoined.
    pub(super) rejoined: bool,
    pub(super) round_trip: f32,
    pub(super) jitter: f32,
    /// Largest phase error, and the clock's error bound.
    pub(super) phase: f32,
    pub(super) bound: f32,
    /// Rate of the clock and its learnt part, in parts per million.
    pub(super) rate: f32,
    pub(super) skew: f32,
    /// Time between an input's arrival and its tick: of the last input, and the minimum.
    pub(super) early: f32,
    pub(super) early_min: f32,
    /// Interpolation delay.
    pub(super) delay: f32,
    /// Snapshot packets due, and missing.
    pub(super) due_down: u32,
    pub(super) lost_down: u32,
    /// Input packets sent, and missed by the server.
    pub(super) sent_up: u32,
    pub(super) lost_up: u32,
    pub(super) late: u32,
    /// Frames without data to move towards.
    pub(super) underruns: u32,
    /// Mispredictions, and the largest correction.
    pub(super) corrections: u32,
    pub(super) correction: f32,
    pub(super) rx_bytes: u32,
    pub(super) tx_bytes: u32,
}

impl Sample {
    /// Middle of the sample.
    pub(super) fn at(&self) -> LocalTime {
        LocalTime(self.slot * EVERY.0 + EVERY.0 / 2)
    }
}

/// Samples of the last ten seconds, oldest first.
#[derive(Debug, Default)]
pub(super) struct Samples {
    ring: VecDeque<Sample>,
    before: Option<Stats>,
}

impl Samples {
    /// Reads the counters; call it once per frame.
    pub(super) fn observe(&mut self, now: LocalTime, readings: &Readings) {
        let stats = &readings.stats;
        let slot = now.0.div_euclid(EVERY.0);
        let fresh = self.ring.back().is_none_or(|last| last.slot < slot);
        if fresh {
            // By age, not by number: there is no sample for times without frames.
            while self.ring.front().is_some_and(|first| first.slot + KEPT as i64 <= slot) {
                self.ring.pop_front();
            }
            self.ring.push_back(Sample { slot, ..Sample::default() });
        }
        // A new client counts from 0. Counts before the first reading belong to no sample.
        let before = self.before.replace(stats.clone()).unwrap_or_else(|| stats.clone());
        let rejoined = stats.frames < before.frames;
        let before = if rejoined { Stats::default() } else { before };
        let rise = |count: fn(&Stats) -> u64| {
            u32::try_from(count(stats).saturating_sub(count(&before))).unwrap_or(u32::MAX)
        };
        let missing = |stats: &Stats| stats.expected.saturating_sub(stats.arrived);

        self.take_back(missing(&before).saturating_sub(missing(stats)));
        let Some(sample) = self.ring.back_mut() else { return };
        sample.rejoined |= rejoined;
        sample.heard = readings.silence <= SILENCE_WARN && stats.snapshots > 0;
        sample.round_trip = ms(stats.round_trip);
        sample.jitter = ms(stats.jitter);
        let phase = ms(readings.phase_error);
        if fresh || phase.abs() > sample.phase.abs() {
            sample.phase = phase;
        }
        sample.bound = ms(stats.clock_error_max);
        sample.rate = readings.rate_ppm as f32;
        sample.skew = readings.skew_ppm as f32;
        sample.early = ms(stats.input_early);
        let early_min = ms(stats.input_early_min);
        sample.early_min = if fresh { early_min } else { sample.early_min.min(early_min) };
        sample.delay = ms(readings.delay);
        sample.due_down += rise(|stats| stats.expected);
        sample.lost_down += rise(missing);
        sample.sent_up += rise(|stats| stats.tx_packets);
        sample.lost_up += rise(|stats| stats.tx_lost);
        sample.late += rise(|stats| stats.late_inputs);
        sample.underruns += rise(|stats| stats.underruns);
        sample.rx_bytes += rise(|stats| stats.rx_bytes);
        sample.tx_bytes += rise(|stats| stats.tx_bytes);
        let corrections = rise(|stats| stats.mispredictions);
        sample.corrections += corrections;
        if let Some(last) = stats.last_correction.filter(|_| corrections > 0) {
            sample.correction = sample.correction.max(last.size);
        }
    }

    /// Takes back losses of packets that had only been overtaken.
    fn take_back(&mut self, packets: u64) {
        let mut left = u32::try_from(packets).unwrap_or(u32::MAX);
        for sample in self.ring.iter_mut().rev() {
            let back = left.min(sample.lost_down);
            sample.lost_down -= back;
            left -= back;
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Sample> + ExactSizeIterator {
        self.ring.iter()
    }

    /// Samples that no longer change.
    pub(super) fn complete(&self) -> impl Iterator<Item = &Sample> {
        self.ring.iter().take(self.ring.len().saturating_sub(1))
    }

    /// Shares of packets lost in the last five seconds, down and up; `None` without packets.
    pub(super) fn losses(&self) -> [Option<f32>; 2] {
        let newest = self.ring.back().map_or(0, |last| last.slot);
        let recent = || self.ring.iter().filter(|s| s.slot > newest - LOSS_SAMPLES);
        let share = |lost: fn(&Sample) -> u32, of: fn(&Sample) -> u32| {
            let sum = |count: fn(&Sample) -> u32| recent().map(|s| u64::from(count(s))).sum();
            let (lost, of): (u64, u64) = (sum(lost), sum(of));
            (of > 0).then(|| (lost as f32 / of as f32).min(1.0))
        };
        [share(|s| s.lost_down, |s| s.due_down), share(|s| s.lost_up, |s| s.sent_up)]
    }

    /// Sum of a count over everything shown.
    pub(super) fn sum(&self, count: fn(&Sample) -> u32) -> u64 {
        self.ring.iter().map(|sample| u64::from(count(sample))).sum()
    }
}

fn ms(span: Micros) -> f32 {
    span.as_ms() as f32
}

#[cfg(test)]
mod tests {
    use phaselock::client::Correction;
    use phaselock::clock::pll::LoopFilter;
    use phaselock::game::MispredictionCause;
    use phaselock::time::{Rates, Tick};

    use super::*;
    use crate::meter;

    fn correction(tick: u64, size: f32) -> Correction {
        Correction { tick: Tick(tick), size, cause: Some(MispredictionCause::Player) }
    }

    fn readings() -> Readings {
        Readings {
            stats: Stats::default(),
            figures: meter::Figures::default(),
            lead: Micros::ZERO,
            margin: Micros::ZERO,
            late_episodes: 0,
            delay: Micros::ZERO,
            silence: Micros::ZERO,
            filter: LoopFilter::default(),
            phase_error: Micros::ZERO,
            rate_ppm: 0.0,
            skew_ppm: 0.0,
            locked: true,
            world: Rates::DEFAULT,
            players: (1, 0),
        }
    }

    fn look(samples: &mut Samples, at_ms: i64, readings: &mut Readings) {
        readings.stats.frames += 1;
        samples.observe(LocalTime(at_ms * 1000), readings);
    }

    /// The samples' values, by when they began, in milliseconds.
    fn with<T: PartialEq + Default>(samples: &Samples, of: fn(&Sample) -> T) -> Vec<(i64, T)> {
        let all = samples.iter().map(|sample| (sample.slot * 100, of(sample)));
        all.filter(|(_, value)| *value != T::default()).collect()
    }

    #[test]
    fn events_fall_into_the_sample_of_their_time() {
        let (mut samples, mut now) = (Samples::default(), readings());
        // Counts before the first reading belong to no event.
        now.stats.late_inputs = 7;
        look(&mut samples, 1000, &mut now);
        now.stats.late_inputs += 2;
        look(&mut samples, 1099, &mut now);
        now.stats.late_inputs += 1;
        now.stats.underruns += 1;
        look(&mut samples, 1100, &mut now);
        now.stats.mispredictions += 1;
        now.stats.last_correction = Some(correction(5, 0.5));
        look(&mut samples, 1350, &mut now);
        now.stats.mispredictions += 1;
        now.stats.last_correction = Some(correction(6, 0.25));
        look(&mut samples, 1399, &mut now);
        look(&mut samples, 1400, &mut now);
        assert_eq!(with(&samples, |s| s.late), [(1000, 2), (1100, 1)]);
        assert_eq!(with(&samples, |s| s.underruns), [(1100, 1)]);
        assert_eq!(with(&samples, |s| s.corrections), [(1300, 2)]);
        assert_eq!(with(&samples, |s| s.correction), [(1300, 0.5)]);
        assert_eq!(samples.sum(|s| s.late), 3);
        // There is none for the time without frames, and the last is still being filled.
        assert_eq!((samples.iter().len(), samples.complete().count()), (4, 3));
    }

    #[test]
    fn gauges_show_the_worst_of_their_sample() {
        let (mut samples, mut now) = (Samples::default(), readings());
        for (at, phase, least) in [(0, 300, 9), (30, -900, 4), (60, 100, 6), (100, 50, 8)] {
            now.phase_error = Micros(phase);
            now.stats.input_early_min = Micros::from_ms(least);
            look(&mut samples, at, &mut now);
        }
        assert_eq!(with(&samples, |s| s.phase), [(0, -0.9), (100, 0.05)]);
        assert_eq!(with(&samples, |s| s.early_min), [(0, 4.0), (100, 8.0)]);
    }

    #[test]
    fn losses_are_those_of_the_last_five_seconds() {
        let (mut samples, mut now) = (Samples::default(), readings());
        look(&mut samples, 0, &mut now);
        assert_eq!(samples.losses(), [None, None]);
        for n in 1..=100 {
            // Everything is lost for five seconds, then a tenth of the packets down.
            now.stats.expected += 10;
            now.stats.arrived += if n < 50 { 0 } else { 9 };
            now.stats.tx_packets += 5;
            now.stats.tx_lost += if n < 50 { 7 } else { 0 };
            look(&mut samples, n * 100, &mut now);
            if n == 40 {
                // The server may report more losses than packets were sent meanwhile.
                assert_eq!(samples.losses(), [Some(1.0), Some(1.0)]);
            }
        }
        assert_eq!(samples.losses(), [Some(0.1), Some(0.0)]);
    }

    #[test]
    fn what_was_only_overtaken_is_not_lost() {
        let (mut samples, mut now) = (Samples::default(), readings());
        look(&mut samples, 0, &mut now);
        (now.stats.expected, now.stats.arrived) = (4, 2);
        look(&mut samples, 100, &mut now);
        (now.stats.expected, now.stats.arrived) = (5, 3);
        look(&mut samples, 200, &mut now);
        assert_eq!(with(&samples, |s| s.lost_down), [(100, 2)]);
        now.stats.arrived = 4;
        look(&mut samples, 300, &mut now);
        assert_eq!(with(&samples, |s| s.lost_down), [(100, 1)]);
    }

    #[test]
    fn the_oldest_make_room() {
        let (mut samples, mut now) = (Samples::default(), readings());
        for n in 0..10_000 {
            now.stats.rx_bytes += 100;
            look(&mut samples, n * 17, &mut now);
        }
        assert_eq!(samples.iter().len(), KEPT);
        let first = samples.iter().next().map(|sample| sample.at());
        assert!(first.is_some_and(|at| LocalTime(9_999 * 17_000) - at >= SHOWN));
        assert!(samples.complete().all(|sample| (500..=600).contains(&sample.rx_bytes)));
    }

    #[test]
    fn what_is_old_goes_also_where_few_frames_were_drawn() {
        let (mut samples, mut now) = (Samples::default(), readings());
        for n in 0..20 {
            now.stats.late_inputs += 1;
            now.stats.expected += 1;
            look(&mut samples, n * 200, &mut now);
        }
        assert_eq!(samples.sum(|sample| sample.late), 19);
        // A hidden window; then five frames a second.
        for n in 0..40 {
            now.stats.expected += 1;
            now.stats.arrived += u64::from(n > 0);
            look(&mut samples, 64_000 + n * 200, &mut now);
        }
        assert_eq!(samples.sum(|sample| sample.late), 0);
        assert_eq!(samples.iter().len(), 40);
        assert_eq!(samples.losses()[0], Some(0.0));
    }

    #[test]
    fn an_idle_client_has_nothing_to_tell() {
        let (mut samples, mut now) = (Samples::default(), readings());
        for n in 0..50 {
            now.silence = Micros::from_ms(n * 20);
            look(&mut samples, n * 20, &mut now);
        }
        for sample in samples.iter() {
            assert_eq!(*sample, Sample { slot: sample.slot, ..Sample::default() });
        }
        assert_eq!(samples.losses(), [None, None]);
        now.stats.snapshots = 1;
        look(&mut samples, 1000, &mut now);
        assert!(!samples.iter().any(|sample| sample.heard), "it happened long ago");
        now.silence = Micros::ZERO;
        look(&mut samples, 1010, &mut now);
        assert_eq!(with(&samples, |s| s.heard), [(1000, true)]);
    }

    #[test]
    fn a_client_that_joined_again_counts_from_nothing() {
        let (mut samples, mut now) = (Samples::default(), readings());
        (now.stats.expected, now.stats.arrived, now.stats.late_inputs) = (900, 800, 30);
        look(&mut samples, 0, &mut now);
        look(&mut samples, 50, &mut now);
        // The new client has lost more than the old one had, all of it its own.
        now.stats = Stats { expected: 300, arrived: 150, late_inputs: 4, ..Stats::default() };
        look(&mut samples, 100, &mut now);
        look(&mut samples, 200, &mut now);
        assert_eq!(with(&samples, |s| s.rejoined), [(100, true)]);
        assert_eq!(with(&samples, |s| s.lost_down), [(100, 150)]);
        assert_eq!(with(&samples, |s| s.late), [(100, 4)]);
        assert_eq!(samples.losses()[0], Some(0.5));
    }
}

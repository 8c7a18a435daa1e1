//! Current figures of the connection, from counters that run from the start.

use std::collections::VecDeque;

use phaselock::client::Stats;
use phaselock::clock::lateness::LateCause;
use phaselock::time::{LocalTime, Micros};

/// Time between two samples.
const EVERY: Micros = Micros::from_ms(250);
/// Number of samples kept: five seconds' worth, long enough to see one packet in a hundred lost.
const KEPT: usize = 21;
/// Number of samples in the last second, for figures that change faster.
const RECENT: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct Meter {
    samples: VecDeque<(LocalTime, Stats)>,
    round_trip_ms: Option<f64>,
}

/// Current figures of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    /// Round trip in milliseconds, smoothed; `None` before the first snapshot.
    pub(crate) round_trip_ms: Option<f64>,
    /// Share of snapshot packets lost in the last five seconds.
    pub(crate) loss_down: f64,
    /// Share of input packets lost in that time, as the server reported.
    pub(crate) loss_up: f64,
    /// Late inputs in that time.
    pub(crate) late_inputs: u64,
    /// Cause of most of them, if known.
    pub(crate) late_cause: Option<LateCause>,
    pub(crate) rx_bytes: f64,
    pub(crate) tx_bytes: f64,
    pub(crate) snapshots: f64,
    pub(crate) frames: f64,
}

impl Meter {
    /// Reads the counters, if a sample is due.
    pub(crate) fn observe(&mut self, now: LocalTime, stats: &Stats) {
        if self.samples.back().is_some_and(|(at, _)| now - *at < EVERY) {
            return;
        }
        if stats.snapshots > 0 {
            let ms = stats.round_trip.as_ms();
            let before = self.round_trip_ms.unwrap_or(ms);
            self.round_trip_ms = Some(before + 0.4 * (ms - before));
        }
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back((now, stats.clone()));
    }

    pub(crate) fn figures(&self) -> Figures {
        let mut figures = Figures { round_trip_ms: self.round_trip_ms, ..Figures::default() };
        let Some((now, last)) = self.samples.back() else { return figures };
        let (_, oldest) = &self.samples[0];
        let expected = last.expected.saturating_sub(oldest.expected);
        let arrived = last.arrived.saturating_sub(oldest.arrived).min(expected);
        if expected > 0 {
            figures.loss_down = 1.0 - arrived as f64 / expected as f64;
        }
        let sent = last.tx_packets.saturating_sub(oldest.tx_packets);
        if sent > 0 {
            // The report covers earlier packets, possibly more than were sent since.
            let lost = last.tx_lost.saturating_sub(oldest.tx_lost).min(sent);
            figures.loss_up = lost as f64 / sent as f64;
        }
        figures.late_inputs = last.late_inputs.saturating_sub(oldest.late_inputs);
        figures.late_cause = last.late_causes.since(&oldest.late_causes).most_frequent();
        let (then, before) = &self.samples[self.samples.len().saturating_sub(RECENT + 1)];
        let secs = (*now - *then).as_secs();
        if secs > 0.0 {
            let per_sec = |count: fn(&Stats) -> u64| (count(last) - count(before)) as f64 / secs;
            figures.rx_bytes = per_sec(|stats| stats.rx_bytes);
            figures.tx_bytes = per_sec(|stats| stats.tx_bytes);
            figures.snapshots = per_sec(|stats| stats.snapshots);
            figures.frames = per_sec(|stats| stats.frames);
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_last_seconds() {
        let mut meter = Meter::default();
        assert_eq!(meter.figures(), Figures::default());
        let mut stats = Stats::default();
        for ms in (0..20_000).step_by(10) {
            // After ten seconds, the network gets worse and the traffic doubles.
            let bad = ms >= 10_000;
            stats.rx_bytes += if bad { 200 } else { 100 };
            stats.expected += 4;
            stats.arrived += if bad { 3 } else { 4 };
            stats.tx_packets += 2;
            stats.tx_lost += u64::from(bad);
            stats.late_inputs += u64::from(ms == 18_000);
            let cause = if bad { LateCause::Frames } else { LateCause::Network };
            stats.late_causes.add(cause, u64::from(ms % 6000 == 0));
            stats.snapshots += 1;
            stats.round_trip = Micros::from_ms(40);
            meter.observe(LocalTime(ms * 1000), &stats);
            if ms == 9_990 {
                assert_eq!((meter.figures().loss_down, meter.figures().rx_bytes), (0.0, 10_000.0));
            }
        }
        let figures = meter.figures();
        assert_eq!((figures.loss_down, figures.loss_up, figures.late_inputs), (0.25, 0.5, 1));
        assert_eq!((figures.rx_bytes, figures.snapshots), (20_000.0, 100.0));
        assert_eq!(figures.round_trip_ms, Some(40.0));
        assert_eq!(figures.late_cause, Some(LateCause::Frames));
    }
}

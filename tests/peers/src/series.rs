//! Samples of all clients over time, and figures for a part of it.

use serde::{Deserialize, Serialize};

use crate::course::View;

/// Counters of a client at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Snapshots newer than all before.
    pub snapshots: u64,
    /// Tick of the newest snapshot.
    pub tick: u64,
    /// Inputs sent.
    pub inputs: u64,
    /// Ticks without an input in time.
    pub late: u64,
    /// Whether it is out of the game.
    pub is_lost: bool,
}

impl Point {
    /// Samples a client.
    pub fn of(view: &View) -> Self {
        let counts = view.counts;
        Self {
            snapshots: counts.snapshots,
            tick: counts.tick,
            inputs: counts.inputs,
            late: counts.late,
            is_lost: view.is_lost,
        }
    }
}

/// All clients at a moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds since the beginning.
    pub secs: f64,
    /// The clients, in the order in which they joined.
    pub points: Vec<Point>,
}

/// Figures of a part of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Snapshots per second: minimum, mean and maximum over the clients.
    pub snapshots: [f64; 3],
    /// World ticks per second, by the newest snapshots.
    pub ticks: f64,
    /// Mean number of inputs that a client sent per second.
    pub inputs: f64,
    /// Ticks without an input in time, over all clients.
    pub late: u64,
    /// Number of clients that were out of the game at its end.
    pub lost: usize,
}

/// Minimum time over which a rate is measured.
const WINDOW_SECS: f64 = 1.0;
/// Share of its former rate at which a client counts as back.
const BACK_MIN: f64 = 0.95;

/// Returns the index of the sample at a moment, or of the next one.
fn at(series: &[Sample], secs: f64) -> usize {
    let at = series.partition_point(|sample| sample.secs < secs);
    at.min(series.len().saturating_sub(1))
}

/// Returns each client's rate of a counter between two samples, per second.
fn rates(from: &Sample, to: &Sample, of: impl Fn(&Point) -> u64) -> Vec<f64> {
    let secs = (to.secs - from.secs).max(1e-3);
    let points = from.points.iter().zip(&to.points);
    points.map(|(from, to)| of(to).saturating_sub(of(from)) as f64 / secs).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the figures between two moments, in seconds; None without samples.
pub fn part(series: &[Sample], from: f64, to: f64) -> Option<Part> {
    let (first, last) = (series.get(at(series, from))?, series.get(at(series, to))?);
    let snapshots = rates(first, last, |point| point.snapshots);
    let low = snapshots.iter().copied().fold(f64::MAX, f64::min);
    let high = snapshots.iter().copied().fold(0.0, f64::max);
    let late = |sample: &Sample| sample.points.iter().map(|point| point.late).sum::<u64>();
    Some(Part {
        snapshots: [low, mean(&snapshots), high],
        ticks: mean(&rates(first, last, |point| point.tick)),
        inputs: mean(&rates(first, last, |point| point.inputs)),
        late: late(last).saturating_sub(late(first)),
        lost: last.points.iter().filter(|point| point.is_lost).count(),
    })
}

/// Returns the seconds from `since` to the first second in which each client got as many snapshots,
/// except for one, as before `until`, when all was well; None if there is no such second.
pub fn back_after(series: &[Sample], until: f64, since: f64) -> Option<f64> {
    let calm = rates(series.first()?, &series[at(series, until)], |point| point.snapshots);
    let begins = at(series, since)..series.len();
    let is_back = |begin: &usize| {
        let first = &series[*begin];
        let end = series.partition_point(|sample| sample.secs < first.secs + WINDOW_SECS - 0.01);
        let Some(last) = series.get(end) else { return false };
        // A span begins and ends between two snapshots.
        let rates = rates(first, last, |point| point.snapshots);
        let slack = 1.0 / (last.secs - first.secs);
        rates.iter().zip(&calm).all(|(rate, calm)| rate + slack >= BACK_MIN * calm)
    };
    begins.into_iter().find(is_back).map(|at| (series[at].secs - since).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two clients at 30 snapshots a second; from the second second on, one gets none for a given
    /// time.
    fn series(gap: f64) -> Vec<Sample> {
        let samples = (0..100).map(|at| {
            let secs = f64::from(at) / 10.0;
            let missed = (secs - 2.0).clamp(0.0, gap);
            let point = |secs: f64| Point {
                snapshots: (secs * 30.0) as u64,
                tick: (secs * 60.0) as u64,
                ..Point::default()
            };
            Sample { secs, points: vec![point(secs), point(secs - missed)] }
        });
        samples.collect()
    }

    #[test]
    fn parts_tell_the_least_and_the_most_and_when_all_are_back() {
        let series = series(1.5);
        let [low, _, high] = part(&series, 0.0, 2.0).expect("samples").snapshots;
        assert!((29.0..31.0).contains(&low) && (29.0..31.0).contains(&high), "{low} {high}");
        let [low, mean, high] = part(&series, 2.0, 3.0).expect("samples").snapshots;
        assert!(low < 0.1 && (14.0..16.0).contains(&mean) && high > 29.0, "{low} {mean} {high}");
        let back = back_after(&series, 2.0, 3.0).expect("it is back");
        assert!((0.4..0.6).contains(&back), "{back}");
        assert_eq!(back_after(&series, 2.0, 9.5), None, "there is no second left");
    }
}

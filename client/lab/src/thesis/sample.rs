//! Runs by path and clock, so that they are quickly asked for.

use std::collections::BTreeMap;

use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::super::sweep::Row;
use super::{HISTORIES, JITTERS_MS, JOININGS, LATENCIES_MS, Reading};

/// A run, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) extrapolator: Extrapolator,
    joining: Joining,
    /// Indices into the values of each [`Axis`].
    at: [Option<usize>; 3],
    /// Mean distance from the true position at the moment.
    error: f64,
    jerk: f64,
}

/// A parameter that varies; its values are in the constant named beside it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Axis {
    /// [`LATENCIES_MS`]
    Latency,
    /// [`JITTERS_MS`]
    Jitter,
    /// [`HISTORIES`]
    History,
}

impl Axis {
    pub(super) fn name(self) -> &'static str {
        ["latency", "jitter", "history"][self as usize]
    }

    pub(super) fn values(self) -> usize {
        [LATENCIES_MS.len(), JITTERS_MS.len(), HISTORIES.len()][self as usize]
    }
}

impl Run {
    pub(super) fn is_at(&self, axis: Axis, value: usize) -> bool {
        self.at[axis as usize] == Some(value)
    }

    pub(super) fn is_still(&self) -> bool {
        self.is_at(Axis::Jitter, 0)
    }
}

/// Runs by clock and path.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample(BTreeMap<(&'static str, String), Vec<Run>>);

impl Sample {
    pub(super) fn push(&mut self, row: &Row) {
        let Some((extrapolator, joining)) = row.method.waypoints() else { return };
        let index = |all: &[i64], value| all.iter().position(|ms| Some(*ms as f64) == value);
        let at = [
            index(&LATENCIES_MS, row.latency_ms),
            index(&JITTERS_MS, row.jitter_ms),
            HISTORIES.iter().position(|history| *history == row.history),
        ];
        let (error, jerk) = (row.scores.error_now_mean, row.scores.jerk);
        let run = Run { extrapolator, joining, at, error, jerk };
        self.0.entry((row.stamps, row.path.clone())).or_default().push(run);
    }

    /// The runs of a path by a reading.
    pub(super) fn case(&self, path: &'static str, reading: Reading) -> Case<'_> {
        Case { sample: self, path, reading }
    }
}

/// The runs of one path by one reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    sample: &'a Sample,
    path: &'static str,
    pub(super) reading: Reading,
}

impl<'a> Case<'a> {
    pub(super) fn on(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    pub(super) fn by_reading(self, reading: Reading) -> Self {
        Self { reading, ..self }
    }

    fn runs(self) -> impl Iterator<Item = &'a Run> {
        let runs = self.sample.0.get(&(self.reading.stamps.name(), self.path.to_owned()));
        let runs = runs.into_iter().flatten();
        runs.filter(move |run| self.reading.filters.contains(&run.extrapolator))
    }

    /// A statistic of the errors of some runs.
    pub(super) fn errors(self, of: fn(&[f64]) -> f64, which: impl Fn(&Run) -> bool) -> f64 {
        let errors = self.runs().filter(|run| which(run)).map(|run| run.error);
        of(&errors.collect::<Vec<_>>())
    }

    /// A statistic of the errors by extrapolator, in the order of the tables.
    pub(super) fn four(self, of: fn(&[f64]) -> f64, which: impl Fn(&Run) -> bool) -> [f64; 4] {
        let filters = self.reading.filters;
        filters.map(|filter| self.errors(of, |run| run.extrapolator == filter && which(run)))
    }

    /// A statistic of the errors by interpolator: linear and Catmull-Rom.
    pub(super) fn two(self, of: fn(&[f64]) -> f64, which: impl Fn(&Run) -> bool) -> [f64; 2] {
        JOININGS.map(|joining| self.errors(of, |run| run.joining == joining && which(run)))
    }

    /// The mean jerk of Catmull-Rom interpolation as a multiple of that of linear.
    pub(super) fn jerk_ratio(self) -> f64 {
        let [straight, rounded] = JOININGS.map(|joining| {
            let runs = self.runs().filter(|run| run.joining == joining);
            mean(&runs.map(|run| run.jerk).collect::<Vec<_>>())
        });
        rounded / straight
    }

    /// A statistic of the errors at each value of a parameter.
    pub(super) fn along(self, axis: Axis, of: fn(&[f64]) -> f64) -> Vec<f64> {
        (0..axis.values()).map(|value| self.errors(of, |run| run.is_at(axis, value))).collect()
    }
}

/// Selects every run.
pub(super) fn every(_: &Run) -> bool {
    true
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation.
pub(super) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    (squares.sum::<f64>() / values.len() as f64).sqrt()
}

pub(super) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MAX, f64::min)
}

pub(super) fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The greatest value as a multiple of the least.
pub(super) fn range(values: &[f64]) -> f64 {
    greatest(values) / least(values)
}

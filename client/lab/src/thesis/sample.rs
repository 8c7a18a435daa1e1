//! Runs by path and clock, for quick access.

use std::collections::BTreeMap;

use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::super::sweep::Measurement;
use super::plan::{HISTORIES, JITTERS_MS, JOININGS, LATENCIES_MS, Reading};

/// Rows measured by each reading of the clock: those of [`plan`](super::plan()), then those of
/// [`strokes_plan`](super::strokes_plan).
#[derive(Clone, Debug)]
pub struct ThesisRuns {
    /// Rows whose states are dated by their arrival.
    pub arrived: [Vec<Measurement>; 2],
    /// Rows whose states are dated by their departure.
    pub sent: [Vec<Measurement>; 2],
}

impl ThesisRuns {
    pub(super) fn all(&self) -> Sample<'_> {
        let mut all = Sample::default();
        self.rows().for_each(|row| all.push(row));
        all
    }

    /// The runs of each seed.
    pub(super) fn seeds(&self) -> Vec<Sample<'_>> {
        let mut seeds: BTreeMap<u64, Sample<'_>> = BTreeMap::new();
        self.rows().for_each(|row| seeds.entry(row.seed).or_default().push(row));
        seeds.into_values().collect()
    }

    fn rows(&self) -> impl Iterator<Item = &Measurement> {
        self.arrived.iter().chain(&self.sent).flatten()
    }
}

/// A parameter that varies: its name, the number of its values, and a test whether a run has one of
/// them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis(
    pub(super) &'static str,
    pub(super) usize,
    pub(super) fn(&Measurement, usize) -> bool,
);

pub(super) const LATENCY: Axis = Axis("latency", LATENCIES_MS.len(), |run, value| {
    run.latency_ms == Some(LATENCIES_MS[value] as f64)
});
pub(super) const JITTER: Axis =
    Axis("jitter", JITTERS_MS.len(), |run, value| run.jitter_ms == Some(JITTERS_MS[value] as f64));
pub(super) const HISTORY: Axis =
    Axis("history", HISTORIES.len(), |run, value| run.history == HISTORIES[value]);

pub(super) fn is_still(run: &Measurement) -> bool {
    run.jitter_ms == Some(0.0)
}

pub(super) fn is_of(run: &Measurement, extrapolator: Extrapolator) -> bool {
    run.method.waypoints().is_some_and(|(it, _)| it == extrapolator)
}

fn is_joined(run: &Measurement, joining: Joining) -> bool {
    run.method.waypoints().is_some_and(|(_, it)| it == joining)
}

/// Runs by clock and path.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample<'a>(BTreeMap<(&'static str, &'a str), Vec<&'a Measurement>>);

impl<'a> Sample<'a> {
    pub(super) fn push(&mut self, row: &'a Measurement) {
        self.0.entry((row.stamps, &row.path)).or_default().push(row);
    }

    /// The runs of a path by a reading.
    pub(super) fn case(&'a self, path: &'static str, reading: Reading) -> Case<'a> {
        Case { sample: self, path, reading }
    }
}

/// The runs of one path by one reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    sample: &'a Sample<'a>,
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

    fn runs(self) -> impl Iterator<Item = &'a Measurement> {
        let runs = self.sample.0.get(&(self.reading.stamps.name(), self.path));
        let runs = runs.into_iter().flatten().copied();
        runs.filter(move |run| self.reading.filters.iter().any(|filter| is_of(run, *filter)))
    }

    /// A statistic of the errors of some runs.
    pub(super) fn errors(self, of: fn(&[f64]) -> f64, which: impl Fn(&Measurement) -> bool) -> f64 {
        let errors = self.runs().filter(|run| which(run)).map(|run| run.scores.error_now_mean);
        of(&errors.collect::<Vec<_>>())
    }

    /// A statistic of the errors by extrapolator, in the order of the tables.
    pub(super) fn four(
        self,
        of: fn(&[f64]) -> f64,
        which: impl Fn(&Measurement) -> bool,
    ) -> [f64; 4] {
        let filters = self.reading.filters;
        filters.map(|filter| self.errors(of, |run| is_of(run, filter) && which(run)))
    }

    /// A statistic of the errors by interpolator: linear and Catmull-Rom.
    pub(super) fn two(
        self,
        of: fn(&[f64]) -> f64,
        which: impl Fn(&Measurement) -> bool,
    ) -> [f64; 2] {
        JOININGS.map(|joining| self.errors(of, |run| is_joined(run, joining) && which(run)))
    }

    /// Mean jerk of Catmull-Rom interpolation, as a multiple of that of linear.
    pub(super) fn jerk_ratio(self) -> f64 {
        let [straight, rounded] = JOININGS.map(|joining| {
            let runs = self.runs().filter(|run| is_joined(run, joining));
            mean(&runs.map(|run| run.scores.jerk).collect::<Vec<_>>())
        });
        rounded / straight
    }

    /// A statistic of the errors at each value of a parameter.
    pub(super) fn along(self, axis: Axis, of: fn(&[f64]) -> f64) -> Vec<f64> {
        let Axis(_, values, is_at) = axis;
        (0..values).map(|value| self.errors(of, |run| is_at(run, value))).collect()
    }
}

/// Selects every run.
pub(super) fn every(_: &Measurement) -> bool {
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

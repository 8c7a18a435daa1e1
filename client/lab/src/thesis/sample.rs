//! What was measured on some dice, so that it is quickly asked for.

use std::collections::BTreeMap;

use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::super::sweep::Row;
use super::super::{Contender, Stamps};
use super::{HISTORIES, JITTERS_MS, JOININGS, LATENCIES_MS, Reading};

/// A row, as far as it matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    extrapolator: Extrapolator,
    joining: Joining,
    /// Which of [`LATENCIES_MS`] it has.
    pub(super) latency: Option<usize>,
    /// Which of [`JITTERS_MS`].
    pub(super) jitter: Option<usize>,
    /// Which of [`HISTORIES`].
    pub(super) history: Option<usize>,
    /// The mean distance from where the thing truly was at the moment.
    pub(super) error: f64,
    /// See [`Scores`](super::super::Scores).
    pub(super) jerk: f64,
}

impl Point {
    /// Whether that extrapolates.
    pub(super) fn is_by(&self, extrapolator: Extrapolator) -> bool {
        self.extrapolator == extrapolator
    }
}

/// What extrapolates in a row.
pub(super) fn extrapolator(row: &Row) -> Option<Extrapolator> {
    match row.method {
        Contender::Waypoints(extrapolator, _) => Some(extrapolator),
        _ => None,
    }
}

/// What leads there.
pub(super) fn joining(row: &Row) -> Option<Joining> {
    match row.method {
        Contender::Waypoints(_, joining) => Some(joining),
        _ => None,
    }
}

/// Which of some milliseconds a value is.
fn which(all: &[i64], value: Option<f64>) -> Option<usize> {
    all.iter().position(|ms| Some(*ms as f64) == value)
}

/// Points by whether there is a clock, and by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample(BTreeMap<(&'static str, String), Vec<Point>>);

impl<'a> FromIterator<(Stamps, &'a Row)> for Sample {
    fn from_iter<I: IntoIterator<Item = (Stamps, &'a Row)>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|(stamps, row)| all.push(stamps, row));
        all
    }
}

impl Sample {
    /// Counts a row.
    pub(super) fn push(&mut self, stamps: Stamps, row: &Row) {
        let (Some(extrapolator), Some(joining)) = (extrapolator(row), joining(row)) else { return };
        let point = Point {
            extrapolator,
            joining,
            latency: which(&LATENCIES_MS, row.latency_ms),
            jitter: which(&JITTERS_MS, row.jitter_ms),
            history: HISTORIES.iter().position(|history| *history == row.history),
            error: row.scores.error_now_mean,
            jerk: row.scores.jerk,
        };
        self.0.entry((stamps.name(), row.path.clone())).or_default().push(point);
    }

    /// The points of a path by a reading.
    fn of(&self, path: &str, reading: Reading) -> impl Iterator<Item = &Point> {
        let points = self.0.get(&(reading.stamps.name(), path.to_owned()));
        let points = points.into_iter().flatten();
        points.filter(move |point| reading.filters.contains(&point.extrapolator))
    }

    /// The errors of some of them.
    pub(super) fn errors(
        &self,
        path: &str,
        reading: Reading,
        which: impl Fn(&Point) -> bool,
    ) -> Vec<f64> {
        self.of(path, reading).filter(|point| which(point)).map(|point| point.error).collect()
    }

    /// The mean error of some.
    pub(super) fn mean(&self, path: &str, reading: Reading, which: impl Fn(&Point) -> bool) -> f64 {
        mean(&self.errors(path, reading, which))
    }

    /// Anything of the errors of each extrapolator, in the order of the tables.
    fn of_extrapolators(
        &self,
        path: &str,
        reading: Reading,
        which: impl Fn(&Point) -> bool,
        of: fn(&[f64]) -> f64,
    ) -> [f64; 4] {
        reading.filters.map(|filter| {
            of(&self.errors(path, reading, |at| at.extrapolator == filter && which(at)))
        })
    }

    /// The mean error of each extrapolator, in the order of the tables.
    pub(super) fn by_extrapolator(
        &self,
        path: &str,
        reading: Reading,
        which: impl Fn(&Point) -> bool,
    ) -> [f64; 4] {
        self.of_extrapolators(path, reading, which, mean)
    }

    /// How widely spread the errors of each extrapolator are.
    pub(super) fn spread_by_extrapolator(
        &self,
        path: &str,
        reading: Reading,
        which: impl Fn(&Point) -> bool,
    ) -> [f64; 4] {
        self.of_extrapolators(path, reading, which, deviation)
    }

    /// Anything of the errors of linear and of Catmull-Rom interpolation.
    pub(super) fn by_joining(
        &self,
        path: &str,
        reading: Reading,
        what: fn(&[f64]) -> f64,
        which: impl Fn(&Point) -> bool,
    ) -> [f64; 2] {
        JOININGS.map(|joining| {
            what(&self.errors(path, reading, |at| at.joining == joining && which(at)))
        })
    }

    /// The mean jerk of linear and of Catmull-Rom interpolation.
    pub(super) fn jerk_by_joining(&self, path: &str, reading: Reading) -> [f64; 2] {
        JOININGS.map(|joining| {
            let ours = self.of(path, reading).filter(|point| point.joining == joining);
            mean(&ours.map(|point| point.jerk).collect::<Vec<_>>())
        })
    }

    /// Anything of the errors at each value of what was varied, in order.
    pub(super) fn by<const N: usize>(
        &self,
        path: &str,
        reading: Reading,
        what: fn(&[f64]) -> f64,
        value: fn(&Point) -> Option<usize>,
    ) -> [f64; N] {
        std::array::from_fn(|at| {
            what(&self.errors(path, reading, |point| value(point) == Some(at)))
        })
    }
}

/// The mean of some errors.
pub(super) fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// Their standard deviation: how widely they are spread.
pub(super) fn deviation(errors: &[f64]) -> f64 {
    let mean = mean(errors);
    let squares = errors.iter().map(|error| (error - mean) * (error - mean));
    (squares.sum::<f64>() / errors.len() as f64).sqrt()
}

/// The greatest of some as a multiple of the least.
pub(super) fn range(errors: &[f64]) -> f64 {
    let least = errors.iter().copied().fold(f64::MAX, f64::min);
    errors.iter().copied().fold(0.0, f64::max) / least
}

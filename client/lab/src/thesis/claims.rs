//! Claims of the thesis's section 4.3 as a table, and how one seed answers them.
//!
//! A test gives *margins*, all above 0 where the claim holds: logarithms of ratios of errors.

use super::super::sweep::Measurement;
use super::plan::{PATHS, READINGS, Reading, STROKES};
use super::sample::{
    Axis, Case, HISTORY, JITTER, LATENCY, Sample, deviation, every, greatest, is_of, is_still,
    least, mean, range,
};

/// The result for one seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Margins, all above 0 where the claim holds.
    pub(super) margins: Vec<f64>,
    pub(super) numbers: Vec<f64>,
}

impl Outcome {
    /// The claim that each number exceeds a bound.
    pub(super) fn above(bound: f64, numbers: impl Into<Vec<f64>>) -> Self {
        let numbers = numbers.into();
        Self { margins: logs(numbers.iter().map(|number| number / bound)), numbers }
    }

    /// This claim, with other numbers shown.
    pub(super) fn by(self, numbers: impl Into<Vec<f64>>) -> Self {
        Self { numbers: numbers.into(), ..self }
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.margins.extend(other.margins);
        self.numbers.extend(other.numbers);
        self
    }
}

fn logs(ratios: impl IntoIterator<Item = f64>) -> Vec<f64> {
    ratios.into_iter().map(f64::ln).collect()
}

/// A statistic with its name.
type Statistic = (&'static str, fn(&[f64]) -> f64);

const MEANS: Statistic = ("errors", mean);
const DEVIATIONS: Statistic = ("standard deviations", deviation);
const RANGES: Statistic = ("largest to smallest", range);

/// The margins of a claim about some errors.
type Margins = fn(&[f64]) -> Vec<f64>;

/// A test of a claim on one path by one reading.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// A claim about the four extrapolators' errors over some runs.
    Four(fn(&Measurement) -> bool, Margins),
    /// A bound on one extrapolator's error as a multiple of another's.
    Ratio(usize, usize, f64),
    /// A claim about a statistic at each value of a parameter.
    Along(Axis, Statistic, Margins),
    /// The claim that statistics of some runs are greater by Catmull-Rom interpolation than by
    /// linear.
    Rounder(fn(&Measurement) -> bool, &'static [fn(&[f64]) -> f64]),
    /// A bound on a number, with a description of the number.
    Above(&'static str, f64, fn(Case<'_>) -> f64),
    /// Any other claim, with a description of its numbers.
    By(&'static str, fn(Case<'_>) -> Outcome),
}

impl Test {
    /// Description of the numbers.
    pub(super) fn label(self) -> String {
        match self {
            Self::Four(..) => "quadratic, Richardson and Catmull-Rom to linear".into(),
            Self::Ratio(of, to, _) => {
                format!("{} to {}", super::plan::NAMES[of], super::plan::NAMES[to])
            }
            Self::Along(Axis(axis, ..), (statistic, _), _) => format!("{statistic} by {axis}"),
            Self::Rounder(_, [_]) => "Catmull-Rom's errors to linear's".into(),
            Self::Rounder(..) => "Catmull-Rom's mean and standard deviation to linear's".into(),
            Self::Above(label, ..) | Self::By(label, _) => label.into(),
        }
    }

    pub(super) fn ask(self, case: Case<'_>) -> Outcome {
        match self {
            Self::Four(which, margins) => {
                let errors = case.four(mean, which);
                Outcome { margins: margins(&errors), numbers: to_linear(errors) }
            }
            Self::Ratio(of, to, bound) => {
                let errors = case.four(mean, every);
                Outcome::above(bound, [errors[of] / errors[to]])
            }
            Self::Along(axis, (_, statistic), margins) => {
                let numbers = case.along(axis, statistic);
                Outcome { margins: margins(&numbers), numbers }
            }
            Self::Rounder(which, statistics) => {
                let ratios = statistics.iter().map(|of| rounded(case, *of, which));
                Outcome::above(1.0, ratios.collect::<Vec<_>>())
            }
            Self::Above(_, bound, number) => Outcome::above(bound, [number(case)]),
            Self::By(_, test) => test(case),
        }
    }
}

/// Readings, with a name for all of them.
pub(super) type Readings = (&'static str, &'static [Reading]);

/// Some paths, with a name for all of them, and the readings by which they are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths(
    pub(super) &'static str,
    pub(super) &'static [&'static str],
    pub(super) Readings,
);

const EACH: Readings = ("in each reading", &READINGS);
const A: &str = PATHS[0].name();
const Z: &str = PATHS[1].name();
const S: &str = PATHS[2].name();
pub(super) const ACCELERATED: Paths = Paths("Accelerated", &[A], EACH);
pub(super) const ZIGZAG: Paths = Paths("Zigzag", &[Z], EACH);
pub(super) const SMOOTH: Paths = Paths("Smooth", &[S], EACH);
/// Paths without corners.
pub(super) const EVEN: Paths = Paths("Accelerated and smooth", &[A, S], EACH);
pub(super) const ALL: Paths = Paths("Each path", &[A, Z, S], EACH);
/// Claims that compare paths.
const OVER_ALL: Paths = Paths("All paths", &[A], EACH);
pub(super) const SHORT: Paths = Paths("Zigzag with strokes of 0.15 s", &[STROKES[0].0], EACH);
pub(super) const LONG: Paths = Paths("Zigzag with strokes of half a second", &[STROKES[2].0], EACH);

impl Paths {
    pub(super) const fn by(self, readings: Readings) -> Self {
        Self(self.0, self.1, readings)
    }
}

/// A claim, which must hold on each of its paths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim(pub(super) Paths, pub(super) &'static str, pub(super) Test);

impl Claim {
    /// The result for a seed on all of the claim's paths, by each of some readings.
    pub(super) fn ask<'a>(self, seed: &'a Sample<'a>, readings: &[Reading]) -> Outcome {
        let Self(Paths(_, paths, _), _, test) = self;
        let cases = paths
            .iter()
            .flat_map(|path| readings.iter().map(move |reading| seed.case(path, *reading)));
        cases.map(|case| test.ask(case)).reduce(Outcome::and).unwrap_or_default()
    }

    pub(super) fn section(self) -> &'static str {
        if self.1 == SMOOTHER { "4.3.2" } else { "4.3.7" }
    }

    pub(super) fn text(self) -> String {
        format!("{}: {}", self.0.0, self.1)
    }
}

/// The only claim of section 4.3.2.
const SMOOTHER: &str = "Catmull-Rom interpolation is smoother than linear";

/// Indices of extrapolators.
pub(super) const LINEAR: usize = 0;
pub(super) const QUADRATIC: usize = 1;
pub(super) const RICHARDSON: usize = 2;
pub(super) const CATMULL_ROM: usize = 3;

/// Ratios of the other errors to that of linear.
pub(super) fn to_linear(errors: [f64; 4]) -> Vec<f64> {
    errors[1..].iter().map(|error| error / errors[LINEAR]).collect()
}

pub(super) fn is_least(errors: &[f64], at: usize) -> Vec<f64> {
    let others = errors.iter().enumerate().filter(|(other, _)| *other != at);
    logs(others.map(|(_, error)| error / errors[at]))
}

pub(super) fn is_greatest(errors: &[f64], at: usize) -> Vec<f64> {
    is_least(errors, at).into_iter().map(|margin| -margin).collect()
}

/// Within 20 %: the thesis calls 15 % not much. Arbitrary.
fn are_alike(errors: &[f64]) -> Vec<f64> {
    vec![1.20_f64.ln() - range(errors).ln()]
}

fn rise(values: &[f64]) -> Vec<f64> {
    logs(values.windows(2).map(|pair| pair[1] / pair[0]))
}

/// Errors that differ by less than 1 % neither rise nor fall. Arbitrary.
const SAME: f64 = 1.01;

/// Errors by history: none, only the last interval, more, and most.
fn some_is_worse(errors: &[f64]) -> Vec<f64> {
    let &[none, .., longest] = errors else { return Vec::new() };
    let most = greatest(&errors[1..errors.len() - 1]) / SAME;
    logs([most / none, most / longest])
}

/// Errors of Catmull-Rom interpolation as a multiple of those of linear.
pub(super) fn rounded(
    case: Case<'_>,
    of: fn(&[f64]) -> f64,
    which: impl Fn(&Measurement) -> bool,
) -> f64 {
    let [straight, rounded] = case.two(of, which);
    rounded / straight
}

fn at_least_latency(run: &Measurement) -> bool {
    LATENCY.2(run, 0)
}

use Test::{Along, By, Four, Rounder};

/// Claims of section 4.3 that can be counted. The first seven are about the thesis's tables, and
/// hold of the thesis's own numbers.
pub(super) const CLAIMS: [Claim; 25] = [
    Claim(
        ACCELERATED,
        "linear extrapolation has the smallest error",
        Four(every, |errors| is_least(errors, LINEAR)),
    ),
    Claim(ACCELERATED, "the four are about equal (within 20 %)", Four(every, are_alike)),
    Claim(
        ZIGZAG,
        "linear extrapolation has the smallest error",
        Four(every, |errors| is_least(errors, LINEAR)),
    ),
    Claim(
        ZIGZAG,
        "Catmull-Rom has the largest error",
        Four(every, |errors| is_greatest(errors, CATMULL_ROM)),
    ),
    Claim(
        ZIGZAG,
        "Catmull-Rom's error is about twice that of linear (at least 1.5 times)",
        Four(every, |errors| logs([errors[CATMULL_ROM] / (1.5 * errors[LINEAR])])),
    ),
    Claim(
        SMOOTH,
        "Richardson has the smallest error",
        Four(every, |errors| is_least(errors, RICHARDSON)),
    ),
    Claim(SMOOTH, "the four are about equal (within 20 %)", Four(every, are_alike)),
    Claim(
        OVER_ALL,
        "linear extrapolation is the best",
        By("quadratic, Richardson and Catmull-Rom to linear", |case| {
            let mut means = [1.0_f64; 4];
            for path in ALL.1 {
                let errors = case.on(path).four(mean, every);
                for (mean, error) in means.iter_mut().zip(errors) {
                    *mean *= (error / errors[LINEAR]).cbrt();
                }
            }
            Outcome { margins: is_least(&means, LINEAR), numbers: means[1..].to_vec() }
        }),
    ),
    Claim(ACCELERATED, "the error rises with the latency", Along(LATENCY, MEANS, rise)),
    Claim(EVEN, "the error rises with the jitter", Along(JITTER, MEANS, rise)),
    Claim(
        ACCELERATED,
        "errors vary most without jitter",
        Along(JITTER, DEVIATIONS, |spreads| is_greatest(spreads, 0)),
    ),
    Claim(
        ZIGZAG,
        "at low latencies the four are about equal (within 20 %)",
        Four(at_least_latency, are_alike),
    ),
    Claim(ZIGZAG, "the higher the latency, the more errors vary", Along(LATENCY, DEVIATIONS, rise)),
    Claim(
        ZIGZAG,
        "at each jitter errors vary widely (the largest is three times the smallest)",
        // The thesis says this about 50 to 250 pixels. Arbitrary.
        Along(JITTER, RANGES, |ranges| logs(ranges.iter().map(|range| range / 3.0))),
    ),
    Claim(
        SMOOTH,
        "at low latency the errors of Catmull-Rom extrapolation vary least",
        By("standard deviations by extrapolator", |case| {
            let spreads = case.four(deviation, at_least_latency);
            Outcome { margins: is_least(&spreads, CATMULL_ROM), numbers: spreads.into() }
        }),
    ),
    Claim(
        SMOOTH,
        "at high latencies Catmull-Rom extrapolation has the largest error",
        Four(|run| LATENCY.2(run, LATENCY.1 - 1), |errors| is_greatest(errors, CATMULL_ROM)),
    ),
    Claim(
        ALL,
        SMOOTHER,
        By("jerks to those of linear", |case| {
            let ratio = case.jerk_ratio();
            Outcome::above(1.0, [ratio.recip()]).by([ratio])
        }),
    ),
    Claim(ALL, "linear interpolation is closer than Catmull-Rom", Rounder(every, &[mean])),
    Claim(
        SMOOTH,
        "linear interpolation is closer at each latency, each jitter and each history",
        By("Catmull-Rom's errors to linear's", |case| {
            let values = |Axis(_, count, is_at)| (0..count).map(move |value| (is_at, value));
            let cells = [LATENCY, JITTER, HISTORY].into_iter().flat_map(values);
            let ratio = |(is_at, value): (fn(&Measurement, _) -> _, _)| {
                rounded(case, mean, |run| is_at(run, value))
            };
            Outcome::above(1.0, cells.map(ratio).collect::<Vec<_>>())
        }),
    ),
    Claim(
        EVEN,
        "Catmull-Rom interpolation does badly without jitter, and worse than with it",
        By("Catmull-Rom's errors to linear's without jitter and with it", |case| {
            let still = rounded(case, mean, is_still);
            let other = rounded(case, mean, |run| !is_still(run));
            Outcome::above(1.0, [still, still / other]).by([still, other])
        }),
    ),
    Claim(
        SMOOTH,
        "without jitter the errors of linear interpolation are lower and vary less",
        Rounder(is_still, &[mean, deviation]),
    ),
    Claim(
        ZIGZAG,
        "Catmull-Rom interpolation makes errors larger and more varied, and Catmull-Rom \
         extrapolation compares worse",
        By(
            "Catmull-Rom interpolation's mean and standard deviation to linear's; Catmull-Rom \
             extrapolation's errors to linear's by either interpolation",
            |case| {
                let [linear, catmull_rom] = [LINEAR, CATMULL_ROM].map(|of| {
                    let filter = case.reading.filters[of];
                    case.two(mean, |run| is_of(run, filter))
                });
                let compared = [0, 1].map(|joining| catmull_rom[joining] / linear[joining]);
                Rounder(every, &[mean, deviation])
                    .ask(case)
                    .and(Outcome::above(1.0, [compared[1] / compared[0]]).by(compared))
            },
        ),
    ),
    Claim(
        ZIGZAG,
        "the error is small without history, larger with some, smaller again with more",
        Along(HISTORY, MEANS, some_is_worse),
    ),
    Claim(
        SMOOTH,
        "averaging more than the last interval helps by less than 5 %",
        Along(HISTORY, MEANS, |errors| logs([least(&errors[2..]) / (0.95 * errors[1])])),
    ),
    Claim(
        OVER_ALL,
        "the time history matters less on the smooth path than on the accelerated",
        By("largest to smallest by history, accelerated and smooth", |case| {
            let ranges = [A, S].map(|path| range(&case.on(path).along(HISTORY, mean)));
            Outcome::above(1.0, [(ranges[0] - 1.0) / (ranges[1] - 1.0)]).by(ranges)
        }),
    ),
];

/// Two claims that contradict each other: of figure 17, and of the three paths.
pub(super) const CONTRADICTED: [(Claim, &str); 2] = [
    (
        Claim(
            ACCELERATED,
            QUESTION,
            Along(HISTORY, MEANS, |errors| {
                logs(errors[2..].iter().map(|error| error / (errors[1] * SAME)))
            }),
        ),
        "only the last",
    ),
    (
        Claim(
            ACCELERATED,
            QUESTION,
            Along(HISTORY, MEANS, |errors| logs([errors[1] / (errors[errors.len() - 1] * SAME)])),
        ),
        "longer",
    ),
];
const QUESTION: &str = "which time history is best? The thesis says only the last interval \
                        (figure 17), and a longer one (for the three paths)";

#[cfg(test)]
mod tests {
    use super::super::plan::TABLES;
    use super::*;

    #[test]
    fn claims_about_the_tables_hold_in_the_tables() {
        for claim in &CLAIMS[..7] {
            let Claim(Paths(_, [path], _), text, Four(_, margins)) = claim else {
                panic!("{claim:?} is of four")
            };
            let table = PATHS.iter().position(|known| known.name() == *path);
            let errors = TABLES[table.expect("a path of the thesis")];
            assert!(margins(&errors).iter().all(|margin| *margin > 0.0), "{text}");
        }
    }

    #[test]
    fn margins_are_above_zero_where_the_claim_holds() {
        assert_eq!(rise(&[1.0, 1.0]), [0.0]);
        assert!(rise(&[1.0, 2.0, 3.0]).iter().all(|margin| *margin > 0.0));
        assert!(is_least(&[2.0, 1.0, 3.0], 1).iter().all(|margin| *margin > 0.0));
        assert!(is_greatest(&[2.0, 1.0, 3.0], 2).iter().all(|margin| *margin > 0.0));
        assert!(are_alike(&[1.0, 1.1])[0] > 0.0 && are_alike(&[1.0, 1.3])[0] < 0.0);
    }
}

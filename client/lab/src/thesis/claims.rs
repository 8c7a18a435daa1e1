//! Claims of the thesis's section 4.3 as a table: the text, the paths, and the test of one seed.
//!
//! A test gives *margins*, all above 0 where the claim holds: logarithms of ratios of errors.

use super::sample::{Axis, Case, Run, deviation, every, greatest, least, mean, range};
use super::{HISTORIES, LATENCIES_MS, PATHS};

/// Errors are about alike below this difference: the thesis calls 15 % not much. Arbitrary.
const ALIKE: f64 = 0.20;
/// Errors that differ by less than 1 % neither rise nor fall. Arbitrary.
const SAME: f64 = 1.01;
/// Errors are widespread from this multiple of the least on. The thesis says so of 50 to 250 pixels.
/// Arbitrary.
const WIDE: f64 = 3.0;

/// The answer of one seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// All above 0 where the claim holds.
    pub(super) margins: Vec<f64>,
    pub(super) numbers: Vec<f64>,
}

impl Outcome {
    /// The claim that each ratio is above 1.
    pub(super) fn above(ratios: impl Into<Vec<f64>>) -> Self {
        Self::above_times(1.0, ratios)
    }

    /// The claim that each ratio is above a bound.
    pub(super) fn above_times(bound: f64, ratios: impl Into<Vec<f64>>) -> Self {
        let numbers = ratios.into();
        let margins = numbers.iter().map(|ratio| (ratio / bound).ln()).collect();
        Self { margins, numbers }
    }

    /// The same claim, shown by other numbers.
    pub(super) fn by(self, numbers: impl Into<Vec<f64>>) -> Self {
        Self { numbers: numbers.into(), ..self }
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.margins.extend(other.margins);
        self.numbers.extend(other.numbers);
        self
    }
}

/// The margins of a claim about four errors.
type OfFour = fn(&[f64]) -> Vec<f64>;

/// How a claim is tested.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// By the mean errors of the four extrapolators over some runs.
    Four(fn(&Run) -> bool, OfFour),
    By(fn(Case<'_>) -> Outcome),
}

/// A claim; it must hold on each of its paths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) section: &'static str,
    pub(super) text: &'static str,
    /// Description of the numbers.
    pub(super) numbers: &'static str,
    paths: &'static [&'static str],
    test: Test,
}

impl Claim {
    const fn new(
        text: &'static str,
        numbers: &'static str,
        paths: &'static [&'static str],
        test: Test,
    ) -> Self {
        Self { section: "4.3.7", text, numbers, paths, test }
    }

    /// The answer on all of the claim's paths.
    pub(super) fn ask(&self, case: Case<'_>) -> Outcome {
        let answers = self.paths.iter().map(|path| match self.test {
            Test::By(test) => test(case.on(path)),
            Test::Four(which, margins) => {
                let errors = case.on(path).four(mean, which);
                Outcome { margins: margins(&errors), numbers: to_linear(errors) }
            }
        });
        answers.reduce(Outcome::and).unwrap_or_default()
    }
}

pub(super) const ACCELERATED: &str = PATHS[0].name();
pub(super) const ZIGZAG: &str = PATHS[1].name();
pub(super) const SMOOTH: &str = PATHS[2].name();
/// All paths, and those without corners.
pub(super) const ALL: &[&str] = &[ACCELERATED, ZIGZAG, SMOOTH];
pub(super) const EVEN: &[&str] = &[ACCELERATED, SMOOTH];
/// Indices of extrapolators.
pub(super) const LINEAR: usize = 0;
pub(super) const QUADRATIC: usize = 1;
pub(super) const RICHARDSON: usize = 2;
pub(super) const CATMULL_ROM: usize = 3;
/// Indices into [`HISTORIES`]: none, the last interval alone, the longest.
const NONE: usize = 0;
const LAST: usize = 1;
const LONGEST: usize = HISTORIES.len() - 1;

/// Ratios of the other errors to that of linear.
pub(super) fn to_linear(errors: [f64; 4]) -> Vec<f64> {
    errors[1..].iter().map(|error| error / errors[LINEAR]).collect()
}

/// The claim that one error is the least.
pub(super) fn is_least(errors: &[f64], at: usize) -> Vec<f64> {
    let others = errors.iter().enumerate().filter(|(other, _)| *other != at);
    others.map(|(_, error)| (error / errors[at]).ln()).collect()
}

/// The claim that one error is the greatest.
pub(super) fn is_greatest(errors: &[f64], at: usize) -> Vec<f64> {
    is_least(errors, at).into_iter().map(|margin| -margin).collect()
}

fn are_alike(errors: &[f64]) -> Vec<f64> {
    vec![(1.0 + ALIKE).ln() - range(errors).ln()]
}

fn rise(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect()
}

/// The claim that a statistic rises with a parameter.
fn rises(case: Case<'_>, axis: Axis, of: fn(&[f64]) -> f64) -> Outcome {
    let numbers = case.along(axis, of);
    Outcome { margins: rise(&numbers), numbers }
}

/// Errors of Catmull-Rom interpolation as a multiple of those of linear.
pub(super) fn rounded(case: Case<'_>, of: fn(&[f64]) -> f64, which: impl Fn(&Run) -> bool) -> f64 {
    let [straight, rounded] = case.two(of, which);
    rounded / straight
}

const TO_LINEAR: &str = "quadratic, Richardson and Catmull-Rom to linear";

/// Claims of section 4.3 that can be counted. The first seven are about the thesis's tables, and hold
/// of the thesis's own numbers.
pub(super) const CLAIMS: [Claim; 25] = [
    Claim::new(
        "Accelerated: linear extrapolation has the least error.",
        TO_LINEAR,
        &[ACCELERATED],
        Test::Four(every, |errors| is_least(errors, LINEAR)),
    ),
    Claim::new(
        "Accelerated: the four are about alike (within 20 %).",
        TO_LINEAR,
        &[ACCELERATED],
        Test::Four(every, are_alike),
    ),
    Claim::new(
        "Zigzag: linear extrapolation has the least error.",
        TO_LINEAR,
        &[ZIGZAG],
        Test::Four(every, |errors| is_least(errors, LINEAR)),
    ),
    Claim::new(
        "Zigzag: Catmull-Rom has the greatest.",
        TO_LINEAR,
        &[ZIGZAG],
        Test::Four(every, |errors| is_greatest(errors, CATMULL_ROM)),
    ),
    Claim::new(
        "Zigzag: Catmull-Rom's is about twice that of linear (1.5 times at least).",
        TO_LINEAR,
        &[ZIGZAG],
        Test::Four(every, |errors| vec![(errors[CATMULL_ROM] / (1.5 * errors[LINEAR])).ln()]),
    ),
    Claim::new(
        "Smooth: Richardson has the least error.",
        TO_LINEAR,
        &[SMOOTH],
        Test::Four(every, |errors| is_least(errors, RICHARDSON)),
    ),
    Claim::new(
        "Smooth: the four are about alike (within 20 %).",
        TO_LINEAR,
        &[SMOOTH],
        Test::Four(every, are_alike),
    ),
    Claim::new(
        "Over all three paths, linear extrapolation is the best.",
        TO_LINEAR,
        &[ACCELERATED],
        Test::By(|case| {
            let mut means = [1.0_f64; 4];
            for path in ALL {
                let errors = case.on(path).four(mean, every);
                for (mean, error) in means.iter_mut().zip(errors) {
                    *mean *= (error / errors[LINEAR]).cbrt();
                }
            }
            Outcome { margins: is_least(&means, LINEAR), numbers: means[1..].to_vec() }
        }),
    ),
    Claim::new(
        "Accelerated: the error rises with the latency.",
        "errors by latency",
        &[ACCELERATED],
        Test::By(|case| rises(case, Axis::Latency, mean)),
    ),
    Claim::new(
        "Accelerated and smooth: the error rises with the jitter.",
        "errors by jitter, path by path",
        EVEN,
        Test::By(|case| rises(case, Axis::Jitter, mean)),
    ),
    Claim::new(
        "Accelerated: errors are spread most widely without jitter.",
        "standard deviations by jitter",
        &[ACCELERATED],
        Test::By(|case| {
            let spreads = case.along(Axis::Jitter, deviation);
            Outcome { margins: is_greatest(&spreads, 0), numbers: spreads }
        }),
    ),
    Claim::new(
        "Zigzag: at small latencies the four are about alike (within 20 %).",
        TO_LINEAR,
        &[ZIGZAG],
        Test::Four(|run| run.is_at(Axis::Latency, 0), are_alike),
    ),
    Claim::new(
        "Zigzag: the greater the latency, the wider errors are spread.",
        "standard deviations by latency",
        &[ZIGZAG],
        Test::By(|case| rises(case, Axis::Latency, deviation)),
    ),
    Claim::new(
        "Zigzag: at each jitter errors are spread widely (the greatest is three times the least).",
        "greatest to least by jitter",
        &[ZIGZAG],
        Test::By(|case| Outcome::above_times(WIDE, case.along(Axis::Jitter, range))),
    ),
    Claim::new(
        "Smooth: at low latency Catmull-Rom extrapolation is the most gathered.",
        "standard deviations by extrapolator",
        &[SMOOTH],
        Test::By(|case| {
            let spreads = case.four(deviation, |run| run.is_at(Axis::Latency, 0));
            Outcome { margins: is_least(&spreads, CATMULL_ROM), numbers: spreads.into() }
        }),
    ),
    Claim::new(
        "Smooth: at great latencies Catmull-Rom extrapolation has the greatest error.",
        TO_LINEAR,
        &[SMOOTH],
        Test::Four(
            |run| run.is_at(Axis::Latency, LATENCIES_MS.len() - 1),
            |errors| is_greatest(errors, CATMULL_ROM),
        ),
    ),
    Claim {
        section: "4.3.2",
        ..Claim::new(
            "Catmull-Rom interpolation is smoother than linear, on each path.",
            "jerks to those of linear, by path",
            ALL,
            Test::By(|case| {
                let ratio = case.jerk_ratio();
                Outcome::above([ratio.recip()]).by([ratio])
            }),
        )
    },
    Claim::new(
        "Linear interpolation is nearer than Catmull-Rom, on each path.",
        "Catmull-Rom's errors to linear's, by path",
        ALL,
        Test::By(|case| Outcome::above([rounded(case, mean, every)])),
    ),
    Claim::new(
        "Smooth: linear interpolation is nearer at each latency, each jitter and each history.",
        "Catmull-Rom's errors to linear's, by latency, by jitter, by history",
        &[SMOOTH],
        Test::By(|case| {
            let values = |axis: Axis| (0..axis.values()).map(move |value| (axis, value));
            let errors = Axis::ALL
                .into_iter()
                .flat_map(values)
                .map(|(axis, value)| rounded(case, mean, |run| run.is_at(axis, value)));
            Outcome::above(errors.collect::<Vec<_>>())
        }),
    ),
    Claim::new(
        "Accelerated and smooth: Catmull-Rom interpolation does badly without jitter.",
        "Catmull-Rom's errors to linear's without jitter and with it, path by path",
        EVEN,
        Test::By(|case| {
            // Worse than linear, and worse than with jitter.
            let still = rounded(case, mean, Run::is_still);
            let other = rounded(case, mean, |run| !run.is_still());
            Outcome::above([still, still / other]).by([still, other])
        }),
    ),
    Claim::new(
        "Smooth: without jitter the errors of linear interpolation are lower and less widespread.",
        "Catmull-Rom's mean and standard deviation to linear's",
        &[SMOOTH],
        Test::By(|case| {
            Outcome::above([mean, deviation].map(|of| rounded(case, of, Run::is_still)))
        }),
    ),
    Claim::new(
        "Zigzag: Catmull-Rom interpolation makes for bad results: errors are greater and more \
         widespread, and Catmull-Rom extrapolation compares worse.",
        "Catmull-Rom interpolation's mean and standard deviation to linear's; Catmull-Rom \
         extrapolation's errors to linear's by either interpolation",
        &[ZIGZAG],
        Test::By(|case| {
            let [linear, catmull_rom] = [LINEAR, CATMULL_ROM].map(|of| {
                let filter = case.reading.filters[of];
                case.two(mean, |run| run.extrapolator == filter)
            });
            let compared = [0, 1].map(|joining| catmull_rom[joining] / linear[joining]);
            Outcome::above([mean, deviation].map(|of| rounded(case, of, every)))
                .and(Outcome::above([compared[1] / compared[0]]).by(compared))
        }),
    ),
    Claim::new(
        "Zigzag: the error is small with no history, greater with some, less again with more.",
        "errors by history",
        &[ZIGZAG],
        Test::By(|case| {
            let errors = case.along(Axis::History, mean);
            let most = greatest(&errors[LAST..LONGEST]) / SAME;
            Outcome::above([most / errors[NONE], most / errors[LONGEST]]).by(errors)
        }),
    ),
    Claim::new(
        "Smooth: averaging more than the last interval helps by less than 5 %.",
        "errors by history",
        &[SMOOTH],
        Test::By(|case| {
            let errors = case.along(Axis::History, mean);
            let best = least(&errors[LAST + 1..]);
            Outcome::above([best / (0.95 * errors[LAST])]).by(errors)
        }),
    ),
    Claim::new(
        "The time history matters less on the smooth path than on the accelerated.",
        "greatest to least by history, accelerated and smooth",
        &[ACCELERATED],
        Test::By(|case| {
            let path = |path| range(&case.on(path).along(Axis::History, mean));
            let ranges = [path(ACCELERATED), path(SMOOTH)];
            Outcome::above([(ranges[0] - 1.0) / (ranges[1] - 1.0)]).by(ranges)
        }),
    ),
];

/// Two claims that contradict each other: on the accelerated path the last interval alone is best (of
/// figure 17), and a longer history is better (of the three paths).
pub(super) const CONTRADICTED: [Claim; 2] = [
    Claim::new(
        "the last alone",
        "errors by history",
        &[ACCELERATED],
        Test::By(|case| {
            let errors = case.along(Axis::History, mean);
            let ratios = errors[LAST + 1..].iter().map(|error| error / (errors[LAST] * SAME));
            Outcome::above(ratios.collect::<Vec<_>>()).by(errors)
        }),
    ),
    Claim::new(
        "longer",
        "errors by history",
        &[ACCELERATED],
        Test::By(|case| {
            let errors = case.along(Axis::History, mean);
            Outcome::above([errors[LAST] / (errors[LONGEST] * SAME)]).by(errors)
        }),
    ),
];

#[cfg(test)]
mod tests {
    use super::super::TABLES;
    use super::*;

    #[test]
    fn claims_about_the_tables_hold_in_the_tables() {
        for claim in &CLAIMS[..7] {
            let Test::Four(_, margins) = claim.test else { panic!("{} is of four", claim.text) };
            let path = PATHS.iter().position(|path| [path.name()] == claim.paths);
            let errors = TABLES[path.expect("a path of the thesis")];
            assert!(margins(&errors).iter().all(|margin| *margin > 0.0), "{}", claim.text);
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

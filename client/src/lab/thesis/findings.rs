//! What the thesis found, and whether it is found here.

use phaselock_shared::motion::fir::Kind;
use phaselock_shared::motion::waypoints::{Extrapolator, Joining};

use super::super::Contender;
use super::super::report::figure;
use super::super::shapes::Shape;
use super::{
    FUNCTIONS, HISTORIES, JOININGS, LATENCIES_MS, Measured, PATHS, Reading, SCHEMES, SPACINGS,
    TABLES, history, jitter, joining, latency, scheme,
};

/// Errors about alike differ by less: the thesis speaks of not much difference where they do by 15 %. Arbitrary.
const ALIKE: f64 = 0.20;
/// What differs by less than one in a hundred neither rises nor falls. Arbitrary.
const SAME: f64 = 1.01;

/// Something that the thesis found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Where it says so.
    pub section: &'static str,
    /// What, in our words.
    pub text: String,
    /// By each of [`Reading::ALL`] on how many of the dice it is so here; or whether, if there are no dice in it.
    pub holds: Vec<usize>,
    /// What was measured that says so.
    pub numbers: String,
}

/// All that are tested.
pub fn findings(measured: &Measured) -> Vec<Finding> {
    let mut all = of_schemes();
    let by_seed = measured.by_seed();
    for (section, text, test) in tests() {
        let numbers = Reading::ALL.map(|reading| test(measured, reading).1).join("; ");
        let holds = Reading::ALL
            .map(|reading| by_seed.iter().filter(|measured| test(measured, reading).0).count());
        all.push(Finding { section, text: text.into(), holds: holds.into(), numbers });
    }
    all
}

fn of_schemes() -> Vec<Finding> {
    let with = |kind, joining| Contender::Waypoints(Extrapolator::Fir(kind), joining);
    let [plain, straight] = [Joining::Jump, Joining::Linear].map(|it| with(Kind::Linear, it));
    let bent = with(Kind::ThesisQuadratic, Joining::Linear);
    let error = |function, spacing, contender| scheme(function, spacing, contender).error_now_mean;
    let one = |text: &str, holds: bool, numbers: String| Finding {
        section: "2.3.1",
        text: text.into(),
        holds: vec![usize::from(holds)],
        numbers,
    };
    let [sine, logarithm] = FUNCTIONS;
    let pairs = SCHEMES.map(|(it, _)| FUNCTIONS.map(|function| error(function, 1.0, it)));
    let [held, led] =
        [Contender::Newest, plain].map(|it| FUNCTIONS.map(|function| error(function, 1.0, it)));
    let by_spacing =
        SPACINGS.map(|spacing| error(sine, spacing, bent) / error(sine, spacing, straight));
    let cornered = scheme(sine, 1.0, straight);
    let cubic = with(Kind::Linear, Joining::CubicSpline);
    let [wide, narrow] = [sine, logarithm].map(|function| scheme(function, 1.0, cubic));
    vec![
        one(
            "The sine is hard to foretell, the logarithm easy, by every method.",
            pairs.iter().all(|[sine, logarithm]| logarithm < sine),
            format!("linear, linear: {} and {}", figure(pairs[2][0]), figure(pairs[2][1])),
        ),
        one(
            "Linear extrapolation is nearer than point to point, which foretells nothing.",
            led[0] < held[0] && led[1] < held[1],
            format!(
                "sine: {} and {}; logarithm: {} and {}",
                figure(led[0]),
                figure(held[0]),
                figure(led[1]),
                figure(held[1])
            ),
        ),
        one(
            "Quadratic extrapolation is better than linear while updates are close together, and worse when \
             they are far apart.",
            by_spacing[0] < 1.0 && by_spacing[2] > 1.0,
            format!(
                "quadratic to linear on the sine at updates 0.5, 1 and 1.5 apart: {}",
                by_spacing.map(figure).join(", ")
            ),
        ),
        one(
            "The cubic spline has no corners, and swings the wider the worse the foretelling.",
            wide.jerk < cornered.jerk
                && wide.error_now_p99 > cornered.error_now_p99
                && narrow.error_now_p99 < wide.error_now_p99,
            format!(
                "99th percentiles: {} on the sine ({} with straight lines) and {} on the logarithm; jerk x {}",
                figure(wide.error_now_p99),
                figure(cornered.error_now_p99),
                figure(narrow.error_now_p99),
                figure(wide.jerk / cornered.jerk)
            ),
        ),
    ]
}

/// Whether a finding is so by what was measured, and by which numbers.
type Test = fn(&Measured, Reading) -> (bool, String);

fn list(values: &[f64]) -> String {
    values.iter().map(|it| figure(*it)).collect::<Vec<_>>().join(", ")
}

fn ratios(errors: [f64; 4]) -> [f64; 4] {
    errors.map(|error| error / errors[0])
}

fn is_least(errors: &[f64], at: usize) -> bool {
    errors.iter().all(|error| errors[at] <= *error)
}

fn is_most(errors: &[f64], at: usize) -> bool {
    errors.iter().all(|error| errors[at] >= *error)
}

/// The greatest as a multiple of the least.
fn spread(errors: &[f64]) -> f64 {
    let least = errors.iter().copied().fold(f64::MAX, f64::min);
    errors.iter().copied().fold(0.0, f64::max) / least
}

fn is_alike(errors: &[f64]) -> bool {
    spread(errors) < 1.0 + ALIKE
}

fn rises(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1])
}

/// By the four errors of a path.
fn by_four(
    measured: &Measured,
    reading: Reading,
    path: Shape,
    holds: impl Fn(&[f64]) -> bool,
) -> (bool, String) {
    let errors = measured.by_extrapolator(path.name(), reading, |_| true);
    (holds(&errors), format!("1 : {}", list(&ratios(errors)[1..])))
}

/// Catmull-Rom interpolation to linear, on each path: anything of a row.
fn joined(measured: &Measured, reading: Reading, what: fn(&super::Row) -> f64) -> [f64; 3] {
    PATHS.map(|path| {
        let [straight, rounded] = JOININGS
            .map(|it| measured.mean_of(path.name(), reading, what, |row| joining(row) == Some(it)));
        rounded / straight
    })
}

fn histories(measured: &Measured, reading: Reading, path: Shape) -> [f64; HISTORIES.len()] {
    measured.by(path.name(), reading, history)
}

/// Text, path, and whether it is so by the four errors.
type OfTable = (&'static str, usize, fn(&[f64]) -> bool);

/// What section 4.3 says of its tables: each holds of the thesis's own numbers.
const OF_TABLES: [OfTable; 7] = [
    ("Accelerated: linear extrapolation has the least error.", 0, |errors| is_least(errors, 0)),
    ("Accelerated: the four are about alike (within 20 %).", 0, is_alike),
    ("Zigzag: linear extrapolation has the least error.", 1, |errors| is_least(errors, 0)),
    ("Zigzag: Catmull-Rom has the greatest.", 1, |errors| is_most(errors, 3)),
    ("Zigzag: Catmull-Rom's is about twice that of linear (1.5 times at least).", 1, |errors| {
        errors[3] > 1.5 * errors[0]
    }),
    ("Smooth: Richardson has the least error.", 2, |errors| is_least(errors, 2)),
    ("Smooth: the four are about alike (within 20 %).", 2, is_alike),
];

fn tests() -> Vec<(&'static str, &'static str, Test)> {
    let of_tables: [Test; 7] = [
        |all, reading| by_four(all, reading, PATHS[0], OF_TABLES[0].2),
        |all, reading| by_four(all, reading, PATHS[0], OF_TABLES[1].2),
        |all, reading| by_four(all, reading, PATHS[1], OF_TABLES[2].2),
        |all, reading| by_four(all, reading, PATHS[1], OF_TABLES[3].2),
        |all, reading| by_four(all, reading, PATHS[1], OF_TABLES[4].2),
        |all, reading| by_four(all, reading, PATHS[2], OF_TABLES[5].2),
        |all, reading| by_four(all, reading, PATHS[2], OF_TABLES[6].2),
    ];
    let named = OF_TABLES.iter().zip(of_tables);
    let mut all: Vec<(&str, &str, Test)> =
        named.map(|((text, _, _), test)| ("4.3.7", *text, test)).collect();
    all.extend::<[(&str, &str, Test); 13]>([
        ("4.3.7", "Over all three paths, linear extrapolation is the best.", |all, reading| {
            let mut means = [1.0_f64; 4];
            for path in PATHS {
                let of_path = ratios(all.by_extrapolator(path.name(), reading, |_| true));
                means.iter_mut().zip(of_path).for_each(|(mean, ratio)| *mean *= ratio.cbrt());
            }
            (is_least(&means, 0), format!("1 : {}", list(&means[1..])))
        }),
        ("4.3.2", "Catmull-Rom interpolation is smoother than linear, on each path.", |all, reading| {
            let jerks = joined(all, reading, |row| row.scores.jerk);
            (jerks.iter().all(|ratio| *ratio < 1.0), format!("jerk x {}", list(&jerks)))
        }),
        ("4.3.7", "Linear interpolation is nearer than Catmull-Rom, on each path.", |all, reading| {
            let errors = joined(all, reading, |row| row.scores.error_now_mean);
            (errors.iter().all(|ratio| *ratio > 1.0), format!("error x {}", list(&errors)))
        }),
        (
            "4.3.7",
            "Accelerated and smooth: it is without jitter that Catmull-Rom interpolation does badly.",
            |all, reading| {
                let errors = [PATHS[0], PATHS[2]].map(|path| {
                    let ratio = |still: bool| {
                        let [straight, rounded] = all.by_joining(path.name(), reading, |row| {
                            (jitter(row) == Some(0)) == still
                        });
                        rounded / straight
                    };
                    [ratio(true), ratio(false)]
                });
                let holds = errors.iter().all(|[still, other]| still > other);
                (holds, format!("error x {} ({} with it)", list(&errors.map(|it| it[0])), list(&errors.map(|it| it[1]))))
            },
        ),
        ("4.3.7", "The error rises with the latency, on each path.", |all, reading| {
            let errors = PATHS.map(|path| all.by::<5>(path.name(), reading, latency));
            (errors.iter().all(|one| rises(one)), format!("accelerated: {}", list(&errors[0])))
        }),
        ("4.3.7", "The error rises with the jitter, on each path.", |all, reading| {
            let errors = PATHS.map(|path| all.by::<5>(path.name(), reading, jitter));
            (errors.iter().all(|one| rises(one)), format!("accelerated: {}", list(&errors[0])))
        }),
        ("4.3.7", "Zigzag: at small latencies the four are about alike (within 20 %).", |all, reading| {
            let errors =
                all.by_extrapolator(PATHS[1].name(), reading, |row| latency(row) == Some(0));
            (is_alike(&errors), format!("1 : {}", list(&ratios(errors)[1..])))
        }),
        ("4.3.7", "Smooth: at great latencies Catmull-Rom has the greatest error.", |all, reading| {
            let last = LATENCIES_MS.len() - 1;
            let errors =
                all.by_extrapolator(PATHS[2].name(), reading, |row| latency(row) == Some(last));
            (is_most(&errors, 3), format!("1 : {}", list(&ratios(errors)[1..])))
        }),
        (
            "4.3.7",
            "Accelerated: the last interval alone is the best time history (of figure 17).",
            |all, reading| {
                let errors = histories(all, reading, PATHS[0]);
                (errors[1..].iter().all(|it| errors[0] * SAME < *it), list(&errors))
            },
        ),
        (
            "4.3.7",
            "Accelerated: a longer time history is better (of the three paths; it contradicts the one before).",
            |all, reading| {
                let errors = histories(all, reading, PATHS[0]);
                (errors[HISTORIES.len() - 1] * SAME < errors[0], list(&errors))
            },
        ),
        (
            "4.3.7",
            "Zigzag: the error is small without a history, more with some, less again with more.",
            |all, reading| {
                let errors = histories(all, reading, PATHS[1]);
                let most = errors.iter().copied().fold(0.0, f64::max);
                let holds = errors[0] * SAME < most && errors[HISTORIES.len() - 1] * SAME < most;
                (holds, list(&errors))
            },
        ),
        ("4.3.7", "Smooth: the time history matters little (by less than 5 %).", |all, reading| {
            let errors = histories(all, reading, PATHS[2]);
            (spread(&errors) < 1.05, list(&errors))
        }),
        ("4.3.7", "The time history matters less on the smooth path than on the accelerated.", |all, reading| {
            let [accelerated, smooth] =
                [PATHS[0], PATHS[2]].map(|path| spread(&histories(all, reading, path)));
            (smooth < accelerated, format!("x {}", list(&[accelerated, smooth])))
        }),
    ]);
    all
}

/// The thesis's ratios to linear, for a path.
pub(super) fn ratios_of_thesis(path: usize) -> [f64; 4] {
    ratios(TABLES[path])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_the_tables_is_so_in_the_tables() {
        for (text, path, holds) in OF_TABLES {
            assert!(holds(&TABLES[path]), "{text}");
        }
        let all: Vec<_> = tests().iter().map(|(_, text, _)| *text).collect();
        assert!(OF_TABLES.iter().zip(&all).all(|((text, ..), other)| text == other));
    }
}

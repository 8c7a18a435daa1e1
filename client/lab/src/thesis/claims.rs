//! What the thesis says in section 4.3, each as something that one of the dice can be asked for.
//!
//! A claim is a set of *margins*, of which all are above 0 where it holds: logarithms of ratios of errors.

use super::super::shapes::Shape;
use super::sample::{Point, Sample, deviation, mean, range};
use super::{HISTORIES, JITTERS_MS, LATENCIES_MS, PATHS, Reading};

/// Errors about alike differ by less: the thesis speaks of not much difference where they do by 15 %. Arbitrary.
const ALIKE: f64 = 0.20;
/// What differs by less than one in a hundred neither rises nor falls. Arbitrary.
const SAME: f64 = 1.01;
/// What is widespread: the greatest is so many times the least. The thesis says it of 50 to 250 pixels. Arbitrary.
const WIDE: f64 = 3.0;

/// What one of the dice says of a claim.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// All above 0 if it is so.
    pub(super) margins: Vec<f64>,
    /// By what that is seen.
    pub(super) numbers: Vec<f64>,
}

/// Asks one of the dice.
pub(super) type Test = fn(&Sample, Reading) -> Outcome;

/// Something that is said of section 4.3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// Where the thesis says so.
    pub(super) section: &'static str,
    /// What, in our words.
    pub(super) text: &'static str,
    /// What the numbers are.
    pub(super) numbers: &'static str,
    /// Whether it is so.
    pub(super) test: Test,
}

const ACCELERATED: Shape = PATHS[0];
const ZIGZAG: Shape = PATHS[1];
const SMOOTH: Shape = PATHS[2];
/// The place in [`LATENCIES_MS`] of the greatest.
const GREATEST: usize = LATENCIES_MS.len() - 1;
/// Places in [`HISTORIES`]: none, the last interval alone, the longest.
const NONE: usize = 0;
const LAST: usize = 1;
const LONGEST: usize = HISTORIES.len() - 1;
/// The places of Richardson's and of Catmull-Rom extrapolation.
const RICHARDSON: usize = 2;
const CATMULL_ROM: usize = 3;

pub(super) fn ratios(errors: [f64; 4]) -> [f64; 4] {
    errors.map(|error| error / errors[0])
}

/// By how much one is less than each other.
pub(super) fn least(errors: &[f64], at: usize) -> Vec<f64> {
    let others = errors.iter().enumerate().filter(|(other, _)| *other != at);
    others.map(|(_, error)| (error / errors[at]).ln()).collect()
}

/// By how much one is more than each other.
pub(super) fn most(errors: &[f64], at: usize) -> Vec<f64> {
    least(errors, at).into_iter().map(|margin| -margin).collect()
}

fn alike(errors: &[f64]) -> Vec<f64> {
    vec![(1.0 + ALIKE).ln() - range(errors).ln()]
}

fn rises(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect()
}

pub(super) fn at_latency(at: &Point) -> Option<usize> {
    at.latency
}

pub(super) fn at_jitter(at: &Point) -> Option<usize> {
    at.jitter
}

fn at_history(at: &Point) -> Option<usize> {
    at.history
}

/// By the ratios of the four errors of a path, some of its points.
pub(super) fn four(
    all: &Sample,
    reading: Reading,
    path: Shape,
    which: impl Fn(&Point) -> bool,
    margins: impl Fn(&[f64]) -> Vec<f64>,
) -> Outcome {
    let errors = all.by_extrapolator(path.name(), reading, which);
    Outcome { margins: margins(&errors), numbers: ratios(errors)[1..].to_vec() }
}

/// Catmull-Rom interpolation to linear: anything of the errors of some of a path's points.
pub(super) fn rounded(
    all: &Sample,
    reading: Reading,
    path: Shape,
    what: fn(&[f64]) -> f64,
    which: impl Fn(&Point) -> bool,
) -> f64 {
    let [straight, rounded] = all.by_joining(path.name(), reading, what, which);
    rounded / straight
}

fn histories(all: &Sample, reading: Reading, path: Shape) -> [f64; HISTORIES.len()] {
    all.by(path.name(), reading, mean, at_history)
}

/// That each of some ratios is above 1.
pub(super) fn above_one(ratios: &[f64]) -> Vec<f64> {
    ratios.iter().map(|ratio| ratio.ln()).collect()
}

fn both(margins: [Vec<f64>; 2]) -> Vec<f64> {
    margins.concat()
}

/// Text, path, and the margins by the four errors.
pub(super) type OfTable = (&'static str, usize, fn(&[f64]) -> Vec<f64>);

/// What section 4.3 says of its tables: each holds of the thesis's own numbers.
pub(super) const OF_TABLES: [OfTable; 7] = [
    ("Accelerated: linear extrapolation has the least error.", 0, |errors| least(errors, 0)),
    ("Accelerated: the four are about alike (within 20 %).", 0, alike),
    ("Zigzag: linear extrapolation has the least error.", 1, |errors| least(errors, 0)),
    ("Zigzag: Catmull-Rom has the greatest.", 1, |errors| most(errors, CATMULL_ROM)),
    ("Zigzag: Catmull-Rom's is about twice that of linear (1.5 times at least).", 1, |errors| {
        vec![(errors[CATMULL_ROM] / (1.5 * errors[0])).ln()]
    }),
    ("Smooth: Richardson has the least error.", 2, |errors| least(errors, RICHARDSON)),
    ("Smooth: the four are about alike (within 20 %).", 2, alike),
];

const TO_LINEAR: &str = "quadratic, Richardson and Catmull-Rom to linear";

/// The claims about tables.
fn of_tables() -> Vec<Claim> {
    let tests: [Test; OF_TABLES.len()] = [
        |all, reading| four(all, reading, ACCELERATED, |_| true, OF_TABLES[0].2),
        |all, reading| four(all, reading, ACCELERATED, |_| true, OF_TABLES[1].2),
        |all, reading| four(all, reading, ZIGZAG, |_| true, OF_TABLES[2].2),
        |all, reading| four(all, reading, ZIGZAG, |_| true, OF_TABLES[3].2),
        |all, reading| four(all, reading, ZIGZAG, |_| true, OF_TABLES[4].2),
        |all, reading| four(all, reading, SMOOTH, |_| true, OF_TABLES[5].2),
        |all, reading| four(all, reading, SMOOTH, |_| true, OF_TABLES[6].2),
    ];
    let named = OF_TABLES.iter().zip(tests);
    named
        .map(|((text, ..), test)| Claim { section: "4.3.7", text, numbers: TO_LINEAR, test })
        .collect()
}

/// The error rises with the latency or the jitter on some paths.
fn rising<const N: usize>(
    all: &Sample,
    reading: Reading,
    paths: &[Shape],
    value: fn(&Point) -> Option<usize>,
) -> Outcome {
    let errors: Vec<[f64; N]> =
        paths.iter().map(|path| all.by(path.name(), reading, mean, value)).collect();
    let margins = errors.iter().flat_map(|one| rises(one)).collect();
    Outcome { margins, numbers: errors.concat() }
}

/// All of section 4.3 that can be counted.
pub(super) fn claims() -> Vec<Claim> {
    let mut all = of_tables();
    all.extend(of_extrapolators());
    all.extend(of_interpolators());
    all.extend(of_histories());
    all
}

fn of_extrapolators() -> [Claim; 9] {
    let claim = |text, numbers, test| Claim { section: "4.3.7", text, numbers, test };
    [
        claim(
            "Over all three paths, linear extrapolation is the best.",
            TO_LINEAR,
            |all, reading| {
                let mut means = [1.0_f64; 4];
                for path in PATHS {
                    let of_path = ratios(all.by_extrapolator(path.name(), reading, |_| true));
                    means.iter_mut().zip(of_path).for_each(|(mean, ratio)| *mean *= ratio.cbrt());
                }
                Outcome { margins: least(&means, 0), numbers: means[1..].to_vec() }
            },
        ),
        claim(
            "Accelerated: the error rises with the latency.",
            "errors by latency",
            |all, reading| {
                rising::<{ LATENCIES_MS.len() }>(all, reading, &[ACCELERATED], at_latency)
            },
        ),
        claim(
            "Accelerated and smooth: the error rises with the jitter.",
            "errors by jitter, path by path",
            |all, reading| {
                rising::<{ JITTERS_MS.len() }>(all, reading, &[ACCELERATED, SMOOTH], at_jitter)
            },
        ),
        claim(
            "Accelerated: errors are spread most widely where there is no jitter.",
            "standard deviations by jitter",
            |all, reading| {
                let spreads: [f64; JITTERS_MS.len()] =
                    all.by(ACCELERATED.name(), reading, deviation, at_jitter);
                Outcome { margins: most(&spreads, 0), numbers: spreads.into() }
            },
        ),
        claim(
            "Zigzag: at small latencies the four are about alike (within 20 %).",
            TO_LINEAR,
            |all, reading| four(all, reading, ZIGZAG, |at| at.latency == Some(0), alike),
        ),
        claim(
            "Zigzag: the greater the latency, the wider errors are spread.",
            "standard deviations by latency",
            |all, reading| {
                let spreads: [f64; LATENCIES_MS.len()] =
                    all.by(ZIGZAG.name(), reading, deviation, at_latency);
                Outcome { margins: rises(&spreads), numbers: spreads.into() }
            },
        ),
        claim(
            "Zigzag: at each jitter errors are spread widely (the greatest is three times the least).",
            "greatest to least by jitter",
            |all, reading| {
                let ranges: [f64; JITTERS_MS.len()] =
                    all.by(ZIGZAG.name(), reading, range, at_jitter);
                Outcome { margins: above_one(&ranges.map(|it| it / WIDE)), numbers: ranges.into() }
            },
        ),
        claim(
            "Smooth: at low latency Catmull-Rom extrapolation is the most gathered.",
            "standard deviations by extrapolator",
            |all, reading| {
                let low = |at: &Point| at.latency == Some(0);
                let spreads = all.spread_by_extrapolator(SMOOTH.name(), reading, low);
                Outcome { margins: least(&spreads, CATMULL_ROM), numbers: spreads.into() }
            },
        ),
        claim(
            "Smooth: at great latencies Catmull-Rom extrapolation has the greatest error.",
            TO_LINEAR,
            |all, reading| {
                let great = |at: &Point| at.latency == Some(GREATEST);
                four(all, reading, SMOOTH, great, |errors| most(errors, CATMULL_ROM))
            },
        ),
    ]
}

fn of_interpolators() -> [Claim; 6] {
    let claim = |text, numbers, test| Claim { section: "4.3.7", text, numbers, test };
    [
        Claim {
            section: "4.3.2",
            text: "Catmull-Rom interpolation is smoother than linear, on each path.",
            numbers: "jerks to those of linear, by path",
            test: |all, reading| {
                let jerks = PATHS.map(|path| {
                    let [straight, rounded] = all.jerk_by_joining(path.name(), reading);
                    rounded / straight
                });
                let margins = above_one(&jerks.map(f64::recip));
                Outcome { margins, numbers: jerks.into() }
            },
        },
        claim(
            "Linear interpolation is nearer than Catmull-Rom, on each path.",
            "Catmull-Rom's errors to linear's, by path",
            |all, reading| {
                let errors = PATHS.map(|path| rounded(all, reading, path, mean, |_| true));
                Outcome { margins: above_one(&errors), numbers: errors.into() }
            },
        ),
        claim(
            "Smooth: linear interpolation is nearer at each latency, each jitter and each history.",
            "Catmull-Rom's errors to linear's, by latency, by jitter, by history",
            |all, reading| {
                let mut errors = Vec::new();
                for (count, value) in [
                    (LATENCIES_MS.len(), at_latency as fn(&Point) -> Option<usize>),
                    (JITTERS_MS.len(), at_jitter),
                    (HISTORIES.len(), at_history),
                ] {
                    errors.extend((0..count).map(|at| {
                        rounded(all, reading, SMOOTH, mean, |point| value(point) == Some(at))
                    }));
                }
                Outcome { margins: above_one(&errors), numbers: errors }
            },
        ),
        claim(
            "Accelerated and smooth: it is without jitter that Catmull-Rom interpolation does badly.",
            "Catmull-Rom's errors to linear's without jitter and with it, path by path",
            |all, reading| {
                let ratios = [ACCELERATED, SMOOTH].map(|path| {
                    [true, false].map(|still| {
                        let which = |at: &Point| (at.jitter == Some(0)) == still;
                        rounded(all, reading, path, mean, which)
                    })
                });
                // That it does badly, and worse than with jitter.
                let margins =
                    ratios.iter().flat_map(|[still, other]| [still.ln(), (still / other).ln()]);
                Outcome { margins: margins.collect(), numbers: ratios.concat() }
            },
        ),
        claim(
            "Smooth: without jitter linear interpolation's errors are the lower cluster, Catmull-Rom's the upper \
             and more widespread.",
            "Catmull-Rom's mean and standard deviation to linear's",
            |all, reading| {
                let still = |at: &Point| at.jitter == Some(0);
                let ratios =
                    [mean, deviation].map(|what| rounded(all, reading, SMOOTH, what, still));
                Outcome { margins: above_one(&ratios), numbers: ratios.into() }
            },
        ),
        claim(
            "Zigzag: it is Catmull-Rom interpolation that makes for bad results: with it errors are greater and \
             more widespread, and Catmull-Rom extrapolation compares worse.",
            "Catmull-Rom interpolation's mean and standard deviation to linear's; Catmull-Rom extrapolation's \
             errors to linear's by either interpolation",
            |all, reading| {
                let ratios =
                    [mean, deviation].map(|what| rounded(all, reading, ZIGZAG, what, |_| true));
                let path = ZIGZAG.name();
                let [linear, catmull_rom] = [0, CATMULL_ROM].map(|of| {
                    let which = |at: &Point| at.is_by(reading.filters[of]);
                    all.by_joining(path, reading, mean, which)
                });
                let compared = [0, 1].map(|joining| catmull_rom[joining] / linear[joining]);
                let worse = vec![(compared[1] / compared[0]).ln()];
                Outcome {
                    margins: both([above_one(&ratios), worse]),
                    numbers: [ratios, compared].concat(),
                }
            },
        ),
    ]
}

fn of_histories() -> [Claim; 3] {
    let claim = |text, numbers, test| Claim { section: "4.3.7", text, numbers, test };
    [
        claim(
            "Zigzag: the error is small with no history, greater with some, less again with more.",
            "errors by history",
            |all, reading| {
                let errors = histories(all, reading, ZIGZAG);
                let most = errors[LAST..LONGEST].iter().copied().fold(0.0, f64::max) / SAME;
                let margins = above_one(&[most / errors[NONE], most / errors[LONGEST]]);
                Outcome { margins, numbers: errors.into() }
            },
        ),
        claim(
            "Smooth: averaging more than the last interval does not help much (by less than 5 %).",
            "errors by history",
            |all, reading| {
                let errors = histories(all, reading, SMOOTH);
                let best = errors[LAST + 1..].iter().copied().fold(f64::MAX, f64::min);
                let margins = above_one(&[best / (0.95 * errors[LAST])]);
                Outcome { margins, numbers: errors.into() }
            },
        ),
        claim(
            "The time history matters less on the smooth path than on the accelerated.",
            "greatest to least by history, accelerated and smooth",
            |all, reading| {
                let ranges =
                    [ACCELERATED, SMOOTH].map(|path| range(&histories(all, reading, path)));
                let margins = above_one(&[(ranges[0] - 1.0) / (ranges[1] - 1.0)]);
                Outcome { margins, numbers: ranges.into() }
            },
        ),
    ]
}

/// Where the thesis says one thing and its opposite: on the accelerated path the error is least by the last
/// interval alone (of figure 17), and a longer history is better (of the three paths).
pub(super) const CONTRADICTED: [Claim; 2] = [
    Claim {
        section: "4.3.7",
        text: "the last alone",
        numbers: "errors by history",
        test: |all, reading| {
            let errors = histories(all, reading, ACCELERATED);
            let margins = errors[LAST + 1..].iter().map(|it| (it / (errors[LAST] * SAME)).ln());
            Outcome { margins: margins.collect(), numbers: errors.into() }
        },
    },
    Claim {
        section: "4.3.7",
        text: "longer",
        numbers: "errors by history",
        test: |all, reading| {
            let errors = histories(all, reading, ACCELERATED);
            let margins = above_one(&[errors[LAST] / (errors[LONGEST] * SAME)]);
            Outcome { margins, numbers: errors.into() }
        },
    },
];

#[cfg(test)]
mod tests {
    use super::super::TABLES;
    use super::*;

    #[test]
    fn what_is_said_of_the_tables_is_so_in_the_tables() {
        for (text, path, margins) in OF_TABLES {
            assert!(margins(&TABLES[path]).iter().all(|margin| *margin > 0.0), "{text}");
        }
        let all: Vec<_> = claims().iter().map(|claim| claim.text).collect();
        assert!(OF_TABLES.iter().zip(&all).all(|((text, ..), other)| text == other));
    }

    #[test]
    fn margins_are_above_zero_where_it_is_so() {
        assert_eq!(rises(&[1.0, 1.0]), [0.0]);
        assert!(rises(&[1.0, 2.0, 3.0]).iter().all(|margin| *margin > 0.0));
        assert!(least(&[2.0, 1.0, 3.0], 1).iter().all(|margin| *margin > 0.0));
        assert!(most(&[2.0, 1.0, 3.0], 2).iter().all(|margin| *margin > 0.0));
        assert!(alike(&[1.0, 1.1])[0] > 0.0 && alike(&[1.0, 1.3])[0] < 0.0);
    }
}

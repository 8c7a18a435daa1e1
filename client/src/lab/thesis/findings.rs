//! What the thesis found, and whether it is found here.

use phaselock_shared::motion::fir::Kind;
use phaselock_shared::motion::waypoints::{Extrapolator, Joining};

use super::super::Contender;
use super::super::report::figure;
use super::super::shapes::Shape;
use super::{
    FUNCTIONS, Measured, PATHS, Reading, SCHEMES, SPACINGS, TABLES, history, jitter, latency,
    scheme,
};

/// Errors about alike differ by less: the thesis calls 11 % "almost equally well".
const ALIKE: f64 = 0.15;

/// Something that the thesis found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Where it says so.
    pub section: &'static str,
    /// What, in our words.
    pub text: String,
    /// Whether it is so here: by each of [`Reading::ALL`], or by one measurement for which there is one.
    pub holds: Vec<bool>,
    /// What was measured that says so.
    pub numbers: String,
}

/// All of them.
pub fn findings(measured: &Measured) -> Vec<Finding> {
    let mut all = of_schemes();
    all.extend(of_paths(measured));
    all
}

fn of_schemes() -> Vec<Finding> {
    let with = |kind, joining| Contender::Waypoints(Extrapolator::Fir(kind), joining);
    let straight = with(Kind::Linear, Joining::Linear);
    let bent = with(Kind::ThesisQuadratic, Joining::Linear);
    let error = |function, spacing, contender| scheme(function, spacing, contender).error_now_mean;
    let one = |text: &str, holds: bool, numbers: String| Finding {
        section: "2.3.1",
        text: text.into(),
        holds: vec![holds],
        numbers,
    };
    let [sine, logarithm] = FUNCTIONS;
    let pairs =
        SCHEMES.map(|(contender, _)| FUNCTIONS.map(|function| error(function, 1.0, contender)));
    let by_spacing =
        SPACINGS.map(|spacing| error(sine, spacing, bent) / error(sine, spacing, straight));
    let plain = scheme(sine, 1.0, bent);
    let round = scheme(sine, 1.0, with(Kind::ThesisQuadratic, Joining::Hermite));
    let cornered = scheme(sine, 1.0, straight);
    let cubic = scheme(sine, 1.0, with(Kind::Linear, Joining::CubicSpline));
    let of_logarithm = error(logarithm, 1.0, with(Kind::Linear, Joining::CubicSpline));
    vec![
        one(
            "The sine is hard to foretell, the logarithm easy, by every method.",
            pairs.iter().all(|[sine, logarithm]| logarithm < sine),
            format!("linear, linear: {} and {}", figure(pairs[1][0]), figure(pairs[1][1])),
        ),
        one(
            "Linear extrapolation is nearer than point to point, which foretells nothing.",
            pairs[1][0] < pairs[0][0] && pairs[1][1] < pairs[0][1],
            format!(
                "sine: {} and {}; logarithm: {} and {}",
                figure(pairs[1][0]),
                figure(pairs[0][0]),
                figure(pairs[1][1]),
                figure(pairs[0][1])
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
            "A smooth curve between the foretold points is smoother than a straight line, and further off.",
            round.jerk < plain.jerk && round.error_now_mean > plain.error_now_mean,
            format!(
                "Hermite to linear on the sine: error x {}, jerk x {}",
                figure(round.error_now_mean / plain.error_now_mean),
                figure(round.jerk / plain.jerk)
            ),
        ),
        one(
            "The cubic spline has no corners, and swings wide where the foretelling is bad.",
            cubic.jerk < cornered.jerk
                && cubic.error_now_p99 > cornered.error_now_p99
                && cubic.error_now_p99 > of_logarithm,
            format!(
                "to straight lines on the sine: error x {}, jerk x {}",
                figure(cubic.error_now_mean / cornered.error_now_mean),
                figure(cubic.jerk / cornered.jerk)
            ),
        ),
    ]
}

fn of_paths(measured: &Measured) -> Vec<Finding> {
    let by = |test: &dyn Fn(Reading) -> (bool, String)| {
        let (holds, numbers): (Vec<_>, Vec<_>) = Reading::ALL.map(test).into_iter().unzip();
        (holds, numbers.join("; "))
    };
    let finding = |text: &str, test: &dyn Fn(Reading) -> (bool, String)| {
        let (holds, numbers) = by(test);
        Finding { section: "4.3.7", text: text.into(), holds, numbers }
    };
    let [accelerated, zigzag, smooth] = PATHS.map(Shape::name);
    let errors = |path: &str, reading| measured.by_extrapolator(path, reading);
    let list = |values: &[f64]| values.iter().map(|it| figure(*it)).collect::<Vec<_>>().join(", ");
    let ratios = |errors: [f64; 4]| errors.map(|error| error / errors[0]);
    let least = |errors: [f64; 4], at: usize| errors.iter().all(|error| errors[at] <= *error);
    let alike = |errors: [f64; 4]| {
        let (least, most) = errors
            .iter()
            .fold((f64::MAX, 0.0_f64), |(least, most), it| (least.min(*it), most.max(*it)));
        most < least * (1.0 + ALIKE)
    };
    let rises = |values: &[f64]| values.windows(2).all(|pair| pair[0] < pair[1]);
    let of_ratios = |path: &'static str, holds: &dyn Fn([f64; 4]) -> bool, reading| {
        let errors = errors(path, reading);
        (holds(errors), format!("1 : {}", list(&ratios(errors)[1..])))
    };
    vec![
        finding("Accelerated: linear extrapolation has the least error.", &|reading| {
            of_ratios(accelerated, &|errors| least(errors, 0), reading)
        }),
        finding("Accelerated: the four are about alike (within 15 %).", &|reading| {
            of_ratios(accelerated, &alike, reading)
        }),
        finding("Zigzag: linear extrapolation has the least error.", &|reading| {
            of_ratios(zigzag, &|errors| least(errors, 0), reading)
        }),
        finding("Zigzag: Catmull-Rom has the greatest.", &|reading| {
            let most = |errors: [f64; 4]| errors.iter().all(|error| errors[3] >= *error);
            of_ratios(zigzag, &most, reading)
        }),
        finding(
            "Zigzag: Catmull-Rom's is about twice that of linear (1.5 times at least).",
            &|reading| of_ratios(zigzag, &|errors| errors[3] > 1.5 * errors[0], reading),
        ),
        finding("Smooth: Richardson has the least error.", &|reading| {
            of_ratios(smooth, &|errors| least(errors, 2), reading)
        }),
        finding("Smooth: the four are about alike (within 15 %).", &|reading| {
            of_ratios(smooth, &alike, reading)
        }),
        finding("Over all three paths, linear extrapolation is the best.", &|reading| {
            let mut means = [1.0_f64; 4];
            for path in PATHS {
                let of_path = ratios(errors(path.name(), reading));
                means.iter_mut().zip(of_path).for_each(|(mean, ratio)| *mean *= ratio.cbrt());
            }
            (least(means, 0), format!("1 : {}", list(&means[1..])))
        }),
        finding("On each path, linear interpolation is nearer than Catmull-Rom.", &|reading| {
            let pairs = PATHS.map(|path| measured.by_joining(path.name(), reading));
            let ratios = pairs.map(|[linear, rounded]| rounded / linear);
            (ratios.iter().all(|ratio| *ratio > 1.0), format!("x {}", list(&ratios)))
        }),
        finding("The error rises with the latency, on each path.", &|reading| {
            let all = PATHS.map(|path| measured.by::<5>(path.name(), reading, latency));
            (all.iter().all(|one| rises(one)), format!("accelerated: {}", list(&all[0])))
        }),
        finding("The error rises with the jitter, on each path.", &|reading| {
            let all = PATHS.map(|path| measured.by::<5>(path.name(), reading, jitter));
            (all.iter().all(|one| rises(one)), format!("accelerated: {}", list(&all[0])))
        }),
        finding("Accelerated: the last interval alone is the best time history.", &|reading| {
            let errors = measured.by::<5>(accelerated, reading, history);
            (errors[1..].iter().all(|error| errors[0] < *error), list(&errors))
        }),
        finding(
            "Zigzag: the error is small without a history, more with some, less again with more.",
            &|reading| {
                let errors = measured.by::<5>(zigzag, reading, history);
                let most = errors.iter().copied().fold(0.0, f64::max);
                (errors[0] < most && errors[4] < most, list(&errors))
            },
        ),
        finding("Smooth: the time history matters little (by less than 5 %).", &|reading| {
            let errors = measured.by::<5>(smooth, reading, history);
            let least = errors.iter().copied().fold(f64::MAX, f64::min);
            let most = errors.iter().copied().fold(0.0, f64::max);
            (most < 1.05 * least, list(&errors))
        }),
    ]
}

/// The thesis's ratios to linear, for a path.
pub(super) fn ratios_of_thesis(path: usize) -> [f64; 4] {
    TABLES[path].map(|error| error / TABLES[path][0])
}

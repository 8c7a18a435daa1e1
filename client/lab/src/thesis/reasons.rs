//! Reasons why some findings of the thesis hold here and others do not, with evidence.

use phaselock::motion::fir::{self, Filter};
use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::super::report::figures;
use super::super::{Contender, Stamps};
use super::claims::Test::{Above, By, Four, Ratio, Rounder};
use super::claims::{
    ALL, CATMULL_ROM, Claim, EVEN, LINEAR, LONG, Outcome, Paths, QUADRATIC, RICHARDSON, Readings,
    SHORT, SMOOTH, ZIGZAG, is_greatest, is_least, rounded,
};
use super::findings::{Verdict, numbers_of};
use super::plan::{CORRECTED, FUNCTIONS, PATHS, PRINTED, READINGS, Reading, scheme, waypoints};
use super::sample::ThesisRuns;
use super::sample::{Case, HISTORY, Sample, every, greatest, is_of, is_still, least, mean, range};

/// A reason with its evidence.
#[derive(Clone, Debug)]
pub struct Reason {
    /// The reason in words.
    pub text: &'static str,
    /// Measurements that support it.
    pub grounds: Vec<Evidence>,
}

/// A measurement that supports a reason.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The evidence in words, with a description of the numbers.
    pub text: String,
    /// The result of the seeds.
    pub verdict: Verdict,
    /// The measurements behind the verdict.
    pub numbers: String,
}

const NO_CLOCK: Readings = ("without a clock", &[READINGS[0], READINGS[1]]);
const CLOCK: Readings = ("with a clock", &[READINGS[2], READINGS[3]]);
/// One reading, for tests that compare printed with corrected filters themselves.
const NO_CLOCK_PRINTED: Readings = ("without a clock", &[READINGS[0]]);
const CLOCK_PRINTED: Readings = ("with a clock", &[READINGS[2]]);

/// Tests a claim by several readings, all of which must agree.
fn ground(claim: &Claim, seeds: &[Sample<'_>]) -> Evidence {
    let Claim(Paths(paths, _, (readings, all)), text, test) = claim;
    let outcomes: Vec<_> = seeds.iter().map(|seed| claim.ask(seed, all)).collect();
    let text = format!("{paths}, {readings}: {text} ({})", test.label());
    Evidence { text, verdict: Verdict::of(&outcomes), numbers: numbers_of(&outcomes) }
}

/// All reasons.
pub fn reasons(measured: &ThesisRuns) -> Vec<Reason> {
    let seeds = measured.seeds();
    let of = |(text, grounds): &(&'static str, &[Claim])| Reason {
        text,
        grounds: grounds.iter().map(|it| ground(it, &seeds)).collect(),
    };
    let mut all: Vec<_> = REASONS.iter().map(of).collect();
    all.insert(4, on_the_way());
    all.insert(6, turn_of_richardson());
    all
}

fn four(case: Case<'_>) -> [f64; 4] {
    case.four(mean, every)
}

/// A statistic without a clock and with it.
fn without_and_with(case: Case<'_>, of: impl Fn(Case<'_>) -> f64) -> [f64; 2] {
    let without = Reading { stamps: Stamps::Arrived, ..case.reading };
    [of(case.by_reading(without)), of(case)]
}

/// Error of an extrapolator as printed, as a multiple of its error as corrected, by the case's
/// clock.
fn printed_to_corrected(case: Case<'_>, of: usize) -> f64 {
    let [printed, corrected] = [PRINTED, CORRECTED]
        .map(|filters| four(case.by_reading(Reading { filters, ..case.reading }))[of]);
    printed / corrected
}

/// Error with the last interval only, as a multiple of that without history.
fn last_to_none(case: Case<'_>, extrapolator: Extrapolator) -> f64 {
    let filters = if PRINTED.contains(&extrapolator) { PRINTED } else { CORRECTED };
    let case = case.by_reading(Reading { filters, ..case.reading });
    let [none, last] = [0, 1].map(|history| {
        case.errors(mean, |run| is_of(run, extrapolator) && HISTORY.2(run, history))
    });
    last / none
}

/// The reasons supported by the runs, in the page's order.
const REASONS: [(&str, &[Claim]); 6] = [
    (
        "**The clock matters most.** Without one, everything is shown late by the updates' whole \
         latency. That part of the error is the same for all methods and the largest part, so the \
         methods look more alike, as in the thesis's Tables 2 and 4. With a clock, the filters do \
         their work.",
        &[
            Claim(
                EVEN.by(CLOCK),
                "a clock more than halves the mean error",
                Above("without to with", 2.0, |case| {
                    let [without, with] = without_and_with(case, |case| case.errors(mean, every));
                    without / with
                }),
            ),
            Claim(
                EVEN.by(CLOCK),
                "the four differ by more with one",
                By("largest to smallest without and with", |case| {
                    let ranges = without_and_with(case, |case| range(&four(case)));
                    Outcome::above(1.0, [(ranges[1] - 1.0) / (ranges[0] - 1.0)]).by(ranges)
                }),
            ),
            Claim(
                EVEN.by(CLOCK),
                "the quadratic is the closest by a third",
                Above("next to it", 1.5, |case| {
                    let errors = four(case);
                    let others = [LINEAR, RICHARDSON, CATMULL_ROM].map(|of| errors[of]);
                    least(&others) / errors[QUADRATIC]
                }),
            ),
            Claim(EVEN.by(CLOCK), "Richardson is closer", Ratio(LINEAR, RICHARDSON, 1.0)),
        ],
    ),
    (
        "**The zigzag's ranking depends on its strokes.** If a stroke ends before two updates \
         have arrived, filters that react strongly to turns overshoot. The thesis's zigzag may \
         have been drawn fast for its update rate, but even then its order of quadratic and \
         Catmull-Rom is not confirmed.",
        &[
            Claim(SHORT, "linear is the best", Four(every, |errors| is_least(errors, LINEAR))),
            Claim(
                SHORT,
                "Catmull-Rom's error is at least 1.2 times as large (1.9 times in Table 3)",
                Ratio(CATMULL_ROM, LINEAR, 1.2),
            ),
            Claim(
                SHORT,
                "the quadratic is worse than Catmull-Rom, not better as in that table",
                Ratio(QUADRATIC, CATMULL_ROM, 1.0),
            ),
            Claim(
                LONG.by(NO_CLOCK),
                "linear is the worst",
                Four(every, |errors| is_greatest(errors, LINEAR)),
            ),
        ],
    ),
    (
        "**Richardson's lead on the smooth path** is not confirmed: without a clock it is as good \
         as linear, and with one the quadratic, which reacts more to turns, gains more.",
        &[
            Claim(
                SMOOTH.by(NO_CLOCK),
                "the two differ by less than 5 %",
                By("Richardson to linear", |case| {
                    let errors = four(case);
                    let ratio = errors[RICHARDSON] / errors[LINEAR];
                    Outcome::above(1.0, [1.05 / ratio, 1.05 * ratio]).by([ratio])
                }),
            ),
            Claim(
                SMOOTH.by(CLOCK),
                "Richardson is closer than linear, and the quadratic closer still",
                By("linear and the quadratic to Richardson", |case| {
                    let errors = four(case);
                    let ratios = [LINEAR, QUADRATIC].map(|of| errors[of] / errors[RICHARDSON]);
                    Outcome::above(1.0, [ratios[0], ratios[1].recip()]).by(ratios)
                }),
            ),
        ],
    ),
    (
        "**Catmull-Rom interpolation is less accurate, as the thesis says, but not for its \
         reason**, which is points that come close together where there is no jitter.",
        &[
            Claim(ALL, "Catmull-Rom is worse than linear", Rounder(every, &[mean])),
            Claim(
                ZIGZAG,
                "more so than on the other paths",
                Above("to the larger of theirs", 1.0, |case| {
                    let ratio = |path| rounded(case.on(path), mean, every);
                    let others = [PATHS[0], PATHS[2]].map(|path| ratio(path.name()));
                    ratio(PATHS[1].name()) / greatest(&others)
                }),
            ),
            Claim(
                EVEN,
                "less so without jitter",
                Above("with jitter to without", 1.0, |case| {
                    let still = rounded(case, mean, is_still);
                    rounded(case, mean, |run| !is_still(run)) / still
                }),
            ),
        ],
    ),
    (
        "**The misprints.** The printed quadratic (without its stray factor) takes the newest \
         slope for the velocity, which is half a step too old; the parabola reacts more to turns, \
         which helps where motion is smooth and there is a clock. Catmull-Rom for equal steps has \
         the quadratic's weights, but extrapolates one step of the expected interval and \
         continues in a straight line, whatever the latency; for any spacing it uses the times, \
         which without a clock are those of uneven arrivals.",
        &[
            Claim(
                EVEN.by(CLOCK_PRINTED),
                "the parabola is closer than the printed quadratic",
                Above("printed to corrected", 1.0, |case| printed_to_corrected(case, QUADRATIC)),
            ),
            Claim(
                ZIGZAG.by(CLOCK_PRINTED),
                "the parabola is worse",
                Above("corrected to printed", 1.0, |case| {
                    printed_to_corrected(case, QUADRATIC).recip()
                }),
            ),
            Claim(
                ALL.by(CLOCK_PRINTED),
                "Catmull-Rom for any spacing is closer than for equal steps",
                Above("printed to corrected", 1.0, |case| printed_to_corrected(case, CATMULL_ROM)),
            ),
            Claim(
                ALL.by(NO_CLOCK_PRINTED),
                "Catmull-Rom for any spacing is worse",
                Above("corrected to printed", 1.0, |case| {
                    printed_to_corrected(case, CATMULL_ROM).recip()
                }),
            ),
        ],
    ),
    (
        "**The time history** is the length of a step for the filter for equal steps; for the \
         others it only determines when the next update is due. So with a clock, a single odd \
         interval misleads only the printed Catmull-Rom.",
        &[
            Claim(
                ALL.by(CLOCK_PRINTED),
                "the last interval makes its error larger by a fifth",
                Above("last to none", 1.2, |case| last_to_none(case, PRINTED[CATMULL_ROM])),
            ),
            Claim(
                ALL.by(CLOCK_PRINTED),
                "the errors of all other filters differ by less than a tenth",
                By("last to none", |case| {
                    let others = PRINTED[..CATMULL_ROM].iter().chain(&CORRECTED[1..]);
                    let ratios: Vec<_> = others.map(|it| last_to_none(case, *it)).collect();
                    let bounds = ratios.iter().flat_map(|ratio| [1.1 / ratio, 1.1 * ratio]);
                    Outcome::above(1.0, bounds.collect::<Vec<_>>()).by(ratios)
                }),
            ),
        ],
    ),
];

fn on_the_way() -> Reason {
    let methods =
        [Joining::Jump, Joining::Linear].map(|joining| waypoints(Filter::Linear, joining));
    let error = |method| scheme(FUNCTIONS[0], 1.0, method).error_now_mean;
    let newest = error(Contender::Newest);
    let [led, joined] = methods.map(error);
    let text = "Sine, an update at each natural number, without a network: linear extrapolation";
    let grounds = vec![
        Evidence {
            text: format!("{text} alone is closer than point to point (the latter first)"),
            verdict: Verdict::certain(led < newest),
            numbers: figures(&[newest, led]),
        },
        Evidence {
            text: format!("{text} with linear interpolation is worse"),
            verdict: Verdict::certain(joined > newest),
            numbers: figures(&[joined]),
        },
    ];
    Reason {
        text: "**Reaching an extrapolated point takes time**: for a whole interval, the body is \
               still on its way.",
        grounds,
    }
}

fn turn_of_richardson() -> Reason {
    let turns = [Filter::RichardsonPrinted, Filter::Richardson].map(|kind| fir::uniform(kind)[2]);
    let ground = Evidence {
        text: "so it weights a turn twice as much as equation 2.33 would (the weights of the turn \
               at equal steps)"
            .into(),
        verdict: Verdict::certain((turns[0] - 2.0 * turns[1]).abs() < 1e-12),
        numbers: figures(&turns),
    };
    Reason {
        text: "**The printed Richardson** starts from the position before the newest.",
        grounds: vec![ground],
    }
}

//! Reasons why some findings of the thesis hold here and others do not, with their grounds.

use phaselock::motion::fir::{self, Kind};
use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::super::report::figures;
use super::super::{Contender, Stamps};
use super::claims::{
    ACCELERATED, ALL, CATMULL_ROM, EVEN, LINEAR, Outcome, QUADRATIC, RICHARDSON, SMOOTH, ZIGZAG,
    is_greatest, is_least, rounded, to_linear,
};
use super::findings::{Verdict, numbers_of};
use super::sample::{Axis, Case, Run, Sample, every, greatest, least, mean, range};
use super::{FUNCTIONS, MENDED, Measured, PRINTED, READINGS, Reading, STROKES, scheme, waypoints};

/// A reason with its grounds.
#[derive(Clone, Debug)]
pub struct Reason {
    /// The reason in words.
    pub text: &'static str,
    /// Measurements that speak for it.
    pub grounds: Vec<Ground>,
}

/// A measurement that speaks for a reason.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The ground in words.
    pub text: &'static str,
    /// The answer of the seeds.
    pub verdict: Verdict,
    /// The measurements behind the verdict, described by the text.
    pub numbers: String,
}

/// A ground to be tested: it must hold on each path by each reading.
struct Test {
    text: &'static str,
    paths: &'static [&'static str],
    readings: &'static [Reading],
    ask: fn(Case<'_>) -> Outcome,
}

impl Test {
    fn ground(&self, seeds: &[Sample]) -> Ground {
        let ask = |seed: &Sample| {
            let cases = self.paths.iter().flat_map(|path| {
                self.readings.iter().map(move |reading| seed.case(path, *reading))
            });
            cases.map(self.ask).reduce(Outcome::and).unwrap_or_default()
        };
        let outcomes: Vec<_> = seeds.iter().map(ask).collect();
        let (verdict, numbers) = (Verdict::of(&outcomes), numbers_of(&outcomes));
        Ground { text: self.text, verdict, numbers }
    }
}

const NO_CLOCK: &[Reading] = &[READINGS[0], READINGS[1]];
const CLOCK: &[Reading] = &[READINGS[2], READINGS[3]];
/// One reading for tests that compare printed with mended filters themselves.
const NO_CLOCK_PRINTED: &[Reading] = &[READINGS[0]];
const CLOCK_PRINTED: &[Reading] = &[READINGS[2]];
/// Zigzags with short and with long strokes.
const SHORT: &[&str] = &[STROKES[0].0];
const LONG: &[&str] = &[STROKES[2].0];

/// All reasons.
pub fn reasons(measured: &Measured) -> Vec<Reason> {
    let seeds = measured.seeds();
    let of = |(text, tests): &(&'static str, &[Test])| Reason {
        text,
        grounds: tests.iter().map(|test| test.ground(&seeds)).collect(),
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

/// The error of an extrapolator as printed as a multiple of that as mended, by the case's clock.
fn printed_to_mended(case: Case<'_>, of: usize) -> f64 {
    let [printed, mended] = [PRINTED, MENDED]
        .map(|filters| four(case.by_reading(Reading { filters, ..case.reading }))[of]);
    printed / mended
}

/// The error by the last interval alone as a multiple of that with no history.
fn last_to_none(case: Case<'_>, extrapolator: Extrapolator) -> f64 {
    let filters = if PRINTED.contains(&extrapolator) { PRINTED } else { MENDED };
    let case = case.by_reading(Reading { filters, ..case.reading });
    let [none, last] = [0, 1].map(|history| {
        let at = |run: &Run| run.is_at(Axis::History, history);
        case.errors(mean, |run| run.extrapolator == extrapolator && at(run))
    });
    last / none
}

/// The reasons that the runs speak for, in the page's order.
const REASONS: [(&str, &[Test]); 6] = [
    (
        "**The clock decides most.** Without one everything is shown late by the whole way of the \
         updates. That part of the error is the same for all methods and most of it, so that they \
         seem more alike, as in the thesis's Tables 2 and 4. With one the filters do their work.",
        &[
            Test {
                text: "on the accelerated and the smooth path, printed and mended, a clock more \
                       than halves the mean error (error without to that with)",
                paths: EVEN,
                readings: CLOCK,
                ask: |case| {
                    let [without, with] = without_and_with(case, |case| case.errors(mean, every));
                    Outcome::above_times(2.0, [without / with])
                },
            },
            Test {
                text: "there the four differ by more with it (the greatest to the least, without \
                       and with)",
                paths: EVEN,
                readings: CLOCK,
                ask: |case| {
                    let ranges = without_and_with(case, |case| range(&four(case)));
                    Outcome::above([(ranges[1] - 1.0) / (ranges[0] - 1.0)]).by(ranges)
                },
            },
            Test {
                text: "there, with it, the quadratic is the nearest by a third at least (the next \
                       to it)",
                paths: EVEN,
                readings: CLOCK,
                ask: |case| {
                    let errors = four(case);
                    let others = [LINEAR, RICHARDSON, CATMULL_ROM].map(|of| errors[of]);
                    Outcome::above_times(1.5, [least(&others) / errors[QUADRATIC]])
                },
            },
            Test {
                text: "there, with it, Richardson is nearer than linear (linear to it)",
                paths: EVEN,
                readings: CLOCK,
                ask: |case| {
                    let errors = four(case);
                    Outcome::above([errors[LINEAR] / errors[RICHARDSON]])
                },
            },
        ],
    ),
    (
        "**The zigzag's strokes decide its order.** Where a stroke is over before two updates have \
         come, filters that make much of a turn overshoot. The thesis's zigzag may have been drawn \
         fast for its rate of updates; but then too its order of quadratic and Catmull-Rom is not \
         found.",
        &[
            Test {
                text: "at strokes of 0.15 s linear is the best in every reading (quadratic, \
                       Richardson and Catmull-Rom to it)",
                paths: SHORT,
                readings: &READINGS,
                ask: |case| {
                    let errors = four(case);
                    Outcome { margins: is_least(&errors, LINEAR), numbers: to_linear(errors) }
                },
            },
            Test {
                text: "there Catmull-Rom is farther by 1.2 times at least in every reading, as in \
                       Table 3 by 1.9 (to linear)",
                paths: SHORT,
                readings: &READINGS,
                ask: |case| {
                    let errors = four(case);
                    Outcome::above_times(1.2, [errors[CATMULL_ROM] / errors[LINEAR]])
                },
            },
            Test {
                text: "there the quadratic is farther than Catmull-Rom in every reading, and not \
                       the other way round as in that table (quadratic to Catmull-Rom)",
                paths: SHORT,
                readings: &READINGS,
                ask: |case| {
                    let errors = four(case);
                    Outcome::above([errors[QUADRATIC] / errors[CATMULL_ROM]])
                },
            },
            Test {
                text: "at strokes of half a second and without a clock linear is the farthest \
                       (quadratic, Richardson and Catmull-Rom to it)",
                paths: LONG,
                readings: NO_CLOCK,
                ask: |case| {
                    let errors = four(case);
                    Outcome { margins: is_greatest(&errors, LINEAR), numbers: to_linear(errors) }
                },
            },
        ],
    ),
    (
        "**Richardson's lead on the smooth path** is not found: without a clock it is as good as \
         linear, and with one the quadratic, which makes more of turns, gains more.",
        &[
            Test {
                text: "on the smooth path without a clock it and linear differ by less than 5 % \
                       (Richardson to linear)",
                paths: &[SMOOTH],
                readings: NO_CLOCK,
                ask: |case| {
                    let errors = four(case);
                    let ratio = errors[RICHARDSON] / errors[LINEAR];
                    Outcome::above([1.05 / ratio, 1.05 * ratio]).by([ratio])
                },
            },
            Test {
                text: "there with a clock it is nearer than linear, and the quadratic nearer still \
                       (linear and the quadratic to Richardson)",
                paths: &[SMOOTH],
                readings: CLOCK,
                ask: |case| {
                    let errors = four(case);
                    let [linear, quadratic] =
                        [LINEAR, QUADRATIC].map(|of| errors[of] / errors[RICHARDSON]);
                    Outcome::above([linear, quadratic.recip()]).by([linear, quadratic])
                },
            },
        ],
    ),
    (
        "**Catmull-Rom interpolation is less near, as the thesis has it, but not for its reason**, \
         which is points that come close together where there is no jitter.",
        &[
            Test {
                text: "it is farther than linear on each path in each reading (to linear)",
                paths: ALL,
                readings: &READINGS,
                ask: |case| Outcome::above([rounded(case, mean, every)]),
            },
            Test {
                text: "and more so on the zigzag than on the others (the zigzag's ratio to the \
                       greater of theirs)",
                paths: &[ZIGZAG],
                readings: &READINGS,
                ask: |case| {
                    let ratio = |path| rounded(case.on(path), mean, every);
                    let others = greatest(&[ACCELERATED, SMOOTH].map(ratio));
                    Outcome::above([ratio(ZIGZAG) / others])
                },
            },
            Test {
                text: "on the accelerated and the smooth path it is less so without jitter than \
                       with it, in each reading (the ratio with jitter to that without)",
                paths: EVEN,
                readings: &READINGS,
                ask: |case| {
                    let still = rounded(case, mean, Run::is_still);
                    Outcome::above([rounded(case, mean, |run| !run.is_still()) / still])
                },
            },
        ],
    ),
    (
        "**The misprints.** The printed quadratic (without its stray factor) takes the newest slope \
         for the velocity, half a step too old; the parabola makes more of turns, which helps where \
         motion is even and there is a clock. Catmull-Rom for equal steps has the quadratic's \
         weights, but extrapolates one step of the interval that is expected, and goes on in a \
         straight line, whatever the latency; for any spacing it goes by the times, which without a \
         clock are those of uneven arrivals.",
        &[
            Test {
                text: "with a clock the parabola is nearer than the printed quadratic on the \
                       accelerated and the smooth path (the printed to it)",
                paths: EVEN,
                readings: CLOCK_PRINTED,
                ask: |case| Outcome::above([printed_to_mended(case, QUADRATIC)]),
            },
            Test {
                text: "and farther on the zigzag (it to the printed)",
                paths: &[ZIGZAG],
                readings: CLOCK_PRINTED,
                ask: |case| Outcome::above([printed_to_mended(case, QUADRATIC).recip()]),
            },
            Test {
                text: "with a clock Catmull-Rom for any spacing is nearer than that for equal steps \
                       on each path (that to it)",
                paths: ALL,
                readings: CLOCK_PRINTED,
                ask: |case| Outcome::above([printed_to_mended(case, CATMULL_ROM)]),
            },
            Test {
                text: "without one it is farther (it to that)",
                paths: ALL,
                readings: NO_CLOCK_PRINTED,
                ask: |case| Outcome::above([printed_to_mended(case, CATMULL_ROM).recip()]),
            },
        ],
    ),
    (
        "**The time history** is the length of a step for the filter for equal steps; for the \
         others it says only when the next update is due. So with a clock a single odd interval \
         leads only the printed Catmull-Rom astray.",
        &[
            Test {
                text: "with a clock its error is greater by a fifth at least by the last interval \
                       alone than by none, on each path (by the last to by none)",
                paths: ALL,
                readings: CLOCK_PRINTED,
                ask: |case| Outcome::above_times(1.2, [last_to_none(case, PRINTED[CATMULL_ROM])]),
            },
            Test {
                text: "that of linear, of either quadratic, of either Richardson and of Catmull-Rom \
                       for any spacing differs by less than a tenth (likewise)",
                paths: ALL,
                readings: CLOCK_PRINTED,
                ask: |case| {
                    let others = PRINTED[..CATMULL_ROM].iter().chain(&MENDED[1..]);
                    let ratios: Vec<_> = others.map(|it| last_to_none(case, *it)).collect();
                    let bounds = ratios.iter().flat_map(|ratio| [1.1 / ratio, 1.1 * ratio]);
                    Outcome::above(bounds.collect::<Vec<_>>()).by(ratios)
                },
            },
        ],
    ),
];

fn on_the_way() -> Reason {
    let methods = [Joining::Jump, Joining::Linear].map(|joining| waypoints(Kind::Linear, joining));
    let error = |method| scheme(FUNCTIONS[0], 1.0, method).error_now_mean;
    let newest = error(Contender::Newest);
    let [led, joined] = methods.map(error);
    let grounds = vec![
        Ground {
            text: "on the sine, with an update at each natural number, linear extrapolation alone \
                   is nearer than point to point (the latter first)",
            verdict: Verdict::certain(led < newest),
            numbers: figures(&[newest, led]),
        },
        Ground {
            text: "with linear interpolation it is farther than point to point",
            verdict: Verdict::certain(joined > newest),
            numbers: figures(&[joined]),
        },
    ];
    Reason {
        text: "**The way to an extrapolated point takes time**: for a whole interval the thing is \
               only on its way.",
        grounds,
    }
}

fn turn_of_richardson() -> Reason {
    let turns = [Kind::RichardsonPrinted, Kind::Richardson].map(|kind| fir::uniform(kind)[2]);
    let ground = Ground {
        text: "so it makes twice as much of a turn as equation 2.33 would (the weights of the turn \
               at equal steps)",
        verdict: Verdict::certain((turns[0] - 2.0 * turns[1]).abs() < 1e-12),
        numbers: figures(&turns),
    };
    Reason {
        text: "**The printed Richardson** starts from the position before the newest.",
        grounds: vec![ground],
    }
}

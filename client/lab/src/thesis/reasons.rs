//! Why the thesis is found again in some things and not in others: each reason with what it is said by.

use phaselock::motion::fir::{self, Kind};
use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::super::shapes::Shape;
use super::super::{Contender, Stamps};
use super::claims::{Outcome, above_one, least, most, ratios, rounded};
use super::findings::{Verdict, list, numbers_of};
use super::sample::{Point, Sample, mean, range};
use super::{FUNCTIONS, MENDED, Measured, PATHS, PRINTED, Reading, STROKES_SECS, scheme};

/// A reason.
#[derive(Clone, Debug)]
pub struct Reason {
    /// In words.
    pub text: &'static str,
    /// What says so.
    pub grounds: Vec<Ground>,
}

/// Something that was measured and speaks for a reason.
#[derive(Clone, Debug)]
pub struct Ground {
    /// In words.
    pub text: &'static str,
    /// Whether it is so.
    pub verdict: Verdict,
    /// By what that is seen.
    pub numbers: String,
}

/// What is asked of each of the dice.
type Asked = fn(&Sample) -> Outcome;

/// Text, and what is asked. The numbers are explained by the text.
type Said = (&'static str, Asked);

const ACCELERATED: Shape = PATHS[0];
const ZIGZAG: Shape = PATHS[1];
const SMOOTH: Shape = PATHS[2];
/// Those on which motion has no corners.
const EVEN: [Shape; 2] = [ACCELERATED, SMOOTH];
/// Of [`Reading::ALL`].
const NO_CLOCK: [Reading; 2] = [Reading::ALL[0], Reading::ALL[1]];
const CLOCK: [Reading; 2] = [Reading::ALL[2], Reading::ALL[3]];
/// Places of extrapolators.
const QUADRATIC: usize = 1;
const RICHARDSON: usize = 2;
const CATMULL_ROM: usize = 3;

/// All of them.
pub fn reasons(measured: &Measured) -> Vec<Reason> {
    let dice = measured.dice();
    let of = |text, said: &[Said]| {
        let ground = |(text, asked): &Said| {
            let outcomes: Vec<_> = dice.iter().map(asked).collect();
            let numbers = list(&numbers_of(&outcomes));
            Ground { text, verdict: Verdict::of(&outcomes), numbers }
        };
        Reason { text, grounds: said.iter().map(ground).collect() }
    };
    vec![
        of(
            "**The clock decides most.** Without one everything is shown late by the whole way that updates take. \
             That part of the error is the same for all methods and most of it, so that they seem more alike, as in \
             the thesis's Tables 2 and 4. With one the filters do what they are for.",
            &BY_CLOCK,
        ),
        of(
            "**The zigzag's strokes decide its order.** Where a stroke is over before two updates have come, whoever \
             makes much of a turn overshoots. The thesis's zigzag may have been drawn fast for its rate of updates; \
             but then too its order of quadratic and Catmull-Rom is not found.",
            &BY_STROKES,
        ),
        of(
            "**Richardson's lead on the smooth path** is not found: without a clock it and linear are as good as each \
             other, and with one the quadratic, which makes more of turns, gains more.",
            &BY_RICHARDSON,
        ),
        of(
            "**Catmull-Rom interpolation is less near, as the thesis has it, but not for its reason**, which is points \
             that come close together where there is no jitter.",
            &BY_JOINING,
        ),
        going(),
        of(
            "**The misprints.** The printed quadratic (without its stray factor) takes the newest slope for the \
             velocity, half a step too old; the parabola makes more of turns, which helps where motion is even and \
             there is a clock. Catmull-Rom for equal steps has the quadratic's weights, but extrapolates one step of the \
             interval that is expected, and goes on in a straight line, whatever the latency; for any spacing it goes \
             by the times, which without a clock are those of uneven arrivals.",
            &BY_MISPRINTS,
        ),
        richardsons_turn(),
        of(
            "**The time history** is how long a step is taken to be by the filter for equal steps; for the others it \
             says only when the next update is due. So with a clock the printed Catmull-Rom is the one that a single \
             odd interval leads astray.",
            &BY_HISTORY,
        ),
    ]
}

/// The margins and numbers of each of some paths by each of some readings.
fn each(
    paths: &[Shape],
    readings: &[Reading],
    one: impl Fn(Shape, Reading) -> (Vec<f64>, Vec<f64>),
) -> Outcome {
    let (mut margins, mut numbers) = (Vec::new(), Vec::new());
    for path in paths {
        for reading in readings {
            let (margin, number) = one(*path, *reading);
            margins.extend(margin);
            numbers.extend(number);
        }
    }
    Outcome { margins, numbers }
}

fn four(all: &Sample, path: &str, reading: Reading) -> [f64; 4] {
    all.by_extrapolator(path, reading, |_| true)
}

/// That each of some ratios is above 1, on paths by readings.
fn above(paths: &[Shape], readings: &[Reading], ratio: impl Fn(Shape, Reading) -> f64) -> Outcome {
    each(paths, readings, |path, reading| {
        let ratio = ratio(path, reading);
        (above_one(&[ratio]), vec![ratio])
    })
}

const BY_CLOCK: [Said; 4] = [
    (
        "on the accelerated and the smooth path, printed and mended, a clock makes the mean error less than half of \
         what it is without (error without to that with)",
        |all| {
            let mean = |path: Shape, reading| all.mean(path.name(), reading, |_| true);
            each(&EVEN, &CLOCK, |path, reading| {
                let without = Reading { stamps: Stamps::Arrived, ..reading };
                let ratio = mean(path, without) / mean(path, reading);
                (above_one(&[ratio / 2.0]), vec![ratio])
            })
        },
    ),
    (
        "there the four differ by more with it (the greatest to the least, without and with)",
        |all| {
            each(&EVEN, &CLOCK, |path, reading| {
                let without = Reading { stamps: Stamps::Arrived, ..reading };
                let ranges = [without, reading].map(|it| range(&four(all, path.name(), it)));
                (above_one(&[(ranges[1] - 1.0) / (ranges[0] - 1.0)]), ranges.into())
            })
        },
    ),
    ("there, with it, the quadratic is the nearest by a third at least (the next to it)", |all| {
        above_by(all, |errors| {
            let others = [errors[0], errors[RICHARDSON], errors[CATMULL_ROM]];
            others.into_iter().fold(f64::MAX, f64::min) / errors[QUADRATIC]
        })
    }),
    ("there, with it, Richardson is nearer than linear (linear to it)", |all| {
        above(&EVEN, &CLOCK, |path, reading| {
            let errors = four(all, path.name(), reading);
            errors[0] / errors[RICHARDSON]
        })
    }),
];

/// That something of the four errors on even paths with a clock is above one and a half.
fn above_by(all: &Sample, ratio: impl Fn([f64; 4]) -> f64) -> Outcome {
    each(&EVEN, &CLOCK, |path, reading| {
        let ratio = ratio(four(all, path.name(), reading));
        (above_one(&[ratio / 1.5]), vec![ratio])
    })
}

/// The four errors on the zigzag with one of [`STROKES_SECS`].
fn stroke(all: &Sample, at: usize, reading: Reading) -> [f64; 4] {
    four(all, &super::stroke_name(STROKES_SECS[at]), reading)
}

const BY_STROKES: [Said; 4] = [
    (
        "at strokes of 0.15 s linear is the best in every reading (quadratic, Richardson and Catmull-Rom to it)",
        |all| {
            each(&[ZIGZAG], &Reading::ALL, |_, reading| {
                let errors = stroke(all, 0, reading);
                (least(&errors, 0), ratios(errors)[1..].to_vec())
            })
        },
    ),
    (
        "there Catmull-Rom is farther by 1.2 times at least in every reading, as in Table 3 by 1.9 (to linear)",
        |all| {
            each(&[ZIGZAG], &Reading::ALL, |_, reading| {
                let ratio = ratios(stroke(all, 0, reading))[CATMULL_ROM];
                (above_one(&[ratio / 1.2]), vec![ratio])
            })
        },
    ),
    (
        "there the quadratic is farther than Catmull-Rom in every reading, and not the other way round as in that table \
         (quadratic to Catmull-Rom)",
        |all| {
            above(&[ZIGZAG], &Reading::ALL, |_, reading| {
                let errors = stroke(all, 0, reading);
                errors[QUADRATIC] / errors[CATMULL_ROM]
            })
        },
    ),
    (
        "at strokes of half a second and without a clock linear is the farthest (quadratic, Richardson and Catmull-Rom \
         to it)",
        |all| {
            each(&[ZIGZAG], &NO_CLOCK, |_, reading| {
                let errors = stroke(all, 2, reading);
                (most(&errors, 0), ratios(errors)[1..].to_vec())
            })
        },
    ),
];

const BY_RICHARDSON: [Said; 2] = [
    (
        "on the smooth path without a clock it and linear differ by less than 5 % (Richardson to linear)",
        |all| {
            each(&[SMOOTH], &NO_CLOCK, |path, reading| {
                let ratio = ratios(four(all, path.name(), reading))[RICHARDSON];
                (above_one(&[1.05 / ratio, 1.05 * ratio]), vec![ratio])
            })
        },
    ),
    (
        "there with a clock it is nearer than linear, and the quadratic nearer still (linear and the quadratic to \
         Richardson)",
        |all| {
            each(&[SMOOTH], &CLOCK, |path, reading| {
                let errors = four(all, path.name(), reading);
                let [linear, quadratic] = [0, QUADRATIC].map(|of| errors[of] / errors[RICHARDSON]);
                (above_one(&[linear, quadratic.recip()]), vec![linear, quadratic])
            })
        },
    ),
];

const BY_JOINING: [Said; 3] = [
    ("it is farther than linear on each path in each reading (to linear)", |all| {
        above(&PATHS, &Reading::ALL, |path, reading| rounded(all, reading, path, mean, |_| true))
    }),
    (
        "and more so on the zigzag than on the others (the zigzag's ratio to the greater of theirs)",
        |all| {
            above(&[ZIGZAG], &Reading::ALL, |zigzag, reading| {
                let ratio = |path| rounded(all, reading, path, mean, |_| true);
                ratio(zigzag) / EVEN.map(ratio).into_iter().fold(0.0, f64::max)
            })
        },
    ),
    (
        "on the accelerated and the smooth path it is less so without jitter than with it, in each reading (the ratio \
         with jitter to that without)",
        |all| {
            above(&EVEN, &Reading::ALL, |path, reading| {
                let ratio = |still: bool| {
                    rounded(all, reading, path, mean, |at| (at.jitter == Some(0)) == still)
                };
                ratio(false) / ratio(true)
            })
        },
    ),
];

const BY_MISPRINTS: [Said; 4] = [
    (
        "with a clock the parabola is nearer than the printed quadratic on the accelerated and the smooth path (the \
         printed to it)",
        |all| above(&EVEN, &CLOCK[..1], |path, _| printed_to_mended(all, path, CLOCK, QUADRATIC)),
    ),
    ("and farther on the zigzag (it to the printed)", |all| {
        above(&[ZIGZAG], &CLOCK[..1], |path, _| {
            printed_to_mended(all, path, CLOCK, QUADRATIC).recip()
        })
    }),
    (
        "with a clock Catmull-Rom for any spacing is nearer than that for equal steps on each path (that to it)",
        |all| {
            above(&PATHS, &CLOCK[..1], |path, _| printed_to_mended(all, path, CLOCK, CATMULL_ROM))
        },
    ),
    ("without one it is farther (it to that)", |all| {
        above(&PATHS, &CLOCK[..1], |path, _| {
            printed_to_mended(all, path, NO_CLOCK, CATMULL_ROM).recip()
        })
    }),
];

/// The error of an extrapolator as printed to that as mended.
fn printed_to_mended(all: &Sample, path: Shape, readings: [Reading; 2], of: usize) -> f64 {
    let [printed, mended] = readings.map(|reading| four(all, path.name(), reading)[of]);
    printed / mended
}

/// The last interval alone to no history, with a clock, on a path: of an extrapolator.
fn last_to_none(all: &Sample, path: Shape, extrapolator: Extrapolator) -> f64 {
    let reading = Reading {
        stamps: Stamps::Sent,
        filters: if PRINTED.contains(&extrapolator) { PRINTED } else { MENDED },
    };
    let error = |history: usize| {
        let which = |at: &Point| at.is_by(extrapolator) && at.history == Some(history);
        all.mean(path.name(), reading, which)
    };
    error(1) / error(0)
}

const BY_HISTORY: [Said; 2] = [
    (
        "with a clock its error is greater by a fifth at least by the last interval alone than by none, on each path \
         (by the last to by none)",
        |all| {
            each(&PATHS, &CLOCK[..1], |path, _| {
                let ratio = last_to_none(all, path, PRINTED[CATMULL_ROM]);
                (above_one(&[ratio / 1.2]), vec![ratio])
            })
        },
    ),
    (
        "that of linear, of either quadratic, of either Richardson and of Catmull-Rom for any spacing differs by less \
         than a tenth (likewise)",
        |all| {
            each(&PATHS, &CLOCK[..1], |path, _| {
                let others = [PRINTED[0], PRINTED[QUADRATIC], PRINTED[RICHARDSON]];
                let others = others.into_iter().chain(MENDED[1..].iter().copied());
                let ratios: Vec<_> = others.map(|it| last_to_none(all, path, it)).collect();
                let margins =
                    ratios.iter().flat_map(|ratio| above_one(&[1.1 / ratio, 1.1 * ratio]));
                (margins.collect(), ratios)
            })
        },
    ),
];

/// What is worked out without a network is so or not.
fn certain(text: &'static str, holds: bool, numbers: &[f64]) -> Ground {
    let verdict = if holds { Verdict::Yes } else { Verdict::No };
    Ground { text, verdict, numbers: list(numbers) }
}

fn going() -> Reason {
    let with = |joining| Contender::Waypoints(Extrapolator::Fir(Kind::Linear), joining);
    let contenders = [Contender::Newest, with(Joining::Jump), with(Joining::Linear)];
    let errors = contenders.map(|contender| scheme(FUNCTIONS[0], 1.0, contender).error_now_mean);
    Reason {
        text: "**Going to a extrapolated point takes until it is reached**: over a whole interval it has only been on its \
               way.",
        grounds: vec![
            certain(
                "on the sine, with an update at each natural number, linear extrapolation alone is nearer than point \
                 to point (the latter first)",
                errors[1] < errors[0],
                &errors[..2],
            ),
            certain(
                "with linear interpolation it is farther than point to point",
                errors[2] > errors[0],
                &errors[2..],
            ),
        ],
    }
}

fn richardsons_turn() -> Reason {
    let turns = [Kind::RichardsonPrinted, Kind::Richardson].map(|kind| fir::uniform(kind)[2]);
    Reason {
        text: "**The printed Richardson** starts from the place before the newest.",
        grounds: vec![certain(
            "so it makes twice as much of a turn as equation 2.33 would (the weights of the turn at equal steps)",
            (turns[0] - 2.0 * turns[1]).abs() < 1e-12,
            &turns,
        )],
    }
}

//! The thesis's own evaluation, repeated: its filters, its section 2.3.1 and its section 4.3, beside its
//! tables.
//!
//! The curves that the thesis drew are lost, and so are the settings that it went through; what counts are
//! ratios and orders. The page says of each of the thesis's findings whether it is found here too.
//!
//! Two things that the thesis leaves open decide much, so both are measured. *The clock*: whether a state
//! has the time at which it was sent, both sides having a clock in common, or that of its arrival. *The
//! filters*: as its Table 1
//! has them, where Catmull-Rom reckons with equal steps whatever the spacing and Richardson goes on from the
//! place before the newest, or mended.

mod findings;
mod page;

use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::sync::Arc;

use phaselock_shared::motion::fir::Kind;
use phaselock_shared::motion::waypoints::{Extrapolator, Joining};
use phaselock_shared::time::Micros;

use super::file::Point;
use super::shapes::{self, Shape, UNIT_PIXELS, UNIT_SECS};
use super::sweep::{Plan, Row, Subject};
use super::{
    Carried, Contender, DelayRule, Network, Recording, Scores, Sending, Setup, Stamps, figures,
};

pub use findings::{Finding, findings};
pub use page::page;

/// The paths of section 4.3.
pub const PATHS: [Shape; 3] = [Shape::Accelerated, Shape::Zigzag, Shape::Smooth];

/// Tables 2, 3 and 4: mean errors in pixels by linear, quadratic, Richardson and Catmull-Rom extrapolation,
/// for each of [`PATHS`].
pub const TABLES: [[f64; 4]; 3] = [
    [212.1534, 235.5711, 227.4747, 234.8008],
    [56.5043, 68.3348, 82.4640, 106.3748],
    [36.3881, 39.0206, 34.4070, 39.6724],
];

/// The four extrapolators in the order of the tables.
pub const NAMES: [&str; 4] = ["Linear", "Quadratic", "Richardson", "Catmull-Rom"];

/// As the thesis's Table 1 has them, but for the stray factor of its quadratic, which is also divided by the
/// spans here: as printed its weights do not sum to 1.
pub const PRINTED: [Extrapolator; 4] = [
    Extrapolator::Fir(Kind::Linear),
    Extrapolator::Fir(Kind::ThesisQuadratic),
    Extrapolator::Fir(Kind::RichardsonPrinted),
    Extrapolator::Uniform(Kind::CatmullRom),
];

/// Mended: a true parabola, Richardson as its equation 2.33 gives it, and all of them for any spacing.
pub const MENDED: [Extrapolator; 4] = [
    Extrapolator::Fir(Kind::Linear),
    Extrapolator::Fir(Kind::Quadratic),
    Extrapolator::Fir(Kind::Richardson),
    Extrapolator::Fir(Kind::CatmullRom),
];

/// The two interpolators of section 4.3.2.
pub const JOININGS: [Joining; 2] = [Joining::Linear, Joining::CatmullRom];

/// A way to read what the thesis leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What times states have.
    pub stamps: Stamps,
    /// The filters.
    pub filters: [Extrapolator; 4],
}

impl Reading {
    /// All four.
    pub const ALL: [Self; 4] = [
        Self { stamps: Stamps::Arrived, filters: PRINTED },
        Self { stamps: Stamps::Arrived, filters: MENDED },
        Self { stamps: Stamps::Sent, filters: PRINTED },
        Self { stamps: Stamps::Sent, filters: MENDED },
    ];

    /// What to call it.
    pub fn name(self) -> &'static str {
        match (self.stamps, self.filters == PRINTED) {
            (Stamps::Arrived, true) => "no clock, printed",
            (Stamps::Arrived, false) => "no clock, mended",
            (Stamps::Sent, true) => "clock, printed",
            (Stamps::Sent, false) => "clock, mended",
        }
    }
}

/// Latencies in milliseconds; ours, since the thesis does not tell its own. Its example is 50.
pub const LATENCIES_MS: [i64; 5] = [0, 50, 100, 150, 200];
/// Jitters in milliseconds; likewise.
pub const JITTERS_MS: [i64; 5] = [0, 25, 50, 75, 100];
/// How many of the last intervals are averaged; likewise.
pub const HISTORIES: [usize; 4] = [1, 2, 4, 8];
/// How often all is measured, each time on other dice: what is found by some of them only is not found.
pub const REPEATS: u64 = 4;
/// Milliseconds between updates: those of Quake 2, which the thesis names (4.4).
pub const INTERVAL_MS: f64 = 100.0;
/// Seconds of each path; ours.
const SECS: f64 = 20.0;

/// What section 4.3 measures, by one kind of clock; both sets of filters are in it.
pub fn plan(stamps: Stamps, seed: u64) -> Plan {
    let networks = LATENCIES_MS.iter().flat_map(|&latency| {
        JITTERS_MS.iter().map(move |&jitter| Network::Latency {
            latency: Micros::from_ms(latency),
            jitter: Micros::from_ms(jitter),
            loss: 0.0,
        })
    });
    let mut extrapolators = PRINTED.to_vec();
    extrapolators.extend(MENDED.iter().filter(|it| !PRINTED.contains(it)));
    let contenders = extrapolators.iter().flat_map(|&extrapolator| {
        JOININGS.iter().map(move |&joining| Contender::Waypoints(extrapolator, joining))
    });
    let subject = |shape: &Shape| Subject {
        name: shape.name().into(),
        recording: Arc::new(shape.record(SECS)),
    };
    Plan {
        subjects: PATHS.iter().map(subject).collect(),
        intervals: vec![INTERVAL_MS / 1e3],
        networks: networks.collect(),
        histories: HISTORIES.to_vec(),
        frame_rates: vec![60.0],
        contenders: contenders.collect(),
        sending: Sending::Every,
        stamps,
        delay: DelayRule::Steered,
        repeats: REPEATS,
        seed,
        secs: SECS,
    }
}

/// What is drawn of each path: the four extrapolators with straight lines, and one with curves.
fn shown() -> Vec<Contender> {
    let straight = PRINTED.map(|filter| Contender::Waypoints(filter, Joining::Linear));
    let round = Contender::Waypoints(PRINTED[0], Joining::CatmullRom);
    straight.into_iter().chain([round]).collect()
}

/// What was measured, by each reading of the clock.
#[derive(Clone, Debug)]
pub struct Measured {
    /// With states of the time at which they come: section 4.3, then the strokes.
    pub arrived: [Vec<Row>; 2],
    /// With states of the time at which they were sent; likewise.
    pub sent: [Vec<Row>; 2],
}

impl Measured {
    /// What was measured on some of the dice, each by itself.
    pub fn by_seed(&self) -> Vec<Self> {
        let seeds: BTreeSet<_> = self.arrived.iter().flatten().map(|row| row.seed).collect();
        let of = |rows: &[Vec<Row>; 2], seed: u64| {
            [0, 1]
                .map(|at: usize| rows[at].iter().filter(|row| row.seed == seed).cloned().collect())
        };
        let one = |seed| Self { arrived: of(&self.arrived, seed), sent: of(&self.sent, seed) };
        seeds.into_iter().map(one).collect()
    }

    /// The mean error over some rows of a path by a reading.
    pub fn mean(&self, path: &str, reading: Reading, of: impl Fn(&Row) -> bool) -> f64 {
        self.mean_of(path, reading, |row| row.scores.error_now_mean, of)
    }

    /// The mean of anything over some rows of a path by a reading.
    pub fn mean_of(
        &self,
        path: &str,
        reading: Reading,
        what: impl Fn(&Row) -> f64,
        of: impl Fn(&Row) -> bool,
    ) -> f64 {
        let rows = match reading.stamps {
            Stamps::Arrived => &self.arrived,
            Stamps::Sent => &self.sent,
        };
        let ours = |row: &&Row| {
            let filter = extrapolator(row);
            row.path == path && filter.is_some_and(|it| reading.filters.contains(&it)) && of(row)
        };
        let rows = rows.iter().flatten().filter(ours);
        let (sum, count) = rows.fold((0.0, 0), |(sum, count), row| (sum + what(row), count + 1));
        sum / f64::from(count)
    }

    /// The mean error of each extrapolator, in the order of the tables, over some rows.
    pub fn by_extrapolator(
        &self,
        path: &str,
        reading: Reading,
        of: impl Fn(&Row) -> bool,
    ) -> [f64; 4] {
        reading.filters.map(|filter| {
            self.mean(path, reading, |row| extrapolator(row) == Some(filter) && of(row))
        })
    }

    /// The mean error of linear and of Catmull-Rom interpolation, over some rows.
    pub fn by_joining(&self, path: &str, reading: Reading, of: impl Fn(&Row) -> bool) -> [f64; 2] {
        JOININGS.map(|it| self.mean(path, reading, |row| joining(row) == Some(it) && of(row)))
    }

    /// The mean error by what was varied, for each of its values in order.
    pub fn by<const N: usize>(
        &self,
        path: &str,
        reading: Reading,
        value: impl Fn(&Row) -> Option<usize>,
    ) -> [f64; N] {
        std::array::from_fn(|at| self.mean(path, reading, |row| value(row) == Some(at)))
    }
}

/// What foretells in a row.
pub fn extrapolator(row: &Row) -> Option<Extrapolator> {
    match row.method {
        Contender::Waypoints(extrapolator, _) => Some(extrapolator),
        _ => None,
    }
}

/// What leads there.
pub fn joining(row: &Row) -> Option<Joining> {
    match row.method {
        Contender::Waypoints(_, joining) => Some(joining),
        _ => None,
    }
}

/// Which of [`LATENCIES_MS`] a row has.
pub fn latency(row: &Row) -> Option<usize> {
    LATENCIES_MS.iter().position(|ms| Some(*ms as f64) == row.latency_ms)
}

/// Which of [`JITTERS_MS`] a row has.
pub fn jitter(row: &Row) -> Option<usize> {
    JITTERS_MS.iter().position(|ms| Some(*ms as f64) == row.jitter_ms)
}

/// Which of [`HISTORIES`] a row has.
pub fn history(row: &Row) -> Option<usize> {
    HISTORIES.iter().position(|history| *history == row.history)
}

/// The methods of section 2.3.1, by the figures that show them.
pub const SCHEMES: [(Contender, &str); 7] = [
    (Contender::Newest, "point to point"),
    (
        Contender::Waypoints(Extrapolator::Fir(Kind::Linear), Joining::Jump),
        "linear, no interpolation (eq. 2.17)",
    ),
    (Contender::Waypoints(Extrapolator::Fir(Kind::Linear), Joining::Linear), "linear, linear"),
    (
        Contender::Waypoints(Extrapolator::Fir(Kind::ThesisQuadratic), Joining::Linear),
        "quadratic, linear (figure 6)",
    ),
    (
        Contender::Waypoints(Extrapolator::Fir(Kind::ThesisQuadratic), Joining::CatmullRom),
        "quadratic, Catmull-Rom (figure 7)",
    ),
    (
        Contender::Waypoints(Extrapolator::Fir(Kind::ThesisQuadratic), Joining::Hermite),
        "quadratic, Hermite (figure 8)",
    ),
    (
        Contender::Waypoints(Extrapolator::Fir(Kind::Linear), Joining::CubicSpline),
        "linear, cubic spline (figure 9)",
    ),
];

/// The functions of section 2.3.1.
pub const FUNCTIONS: [Shape; 2] = [Shape::Sine, Shape::Logarithm];

/// Distances between the points at which a function is known, in units: the thesis's 1, and to either side.
pub const SPACINGS: [f64; 3] = [0.5, 1.0, 1.5];

/// Section 2.3.1: a function is known at points so many units apart, at once; the error is the mean over
/// hundredths of a unit up to 3 pi (equation 2.16), from when three points are known. In units.
pub fn scheme(function: Shape, spacing: f64, contender: Contender) -> Scores {
    let secs = 3.0 * PI * UNIT_SECS;
    let points = (0..=(secs * 1e3) as u32).map(|step| {
        let time = f64::from(step) / 1e3;
        // Only the function's value counts, not how far along it is.
        Point { time, x: 0.0, y: function.at(time, secs)[1] / UNIT_PIXELS, course: 0 }
    });
    let points: Vec<_> = points.collect();
    let recording = Recording::of_points(&points).expect("there are hundreds, all finite");
    let setup = Setup {
        interval: spacing * UNIT_SECS,
        frame: 0.01 * UNIT_SECS,
        warm_up: 2.0 * spacing * UNIT_SECS,
        ..Setup::new(&recording)
    };
    let carried = Carried::new(&recording, &setup);
    Scores::of(&recording, &carried, contender)
}

/// Seconds from corner to corner of a zigzag, to see how much depends on it.
pub const STROKES_SECS: [f64; 4] = [0.15, 0.25, 0.5, 1.0];

/// A zigzag path with such strokes at the speed of [`Shape::Zigzag`].
fn zigzag(stroke: f64) -> Recording {
    let points = (0..=(SECS * 1e3) as u32).map(|step| {
        let time = f64::from(step) / 1e3;
        let [x, y] = shapes::zigzag(time, stroke);
        Point { time, x, y, course: 0 }
    });
    Recording::of_points(&points.collect::<Vec<_>>()).expect("there are thousands, all finite")
}

/// What section 4.3 measures on zigzags with strokes of [`STROKES_SECS`], at the middle one of the jitters.
pub fn strokes_plan(stamps: Stamps, seed: u64) -> Plan {
    let subject = |stroke: &f64| Subject {
        name: format!("{stroke} s"),
        recording: Arc::new(zigzag(*stroke)),
    };
    let mut plan = plan(stamps, seed);
    let middle = |network: &Network| {
        network.latency_jitter_ms().is_some_and(|(_, jitter)| jitter == JITTERS_MS[2] as f64)
    };
    plan.subjects = STROKES_SECS.iter().map(subject).collect();
    plan.networks.retain(middle);
    plan
}

/// The errors as the thesis's figures 17 to 22 have them, by the first reading, and the paths.
pub fn pictures(measured: &Measured, seed: u64) -> Vec<(String, String)> {
    let mut all = figures::of_paths(&plan(Stamps::Arrived, seed), &shown());
    let drawn = |path: &Shape, what: &str, series: &[&str], of: &dyn Fn(&Row) -> Option<usize>| {
        let rows: Vec<_> =
            measured.arrived[0].iter().filter(|row| row.path == path.name()).collect();
        let names: Vec<_> = series.iter().map(ToString::to_string).collect();
        let title = format!("{}: {what}", path.title());
        figures::scattered(&title, &rows, &names, of).map(|it| (format!("{path} {what}"), it))
    };
    let printed = |row: &Row| PRINTED.iter().position(|it| Some(*it) == extrapolator(row));
    let joined = |row: &Row| {
        printed(row)?;
        JOININGS.iter().position(|it| Some(*it) == joining(row))
    };
    for path in &PATHS {
        all.extend(drawn(path, "extrapolators", &NAMES, &printed));
        all.extend(drawn(path, "interpolators", &[NAMES[0], NAMES[3]], &joined));
    }
    all
}

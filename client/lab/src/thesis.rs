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

mod claims;
mod findings;
mod page;
mod reasons;
mod sample;

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

use phaselock::motion::fir::Kind;
use phaselock::motion::waypoints::{Extrapolator, HORIZON_BOUNDS, Joining};
use phaselock::time::Micros;

use super::file::Point;
use super::shapes::{self, Shape, UNIT_PIXELS, UNIT_SECS};
use super::sweep::{Plan, Row, Subject};
use super::{
    Carried, Contender, DelayRule, Network, Recording, Scores, Sending, Setup, Stamps, figures,
};

use sample::{Sample, extrapolator, joining};

pub use findings::{Finding, Verdict, findings};
pub use page::page;
pub use reasons::{Reason, reasons};

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
/// How many of the last intervals are averaged; likewise. With none the next is expected as the sender intends.
pub const HISTORIES: [usize; 4] = [0, 1, 2, 8];
/// How often all is measured, each time on other dice: what they do not agree on is not found.
pub const REPEATS: u64 = 12;
/// Milliseconds between updates: those of Quake 2, which the thesis names (4.4).
pub const INTERVAL_MS: f64 = 100.0;
/// Seconds of each path; ours.
const SECS: f64 = 8.0;
/// Seconds from one point of a path to the next: about as often as a mouse tells where it is.
const POINT_SECS: f64 = 0.005;
/// Frames a second; likewise.
pub const FRAME_HZ: f64 = 30.0;
/// Seconds beyond the newest state that anything is extrapolated. The thesis has no such bound, and here none takes
/// effect: a state is never that old.
const HORIZON_SECS: f64 = HORIZON_BOUNDS.1;

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
        recording: drawn(|time| shape.at(time, SECS)),
    };
    Plan {
        subjects: PATHS.iter().map(subject).collect(),
        intervals: vec![INTERVAL_MS / 1e3],
        networks: networks.collect(),
        histories: HISTORIES.to_vec(),
        frame_rates: vec![FRAME_HZ],
        contenders: contenders.collect(),
        sending: Sending::Every,
        stamps,
        delay: DelayRule::Steered,
        horizon: HORIZON_SECS,
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
    /// All that was measured, without what it does not matter for here.
    fn all(&self) -> Sample {
        self.rows().map(|(_, stamps, row)| (stamps, row)).collect()
    }

    /// The same on each of the dice by itself.
    fn dice(&self) -> Vec<Sample> {
        let mut dice: BTreeMap<u64, Sample> = BTreeMap::new();
        for (seed, stamps, row) in self.rows() {
            dice.entry(seed).or_default().push(stamps, row);
        }
        dice.into_values().collect()
    }

    fn rows(&self) -> impl Iterator<Item = (u64, Stamps, &Row)> {
        let of = |stamps: Stamps, rows| {
            let rows: std::iter::Flatten<std::slice::Iter<'_, Vec<Row>>> = rows;
            rows.map(move |row| (row.seed, stamps, row))
        };
        let arrived = of(Stamps::Arrived, self.arrived.iter().flatten());
        arrived.chain(of(Stamps::Sent, self.sent.iter().flatten()))
    }
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

/// The name of a zigzag with such strokes.
fn stroke_name(stroke: f64) -> String {
    format!("{stroke} s")
}

/// A path of [`SECS`] as a mouse would tell it.
fn drawn(at: impl Fn(f64) -> [f64; 2]) -> Arc<Recording> {
    let points = (0..=(SECS / POINT_SECS).round() as u32).map(|step| {
        let time = f64::from(step) * POINT_SECS;
        let [x, y] = at(time);
        Point { time, x, y, course: 0 }
    });
    let recording = Recording::of_points(&points.collect::<Vec<_>>());
    Arc::new(recording.expect("there are hundreds, all finite"))
}

/// What section 4.3 measures on zigzags with strokes of [`STROKES_SECS`], at the middle one of the jitters and by
/// the last interval.
pub fn strokes_plan(stamps: Stamps, seed: u64) -> Plan {
    let subject = |stroke: &f64| Subject {
        name: stroke_name(*stroke),
        recording: drawn(|time| shapes::zigzag(time, *stroke)),
    };
    let mut plan = plan(stamps, seed);
    let middle = |network: &Network| {
        network.latency_jitter_ms().is_some_and(|(_, jitter)| jitter == JITTERS_MS[2] as f64)
    };
    plan.subjects = STROKES_SECS.iter().map(subject).collect();
    plan.networks.retain(middle);
    plan.histories = vec![1];
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

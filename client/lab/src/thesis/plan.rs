//! What the thesis measured, and what is measured here instead.

use std::f64::consts::PI;
use std::sync::Arc;

use phaselock::motion::fir::Filter;
use phaselock::motion::waypoints::{Extrapolator, HORIZON_BOUNDS, Joining};
use phaselock::time::Micros;

use crate::formulas::{self, Formula, UNIT_PIXELS, UNIT_SECS};
use crate::sweep::{Plan, SweepSubject};
use crate::{Carried, Contender, DelayRule, LabNetwork, LabSetup, Scores, SendPolicy, Stamps};

/// Paths of section 4.3.
pub(super) const PATHS: [Formula; 3] = [Formula::Accelerated, Formula::Zigzag, Formula::Smooth];

/// Tables 2, 3 and 4: mean errors in pixels by [`NAMES`], for each of [`PATHS`].
pub(super) const TABLES: [[f64; 4]; 3] = [
    [212.1534, 235.5711, 227.4747, 234.8008],
    [56.5043, 68.3348, 82.4640, 106.3748],
    [36.3881, 39.0206, 34.4070, 39.6724],
];

/// The four extrapolators in the order of the tables.
pub(super) const NAMES: [&str; 4] = ["Linear", "Quadratic", "Richardson", "Catmull-Rom"];

/// Filters as the thesis's Table 1 prints them. Its quadratic lacks the stray factor here and is
/// divided by the spans: as printed its weights do not sum to 1.
pub(super) const PRINTED: [Extrapolator; 4] = [
    Extrapolator::Fir(Filter::Linear),
    Extrapolator::Fir(Filter::ThesisQuadratic),
    Extrapolator::Fir(Filter::RichardsonPrinted),
    Extrapolator::Uniform(Filter::CatmullRom),
];

/// Corrected filters: a true parabola, Richardson by equation 2.33, and all of them for any
/// spacing.
pub(super) const CORRECTED: [Extrapolator; 4] = [
    Extrapolator::Fir(Filter::Linear),
    Extrapolator::Fir(Filter::Quadratic),
    Extrapolator::Fir(Filter::Richardson),
    Extrapolator::Fir(Filter::CatmullRom),
];

/// The two interpolators of section 4.3.2.
pub(super) const JOININGS: [Joining; 2] = [Joining::Linear, Joining::CatmullRom];

/// One answer to the questions that the thesis leaves open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) name: &'static str,
    pub(super) stamps: Stamps,
    pub(super) filters: [Extrapolator; 4],
}

/// All readings, in the order of the page's columns.
pub(super) const READINGS: [Reading; 4] = [
    Reading { name: "no clock, printed", stamps: Stamps::Arrived, filters: PRINTED },
    Reading { name: "no clock, corrected", stamps: Stamps::Arrived, filters: CORRECTED },
    Reading { name: "clock, printed", stamps: Stamps::Sent, filters: PRINTED },
    Reading { name: "clock, corrected", stamps: Stamps::Sent, filters: CORRECTED },
];

/// Latencies in milliseconds. The thesis does not state its own; its example is 50.
pub(super) const LATENCIES_MS: [i64; 5] = [0, 50, 100, 150, 200];
/// Jitters in milliseconds, also ours.
pub(super) const JITTERS_MS: [i64; 5] = [0, 25, 50, 75, 100];
/// Numbers of past intervals averaged, also ours. With 0, the sender's interval is expected.
pub(super) const HISTORIES: [usize; 4] = [0, 1, 2, 8];
/// Number of seeds: a finding on which they disagree is not confirmed.
pub const REPEATS: u64 = 12;
/// Milliseconds between updates: those of Quake 2, which the thesis names (4.4).
pub(super) const INTERVAL_MS: f64 = 100.0;
/// Length of each path in seconds, ours.
pub(super) const SECS: f64 = 8.0;
/// Seconds between points of a path: about the report interval of a mouse.
pub(super) const POINT_SECS: f64 = 0.005;
/// Frames per second, ours.
pub(super) const FRAME_HZ: f64 = 30.0;

/// Measurements of section 4.3 by one kind of clock, with both sets of filters.
pub fn plan(stamps: Stamps, seed: u64) -> Plan {
    let networks = LATENCIES_MS.iter().flat_map(|&latency| {
        JITTERS_MS.iter().map(move |&jitter| LabNetwork::Latency {
            latency: Micros::from_ms(latency),
            jitter: Micros::from_ms(jitter),
            loss: 0.0,
        })
    });
    let mut extrapolators = PRINTED.to_vec();
    extrapolators.extend(CORRECTED.iter().filter(|it| !PRINTED.contains(it)));
    let contenders = extrapolators.iter().flat_map(|&extrapolator| {
        JOININGS.iter().map(move |&joining| Contender::Waypoints(extrapolator, joining))
    });
    let subject = |shape: &Formula| SweepSubject {
        name: shape.name().into(),
        recording: Arc::new(formulas::drawn(SECS, POINT_SECS, |time| shape.at(time, SECS))),
    };
    Plan {
        subjects: PATHS.iter().map(subject).collect(),
        intervals: vec![INTERVAL_MS / 1e3],
        networks: networks.collect(),
        histories: HISTORIES.to_vec(),
        frame_rates: vec![FRAME_HZ],
        contenders: contenders.collect(),
        sending: SendPolicy::Every,
        stamps,
        delay: DelayRule::Steered,
        // The thesis has no horizon, and no state becomes that old here.
        horizon: HORIZON_BOUNDS.1,
        repeats: REPEATS,
        seed,
        secs: SECS,
    }
}

pub(super) const fn waypoints(kind: Filter, joining: Joining) -> Contender {
    Contender::Waypoints(Extrapolator::Fir(kind), joining)
}

/// Methods of section 2.3.1, with the figures that show them.
pub(super) const SCHEMES: [(Contender, &str); 7] = [
    (Contender::Newest, "point to point"),
    (waypoints(Filter::Linear, Joining::Jump), "linear, no interpolation (eq. 2.17)"),
    (waypoints(Filter::Linear, Joining::Linear), "linear, linear"),
    (waypoints(Filter::ThesisQuadratic, Joining::Linear), "quadratic, linear (figure 6)"),
    (waypoints(Filter::ThesisQuadratic, Joining::CatmullRom), "quadratic, Catmull-Rom (figure 7)"),
    (waypoints(Filter::ThesisQuadratic, Joining::Hermite), "quadratic, Hermite (figure 8)"),
    (waypoints(Filter::Linear, Joining::CubicSpline), "linear, cubic spline (figure 9)"),
];

pub(super) const FUNCTIONS: [Formula; 2] = [Formula::Sine, Formula::Logarithm];

/// Distances between the known points of a function: the thesis's 1, a smaller and a larger one.
pub(super) const SPACINGS: [f64; 3] = [0.5, 1.0, 1.5];

/// Section 2.3.1: a function is known at once at points `spacing` units apart. The error, in
/// units, is the mean over hundredths of a unit up to 3 pi (equation 2.16), from the third known
/// point on.
pub(super) fn scheme(function: Formula, spacing: f64, contender: Contender) -> Scores {
    let secs = 3.0 * PI * UNIT_SECS;
    // Only the function's value counts, not its argument.
    let value = |time| [0.0, function.at(time, secs)[1] / UNIT_PIXELS];
    let recording = formulas::drawn(secs, 1e-3, value);
    let setup = LabSetup {
        interval: spacing * UNIT_SECS,
        frame: 0.01 * UNIT_SECS,
        warm_up: 2.0 * spacing * UNIT_SECS,
        ..LabSetup::new(&recording)
    };
    let carried = Carried::new(&recording, &setup);
    Scores::of(&recording, &carried, contender)
}

/// Zigzags by the seconds from corner to corner, to see how much depends on that.
pub(super) const STROKES: [(&str, f64); 4] =
    [("0.15 s", 0.15), ("0.25 s", 0.25), ("0.5 s", 0.5), ("1 s", 1.0)];

/// Section 4.3 on the zigzags of `STROKES`, at the middle jitter and with the last interval.
pub fn strokes_plan(stamps: Stamps, seed: u64) -> Plan {
    let subject = |&(name, stroke): &(&str, f64)| {
        let recording = formulas::drawn(SECS, POINT_SECS, |time| formulas::zigzag(time, stroke));
        SweepSubject { name: name.into(), recording: Arc::new(recording) }
    };
    let mut plan = plan(stamps, seed);
    let middle = |network: &LabNetwork| {
        network.latency_jitter_ms().is_some_and(|(_, jitter)| jitter == JITTERS_MS[2] as f64)
    };
    plan.subjects = STROKES.iter().map(subject).collect();
    plan.networks.retain(middle);
    plan.histories = vec![1];
    plan
}

//! Waypoints compared with cases worked out by hand, and properties of all combinations.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::motion::fir::{self, Filter};
use crate::motion::tests::testing::{Any, Body, HEADING, X, Y, play};
use crate::motion::{Choice, Moment, NoRules};

fn y_at(y: f32) -> Body {
    Body { y, ..Body::at(0.0) }
}

/// A method with its input.
struct Fixture {
    track: Track,
    method: Present<Waypoints>,
    interval: f64,
}

impl Fixture {
    fn new(extrapolator: Extrapolator, joining: Joining, interval: f64) -> Self {
        let method = Present::new(Waypoints::new(extrapolator, joining, HORIZON_SECS));
        Self { track: Track::new(Body::shape()), method, interval }
    }

    fn state(&mut self, time: f64, arrival: f64, body: Body) {
        assert!(self.track.push(time, arrival, &body.values()));
        self.method.observe(&self.track, &NoRules);
    }

    fn shown(&mut self, now: f64) -> Coords {
        let at = Moment { now, past: now, interval: self.interval };
        self.method.show(&self.track, at, &NoRules).position
    }

    /// Returns when the next state is expected, and the coordinates then; `None` while the entity
    /// is shown along the forecast: for the first state, beyond the snap distance, or with jumps.
    fn target(&self) -> Option<(f64, &Coords)> {
        let leg = self.method.drawing.leg.as_ref()?;
        leg.segment.as_ref().map(|segment| (leg.begin + segment.over, &segment.target))
    }

    fn y(&mut self, now: f64) -> f64 {
        self.shown(now)[Y]
    }
}

/// Returns y as shown for states a tenth of a second apart from 1.0 on, without latency.
fn track(extrapolator: Extrapolator, joining: Joining, states: &[f32], times: &[f64]) -> Vec<f64> {
    let mut fed = Fixture::new(extrapolator, joining, 0.1);
    let mut states = (10_u32..).map(|n| f64::from(n) / 10.0).zip(states).collect::<VecDeque<_>>();
    let mut shown = Vec::new();
    for now in times {
        while let Some((time, y)) = states.pop_front_if(|(time, _)| *time <= *now) {
            fed.state(time, time, y_at(*y));
            fed.y(time);
        }
        shown.push(fed.y(*now));
    }
    shown
}

fn check(shown: &[f64], there: &[f64]) {
    let off = shown.iter().zip(there).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(shown.len() == there.len() && off < 1e-9, "{shown:?} for {there:?}");
}

const TIMES: [f64; 9] = [1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4, 1.45];

#[test]
fn linear_and_linear_is_the_line_through_the_waypoints() {
    // It stands at the first. Waypoints are 2 * 1 - 0, 2 * 3 - 1 and 2 * 2 - 3; then no state
    // comes, and it continues at the last slope.
    let shown =
        track(Extrapolator::Fir(Filter::Linear), Joining::Linear, &[0.0, 1.0, 3.0, 2.0], &TIMES);
    check(&shown, &[0.0, 0.0, 1.0, 2.0, 3.5, 5.0, 3.0, 1.0, 0.5]);
}

#[test]
fn point_to_point_comes_an_interval_late() {
    let shown = track(Extrapolator::Hold, Joining::Linear, &[0.0, 1.0, 3.0, 2.0], &TIMES);
    check(&shown, &[0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 2.5, 2.0, 2.0]);
}

#[test]
fn catmull_rom_is_the_segment_by_its_neighbours() {
    // Through these waypoints. Halfway is their middle plus an eighth of the difference of the
    // tangents: 1 and 3, 5/2 and 7/2, -1/2 and -15/2.
    let shown = track(
        Extrapolator::Fir(Filter::Linear),
        Joining::CatmullRom,
        &[0.0, 1.0, 3.0, 2.0],
        &TIMES,
    );
    check(&shown, &[0.0, 0.0, 0.75, 2.0, 3.375, 5.0, 3.875, 1.0, 0.5]);
    // A short way after a long one: beyond both its ends.
    let shown = track(Extrapolator::Hold, Joining::CatmullRom, &[0.0, 8.0, 8.0], &TIMES[..6]);
    check(&shown, &[0.0, 0.0, 3.0, 8.0, 9.0, 8.0]);
}

#[test]
fn hermite_arrives_as_the_end_formula_says_and_leaves_as_it_is_shown() {
    // Tangents per interval: 0 and 3; 3, with which it arrived, and 7/2;
    // 7/2 and -15/2.
    let shown =
        track(Extrapolator::Fir(Filter::Linear), Joining::Hermite, &[0.0, 1.0, 3.0, 2.0], &TIMES);
    let half = |from: f64, to: f64, leave: f64, arrive: f64| {
        f64::midpoint(from, to) + (leave - arrive) / 8.0
    };
    let there = [
        0.0,
        0.0,
        half(0.0, 2.0, 0.0, 3.0),
        2.0,
        half(2.0, 5.0, 3.0, 3.5),
        5.0,
        half(5.0, 1.0, 3.5, -7.5),
        1.0,
        0.5,
    ];
    check(&shown, &there);
}

/// Seconds between states in 128ths, so that uniform motion is on the grid; latencies in seconds.
fn spacing(count: usize) -> impl Strategy<Value = Vec<(f64, f64)>> {
    let step = (2_u8..10, 0.0_f64..0.04);
    proptest::collection::vec(step, count).prop_map(|steps| {
        let mut time = 1.0;
        let sent = steps.into_iter().map(|(gap, latency)| {
            time += f64::from(gap) / 128.0;
            (time, time + latency)
        });
        let mut sent: Vec<_> = sent.collect();
        sent.sort_by(|a, b| a.1.total_cmp(&b.1));
        sent
    })
}

/// Returns the maximum error of a uniform motion after some states, with frames every 3 ms.
fn off_from_uniform(
    (extrapolator, joining): (Extrapolator, Joining),
    sent: &[(f64, f64)],
    interval: f64,
    warm_secs: f64,
) -> f64 {
    let mut fed = Fixture::new(extrapolator, joining, interval);
    let mut off = 0.0_f64;
    let mut now = 0.0;
    for pair in sent.windows(2) {
        let ([(time, arrival), (_, until)], values) =
            ([pair[0], pair[1]], Body::uniform(pair[0].0));
        // Late states are not announced.
        if fed.track.push(time, arrival, &values.values()) {
            fed.method.observe(&fed.track, &NoRules);
        }
        now = arrival.max(now);
        while now < until {
            let position = fed.shown(now);
            if now > sent[0].0 + warm_secs {
                let turned = position[HEADING] - 0.5 * now;
                off = off.max((position[X] - 4.0 * now).abs()).max((position[Y] + 3.0 * now).abs());
                off = off.max((turned - turned.round()).abs());
            }
            now += 0.003;
        }
    }
    off
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn uniform_motion_is_exact_at_any_spacing_and_any_interval(
        sent in spacing(160), interval in 0.01_f64..0.1,
    ) {
        for extrapolator in Extrapolator::ALL {
            for joining in Joining::ALL.iter().filter(|joining| **joining != Joining::CatmullRom) {
                if Any::Waypoints(*extrapolator, *joining).is_crude() {
                    continue;
                }
                // A filter only comes close: its initial rest takes some intervals to wear off.
                let bound = if *extrapolator == Extrapolator::Kalman { 2e-3 } else { 1e-6 };
                let off = off_from_uniform((*extrapolator, *joining), &sent, interval, 2.2);
                prop_assert!(off < bound, "{} and {}: {}", extrapolator, joining, off);
            }
        }
    }

    #[test]
    fn the_target_is_the_sum_of_weights_times_places(
        gaps in [2_u8..10, 2_u8..10],
        latency in 0.0_f64..0.05,
        interval in 0.02_f64..0.1,
        y: [i8; 3],
    ) {
        let [h0, h1] = gaps.map(|gap| f64::from(gap) / 128.0);
        let times = [2.0, 2.0 - h0, 2.0 - h0 - h1];
        let positions = y.map(|y| f64::from(y) / 64.0);
        let due = 2.0 + latency + interval;
        for kind in Filter::ALL {
            let sum = |weights: [f64; 3]| -> f64 {
                weights.iter().zip(positions).map(|(weight, position)| weight * position).sum()
            };
            let even = sum(fir::uniform(kind));
            let straight = positions[0] + (even - positions[0]) * (due - 2.0) / interval;
            let by_times = sum(fir::coefficients(kind, times[0], times[1], times[2], due));
            for (extrapolator, there) in
                [(Extrapolator::Fir(kind), by_times), (Extrapolator::Uniform(kind), straight)]
            {
                for joining in Joining::ALL {
                    let mut fed = Fixture::new(extrapolator, *joining, interval);
                    for at in [2, 1, 0] {
                        fed.state(times[at], times[at] + latency, y_at(positions[at] as f32));
                        fed.y(times[at] + latency);
                    }
                    let target = fed.target();
                    prop_assert_eq!(target.is_none(), *joining == Joining::Jump);
                    if let Some((when, target)) = target {
                        prop_assert!((when - due).abs() < 1e-9);
                        let off = target[Y] - there;
                        prop_assert!(off.abs() < 1e-6, "{extrapolator}: {off} from {there}");
                    }
                    // And it arrives there.
                    let off = fed.y(due) - there;
                    prop_assert!(off.abs() < 1e-6, "{extrapolator} and {joining}");
                }
            }
        }
    }

    #[test]
    fn a_parabola_is_extrapolated_at_each_target(sent in spacing(12), interval in 0.02_f64..0.1) {
        // On the grid at 128ths.
        let thrown = |t: f64| 10.0 * t - 8.0 * t * t;
        let mut off = [0.0_f64; 2];
        for (off, kind) in off.iter_mut().zip([Filter::Quadratic, Filter::ThesisQuadratic]) {
            let mut fed = Fixture::new(Extrapolator::Fir(kind), Joining::Hermite, interval);
            for (time, arrival) in &sent {
                if !fed.track.push(*time, *arrival, &y_at(thrown(*time) as f32).values()) {
                    continue;
                }
                fed.method.observe(&fed.track, &NoRules);
                fed.y(*arrival);
                if let Some((due, target)) = fed.target().filter(|_| fed.track.knots().len() > 2) {
                    *off = off.max((target[Y] - thrown(due)).abs());
                }
            }
        }
        prop_assert!(off[0] < 1e-6 && off[1] > 1e-3, "{:?}", off);
    }

    #[test]
    fn velocity_is_continuous_at_arrivals_where_that_is_said(
        y in prop::array::uniform5(-2.0_f32..2.0),
        early in 0.02_f64..0.09,
        kind in prop::sample::select(&Filter::ALL[..]),
    ) {
        // So short that the cubic's bend does not matter.
        const STEP: f64 = 1e-8;
        for joining in [Joining::Hermite, Joining::CubicSpline] {
            let mut fed = Fixture::new(Extrapolator::Fir(kind), joining, 0.1);
            let mut now = 1.0;
            for (n, y) in y.into_iter().enumerate() {
                // Before the target is reached, and after it was passed.
                now += if n % 2 == 0 { early } else { 0.2 - early };
                let mut before = 0.0;
                if n > 0 {
                    let first = fed.y(now - STEP);
                    before = (fed.y(now) - first) / STEP;
                }
                fed.state(now - 0.01, now, y_at(y));
                let first = fed.y(now);
                let after = (fed.y(now + STEP) - first) / STEP;
                // The first has no position before.
                let is_smooth = n == 0 || (after - before).abs() < 0.1;
                prop_assert!(is_smooth, "{joining} {n}: {before} {after}");
            }
        }
    }
}

#[test]
fn at_equal_steps_all_keep_uniform_motion() {
    let sent: Vec<_> = (16..40).map(|n| f64::from(n) / 16.0).map(|t| (t, t + 0.03)).collect();
    for extrapolator in &Extrapolator::ALL[1..] {
        for joining in Joining::ALL {
            let bound = if *extrapolator == Extrapolator::Kalman { 2e-3 } else { 1e-6 };
            let off = off_from_uniform((*extrapolator, *joining), &sent, 1.0 / 16.0, 0.6);
            assert!(off < bound, "{extrapolator} and {joining}: {off}");
        }
    }
}

#[test]
fn catmull_rom_keeps_to_a_straight_course_but_not_to_its_pace() {
    // Alternating steps of 1 and 2 twentieths of a second.
    let times = (0..20).map(|n| 1.0 + f64::from(n / 2) * 0.15 + f64::from(n % 2) * 0.05);
    let sent: Vec<_> = times.map(|t| (t, t)).collect();
    let pair = (Extrapolator::Reckoned, Joining::CatmullRom);
    let off = off_from_uniform(pair, &sent, 0.1, 0.6);
    assert!(off > 0.01 && off < 0.3, "{off}");
}

#[test]
fn straight_on_by_a_cubic_spline_is_the_method_of_that_name() {
    // 0.05 s apart except for some that are lost, at least 0.02 s in flight, some late.
    let sent: Vec<_> = (0..200_u32)
        .filter(|n| n % 7 != 3)
        .map(|n| (f64::from(n) * 0.05, f64::from(n) * 0.05 + 0.02 + f64::from(n * 5 % 4) * 0.01))
        .collect();
    let motion = |t: f64| Body {
        vx: (30.0 * libm::cos(3.0 * t)) as f32,
        y: (5.0 * libm::sin(4.0 * t)) as f32,
        heading: (0.4 * t + 0.1 * libm::sin(5.0 * t)).rem_euclid(1.0) as f32,
        ..Body::at((10.0 * libm::sin(3.0 * t)) as f32)
    };
    let frames = || (0..1200).map(|n| f64::from(n) / 130.0);
    let pair = Any::Waypoints(Extrapolator::Reckoned, Joining::CubicSpline);
    let ours = play(pair, &sent, frames(), motion);
    let theirs = play(Any::Choice(Choice::CubicSpline), &sent, frames(), motion);
    for ((time, a), (_, b)) in ours.iter().zip(&theirs) {
        for at in [X, Y, HEADING] {
            let off = (a.position[at] - b.position[at]).abs();
            assert!(off < 1e-9, "{at} at {time}: {off}");
        }
    }
    assert!(ours.len() > 1100 && ours.len() == theirs.len());
}

#[test]
fn without_joining_it_is_where_it_is_extrapolated_at_once() {
    let shown =
        track(Extrapolator::Fir(Filter::Linear), Joining::Jump, &[0.0, 1.0, 3.0, 2.0], &TIMES);
    check(&shown, &[0.0, 1.0, 1.5, 3.0, 4.0, 2.0, 1.5, 1.0, 0.5]);
}

#[test]
fn what_is_told_to_be_expected_counts_from_the_next_state_on() {
    for (told, due) in [(None, 1.18), (Some(0.08), 1.22)] {
        let mut fed = Fixture::new(Extrapolator::Reckoned, Joining::Linear, 0.04);
        fed.state(1.0, 1.05, Body { vx: 2.0, ..Body::at(3.0) });
        fed.shown(1.12);
        if let Some(told) = told {
            fed.method.expect(told);
        }
        fed.state(1.1, 1.14, Body { vx: -1.0, ..Body::at(4.0) });
        let target = fed.target().expect("a segment leads to the point");
        assert!((target.0 - due).abs() < 1e-9, "{} for {due}", target.0);
    }
}

#[test]
fn the_next_is_expected_an_interval_as_last_given_after_an_arrival() {
    let mut fed = Fixture::new(Extrapolator::Reckoned, Joining::Linear, 0.1);
    fed.state(1.0, 1.05, Body { vx: 2.0, ..Body::at(3.0) });
    // The first is shown along the forecast.
    assert!(fed.target().is_none() && (fed.shown(1.1)[X] - 3.2).abs() < 1e-9);
    fed.interval = 0.04;
    fed.shown(1.12);
    fed.state(1.1, 1.14, Body { vx: -1.0, ..Body::at(4.0) });
    let (due, target) = fed.target().expect("a segment leads to the point");
    assert!((due - 1.18).abs() < 1e-9 && (target[X] - 3.92).abs() < 1e-9);
    // From 3.28 there, and then along the forecast until it slows down before the horizon.
    for (now, x) in [(1.14, 3.28), (1.16, 3.6), (1.18, 3.92), (1.3, 3.8), (9.0, 3.775)] {
        let shown = fed.shown(now)[X];
        assert!((shown - x).abs() < 1e-9, "{now}: {shown}");
    }
}

#[test]
fn it_extrapolates_as_far_as_is_asked_within_bounds() {
    // From 3 at 2 per second, which takes a twentieth of a second to stop: half of that less.
    let end = |horizon: f64| 3.0 + 2.0 * (horizon - 0.025);
    let (least, most) = HORIZON_BOUNDS;
    for (asked, horizon) in
        [(0.25, 0.25), (1.0, 1.0), (0.0, least), (1e9, most), (f64::NAN, HORIZON_SECS)]
    {
        for extrapolator in [Extrapolator::Reckoned, Extrapolator::Kalman, Extrapolator::Rules] {
            let mut fed = Fixture::new(extrapolator, Joining::Linear, 0.1);
            fed.method = Present::new(Waypoints::new(extrapolator, Joining::Linear, asked));
            fed.state(1.0, 1.0, Body { vx: 2.0, ..Body::at(3.0) });
            let shown = fed.shown(1.0 + 2.0 * horizon)[X];
            assert!((shown - end(horizon)).abs() < 1e-6, "{extrapolator} for {asked} s: {shown}");
        }
    }
}

#[test]
fn equal_steps_are_as_long_as_the_first_frame_says() {
    let mut fed = Fixture::new(Extrapolator::Uniform(Filter::Linear), Joining::Linear, 0.1);
    fed.state(1.0, 1.0, y_at(0.0));
    fed.state(1.05, 1.05, y_at(1.0));
    // A step of 1 in 0.1 s, though it took half of that.
    assert!((fed.y(1.1) - 1.5).abs() < 1e-9);
    fed.state(1.1, 1.1, y_at(2.0));
    // The next is expected at 1.2, a step of 1 beyond 2.
    assert!((fed.y(1.2) - 3.0).abs() < 1e-9);
}

#[test]
fn a_gap_beyond_the_snap_distance_is_not_hidden() {
    for joining in Joining::ALL.iter().filter(|joining| **joining != Joining::Jump) {
        for (x, snaps) in [(90.0, false), (110.0, true)] {
            let mut fed = Fixture::new(Extrapolator::Reckoned, *joining, 0.1);
            fed.state(1.0, 1.0, Body::at(0.0));
            fed.shown(1.1);
            fed.state(1.1, 1.1, Body { vx: 1.0, ..Body::at(x) });
            let shown = fed.shown(1.1)[X];
            let there = if snaps { f64::from(x) } else { 0.0 };
            assert!((shown - there).abs() < 1e-9, "{joining}: {shown}");
            assert_eq!(fed.target().is_none(), snaps);
            // The next continues from there.
            fed.shown(1.15);
            fed.state(1.2, 1.2, Body { vx: 1.0, ..Body::at(x + 0.125) });
            assert!(fed.target().is_some());
        }
    }
}

#[test]
fn the_weights_of_equal_steps_sum_to_one() {
    for kind in Filter::ALL {
        assert!((fir::uniform(kind).iter().sum::<f64>() - 1.0).abs() < 1e-12, "{kind:?}");
    }
}

//! Nonsense and extremes: everything terminates, uses bounded memory, and shows finite positions.

use phaselock::time::Micros;
use phaselock_lab::file::Point;
use phaselock_lab::{
    Carried, Contender, DelayRule, LabNetwork, LabSetup, Recording, SendPolicy, Stamps, watch,
};

use super::{network, scores};
use phaselock_lab::formulas::Formula;

/// NaN, and numbers that no one asks for.
const ODD: [f64; 9] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -1.0,
    1e-300,
    1e300,
    f64::MIN_POSITIVE,
    f64::MAX,
];

#[test]
fn absurd_setups_are_measured_within_bounds() {
    let recording = Formula::Zigzag.record(2.0);
    let usual = LabSetup::new(&recording);
    let mut all = Vec::new();
    for odd in ODD {
        all.push(LabSetup { interval: odd, ..usual.clone() });
        all.push(LabSetup { frame: odd, ..usual.clone() });
        all.push(LabSetup { secs: odd, ..usual.clone() });
        all.push(LabSetup { warm_up: odd, ..usual.clone() });
        all.push(LabSetup { interval: odd, frame: odd, secs: odd, warm_up: odd, ..usual.clone() });
        all.push(LabSetup { network: network(0, 0, odd as f32), ..usual.clone() });
    }
    for odd in [i64::MIN, -1, i64::MAX].map(Micros) {
        all.push(LabSetup { delay: DelayRule::Fixed(odd), ..usual.clone() });
        for (latency, jitter) in [(odd, Micros::ZERO), (Micros::ZERO, odd), (odd, odd)] {
            let network = LabNetwork::Latency { latency, jitter, loss: 0.0 };
            all.push(LabSetup { network, ..usual.clone() });
        }
    }
    all.push(LabSetup { history: usize::MAX, seed: u64::MAX, ..usual });
    for (number, setup) in all.iter().enumerate() {
        for sending in SendPolicy::ALL {
            for stamps in [Stamps::Sent, Stamps::Arrived] {
                let setup = LabSetup { sending: *sending, stamps, ..setup.clone() };
                let carried = Carried::new(&recording, &setup);
                assert!(carried.frames() <= 2000 && carried.arrivals.len() <= 481, "{setup:?}");
                let never_early = carried.arrivals.iter().all(|state| state.at >= state.sent);
                assert!(never_early && carried.sends_per_second.is_finite(), "{setup:?}");
                let methods: Vec<_> = Contender::all().collect();
                // Each of them with some.
                let contender = methods[number % methods.len()];
                for frame in watch(&recording, &carried, contender) {
                    let position = frame.position.unwrap_or_default();
                    assert!(position.iter().all(|it| it.is_finite()), "{contender}: {setup:?}");
                }
            }
        }
    }
}

#[test]
fn recordings_that_last_for_ages_are_measured_at_their_beginning() {
    let points = [0.0, 1e17].map(|time| Point { time, x: time, y: 0.0, segment: 0 });
    let recording = Recording::of_points(&points).expect("two points");
    let setup = LabSetup { interval: 0.0, frame: 0.0, ..LabSetup::new(&recording) };
    let carried = Carried::new(&recording, &setup);
    let most = LabSetup::longest(1.0 / LabSetup::SEND_HZ.1, 1.0 / LabSetup::FRAME_HZ.1);
    assert!(carried.sent.len() <= LabSetup::SENDS_MAX as usize + 1);
    assert!(carried.frames() <= LabSetup::FRAMES_MAX as usize);
    assert!((carried.frames.last().expect("there are many").now - most).abs() < 0.01);
}

/// A million points, the maximum in a file.
fn million(apart: f64, point: impl Fn(u32) -> (f64, f64, u32)) -> Recording {
    let points = (0..1_000_000).map(|number| {
        let (x, y, segment) = point(number);
        Point { time: f64::from(number) * apart, x, y, segment }
    });
    Recording::of_points(&points.collect::<Vec<_>>()).expect("all values are finite")
}

/// Shows it with all methods that a game may choose, and with some combinations.
fn check(recording: &Recording, setup: &LabSetup) {
    let carried = Carried::new(recording, setup);
    let extent = 1e3 * recording.pixel();
    for contender in Contender::playable().chain(Contender::combined().step_by(7)) {
        for frame in watch(recording, &carried, contender) {
            let Some(position) = frame.position else { continue };
            // The fields can hold four times the path's own extent.
            let near = |it: &f64| it.abs() <= 5.0 * extent + 1e9;
            assert!(position.iter().all(near), "{contender} shows {position:?}");
        }
        let scores = scores(recording, setup, contender);
        // An entity that is never shown has no error.
        assert!(!scores.error_now_max.is_infinite() && scores.jerk_max.is_finite(), "{contender}");
    }
}

#[test]
fn bodies_that_stand_still_for_a_million_points_are_never_off() {
    let recording = million(1e-5, |_| (-3.0, 1e9, 0));
    let setup = LabSetup { network: network(50, 100, 0.1), ..LabSetup::new(&recording) };
    let carried = Carried::new(&recording, &setup);
    for contender in Contender::playable().chain(Contender::combined()) {
        for frame in watch(&recording, &carried, contender) {
            assert!(
                frame.position.is_none_or(|position| position == [-3.0, 1e9]),
                "{contender}: {frame:?}"
            );
        }
    }
}

#[test]
fn bodies_that_jump_about_for_a_million_points_are_shown_somewhere() {
    // To and fro by 2e9 every hundredth of a millisecond, and every microsecond, the smallest time
    // step.
    for apart in [1e-5, 1e-6] {
        let recording = million(apart, |number| {
            let side = if number % 2 == 0 { 1e9 } else { -1e9 };
            (side, -side, 0)
        });
        check(&recording, &LabSetup { network: network(30, 30, 0.1), ..LabSetup::new(&recording) });
    }
}

#[test]
fn a_million_teleports_cause_no_error() {
    let recording = million(1e-5, |number| (f64::from(number % 1000), 1.0, number));
    check(&recording, &LabSetup { network: network(30, 30, 0.1), ..LabSetup::new(&recording) });
    // One frame per update: only the state itself can be shown, until the next one.
    let recording = million(1e-3, |number| (f64::from(number), 1.0, number / 33));
    let setup = LabSetup { frame: 0.1, ..LabSetup::lasting(&recording, 200.0) };
    check(&recording, &setup);
}

//! The laboratory, from a motion to its scores: results that follow from closed forms, the rules of
//! its networks, nonsense input, and snapshots of its pages.

use phaselock::time::Micros;
use phaselock_lab::file::Point;
use phaselock_lab::{
    Carried, Contender, DelayRule, LabNetwork, LabSetup, Recording, ScoredFrame, Scores, watch,
};

mod advice;
mod closed;
mod networks;
mod odd;
mod pages;

/// A network of latency and jitter in milliseconds, and loss.
fn network(latency: i64, jitter: i64, loss: f32) -> LabNetwork {
    let (latency, jitter) = (Micros::from_ms(latency), Micros::from_ms(jitter));
    LabNetwork::Latency { latency, jitter, loss }
}

/// A motion from a formula, sampled each millisecond.
fn motion(secs: u32, at: impl Fn(f64) -> [f64; 2]) -> Recording {
    let points = (0..=secs * 1000).map(|step| {
        let time = f64::from(step) / 1e3;
        let [x, y] = at(time);
        Point { time, x, y, segment: 0 }
    });
    Recording::of_points(&points.collect::<Vec<_>>()).expect("there are thousands, all finite")
}

/// Ten updates a second with this latency in milliseconds, and a frame each millisecond, since
/// closed forms are about means over all times.
fn fine(recording: &Recording, latency: i64) -> LabSetup {
    let network = network(latency, 0, 0.0);
    LabSetup { interval: 0.1, network, frame: 0.001, ..LabSetup::new(recording) }
}

fn scores(recording: &Recording, setup: &LabSetup, contender: Contender) -> Scores {
    Scores::of(recording, &Carried::new(recording, setup), contender)
}

/// The frames after the warm-up.
fn frames(recording: &Recording, setup: &LabSetup, contender: Contender) -> Vec<ScoredFrame> {
    let carried = Carried::new(recording, setup);
    let all = watch(recording, &carried, contender);
    all.filter(|frame| frame.at.now >= setup.warm_up).collect()
}

/// Shows the past with a fixed delay.
fn behind(ms: i64) -> DelayRule {
    DelayRule::Fixed(Micros::from_ms(ms))
}

fn assert_near(what: &str, measured: f64, expected: f64, part: f64) {
    let off = (measured - expected).abs();
    assert!(off <= part * expected.abs(), "{what}: {measured} is not {expected}");
}

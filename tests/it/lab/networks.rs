//! Networks of the laboratory and their effect on updates; a seed repeats a sweep.

use std::sync::{Arc, Mutex};

use phaselock::motion::HORIZON_SECS;
use phaselock::random::Random;
use phaselock_lab::file::Point;
use phaselock_lab::formulas::Formula;
use phaselock_lab::sweep::{Measurement, Plan, SweepSubject};
use phaselock_lab::{
    Carried, Contender, DelayRule, LabNetwork, LabSetup, Recording, Scores, SendPolicy, Stamps,
};

use super::{motion, network, scores};

/// Updates of a path of a minute, at 100 a second.
fn carried(network: LabNetwork, seed: u64) -> Carried {
    let recording = Formula::Smooth.record(60.0);
    let setup = LabSetup { interval: 0.01, network, seed, ..LabSetup::new(&recording) };
    Carried::new(&recording, &setup)
}

/// Latency of each state, in seconds.
fn took(carried: &Carried) -> Vec<f64> {
    carried.arrivals.iter().map(|state| state.at - state.sent).collect()
}

#[test]
fn a_perfect_network_brings_everything_at_once() {
    let carried = carried(LabNetwork::PERFECT, 1);
    let came: Vec<_> = carried.arrivals.iter().map(|state| state.at).collect();
    assert_eq!((came.len(), &came), (6001, &carried.sent));
    assert!(carried.arrivals.iter().all(|state| state.time == state.sent));
    assert_eq!(carried.sends_per_second, 6001.0 / 60.0);
}

#[test]
fn jitter_is_even_and_only_ever_makes_it_later() {
    for (latency, jitter) in [(0, 20), (50, 50), (200, 100)] {
        let took = took(&carried(network(latency, jitter, 0.0), 1));
        let (least, most) = (latency as f64 / 1e3, (latency + jitter) as f64 / 1e3);
        // Whole microseconds are summed in binary fractions.
        let within = least - 1e-9..most + 1e-9;
        assert!(took.iter().all(|took| within.contains(took)), "{latency} + {jitter} ms");
        // Evenly spread: the mean is in the middle, and each tenth has as many, to within five
        // standard deviations.
        let (count, width) = (took.len() as f64, most - least);
        let mean = took.iter().sum::<f64>() / count;
        let deviation = width / (12.0 * count).sqrt();
        assert!((mean - (least + most) / 2.0).abs() < 5.0 * deviation, "{mean}");
        let mut tenths = [0_u32; 10];
        took.iter().for_each(|it| tenths[(((it - least) / width * 10.0) as usize).min(9)] += 1);
        let deviation = (count * 0.1 * 0.9).sqrt();
        let even = |tenth: &u32| (f64::from(*tenth) - count / 10.0).abs() < 5.0 * deviation;
        assert!(tenths.iter().all(even), "{tenths:?}");
    }
}

#[test]
fn losses_are_as_many_as_asked() {
    for share in [0.01_f32, 0.1, 0.5] {
        let carried = carried(network(50, 0, share), 1);
        // The last ones are still in flight at the end.
        let sent = carried.sent.iter().filter(|sent| **sent <= 59.95 - 1e-9).count() as f64;
        let lost =
            sent - carried.arrivals.iter().filter(|it| it.sent <= 59.95 - 1e-9).count() as f64;
        let share = f64::from(share);
        let deviation = (sent * share * (1.0 - share)).sqrt();
        assert!((lost - sent * share).abs() < 4.0 * deviation, "{lost} of {sent} at {share}");
    }
}

#[test]
fn the_next_update_is_expected_after_the_mean_of_the_last_intervals() {
    let recording = Formula::Smooth.record(20.0);
    for history in [0, 1, 2, 4, 16] {
        let network = network(20, 60, 0.0);
        let setup = LabSetup { interval: 0.05, history, network, ..LabSetup::new(&recording) };
        let carried = Carried::new(&recording, &setup);
        let (mut newest, mut intervals) = (None::<(f64, f64)>, Vec::new());
        for state in &carried.arrivals {
            // An overtaken state does not count for the expected interval.
            if newest.is_none_or(|(sent, _)| sent < state.sent) {
                intervals.extend(newest.map(|(_, at)| state.at - at));
                newest = Some((state.sent, state.at));
            }
            let last = &intervals[intervals.len().saturating_sub(history)..];
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            let expected = if last.is_empty() { 0.05 } else { mean };
            assert!((state.interval - expected).abs() < 1e-9, "{history}: {state:?} {expected}");
        }
        assert!(intervals.len() > 200 && intervals.len() < carried.arrivals.len());
    }
}

#[test]
fn every_frame_after_the_warm_up_is_scored_and_none_before() {
    let recording = Formula::Zigzag.record(20.0);
    let setup = LabSetup { network: network(50, 0, 0.0), ..LabSetup::new(&recording) };
    for contender in Contender::playable() {
        // 60 in each of the fifteen seconds, including both ends.
        assert_eq!(scores(&recording, &setup, contender).frames, 15 * 60 + 1, "{contender}");
        let all = LabSetup { warm_up: 0.0, ..setup.clone() };
        assert!(scores(&recording, &all, contender).frames > 19 * 60, "{contender}");
    }
    // A longer one warms up for a quarter of its frames, too.
    let part = LabSetup { network: network(50, 0, 0.0), ..LabSetup::lasting(&recording, 2.0) };
    assert_eq!((part.secs, part.warm_up), (2.0, 0.5));
    assert_eq!(scores(&recording, &part, Contender::Newest).frames, 90 + 1);
}

#[test]
fn frames_before_the_first_update_count_as_missing_everything() {
    let recording = Formula::Zigzag.record(8.0);
    let setup = LabSetup { network: network(0, 0, 1.0), ..LabSetup::new(&recording) };
    for contender in Contender::playable() {
        let scores = scores(&recording, &setup, contender);
        assert_eq!((scores.frames, scores.missing_per_million), (6 * 60 + 1, 1e6), "{contender}");
        assert_eq!(scores.absent_per_million, 1e6, "{contender}");
    }
}

#[test]
fn frames_never_miss_an_update_that_comes_with_them() {
    // Rounding of times must not decide whether a frame knows an update that arrived at its own
    // time.
    let recording = motion(20, |time| [50.0 * time, 0.0]);
    for (interval, frame) in
        [(0.1, 1.0 / 60.0), (1.0 / 30.0, 1.0 / 60.0), (0.05, 0.001), (0.05, 0.01)]
    {
        for latency in [0, 50, 150] {
            let network = network(latency, 0, 0.0);
            let setup = LabSetup { interval, frame, network, ..LabSetup::new(&recording) };
            let oldest = 50.0 * (latency as f64 / 1e3 + interval);
            let most = scores(&recording, &setup, Contender::Newest).error_now_max;
            assert!(
                most < oldest - 25.0 * frame,
                "{interval} {frame} {latency}: {most} of {oldest}"
            );
        }
    }
}

#[test]
fn states_count_from_their_first_arrival_without_a_clock_in_common() {
    let recording = motion(20, |time| [50.0 * time, 0.0]);
    let carried = |link: &str| {
        let network = link.parse().expect("it is a network");
        let usual = LabSetup::new(&recording);
        let setup = LabSetup { network, stamps: Stamps::Arrived, ..usual };
        Carried::new(&recording, &setup)
    };
    let [once, twice] =
        ["delay=50ms,jitter=30ms", "delay=50ms,jitter=30ms,duplicate=50%"].map(carried);
    for carried in [&once, &twice] {
        let rises = |pair: &[phaselock_lab::carried::Arrival]| pair[0].sent < pair[1].sent;
        assert!(carried.arrivals.windows(2).all(rises) && carried.arrivals.len() > 300);
    }
    // Duplicates change nothing: the errors are those of jitter.
    let linear = "linear+linear".parse::<Contender>().expect("a method");
    let [once, twice] =
        [once, twice].map(|carried| Scores::of(&recording, &carried, linear).error_now_mean);
    assert!(twice < 1.5 * once, "{twice} {once}");
}

#[test]
fn bodies_shown_elsewhere_are_absent() {
    // It jumps to the other end each second: methods that show the present learn of it a fifth of a
    // second late.
    let points = (0..=20 * 60).map(|step| {
        let segment = step / 60;
        Point { time: f64::from(step) / 60.0, x: f64::from(segment % 2), y: 0.0, segment }
    });
    let recording = Recording::of_points(&points.collect::<Vec<_>>()).expect("it is a motion");
    let setup = LabSetup { network: network(200, 0, 0.0), ..LabSetup::new(&recording) };
    let [now, then] = ["run-forward", "linear"]
        .map(|method| scores(&recording, &setup, method.parse().expect("a method")));
    // In a fifth of all frames, to within two in each second: it jumps between two samples, where
    // it has no position.
    let absent = now.absent_per_million / 1e6;
    assert!((absent - 0.2).abs() < 0.035, "{absent}");
    assert!(now.error_shown_max < 1e-3 && now.frames > 850, "{now:?}");
    // Methods that show the past miss only the motion between two updates.
    assert!(then.absent_per_million / 1e6 < 0.05, "{then:?}");
}

fn plan(seed: u64) -> Plan {
    let subject = |shape: &Formula| SweepSubject {
        name: shape.name().into(),
        recording: Arc::new(shape.record(4.0)),
    };
    Plan {
        subjects: Formula::ALL.iter().map(subject).collect(),
        intervals: vec![0.1],
        networks: [network(50, 50, 0.02)].into_iter().chain(LabNetwork::profiles()).collect(),
        histories: vec![0, 4],
        frame_rates: vec![60.0],
        contenders: Contender::all().collect(),
        sending: SendPolicy::Every,
        stamps: Stamps::Sent,
        delay: DelayRule::Steered,
        horizon: HORIZON_SECS,
        repeats: 1,
        seed,
        secs: f64::INFINITY,
    }
}

/// Measures cells in a given order on a number of threads. The rows are in the plan's order.
pub(super) fn measure(plan: &Plan, order: &[usize], threads: usize) -> Vec<Measurement> {
    let queue = Mutex::new(order.iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("nobody panicked").next().copied();
                    let Some(cell) = next else { break };
                    let rows = plan.measure(cell, || true);
                    done.lock().expect("nobody panicked").push((cell, rows));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("nobody panicked");
    done.sort_by_key(|(cell, _)| *cell);
    done.into_iter().flat_map(|(_, rows)| rows).collect()
}

#[test]
fn every_method_is_measured_on_every_path_over_every_network_and_again_the_same() {
    let plan = plan(1);
    let order: Vec<_> = (0..plan.cells()).collect();
    let rows = measure(&plan, &order, 2);
    assert_eq!(rows.len(), 5 * 7 * 2 * (17 + 17 * 5));
    for row in &rows {
        let Scores { error_now_mean, error_now_p99, error_now_max, .. } = row.scores;
        let Scores { error_shown_mean, error_shown_p99, error_shown_max, .. } = row.scores;
        let Scores { jerk, jerk_max, missing_per_million, frames, .. } = row.scores;
        let all = [
            [error_now_mean, error_now_p99, error_now_max],
            [error_shown_mean, error_shown_p99, error_shown_max],
            [jerk, jerk_max, missing_per_million],
        ];
        let sound = |value: &f64| value.is_finite() && *value >= 0.0;
        assert!(all.as_flattened().iter().all(sound) && frames > 150, "{row:?}");
        assert!(error_now_p99 <= error_now_max && error_now_mean <= error_now_max, "{row:?}");
    }
    // Order and threads do not matter.
    let mut order = order;
    let mut random = Random::new(7);
    for at in (1..order.len()).rev() {
        let other = random.below(at as u32 + 1) as usize;
        order.swap(at, other);
    }
    let text = |rows: &[Measurement]| rows.iter().map(Measurement::csv).collect::<Vec<_>>();
    assert_eq!(text(&measure(&plan, &order, 1)), text(&rows));
    // Another seed changes the results wherever chance matters.
    let plan = Plan { seed: 2, ..plan };
    let differ =
        |(mine, other): (&Measurement, &Measurement)| usize::from(mine.scores != other.scores);
    let mut known = order[..8].to_vec();
    known.sort_unstable();
    let per = plan.contenders.len();
    let before = known.iter().flat_map(|cell| &rows[cell * per..(cell + 1) * per]);
    let after = measure(&plan, &known, 2);
    let changed: usize = before.zip(&after).map(differ).sum();
    assert!(changed * 10 > after.len() * 9, "{changed} of {}", after.len());
}

//! Snapshots of the laboratory's pages and pictures.
//!
//! A failure shows the difference; client/lab/README.md says how to accept it.

use std::sync::Arc;

use phaselock::motion::HORIZON_SECS;
use phaselock::motion::choice::Choice;
use phaselock::motion::fir::Filter;
use phaselock::motion::waypoints::{Extrapolator, Joining};
use phaselock_lab::formulas::Formula;
use phaselock_lab::sweep::{CSV_HEADER, Measurement, Plan, SweepSubject};
use phaselock_lab::thesis::{self, ThesisRuns, Verdict};
use phaselock_lab::{Contender, DelayRule, SendPolicy, Stamps, figures, report};

use super::network;
use super::networks::measure;

/// Compares a text with `tests/it/snapshots/NAME.snap`.
pub(super) fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// On as many threads as there are cores.
pub(super) fn rows(plan: &Plan) -> Vec<Measurement> {
    let order: Vec<_> = (0..plan.cells()).collect();
    measure(plan, &order, std::thread::available_parallelism().map_or(1, usize::from))
}

#[test]
fn the_page_of_the_thesis() {
    let of = |stamps| [rows(&thesis::plan(stamps, 1)), rows(&thesis::strokes_plan(stamps, 1))];
    let measured = ThesisRuns { arrived: of(Stamps::Arrived), sent: of(Stamps::Sent) };
    check("thesis", &thesis::page(&measured));
    // The stated reasons hold beyond chance, and not even a third of these seeds contradict them.
    let third = |rows: &[Vec<Measurement>; 2], third: u64| {
        let seeds = 1 + third * thesis::REPEATS / 3..1 + (third + 1) * thesis::REPEATS / 3;
        [0, 1].map(|at: usize| {
            rows[at].iter().filter(|row| seeds.contains(&row.seed)).cloned().collect::<Vec<_>>()
        })
    };
    let thirds = (0..3).map(|at| ThesisRuns {
        arrived: third(&measured.arrived, at),
        sent: third(&measured.sent, at),
    });
    let thirds: Vec<_> = thirds.collect();
    let found = thesis::findings(&measured);
    let opposite = |a: Verdict, b: Verdict| (a, b) == (Verdict::Yes, Verdict::No);
    for third in &thirds {
        for (part, whole) in thesis::findings(third).iter().zip(&found) {
            for (a, b) in part.verdicts.iter().zip(&whole.verdicts) {
                assert!(!opposite(*a, *b) && !opposite(*b, *a), "{}: {a:?}, {b:?}", part.text);
            }
        }
    }
    for (part, measured) in std::iter::once(&measured).chain(&thirds).enumerate() {
        for ground in thesis::reasons(measured).iter().flat_map(|reason| &reason.grounds) {
            // With few seeds little is certain, but the opposite never is.
            let fits = match part {
                0 => ground.verdict == Verdict::Yes,
                _ => ground.verdict != Verdict::No,
            };
            assert!(fits, "{part}: {}: {:?} {}", ground.text, ground.verdict, ground.numbers);
        }
    }
}

#[test]
fn a_sweep() {
    let subject = |shape: Formula| SweepSubject {
        name: format!("{shape}, \"{}\"", shape.title()),
        recording: Arc::new(shape.record(4.0)),
    };
    let linear = Extrapolator::Fir(Filter::Linear);
    let plan = Plan {
        subjects: [Formula::Accelerated, Formula::Zigzag].map(subject).to_vec(),
        intervals: vec![0.1],
        networks: vec![
            network(0, 0, 0.0),
            network(50, 0, 0.05),
            network(50, 50, 0.0),
            "mobile".parse().expect("a profile"),
        ],
        histories: vec![0, 4],
        frame_rates: vec![60.0],
        contenders: vec![
            Contender::Newest,
            Contender::Method(Choice::Linear),
            Contender::Waypoints(linear, Joining::Linear),
            Contender::Waypoints(Extrapolator::Kalman, Joining::Hermite),
        ],
        sending: SendPolicy::Every,
        stamps: Stamps::Sent,
        delay: DelayRule::Steered,
        horizon: HORIZON_SECS,
        repeats: 1,
        seed: 1,
        secs: 600.0,
    };
    let rows = rows(&plan);
    check("sweep", &report::markdown(&plan, &rows));
    check("sweep-stopped", &report::markdown(&plan, &rows[..6]));
    check("sweep-rows", &report::rows_table(&rows[..8]));
    // As the program writes it.
    let lines =
        std::iter::once(CSV_HEADER.to_owned()).chain(rows[..8].iter().map(Measurement::csv));
    check("sweep-csv", &lines.collect::<Vec<_>>().join("\n"));
    check("sweep-json", &serde_json::to_string_pretty(&rows[..2]).expect("a row is JSON"));
    let pictures = figures::of_sweep(&plan, &rows);
    let names: Vec<_> = pictures.iter().map(|(name, _)| name.as_str()).collect();
    check("sweep-pictures", &names.join("\n"));
    let methods = pictures.iter().find(|(name, _)| name.ends_with("methods"));
    check("sweep-methods-svg", &methods.expect("there are two to compare").1);
}

#[test]
fn methods_that_stand_still_are_reported_where_they_do() {
    let linear = Contender::Waypoints(Extrapolator::Fir(Filter::Linear), Joining::Linear);
    let page = |interval: f64, horizon: f64| {
        let recording = Arc::new(Formula::Smooth.record(8.0));
        let plan = Plan {
            subjects: vec![SweepSubject { name: "smooth".into(), recording }],
            intervals: vec![interval],
            networks: vec![network(100, 0, 0.0)],
            histories: vec![0],
            frame_rates: vec![60.0],
            contenders: vec![Contender::Newest, Contender::Method(Choice::Linear), linear],
            sending: SendPolicy::Every,
            stamps: Stamps::Sent,
            delay: DelayRule::Steered,
            horizon,
            repeats: 1,
            seed: 1,
            secs: 600.0,
        };
        report::markdown(&plan, &rows(&plan))
    };
    // States are up to their latency plus an interval old.
    assert!(!page(0.1, HORIZON_SECS).contains("stand still"));
    let beyond = page(0.4, HORIZON_SECS);
    assert!(beyond.contains("In 1 of the 1 runs") && beyond.contains("stand still"), "{beyond}");
    assert!(!page(0.4, 0.6).contains("stand still"));
}

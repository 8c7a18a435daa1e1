//! The laboratory's model: what is shown follows from what is set.

use crate::file::Point;
use crate::formulas::Formula;
use crate::track::Fate;
use crate::{Contender, Scores};
use phaselock::motion::Choice;

use super::super::against::Against;
use super::super::drawing::Drawing;
use super::super::legend;
use super::super::settings::{LabSettings, Net};
use super::*;

fn model() -> Model {
    let mut model = Model::new(Formula::Zigzag, LabSettings::default(), None);
    assert!(model.compute(|_| true));
    model
}

fn row(model: &Model, contender: Contender) -> usize {
    model.rows.iter().position(|row| row.contender == contender).expect("it is there")
}

#[test]
fn numbers_are_those_of_the_scorer_at_the_end_and_of_the_beginning_before() {
    let mut model = model();
    model.seek(f64::MAX);
    assert!(model.score(true, || true));
    for row in &model.rows {
        let all = Scores::of(&model.path.recording, &model.carried, row.contender);
        assert_eq!(row.scores, all, "{}", row.title);
        assert_eq!(model.scores_of_all(row), all);
        assert!(row.contender == Contender::Newest || all.error_shown_p99 > 0.0);
    }
    let at = row(&model, Contender::Newest);
    let all = model.rows[at].scores;
    model.seek(model.secs / 2.0);
    assert!(model.score(true, || true));
    let half = model.rows[at].scores;
    assert!((half.frames as f64 / all.frames as f64 - 1.0 / 3.0).abs() < 0.02, "{half:?}");
    model.seek(0.0);
    assert!(model.score(true, || true));
    assert_eq!(model.rows[at].scores.frames, 0);
}

#[test]
fn numbers_that_stand_side_by_side_are_of_the_same_time() {
    let mut model = model();
    let frames = |model: &Model| {
        let mut all: Vec<_> = model.rows.iter().map(|row| row.scores.frames).collect();
        all.dedup();
        all
    };
    for step in 1..200 {
        model.seek(f64::from(step) / 25.0);
        // There is time for one method a frame only.
        model.score(step % 6 == 0, || false);
        assert_eq!(frames(&model).len(), 1, "{:?}", frames(&model));
    }
    assert!(frames(&model)[0] > 200, "and they continue");
    assert!(!model.score(true, || true), "a pass was in flight");
    assert!(model.score(true, || true));
}

#[test]
fn changes_are_computed_again_and_visible_rows_come_first() {
    let mut model = model();
    let before = model.version;
    let jitterless = LabSettings { jitter_ms: 0.0, ..LabSettings::default() };
    model.set_controls(jitterless.clone());
    assert!(model.version > before && model.rows.iter().all(|row| row.run.is_none()));
    let mut left = 3;
    let more = |_| {
        left -= 1;
        left > 0
    };
    assert!(!model.compute(more));
    let known = |row: &&Row| row.run.is_some();
    assert_eq!(model.rows.iter().filter(known).count(), 3);
    assert!(model.rows.iter().filter(known).all(|row| row.on));
    assert!(model.compute(|_| true));
    let version = model.version;
    model.set_controls(jitterless);
    assert_eq!(model.version, version, "nothing changed");
}

#[test]
fn updates_come_late_or_are_lost_and_the_end_leaves_it_open() {
    let mut model = model();
    let late = |update: &Update| match update.fate {
        Fate::Arrives(at) => (0.1..=0.1501).contains(&(at - update.sent)),
        Fate::Lost => false,
        Fate::Open => update.sent > model.secs - 0.1501,
    };
    assert_eq!(model.updates.len(), 100, "the last one would be sent after the last frame");
    assert!(model.updates.iter().all(late), "{:?}", model.updates);
    let truth = model.path.recording.truth(2.0).expect("it is there").position;
    let position = model.updates[20].position;
    assert!((truth[0] - position[0]).abs() < 0.01 && (truth[1] - position[1]).abs() < 0.01);

    model.set_controls(LabSettings { loss_percent: 50.0, ..LabSettings::default() });
    let lost = model.updates.iter().filter(|update| update.fate == Fate::Lost).count();
    assert!((30..70).contains(&lost), "{lost}");
    let other = LabSettings { seed: 2, ..model.controls.clone() };
    let before = model.updates.to_vec();
    model.set_controls(other);
    assert_ne!(model.updates, before, "another seed gives other random numbers");
}

#[test]
fn of_a_path_that_is_over_before_anything_came_nothing_is_lost_nor_known() {
    let points: Vec<_> = (0..30_u32).map(f64::from).collect();
    let points = points.iter().map(|at| Point { time: at / 100.0, x: *at, y: 0.0, segment: 0 });
    let recording = Recording::of_points(&points.collect::<Vec<_>>()).expect("thirty points");
    let controls = LabSettings { latency_ms: 365.0, jitter_ms: 0.0, ..LabSettings::default() };
    let setup = controls.setup(&recording, SECS_MAX);
    let carried = Carried::new(&recording, &setup);
    assert!(carried.sent.len() > 1 && carried.arrivals.is_empty());
    let run: Vec<_> = watch(&recording, &carried, Contender::Newest).collect();
    let scores = scores(&recording, &carried, Some(&run), run.len());
    assert!(scores.frames > 0 && legend::numbers(&scores, Against::Now).is_none());
}

#[test]
fn time_goes_on_stops_steps_and_starts_over() {
    // Frames are half a step from the updates' beat, at whole microseconds.
    const MICRO: f64 = 1.1e-6;
    let mut model = model();
    model.speed = 0.25;
    model.advance(2.0);
    assert_eq!(model.head, 0.5);
    model.step(1);
    assert!(!model.playing);
    let frame = 1.0 / 60.0;
    assert!((model.head - 0.5 - 0.5 * frame).abs() < MICRO, "{}", model.head);
    model.step(-2);
    assert!((model.head - 0.5 + 1.5 * frame).abs() < MICRO);
    model.advance(2.0);
    assert!((model.head - 0.5 + 1.5 * frame).abs() < MICRO, "it stands");
    model.step(isize::MIN);
    assert_eq!(model.frames(), 1);
    model.step(isize::MAX);
    assert_eq!(model.frames(), model.carried.frames());
    (model.playing, model.speed) = (true, 1.0);
    model.advance(0.5);
    assert_eq!(model.head, 0.0);
    model.seek(f64::NAN);
    model.seek(-1.0);
    assert_eq!(model.head, 0.0);
}

#[test]
fn looks_are_kept_while_shown_and_free_ones_given_again() {
    let mut model = model();
    let on = |model: &Model| {
        let rows = model.rows.iter().filter(|row| row.on);
        rows.map(|row| (row.contender, row.look)).collect::<Vec<_>>()
    };
    assert_eq!(on(&model).iter().map(|(_, look)| *look).collect::<Vec<_>>(), [0, 1, 3, 2]);
    let (linear, hermite, kalman) = (
        row(&model, Contender::Method(Choice::Linear)),
        row(&model, Contender::Method(Choice::Hermite)),
        row(&model, Contender::Method(Choice::Kalman)),
    );
    model.turn(linear, false);
    model.turn(kalman, true);
    model.turn(hermite, true);
    model.turn(99, true);
    assert_eq!((model.rows[kalman].look, model.rows[hermite].look), (1, 4));
    let rows = model.rows.len();
    model.add(Contender::Method(Choice::Kalman), true);
    assert_eq!(model.rows.len(), rows, "it is there already");
    let mut given = Model::new(Formula::Sine, LabSettings::default(), Some(&[Contender::Newest]));
    assert_eq!(on(&given), [(Contender::Newest, 0)]);
    assert!(given.compute(|_| true));
}

#[test]
fn paths_come_from_formulas_from_the_mouse_and_back() {
    let mut model = model();
    assert!(model.drawn.is_none(), "nothing was drawn yet");
    assert_eq!(model.path.origin, Origin::Formula(Formula::Zigzag));
    let mut drawing = Drawing::new(0.0, [0.0, 0.0]);
    for step in 1..300 {
        let at = f64::from(step);
        drawing.follow(at / 100.0, &[[at * 3.0, (at / 20.0).sin() * 99.0]]);
    }
    model.seek(9.0);
    model.playing = false;
    model.set_drawn(drawing.finish().expect("a path"));
    assert_eq!((&model.path.origin, model.head, model.playing), (&Origin::Drawn, 0.0, true));
    assert!((model.secs - 2.99).abs() < 1e-9);
    assert!(model.compute(|_| true));
    let rows = model.rows.iter().filter(|row| row.on);
    assert!(rows.flat_map(|row| &row.run).all(|run| run.len() > 100));
    model.choose(LabPath::formula(Formula::Smooth));
    assert_eq!((model.path.title.as_str(), model.secs), ("Smooth", 10.0));
    model.choose(model.drawn.clone().expect("a path was drawn"));
    assert_eq!(model.path.title, "Yours");
    // A long one is shown in part, and a network of any kind will do.
    model.set_file("long.csv".into(), Formula::Accelerated.record(70.0), Unit::Own);
    let net = Net::Profile(5);
    model.set_controls(LabSettings { net, frame_hz: 5.0, ..LabSettings::default() });
    assert_eq!((model.path.title.as_str(), model.secs), ("long.csv", SECS_MAX));
    assert!(model.updates.iter().any(|update| update.fate == Fate::Lost));
    // What comes later than that is not made room for.
    let points =
        [(0.0, 1.0), (59.0, 2.0), (61.0, 1e6)].map(|(time, x)| Point { time, x, y: x, segment: 0 });
    model.set_file("far.csv".into(), Recording::of_points(&points).expect("a path"), Unit::Own);
    let [across, down] = model.bounds;
    assert!((across[0] - 1.0).abs() < 0.1 && (across[1] - 2.0).abs() < 0.1, "{across:?}");
    assert_eq!(across, down);
}

#[test]
fn scores_stay_when_the_path_starts_over() {
    let mut model = model();
    assert!(model.compute(|_| true));
    model.seek(model.secs - 0.05);
    assert!(model.score(true, || true));
    let before = model.rows[0].scores.error_shown_mean;
    assert!(before.is_finite());
    model.advance(0.1);
    assert_eq!(model.head, 0.0, "it starts over");
    assert!(model.score(true, || true));
    assert_eq!(model.rows[0].scores.error_shown_mean, before);
    // Once there are new numbers, they are shown.
    model.advance(model.carried.warm_up + 1.0);
    assert!(model.score(true, || true));
    assert_ne!(model.rows[0].scores.error_shown_mean, before);
    // Who goes back by hand has none.
    model.seek(0.0);
    assert!(model.score(true, || true));
    assert!(!model.rows[0].scores.error_shown_mean.is_finite());
}

//! A sweep's results as plots: true and shown paths, and errors against each parameter, as in the
//! thesis's figures 14 to 22.

use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::plot::{self, Curve, Curves, Panel, Point, Scatter, Series};
use super::report::{Dimension, Means, figure, means, values};
use super::strokes::Stroke;
use super::sweep::{Cell, Measurement, Plan, SweepSubject};
use super::track::{self, Fate, Legs};
use super::{Carried, Contender, LabSetup, OnScreen, Recording, ScoredFrame, Scores, watch};

/// Maximum number of methods in one plot, the nearest by *now* and by *then*; more would overlap.
const METHODS_MAX: [usize; 2] = [5, 2];
/// Maximum seconds of a path in a plot.
const SECS_MAX: f64 = 6.0;
/// Winding, as a multiple of the beginning's, from which another part is drawn. Arbitrary.
const WINDING: f64 = 1.3;
/// Maximum number of parts of a long path that are compared: ten minutes of it.
const PARTS_MAX: u32 = 100;
/// Maximum number of points of a curve: every pixel of a wide one.
const POINTS_MAX: usize = 4000;

/// Plots of a sweep, with their names.
pub fn of_sweep(plan: &Plan, rows: &[Measurement]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (at, subject) in plan.subjects.iter().enumerate() {
        let rows: Vec<_> = rows.iter().filter(|row| row.path == subject.name).collect();
        if rows.is_empty() {
            continue;
        }
        let name = &subject.name;
        let best = chosen(means(rows.iter().copied()));
        let methods: Vec<_> = best.iter().map(|means| means.method).collect();
        all.push((format!("{name} paths"), of_cell(&plan.cell(middle(plan, at)), &methods)));
        let playable = |row: &&&Measurement| row.method.waypoints().is_none();
        let best = chosen(means(rows.iter().filter(playable).copied()));
        let best: Vec<_> = best.iter().map(|means| means.method).collect();
        let extrapolator = |row: &Measurement| Some(row.method.waypoints()?.0);
        let joining = |row: &Measurement| Some(row.method.waypoints()?.1);
        let pictures = [
            ("methods", by(name, "the best methods", &rows, &best, |row| Some(row.method))),
            ("extrapolators", by(name, "extrapolators", &rows, Extrapolator::ALL, extrapolator)),
            ("interpolators", by(name, "interpolators", &rows, Joining::ALL, joining)),
        ];
        let drawn = |(what, picture): (&str, Option<_>)| Some((format!("{name} {what}"), picture?));
        all.extend(pictures.into_iter().filter_map(drawn));
    }
    all
}

/// Errors by one part of the methods, for all others; only values that occur.
fn by<T: Copy + PartialEq + ToString>(
    name: &str,
    what: &str,
    rows: &[&Measurement],
    all: &[T],
    of: impl Fn(&Measurement) -> Option<T>,
) -> Option<String> {
    let occurs = |value: &T| rows.iter().any(|row| of(row) == Some(*value));
    let all: Vec<T> = all.iter().copied().filter(occurs).collect();
    let names: Vec<_> = all.iter().map(ToString::to_string).collect();
    let index = |row: &Measurement| all.iter().position(|value| Some(*value) == of(row));
    scattered(&format!("{name}: {what}"), rows, &names, index)
}

/// The methods to draw: the nearest by either measure, and one of several equal ones.
fn chosen(mut all: Vec<Means>) -> Vec<Means> {
    let mut best: Vec<Means> = Vec::new();
    let by: [fn(&Means) -> f64; 2] = [|means| means.now, |means| means.shown];
    for (by, count) in by.into_iter().zip(METHODS_MAX) {
        all.retain(|means| by(means).is_finite());
        all.sort_by(|a, b| by(a).total_cmp(&by(b)));
        let most = best.len() + count;
        for means in &all {
            let same = |other: &Means| other.now == means.now && other.shown == means.shown;
            if best.len() < most && !best.iter().any(same) {
                best.push(*means);
            }
        }
    }
    best
}

/// Plots of each path of a plan with some methods, at the middle of all parameters.
pub fn of_paths(plan: &Plan, methods: &[Contender]) -> Vec<(String, String)> {
    let picture = |(at, subject): (usize, &SweepSubject)| {
        (format!("{} paths", subject.name), of_cell(&plan.cell(middle(plan, at)), methods))
    };
    plan.subjects.iter().enumerate().map(picture).collect()
}

fn of_cell(cell: &Cell<'_>, methods: &[Contender]) -> String {
    curves(&cell.subject.name, &cell.subject.recording, &cell.setup, methods)
}

/// A subject's cell at the middle of all parameters.
fn middle(plan: &Plan, subject: usize) -> usize {
    let each = plan.cells() / plan.subjects.len().max(1);
    subject * each + each / 2
}

/// A plot of a path with some methods; of a long path, only a part.
pub fn curves(
    name: &str,
    recording: &Recording,
    setup: &LabSetup,
    methods: &[Contender],
) -> String {
    let carried = Carried::new(recording, setup);
    let (begin, end) = part(recording, recording.secs().min(setup.secs));
    let steps = ((end - begin) / setup.frame) as usize;
    let truth = |step: usize| recording.truth(begin + step as f64 * setup.frame);
    let truth = thinned(steps).map(|step| truth(step).map(|truth| (truth.position, truth.segment)));
    let sent = track::updates(recording, &carried, setup);
    let positions = |which: fn(Fate) -> bool| -> Vec<[f64; 2]> {
        let here = sent.iter().filter(|update| (begin..=end).contains(&update.sent));
        here.filter(|update| which(update.fate)).map(|update| update.position).collect()
    };
    let curve = |(number, &method): (usize, &Contender)| {
        let scores = Scores::of(recording, &carried, method);
        let frames = watch(recording, &carried, method);
        let frames = frames.filter(|frame| (begin..=end).contains(&frame.at.now));
        let note = format!("mean {}", figure(scores.error_now_mean));
        Curve {
            series: Series { name: method.to_string(), stroke: Stroke::of(number), note },
            points: Legs::pieces(recording, frames.map(|frame| shown(&frame))),
        }
    };
    plot::curves(&Curves {
        title: format!("{name}: what was shown"),
        subtitle: format!(
            "{}{}, an update every {} ms, history {}, {} frames a second",
            if begin > 0.0 { format!("seconds {begin:.0} to {end:.0}; ") } else { String::new() },
            setup.network,
            figure(setup.interval * 1e3),
            setup.history,
            figure(1.0 / setup.frame),
        ),
        labels: None,
        truth: Legs::pieces(recording, truth),
        updates: positions(|fate| matches!(fate, Fate::Arrives(_))),
        lost: positions(|fate| fate == Fate::Lost),
        curves: methods.iter().enumerate().map(curve).collect(),
    })
}

/// The seconds of a path to draw: the beginning, or a part that winds much more.
fn part(recording: &Recording, secs: f64) -> (f64, f64) {
    let span = secs.min(SECS_MAX);
    let at = |step: u32| f64::from(step) * span;
    // The sum of all deviations from a straight line.
    let winding = |begin: f64| {
        let step = span / 240.0;
        let position = |at: u32| recording.truth(begin + f64::from(at) * step);
        let bend = |at: u32| {
            let [a, b, c] = [0, 1, 2].map(|more| position(at + more));
            let (a, b, c) = (a?, b?, c?);
            let [x, y] = recording.way(a.position, b.position);
            let [u, v] = recording.way(b.position, c.position);
            (a.segment == c.segment).then(|| (u - x).hypot(v - y))
        };
        (0..238).filter_map(bend).sum::<f64>()
    };
    let first = (winding(0.0), 0.0);
    let parts = (1..PARTS_MAX).map(at).take_while(|begin| begin + span <= secs);
    let most = parts
        .map(|begin| (winding(begin), begin))
        .fold(first, |most, other| if other.0 > most.0 { other } else { most });
    let begin = if most.0 > WINDING * first.0 { most.1 } else { 0.0 };
    (begin, begin + span)
}

fn thinned(count: usize) -> impl Iterator<Item = usize> {
    (0..=count).step_by(count / POINTS_MAX + 1)
}

fn shown(frame: &ScoredFrame) -> Option<([f64; 2], u32)> {
    let OnScreen::Shown(_, segment) = frame.seen else { return None };
    Some((frame.position?, segment))
}

/// Errors against each varying parameter; `None` without one, or without two series.
pub(super) fn scattered(
    title: &str,
    rows: &[&Measurement],
    names: &[String],
    of: impl Fn(&Measurement) -> Option<usize>,
) -> Option<String> {
    let rows: Vec<_> = rows.iter().copied().filter(|row| of(row).is_some()).collect();
    let panel = |&dimension: &Dimension| {
        // Named networks have no place on an axis.
        let named =
            |row: &&Measurement| dimension.value(row).is_some_and(|(value, _)| value.is_nan());
        if rows.iter().any(named) || values(&rows, dimension).len() < 2 {
            return None;
        }
        let point = |row: &&Measurement| {
            let (value, _) = dimension.value(row)?;
            Some(Point { series: of(row)?, value, error: row.scores.error_now_mean })
        };
        let points = rows.iter().filter(|row| row.is_measured()).filter_map(point);
        Some(Panel { label: dimension.title.into(), points: points.collect() })
    };
    let panels: Vec<_> = Dimension::ALL.iter().filter_map(panel).collect();
    if names.len() < 2 || panels.is_empty() {
        return None;
    }
    let series = |(number, name): (usize, &String)| {
        let errors = rows.iter().filter(|row| of(row) == Some(number) && row.is_measured());
        let (sum, count) =
            errors.fold((0.0, 0), |(sum, count), row| (sum + row.scores.error_now_mean, count + 1));
        let note = format!("mean {}", figure(sum / f64::from(count.max(1))));
        Series { name: name.clone(), stroke: Stroke::of(number), note }
    };
    Some(plot::scatter(&Scatter {
        title: title.into(),
        subtitle: "each point is a run: its mean distance from the true position at that moment"
            .into(),
        y_label: "mean error".into(),
        series: names.iter().enumerate().map(series).collect(),
        panels,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::file::Point;
    use super::*;

    #[test]
    fn of_a_long_path_the_part_is_drawn_that_winds() {
        for (from, begin) in [(0.0, 0.0), (12.0, 12.0), (100.0, 0.0)] {
            let point = |step: u32| {
                let time = f64::from(step) / 50.0;
                let y = if (from..from + 6.0).contains(&time) { (9.0 * time).sin() } else { 0.0 };
                Point { time, x: time, y, segment: 0 }
            };
            let points: Vec<_> = (0..=1500).map(point).collect();
            let recording = Recording::of_points(&points).expect("a path");
            assert_eq!(part(&recording, recording.secs()), (begin, begin + SECS_MAX));
            assert_eq!(part(&recording, 4.0), (0.0, 4.0));
        }
    }

    #[test]
    fn the_nearest_by_either_measure_are_drawn_and_of_those_alike_one() {
        let row = |method: usize, now: f64, shown: f64| Means {
            method: Contender::all().nth(method).expect("there are many"),
            now,
            now_p99: now,
            shown,
            shown_p99: shown,
            jerk: 0.0,
            behind_ms: 0.0,
            missing: 0.0,
            absent: 0.0,
        };
        let mut all: Vec<_> = (0..9).map(|at| row(at, at as f64, 20.0 + at as f64)).collect();
        all.push(row(9, 0.0, 20.0));
        all.extend([row(10, 90.0, 1.0), row(11, 91.0, 2.0), row(12, f64::NAN, f64::NAN)]);
        let drawn = chosen(all.clone());
        let expected = [0, 1, 2, 3, 4, 10, 11].map(|at: usize| all[at].method);
        assert_eq!(drawn.iter().map(|means| means.method).collect::<Vec<_>>(), expected);
    }
}

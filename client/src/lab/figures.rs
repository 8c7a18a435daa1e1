//! What a sweep found, as pictures: paths with what was shown, and errors against what was varied, as in the
//! thesis's figures 14 to 22.

use std::collections::BTreeMap;

use phaselock_shared::motion::waypoints::{Extrapolator, Joining};

use super::plot::{self, Cloud, Curve, Panel, Paths, Scatter, Series};
use super::report::{Dimension, Means, figure, means, values};
use super::strokes::Stroke;
use super::sweep::{Cell, Plan, Row, Subject};
use super::track::{self, Fate, Legs};
use super::{Carried, Contender, Recording, Scores, Seen, Setup, Watched, watch};

/// Methods in one picture; more are not told apart.
const METHODS_MAX: usize = 8;
/// Seconds of a path in a picture: more lie on top of each other.
const SECS_MAX: f64 = 6.0;
/// Points of a curve in a picture: every pixel of a wide one.
const POINTS_MAX: usize = 4000;

/// All pictures, with their names.
pub fn of_sweep(plan: &Plan, rows: &[Row]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (at, subject) in plan.subjects.iter().enumerate() {
        let rows: Vec<_> = rows.iter().filter(|row| row.path == subject.name).collect();
        if rows.is_empty() {
            continue;
        }
        let mut best = means(rows.iter().copied());
        best.sort_by(|a, b| a.now.total_cmp(&b.now));
        best.truncate(METHODS_MAX);
        let name = |what: &str| format!("{} {what}", subject.name);
        let methods: Vec<_> = best.iter().map(|means| means.method).collect();
        all.push((name("paths"), of_cell(&plan.cell(middle(plan, at)), &methods)));
        all.extend(by_method(subject, &rows, &best).map(|picture| (name("methods"), picture)));
        all.extend(by_extrapolator(subject, &rows).map(|it| (name("extrapolators"), it)));
        all.extend(by_interpolator(subject, &rows).map(|it| (name("interpolators"), it)));
    }
    all
}

/// Each path of a plan with what some methods make of it, amid all that is varied.
pub fn of_paths(plan: &Plan, methods: &[Contender]) -> Vec<(String, String)> {
    let picture = |(at, subject): (usize, &Subject)| {
        (format!("{} paths", subject.name), of_cell(&plan.cell(middle(plan, at)), methods))
    };
    plan.subjects.iter().enumerate().map(picture).collect()
}

fn of_cell(cell: &Cell<'_>, methods: &[Contender]) -> String {
    curves(&cell.subject.name, &cell.subject.recording, &cell.setup, methods)
}

/// A cell of a subject amid all that is varied.
fn middle(plan: &Plan, subject: usize) -> usize {
    let each = plan.cells() / plan.subjects.len().max(1);
    subject * each + each / 2
}

/// A path of that name, and what some methods make of it: of a long one the beginning.
pub fn curves(name: &str, recording: &Recording, setup: &Setup, methods: &[Contender]) -> String {
    let carried = Carried::new(recording, setup);
    let secs = recording.secs().min(setup.secs).min(SECS_MAX);
    let steps = (secs / setup.frame) as usize;
    let truth = |step: usize| recording.truth(step as f64 * setup.frame);
    let truth = thinned(steps).map(|step| truth(step).map(|truth| (truth.place, truth.course)));
    let sent = track::updates(recording, &carried, setup);
    let sent = || sent.iter().take_while(|update| update.sent <= secs);
    let curve = |(number, &method): (usize, &Contender)| {
        let scores = Scores::of(recording, &carried, method);
        let frames = watch(recording, &carried, method).take_while(|frame| frame.at.now <= secs);
        Curve {
            name: method.to_string(),
            stroke: Stroke::of(number),
            points: Legs::pieces(recording, frames.map(|frame| shown(&frame))),
            note: format!("mean {}", figure(scores.error_now_mean)),
        }
    };
    plot::paths(&Paths {
        title: format!("{name}: what was shown"),
        subtitle: format!(
            "{}, an update every {} ms, history {}, {} frames a second",
            setup.network,
            figure(setup.interval * 1e3),
            setup.history,
            figure(1.0 / setup.frame),
        ),
        unit: String::new(),
        y_up: false,
        truth: Legs::pieces(recording, truth),
        updates: sent()
            .filter(|update| matches!(update.fate, Fate::Arrives(_)))
            .map(|update| update.place)
            .collect(),
        lost: sent()
            .filter(|update| update.fate == Fate::Lost)
            .map(|update| update.place)
            .collect(),
        curves: methods.iter().enumerate().map(curve).collect(),
    })
}

/// Numbers up to a count, fewer if they are many.
fn thinned(count: usize) -> impl Iterator<Item = usize> {
    (0..=count).step_by(count / POINTS_MAX + 1)
}

/// Where something was shown, and on which course.
fn shown(frame: &Watched) -> Option<([f64; 2], u32)> {
    let Seen::Shown(_, course) = frame.seen else { return None };
    Some((frame.place?, course))
}

fn by_method(subject: &Subject, rows: &[&Row], best: &[Means]) -> Option<String> {
    let playable: Vec<_> = best
        .iter()
        .filter(|means| !matches!(means.method, Contender::Waypoints(..)))
        .map(|means| means.method)
        .collect();
    let of = |row: &Row| playable.iter().position(|method| *method == row.method);
    let names: Vec<_> = playable.iter().map(ToString::to_string).collect();
    scattered(&format!("{}: the best methods", subject.name), rows, &names, of)
}

/// Errors by extrapolator, whatever the interpolator.
fn by_extrapolator(subject: &Subject, rows: &[&Row]) -> Option<String> {
    let title = format!("{}: extrapolators", subject.name);
    let here = |extrapolator: &Extrapolator| {
        rows.iter().any(
            |row| matches!(row.method, Contender::Waypoints(other, _) if other == *extrapolator),
        )
    };
    let all: Vec<_> = Extrapolator::ALL.iter().copied().filter(here).collect();
    let of = |row: &Row| match row.method {
        Contender::Waypoints(extrapolator, _) => all.iter().position(|it| *it == extrapolator),
        _ => None,
    };
    let names: Vec<_> = all.iter().map(ToString::to_string).collect();
    scattered(&title, rows, &names, of)
}

/// Errors by interpolator, whatever the extrapolator.
fn by_interpolator(subject: &Subject, rows: &[&Row]) -> Option<String> {
    let title = format!("{}: interpolators", subject.name);
    let here = |joining: &Joining| {
        rows.iter()
            .any(|row| matches!(row.method, Contender::Waypoints(_, other) if other == *joining))
    };
    let all: Vec<_> = Joining::ALL.iter().copied().filter(here).collect();
    let of = |row: &Row| match row.method {
        Contender::Waypoints(_, joining) => all.iter().position(|it| *it == joining),
        _ => None,
    };
    let names: Vec<_> = all.iter().map(ToString::to_string).collect();
    scattered(&title, rows, &names, of)
}

/// Errors against each thing that was varied; none if there are no two things to compare, or nothing varies.
pub(super) fn scattered(
    title: &str,
    rows: &[&Row],
    names: &[String],
    of: impl Fn(&Row) -> Option<usize>,
) -> Option<String> {
    let rows: Vec<_> = rows.iter().copied().filter(|row| of(row).is_some()).collect();
    let panel = |&dimension: &Dimension| {
        if dimension == Dimension::Network || values(&rows, dimension).len() < 2 {
            return None;
        }
        let mut clouds: BTreeMap<(usize, u64), Cloud> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.is_measured()) {
            if let (Some(series), Some((value, _))) = (of(row), dimension.value(row)) {
                let new = || Cloud { series, value, errors: Vec::new() };
                // What is varied is never negative: its bits are in its order.
                let cloud = clouds.entry((series, value.to_bits())).or_insert_with(new);
                cloud.errors.push(row.scores.error_now_mean);
            }
        }
        Some(Panel { label: dimension.title().into(), clouds: clouds.into_values().collect() })
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
        subtitle: "each point is a run: the mean distance from where it truly was at the moment"
            .into(),
        y_label: "mean error".into(),
        series: names.iter().enumerate().map(series).collect(),
        panels,
    }))
}

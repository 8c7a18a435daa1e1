//! Curves: over a common axis, or paths in the plane with the same scale on both axes.

use super::axis::{Range, Scale, drawable};
use super::page::{Area, MARGIN, Page, Sample, WIDTH, entry, placed};
use super::series::{Curve, Curves};

/// Width of the legend.
const LEGEND: f64 = 222.0;
/// Left of the picture, for the vertical axis's label and numbers.
const NUMBERS: f64 = 60.0;
const HEIGHT: f64 = 380.0;
/// Bounds of the height of paths in the plane.
const HEIGHT_MIN: f64 = 240.0;
const HEIGHT_MAX: f64 = 640.0;
/// Maximum margin around the true path, as a share of its extent: a curve that runs away is cut
/// off, so that everything else stays large.
const ASTRAY: f64 = 0.4;

/// Draws curves. In the plane, curves are cut off where they go far from the true path.
pub(crate) fn curves(plot: &Curves) -> String {
    let mut page = Page::new(WIDTH, &plot.title, &plot.subtitle);
    let left = MARGIN + NUMBERS;
    let width = WIDTH - left - LEGEND - MARGIN - 18.0;
    let area = Area { x: left, y: page.end, width, height: HEIGHT };
    let (area, x, y) = if plot.labels.is_some() { over(plot, area) } else { in_plane(plot, area) };
    let [x_label, y_label] = plot.labels.unwrap_or(["x", "y"]);
    page.vertical(area, y, Some(y_label));
    page.horizontal(area, x, x_label);
    if plot.labels.is_none() {
        page.clip(area);
    } else {
        page.frame(area);
    }
    page.truth(&placed(&plot.truth, x, y));
    let at = |positions: &Vec<[f64; 2]>| placed(std::slice::from_ref(positions), x, y).concat();
    page.updates(&at(&plot.updates), &at(&plot.lost));
    for (index, Curve { series, points }) in plot.curves.iter().enumerate() {
        // Shifted by the golden ratio, so that no two soon meet.
        page.curve(&placed(points, x, y), &series.stroke, (0.5 + index as f64 * 0.618) % 1.0);
    }
    if plot.labels.is_none() {
        page.unclip();
        page.frame(area);
    }

    let known = [
        (Sample::Truth, "true path", plot.truth.concat().is_empty()),
        (Sample::Update, "update that arrived", plot.updates.is_empty()),
        (Sample::Lost, "lost update", plot.lost.is_empty()),
    ];
    let known = known.into_iter().filter(|(.., none)| !none);
    let entries = known.map(|(sample, name, _)| (sample, name, ""));
    let entries = entries.chain(plot.curves.iter().map(|curve| entry(&curve.series)));
    let entries: Vec<_> = entries.collect();
    let legend = page.legend([area.x + area.width + 18.0, area.y], LEGEND + MARGIN, 1, &entries);
    page.end = (area.y + area.height + 44.0).max(area.y + legend);
    page.finish(&plot.title, &described(plot))
}

/// Axes for curves over a common one. The vertical one begins at 0 if that costs at most half of
/// it.
fn over(plot: &Curves, area: Area) -> (Area, Scale, Scale) {
    let range = |axis| Range::around(points(plot).map(|point: &[f64; 2]| point[axis]));
    (area, area.across(range(0).grown(0.03)), area.up(range(1).rounded()))
}

/// Axes for paths in the plane.
fn in_plane(plot: &Curves, area: Area) -> (Area, Scale, Scale) {
    let [x, y] = ranges(plot).map(|range| range.grown(0.05));
    let height = (area.width * y.length() / x.length()).clamp(HEIGHT_MIN, HEIGHT_MAX);
    let area = Area { height, ..area };
    // Page points per data unit, limited by the axis that needs more space.
    let scale = (area.width / x.length()).min(height / y.length());
    let up = area.up(y.of_length(height / scale));
    let down = Scale { from: up.to, to: up.from, ..up };
    (area, area.across(x.of_length(area.width / scale)), down)
}

fn is_drawable(point: &&[f64; 2]) -> bool {
    point.iter().all(|part| drawable(*part))
}

/// Drawable points of the curves.
fn points(plot: &Curves) -> impl Iterator<Item = &[f64; 2]> {
    plot.curves.iter().flat_map(|curve| curve.points.iter().flatten()).filter(is_drawable)
}

/// The ranges of both axes of a plane.
fn ranges(plot: &Curves) -> [Range; 2] {
    let known = plot.truth.iter().flatten().chain(&plot.updates).chain(&plot.lost);
    let known: Vec<_> = known.filter(is_drawable).collect();
    let mut ranges = [0, 1].map(|axis| {
        Range::bounds(known.iter().copied().chain(points(plot)).map(|point| point[axis]))
    });
    if !known.is_empty() {
        let known = [0, 1].map(|axis| Range::bounds(known.iter().map(|point| point[axis])));
        let margin = ASTRAY * known[0].length().max(known[1].length());
        let near = known.map(|range| range.of_length(range.length() + 2.0 * margin));
        ranges = [ranges[0].within(near[0]), ranges[1].within(near[1])];
    }
    // A straight path along an axis gets a strip, and a single point a square.
    let extent = ranges[0].length().max(ranges[1].length());
    ranges.map(|range| range.at_least(if extent > 0.0 { extent * 0.1 } else { 1.0 }))
}

/// Describes a plot of curves in words.
fn described(plot: &Curves) -> String {
    let what = match plot.labels {
        Some([x, y]) => format!("{y} over {x}"),
        None => "Paths beside the true one".into(),
    };
    let curves = plot.curves.iter().map(|Curve { series, .. }| match series.note.as_str() {
        "" => series.name.clone(),
        note => format!("{} ({note})", series.name),
    });
    let curves = curves.collect::<Vec<_>>().join("; ");
    let curves = if curves.is_empty() { "none" } else { &curves };
    format!("{} {what}: {curves}.", plot.subtitle).trim().into()
}

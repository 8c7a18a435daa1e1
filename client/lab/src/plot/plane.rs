//! Paths in the plane, with the same scale on both axes.

use super::axis::{Range, Scale, drawable};
use super::page::{Area, Entry, MARGIN, Page, Sample, WIDTH, placed};
use super::{Curve, Paths};

const LEGEND: f64 = 222.0;
/// Left of the picture, for the vertical axis's numbers.
const NUMBERS: f64 = 56.0;
const HEIGHT_MIN: f64 = 240.0;
const HEIGHT_MAX: f64 = 640.0;
/// How much of the true path's extent is shown around it at most: a curve that runs away is cut
/// off rather than making everything else small.
const ASTRAY: f64 = 0.4;

/// The plot of paths in the plane. Curves are cut off where they go far astray of the true path.
pub(crate) fn paths(plot: &Paths) -> String {
    let mut page = Page::new(WIDTH, &plot.title, &plot.subtitle);
    let left = MARGIN + NUMBERS;
    let width = WIDTH - left - LEGEND - MARGIN - 18.0;
    let [x, y] = ranges(plot);
    let (x, y) = (x.grown(0.05), y.grown(0.05));
    let height = (width * y.length() / x.length()).clamp(HEIGHT_MIN, HEIGHT_MAX);
    // The page's points to a unit of the data, as the axis that needs the more room has it.
    let scale = (width / x.length()).min(height / y.length());
    let area = Area { x: left, y: page.end, width, height };
    let x = area.across(x.of_length(width / scale));
    let up = area.up(y.of_length(height / scale));
    let y = Scale { from: up.to, to: up.from, ..up };
    page.vertical(area, y, Some("y"));
    page.horizontal(area, x, "x");
    page.clip(area);
    page.truth(&placed(&plot.truth, x, y));
    let at = |positions: &Vec<[f64; 2]>| placed(std::slice::from_ref(positions), x, y).concat();
    page.updates(&at(&plot.updates), &at(&plot.lost));
    for (index, curve) in plot.curves.iter().enumerate() {
        // Shifted by the golden ratio's share, no two soon meet.
        page.curve(&placed(&curve.points, x, y), &curve.stroke, (0.5 + index as f64 * 0.618) % 1.0);
    }
    page.unclip();
    page.frame(area);

    let mut entries = Vec::new();
    if plot.truth.iter().any(|piece| !piece.is_empty()) {
        entries.push(Entry { sample: Sample::Truth, name: "true path", note: "" });
    }
    if !plot.updates.is_empty() {
        entries.push(Entry { sample: Sample::Update, name: "update that came", note: "" });
    }
    if !plot.lost.is_empty() {
        entries.push(Entry { sample: Sample::Lost, name: "lost update", note: "" });
    }
    entries.extend(plot.curves.iter().map(entry));
    let legend = page.legend([area.x + area.width + 18.0, area.y], LEGEND + MARGIN, 1, &entries);
    page.end = (area.y + area.height + 44.0).max(area.y + legend);
    page.finish(&plot.title, &described(&plot.subtitle, "Paths beside the true one", &plot.curves))
}

/// The ranges of both axes.
fn ranges(plot: &Paths) -> [Range; 2] {
    let whole = |point: &&[f64; 2]| point.iter().all(|part| drawable(*part));
    let known = || plot.truth.iter().flatten().chain(&plot.updates).chain(&plot.lost).filter(whole);
    let curves =
        || plot.curves.iter().flat_map(|curve| curve.points.iter().flatten()).filter(whole);
    let mut ranges =
        [0, 1].map(|axis| Range::bounds(known().chain(curves()).map(|point| point[axis])));
    if known().next().is_some() {
        let known = [0, 1].map(|axis| Range::bounds(known().map(|point| point[axis])));
        let margin = ASTRAY * known[0].length().max(known[1].length());
        let near = known.map(|range| range.of_length(range.length() + 2.0 * margin));
        ranges = [ranges[0].within(near[0]), ranges[1].within(near[1])];
    }
    // A straight path along an axis takes a strip, and a single point a square.
    let extent = ranges[0].length().max(ranges[1].length());
    ranges.map(|range| range.at_least(if extent > 0.0 { extent * 0.1 } else { 1.0 }))
}

pub(super) fn entry(curve: &Curve) -> Entry<'_> {
    Entry { sample: Sample::Stroke(&curve.stroke), name: &curve.name, note: &curve.note }
}

/// A plot of curves in words.
pub(super) fn described(subtitle: &str, what: &str, curves: &[Curve]) -> String {
    let curves = curves.iter().map(|curve| match curve.note.as_str() {
        "" => curve.name.clone(),
        note => format!("{} ({note})", curve.name),
    });
    let curves = curves.collect::<Vec<_>>().join("; ");
    format!("{subtitle} {what}: {}.", if curves.is_empty() { "none" } else { &curves })
        .trim()
        .into()
}

//! Curves of y over x.

use super::Lines;
use super::axis::{Range, drawable};
use super::page::{Area, MARGIN, Page, WIDTH, placed};
use super::plane::{described, entry};

const LEGEND: f64 = 222.0;
const HEIGHT: f64 = 380.0;
/// Left of the picture, for the vertical axis's label and numbers.
const NUMBERS: f64 = 60.0;

/// The plot of curves over a common axis. The vertical one begins at 0 where that costs at most
/// half of it.
pub(crate) fn lines(plot: &Lines) -> String {
    let mut page = Page::new(WIDTH, &plot.title, &plot.subtitle);
    let left = MARGIN + NUMBERS;
    let area =
        Area { x: left, y: page.end, width: WIDTH - left - LEGEND - MARGIN - 18.0, height: HEIGHT };
    let points = || plot.curves.iter().flat_map(|curve| curve.points.iter().flatten());
    let whole = || points().filter(|point| point.iter().all(|part| drawable(*part)));
    let x = area.across(Range::around(whole().map(|point| point[0])).grown(0.03));
    let y = area.up(Range::around(whole().map(|point| point[1])).rounded());

    page.vertical(area, y, Some(&plot.y_label));
    page.horizontal(area, x, &plot.x_label);
    page.frame(area);
    for (index, curve) in plot.curves.iter().enumerate() {
        page.curve(&placed(&curve.points, x, y), &curve.stroke, (0.5 + index as f64 * 0.618) % 1.0);
    }
    let entries: Vec<_> = plot.curves.iter().map(entry).collect();
    let legend = page.legend([area.x + area.width + 18.0, area.y], LEGEND + MARGIN, 1, &entries);
    page.end = (area.y + area.height + 44.0).max(area.y + legend);
    let what = format!("{} over {}", plot.y_label, plot.x_label);
    page.finish(&plot.title, &described(&plot.subtitle, &what, &plot.curves))
}

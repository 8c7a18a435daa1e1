//! Clouds of errors against parameters: one panel per parameter, with lines through the means.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::axis::{Range, drawable};
use super::page::{Area, MARGIN, Page, WIDTH, color, entry, px};
use super::series::{CLOUD_POINTS_MAX, Panel, Scatter};
use crate::report::rounded;

const NUMBERS: f64 = 60.0;
const HEIGHT: f64 = 330.0;
const GAP: f64 = 16.0;
const PANEL_MIN: f64 = 230.0;
/// Share of the distance between two values over which the series are spread, and the share of that
/// for a cloud.
const SPREAD: f64 = 0.82;
const LANE: f64 = 0.72;
/// Maximum width of a lane, so that a series stays near its value.
const LANE_MAX: f64 = 24.0;
/// Longest axis drawn to scale, in distances between its two nearest values. Arbitrary: beyond it,
/// lanes would be too narrow.
const STEPS_MAX: f64 = 10.0;
/// Number of layers of a cloud, each of one element: where points of different layers overlap, it
/// is darker. Arbitrary.
const LAYERS: usize = 6;
/// The vertical axis ends above this share of the points if the rest is far off, so that a few
/// outliers, and the mean that they shift, do not make everything else small.
const SHOWN: f64 = 0.99;
/// Multiple of the shown range that counts as far off.
const FAR: f64 = 1.5;

struct Group {
    series: usize,
    /// Index among the panel's values.
    nth: usize,
    errors: Vec<f64>,
    mean: f64,
}

/// A panel's values in order, and its groups.
struct Grouped {
    values: Vec<f64>,
    groups: Vec<Group>,
}

/// Draws clouds. Each series has its own lane next to each value; points are half transparent, and
/// means are joined in the series' stroke. The subtitle counts the points that are not drawn.
pub(crate) fn scatter(plot: &Scatter) -> String {
    let panels: Vec<Grouped> =
        plot.panels.iter().map(|panel| grouped(panel, plot.series.len())).collect();
    let groups = || panels.iter().flat_map(|panel| &panel.groups);
    let mut sorted: Vec<f64> = groups().flat_map(|group| group.errors.iter().copied()).collect();
    sorted.sort_by(f64::total_cmp);
    let range = shown(&sorted, groups().map(|group| group.mean));

    let count = plot.panels.len().max(1) as f64;
    let left = MARGIN + NUMBERS;
    let width = WIDTH.max(left + MARGIN + count * PANEL_MIN + (count - 1.0) * GAP);
    let mut page = Page::new(width, &plot.title, &subtitle(plot, &panels, range));
    let panel_width = (width - left - MARGIN - (count - 1.0) * GAP) / count;
    let area = Area { x: left, y: page.end, width: panel_width, height: HEIGHT };
    for (index, panel) in panels.iter().enumerate() {
        let area = Area { x: area.x + index as f64 * (panel_width + GAP), ..area };
        page.vertical(area, area.up(range), (index == 0).then_some(plot.y_label.as_str()));
        draw(&mut page, area, range, panel, plot);
        page.label_across(area, &plot.panels[index].label);
    }
    if panels.is_empty() {
        page.vertical(area, area.up(range), Some(&plot.y_label));
        page.frame(area);
    }

    let entries: Vec<_> = plot.series.iter().map(entry).collect();
    let columns = ((width - left) / 205.0).floor();
    let below = [left, area.y + area.height + 54.0];
    page.end = below[1] + page.legend(below, (width - left) / columns, columns as usize, &entries);
    let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    let labels: Vec<&str> = plot.panels.iter().map(|panel| panel.label.as_str()).collect();
    let description = format!(
        "{} {} against {}, for {}.",
        plot.subtitle,
        plot.y_label,
        labels.join("; "),
        names.join("; ")
    );
    page.finish(&plot.title, description.trim())
}

/// The panel's points by series and value.
fn grouped(panel: &Panel, series: usize) -> Grouped {
    let known =
        || panel.points.iter().filter(|point| point.series < series && drawable(point.value));
    // Adding 0 makes negative zero equal to positive zero.
    let mut values: Vec<f64> = known().map(|point| point.value + 0.0).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut errors: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for point in known().filter(|point| drawable(point.error)) {
        let nth = values.partition_point(|value| *value < point.value);
        errors.entry((point.series, nth)).or_default().push(point.error);
    }
    let group = |((series, nth), mut errors): (_, Vec<f64>)| {
        errors.sort_by(f64::total_cmp);
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        Group { series, nth, errors, mean }
    };
    Grouped { values, groups: errors.into_iter().map(group).collect() }
}

/// The range of the vertical axis.
fn shown(sorted: &[f64], means: impl Iterator<Item = f64>) -> Range {
    let (Some(last), Some(first)) = (sorted.last(), sorted.first()) else {
        return Range { low: 0.0, high: 1.0 };
    };
    let usual = sorted[((sorted.len() - 1) as f64 * SHOWN) as usize];
    let usual = means.filter(|mean| *mean <= FAR * usual).fold(usual, f64::max);
    let high = if *last > FAR * usual { usual } else { *last };
    Range::around([*first, high].into_iter()).rounded()
}

/// The subtitle, with notes on undrawn points.
fn subtitle(plot: &Scatter, panels: &[Grouped], range: Range) -> String {
    let mut text = plot.subtitle.clone();
    let mut add = |sentence: String| {
        if !text.is_empty() {
            text.push_str(if text.ends_with('.') { " " } else { ". " });
        }
        text.push_str(&sentence);
    };
    let groups = || panels.iter().flat_map(|panel| &panel.groups);
    if groups().any(|group| group.errors.len() > CLOUD_POINTS_MAX) {
        add(format!(
            "At most {CLOUD_POINTS_MAX} points per series and value are drawn; means include all."
        ));
    }
    let points = || groups().flat_map(|group| &group.errors);
    let counted = points().count();
    let above = points().filter(|error| **error > range.high).count();
    if above > 0 {
        let means = groups().filter(|group| group.mean > range.high).count();
        let of = groups().count();
        add(format!("Above the axis: {above} of {counted} points, {means} of {of} means."));
    }
    let given: usize = plot.panels.iter().map(|panel| panel.points.len()).sum();
    if given > counted {
        let left_out = given - counted;
        add(format!("Left out, because they are not finite: {left_out} of {given} points."));
    }
    text
}

/// Positions of sorted values along the axis, the first at 0 and the two nearest 1 apart: to scale,
/// unless that would take more than [`STEPS_MAX`] of these, such as for 1, 10, 100; then they are
/// all 1 apart.
fn placed(values: &[f64]) -> Vec<f64> {
    let gaps = values.windows(2).map(|pair| pair[1] - pair[0]);
    let gap = gaps.fold(f64::INFINITY, f64::min);
    let all = || values.iter().map(|value| (value - values[0]) / gap);
    match all().next_back() {
        Some(last) if last <= STEPS_MAX => all().collect(),
        _ => (0..values.len()).map(|nth| nth as f64).collect(),
    }
}

fn draw(page: &mut Page, area: Area, range: Range, panel: &Grouped, plot: &Scatter) {
    let y = area.up(range);
    let positions = placed(&panel.values);
    let between = area.width / (positions.last().copied().unwrap_or(0.0) + 1.0);
    let middle = |nth: usize| area.x + (positions[nth] + 0.5) * between;
    let lane = (between * SPREAD / plot.series.len().max(1) as f64).min(LANE_MAX);
    let lane_of = |group: &Group| {
        let off_centre = group.series as f64 - (plot.series.len() - 1) as f64 / 2.0;
        middle(group.nth) + off_centre * lane
    };
    // If labels would overlap, the later one is left out.
    let labels: Vec<String> =
        panel.values.iter().map(|value| rounded(*value).to_string()).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let (room, mut last) = (longest as f64 * 6.6 + 6.0, f64::NEG_INFINITY);
    for (nth, label) in labels.iter().enumerate() {
        if middle(nth) - last >= room {
            last = middle(nth);
            page.tick_across(area, last, label);
        }
    }
    page.frame(area);

    page.clip(area);
    for group in &panel.groups {
        let color = color(plot.series[group.series].stroke.color);
        let drawn = group.errors.len().min(CLOUD_POINTS_MAX);
        let mut layers = vec![String::new(); LAYERS.min(drawn)];
        for (index, error) in thinned(&group.errors).enumerate() {
            // Multiples of the golden ratio fill the lane evenly, however many there are.
            let aside = (0.5 + index as f64 * 0.618_034) % 1.0 - 0.5;
            let [x, y] = [lane_of(group) + aside * lane * LANE, y.at(error)];
            write!(layers[index % LAYERS], "M{} {}h0", px(x), px(y))
                .expect("a string takes any text");
        }
        // In narrower lanes, points are smaller; the more there are, the fainter.
        let size = px((lane * LANE * 0.45).clamp(1.8, 2.8));
        let opacity = px((0.27 + 5.0 / drawn as f64).min(0.6));
        page.add(format_args!(
            "<g stroke=\"{color}\" stroke-width=\"{size}\" stroke-linecap=\"round\" \
             stroke-opacity=\"{opacity}\">"
        ));
        for layer in layers {
            page.add(format_args!("<path d=\"{layer}\"/>"));
        }
        page.add(format_args!("</g>"));
    }
    page.unclip();
    // Slightly beyond the frame, for markers on its border; a line that leads further up is cut.
    page.clip(area.grown(6.0));
    for (index, series) in plot.series.iter().enumerate() {
        let groups = panel.groups.iter().filter(|group| group.series == index);
        let means: Vec<[f64; 2]> = groups.map(|group| [lane_of(group), y.at(group.mean)]).collect();
        page.means(&means, &series.stroke);
    }
    page.unclip();
}

/// Up to [`CLOUD_POINTS_MAX`] of the sorted numbers, evenly chosen, with the least and the
/// greatest.
pub(super) fn thinned(sorted: &[f64]) -> impl Iterator<Item = f64> {
    let kept = sorted.len().min(CLOUD_POINTS_MAX);
    (0..kept).map(move |index| sorted[index * (sorted.len() - 1) / (kept - 1).max(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_to_scale_unless_that_takes_too_much_room() {
        assert_eq!(placed(&[0.0, 50.0, 100.0, 200.0]), [0.0, 1.0, 2.0, 4.0]);
        assert_eq!(placed(&[1.0, 10.0, 100.0]), [0.0, 1.0, 2.0]);
        assert_eq!((placed(&[7.0]), placed(&[])), (vec![0.0], vec![]));
    }
}

//! The panel of a net graph: its place, and the words beside a lane.

use phaselock::time::Micros;
use phaselock_ui::prelude::*;

use super::plot::{Curve, Mark};

// Lengths are in points of the panel's design: see [`Inset`].

/// Width of the graph in points: minimum, maximum, and the share of the window in between.
pub(super) const WIDTH: (f32, f32, f32) = (300.0, 348.0, 0.3);
/// Width of a lane's words, in points.
pub(super) const WORDS: f32 = 158.0;
pub(super) const PADDING: f32 = 10.0;
/// Height of the line above the lanes, in points.
pub(super) const HEAD: f32 = 20.0;
/// Height of a lane in points: with enough space, and the minimum.
pub(super) const LANE: (f32, f32) = (58.0, 3.0 * ROW);
pub(super) const GAP: f32 = 5.0;
/// Number of lanes shown in the smallest window.
pub(super) const LANES_LEAST: usize = 3;
pub(super) const ROW: f32 = 14.5;
pub(super) const LETTERS: f32 = 12.0;
pub(super) const PLOT_LETTERS: f32 = 10.5;
/// Height in points above the graph: the connection's state, and a game's own texts below it.
pub(super) const ABOVE: f32 = 156.0;
pub(super) const MARGIN: f32 = 18.0;
/// Number of lanes of the largest graph, which share the height.
pub(super) const LANES_ALL: usize = 8;

/// Text in a lane, after its symbol in the plot.
#[derive(Clone, Debug)]
pub(super) struct Words {
    row: u8,
    key: Option<Key>,
    text: String,
}

impl Words {
    pub(super) fn line(row: u8, curve: Curve, text: String) -> Self {
        Self { row, key: Some(Key::Curve(curve)), text }
    }

    pub(super) fn mark(row: u8, mark: Mark, text: String) -> Self {
        Self { row, key: Some(Key::Mark(mark)), text }
    }

    pub(super) fn plain(row: u8, text: String) -> Self {
        Self { row, key: None, text }
    }
}

#[derive(Clone, Copy, Debug)]
enum Key {
    Curve(Curve),
    Mark(Mark),
}

/// Writes a lane's title and words.
pub(super) fn write(
    painter: &Painter,
    inset: Inset<'_>,
    (top, height): (f32, f32),
    (title, words): (&str, &[Words]),
) {
    let first = top + (height - 3.0 * ROW) / 2.0;
    let row_y = |row: u8| first + (f32::from(row) + 0.5) * ROW;
    let write = |x: f32, row: u8, words: &str, color: Color32| {
        inset.text((x, row_y(row)), Align2::LEFT_CENTER, words, (LETTERS, color)).right()
    };
    let title = write(PADDING, 0, title, palette::TEXT_SOFT);
    let mut ends = [title, PADDING - 8.0, PADDING - 8.0];
    for words in words {
        let end = &mut ends[usize::from(words.row)];
        let mut x = *end + 8.0;
        if let Some(key) = words.key {
            match key {
                Key::Curve(curve) => curve.sample(painter, inset.at(x, row_y(words.row))),
                Key::Mark(mark) => mark.paint(painter, inset.at(x + 7.0, row_y(words.row))),
            }
            x += 18.0;
        }
        *end = write(x, words.row, &words.text, palette::TEXT);
    }
}

/// Returns the panel in the window and the height of a lane, at a zoom and with a number of lanes;
/// `None` if there is no space for it.
pub(super) fn place_of(
    painter: &Painter,
    screen: Rect,
    (zoom, count): (f32, usize),
) -> Option<(Inset<'_>, f32)> {
    let (least, most, share) = WIDTH;
    let width = (screen.width() * share / zoom).clamp(least, most);
    let around = HEAD + 2.0 * PADDING - GAP;
    let room = (screen.height() - ABOVE * zoom - MARGIN) / zoom - around;
    let lane = (room / LANES_ALL as f32 - GAP).clamp(LANE.1, LANE.0);
    let size = vec2(width, around + (lane + GAP) * count as f32) * zoom;
    let right = Rect::from_min_size(screen.right_bottom() - vec2(MARGIN, MARGIN) - size, size);
    let left = Rect::from_min_size(pos2(screen.left() + MARGIN, screen.top() + MARGIN), size);
    let ways = [Way::Up, Way::Left];
    let rect = layout::find(painter, Item::Graph, right, &ways)
        .or_else(|| layout::find(painter, Item::Graph, left, &[Way::Down]))?;
    Some((Inset::within(painter, rect, zoom), lane))
}

/// Milliseconds with one decimal.
pub(super) fn ms(span: Micros) -> String {
    format!("{:.1}", span.as_ms())
}

//! Blocks of text over the world: lines on one ground, at the first free place.

use egui_macroquad::egui::text::LayoutJob;
use egui_macroquad::egui::{Align2, Color32, FontId, Painter, Pos2, Rect, pos2, vec2};

use super::layout::{Item, Way, grounded};
use super::paint::around;
use super::palette;

/// A line of a text block: words, size in points, colour.
pub type BlockLine<'a> = (&'a str, f32, Color32);

/// Paints lines of text below each other on one ground, at the first free place in these
/// directions. Returns the ground's rectangle, or `None` if there is no space. Lines wider than the
/// window are wrapped.
pub fn text_block(
    painter: &Painter,
    (item, ways): (Item, &[Way]),
    (at, align): (Pos2, Align2),
    lines: &[BlockLine<'_>],
) -> Option<Rect> {
    let width = painter.ctx().screen_rect().width() - 36.0;
    text_block_within(painter, (item, ways), (at, align), lines, width)
}

/// Paints a [`text_block`] whose lines are at most `width` points wide.
pub fn text_block_within(
    painter: &Painter,
    (item, ways): (Item, &[Way]),
    (at, align): (Pos2, Align2),
    lines: &[BlockLine<'_>],
    width: f32,
) -> Option<Rect> {
    let galley = |(words, size, color): &BlockLine<'_>| {
        let font = FontId::proportional(*size);
        let mut job = LayoutJob::simple((*words).to_owned(), font, *color, width);
        job.wrap.max_rows = 4;
        job.halign = align.x();
        painter.layout_job(job)
    };
    let galleys: Vec<_> = lines.iter().map(galley).collect();
    let wide = galleys.iter().map(|galley| galley.size().x).fold(0.0, f32::max);
    let high = galleys.iter().map(|galley| galley.size().y).sum();
    let strength = lines.iter().map(|(_, _, color)| color.a()).max().unwrap_or(0);
    let wanted = around(align.anchor_size(at, vec2(wide, high)));
    let rect = grounded(painter, item, wanted, ways, f32::from(strength) / 255.0)?;
    let inside = rect.shrink2(vec2(6.0, 2.0));
    let mut y = inside.top();
    for galley in galleys {
        let x = inside.left() + inside.width() * align.x().to_factor();
        let color = palette::TEXT;
        let below = y + galley.size().y;
        painter.galley(pos2(x, y), galley, color);
        y = below;
    }
    Some(rect)
}

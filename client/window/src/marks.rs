//! Markers over the picture: positions in snapshots, and the error of what is shown.

use phaselock_ui::prelude::*;

/// Marks an entity: its position in the newest snapshot and as drawn, by another method as a ghost
/// with a radius in points, and an earlier drawn position with the true one of that time.
pub(crate) fn draw_marks(
    painter: &Painter,
    (at, drawn): (Pos2, Pos2),
    (ghost_at, radius): (Option<Pos2>, f32),
    shown_and_true: Option<(Pos2, Pos2)>,
) {
    way(painter, at, drawn);
    newest(painter, at);
    if let Some(at) = ghost_at {
        ghost(painter, at, radius);
    }
    if let Some((shown, truth)) = shown_and_true {
        error(painter, shown, truth);
    }
}

/// A diamond.
pub(crate) fn newest(painter: &Painter, at: Pos2) {
    let corners = [(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)];
    polygon(painter, at, &corners, Color32::TRANSPARENT, (1.5, palette::TEXT));
}

/// A thin line.
pub(crate) fn way(painter: &Painter, from: Pos2, to: Pos2) {
    painter.line_segment([from, to], Stroke::new(1.0, fade(palette::TEXT, 0.55)));
}

/// A dashed ring.
pub(crate) fn ghost(painter: &Painter, at: Pos2, radius: f32) {
    let angle = |n: u8| f32::from(n) / 24.0 * std::f32::consts::TAU;
    let points: Vec<_> =
        (0..=24).map(|n| at + egui_macroquad::egui::Vec2::angled(angle(n)) * radius).collect();
    painter.extend(Shape::dashed_line(&points, Stroke::new(1.5, palette::WARN), 4.0, 3.0));
}

/// A thick line with a dot at the true position.
pub(crate) fn error(painter: &Painter, shown: Pos2, truth: Pos2) {
    painter.line_segment([shown, truth], (3.0, palette::BAD));
    painter.circle_filled(truth, 2.5, palette::BAD);
}

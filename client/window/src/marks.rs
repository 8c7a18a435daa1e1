//! Markers over the picture: positions in snapshots, and the error of what is shown.

use phaselock_ui::prelude::*;

/// Markers of an entity, in the window.
pub(crate) struct EntityMarks {
    /// Where the newest snapshot has it.
    pub(crate) newest: Pos2,
    /// Where it is drawn.
    pub(crate) drawn: Pos2,
    /// Where another method would draw it.
    pub(crate) ghost: Option<Circle>,
    /// Where it was drawn a while ago, and where it truly was at that time.
    pub(crate) error: Option<[Pos2; 2]>,
}

impl EntityMarks {
    pub(crate) fn draw(&self, painter: &Painter) {
        way(painter, self.newest, self.drawn);
        newest(painter, self.newest);
        if let Some(Circle { middle, radius }) = self.ghost {
            ghost(painter, middle, radius);
        }
        if let Some([shown, truth]) = self.error {
            error(painter, shown, truth);
        }
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

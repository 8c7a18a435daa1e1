//! Painting for the net graph: curves, bars and marks in a frame that scrolls with time.

use egui_macroquad::egui::FontId;
use phaselock::time::LocalTime;

use super::samples::{EVERY, SHOWN};
use phaselock_ui::prelude::*;

/// Samples further apart than this are not joined by a line.
const JOINED: i64 = EVERY.0 * 5 / 2;
/// Reach of a mark from its middle, in points.
const MARK: f32 = 4.0;

#[derive(Clone, Copy, Debug)]
pub(super) enum Curve {
    Main,
    /// A dashed line.
    Other,
    /// The area around a line.
    Band,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// An arrow up: lost on the way to the server.
    Up,
    /// An arrow down: lost on the way from the server.
    Down,
    /// A filled triangle on its tip: a late input.
    Late,
    /// An empty square: no data.
    Hole,
    /// A cross: a misprediction.
    Cross,
}

impl Curve {
    pub(super) fn color(self) -> Color32 {
        match self {
            Self::Main => palette::OWN,
            Self::Other => palette::FOE,
            Self::Band => fade(palette::OWN, 0.35),
        }
    }

    /// Paints a sample of the line to the right of `left`.
    pub(super) fn sample(self, painter: &Painter, left: Pos2) {
        let (a, b) = (left, left + vec2(14.0, 0.0));
        match self {
            Self::Main => {
                painter.line_segment([a, b], Stroke::new(2.0, self.color()));
            }
            Self::Other => {
                let stroke = Stroke::new(2.0, self.color());
                painter.line_segment([a, a + vec2(5.5, 0.0)], stroke);
                painter.line_segment([b - vec2(5.5, 0.0), b], stroke);
            }
            Self::Band => {
                let rect = Rect::from_two_pos(a - vec2(0.0, 4.0), b + vec2(0.0, 4.0));
                painter.rect_filled(rect, 0.0, self.color());
            }
        }
    }
}

impl Mark {
    fn color(self) -> Color32 {
        match self {
            Self::Up => palette::FOE,
            Self::Down => palette::OWN,
            Self::Late => palette::BAD,
            Self::Hole | Self::Cross => palette::WARN,
        }
    }

    pub(super) fn paint(self, painter: &Painter, at: Pos2) {
        let color = self.color();
        let stroke = Stroke::new(1.6, color);
        let tip = |y: f32| {
            polygon(painter, at, &[(-MARK, -y), (MARK, -y), (0.0, y)], color, Stroke::NONE);
        };
        match self {
            Self::Up => tip(-MARK),
            Self::Down | Self::Late => tip(MARK),
            Self::Hole => {
                let square = Rect::from_center_size(at, vec2(2.0, 2.0) * (MARK - 0.5));
                painter.rect_stroke(square, 0.0, stroke, StrokeKind::Middle);
            }
            Self::Cross => {
                let reach = MARK - 0.5;
                for out in [vec2(reach, reach), vec2(reach, -reach)] {
                    painter.line_segment([at - out, at + out], stroke);
                }
            }
        }
    }
}

/// A frame whose right edge is now.
pub(super) struct Plot<'a> {
    frame: &'a Painter,
    inside: Painter,
    rect: Rect,
    now: LocalTime,
    low: f32,
    high: f32,
    unit: &'static str,
    letters: FontId,
}

impl<'a> Plot<'a> {
    pub(super) fn new(frame: &'a Painter, rect: Rect, now: LocalTime, letters: FontId) -> Self {
        frame.rect_filled(rect, 2.0, fade(palette::VOID, 0.75));
        let inside = frame.with_clip_rect(rect);
        Self { frame, inside, rect, now, low: 0.0, high: 1.0, unit: "", letters }
    }

    /// Sets the values of the lower and the upper edge.
    pub(super) fn scale(&mut self, low: f32, high: f32, unit: &'static str) {
        (self.low, self.high) = (low, high);
        let line = Stroke::new(1.0, palette::EDGE);
        self.frame.hline(self.rect.x_range(), self.y(0.0), line);
        // A line every five seconds.
        let seconds = SHOWN.0 / 5_000_000;
        for n in 1..seconds {
            let x = self.rect.left() + self.rect.width() * n as f32 / seconds as f32;
            self.frame.vline(x, self.rect.y_range(), line);
        }
        self.unit = unit;
    }

    /// Labels the edges, over everything drawn so far.
    pub(super) fn finish(&self) {
        let sign = if self.is_even() { "±" } else { "" };
        let (at, high) = (self.rect.left_top(), format!("{sign}{} {}", self.high, self.unit));
        self.label(at + vec2(3.0, 1.0), Align2::LEFT_TOP, high);
        if self.low < 0.0 && !self.is_even() {
            let at = self.rect.left_bottom() + vec2(3.0, -1.0);
            self.label(at, Align2::LEFT_BOTTOM, self.low.to_string());
        }
    }

    fn is_even(&self) -> bool {
        self.low < 0.0 && self.high == -self.low
    }

    fn label(&self, at: Pos2, align: Align2, words: String) {
        let font = self.letters.clone();
        let words = self.frame.layout_no_wrap(words, font, palette::TEXT_SOFT);
        let rect = align.anchor_size(at, words.size());
        self.frame.rect_filled(rect.expand2(vec2(2.0, 0.0)), 2.0, fade(palette::VOID, 0.7));
        self.frame.galley(rect.min, words, palette::TEXT_SOFT);
    }

    fn x(&self, at: LocalTime) -> f32 {
        let ago = (self.now - at.min(self.now)).0 as f32 / SHOWN.0 as f32;
        self.rect.right() - ago * self.rect.width()
    }

    fn y(&self, value: f32) -> f32 {
        // Slightly inside the edges, so that a curve on an edge is visible.
        let inner = self.rect.shrink(1.5);
        let part = (value - self.low) / (self.high - self.low);
        inner.bottom() - part * inner.height()
    }

    /// Draws a curve, with gaps where values are unknown.
    pub(super) fn curve(
        &self,
        curve: Curve,
        values: impl Iterator<Item = (LocalTime, Option<f32>)>,
    ) {
        let mut runs: Vec<Vec<(LocalTime, Pos2)>> = Vec::new();
        for (at, value) in values {
            let last = runs.last().and_then(|run| run.last());
            if value.is_none() || last.is_none_or(|(then, _)| (at - *then).0 > JOINED) {
                runs.push(Vec::new());
            }
            if let Some((run, value)) = runs.last_mut().zip(value) {
                run.push((at, pos2(self.x(at), self.y(value))));
            }
        }
        for run in runs {
            match (curve, run.as_slice()) {
                (_, []) => {}
                (Curve::Other, points) => {
                    // Dashed by time, so that the dashes move along with the curve.
                    let drawn = |at: LocalTime| at.0.div_euclid(EVERY.0).rem_euclid(5) < 3;
                    for ends in points.windows(2).filter(|ends| drawn(ends[0].0)) {
                        self.inside.line_segment([ends[0].1, ends[1].1], (1.3, curve.color()));
                    }
                }
                (_, [(_, lone)]) => {
                    self.inside.circle_filled(*lone, 1.2, curve.color());
                }
                (_, points) => {
                    let points = points.iter().map(|(_, point)| *point).collect();
                    let stroke = PathStroke::new(1.5, curve.color());
                    self.inside.add(Shape::line(points, stroke));
                }
            }
        }
    }

    /// Fills the area between two values.
    pub(super) fn band(&self, values: impl Iterator<Item = (LocalTime, f32, f32)>) {
        let mut mesh = Mesh::default();
        let mut last: Option<LocalTime> = None;
        for (at, low, high) in values {
            let (x, color) = (self.x(at), Curve::Band.color());
            let next = mesh.vertices.len() as u32;
            mesh.colored_vertex(pos2(x, self.y(low)), color);
            mesh.colored_vertex(pos2(x, self.y(high)), color);
            if last.is_some_and(|last| (at - last).0 <= JOINED) {
                mesh.add_triangle(next - 2, next - 1, next);
                mesh.add_triangle(next - 1, next, next + 1);
            }
            last = Some(at);
        }
        self.inside.add(Shape::mesh(mesh));
    }

    /// Draws bars from zero, as wide as their time.
    pub(super) fn bars(&self, color: Color32, values: impl Iterator<Item = (LocalTime, f32)>) {
        let wide = EVERY.0 as f32 / SHOWN.0 as f32 * self.rect.width();
        let mut mesh = Mesh::default();
        for (at, value) in values.filter(|(_, value)| *value != 0.0) {
            let x = self.x(at);
            let ends = [pos2(x - wide / 2.0, self.y(0.0)), pos2(x + wide / 2.0, self.y(value))];
            mesh.add_colored_rect(Rect::from_two_pos(ends[0], ends[1]), color);
        }
        self.inside.add(Shape::mesh(mesh));
    }

    /// Marks moments: a vertical line, with the mark at its top if there is space.
    pub(super) fn marks(&self, mark: Mark, moments: impl Iterator<Item = LocalTime>) {
        let mut free = f32::NEG_INFINITY;
        for x in moments.map(|at| self.x(at)) {
            self.inside.vline(x, self.rect.y_range(), (1.0, fade(mark.color(), 0.6)));
            if x >= free {
                mark.paint(&self.inside, pos2(x, self.rect.top() + MARK + 2.0));
                free = x + 2.0 * MARK + 2.0;
            }
        }
    }

    /// Marks values, each on a stem.
    pub(super) fn stems(&self, mark: Mark, values: impl Iterator<Item = (LocalTime, f32)>) {
        let ends = self.rect.y_range().shrink(MARK + 1.0);
        for (at, value) in values {
            let (x, y) = (self.x(at), self.y(value).clamp(ends.min, ends.max));
            self.inside.vline(x, y..=self.rect.bottom(), (1.0, mark.color()));
            mark.paint(&self.inside, pos2(x, y));
        }
    }

    /// Marks moments when the client rejoined, with a label if `words`.
    pub(super) fn rejoined(&self, moments: impl Iterator<Item = LocalTime>, words: bool) {
        for x in moments.map(|at| self.x(at)) {
            let ends = [pos2(x, self.rect.top()), pos2(x, self.rect.bottom())];
            let stroke = Stroke::new(1.5, palette::TEXT_SOFT);
            self.inside.extend(Shape::dashed_line(&ends, stroke, 2.0, 2.0));
            if words {
                let (at, side) = (pos2(x - 3.0, self.rect.bottom()), Align2::RIGHT_BOTTOM);
                let (words, font) = (tr("rejoined"), self.letters.clone());
                self.inside.text(at, side, words, font, palette::TEXT);
            }
        }
    }
}

/// The next round number: 1, 2, 3 or 5, and zeros.
pub(super) fn nice(value: f32) -> f32 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let power = 10.0_f32.powi(value.log10().floor() as i32);
    let found = [1.0, 2.0, 3.0, 5.0].into_iter().find(|step| step * power >= value * 0.999);
    // Rounded, because powers of a tenth are not exact.
    let number = found.unwrap_or(10.0) * power;
    if number < 1.0 { (number * 1000.0).round() / 1000.0 } else { number.round() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_in_round_numbers() {
        for (value, round) in
            [(0.04, 0.05), (0.1, 0.1), (3.1, 5.0), (5.0, 5.0), (51.0, 100.0), (210.0, 300.0)]
        {
            assert_eq!(nice(value), round);
        }
        for odd in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(nice(odd), 1.0);
        }
    }
}

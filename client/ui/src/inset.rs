//! Panels over the world, which grow with the player's text size.
//!
//! The parts of a panel are placed in points of its *design*, which is made for text of the usual
//! size, counted from the panel's upper left corner. The whole panel is scaled by the player's text
//! size, or less if the window has no space for that.

use egui_macroquad::egui::{
    Align, Align2, Color32, FontId, Painter, Pos2, Rangef, Rect, Stroke, Vec2,
};

use super::layout::{self, Item, Way};
use super::paint::{self, Lettering, bar, fill_bar, letters};

/// Minimum distance of a panel from the window's edge, in points.
const EDGE: f32 = 8.0;
/// Zooms are multiples of this, since each text size takes space in the atlas.
const STEP: f32 = 0.05;

/// A panel in its place.
#[derive(Clone, Copy)]
pub struct Inset<'a> {
    painter: &'a Painter,
    rect: Rect,
    zoom: f32,
}

impl std::fmt::Debug for Inset<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Inset").field(&self.rect).field(&self.zoom).finish()
    }
}

/// Points of the window per point of a design of size `design`, aligned to a place in the window.
pub fn zoom(painter: &Painter, (at, align): (Pos2, Align2), design: Vec2) -> f32 {
    let screen = painter.ctx().screen_rect().shrink(EDGE);
    let room = |at: f32, edges: Rangef, align: Align| match align {
        Align::Min => edges.max - at,
        Align::Center => 2.0 * (edges.max - at).min(at - edges.min),
        Align::Max => at - edges.min,
    };
    let wide = room(at.x, screen.x_range(), align.x());
    let high = room(at.y, screen.y_range(), align.y());
    let most = (wide / design.x).min(high / design.y);
    let wanted = letters(painter.ctx());
    if wanted <= most { wanted } else { (most / STEP).floor().max(10.0) * STEP }
}

/// Width of words in points of a design.
pub fn width(painter: &Painter, words: &str, lettering: impl Into<Lettering>) -> f32 {
    let (zoom, lettering) = (letters(painter.ctx()), lettering.into());
    let job = lettering.spaced(lettering.spacing * zoom).job(words);
    painter.layout_job(job).size().x / zoom
}

impl<'a> Inset<'a> {
    /// Claims a place for a panel whose design has this size, whatever else is there.
    pub fn claim(painter: &'a Painter, item: Item, place: (Pos2, Align2), design: Vec2) -> Self {
        let zoom = zoom(painter, place, design);
        let rect = place.1.anchor_size(place.0, design * zoom);
        layout::claim(painter, item, rect);
        Self { painter, rect, zoom }
    }

    /// Claims the first free place in these directions; if the scaled panel finds none, one of the
    /// usual size.
    pub fn find(
        painter: &'a Painter,
        (item, ways): (Item, &[Way]),
        place: (Pos2, Align2),
        design: Vec2,
    ) -> Option<Self> {
        let grown = zoom(painter, place, design);
        [grown, grown.min(1.0)].into_iter().find_map(|zoom| {
            let rect = place.1.anchor_size(place.0, design * zoom);
            let rect = layout::find(painter, item, rect, ways)?;
            Some(Self { painter, rect, zoom })
        })
    }

    /// Creates a panel in a place that has been claimed.
    pub fn within(painter: &'a Painter, rect: Rect, zoom: f32) -> Self {
        Self { painter, rect, zoom }
    }

    /// Rectangle of the panel in the window.
    pub fn rect(&self) -> Rect {
        self.rect
    }

    /// Points of the window per point of the design.
    pub fn zoom(&self) -> f32 {
        self.zoom
    }

    /// Size of the design.
    pub fn size(&self) -> Vec2 {
        self.rect.size() / self.zoom
    }

    /// Position in the window of a point of the design.
    pub fn at(&self, x: f32, y: f32) -> Pos2 {
        self.rect.min + Vec2::new(x, y) * self.zoom
    }

    /// Rectangle in the window of a part of the design, given by its upper left corner and its
    /// size.
    pub fn part(&self, (x, y): (f32, f32), (width, height): (f32, f32)) -> Rect {
        Rect::from_min_max(self.at(x, y), self.at(x + width, y + height))
    }

    /// A stroke whose width is in points of the design.
    pub fn stroke(&self, width: f32, color: Color32) -> Stroke {
        Stroke::new(width * self.zoom, color)
    }

    /// Font whose size is in points of the design.
    pub fn font(&self, size: f32) -> FontId {
        FontId::proportional(size * self.zoom / letters(self.painter.ctx()))
    }

    /// Paints the ground of the whole panel.
    pub fn ground(&self) {
        paint::panel(self.painter, self.rect);
    }

    /// Paints text at a point of the design, with all lengths in points of the design. Returns its
    /// rectangle in the design.
    pub fn text(
        &self,
        (x, y): (f32, f32),
        align: Align2,
        words: &str,
        lettering: impl Into<Lettering>,
    ) -> Rect {
        let Lettering { size, color, spacing, room } = lettering.into();
        let (size, spacing) = (self.font(size).size, spacing * self.zoom);
        let job = Lettering { size, color, spacing, room: room * self.zoom }.job(words);
        let galley = self.painter.layout_job(job);
        // The last letter's spacing is invisible.
        let at = self.at(x, y) + Vec2::new(spacing / 2.0, 0.0);
        let rect = align.anchor_size(at, galley.size());
        self.painter.galley(rect.min, galley, color);
        let back = |at: Pos2| ((at - self.rect.min) / self.zoom).to_pos2();
        Rect::from_min_max(back(rect.min), back(rect.max))
    }

    /// Paints a bar in a part of the design, filled to a share from 0 to 1.
    pub fn bar(&self, at: (f32, f32), size: (f32, f32), share: f32, color: Color32) {
        bar(self.painter, self.part(at, size), share, color);
    }

    /// Fills a bar further.
    pub fn fill_bar(&self, at: (f32, f32), size: (f32, f32), share: f32, color: Color32) {
        fill_bar(self.painter, self.part(at, size), share, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letters::Letters;
    use egui_macroquad::egui::{Context, RawInput, pos2, vec2};

    /// Runs `look` in a window of this size with letters of that size.
    fn inset<R>(window: Vec2, letters: f32, look: impl Fn(&Painter) -> R) -> R {
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, window));
        let (context, mut seen) = (Context::default(), None);
        Letters::new().set(&context, letters, "en");
        // Fonts are known from the second frame.
        for _ in 0..2 {
            let input = RawInput { screen_rect, ..RawInput::default() };
            let _ = context.run(input, |context| seen = Some(look(&context.debug_painter())));
        }
        seen.expect("it was painted")
    }

    #[test]
    fn panels_grow_with_letters_as_far_as_there_is_room() {
        let place = (pos2(18.0, 200.0), Align2::LEFT_TOP);
        let zoom = |window: Vec2, letters: f32, design: Vec2| {
            inset(window, letters, |painter| {
                let inset = Inset::claim(painter, Item::Figures, place, design);
                let text =
                    inset.text((10.0, 10.0), Align2::LEFT_TOP, "Words", (14.0, Color32::RED));
                (inset.zoom(), inset.rect(), text.width())
            })
        };
        let (one, usual, words) = zoom(vec2(800.0, 600.0), 1.0, vec2(500.0, 50.0));
        assert_eq!((one, usual.size()), (1.0, vec2(500.0, 50.0)));
        let (grown, rect, same) = zoom(vec2(1280.0, 720.0), 1.5, vec2(500.0, 50.0));
        assert_eq!((grown, rect.size()), (1.5, vec2(750.0, 75.0)));
        assert!((words - same).abs() < 2.0, "{words} and {same} in design points");
        let (some, rect, _) = zoom(vec2(640.0, 600.0), 1.5, vec2(500.0, 50.0));
        assert!(some > 1.0 && some < 1.5 && rect.right() <= 632.0, "{some} {rect:?}");
    }

    #[test]
    fn a_grown_panel_that_finds_no_place_is_shown_in_its_usual_size() {
        let place = (pos2(10.0, 10.0), Align2::LEFT_TOP);
        let found = inset(vec2(400.0, 100.0), 1.5, |painter| {
            layout::claim(
                painter,
                Item::Clock,
                Rect::from_min_max(pos2(0.0, 70.0), pos2(400.0, 100.0)),
            );
            Inset::find(painter, (Item::Vote, &[Way::Up]), place, vec2(100.0, 48.0))
                .map(|it| it.zoom())
        });
        assert_eq!(found, Some(1.0));
    }
}

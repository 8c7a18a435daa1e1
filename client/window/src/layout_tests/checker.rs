//! Finds texts that overlap, leave the window, or lack a ground, in the shapes of a frame.

use egui_macroquad::egui::epaint::{ClippedShape, TextShape};
use egui_macroquad::egui::{Color32, Rect, Shape, vec2};

/// Overlaps and overhangs up to this, in points, do not count: edges are smoothed.
const SLACK: f32 = 1.5;
/// Opacity from which a shape hides what is below it.
const HIDES: u8 = 225;
/// Opacity from which a veil over the whole window hides what is below it.
const VEILS: u8 = 190;
/// Opacity from which a ground makes a text readable.
const GROUNDS: u8 = 90;
/// Opacity below which a text is only a trace in the picture.
const FAINT: u8 = 70;
/// Maximum brightness of a ground: the sum of its three parts.
const DARK: u32 = 240;

/// A text as it is seen in a frame.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) words: String,
    /// The letters, as far as they are visible.
    pub(super) rect: Rect,
    /// The letters with those that are cut off at the window's edge.
    whole: Rect,
    /// Whether a list may scroll it, which cuts it off at the list's edge.
    moves: bool,
    has_ground: bool,
}

/// Everything that is wrong in a frame.
pub(super) fn problems(shapes: &[ClippedShape], screen: Rect, labels: &[Rect]) -> Vec<String> {
    let texts = texts(shapes, screen);
    let mut found = Vec::new();
    let is_label =
        |text: &Seen| labels.iter().any(|label| label.expand(3.0).contains(text.rect.center()));
    for (n, text) in texts.iter().enumerate() {
        let label = is_label(text);
        if !screen.expand(SLACK).contains_rect(text.whole) && !text.moves && !label {
            found.push(format!("{:?} leaves the window: {:?}", text.words, text.whole));
        }
        if !text.has_ground && !label {
            found.push(format!("{:?} has no ground: {:?}", text.words, text.rect));
        }
        for other in &texts[n + 1..] {
            let common = text.rect.intersect(other.rect);
            let touch = common.width() > SLACK && common.height() > SLACK;
            if touch && !(label && is_label(other)) {
                let (a, b) = (&text.words, &other.words);
                found.push(format!("{a:?} and {b:?} overlap: {:?} {:?}", text.rect, other.rect));
            }
        }
    }
    found
}

/// The texts of a frame.
pub(super) fn texts(shapes: &[ClippedShape], screen: Rect) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut grounds = Vec::new();
    for ClippedShape { clip_rect, shape } in shapes {
        walk(shape, *clip_rect, screen, &mut seen, &mut grounds);
    }
    seen
}

/// Words of a frame in certain places, with the height of their first row.
pub(super) fn letters_of(
    shapes: &[ClippedShape],
    counts: impl Fn(Rect) -> bool,
) -> Vec<(String, f32)> {
    let text = |it: &ClippedShape| match &it.shape {
        Shape::Text(text) => Some(text.clone()),
        _ => None,
    };
    let texts = shapes.iter().filter_map(text);
    let texts = texts.filter(|text| counts(text.galley.rect.translate(text.pos.to_vec2())));
    let high = |text: &TextShape| text.galley.rows.first().map_or(0.0, |row| row.height());
    texts.map(|text| (text.galley.text().trim().to_owned(), high(&text))).collect()
}

/// Words of a frame with the smallest size of their letters, in points.
pub(super) fn sizes_of(shapes: &[ClippedShape]) -> Vec<(String, f32)> {
    let size = |text: &TextShape| {
        let sections = text.galley.job.sections.iter();
        sections.map(|it| it.format.font_id.size).fold(f32::INFINITY, f32::min)
    };
    let texts = shapes.iter().filter_map(|it| match &it.shape {
        Shape::Text(text) => Some((text.galley.text().trim().to_owned(), size(text))),
        _ => None,
    });
    texts.filter(|(words, _)| !words.is_empty()).collect()
}

fn walk(shape: &Shape, clip: Rect, screen: Rect, seen: &mut Vec<Seen>, grounds: &mut Vec<Rect>) {
    match shape {
        Shape::Vec(shapes) => {
            shapes.iter().for_each(|shape| walk(shape, clip, screen, seen, grounds));
        }
        Shape::Text(text) => {
            seen.extend(text_seen(text, clip, screen, grounds));
        }
        Shape::Rect(rect) if rect.blur_width == 0.0 => {
            cover(rect.rect.intersect(clip), rect.fill, screen, seen, grounds);
        }
        Shape::Circle(circle) => {
            // Rectangles within it: a square, a low one and a high one.
            for half in [vec2(0.7, 0.7), vec2(0.8, 0.6), vec2(0.6, 0.8)] {
                let inner = Rect::from_center_size(circle.center, half * 2.0 * circle.radius);
                cover(inner.intersect(clip), circle.fill, screen, seen, grounds);
            }
        }
        _ => {}
    }
}

fn cover(rect: Rect, fill: Color32, screen: Rect, seen: &mut Vec<Seen>, grounds: &mut Vec<Rect>) {
    let is_veil = fill.a() >= VEILS && rect.contains_rect(screen);
    if fill.a() >= HIDES || is_veil {
        seen.retain_mut(|text| match uncovered(text.rect, rect) {
            Some(left) => {
                text.rect = left;
                true
            }
            None => false,
        });
    }
    let [r, g, b, a] = fill.to_array();
    let is_dark = [r, g, b].into_iter().map(u32::from).sum::<u32>() < DARK;
    // A light disc has dark letters.
    if a >= GROUNDS && (is_dark || rect.width() < 60.0) && rect.width() < screen.width() * 0.99 {
        grounds.push(rect);
    }
}

/// The part of a rectangle that another one leaves visible: all of it unless the other one cuts off
/// a whole side.
fn uncovered(rect: Rect, by: Rect) -> Option<Rect> {
    let mut left = rect;
    if by.contains_rect(rect.shrink(SLACK)) {
        return None;
    }
    let (tall, wide) = (
        by.y_range().contains(rect.top() + SLACK) && by.y_range().contains(rect.bottom() - SLACK),
        by.x_range().contains(rect.left() + SLACK) && by.x_range().contains(rect.right() - SLACK),
    );
    if tall && by.contains(rect.left_center()) {
        left.min.x = by.right();
    } else if tall && by.contains(rect.right_center()) {
        left.max.x = by.left();
    } else if wide && by.contains(rect.center_top()) {
        left.min.y = by.bottom();
    } else if wide && by.contains(rect.center_bottom()) {
        left.max.y = by.top();
    }
    Some(left)
}

fn text_seen(text: &TextShape, clip: Rect, screen: Rect, grounds: &[Rect]) -> Option<Seen> {
    let words = text.galley.text().trim().to_owned();
    let first = text.galley.job.sections.first().map_or(Color32::WHITE, |it| it.format.color);
    let own = if first == Color32::PLACEHOLDER { text.fallback_color } else { first };
    let color = text.override_text_color.unwrap_or(own);
    let opacity = f32::from(color.a()) * text.opacity_factor;
    if words.is_empty() || opacity < f32::from(FAINT) || text.angle != 0.0 {
        return None;
    }
    let whole = text.galley.mesh_bounds.translate(text.pos.to_vec2());
    let rect = whole.intersect(clip);
    if !(rect.width() > 0.0 && rect.height() > 0.0 && screen.intersects(rect)) {
        // Beyond the window altogether: a thing of the world, or a row of a list.
        let gone = !screen.intersects(whole) && clip.contains_rect(screen.shrink(2.0));
        return gone.then_some(Seen { words, rect: whole, whole, moves: false, has_ground: true });
    }
    let has_ground = grounds.iter().any(|ground| ground.expand(SLACK).contains_rect(rect));
    let moves = !clip.contains_rect(screen.shrink(2.0));
    Some(Seen { words, rect, whole, moves, has_ground })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui_macroquad::egui::{Context, LayerId, RawInput, pos2};
    use phaselock_ui::layout::claimed;
    use phaselock_ui::prelude::*;

    /// Problems of what is painted in a window of 400 to 300 points.
    fn of(paint: impl Fn(&Painter)) -> Vec<String> {
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0));
        let (context, mut found) = (Context::default(), Vec::new());
        // Fonts are known from the second frame on.
        for _ in 0..2 {
            let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let output = context.run(input, |context| {
                paint(&context.layer_painter(LayerId::background()));
            });
            found = problems(&output.shapes, screen, &claimed(&context).1);
        }
        found
    }

    fn over(painter: &Painter, x: f32, y: f32, words: &str) {
        text_over(painter, pos2(x, y), Align2::LEFT_TOP, words, (14.0, palette::TEXT));
    }

    fn label(painter: &Painter, x: f32, y: f32, name: &str) {
        let lettering = (13.0, palette::TEXT);
        name_tag(painter, pos2(x, y), Align2::LEFT_TOP, (name, false), lettering);
    }

    #[test]
    fn planted_overlaps_are_found() {
        let found = of(|painter| {
            over(painter, 50.0, 50.0, "one text");
            over(painter, 80.0, 58.0, "another");
            over(painter, 50.0, 150.0, "apart");
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("\"one text\" and \"another\" overlap"), "{found:?}");
    }

    #[test]
    fn planted_texts_beyond_the_window_are_found() {
        let found = of(|painter| {
            over(painter, 380.0, 50.0, "too long");
            over(painter, 50.0, 305.0, "too low");
        });
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|it| it.contains("leaves the window")), "{found:?}");
    }

    #[test]
    fn planted_texts_without_a_ground_are_found_and_hidden_ones_are_not() {
        let found = of(|painter| {
            text(painter, pos2(50.0, 50.0), Align2::LEFT_TOP, "bare", (14.0, palette::TEXT));
            text(painter, pos2(200.0, 50.0), Align2::LEFT_TOP, "hidden", (14.0, palette::TEXT));
            let card = Rect::from_min_size(pos2(190.0, 40.0), vec2(100.0, 60.0));
            painter.rect_filled(card, 0.0, palette::PANEL);
            text(painter, pos2(202.0, 52.0), Align2::LEFT_TOP, "on a card", (14.0, palette::TEXT));
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("\"bare\" has no ground"), "{found:?}");
    }

    #[test]
    fn labels_may_overlap_each_other_and_nothing_else() {
        let found = of(|painter| {
            label(painter, 60.0, 60.0, "Ada");
            label(painter, 64.0, 64.0, "Bob");
        });
        assert_eq!(found, Vec::<String>::new());
        let found = of(|painter| {
            label(painter, 60.0, 60.0, "Ada");
            over(painter, 64.0, 64.0, "unclaimed");
        });
        assert_eq!(found.len(), 1, "{found:?}");
        let found = of(|painter| {
            let at = (pos2(64.0, 64.0), Align2::LEFT_TOP);
            text_block(
                painter,
                (Item::Feed, &[Way::Down]),
                at,
                &[("claimed", 14.0, palette::TEXT)],
            );
            label(painter, 60.0, 60.0, "Ada");
        });
        assert_eq!(found, Vec::<String>::new(), "the label gives way");
    }
}

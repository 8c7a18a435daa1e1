//! Chat: the last lines, and the line that the player writes.

use std::collections::VecDeque;

use egui_macroquad::egui::{
    Align2, Area, Context, FontId, Frame, Id, Key, Margin, Order, Painter, Stroke, TextEdit, Vec2,
    vec2,
};
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::time::{LocalTime, Micros};

use super::paint::fade;
use super::palette;

/// Lines that are kept.
const LINES_MAX: usize = 8;
/// Time for which a line is shown, and the last part of it in which it fades.
const SHOWN: Micros = Micros::from_ms(10_000);
const FADE_SECS: f64 = 1.0;
const WIDTH: f32 = 420.0;
/// Lower left corner of the lines, from the window's: above what games show there.
const CORNER: Vec2 = vec2(18.0, -178.0);

#[derive(Debug)]
struct Line {
    from: Option<String>,
    text: String,
    came: LocalTime,
}

/// The chat of a session.
#[derive(Debug, Default)]
pub(crate) struct Chat {
    lines: VecDeque<Line>,
    /// The line that the player writes, while it is open.
    draft: Option<String>,
    /// The key that opened it may still be in this frame's input.
    is_fresh: bool,
}

impl Chat {
    /// Adds a line of a player, or of the host (none).
    pub(crate) fn add(&mut self, from: Option<String>, text: String, now: LocalTime) {
        self.lines.push_back(Line { from, text, came: now });
        if self.lines.len() > LINES_MAX {
            self.lines.pop_front();
        }
    }

    /// True while the player writes.
    pub(crate) fn is_open(&self) -> bool {
        self.draft.is_some()
    }

    /// Opens a line to write.
    pub(crate) fn open(&mut self) {
        self.draft.get_or_insert_default();
        self.is_fresh = true;
    }

    /// Closes it, and drops what was written.
    pub(crate) fn close(&mut self) {
        self.draft = None;
    }

    /// Draws the lines, and the one that is written. Returns that when it is finished.
    pub(crate) fn draw(
        &mut self,
        ctx: &Context,
        painter: &Painter,
        now: LocalTime,
    ) -> Option<String> {
        self.draw_lines(painter, now);
        let draft = self.draft.as_mut()?;
        let is_fresh = std::mem::take(&mut self.is_fresh);
        let finished = !is_fresh && ctx.input(|input| input.key_pressed(Key::Enter));
        Area::new(Id::new("chat"))
            .order(Order::Foreground)
            .anchor(Align2::LEFT_BOTTOM, CORNER + vec2(0.0, 42.0))
            .show(ctx, |ui| {
                let frame = Frame::new()
                    .fill(fade(palette::CARD, 0.95))
                    .stroke(Stroke::new(1.0, palette::EDGE))
                    .corner_radius(6)
                    .inner_margin(Margin::symmetric(10, 6));
                frame.show(ui, |ui| {
                    let edit = TextEdit::singleline(draft)
                        .char_limit(TEXT_BYTES_MAX)
                        .desired_width(WIDTH)
                        .frame(false)
                        .hint_text("Say to all; Enter sends, Esc closes");
                    ui.add(edit).request_focus();
                });
            });
        if !finished {
            return None;
        }
        self.draft.take().filter(|line| !line.trim().is_empty())
    }

    fn draw_lines(&self, painter: &Painter, now: LocalTime) {
        let mut at = painter.clip_rect().left_bottom() + CORNER;
        for line in self.lines.iter().rev() {
            let left = (SHOWN - (now - line.came)).as_secs();
            let strength = if self.is_open() { 1.0 } else { (left / FADE_SECS).clamp(0.0, 1.0) };
            if strength <= 0.0 {
                break;
            }
            let (words, color) = match &line.from {
                Some(from) => (format!("{from}: {}", line.text), palette::TEXT),
                None => (line.text.clone(), palette::WARN),
            };
            let color = fade(color, strength as f32);
            let galley = painter.layout(words, FontId::proportional(15.0), color, WIDTH);
            at.y -= galley.size().y + 4.0;
            let back = galley.rect.translate(at.to_vec2()).expand2(vec2(6.0, 2.0));
            painter.rect_filled(back, 4.0, fade(palette::VOID, 0.45 * strength as f32));
            painter.galley(at, galley, color);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_keeps_the_newest_lines() {
        let mut chat = Chat::default();
        for number in 0..20 {
            chat.add(None, number.to_string(), LocalTime(0));
        }
        let texts: Vec<_> = chat.lines.iter().map(|line| &*line.text).collect();
        assert_eq!(texts, ["12", "13", "14", "15", "16", "17", "18", "19"]);
        chat.open();
        assert!(chat.is_open());
        chat.close();
        assert!(!chat.is_open());
    }
}

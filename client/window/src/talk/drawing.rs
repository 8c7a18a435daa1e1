//! The chat on the screen: lines with a ground behind each, and the line being typed.

use egui_macroquad::egui::text::{CCursor, CCursorRange, LayoutJob, TextFormat, TextWrapping};
use egui_macroquad::egui::text_edit::TextEditState;
use egui_macroquad::egui::{Area, Context, FontId, Id, Key, Margin, Modifiers, Order, TextEdit};
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::talk::Audience;

use super::draft::Draft;
use super::lines::{Kind, Line, Lines};
use phaselock_ui::prelude::*;

/// Time for which a line is shown while no line is typed, and the last part of it in which it
/// fades.
const SHOWN: Micros = Micros::from_ms(10_000);
const FADE_SECS: f64 = 1.0;
/// Maximum width of a line in points, and the share of the window that it may take.
const WIDTH: f32 = 420.0;
const WIDTH_PART: f32 = 0.46;
/// Maximum number of rows of one line; the rest is left out.
const ROWS_MAX: usize = 4;
/// Shares of the window's height that lines may take, while no line is typed and while one is.
const HEIGHT_PART: f32 = 0.22;
const HEIGHT_PART_OPEN: f32 = 0.5;
/// Number of lines that PageUp scrolls.
const PAGE: isize = 8;
/// Lower left corner of the lines, relative to the window's: above what games show there, and above
/// the line being typed.
const CORNER: egui_macroquad::egui::Vec2 = vec2(18.0, -206.0);
/// Space in points for the line being typed, in letters of the usual size.
const DRAFT: f32 = 40.0;

/// Lower left corner of the lines.
pub(super) fn corner(painter: &Painter) -> Pos2 {
    let usual = painter.clip_rect().left_bottom() + CORNER;
    let figures = layout::taken_by(painter, Item::Figures);
    let above = figures.map_or(usual.y, |it| it.top() - DRAFT * letters(painter.ctx()) - 6.0);
    pos2(usual.x, usual.y.min(above))
}

/// Width of a line in this window.
fn width(screen: Rect) -> f32 {
    WIDTH.min(screen.width() * WIDTH_PART)
}

/// Draws the lines; the oldest that do not fit are left out.
pub(super) fn draw_lines(painter: &Painter, lines: &Lines, now: LocalTime, is_open: bool) {
    let screen = painter.clip_rect();
    let part = if is_open { HEIGHT_PART_OPEN } else { HEIGHT_PART };
    let bottom = corner(painter);
    let top = (bottom.y - screen.height() * part).max(screen.top() + 8.0);
    let room = Rect::from_min_max(
        pos2(screen.left(), top),
        pos2(bottom.x + width(screen) + 12.0, bottom.y),
    );
    // Next to a panel on the left, or below it if there is no space.
    let room = layout::between(painter, Item::Talk, room);
    let mut at = pos2(bottom.x, room.bottom().min(bottom.y));
    if lines.scrolled() > 0 {
        let count = lines.scrolled().to_string();
        let more = fill("{count} newer lines below", &[("count", &count)]);
        at.y -= 18.0;
        text_over(painter, at, Align2::LEFT_TOP, &more, (12.0, palette::TEXT_SOFT));
    }
    for line in lines.shown() {
        let left = (SHOWN - (now - line.came)).as_secs();
        let strength = if is_open { 1.0 } else { (left / FADE_SECS).clamp(0.0, 1.0) as f32 };
        if strength <= 0.0 {
            break;
        }
        let galley = painter.layout_job(job(line, strength, width(screen)));
        at.y -= galley.size().y + 4.0;
        if at.y < room.top() {
            break;
        }
        let back = around(galley.rect.translate(at.to_vec2()));
        layout::claim(painter, Item::Talk, back);
        ground(painter, back, strength);
        painter.galley(at, galley, palette::TEXT);
    }
}

/// A line's words, colours and breaks.
fn job(line: &Line, strength: f32, width: f32) -> LayoutJob {
    let mut job = LayoutJob {
        wrap: TextWrapping { max_width: width, max_rows: ROWS_MAX, ..TextWrapping::default() },
        ..LayoutJob::default()
    };
    let mut add = |words: &str, size: f32, color: Color32| {
        let font_id = FontId::proportional(size);
        let color = fade(color, strength);
        job.append(words, 0.0, TextFormat { font_id, color, ..TextFormat::default() });
    };
    if line.kind == Kind::Side {
        add(&format!("[{}] ", tr("side")), 13.0, palette::GOOD);
    }
    if let Some((name, color)) = &line.from {
        add(&format!("{name}: "), 15.0, palette::player_color(*color));
    }
    let color = match line.kind {
        Kind::All => palette::TEXT,
        Kind::Side => mix(palette::TEXT, palette::GOOD, 0.35),
        Kind::System => palette::WARN,
        Kind::Join | Kind::Leave => palette::TEXT_SOFT,
    };
    add(&line.text, 15.0, color);
    if line.more > 0 {
        let count = line.more.to_string();
        let more = fill("  +{count} more", &[("count", &count)]);
        add(&more, 13.0, palette::TEXT_FAINT);
    }
    job
}

/// Draws the line being typed. Returns true when it is finished.
pub(super) fn draw_draft(
    ctx: &Context,
    draft: &mut Draft,
    lines: &mut Lines,
    words: (&[&str], &[&str]),
) -> bool {
    let id = Id::new("talk line");
    let struck = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let before = draft.text.clone();
    if struck(Key::Tab) {
        draft.complete(words.0, words.1);
    }
    if struck(Key::ArrowUp) {
        draft.up();
    }
    if struck(Key::ArrowDown) {
        draft.down();
    }
    if struck(Key::PageUp) {
        lines.scroll(PAGE);
    }
    if struck(Key::PageDown) {
        lines.scroll(-PAGE);
    }
    let turned = ctx.input(|input| input.smooth_scroll_delta.y);
    if turned.abs() > 1.0 {
        lines.scroll(if turned > 0.0 { 2 } else { -2 });
    }
    if draft.text != before {
        let end = CCursorRange::one(CCursor::new(draft.text.chars().count()));
        let mut state = TextEditState::load(ctx, id).unwrap_or_default();
        state.cursor.set_char_range(Some(end));
        state.store(ctx, id);
    }
    let finished = ctx.input(|input| input.key_pressed(Key::Enter));
    let hint = match draft.to {
        Audience::All => tr("Say to all; Enter sends, Esc closes"),
        Audience::Side => tr("Say to your side; Enter sends, Esc closes"),
    };
    let edge = match draft.to {
        Audience::All => palette::EDGE,
        Audience::Side => palette::GOOD,
    };
    let (wide, painter) = (width(ctx.screen_rect()), ctx.debug_painter());
    let shown = Area::new(Id::new("talk"))
        .order(Order::Foreground)
        .pivot(Align2::LEFT_BOTTOM)
        .fixed_pos(corner(&painter) + vec2(0.0, DRAFT * letters(ctx)))
        .show(ctx, |ui| {
            let frame = egui_macroquad::egui::Frame::new()
                .fill(fade(palette::CARD, 0.95))
                .stroke(Stroke::new(1.0, edge))
                .corner_radius(6)
                .inner_margin(Margin::symmetric(10, 6));
            frame.show(ui, |ui| {
                let edit = TextEdit::singleline(&mut draft.text)
                    .id(id)
                    .char_limit(TEXT_BYTES_MAX)
                    .desired_width(wide)
                    .frame(false)
                    .hint_text(hint);
                ui.add(edit).request_focus();
            });
        });
    layout::claim(&painter, Item::Panel, shown.response.rect);
    finished
}

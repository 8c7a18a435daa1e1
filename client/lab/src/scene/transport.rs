//! The laboratory's time controls: play, pause, step, slow motion, and position.

use egui_macroquad::egui::{
    Align, Button, Context, Key, Layout, Modifiers, Response, RichText, Sense, Ui,
};

use super::against::Against;
use super::errors::Errors;
use super::model::Model;
use super::panel::choose;
use crate::track::Fate;
use phaselock_ui::prelude::*;

const SPEEDS: [(f64, &str); 4] = [(1.0, "1×"), (0.5, "1/2"), (0.25, "1/4"), (0.1, "1/10")];
/// Width in points below which only the most important buttons are shown.
const ROOMY: f32 = 560.0;
const BAR_HEIGHT: f32 = 62.0;
/// Maximum number of update marks on the bar: more would fill it.
const TICKS_MAX: usize = 300;

/// Handles keys. Returns whether an export was asked for.
pub(super) fn keys(ctx: &Context, model: &mut Model) -> bool {
    let pressed =
        |key: Key| ctx.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let count = |keys: [Key; 2]| keys.map(pressed).iter().sum::<usize>() as isize;
    if pressed(Key::Space) % 2 == 1 {
        model.playing = !model.playing;
    }
    let by = count([Key::ArrowRight, Key::Period]) - count([Key::ArrowLeft, Key::Comma]);
    if by != 0 {
        model.step(by);
    }
    if pressed(Key::Home) > 0 {
        model.seek(0.0);
    }
    for (key, (speed, _)) in [Key::Num1, Key::Num2, Key::Num3, Key::Num4].into_iter().zip(SPEEDS) {
        if pressed(key) > 0 {
            model.speed = speed;
        }
    }
    pressed(Key::E) > 0
}

/// Draws the transport. Returns whether an export was asked for.
pub(super) fn draw(
    ui: &mut Ui,
    model: &mut Model,
    errors: &mut Errors,
    how: (Against, Option<usize>),
) -> bool {
    bar(ui, model, errors, how);
    ui.add_space(5.0);
    let mut export = false;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        let roomy = ui.available_width() >= ROOMY;
        if roomy && button(ui, "⏮", 34.0).on_hover_text(tr("To the beginning (Home)")).clicked() {
            model.seek(0.0);
        }
        if button(ui, "⏴", 34.0).on_hover_text(tr("Previous frame (←)")).clicked() {
            model.step(-1);
        }
        let (sign, what) =
            if model.playing { ("⏸", tr("Pause (Space)")) } else { ("▶", tr("Play (Space)")) };
        if button(ui, sign, 52.0).on_hover_text(what).clicked() {
            model.playing = !model.playing;
        }
        if button(ui, "⏵", 34.0).on_hover_text(tr("Next frame (→)")).clicked() {
            model.step(1);
        }
        ui.add_space(10.0);
        for (speed, words) in SPEEDS {
            choose(ui, &mut model.speed, speed, words).on_hover_text(tr("Playback speed"));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let hint = tr("Saves the picture and the numbers to new files (E)");
            export = button(ui, tr("Export"), 72.0).on_hover_text(hint).clicked();
            if !roomy {
                return;
            }
            ui.add_space(6.0);
            let [at, all] = [model.head, model.secs].map(|secs| format!("{secs:.2}"));
            let words = fill("{at} of {all} s", &[("at", &at), ("all", &all)]);
            let letters = dense(ui.ctx(), 13.0);
            ui.label(RichText::new(words).monospace().size(letters).color(palette::TEXT_SOFT));
        });
    });
    export
}

fn button(ui: &mut Ui, words: &str, width: f32) -> Response {
    let words = RichText::new(words).size(14.5).color(palette::TEXT);
    ui.add(Button::new(words).min_size(vec2(width, 28.0)))
}

/// Draws the time, the updates and the errors.
fn bar(ui: &mut Ui, model: &mut Model, errors: &mut Errors, how: (Against, Option<usize>)) {
    let size = vec2(ui.available_width(), BAR_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let secs = model.secs.max(1e-6);
    if let Some(at) = response.interact_pointer_pos() {
        // Playback continues where the pointer was released, if it was playing.
        model.seek(f64::from((at.x - rect.left()) / rect.width()) * secs);
    }
    let x = |time: f64| rect.left() + (time / secs) as f32 * rect.width();
    let painter = ui.painter();
    let edge = Stroke::new(1.0, palette::EDGE);
    painter.rect(rect, 4.0, palette::FIELD, edge, StrokeKind::Outside);
    let played = rect.with_max_x(x(model.head).max(rect.left()));
    painter.rect_filled(played, 4.0, fade(palette::OWN, 0.13));
    // Not scored: everything settles first.
    let warm = rect.with_max_x(x(model.carried.warm_up));
    painter.rect_filled(warm, 4.0, fade(palette::VOID, 0.6));
    let came = |fate: Fate| if let Fate::Arrives(at) = fate { Some(at) } else { None };
    if model.updates.len() <= TICKS_MAX {
        for at in model.updates.iter().filter_map(|update| came(update.fate)) {
            let strength = if at <= model.head { 0.8 } else { 0.35 };
            let ends = rect.bottom() - 5.0..=rect.bottom();
            painter.vline(x(at), ends, Stroke::new(1.0, fade(palette::WARN, strength)));
        }
    }
    let plot = Rect::from_min_max(rect.min + vec2(0.0, 3.0), rect.max - vec2(0.0, 6.0));
    errors.draw(&painter.with_clip_rect(rect), plot, model, how);
    let at = x(model.head).clamp(rect.left(), rect.right());
    painter.vline(at, rect.y_range(), Stroke::new(2.0, palette::TEXT));
    let hot = response.hovered() || response.dragged();
    let radius = if hot { 8.0 } else { 7.0 };
    painter.circle(pos2(at, rect.top()), radius, palette::TEXT, Stroke::new(2.0, palette::VOID));
}

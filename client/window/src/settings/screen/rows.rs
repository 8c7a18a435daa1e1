//! Rows of the settings: a label and its content.

use egui_macroquad::egui::{Checkbox, RichText, Ui};
use phaselock_ui::palette;

/// Width of the labels, in points.
const LABEL_WIDTH: f32 = 210.0;

/// Adds a label and its content, on several lines if one is too narrow.
pub(super) fn row(ui: &mut Ui, label: &str, content: impl FnOnce(&mut Ui)) {
    ui.horizontal_wrapped(|ui| {
        let left = ui.cursor().left();
        ui.label(RichText::new(label).size(15.0).color(palette::TEXT_SOFT));
        ui.add_space((left + LABEL_WIDTH - ui.cursor().left()).max(0.0));
        content(ui);
    });
}

pub(super) fn switch(ui: &mut Ui, label: &str, value: &mut bool) {
    row(ui, label, |ui| {
        ui.add(Checkbox::without_text(value));
    });
}

pub(super) fn note(ui: &mut Ui, words: &str) {
    ui.label(RichText::new(words).size(13.0).color(palette::TEXT_FAINT));
}

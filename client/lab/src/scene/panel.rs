//! The laboratory's side panel: path, network and rates.

use crate::formulas::Formula;
use egui_macroquad::egui::{
    Align, Button, ComboBox, Layout, Response, RichText, Sense, Slider, Ui,
};
use phaselock::link::PROFILES;

use super::model::{LabPath, Model, Origin};
use super::settings::{
    FRAME_HZ, HISTORY_MAX, INTERVAL_MS, JITTER_MS_MAX, LATENCY_MS_MAX, LOSS_PERCENT_MAX,
    LabSettings, Net,
};
use phaselock_ui::prelude::*;

/// Widths of a slider's name and of its value, in points.
const NAME_WIDTH: f32 = 80.0;
const VALUE_WIDTH: f32 = 104.0;
const ROW_HEIGHT: f32 = 21.0;

pub(super) fn heading(ui: &mut Ui, title: &str) {
    ui.add_space(5.0);
    ui.label(RichText::new(title).size(12.0).color(palette::TEXT_FAINT));
}

pub(super) fn chip(ui: &mut Ui, chosen: bool, words: &str) -> Response {
    ui.add(chip_of(ui, chosen, words))
}

/// Draws a chip for a value, and chooses it when clicked.
pub(super) fn choose<T: PartialEq>(ui: &mut Ui, chosen: &mut T, value: T, words: &str) -> Response {
    let response = chip(ui, *chosen == value, words);
    if response.clicked() {
        *chosen = value;
    }
    response
}

/// Draws a list of all values with their titles and sources, in a part of the row.
pub(super) fn pick<T: Copy + PartialEq>(
    ui: &mut Ui,
    (id, width): (&str, f32),
    chosen: &mut T,
    all: &[T],
    words: fn(T) -> [&'static str; 2],
) {
    // A list is cut off at the available space, so it is given its own.
    ui.allocate_ui(vec2(width, ui.spacing().interact_size.y), |ui| {
        let title = RichText::new(words(*chosen)[0]).size(13.0);
        let list = ComboBox::from_id_salt(id).width(width).height(320.0).truncate();
        list.selected_text(title).show_ui(ui, |ui| {
            for one in all {
                let [title, source] = words(*one);
                ui.selectable_value(chosen, *one, title).on_hover_text(source);
            }
        });
    });
}

fn chip_of(ui: &Ui, chosen: bool, words: &str) -> Button<'static> {
    let (fill, edge, ink) = if chosen {
        (fade(palette::OWN, 0.3), palette::OWN, palette::TEXT)
    } else {
        (palette::BUTTON, palette::EDGE, palette::TEXT_SOFT)
    };
    let words = RichText::new(words).size(dense(ui.ctx(), 13.5)).color(ink);
    let button = Button::new(words).fill(fill).stroke(Stroke::new(1.0, edge));
    button.min_size(vec2(28.0, 24.0))
}

/// Draws paths, networks and rates.
pub(super) fn draw(ui: &mut Ui, model: &mut Model) {
    ui.spacing_mut().item_spacing = vec2(4.0, 5.0);
    heading(ui, tr("PATH"));
    ui.horizontal_wrapped(|ui| paths(ui, model));
    let mut controls = model.controls.clone();
    ui.horizontal(|ui| {
        ui.vertical(|ui| heading(ui, tr("NETWORK")));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let words = RichText::new(tr("🎲 reroll")).size(12.0).color(palette::TEXT_SOFT);
            let luck = ui.add(Button::new(words).frame(false));
            if luck.on_hover_text(tr("Picks other updates to be late or lost.")).clicked() {
                controls.seed = controls.seed % 1_000_000 + 1;
            }
        });
    });
    ui.horizontal_wrapped(|ui| networks(ui, &mut controls));
    ui.add_space(2.0);
    sliders(ui, &mut controls);
    model.set_controls(controls);
}

fn paths(ui: &mut Ui, model: &mut Model) {
    for shape in Formula::ALL {
        let chosen = model.path.origin == Origin::Formula(*shape);
        if chip(ui, chosen, shape.title()).clicked() {
            model.choose(LabPath::formula(*shape));
        }
    }
    for path in [&model.file, &model.drawn].into_iter().flatten().cloned().collect::<Vec<_>>() {
        let chosen = model.path.origin == path.origin;
        let response = chip(ui, chosen, &cut(&path.title, 24)).on_hover_text(&path.title);
        if response.clicked() {
            model.choose(path);
        }
    }
    if model.drawn.is_none() {
        let yours = chip_of(ui, false, tr("Yours"));
        let yours = ui.add_enabled(false, yours);
        yours.on_disabled_hover_text(tr("Draw one with the mouse."));
    }
}

fn cut(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    text.chars().take(chars - 1).chain(['…']).collect()
}

fn networks(ui: &mut Ui, controls: &mut LabSettings) {
    for (index, (name, what)) in PROFILES.iter().enumerate() {
        let net = Net::Profile(index);
        choose(ui, &mut controls.net, net, name).on_hover_text(*what);
    }
    if let Net::Given(conditions) = &controls.net {
        let text = conditions.to_string();
        let short = cut(&text, 28);
        chip(ui, true, &short).on_hover_text(text);
    }
    if chip(ui, controls.net == Net::Own, tr("Own"))
        .on_hover_text(tr("Set with the sliders."))
        .clicked()
    {
        controls.set_sliders(controls.as_sliders().map(f64::round));
    }
}

fn sliders(ui: &mut Ui, controls: &mut LabSettings) {
    let own = controls.net == Net::Own;
    let mut three = controls.as_sliders();
    let [latency, jitter, loss] = &mut three;
    let words = format!("{latency:.0} ms");
    let range = Slider::new(latency, 0.0..=LATENCY_MS_MAX).step_by(5.0);
    let mut moved =
        slider(ui, tr("Latency"), tr("Minimum delay of an update."), (words, own), range);
    let words = fill("+ 0 to {ms} ms", &[("ms", &format!("{jitter:.0}"))]);
    let range = Slider::new(jitter, 0.0..=JITTER_MS_MAX).step_by(5.0);
    let what = tr("Maximum extra delay of an update; updates can overtake each other.");
    moved |= slider(ui, tr("Jitter"), what, (words, own), range);
    let words = format!("{} %", (*loss * 10.0).round() / 10.0);
    let range = Slider::new(loss, 0.0..=LOSS_PERCENT_MAX).step_by(1.0);
    moved |= slider(ui, tr("Loss"), tr("Share of the updates that are lost."), (words, own), range);
    if moved {
        controls.set_sliders(three);
    }
    let ms = &mut controls.interval_ms;
    let words = format!("{ms:.0} ms, {} Hz", short(1e3 / *ms));
    let range = Slider::new(ms, INTERVAL_MS.0..=INTERVAL_MS.1).logarithmic(true).step_by(1.0);
    slider(ui, tr("Interval"), tr("Time from one update to the next."), (words, true), range);
    let words = match controls.history {
        0 => tr("none").into(),
        1 => tr("last interval").into(),
        count => fill("{count} intervals", &[("count", &count.to_string())]),
    };
    let what = tr("Number of past intervals between arrivals that are averaged to predict the \
                   next update. With none, the sender's own interval is used.");
    let range = Slider::new(&mut controls.history, 0..=HISTORY_MAX);
    slider(ui, tr("History"), what, (words, true), range);
    let hz = &mut controls.frame_hz;
    let words = format!("{hz:.0} Hz");
    let range = Slider::new(hz, FRAME_HZ.0..=FRAME_HZ.1).logarithmic(true).step_by(1.0);
    slider(ui, tr("Frame rate"), tr("How often the screen is redrawn."), (words, true), range);
}

fn short(hz: f64) -> String {
    if hz < 10.0 { format!("{hz:.1}") } else { format!("{hz:.0}") }
}

/// Draws a slider between its name and its value. Returns whether it was moved.
fn slider(
    ui: &mut Ui,
    name: &str,
    what: &str,
    (value, strong): (String, bool),
    slider: Slider<'_>,
) -> bool {
    let row = ui.horizontal(|ui| {
        let left = ui.cursor().left();
        let width = ui.available_width();
        ui.set_height(ROW_HEIGHT);
        let name = RichText::new(name).size(13.5).color(palette::TEXT_SOFT);
        ui.label(name).on_hover_text(what);
        ui.add_space(left + NAME_WIDTH - ui.cursor().left());
        ui.spacing_mut().slider_width = (width - NAME_WIDTH - VALUE_WIDTH - 12.0).max(40.0);
        let mut slider = ui.add(slider.show_value(false));
        if !slider.is_pointer_button_down_on() {
            // It would cover the row below.
            slider = slider.on_hover_text(what);
        }
        let ink = if strong { palette::TEXT } else { palette::TEXT_FAINT };
        let (rect, _) = ui.allocate_exact_size(vec2(VALUE_WIDTH, ROW_HEIGHT), Sense::hover());
        text(ui.painter(), rect.left_center(), Align2::LEFT_CENTER, &value, (13.5, ink));
        // A slider that snaps to its steps by itself was not moved.
        slider.changed() && (slider.is_pointer_button_down_on() || slider.has_focus())
    });
    row.inner
}

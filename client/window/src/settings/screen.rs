//! The settings in the window, with a tab for each kind.

mod bindings;
mod dress;
mod rows;

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use egui_macroquad::egui::{
    Align2, Area, ComboBox, Context, FontId, Id, LayerId, Order, RichText, ScrollArea, Slider,
    TextEdit, Ui, vec2,
};

use self::rows::{note, row, switch};
use phaselock::client::GhostChoice;
use phaselock::limits::NAME_BYTES_MAX;
use phaselock::wire::text::clip;

use super::keys::INPUT_DELAY_MAX;
use super::model::Settings;
use super::store::Store;
use super::values::{FrameCap, Language};
use crate::registry::Views;
use crate::settings::languages::{self, Languages};
use crate::setup::default_name;
use phaselock_ui::bindings::Pad;
use phaselock_ui::color_vision::Palette;
use phaselock_ui::controls::Controls;
use phaselock_ui::gamepad::{Pads, Rumble};
use phaselock_ui::look::is_full;
use phaselock_ui::paint::fade;
use phaselock_ui::parts::{ACTION_HEIGHT, NAME_CHARS_MAX, action, card_frame, name_note};
use phaselock_ui::words::{fill, tr};
use phaselock_ui::{actions, palette};

/// Width and height of the content, in points: they fit into the smallest window.
const SIZE: (f32, f32) = (640.0, 400.0);
/// Height of the frame, of the button below the content and of a gap around, in points.
const AROUND: f32 = 2.0 * 22.0 + ACTION_HEIGHT + 2.0 * 9.0 + 16.0;
/// Length of the rumble that demonstrates its strength.
const TRIAL: Duration = Duration::from_millis(250);
/// Frame caps offered.
const CAPS: [u16; 6] = [30, 60, 90, 120, 144, 240];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tab {
    #[default]
    Player,
    Controls,
    Sound,
    Display,
    Language,
}

impl Tab {
    pub(crate) const ALL: [Self; 5] =
        [Self::Player, Self::Controls, Self::Sound, Self::Display, Self::Language];

    fn title(self) -> &'static str {
        match self {
            Self::Player => tr("Player"),
            Self::Controls => tr("Controls"),
            Self::Sound => tr("Sound"),
            Self::Display => tr("Display"),
            Self::Language => tr("Language"),
        }
    }
}

/// What the screen shows and changes.
pub(crate) struct Env<'a> {
    pub(crate) store: &'a mut Store,
    pub(crate) views: &'a Views,
    /// The player's keys in this frame.
    pub(crate) controls: &'a Controls,
    pub(crate) gamepads: &'a dyn Pads,
    pub(crate) languages: &'a Languages,
}

/// The open screen.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    tab: Tab,
    bindings: bindings::Page,
    /// The name as typed; it goes into the settings once it is valid.
    name: Option<String>,
    /// Available languages, once requested: codes and titles.
    languages: Option<Vec<(String, String)>>,
}

impl Screen {
    /// Creates the screen with a tab open.
    #[cfg(test)]
    pub(crate) fn at(tab: Tab) -> Self {
        Self { tab, ..Self::default() }
    }

    /// Creates the page of bindings while it waits for a press.
    #[cfg(test)]
    pub(crate) fn waiting() -> Self {
        Self { tab: Tab::Controls, bindings: bindings::Page::waiting(), ..Self::default() }
    }

    /// Whether it waits for a press to bind.
    pub(crate) fn waits(&self) -> bool {
        self.bindings.waits()
    }

    /// Draws it. Returns true once the player is done.
    pub(crate) fn draw(&mut self, ctx: &Context, env: Env<'_>) -> bool {
        let Env { store, views, controls, gamepads, languages } = env;
        let veil = ctx.layer_painter(LayerId::new(Order::Middle, Id::new("settings veil")));
        veil.rect_filled(ctx.screen_rect(), 0.0, fade(palette::VOID, 0.7));
        let back = controls.pressed(&actions::MENU) || controls.pad_pressed(Pad::B);
        let mut done = back && !self.waits();
        let area = Area::new(Id::new("settings")).order(Order::Foreground);
        area.anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0)).show(ctx, |ui| {
            card_frame(0.98, 22).show(ui, |ui| {
                ui.set_width(SIZE.0.min(ctx.screen_rect().width() - 2.0 * 22.0 - 16.0));
                ui.spacing_mut().item_spacing = vec2(10.0, 9.0);
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new(tr("Settings")).size(24.0));
                    ui.add_space(18.0);
                    for tab in Tab::ALL {
                        let title = RichText::new(tab.title()).size(16.0);
                        ui.selectable_value(&mut self.tab, tab, title);
                    }
                });
                ui.separator();
                let around = ui.min_rect().height() + AROUND;
                let height = SIZE.1.min(ctx.screen_rect().height() - around);
                let scroll = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
                // Each page scrolls by itself.
                let scroll = scroll.id_salt(self.tab.title()).auto_shrink(false);
                scroll.show(ui, |ui| {
                    let problems = store.problems().iter().map(|it| &**it);
                    for problem in problems.chain(languages.problem()) {
                        ui.label(RichText::new(problem).size(13.0).color(palette::WARN));
                    }
                    let folder = store.languages();
                    let settings = &mut store.settings;
                    match self.tab {
                        Tab::Player => self.player(ui, settings),
                        Tab::Controls => {
                            gamepad(ui, settings, gamepads);
                            self.bindings.draw(ui, settings, views, controls);
                        }
                        Tab::Sound => sound(ui, settings),
                        Tab::Display => display(ui, settings),
                        Tab::Language => {
                            let folder = folder.as_deref();
                            // Files are read once each time the settings are opened.
                            let titles = &mut self.languages;
                            let titles = titles.get_or_insert_with(|| languages::titles(folder));
                            language(ui, settings, folder, titles);
                        }
                    }
                });
                done |= action(ui, tr("Done"), true).clicked();
            });
        });
        done
    }

    fn player(&mut self, ui: &mut Ui, settings: &mut Settings) {
        let saver = settings.minutes_saver();
        let player = &mut settings.player;
        row(ui, tr("Name"), |ui| {
            let name = self.name.get_or_insert_with(|| player.name.clone());
            let hint = RichText::new(default_name()).color(palette::TEXT_FAINT);
            let edit = TextEdit::singleline(name).char_limit(NAME_CHARS_MAX).hint_text(hint);
            if ui.add(edit.font(FontId::proportional(16.0)).desired_width(260.0)).changed() {
                player.take_name(name);
            }
        });
        name_note(ui, self.name.as_deref().unwrap_or_default());
        dress::choose(ui, player);
        note(
            ui,
            tr("This is how others see you in every game. With ?, the server picks your \
                     colour."),
        );
        row(ui, tr("Input delay"), |ui| {
            ui.add(Slider::new(&mut player.input_delay, 0..=INPUT_DELAY_MAX).integer());
        });
        note(
            ui,
            tr("In ticks. At 0, your player reacts at once. With a higher delay, you are \
                corrected less often, and others see sooner what you do."),
        );
        row(ui, tr("Ghost"), |ui| ghost(ui, &mut player.ghost));
        note(
            ui,
            tr("In games against the clock you race the run that set a record on the server: \
                yours, the best, or that of the player with this name."),
        );
        switch(ui, tr("Keep the last ten minutes"), &mut player.keep_minutes);
        note(
            ui,
            &fill(
                "In a game, {key} saves what you saw and read in that time as a recording, on this \
                 computer only.",
                &[("key", &saver)],
            ),
        );
    }
}

/// Chooses the ghost to race.
fn ghost(ui: &mut Ui, choice: &mut GhostChoice) {
    for (value, words) in [
        (GhostChoice::Off, tr("No ghost")),
        (GhostChoice::Own, tr("Mine")),
        (GhostChoice::Best, tr("The best")),
    ] {
        ui.selectable_value(choice, value, words);
    }
    let mut name = match choice {
        GhostChoice::Of(name) => name.clone(),
        _ => String::new(),
    };
    let hint = RichText::new(tr("Player's name")).color(palette::TEXT_FAINT);
    let edit = TextEdit::singleline(&mut name).char_limit(NAME_CHARS_MAX).hint_text(hint);
    if ui.add(edit.desired_width(120.0)).changed() {
        let name = clip(&name, NAME_BYTES_MAX).to_owned();
        *choice = if name.is_empty() { GhostChoice::Own } else { GhostChoice::Of(name) };
    }
}

fn gamepad(ui: &mut Ui, settings: &mut Settings, gamepads: &dyn Pads) {
    match gamepads.state() {
        (0, true) => note(ui, tr("A gamepad cannot be read: add your user to the input group.")),
        (0, false) => note(ui, tr("No gamepad is plugged in.")),
        (count, _) => {
            note(ui, &fill("Gamepads: {count}", &[("count", &count.to_string())]));
        }
    }
    let gamepad = &mut settings.gamepad;
    row(ui, tr("Dead zone of sticks"), |ui| {
        ui.add(Slider::new(&mut gamepad.dead_zone, 0..=60).suffix(" %"));
    });
    row(ui, tr("Rumble"), |ui| {
        let slider = ui.add(Slider::new(&mut gamepad.rumble, 0..=100).suffix(" %"));
        if slider.drag_stopped() || (slider.changed() && !slider.dragged()) {
            gamepads.rumble(Rumble { strength: f32::from(gamepad.rumble) / 100.0, length: TRIAL });
        }
    });
}

fn sound(ui: &mut Ui, settings: &mut Settings) {
    let sound = &mut settings.sound;
    for (label, value) in [
        (tr("Everything"), &mut sound.master),
        (tr("Effects"), &mut sound.effects),
        (tr("Music"), &mut sound.music),
        (tr("Menus and notices"), &mut sound.interface),
    ] {
        row(ui, label, |ui| {
            ui.add(Slider::new(value, 0..=100).suffix(" %"));
        });
    }
    switch(ui, tr("Mute all"), &mut sound.mute);
    switch(ui, tr("Mute in the background"), &mut sound.mute_in_background);
}

fn display(ui: &mut Ui, settings: &mut Settings) {
    let display = &mut settings.display;
    row(ui, tr("Frames per second"), |ui| {
        let title = |cap: FrameCap| match cap {
            FrameCap::Display => tr("display's rate").to_owned(),
            FrameCap::None => tr("no limit").to_owned(),
            FrameCap::PerSecond(number) => number.to_string(),
        };
        ComboBox::from_id_salt("frame cap").selected_text(title(display.frame_cap)).show_ui(
            ui,
            |ui| {
                let numbers = CAPS.into_iter().map(FrameCap::PerSecond);
                for cap in [FrameCap::Display, FrameCap::None].into_iter().chain(numbers) {
                    ui.selectable_value(&mut display.frame_cap, cap, title(cap));
                }
            },
        );
    });
    switch(ui, tr("Wait for the display (vsync)"), &mut display.vsync);
    switch(ui, tr("Full screen"), &mut display.fullscreen);
    row(ui, tr("Size of the interface"), |ui| factor(ui, &mut display.ui_scale, 75..=200));
    if display.ui_scale > 0.76 && is_full(ui.ctx()) {
        note(ui, tr("This window is too small for more."));
    }
    row(ui, tr("Text size"), |ui| factor(ui, &mut display.text_scale, 100..=150));
    row(ui, tr("Colours"), |ui| {
        let title = |palette| match palette {
            Palette::Standard => tr("standard"),
            Palette::Deuteranopia => tr("without green (deuteranopia)"),
            Palette::Protanopia => tr("without red (protanopia)"),
            Palette::Tritanopia => tr("without blue (tritanopia)"),
        };
        let chosen = title(display.palette);
        ComboBox::from_id_salt("palette").width(220.0).selected_text(chosen).show_ui(ui, |ui| {
            for (palette, _) in Palette::ALL {
                ui.selectable_value(&mut display.palette, palette, title(palette));
            }
        });
    });
    switch(ui, tr("No shaking, no flashes"), &mut display.reduced_motion);
    switch(ui, tr("Instant replays"), &mut display.replays);
    note(ui, tr("Replays deaths, goals and finishes before you play on."));
    note(ui, tr("Vsync takes effect at the next start."));
}

/// A slider for a scale, in percent. The scale changes only once the slider is released, because it
/// also changes the slider.
fn factor(ui: &mut Ui, factor: &mut f64, percent: RangeInclusive<u16>) {
    let id = ui.unique_id().with("factor");
    let kept = ui.data(|data| data.get_temp::<u16>(id));
    let mut shown = kept.unwrap_or((*factor * 100.0).round() as u16);
    let slider = ui.add(Slider::new(&mut shown, percent).step_by(5.0).suffix(" %"));
    if slider.dragged() {
        ui.data_mut(|data| data.insert_temp(id, shown));
        return;
    }
    ui.data_mut(|data| data.remove::<u16>(id));
    if kept.is_some() || slider.changed() {
        *factor = f64::from(shown) / 100.0;
    }
}

fn language(
    ui: &mut Ui,
    settings: &mut Settings,
    folder: Option<&Path>,
    titles: &[(String, String)],
) {
    let chosen = &mut settings.display.language;
    let large = |title: &str| RichText::new(title).size(15.0);
    ui.selectable_value(chosen, Language::System, large(tr("As the system")));
    for (code, title) in titles.iter().cloned() {
        ui.selectable_value(chosen, Language::Code(code), large(&title));
    }
    if let Some(folder) = folder {
        let folder = folder.display().to_string();
        note(ui, &fill("To add a language, put its file in {folder}.", &[("folder", &folder)]));
    }
}

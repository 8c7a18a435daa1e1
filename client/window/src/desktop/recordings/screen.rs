//! The screen with the player's recordings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui_macroquad::egui::{
    Align, Button, Context, CursorIcon, Key, Label, Layout, Response, RichText, ScrollArea, Sense,
    Ui,
};
use phaselock::date::date;
use phaselock_ui::parts::action;
use phaselock_ui::prelude::*;

use super::shelf::{Facts, Known, Listed, Shelf};
use crate::desktop::sheet::sheet;
use crate::people::title;
use crate::registry::Views;
use crate::settings::Settings;

const DETAILS_WIDTH: f32 = 300.0;
const ROW_HEIGHT: f32 = 60.0;
/// Size of the picture in a row and among the details, in points.
const SMALL: (f32, f32) = (80.0, 45.0);
const LARGE: (f32, f32) = (DETAILS_WIDTH - 12.0, (DETAILS_WIDTH - 12.0) * 9.0 / 16.0);
/// Width of the scroll bar.
const BAR_WIDTH: f32 = 12.0;
/// The maximum number of names that are shown.
const NAMES_MAX: usize = 12;

/// What the player chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    Back,
    Watch(PathBuf),
}

/// The screen. A thread reads the folder while it is open.
pub(crate) struct Recordings {
    dir: Option<PathBuf>,
    views: Views,
    shelf: Option<Shelf>,
    selected: Option<PathBuf>,
    /// Whether the selected file is deleted once the player confirms it.
    is_deleting: bool,
    /// Why a recording could not be played.
    pub(crate) error: Option<String>,
}

impl Recordings {
    pub(crate) fn new(dir: Option<PathBuf>, views: Views) -> Self {
        Self { dir, views, shelf: None, selected: None, is_deleting: false, error: None }
    }

    /// Forgets the folder: it is read again when the screen opens.
    pub(crate) fn close(&mut self) {
        (self.shelf, self.is_deleting) = (None, false);
    }

    /// Whether everything in view is known.
    #[cfg(test)]
    pub(crate) fn is_settled(&self) -> bool {
        self.shelf.as_ref().is_some_and(Shelf::is_settled)
    }

    /// Asks whether the selected file is deleted.
    #[cfg(test)]
    pub(crate) fn ask_to_delete(&mut self) {
        self.is_deleting = true;
    }

    /// Shows the list; call it once per frame.
    pub(crate) fn draw(&mut self, ctx: &Context, settings: &Settings) -> Option<Picked> {
        self.look();
        let files = self.shelf.as_ref().and_then(Shelf::files);
        let mut picked = sheet(ctx, "recordings", |ui| {
            let mut picked = head(ui, files.as_deref());
            ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
                self.foot(ui);
                let height = ui.available_height();
                let body = ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    self.body(ui, height, files.as_deref(), settings)
                });
                picked = picked.take().or(body.inner);
            });
            picked
        });
        if picked.is_none() && ctx.input(|input| input.key_pressed(Key::Escape)) {
            let was_deleting = std::mem::take(&mut self.is_deleting);
            picked = (!was_deleting).then_some(Picked::Back);
        }
        picked
    }

    /// Takes what has been read of the folder.
    fn look(&mut self) {
        if let (None, Some(dir)) = (&self.shelf, &self.dir) {
            match Shelf::open(dir.clone(), self.views.games().clone()) {
                Ok(shelf) => self.shelf = Some(shelf),
                Err(error) => self.error = Some(error.to_string()),
            }
        }
        let Some(shelf) = &mut self.shelf else { return };
        shelf.poll();
        // Until they are known, the selection stays.
        let Some(files) = shelf.files() else { return };
        if self.selected.as_ref().is_none_or(|it| files.iter().all(|file| file.path != *it)) {
            self.selected = files.first().map(|file| file.path.clone());
            self.is_deleting = false;
        }
    }

    /// Shows the folder, and what went wrong; a click dismisses it.
    fn foot(&mut self, ui: &mut Ui) {
        if let Some(dir) = &self.dir {
            let dir = dir.display().to_string();
            let words = fill("Folder: {folder}", &[("folder", &dir)]);
            let words = RichText::new(words).size(13.0).color(palette::TEXT_FAINT);
            ui.add(Label::new(words).truncate());
        }
        let problem = self.shelf.as_mut().map(|shelf| &mut shelf.problem);
        for error in problem.into_iter().chain([&mut self.error]) {
            let Some(words) = error else { continue };
            let words = RichText::new(format!("⚠  {words}")).size(14.0).color(palette::BAD);
            let label = Label::new(words).wrap().selectable(false).sense(Sense::click());
            if ui.add(label).on_hover_cursor(CursorIcon::PointingHand).clicked() {
                *error = None;
            }
        }
    }

    /// Shows the rows on the left and the chosen file on the right.
    fn body(
        &mut self,
        ui: &mut Ui,
        height: f32,
        files: Option<&[Listed]>,
        settings: &Settings,
    ) -> Option<Picked> {
        let Some(files) = files.filter(|files| !files.is_empty()) else {
            ui.add_space(18.0);
            let words = match (files, &self.dir) {
                (_, None) => tr("There is no folder for recordings.").to_owned(),
                (None, _) => tr("Reading the folder ...").to_owned(),
                (Some(_), _) => fill(
                    "No recordings yet. In a game, {key} saves the last ten minutes.",
                    &[("key", &settings.minutes_saver())],
                ),
            };
            ui.label(RichText::new(words).size(15.0).color(palette::TEXT_FAINT));
            return None;
        };
        let moved = self.move_selection(ui, files);
        let mut picked = None;
        let list_width = ui.available_width() - DETAILS_WIDTH - 16.0;
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(list_width);
                ui.set_height(height);
                ui.spacing_mut().item_spacing.y = 0.0;
                let scroll = ScrollArea::vertical().auto_shrink(false).id_salt("recordings");
                let scroll = match moved {
                    Some(at) => scroll
                        .vertical_scroll_offset((at as f32 * ROW_HEIGHT - height / 2.0).max(0.0)),
                    None => scroll,
                };
                scroll.show_rows(ui, ROW_HEIGHT, files.len(), |ui, range| {
                    for file in files.get(range).unwrap_or_default() {
                        picked = picked.take().or(self.row(ui, file, list_width - BAR_WIDTH));
                    }
                });
            });
            ui.vertical(|ui| {
                ui.set_width(DETAILS_WIDTH);
                // In a small window, the details need more space than there is.
                let scroll = ScrollArea::vertical().id_salt("details").max_height(height);
                scroll.show(ui, |ui| picked = picked.take().or(self.details(ui, files)));
            });
        });
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let is_elsewhere = ui.ctx().memory(|memory| memory.focused().is_some());
        self.is_deleting |= pressed(Key::Delete);
        if picked.is_none() && pressed(Key::Enter) && !is_elsewhere && !self.is_deleting {
            picked = self.selected.clone().map(Picked::Watch);
        }
        picked
    }

    /// Follows the arrow keys. Returns the number of the row that they chose.
    fn move_selection(&mut self, ui: &Ui, files: &[Listed]) -> Option<usize> {
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let page = 8;
        let steps = [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::PageDown, page)];
        let steps = steps.into_iter().chain([(Key::PageUp, -page)]);
        let step: isize = steps.filter(|(key, _)| pressed(*key)).map(|(_, step)| step).sum();
        let at = files.iter().position(|file| Some(&file.path) == self.selected.as_ref());
        let is_elsewhere = ui.ctx().memory(|memory| memory.focused().is_some());
        if step == 0 || is_elsewhere {
            return None;
        }
        let at = at.unwrap_or(0).saturating_add_signed(step).min(files.len() - 1);
        self.select(&files[at].path);
        Some(at)
    }

    fn select(&mut self, path: &Path) {
        if self.selected.as_deref() != Some(path) {
            (self.selected, self.is_deleting) = (Some(path.to_owned()), false);
        }
    }

    fn known(&mut self, file: &Listed) -> Option<Arc<Known>> {
        self.shelf.as_mut()?.known(&file.path)
    }

    fn row(&mut self, ui: &mut Ui, file: &Listed, width: f32) -> Option<Picked> {
        let (rect, response) = ui.allocate_exact_size(vec2(width, ROW_HEIGHT), Sense::click());
        if response.gained_focus() {
            response.scroll_to_me(None);
        }
        let is_chosen = self.selected.as_ref() == Some(&file.path);
        if is_chosen || response.hovered() || response.has_focus() {
            let strength = if is_chosen { 0.22 } else { 0.08 };
            ui.painter().rect_filled(rect.shrink(1.0), 5.0, fade(palette::OWN, strength));
        }
        let frame = Rect::from_center_size(
            rect.left_center() + vec2(SMALL.0 / 2.0 + 6.0, 0.0),
            SMALL.into(),
        );
        let known = self.known(file);
        let facts = known.as_deref().and_then(|known| known.as_ref().ok());
        draw_picture(ui, frame, facts);
        let block = Rect::from_min_max(pos2(frame.right() + 12.0, rect.top()), rect.max)
            .shrink2(vec2(0.0, 4.0));
        let (upper, lower) = block.split_top_bottom_at_fraction(0.54);
        let lower = Rect { max: lower.max - vec2(8.0, 0.0), ..lower };
        let upper = Rect { max: upper.max - vec2(8.0, 0.0), ..upper };
        match known.as_deref() {
            Some(Ok(facts)) => {
                let game = title(&facts.summary.header.game, &self.views);
                line(ui, upper, (game, 15.5, palette::TEXT), &length_words(facts));
                let when = date(facts.summary.header.unix_micros / 1_000_000);
                line(ui, lower, (&when, 13.0, palette::TEXT_SOFT), &people_words(facts));
            }
            Some(Err(why)) => {
                line(ui, upper, (&file.name(), 14.5, palette::TEXT_SOFT), "");
                line(ui, lower, (why, 13.0, palette::BAD), "");
            }
            None => {
                line(ui, upper, (&file.name(), 14.5, palette::TEXT_FAINT), "");
                line(ui, lower, (&date(file.changed), 13.0, palette::TEXT_FAINT), "");
            }
        }
        self.follow_row(ui, &response, file)
    }

    fn follow_row(&mut self, ui: &Ui, response: &Response, file: &Listed) -> Option<Picked> {
        if response.clicked() || response.gained_focus() {
            self.select(&file.path);
        }
        // A keyboard or a gamepad has pressed it.
        let is_entered = response.has_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let watches = response.double_clicked() || is_entered && !self.is_deleting;
        watches.then(|| Picked::Watch(file.path.clone()))
    }

    /// Shows the chosen file.
    fn details(&mut self, ui: &mut Ui, files: &[Listed]) -> Option<Picked> {
        let file = files.iter().find(|file| Some(&file.path) == self.selected.as_ref())?;
        let known = self.known(file);
        let facts = known.as_deref().and_then(|known| known.as_ref().ok());
        let (frame, _) = ui.allocate_exact_size(LARGE.into(), Sense::hover());
        draw_picture(ui, frame, facts);
        let mut say = |words: &str, color: Color32| {
            let words = RichText::new(words).size(14.0).color(color);
            ui.add(Label::new(words).wrap().selectable(false));
        };
        match known.as_deref() {
            Some(Ok(facts)) => {
                for words in about(facts, file, &self.views) {
                    say(&words, palette::TEXT_SOFT);
                }
            }
            Some(Err(why)) => say(why, palette::BAD),
            None => {}
        }
        say(&file.name(), palette::TEXT_FAINT);
        if self.is_deleting {
            say(tr("Delete this file for good?"), palette::WARN);
            if action(ui, tr("Delete file"), false).clicked()
                && let Some(shelf) = &mut self.shelf
            {
                shelf.delete(&file.path);
                self.is_deleting = false;
            }
            self.is_deleting &= !action(ui, tr("Keep"), true).clicked();
            return None;
        }
        let watches = facts.is_some() && action(ui, tr("Watch"), true).clicked();
        self.is_deleting |= action(ui, tr("Delete file"), false).clicked();
        watches.then(|| Picked::Watch(file.path.clone()))
    }
}

/// Title, number of files, and the way back.
fn head(ui: &mut Ui, files: Option<&[Listed]>) -> Option<Picked> {
    let mut picked = None;
    ui.horizontal(|ui| {
        ui.label(RichText::new(tr("Recordings")).size(24.0).color(palette::TEXT));
        let count = files.map_or(String::new(), |files| files.len().to_string());
        ui.label(RichText::new(count).size(15.0).color(palette::TEXT_FAINT));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let back = RichText::new(tr("Back")).size(15.0);
            if ui.add(Button::new(back).min_size(vec2(72.0, 30.0))).clicked() {
                picked = Some(Picked::Back);
            }
        });
    });
    picked
}

fn draw_picture(ui: &Ui, frame: Rect, facts: Option<&Facts>) {
    ui.painter().rect_filled(frame, 4.0, palette::FIELD);
    if let Some(picture) = facts.and_then(|facts| facts.picture.as_ref()) {
        ui.painter().add(picture.shape(frame.shrink(3.0)));
    }
}

/// Writes words on the left, and others on the right that are shown whole.
fn line(ui: &Ui, place: Rect, (words, size, color): (&str, f32, Color32), right: &str) {
    let at = place.right_center();
    let taken = text(ui.painter(), at, Align2::RIGHT_CENTER, right, (size, palette::TEXT_FAINT));
    let mut free = place.intersect(ui.clip_rect());
    free.max.x = taken.left() - 8.0;
    let painter = ui.painter().with_clip_rect(free);
    text(&painter, place.left_center(), Align2::LEFT_CENTER, words, (size, color));
}

fn length_words(facts: &Facts) -> String {
    facts
        .summary
        .secs()
        .map_or_else(|| "–".to_owned(), |secs| format!("{}:{:02}", secs / 60, secs % 60))
}

fn people_words(facts: &Facts) -> String {
    let [people, bots] = [false, true].map(|of_bots| facts.summary.names(of_bots).len());
    let count = people.to_string();
    match bots {
        0 => fill("players: {count}", &[("count", &count)]),
        bots => {
            let bots = bots.to_string();
            fill("players: {count}, bots: {bots}", &[("count", &count), ("bots", &bots)])
        }
    }
}

/// What a file says about itself, in lines.
fn about(facts: &Facts, file: &Listed, views: &Views) -> Vec<String> {
    let summary = &facts.summary;
    let header = &summary.header;
    let size = match file.bytes {
        0..1_000_000 => format!("{} kB", file.bytes.div_ceil(1000)),
        bytes => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    let mut lines = vec![
        format!("{}, {}", title(&header.game, views), length_words(facts)),
        date(header.unix_micros / 1_000_000),
        fill("Server: {server}", &[("server", &header.server)]),
    ];
    if let Some(viewer) = summary.viewer() {
        lines.push(fill("What {name} saw", &[("name", &viewer.name)]));
    }
    let names: Vec<_> = summary.names(false).into_iter().take(NAMES_MAX).collect();
    if !names.is_empty() {
        lines.push(fill("Players: {names}", &[("names", &names.join(", "))]));
    }
    lines.push(size);
    lines
}

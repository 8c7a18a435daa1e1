//! The screen with the server list.

use std::sync::Arc;

use egui_macroquad::egui::{
    Button, Context, CursorIcon, FontId, Galley, Key, Label, RichText, ScrollArea, Sense, Ui,
};
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::address::Address;
use phaselock_quic::invitation::Invitation;
use phaselock_quic::survey::{Reply, SurveyView, Surveyor, Wanted};

use super::details::{Act, Details, Known, known};
use super::empty::why_empty;
use super::list::{Column, Filter, Row, Tab, rows};
use super::server_lists::{DIRECTORIES_MAX, ServerLists};
use crate::desktop::sheet::sheet;
use crate::people::title;
use crate::registry::Views;
use phaselock_ui::parts::{field, is_entered};
use phaselock_ui::prelude::*;

/// Seconds between queries of all servers.
const AGAIN: f64 = 10.0;
const DETAILS_WIDTH: f32 = 300.0;
const ROW_HEIGHT: f32 = 30.0;
/// Widths of the columns behind the name.
const GAME_WIDTH: f32 = 104.0;
const PLAYERS_WIDTH: f32 = 92.0;
const PING_WIDTH: f32 = 64.0;
const STAR_WIDTH: f32 = 28.0;
/// Width of the scroll bar.
const BAR_WIDTH: f32 = 12.0;
/// Size of the button that joins with one click.
const JOIN_SIZE: (f32, f32) = (64.0, 22.0);

/// What the player chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Back,
    Join {
        invitation: Invitation,
        password: Option<String>,
        room: Option<RoomCode>,
        /// Whether to watch instead of playing.
        watch: bool,
    },
}

/// The screen. It queries servers while it is open.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) book: ServerLists,
    views: Views,
    /// Why the last visit ended, or could not begin.
    pub(crate) error: Option<String>,
    /// Directories from the command line.
    given: Vec<Address>,
    surveyor: Option<Surveyor>,
    looked: Option<f64>,
    tab: Tab,
    filter: Filter,
    order: (Column, bool),
    selected: Option<Address>,
    details: Details,
    directory: String,
    directory_error: Option<String>,
}

impl Servers {
    pub(crate) fn new(book: ServerLists, given: Vec<Address>, views: Views) -> Self {
        let tab = if book.pages.favourites.is_empty() { Tab::Lan } else { Tab::Favourites };
        Self {
            book,
            views,
            error: None,
            given,
            surveyor: None,
            looked: None,
            tab,
            filter: Filter::default(),
            order: (Column::Order, false),
            selected: None,
            details: Details::default(),
            directory: String::new(),
            directory_error: None,
        }
    }

    /// Creates a screen that queries no server.
    #[cfg(test)]
    pub(crate) fn silent(book: ServerLists) -> Self {
        Self { looked: Some(f64::MAX), ..Self::new(book, Vec::new(), Views::new()) }
    }

    /// The password was missing or wrong: the chosen server's field for it gets the keyboard.
    pub(crate) fn ask_password(&mut self) {
        self.details.asks_password = true;
    }

    /// Shows a page with a server chosen, and with an invalid directory entered.
    #[cfg(test)]
    pub(crate) fn draw_page(&mut self, ctx: &Context, tab: Tab, view: &SurveyView) {
        self.tab = tab;
        self.selected = view.found.first().map(|it| it.address.clone());
        self.directory_error = Address::parse_directory("a b").err().map(|it| it.to_string());
        drop(self.draw_view(ctx, view, 0.0));
    }

    /// Stops querying.
    pub(crate) fn close(&mut self) {
        (self.surveyor, self.looked) = (None, None);
    }

    /// Shows the page on which directories are named.
    pub(crate) fn show_directories(&mut self) {
        (self.tab, self.selected) = (Tab::Internet, None);
    }

    /// Returns the directories in use.
    pub(crate) fn directories(&self) -> Vec<Address> {
        let mut directories = self.given.clone();
        directories.extend(self.book.pages.directories.iter().cloned());
        directories.dedup();
        directories
    }

    fn look(&mut self, now: f64) {
        if self.surveyor.is_none() {
            // Without a spare thread, no server is queried.
            self.surveyor = Surveyor::new().ok();
        }
        let pages = &self.book.pages;
        let mut servers: Vec<_> =
            pages.favourites.iter().chain(&pages.history).map(|it| it.address.clone()).collect();
        servers.sort();
        servers.dedup();
        let wanted = Wanted { servers, directories: self.directories(), lan: true };
        if let Some(surveyor) = &self.surveyor {
            surveyor.look(wanted);
        }
        self.looked = Some(now);
    }

    /// Shows the list; call it once per frame.
    pub(crate) fn draw(&mut self, ctx: &Context) -> Option<Choice> {
        let now = ctx.input(|input| input.time);
        if self.looked.is_none_or(|at| now >= at + AGAIN) {
            self.look(now);
        }
        let view: Arc<SurveyView> = self.surveyor.as_ref().map(Surveyor::view).unwrap_or_default();
        self.draw_view(ctx, &view, now)
    }

    /// Shows the list with what is known about servers.
    fn draw_view(&mut self, ctx: &Context, view: &SurveyView, now: f64) -> Option<Choice> {
        let mut choice = sheet(ctx, "servers", |ui| {
            let choice = self.head(ui, view, now);
            self.filters(ui);
            if self.tab == Tab::Internet {
                self.directory_row(ui, now);
            }
            let shown = rows(self.tab, &view.found, &self.book.pages, &self.filter, self.order);
            // At the foot, where the list makes way, so that nothing moves under the mouse.
            let error = self.error_words(ui);
            let foot = error.as_ref().map_or(0.0, |it| it.size().y + ui.spacing().item_spacing.y);
            let height = ui.available_height() - foot;
            let choice = choice.or(self.body(ui, height, view, &shown));
            self.banner(ui, error);
            choice
        });
        if choice.is_none() && ctx.input(|input| input.key_pressed(Key::Escape)) {
            choice = Some(Choice::Back);
        }
        choice
    }

    /// Title, pages, and the way back.
    fn head(&mut self, ui: &mut Ui, view: &SurveyView, now: f64) -> Option<Choice> {
        let mut choice = None;
        ui.horizontal(|ui| {
            ui.label(RichText::new(tr("Servers")).size(24.0).color(palette::TEXT));
            ui.add_space(12.0);
            for tab in Tab::ALL {
                let all = rows(tab, &view.found, &self.book.pages, &Filter::default(), self.order);
                let name = match tab {
                    Tab::Favourites => tr("Favourites"),
                    Tab::History => tr("History"),
                    Tab::Lan => tr("Local network"),
                    Tab::Internet => tr("Internet"),
                };
                let words = RichText::new(format!("{name}  {}", all.len())).size(15.0);
                if ui.selectable_label(self.tab == tab, words).clicked() {
                    (self.tab, self.selected) = (tab, None);
                }
            }
            let back = RichText::new(tr("Back")).size(15.0);
            let refresh = RichText::new(tr("Refresh")).size(15.0);
            let right =
                egui_macroquad::egui::Layout::right_to_left(egui_macroquad::egui::Align::Center);
            ui.with_layout(right, |ui| {
                if ui.add(Button::new(back).min_size(vec2(72.0, 30.0))).clicked() {
                    choice = Some(Choice::Back);
                }
                if ui.add(Button::new(refresh).min_size(vec2(72.0, 30.0))).clicked() {
                    self.look(now);
                }
            });
        });
        choice
    }

    fn error_words(&self, ui: &Ui) -> Option<Arc<Galley>> {
        let words = format!("⚠  {}", self.error.as_ref()?);
        let (font, width) = (FontId::proportional(14.0), ui.available_width());
        Some(ui.painter().layout(words, font, palette::BAD, width))
    }

    /// Shows the error of the last visit; a click dismisses it.
    fn banner(&mut self, ui: &mut Ui, error: Option<Arc<Galley>>) {
        let Some(words) = error else { return };
        let label = Label::new(words).wrap().selectable(false).sense(Sense::click());
        if ui.add(label).on_hover_cursor(CursorIcon::PointingHand).clicked() {
            self.error = None;
        }
    }

    fn filters(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.add(field(&mut self.filter.text, tr("Filter by name, game, address"), 260.0, 100));
            ui.checkbox(&mut self.filter.not_full, tr("Not full"));
            ui.checkbox(&mut self.filter.not_empty, tr("Not empty"));
            ui.checkbox(&mut self.filter.no_password, tr("Without a password"));
        });
        if let Some(problem) = self.book.problem() {
            ui.label(RichText::new(problem).size(13.0).color(palette::BAD));
        }
    }

    /// Shows the directories in use, and a field to add one.
    fn directory_row(&mut self, ui: &mut Ui, now: f64) {
        let mut changed = false;
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(tr("Directories")).size(13.0).color(palette::TEXT_FAINT));
            for directory in self.book.pages.directories.clone() {
                let words = RichText::new(format!("{directory}  ×")).size(13.0);
                if ui.add(Button::new(words)).on_hover_text(tr("Remove")).clicked() {
                    self.book.change(|pages| pages.directories.retain(|it| *it != directory));
                    changed = true;
                }
            }
            for directory in &self.given {
                ui.label(RichText::new(directory.to_string()).size(13.0));
            }
            if self.book.pages.directories.len() >= DIRECTORIES_MAX {
                return;
            }
            let hint = "directory.example.org";
            let edited = ui.add(field(&mut self.directory, hint, 220.0, 300));
            let entered = is_entered(ui, &edited);
            if ui.button(tr("Add")).clicked() || entered {
                match Address::parse_directory(&self.directory) {
                    Ok(directory) => {
                        self.book.change(|pages| {
                            pages.directories.retain(|it| *it != directory);
                            pages.directories.push(directory.clone());
                            pages.directories.truncate(DIRECTORIES_MAX);
                        });
                        self.directory.clear();
                        self.directory_error = None;
                        changed = true;
                    }
                    Err(error) => self.directory_error = Some(error.to_string()),
                }
            }
        });
        if let Some(error) = &self.directory_error {
            ui.label(RichText::new(error).size(13.0).color(palette::BAD));
        }
        if changed {
            self.look(now);
        }
    }

    /// Shows the rows on the left and the chosen server on the right.
    fn body(
        &mut self,
        ui: &mut Ui,
        height: f32,
        view: &SurveyView,
        shown: &[Row],
    ) -> Option<Choice> {
        self.move_selection(ui, shown);
        let mut choice = None;
        let list_width = ui.available_width() - DETAILS_WIDTH - 16.0;
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(list_width);
                ui.set_height(height);
                ui.spacing_mut().item_spacing.y = 0.0;
                self.column_heads(ui, list_width - BAR_WIDTH);
                if shown.is_empty() {
                    ui.add_space(18.0);
                    let why = why_empty(self.tab, self.filter != Filter::default(), view);
                    ui.label(RichText::new(why).size(15.0).color(palette::TEXT_FAINT));
                }
                let scroll = ScrollArea::vertical().auto_shrink(false).id_salt("rows");
                scroll.show_rows(ui, ROW_HEIGHT, shown.len(), |ui, range| {
                    for row in shown.get(range).unwrap_or_default() {
                        choice = choice.take().or(self.row(ui, row, list_width - BAR_WIDTH));
                    }
                });
            });
            ui.vertical(|ui| {
                ui.set_width(DETAILS_WIDTH);
                let Some(row) =
                    shown.iter().find(|row| Some(&row.address) == self.selected.as_ref())
                else {
                    let text = tr("Select a server for details; double-click to join.");
                    ui.label(RichText::new(text).size(14.0).color(palette::TEXT_FAINT));
                    return;
                };
                // In a small window, the details need more space than there is.
                let scroll = ScrollArea::vertical().id_salt("details").max_height(height);
                let shown = scroll.show(ui, |ui| self.details.draw(ui, row, &self.views));
                match shown.inner {
                    Some(Act::Join) => choice = Some(self.join(row, false)),
                    Some(Act::Watch) => choice = Some(self.join(row, true)),
                    Some(Act::Star) => self.star(row),
                    None => {}
                }
            });
        });
        let entered = ui.input(|input| input.key_pressed(Key::Enter));
        let typing = ui.ctx().memory(|memory| memory.focused().is_some());
        if choice.is_none() && entered && !typing {
            let row = shown.iter().find(|row| Some(&row.address) == self.selected.as_ref());
            choice = row.map(|row| self.join(row, false));
        }
        choice
    }

    fn move_selection(&mut self, ui: &Ui, shown: &[Row]) {
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let step = usize::from(pressed(Key::ArrowDown));
        let back = usize::from(pressed(Key::ArrowUp));
        if step == back {
            return;
        }
        let at = shown.iter().position(|row| Some(&row.address) == self.selected.as_ref());
        let at = at.map_or(0, |at| (at + step).saturating_sub(back));
        if let Some(row) = shown.get(at.min(shown.len().saturating_sub(1))) {
            self.selected = Some(row.address.clone());
        }
    }

    fn column_heads(&mut self, ui: &mut Ui, width: f32) {
        let (rect, _) = ui.allocate_exact_size(vec2(width, 26.0), Sense::hover());
        let places = columns(rect);
        let heads = [
            (Column::Name, tr("Name"), places[1], Align2::LEFT_CENTER),
            (Column::Game, tr("Game"), places[2], Align2::LEFT_CENTER),
            (Column::Players, tr("Players"), places[3], Align2::RIGHT_CENTER),
            (Column::Ping, tr("Ping"), places[4], Align2::RIGHT_CENTER),
        ];
        for (column, name, place, align) in heads {
            let response = ui.interact(place, ui.id().with(name), Sense::click());
            let is_own = self.order.0 == column;
            let arrow = match (is_own, self.order.1) {
                (false, _) => "",
                (true, false) => " ⏷",
                (true, true) => " ⏶",
            };
            let color = match is_own || response.hovered() {
                true => palette::TEXT,
                false => palette::TEXT_FAINT,
            };
            let at = align.pos_in_rect(&place);
            text(ui.painter(), at, align, &format!("{name}{arrow}"), (13.0, color));
            if response.clicked() {
                // The first click gives the default order, the second its reverse, the third none.
                self.order = match self.order {
                    (now, false) if now == column => (column, true),
                    (now, true) if now == column => (Column::Order, false),
                    _ => (column, false),
                };
            }
        }
        let line = Stroke::new(1.0, palette::EDGE);
        ui.painter().hline(rect.x_range(), rect.bottom(), line);
    }

    fn row(&mut self, ui: &mut Ui, row: &Row, width: f32) -> Option<Choice> {
        let (rect, response) = ui.allocate_exact_size(vec2(width, ROW_HEIGHT), Sense::click());
        let is_chosen = self.selected.as_ref() == Some(&row.address);
        let pointer = ui.input(|input| input.pointer.hover_pos());
        let is_pointed = pointer.is_some_and(|at| rect.intersect(ui.clip_rect()).contains(at));
        let painter = ui.painter();
        if is_chosen || is_pointed {
            let strength = if is_chosen { 0.22 } else { 0.08 };
            painter.rect_filled(rect, 5.0, fade(palette::OWN, strength));
        }
        let [star, name, game, players, ping] = columns(rect);
        let star_response = ui.interact(star, response.id.with("star"), Sense::click());
        let (sign, color) = match row.starred {
            true => ("★", palette::WARN),
            false => ("☆", palette::TEXT_FAINT),
        };
        text(painter, star.center(), Align2::CENTER_CENTER, sign, (16.0, color));
        let is_told = matches!(row.reply, Reply::Answered(..));
        let ink = if is_told { palette::TEXT } else { palette::TEXT_FAINT };
        let cell = |place: Rect, align: Align2, words: &str, color: Color32| {
            let painter = painter.with_clip_rect(place.intersect(ui.clip_rect()));
            text(&painter, align.pos_in_rect(&place), align, words, (14.5, color));
        };
        let lock = if row.is_locked() { "🔒 " } else { "" };
        let button = Rect::from_center_size(
            name.right_center() - vec2(JOIN_SIZE.0 / 2.0, 0.0),
            vec2(JOIN_SIZE.0, JOIN_SIZE.1),
        );
        let has_button = is_pointed && is_told;
        let mut free = name;
        free.max.x = if has_button { button.left() - 6.0 } else { name.right() };
        cell(free, Align2::LEFT_CENTER, &format!("{lock}{}", row.name), ink);
        cell(game, Align2::LEFT_CENTER, &self.game_words(row), palette::TEXT_SOFT);
        if let Some((people, seats, bots)) = row.players() {
            let more = if bots > 0 { format!(" +{bots}") } else { String::new() };
            let color = if people >= seats { palette::WARN } else { palette::TEXT_SOFT };
            cell(players, Align2::RIGHT_CENTER, &format!("{people}/{seats}{more}"), color);
        }
        let (words, color) = match (&row.reply, row.ping_ms()) {
            (_, Some(ms)) if ms < 60.0 => (format!("{ms:.0} ms"), palette::GOOD),
            (_, Some(ms)) if ms < 150.0 => (format!("{ms:.0} ms"), palette::TEXT_SOFT),
            (_, Some(ms)) => (format!("{ms:.0} ms"), palette::WARN),
            (Reply::Silent, _) => ("–".into(), palette::TEXT_FAINT),
            _ => ("...".into(), palette::TEXT_FAINT),
        };
        cell(ping, Align2::RIGHT_CENTER, &words, color);
        let joins = has_button && {
            let label = RichText::new(tr("Join")).size(13.5).color(palette::VOID);
            ui.put(button, Button::new(label).fill(palette::OWN)).clicked()
        };
        if star_response.clicked() {
            self.star(row);
        } else if joins || response.clicked() || response.double_clicked() {
            self.selected = Some(row.address.clone());
        }
        let joins = joins || response.double_clicked();
        if joins && row.is_locked() {
            // The player must enter the password first.
            self.details.ask_password(row);
            return None;
        }
        joins.then(|| self.join(row, false))
    }

    /// The game being played, and how many others are in rotation.
    fn game_words(&self, row: &Row) -> String {
        let Reply::Answered(info, _) = &row.reply else { return String::new() };
        let titles = || info.games.iter().map(|game| title(game, &self.views));
        match (row.playing(), info.games.len()) {
            (Some(game), 0..=1) => title(game, &self.views).to_owned(),
            (Some(game), count) => format!("{} +{}", title(game, &self.views), count - 1),
            (None, _) => titles().collect::<Vec<_>>().join(", "),
        }
    }

    fn star(&mut self, row: &Row) {
        let (address, name, starred) = (row.address.clone(), row.name.clone(), !row.starred);
        self.book.change(|pages| pages.star(&address, &name, starred));
    }

    fn join(&self, row: &Row, watch: bool) -> Choice {
        let (password, room) = self.details.entered(row);
        // A known server must show the same certificate as before; a directory's certificate counts
        // for others.
        let is_new = known(&row.address) == Known::No;
        let fingerprint = row.fingerprint.filter(|_| is_new && self.tab == Tab::Internet);
        Choice::Join {
            invitation: Invitation { address: row.address.clone(), fingerprint },
            password,
            room,
            watch,
        }
    }
}

/// Places of the columns in a row: star, name, game, players, ping.
fn columns(rect: Rect) -> [Rect; 5] {
    let widths = [GAME_WIDTH, PLAYERS_WIDTH, PING_WIDTH];
    let name = (rect.width() - STAR_WIDTH - widths.iter().sum::<f32>() - 8.0).max(40.0);
    let mut left = rect.left();
    let mut next = |width: f32| {
        let place = Rect::from_min_size(pos2(left, rect.top()), vec2(width - 8.0, rect.height()));
        left += width;
        place
    };
    [next(STAR_WIDTH), next(name), next(widths[0]), next(widths[1]), next(widths[2] + 8.0)]
}

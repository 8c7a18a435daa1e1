//! The menu: play here, join elsewhere, play online, quit.

use std::sync::Arc;

use egui_macroquad::egui::text::{LayoutJob, TextWrapping};
use egui_macroquad::egui::{
    Align, Area, Button, ComboBox, Context, CursorIcon, FontId, Galley, Id, Key, Label, LayerId,
    Layout, Response, RichText, Sense, Slider, Ui,
};
use phaselock::game::Strength;
use phaselock::games::Bots;
use phaselock::games::Games;
use phaselock::invitation::{Invitation, LINK_BYTES_MAX};
use phaselock::limits::PASSWORD_BYTES_MAX;
use phaselock_quic::local::own_addresses;
use phaselock_quic::query::{Asked, Asker};

use super::args::{Args, Start};
use super::connection::LocalGame;
use crate::overlay::link;
use crate::settings::Settings;
use crate::setup::{BOTS_MAX, default_name};
use phaselock_ui::actions::{ALL_GAMES, FULLSCREEN};
use phaselock_ui::background;
use phaselock_ui::bindings::Binding;
use phaselock_ui::controls::bindings_of;
use phaselock_ui::parts::{
    ACTION_HEIGHT, PADDING, action, card, field, heading, name_field, name_note, title_case,
};
use phaselock_ui::prelude::*;

/// Width of each of the two cards, in points.
const CARD_WIDTH: f32 = 350.0;
const WIDTH: f32 = 2.0 * CARD_WIDTH + GAP;
const CARD_HEIGHT: f32 = 256.0;
const FOOT_HEIGHT: f32 = 44.0;
/// Minimum width of the buttons at the foot, and of the one beside the name.
const FOOT_WIDTH: f32 = 120.0;
/// Height in points of everything below the title, with space for the foot.
const HEIGHT: f32 = 484.0;
/// Space in points that the title and its line need above the rest.
const TITLE_ROOM: f32 = 152.0;
/// Minimum scale of the title; with less space, it is left out.
const TITLE_SCALE_MIN: f32 = 0.4;
const BANNER_PADDING: f32 = 22.0;
const ROW_GAP: f32 = 14.0;
const GAP: f32 = 18.0;
/// Seconds without a keystroke after which an address counts as complete.
const TYPING: f64 = 0.6;

#[derive(Debug)]
pub(crate) struct Menu {
    name: String,
    games: Vec<String>,
    bots: Bots,
    address: String,
    enter: Enter,
    /// Reason why the last session ended, or could not begin.
    error: Option<String>,
    /// Names of all games.
    all: Vec<&'static str>,
    address_error: Option<String>,
    /// Password for a server that needs one.
    password: String,
    /// Whether the password field gets the keyboard in the next frame.
    asks_password: bool,
    /// Time of the last change to the address, from which the query for its status is timed.
    edited: f64,
    asker: Option<Asker>,
    /// Whether a game here is open to the local network, and this computer's address there.
    open: bool,
    own_address: String,
    /// The simulated network of every session.
    link: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Play games of these names on a server in this program.
    Play(LocalGame<Vec<String>>),
    Join {
        invitation: Invitation,
        password: Option<String>,
    },
    /// Open the server list.
    Search,
    /// Have a directory choose a server.
    Online,
    /// Open the list of recordings.
    Recordings,
    Experiment,
    Settings,
    Quit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enter {
    Play,
    Join,
}

impl Menu {
    pub(crate) fn new(args: &Args, games: &Games, settings: &Settings) -> Self {
        let last = &settings.last;
        let first: Vec<_> = games.names().take(1).map(str::to_owned).collect();
        let known = !last.games.is_empty() && games.select(&last.games).is_ok();
        let address = if last.server.is_empty() { "localhost" } else { &last.server };
        let named = Some(&settings.player.name).filter(|name| !name.is_empty()).cloned();
        let mut menu = Self {
            name: args.options.name.clone().or(named).unwrap_or_else(default_name),
            games: if known { last.games.clone() } else { first },
            all: games.names().collect(),
            bots: last.bots,
            address: address.to_owned(),
            enter: Enter::Play,
            error: None,
            address_error: None,
            password: args.options.setup.password.clone().unwrap_or_default(),
            asks_password: false,
            edited: 0.0,
            asker: None,
            open: false,
            own_address: String::new(),
            link: args.options.setup.link_words(),
        };
        match &args.start {
            Start::Menu | Start::Replay { .. } | Start::Lab(_) => {}
            Start::Play { games, bots } => (menu.games, menu.bots) = (games.clone(), *bots),
            Start::Join { invitation } => {
                (menu.address, menu.enter) = (invitation.to_string(), Enter::Join);
            }
        }
        menu
    }

    /// Name of the player in the next session.
    pub(crate) fn name(&self) -> String {
        // The server says what is wrong with a name that it refuses.
        let name = self.name.trim();
        if name.is_empty() { "Player".into() } else { name.to_owned() }
    }

    /// Takes the name from the settings, if they have one.
    pub(crate) fn take_name(&mut self, settings: &Settings) {
        if !settings.player.name.is_empty() {
            self.name.clone_from(&settings.player.name);
        }
    }

    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    pub(crate) fn set_error(&mut self, error: Option<String>) {
        self.error = error;
    }

    /// The password was missing or wrong: its field gets the keyboard as soon as it exists.
    pub(crate) fn ask_password(&mut self) {
        (self.asks_password, self.enter) = (true, Enter::Join);
    }

    pub(crate) fn draw(&mut self, ctx: &Context, settings: &mut Settings) -> Option<Wish> {
        let told = self.server_status();
        self.draw_with_status(ctx, settings, told)
    }

    /// Draws the menu with what the server at the address reported: a line, and whether it needs a
    /// password.
    pub(crate) fn draw_with_status(
        &mut self,
        ctx: &Context,
        settings: &mut Settings,
        told: Option<(String, bool)>,
    ) -> Option<Wish> {
        let screen = ctx.screen_rect();
        let painter = ctx.layer_painter(LayerId::background());
        // An error replaces the title, so that nothing moves under the mouse.
        let top = screen.top() + (screen.height() * 0.36).min(screen.height() - HEIGHT);
        let error = self.error.as_deref();
        let error = error.map(|error| banner_words(&painter, error, top - screen.top()));
        let banner = error.as_ref().map_or(0.0, |text| text.size().y + BANNER_PADDING + ROW_GAP);
        // With little space the title gets small; a long error leaves none for it.
        let scale = ((top - banner - screen.top()) / TITLE_ROOM).min(1.0);
        let title_y = (top - banner - 115.0 * scale).min(screen.top() + screen.height() * 0.2);
        let title = pos2(screen.center().x, title_y);
        background::draw(&painter, screen, title.y, ctx.input(|input| input.time));
        if scale > TITLE_SCALE_MIN {
            let large = Lettering::new(66.0 * scale, palette::TEXT).spaced(20.0 * scale);
            text(&painter, title, Align2::CENTER_CENTER, "PHASELOCK", large);
            let under = title + vec2(0.0, 58.0 * scale);
            let motto = tr("Fast multiplayer games, in phase with the server");
            text(&painter, under, Align2::CENTER_CENTER, motto, (16.0 * scale, palette::TEXT_SOFT));
        }

        let mut wish = None;
        let area = Area::new(Id::new("menu"))
            .fixed_pos(pos2(screen.center().x - WIDTH / 2.0, top - banner))
            // It would be moved by its size in the last frame, with or without an error.
            .constrain(false)
            .show(ctx, |ui| {
                ui.spacing_mut().item_spacing = vec2(GAP, ROW_GAP);
                ui.set_width(WIDTH);
                if let Some(text) = &error {
                    self.banner(ui, text);
                }
                wish = self.name_field(ui, settings);
                ui.horizontal_top(|ui| {
                    wish = wish.take().or(self.play_card(ui));
                    wish = wish.take().or(self.join_card(ui, told));
                });
                wish = wish.take().or(foot(ui));
            });
        let bottom = area.response.rect.bottom();
        let foot = screen.center_bottom() - vec2(0.0, 18.0);
        let keys = bindings_of(ALL_GAMES, &FULLSCREEN, &settings.controls);
        let keys: Vec<_> = keys.into_iter().map(Binding::label).collect();
        let hint = match keys.is_empty() {
            true => tr("Enter: go").to_owned(),
            false => fill("Enter: go      {keys}: full screen", &[("keys", &keys.join(", "))]),
        };
        // In a small window, large letters leave no space for it.
        if bottom < foot.y - 15.0 {
            text(&painter, foot, Align2::CENTER_BOTTOM, &hint, (12.0, palette::TEXT_FAINT));
        }
        let version = screen.right_bottom() - vec2(18.0, 18.0);
        let number = concat!("v", env!("CARGO_PKG_VERSION"));
        text(&painter, version, Align2::RIGHT_BOTTOM, number, (12.0, palette::TEXT_FAINT));
        if let Some(conditions) = &self.link {
            let corner = screen.right_top() + vec2(-18.0, 14.0);
            link(&painter, corner, screen.width() - 36.0, conditions);
        }

        if wish.is_none() && ctx.input(|input| input.key_pressed(Key::Enter)) {
            wish = match self.enter {
                Enter::Play => Some(self.play()),
                Enter::Join => self.join(),
            };
        }
        wish
    }

    /// Shows the error of the last session; a click dismisses it.
    fn banner(&mut self, ui: &mut Ui, reason: &Arc<Galley>) {
        let size = vec2(WIDTH, reason.size().y + BANNER_PADDING);
        let (rect, banner) = ui.allocate_exact_size(size, Sense::click());
        let edge = Stroke::new(1.0, fade(palette::BAD, 0.7));
        let painter = ui.painter();
        painter.rect_filled(rect, 8.0, fade(palette::CARD, 0.95));
        painter.rect(rect, 8.0, fade(palette::BAD, 0.14), edge, StrokeKind::Inside);
        let sign = rect.left_center() + vec2(18.0, 0.0);
        text(painter, sign, Align2::LEFT_CENTER, "⚠", (18.0, palette::BAD));
        let cross = rect.right_center() - vec2(16.0, 0.0);
        text(painter, cross, Align2::RIGHT_CENTER, "×", (18.0, palette::TEXT_SOFT));
        let at = rect.left_center() + vec2(48.0, -reason.size().y / 2.0);
        painter.galley(at, reason.clone(), palette::TEXT);
        if banner.on_hover_cursor(CursorIcon::PointingHand).clicked() {
            self.error = None;
        }
    }

    /// Shows the name, and the button for all other settings.
    fn name_field(&mut self, ui: &mut Ui, settings: &mut Settings) -> Option<Wish> {
        let mut wish = None;
        card(ui, WIDTH, |ui| {
            ui.horizontal(|ui| {
                let label = RichText::new(tr("Your name")).size(15.0).color(palette::TEXT_SOFT);
                ui.add_sized(vec2(84.0, 34.0), Label::new(label));
                let rest = vec2(ui.available_width(), 34.0);
                ui.allocate_ui_with_layout(rest, Layout::right_to_left(Align::Center), |ui| {
                    let other = Button::new(RichText::new(tr("Settings")).size(15.0));
                    if ui.add(other.min_size(vec2(FOOT_WIDTH, 34.0))).clicked() {
                        wish = Some(Wish::Settings);
                    }
                    let width = ui.available_width();
                    if ui.add(name_field(&mut self.name, tr("Player"), width)).changed() {
                        settings.player.take_name(&self.name);
                    }
                });
            });
            name_note(ui, &self.name);
        });
        wish
    }

    fn play_card(&mut self, ui: &mut Ui) -> Option<Wish> {
        let mut wish = None;
        card(ui, CARD_WIDTH, |ui| {
            heading(ui, tr("Play here"), tr("A server on this computer, with bots."));
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(5.0, 5.0);
                let one = self.all.iter().map(|name| (vec![(*name).to_owned()], title_case(name)));
                let all: Vec<_> = self.all.iter().map(|name| (*name).to_owned()).collect();
                let in_turn = (all.len() > 1).then(|| (all, tr("All in turn").to_owned()));
                for (games, title) in one.chain(in_turn) {
                    let title = RichText::new(title).size(15.0);
                    if ui.selectable_value(&mut self.games, games, title).clicked() {
                        self.enter = Enter::Play;
                    }
                }
            });
            ui.horizontal(|ui| {
                ui.label(RichText::new(tr("Bots")).size(15.0).color(palette::TEXT_SOFT));
                ui.spacing_mut().slider_width = 112.0;
                let Bots { count, strength } = &mut self.bots;
                let slider = ui.add(Slider::new(count, 0..=BOTS_MAX).show_value(false));
                let number = RichText::new(count.to_string()).size(17.0).color(palette::TEXT);
                ui.add_sized(vec2(22.0, 20.0), Label::new(number));
                let before = *strength;
                ComboBox::from_id_salt("strength")
                    .width(84.0)
                    .selected_text(strength_words(before))
                    .show_ui(ui, |ui| {
                        for (_, other) in Strength::NAMED {
                            ui.selectable_value(strength, other, strength_words(other));
                        }
                    });
                if slider.changed() || *strength != before {
                    self.enter = Enter::Play;
                }
            });
            self.open_box(ui);
            if action_below(ui, tr("Play"), self.enter == Enter::Play).clicked() {
                self.enter = Enter::Play;
                wish = Some(self.play());
            }
        });
        wish
    }

    /// Shows the choice whether friends on the local network may join, and what to tell them.
    fn open_box(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            let words = RichText::new(tr("Friends on my network may join")).size(14.0);
            if ui.checkbox(&mut self.open, words).changed() {
                self.enter = Enter::Play;
                let own = own_addresses().first().map(ToString::to_string);
                self.own_address = own.unwrap_or_else(|| tr("no network").to_owned());
            }
            if self.open {
                let words = RichText::new(&self.own_address).size(13.0).monospace();
                ui.add(Label::new(words.color(palette::TEXT_SOFT)).truncate());
            }
        });
    }

    fn join_card(&mut self, ui: &mut Ui, told: Option<(String, bool)>) -> Option<Wish> {
        let mut wish = None;
        card(ui, CARD_WIDTH, |ui| {
            let about = told.as_ref().map_or(tr("A server somewhere else."), |(line, _)| line);
            heading(ui, tr("Join"), about);
            ui.label(RichText::new(tr("Address")).size(15.0).color(palette::TEXT_SOFT));
            let width = ui.available_width();
            let hint = tr("example.org:4433, or a link");
            let edited = ui.add(field(&mut self.address, hint, width, LINK_BYTES_MAX));
            if edited.changed() || edited.gained_focus() {
                self.enter = Enter::Join;
                self.address_error = None;
                self.edited = ui.input(|input| input.time);
            }
            self.ask(ui.input(|input| input.time));
            if told.is_some_and(|(_, needs_password)| needs_password) {
                let password = field(&mut self.password, tr("Password"), width, PASSWORD_BYTES_MAX);
                let shown = ui.add(password.password(true));
                if std::mem::take(&mut self.asks_password) {
                    shown.request_focus();
                }
                if shown.has_focus() {
                    self.enter = Enter::Join;
                }
            }
            if let Some(error) = &self.address_error {
                ui.label(RichText::new(error).size(13.0).color(palette::BAD));
            }
            space_above_action(ui);
            ui.columns(2, |columns| {
                let [join, search] = columns else { return };
                if action(join, tr("Join"), self.enter == Enter::Join).clicked() {
                    self.enter = Enter::Join;
                    wish = self.join();
                }
                if action(search, tr("Find servers"), false).clicked() {
                    wish = Some(Wish::Search);
                }
            });
        });
        wish
    }

    /// Queries the server at the address for its status, once the address is complete.
    fn ask(&mut self, now: f64) {
        if self.enter != Enter::Join || now < self.edited + TYPING {
            return;
        }
        let Ok(Invitation { address, .. }) = self.address.parse() else {
            self.asker = None;
            return;
        };
        if self.asker.as_ref().is_none_or(|asker| *asker.address() != address) {
            // Without a spare thread, the status stays unknown.
            self.asker = Asker::new(address).ok();
        }
    }

    /// A line about the server at the address, and whether it needs a password. `None` before a
    /// query.
    fn server_status(&self) -> Option<(String, bool)> {
        let asker = self.asker.as_ref().filter(|_| self.enter == Enter::Join)?;
        Some(match asker.state() {
            Asked::Asking => (tr("Asking the server ...").to_owned(), false),
            Asked::Silent(_) => (tr("No answer yet.").to_owned(), false),
            Asked::Answered { info, round_trip } => {
                let ms = format!("{:.0}", round_trip.as_secs_f64() * 1000.0);
                let values = [
                    ("server", &*info.server),
                    ("games", &*info.games.join(", ")),
                    ("players", &*info.players.to_string()),
                    ("seats", &*info.players_max.to_string()),
                    ("ms", &*ms),
                ];
                let line =
                    fill("{server} - {games} - {players} of {seats} players - {ms} ms", &values);
                (line, info.needs_password)
            }
        })
    }

    fn play(&self) -> Wish {
        Wish::Play(LocalGame { games: self.games.clone(), bots: self.bots, open: self.open })
    }

    fn join(&mut self) -> Option<Wish> {
        match self.address.parse() {
            Ok(invitation) => {
                let password = Some(self.password.clone()).filter(|word| !word.is_empty());
                Some(Wish::Join { invitation, password })
            }
            Err(error) => {
                self.address_error = Some(format!("{error}"));
                None
            }
        }
    }
}

fn strength_words(strength: Strength) -> &'static str {
    strength.pick([tr("easy"), tr("normal"), tr("hard")])
}

/// An error in letters that are small enough for the height `room` above the cards; if it is still
/// too long, only its first lines.
fn banner_words(painter: &Painter, error: &str, room: f32) -> Arc<Galley> {
    let room = room - BANNER_PADDING - 2.0 * ROW_GAP;
    let layout = |size: f32, rows: usize| {
        let font = FontId::proportional(size);
        let mut job = LayoutJob::simple(error.to_owned(), font, palette::TEXT, WIDTH - 96.0);
        job.wrap.max_rows = rows;
        painter.layout_job(job)
    };
    let sizes = [14.0, 12.5, 11.0, 9.5].into_iter();
    let mut all = sizes.map(|size| layout(size, usize::MAX));
    let fits = |words: &Arc<Galley>| words.size().y <= room;
    all.find(fits).unwrap_or_else(|| {
        let row = layout(9.5, 1).size().y;
        layout(9.5, (room / row).max(1.0) as usize)
    })
}

/// An [`action`] button at the foot of a card.
fn action_below(ui: &mut Ui, label: &str, primary: bool) -> Response {
    space_above_action(ui);
    action(ui, label, primary)
}

fn space_above_action(ui: &mut Ui) {
    let rest = CARD_HEIGHT - ui.min_rect().height() - ACTION_HEIGHT - ui.spacing().item_spacing.y;
    ui.add_space(rest.max(0.0));
}

/// The row below the cards.
fn foot(ui: &mut Ui) -> Option<Wish> {
    let mut wish = None;
    let mut button = |ui: &mut Ui, words: &str, pressed: Wish| {
        let button = Button::new(RichText::new(words).size(15.0));
        if ui.add(button.min_size(vec2(FOOT_WIDTH, FOOT_HEIGHT))).clicked() {
            wish = Some(pressed);
        }
    };
    let mut experiments = false;
    ui.horizontal(|ui| {
        button(ui, tr("Play online"), Wish::Online);
        button(ui, tr("Recordings"), Wish::Recordings);
        let rest = vec2(ui.available_width(), FOOT_HEIGHT);
        ui.allocate_ui_with_layout(rest, Layout::right_to_left(Align::Center), |ui| {
            button(ui, tr("Quit"), Wish::Quit);
            experiments = laboratory(ui).clicked();
        });
    });
    wish.or(experiments.then_some(Wish::Experiment))
}

/// The button that opens the laboratory, with a description.
fn laboratory(ui: &mut Ui) -> Response {
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, FOOT_HEIGHT), Sense::click());
    let look = ui.style().interact(&response);
    let (fill, edge) = (look.bg_fill, look.bg_stroke);
    let painter = ui.painter();
    painter.rect(rect, 8.0, fade(fill, 0.94), edge, StrokeKind::Inside);
    let at = rect.left_center() + vec2(PADDING, 0.0);
    let title = text(painter, at, Align2::LEFT_CENTER, tr("Laboratory"), (17.0, palette::TEXT));
    let after = title.right_center() + vec2(14.0, 1.0);
    let what = tr("Draw a motion; see what a network does to it.");
    let (font, color) = (FontId::proportional(14.0), palette::TEXT_FAINT);
    let mut job = LayoutJob::simple_singleline(what.to_owned(), font, color);
    job.wrap = TextWrapping::truncate_at_width(rect.right() - PADDING - after.x);
    let what = painter.layout_job(job);
    painter.galley(after - vec2(0.0, what.size().y / 2.0), what, color);
    response.on_hover_cursor(CursorIcon::PointingHand)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use egui_macroquad::egui::{Event, RawInput};

    use super::*;
    use crate::registry::Views;

    /// Draws some frames, the first with these events. Returns the place of the field that has the
    /// keyboard.
    fn draw(menu: &mut Menu, context: &Context, events: &[Event]) -> Option<Rect> {
        let mut settings = Settings::default();
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0)));
        for events in [events, &[], &[], &[]] {
            let input = RawInput { screen_rect, events: events.to_vec(), ..RawInput::default() };
            let _ = context.run(input, |ctx| {
                let told = ("A server - puck - 1 of 16 players - 9 ms".to_owned(), true);
                assert_eq!(menu.draw_with_status(ctx, &mut settings, Some(told)), None);
            });
        }
        let focused = context.memory(|memory| memory.focused())?;
        Some(context.read_response(focused)?.rect)
    }

    #[test]
    fn password_keeps_keyboard_and_place_when_it_was_wrong() {
        let views = phaselock_views::all(Views::new());
        let args = Args::parse([OsString::from("phaselock")], views.games()).expect("no words");
        let mut menu = Menu::new(&args, views.games(), &Settings::default());
        let context = Context::default();
        let typed = |text: &str| [Event::Text(text.into())];
        menu.ask_password();
        let first = draw(&mut menu, &context, &[]).expect("the password has the keyboard");
        let stays = |now: Option<Rect>, when: &str| {
            let now = now.expect("it keeps the keyboard");
            // Rows with dots are slightly higher than those with a hint.
            assert!(now.min.distance(first.min) < 3.0, "{when}: {first:?} {now:?}");
        };
        stays(draw(&mut menu, &context, &typed("wrong")), "written");
        // Back from the server, which says that the password is wrong.
        menu.set_error(Some("that is not the password; ask the host for it".into()));
        menu.ask_password();
        stays(draw(&mut menu, &context, &typed(" word")), "refused");
        menu.set_error(None);
        stays(draw(&mut menu, &context, &typed("s")), "dismissed");
        assert_eq!(menu.password, "wrong words");
        assert_eq!(menu.enter, Enter::Join);
    }
}

//! The card before the game in a page, or after it: name, password, and why the last visit ended.

use egui_macroquad::egui::{
    Align2, Area, Context, FontId, Id, LayerId, RichText, ScrollArea, Ui, vec2,
};

use phaselock::limits::PASSWORD_BYTES_MAX;
use phaselock_ui::paint::{readable, to_be_read};
use phaselock_ui::parts::{
    ACTION_LETTERS, FIELD_LETTERS, action_in, card_frame, field, is_entered, name_field, name_note,
};
use phaselock_ui::words::{fill, tr};
use phaselock_ui::{background, palette};

/// Width of the card, in points, and its height with a password and a reason of some lines: both
/// grow with letters that a phone would show too small.
const CARD_WIDTH: f32 = 340.0;
const CARD_HEIGHT: f32 = 432.0;
/// Room within the card's edge, and between it and the window's, in points.
const PADDING: f32 = 20.0;
const MARGIN: f32 = 8.0;
/// Least height for the reason, which moves as a list does where the card is too high.
const REASON_HEIGHT: f32 = 40.0;
/// Size of letters, in points.
const LETTERS: f32 = 14.0;
/// The player's wish before the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Join,
    /// Have a directory choose the server.
    Online,
    Settings,
}

/// The card before the game, or after it.
pub(crate) struct Card<'a> {
    /// Name of the server, as far as it is known.
    pub(crate) server: Option<String>,
    pub(crate) needs_password: bool,
    pub(crate) name: &'a mut String,
    pub(crate) password: &'a mut String,
    /// The password's field gets the keyboard in the next frame.
    pub(crate) asks_password: &'a mut bool,
    /// Reason of the end.
    pub(crate) error: Option<&'a str>,
}

impl Card<'_> {
    /// Draws the card. Returns the player's wish, and true while the password is written.
    pub(crate) fn draw(&mut self, ctx: &Context, covered: bool) -> (Option<Wish>, bool) {
        let painter = ctx.layer_painter(LayerId::background());
        let screen = ctx.screen_rect();
        let y = screen.top() + screen.height() * 0.2;
        background::draw(&painter, screen, y, ctx.input(|input| input.time));
        if covered {
            return (None, false);
        }
        let (mut wish, mut is_secret) = (None, false);
        let larger = to_be_read(ctx, LETTERS);
        // By its upper edge: everything stays where it is when a reason comes below it.
        let top = (y + 40.0).min((screen.height() - CARD_HEIGHT * larger).max(MARGIN));
        let area = Area::new(Id::new("before")).anchor(Align2::CENTER_TOP, vec2(0.0, top));
        area.show(ctx, |ui| {
            card_frame(1.0, PADDING as i8).show(ui, |ui| {
                ui.set_width((CARD_WIDTH * larger).min(screen.width() - 64.0));
                ui.spacing_mut().item_spacing = vec2(10.0, 10.0);
                let server = self.server.as_deref().filter(|server| !server.is_empty());
                let title = match server {
                    None => tr("Play").to_owned(),
                    Some(server) => fill("Play on {server}", &[("server", server)]),
                };
                ui.label(RichText::new(title).size(readable(ctx, LETTERS)));
                let entered;
                (entered, is_secret) = self.draw_fields(ui);
                let letters = readable(ctx, ACTION_LETTERS);
                if action_in(ui, tr("Play"), true, letters).clicked() || entered {
                    wish = Some(Wish::Join);
                }
                if action_in(ui, tr("Play online"), false, letters).clicked() {
                    wish = Some(Wish::Online);
                }
                if action_in(ui, tr("Settings"), false, letters).clicked() {
                    wish = Some(Wish::Settings);
                }
                if let Some(error) = self.error {
                    let room = screen.bottom() - MARGIN - PADDING - ui.cursor().top();
                    let scroll = ScrollArea::vertical().max_height(room.max(REASON_HEIGHT));
                    let reason = RichText::new(error).size(readable(ctx, LETTERS));
                    scroll.show(ui, |ui| ui.label(reason.color(palette::BAD)));
                }
            });
        });
        (wish, is_secret)
    }

    /// Draws the fields. Returns whether Enter ended the writing, and whether the password is
    /// written.
    fn draw_fields(&mut self, ui: &mut Ui) -> (bool, bool) {
        let width = ui.available_width();
        let font = FontId::proportional(readable(ui.ctx(), FIELD_LETTERS));
        let name = name_field(self.name, tr("Your name"), width).font(font.clone());
        let name = ui.add(name);
        name_note(ui, self.name);
        let mut entered = is_entered(ui, &name);
        if !self.needs_password {
            return (entered, false);
        }
        let field = field(self.password, tr("Password"), width, PASSWORD_BYTES_MAX).password(true);
        let password = ui.add(field.font(font));
        if std::mem::take(self.asks_password) {
            password.request_focus();
        }
        entered |= is_entered(ui, &password);
        (entered, password.has_focus())
    }
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::{Event, Key, Modifiers, RawInput, Rect, pos2};

    use super::*;

    /// A page's card from frame to frame.
    #[derive(Default)]
    struct Page {
        context: Context,
        name: String,
        password: String,
        asks_password: bool,
        error: Option<&'static str>,
    }

    impl Page {
        /// Draws two frames, the first with these events: the second shows what they changed.
        /// Returns the wishes, and the place of the field with the keyboard.
        fn draw(&mut self, events: &[Event]) -> (Vec<Wish>, Option<Rect>) {
            let screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1280.0, 720.0)));
            let mut wishes = Vec::new();
            for events in [events, &[]] {
                let input = RawInput { screen_rect, events: events.to_vec(), ..Default::default() };
                let context = self.context.clone();
                let _ = context.run(input, |ctx| {
                    let mut card = Card {
                        server: Some("A server".into()),
                        needs_password: true,
                        name: &mut self.name,
                        password: &mut self.password,
                        asks_password: &mut self.asks_password,
                        error: self.error,
                    };
                    wishes.extend(card.draw(ctx, false).0);
                });
            }
            let focused = self.context.memory(|memory| memory.focused());
            let place = focused.and_then(|id| Some(self.context.read_response(id)?.rect));
            (wishes, place)
        }
    }

    fn typed(text: &str) -> Vec<Event> {
        vec![Event::Text(text.into())]
    }

    fn enter() -> Vec<Event> {
        let (key, modifiers) = (Key::Enter, Modifiers::NONE);
        vec![Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }]
    }

    #[test]
    fn password_keeps_keyboard_and_place_when_reasons_come_and_go() {
        let mut page = Page { asks_password: true, ..Page::default() };
        // An anchored card is in its place once its size is known.
        page.draw(&[]);
        let (_, first) = page.draw(&[]);
        let first = first.expect("the password has the keyboard");
        let stays = |now: Option<Rect>| {
            let now = now.expect("it keeps the keyboard");
            // Rows with dots are a hair higher than those with a hint.
            assert!(now.min.distance(first.min) < 3.0, "{first:?} {now:?}");
        };
        let (wishes, place) = page.draw(&typed("wrong"));
        assert_eq!(wishes, []);
        stays(place);
        assert_eq!(page.draw(&enter()).0, [Wish::Join]);
        // The server refuses it: the page asks again, and says why.
        (page.asks_password, page.error) = (true, Some("that is not the password; ask the host"));
        stays(page.draw(&[]).1);
        page.draw(&typed(" word"));
        assert_eq!(page.password, "wrong word", "the keys still write the password");
        page.error = None;
        stays(page.draw(&typed("s")).1);
        assert_eq!(page.password, "wrong words");
        // A note on the name stands above it, and leaves it the keyboard.
        page.name = "Ada\u{fff9}".into();
        page.draw(&typed("!"));
        assert_eq!(page.password, "wrong words!");
    }
}

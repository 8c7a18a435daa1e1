//! *Play online*: a directory chooses a server, alone or with friends.

use std::fmt;

use egui_macroquad::egui::{
    Area, Context, FontId, Id, Key, Label, LayerId, RichText, ScrollArea, Slider, Ui,
};
use phaselock::invitation::Invitation;
use phaselock::limits::{PARTY_CODE_LETTERS, PARTY_MAX};
use phaselock::seek::{SeekState, SeekView, SeekWish};
use phaselock::wire::directory::play::{PartyCode, PartyWish};
use phaselock::wire::query::WebIdentity;
use phaselock::wire::rooms::RoomCode;
use phaselock_ui::background;
use phaselock_ui::paint::{readable, to_be_read};
use phaselock_ui::parts::{
    ACTION_LETTERS, FIELD_LETTERS, PADDING, action_in, card_frame, field, title_case,
};
use phaselock_ui::prelude::*;

/// Width of the card in points, and the space between it and the window's edge.
const WIDTH: f32 = 460.0;
const MARGIN: f32 = 8.0;
/// Sizes of letters in points: of the title, of text, and of choices.
const TITLE: f32 = 23.0;
const LETTERS: f32 = 14.0;
const CHOICE: f32 = 15.0;
const CODE: f32 = 34.0;
/// People in a new party, unless the player says otherwise, and the most that can be chosen.
const PEOPLE: u16 = 4;
const PEOPLE_MAX: u16 = 16;

const _: () = assert!(PEOPLE_MAX <= PARTY_MAX);

/// The directories that can be asked.
pub(crate) trait Directories {
    /// Whether there is none.
    fn is_empty(&self) -> bool;

    /// Whether the player can add some.
    fn can_grow(&self) -> bool;

    /// Starts a search.
    fn seek(&self, wish: SeekWish) -> Result<Box<dyn Search>, String>;
}

/// A search that runs until it is dropped.
pub(crate) trait Search: fmt::Debug {
    /// Returns how far it is; called in each frame.
    fn view(&mut self) -> SeekView;
}

/// What the player chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Going {
    Back,
    /// Open the server list, to name a directory.
    Directories,
    Join {
        invitation: Invitation,
        room: Option<RoomCode>,
        /// How a browser recognizes the server.
        #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "pages use it"))]
        web: WebIdentity,
        /// The player's ticket for the seat.
        ticket: Option<Vec<u8>>,
    },
}

/// With whom to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Company {
    Strangers,
    NewParty,
    Party,
}

impl Company {
    const ALL: [Self; 3] = [Self::Strangers, Self::NewParty, Self::Party];

    fn words(self) -> &'static str {
        match self {
            Self::Strangers => tr("Alone"),
            Self::NewParty => tr("With friends"),
            Self::Party => tr("I have a code"),
        }
    }
}

/// The screen, and the search that it shows.
#[derive(Debug)]
pub(crate) struct Online {
    /// Names of all games.
    all: Vec<String>,
    game: String,
    company: Company,
    people: u16,
    code: String,
    seek: Option<Box<dyn Search>>,
    /// The code of a party that was made here, until the player joins.
    made: Option<PartyCode>,
    /// Why the last search or visit failed.
    pub(crate) error: Option<String>,
}

impl Online {
    pub(crate) fn new(games: impl Iterator<Item = &'static str>) -> Self {
        let all: Vec<_> = games.map(str::to_owned).collect();
        Self {
            game: all.first().cloned().unwrap_or_default(),
            all,
            company: Company::Strangers,
            people: PEOPLE,
            code: String::new(),
            seek: None,
            made: None,
            error: None,
        }
    }

    /// Number of choices of company.
    #[cfg(test)]
    pub(crate) const PAGES: usize = Company::ALL.len();

    /// Chooses a company by its number.
    #[cfg(test)]
    pub(crate) fn show(&mut self, page: usize) {
        self.company = Company::ALL[page];
    }

    /// Shows the code of a new party.
    #[cfg(test)]
    pub(crate) fn tell(&mut self, code: PartyCode) {
        self.made = Some(code);
    }

    /// Ends the search. The directory forgets a request that is not repeated.
    pub(crate) fn close(&mut self) {
        (self.seek, self.made) = (None, None);
    }

    fn party(&self) -> Result<PartyWish, String> {
        match (self.company, self.made) {
            (_, Some(code)) => Ok(PartyWish::Join(code)),
            (Company::Strangers, None) => Ok(PartyWish::None),
            (Company::NewParty, None) => Ok(PartyWish::New),
            (Company::Party, None) => {
                let code = self.code.trim().parse();
                code.map(PartyWish::Join).map_err(|_| {
                    let letters = PARTY_CODE_LETTERS.to_string();
                    fill("A code has {letters} letters; check it.", &[("letters", &letters)])
                })
            }
        }
    }

    fn begin(&mut self, directories: &dyn Directories) {
        self.error = None;
        let begun = self.party().and_then(|party| {
            let people = if party == PartyWish::New { self.people } else { 1 };
            let wish = SeekWish { game: self.game.clone(), people, party };
            directories.seek(wish)
        });
        match begun {
            Ok(seek) => self.seek = Some(seek),
            Err(why) => self.error = Some(why),
        }
    }

    /// Shows the screen; call it once per frame.
    pub(crate) fn draw(&mut self, ctx: &Context, directories: &dyn Directories) -> Option<Going> {
        let view = self.seek.as_mut().map(|seek| seek.view());
        self.draw_view(ctx, view, directories)
    }

    /// Shows the screen with how far the search is.
    pub(crate) fn draw_view(
        &mut self,
        ctx: &Context,
        view: Option<SeekView>,
        directories: &dyn Directories,
    ) -> Option<Going> {
        let screen = ctx.screen_rect();
        let painter = ctx.layer_painter(LayerId::background());
        background::draw(&painter, screen, screen.top() + 60.0, ctx.input(|input| input.time));
        let mut going = self.follow(view.as_ref());
        Area::new(Id::new("online")).anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0)).show(
            ctx,
            |ui| {
                card_frame(1.0, PADDING as i8).show(ui, |ui| {
                    let edges = 2.0 * (PADDING + MARGIN);
                    let width = WIDTH * to_be_read(ctx, LETTERS);
                    ui.set_width((width - edges).min(screen.width() - edges));
                    ui.spacing_mut().item_spacing = vec2(8.0, 10.0);
                    let scroll = ScrollArea::vertical().max_height(screen.height() - edges);
                    let chosen = scroll.show(ui, |ui| match view {
                        _ if self.made.is_some() && self.seek.is_none() => {
                            self.told(ui, directories);
                            None
                        }
                        Some(view) => {
                            self.searching(ui, &view);
                            None
                        }
                        None => self.choices(ui, directories),
                    });
                    going = going.take().or(chosen.inner);
                });
            },
        );
        if going.is_none() && ctx.input(|input| input.key_pressed(Key::Escape)) {
            if self.seek.is_none() && self.made.is_none() {
                return Some(Going::Back);
            }
            self.close();
        }
        going
    }

    /// Handles the end of a search.
    fn follow(&mut self, view: Option<&SeekView>) -> Option<Going> {
        match &view?.state {
            SeekState::Asking | SeekState::Waiting { .. } => None,
            SeekState::Failed(why) => {
                self.error = Some(why.to_string());
                self.close();
                None
            }
            SeekState::Placed { .. }
                if self.company == Company::NewParty && self.made.is_none() =>
            {
                // The others need the code before the game begins.
                (self.made, self.seek) = (view?.party, None);
                None
            }
            SeekState::Placed { invitation, room, web, ticket } => {
                let (invitation, room) = (invitation.clone(), room.clone());
                let (web, ticket) = (web.clone(), ticket.clone());
                self.close();
                Some(Going::Join { invitation, room, web, ticket })
            }
        }
    }

    /// Shows what can be chosen.
    fn choices(&mut self, ui: &mut Ui, directories: &dyn Directories) -> Option<Going> {
        let choice = readable(ui.ctx(), CHOICE);
        let what = tr("A directory finds you a server with a free seat.");
        heading(ui, tr("Play online"), what);
        ui.horizontal_wrapped(|ui| {
            for name in &self.all {
                let title = RichText::new(title_case(name)).size(choice);
                ui.selectable_value(&mut self.game, name.clone(), title);
            }
        });
        ui.horizontal_wrapped(|ui| {
            for company in Company::ALL {
                let words = RichText::new(company.words()).size(choice);
                ui.selectable_value(&mut self.company, company, words);
            }
        });
        match self.company {
            Company::Strangers => {}
            Company::NewParty => {
                ui.horizontal(|ui| {
                    let words = RichText::new(tr("People")).size(choice);
                    ui.label(words.color(palette::TEXT_SOFT));
                    ui.add(Slider::new(&mut self.people, 2..=PEOPLE_MAX).show_value(false));
                    let count = RichText::new(self.people.to_string()).size(choice);
                    ui.label(count.color(palette::TEXT));
                });
            }
            Company::Party => {
                let width = ui.available_width();
                let hint = PartyCode::EXAMPLE.as_str();
                let font = FontId::proportional(readable(ui.ctx(), FIELD_LETTERS));
                ui.add(field(&mut self.code, hint, width, PARTY_CODE_LETTERS + 4).font(font));
            }
        }
        self.end_of_choices(ui, directories)
    }

    /// Shows what the player can do with the choices.
    fn end_of_choices(&mut self, ui: &mut Ui, directories: &dyn Directories) -> Option<Going> {
        let mut going = None;
        let (has_directory, can_grow) = (!directories.is_empty(), directories.can_grow());
        let none = match can_grow {
            true => tr("You know no directory yet. Add one to the list of servers."),
            false => {
                tr("This page has no directory to search. Join its own server, or ask its host.")
            }
        };
        if !has_directory {
            let none = RichText::new(none).size(readable(ui.ctx(), LETTERS));
            ui.label(none.color(palette::TEXT_SOFT));
        }
        self.error_line(ui);
        let mut begins = false;
        if has_directory {
            begins = button(ui, tr("Play"), true);
        } else if can_grow && button(ui, tr("Find servers"), true) {
            going = Some(Going::Directories);
        }
        if button(ui, tr("Back"), false) {
            going = Some(Going::Back);
        }
        begins |= has_directory && ui.input(|input| input.key_pressed(Key::Enter));
        if begins {
            self.begin(directories);
        }
        going
    }

    /// Shows the search.
    fn searching(&mut self, ui: &mut Ui, view: &SeekView) {
        let position = match view.state {
            SeekState::Waiting { position } => position,
            _ => 0,
        };
        let what = match view.state {
            SeekState::Waiting { .. } if position > 0 => {
                let ahead = position.to_string();
                fill("All servers are full. Ahead of you: {ahead}", &[("ahead", &ahead)])
            }
            _ => tr("Looking for a server ...").to_owned(),
        };
        heading(ui, &title_case(&self.game), &what);
        if let Some(code) = view.party {
            show_code(ui, code);
        }
        if button(ui, tr("Cancel"), false) {
            self.close();
        }
    }

    /// Shows the code of a new party, which has a place.
    fn told(&mut self, ui: &mut Ui, directories: &dyn Directories) {
        let what = tr("Tell your friends this code. Their seats are kept for two minutes.");
        heading(ui, tr("Play with friends"), what);
        if let Some(code) = self.made {
            show_code(ui, code);
        }
        self.error_line(ui);
        let begins = button(ui, tr("Join"), true);
        if begins || ui.input(|input| input.key_pressed(Key::Enter)) {
            self.begin(directories);
        }
        if button(ui, tr("Cancel"), false) {
            self.close();
        }
    }

    fn error_line(&self, ui: &mut Ui) {
        if let Some(error) = &self.error {
            let error = RichText::new(error).size(readable(ui.ctx(), LETTERS));
            ui.label(error.color(palette::BAD));
        }
    }
}

/// A button of the card's width. Returns whether it was clicked.
fn button(ui: &mut Ui, label: &str, primary: bool) -> bool {
    let letters = readable(ui.ctx(), ACTION_LETTERS);
    action_in(ui, label, primary, letters).clicked()
}

/// Adds a heading, with a line below it that explains it; on phones it may need two.
fn heading(ui: &mut Ui, title: &str, what: &str) {
    let title = RichText::new(title).size(readable(ui.ctx(), TITLE));
    ui.label(title.color(palette::TEXT));
    let what = RichText::new(what).size(readable(ui.ctx(), LETTERS));
    ui.add(Label::new(what.color(palette::TEXT_FAINT)).wrap().selectable(false));
}

fn show_code(ui: &mut Ui, code: PartyCode) {
    ui.vertical_centered(|ui| {
        let words = RichText::new(code.as_str()).size(CODE).monospace();
        ui.label(words.color(palette::TEXT));
    });
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::RawInput;
    use phaselock::fingerprint::Fingerprint;
    use phaselock::seek::SeekError;

    use super::*;

    /// A machine with a directory, or none, that finds nothing.
    struct Known(usize);

    impl Directories for Known {
        fn is_empty(&self) -> bool {
            self.0 == 0
        }

        fn can_grow(&self) -> bool {
            false
        }

        fn seek(&self, _: SeekWish) -> Result<Box<dyn Search>, String> {
            Err("no search".into())
        }
    }

    fn draw(online: &mut Online, view: Option<SeekView>) -> Option<Going> {
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0)));
        let input = RawInput { screen_rect, ..RawInput::default() };
        let mut going = None;
        let _ = Context::default().run(input, |ctx| {
            going = online.draw_view(ctx, view.clone(), &Known(1));
        });
        going
    }

    fn view(state: SeekState, party: Option<PartyCode>) -> Option<SeekView> {
        Some(SeekView { state, party })
    }

    #[test]
    fn players_join_when_they_are_placed_and_parties_after_the_code_was_told() {
        let mut online = Online::new(["race", "puck"].into_iter());
        let invitation = Invitation {
            address: "203.0.113.7:4433".parse().expect("an address"),
            fingerprint: Some(Fingerprint([7; 32])),
        };
        let room: Option<RoomCode> = Some("2".parse().expect("a code"));
        let placed = SeekState::Placed {
            invitation: invitation.clone(),
            room: room.clone(),
            web: WebIdentity::default(),
            ticket: Some(vec![1]),
        };
        let (web, ticket) = (WebIdentity::default(), Some(vec![1]));
        let join = Some(Going::Join { invitation, room, web, ticket });
        assert_eq!(draw(&mut online, view(SeekState::Waiting { position: 3 }, None)), None);
        assert_eq!(draw(&mut online, view(placed.clone(), None)), join);

        online.company = Company::NewParty;
        assert_eq!(online.party(), Ok(PartyWish::New));
        let code = Some(PartyCode::EXAMPLE);
        assert_eq!(draw(&mut online, view(placed.clone(), code)), None);
        assert_eq!(online.made, code);
        assert_eq!(online.party(), Ok(PartyWish::Join(PartyCode::EXAMPLE)));
        assert_eq!(draw(&mut online, None), None, "it shows the code");
        assert_eq!(draw(&mut online, view(placed, code)), join);
        assert_eq!(online.made, None);
    }

    #[test]
    fn codes_are_checked_and_failures_are_shown() {
        let mut online = Online::new(["race"].into_iter());
        online.company = Company::Party;
        online.code = "wrong".into();
        online.begin(&Known(0));
        assert!(online.seek.is_none());
        assert_eq!(online.error.as_deref(), Some("A code has 6 letters; check it."));
        online.code = " kmtzrw ".into();
        assert_eq!(online.party(), Ok(PartyWish::Join(PartyCode::EXAMPLE)));
        draw(&mut online, view(SeekState::Failed(SeekError::Silent), None));
        assert!(online.error.expect("a reason").contains("no directory answers"));
    }
}

//! *Play online*: a directory chooses a server, alone or with friends.

use egui_macroquad::egui::{Area, Context, Id, Key, LayerId, RichText, Slider, Ui};
use phaselock::limits::{PARTY_CODE_LETTERS, PARTY_MAX};
use phaselock::wire::directory::play::{PartyCode, PartyWish};
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::address::Address;
use phaselock_quic::invitation::Invitation;
use phaselock_quic::seek::{Seek, SeekState, SeekView, SeekWish};
use phaselock_ui::background;
use phaselock_ui::parts::{action, card, field, heading, title_case};
use phaselock_ui::prelude::*;

/// Width of the card in points.
const WIDTH: f32 = 460.0;
/// People in a new party, unless the player says otherwise, and the most that can be chosen.
const PEOPLE: u16 = 4;
const PEOPLE_MAX: u16 = 16;

const _: () = assert!(PEOPLE_MAX <= PARTY_MAX);

/// What the player chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Going {
    Back,
    /// Open the server list, to name a directory.
    Directories,
    Join {
        invitation: Invitation,
        room: Option<RoomCode>,
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
    seek: Option<Seek>,
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

    fn begin(&mut self, directories: Vec<Address>) {
        self.error = None;
        let begun = self.party().and_then(|party| {
            let people = if party == PartyWish::New { self.people } else { 1 };
            let wish = SeekWish { game: self.game.clone(), people, party };
            Seek::start(wish, directories).map_err(|error| error.to_string())
        });
        match begun {
            Ok(seek) => self.seek = Some(seek),
            Err(why) => self.error = Some(why),
        }
    }

    /// Shows the screen; call it once per frame.
    pub(crate) fn draw(&mut self, ctx: &Context, directories: Vec<Address>) -> Option<Going> {
        let view = self.seek.as_ref().map(Seek::view);
        self.draw_view(ctx, view, directories)
    }

    /// Shows the screen with how far the search is.
    pub(crate) fn draw_view(
        &mut self,
        ctx: &Context,
        view: Option<SeekView>,
        directories: Vec<Address>,
    ) -> Option<Going> {
        let screen = ctx.screen_rect();
        let painter = ctx.layer_painter(LayerId::background());
        background::draw(&painter, screen, screen.top() + 60.0, ctx.input(|input| input.time));
        let mut going = self.follow(view.as_ref());
        Area::new(Id::new("online")).anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0)).show(
            ctx,
            |ui| {
                card(ui, WIDTH, |ui| {
                    ui.spacing_mut().item_spacing = vec2(8.0, 10.0);
                    let chosen = match view {
                        _ if self.made.is_some() && self.seek.is_none() => {
                            self.told(ui, directories);
                            None
                        }
                        Some(view) => {
                            self.searching(ui, &view);
                            None
                        }
                        None => self.choices(ui, directories),
                    };
                    going = going.take().or(chosen);
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
            SeekState::Placed { invitation, room } => {
                let (invitation, room) = (invitation.clone(), room.clone());
                self.close();
                Some(Going::Join { invitation, room })
            }
        }
    }

    /// Shows what can be chosen.
    fn choices(&mut self, ui: &mut Ui, directories: Vec<Address>) -> Option<Going> {
        let mut going = None;
        let what = tr("A directory finds you a server with a free seat.");
        heading(ui, tr("Play online"), what);
        ui.horizontal_wrapped(|ui| {
            for name in &self.all {
                let title = RichText::new(title_case(name)).size(15.0);
                ui.selectable_value(&mut self.game, name.clone(), title);
            }
        });
        ui.horizontal_wrapped(|ui| {
            for company in Company::ALL {
                let words = RichText::new(company.words()).size(15.0);
                ui.selectable_value(&mut self.company, company, words);
            }
        });
        match self.company {
            Company::Strangers => {}
            Company::NewParty => {
                ui.horizontal(|ui| {
                    let words = RichText::new(tr("People")).size(15.0).color(palette::TEXT_SOFT);
                    ui.label(words);
                    ui.add(Slider::new(&mut self.people, 2..=PEOPLE_MAX).show_value(false));
                    let count = RichText::new(self.people.to_string()).size(17.0);
                    ui.label(count.color(palette::TEXT));
                });
            }
            Company::Party => {
                let width = ui.available_width();
                let hint = PartyCode::EXAMPLE.as_str();
                ui.add(field(&mut self.code, hint, width, PARTY_CODE_LETTERS + 4));
            }
        }
        if directories.is_empty() {
            let none = tr("You know no directory yet. Add one to the list of servers.");
            ui.label(RichText::new(none).size(14.0).color(palette::TEXT_SOFT));
        }
        self.error_line(ui);
        let (has_directory, mut begins) = (!directories.is_empty(), false);
        if has_directory {
            begins = action(ui, tr("Play"), true).clicked();
        } else if action(ui, tr("Find servers"), true).clicked() {
            going = Some(Going::Directories);
        }
        if action(ui, tr("Back"), false).clicked() {
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
        if action(ui, tr("Cancel"), false).clicked() {
            self.close();
        }
    }

    /// Shows the code of a new party, which has a place.
    fn told(&mut self, ui: &mut Ui, directories: Vec<Address>) {
        let what = tr("Tell your friends this code. Their seats are kept for two minutes.");
        heading(ui, tr("Play with friends"), what);
        if let Some(code) = self.made {
            show_code(ui, code);
        }
        self.error_line(ui);
        let begins = action(ui, tr("Join"), true).clicked();
        if begins || ui.input(|input| input.key_pressed(Key::Enter)) {
            self.begin(directories);
        }
        if action(ui, tr("Cancel"), false).clicked() {
            self.close();
        }
    }

    fn error_line(&self, ui: &mut Ui) {
        if let Some(error) = &self.error {
            ui.label(RichText::new(error).size(13.0).color(palette::BAD));
        }
    }
}

fn show_code(ui: &mut Ui, code: PartyCode) {
    ui.vertical_centered(|ui| {
        let words = RichText::new(code.as_str()).size(34.0).monospace();
        ui.label(words.color(palette::TEXT));
    });
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::RawInput;
    use phaselock::fingerprint::Fingerprint;
    use phaselock_quic::seek::SeekError;

    use super::*;

    fn draw(online: &mut Online, view: Option<SeekView>) -> Option<Going> {
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0)));
        let input = RawInput { screen_rect, ..RawInput::default() };
        let mut going = None;
        let directory = vec!["localhost:1".parse().expect("an address")];
        let _ = Context::default().run(input, |ctx| {
            going = online.draw_view(ctx, view.clone(), directory.clone());
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
        let placed = SeekState::Placed { invitation: invitation.clone(), room: room.clone() };
        let join = Some(Going::Join { invitation, room });
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
        online.begin(vec![]);
        assert!(online.seek.is_none());
        assert_eq!(online.error.as_deref(), Some("A code has 6 letters; check it."));
        online.code = " kmtzrw ".into();
        assert_eq!(online.party(), Ok(PartyWish::Join(PartyCode::EXAMPLE)));
        draw(&mut online, view(SeekState::Failed(SeekError::Silent), None));
        assert!(online.error.expect("a reason").contains("no directory answers"));
    }
}

//! The screens without a world: menu, settings, servers, the question of trust.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::visit::connection::Changed;
use egui_macroquad::egui::{Context, LayerId, RawInput, Rect};
use phaselock::client::State;
use phaselock::fingerprint::Fingerprint;
use phaselock::replay::Piece;
use phaselock::seek::{SeekState, SeekView, SeekWish};
use phaselock::server::{AnyRoom, RecordConfig, Room, RoomConfig, RoomSettings};
use phaselock::time::{LocalTime, Micros, Tick};
use phaselock::wire::directory::play::PartyCode;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::query::Info;
use phaselock::wire::rooms::RoomStatus;
use phaselock_games::race::Race;
use phaselock_quic::address::Address;
use phaselock_quic::survey::{Found, Reply, SurveyView, Via};

use super::checker::{problems, sizes_of, texts};
use super::{Pane, phones, report, variants, windows};
use crate::desktop::args::Args;
use crate::desktop::menu::Menu;
use crate::desktop::recordings::Recordings;
use crate::desktop::servers::{ServerLists, Servers, Tab, Trust};
use crate::online::{Directories, Online, Search};
use crate::overlay::{self, Status};
use crate::page::card::Card;
use crate::registry::Views;
use crate::replay::{Download, Loading, Progress};
use crate::settings::Settings;
use crate::settings::Store;
use crate::settings::languages::Languages;
use crate::settings::screen::{self, Env, Screen};
use phaselock_lab::scene::{Begin, Lab};
use phaselock_ui::controls::Controls;
use phaselock_ui::gamepad::{self, Gamepads};
use phaselock_ui::lesson;
use phaselock_ui::letters::Letters;
use phaselock_ui::look::Needs;
use phaselock_ui::paint::READABLE;

/// Lays out a screen in all sizes, languages and sizes of letters.
fn lay_out(name: &str, draw: impl FnMut(&Context)) -> Vec<(String, String)> {
    lay_out_in(&windows(), name, draw)
}

/// The windows in which a page's screens are shown before a game.
fn windows_of_page() -> Vec<Pane> {
    windows().into_iter().chain(phones(Needs::Page)).collect()
}

/// Lays out a screen that pages show, on phones too.
fn lay_out_of_page(name: &str, draw: impl FnMut(&Context)) -> Vec<(String, String)> {
    lay_out_in(&windows_of_page(), name, draw)
}

fn lay_out_in(panes: &[Pane], name: &str, mut draw: impl FnMut(&Context)) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (variant, letters) in variants() {
        for pane in panes {
            let (screen, context) = (pane.screen(), pane.context());
            Letters::new().set(&context, letters, "en");
            let mut last = Vec::new();
            for frame in 0..4 {
                let time = Some(f64::from(frame) / 60.0);
                let input = RawInput { screen_rect: Some(screen), time, ..RawInput::default() };
                let output = context.run(input, &mut draw);
                last = problems(&output.shapes, screen, &[]);
            }
            // The menus' own ground is the whole window's.
            last.retain(|problem| !problem.contains("has no ground"));
            let state = format!("{name}, {variant} at {:?}", pane.size);
            found.extend(last.into_iter().map(|it| (state.clone(), it)));
        }
    }
    found
}

#[test]
fn layout_of_menu_is_clear() {
    let views = phaselock_views::all(Views::new());
    let mut store = Store::open(None);
    let words = ["phaselock", "--link", "delay=120,jitter=30,loss=5%"].map(OsString::from);
    let plain = ["phaselock"].map(OsString::from);
    let args = Args::parse(words, views.games()).or_else(|_| Args::parse(plain, views.games()));
    let mut menu = Menu::new(&args.expect("the words can be read"), views.games(), &store.settings);
    let mut found = lay_out("menu", |ctx| drop(menu.draw(ctx, &mut store.settings)));
    let reason = "a.server.with.a.long.name.example.org:4433: the server did not answer for 10 s, \
                  and it was tried three times; ask its host whether it runs";
    menu.set_error(Some(reason.to_owned()));
    found.extend(lay_out("menu with an error", |ctx| drop(menu.draw(ctx, &mut store.settings))));
    menu.set_error(None);
    let told =
        "A server with a long name - skirmish, puck, asteroids, race - 12 of 64 players - 23 ms";
    found.extend(lay_out("menu with a server that needs a password", |ctx| {
        drop(menu.draw_with_status(ctx, &mut store.settings, Some((told.to_owned(), true))));
    }));
    report(found);
}

/// A screen in a window of a size in points.
struct Shown {
    screen: Rect,
    context: Context,
    frame: u32,
}

impl Shown {
    fn new(pane: Pane) -> Self {
        Self { screen: pane.screen(), context: pane.context(), frame: 0 }
    }

    /// Places of the words in the next frame.
    fn places(&mut self, draw: impl FnMut(&Context)) -> BTreeMap<String, Rect> {
        let time = Some(f64::from(self.frame) / 60.0);
        self.frame += 1;
        let input = RawInput { screen_rect: Some(self.screen), time, ..RawInput::default() };
        let seen = texts(&self.context.run(input, draw).shapes, self.screen);
        seen.into_iter().map(|text| (text.words, text.rect)).collect()
    }
}

/// Words that stand elsewhere once an error is shown.
fn moved(before: &BTreeMap<String, Rect>, after: &BTreeMap<String, Rect>) -> Vec<String> {
    let both = before.iter().filter_map(|(words, rect)| Some((words, rect, after.get(words)?)));
    // A hair is not seen.
    let moved = both.filter(|(_, before, after)| before.min.distance(after.min) > 3.0);
    moved.map(|(words, before, after)| format!("{words:?}: {before:?} to {after:?}")).collect()
}

/// Shows a screen without an error, with one, and without it again, and looks at every frame.
/// `draw` gets whether there is one. Returns words that moved, and the words with the error.
fn move_by_error(
    pane: Pane,
    mut draw: impl FnMut(&Context, bool),
) -> (Vec<String>, BTreeMap<String, Rect>) {
    let mut shown = Shown::new(pane);
    let mut before = BTreeMap::new();
    // Fonts and sizes are known from the second frame on.
    for _ in 0..3 {
        before = shown.places(|ctx| draw(ctx, false));
    }
    let (mut found, mut told) = (Vec::new(), BTreeMap::new());
    for frame in 0..8 {
        let has_error = frame < 4;
        let mut after = shown.places(|ctx| draw(ctx, has_error));
        if has_error {
            told.clone_from(&after);
        }
        // The error has the title's place.
        after.retain(|words, _| {
            words != "PHASELOCK"
                && words
                    != "Fast multiplayer games, in \
                                                                  phase with the server"
        });
        let moved = moved(&before, &after);
        found.extend(moved.into_iter().map(|it| format!("frame {frame} at {:?}: {it}", pane.size)));
    }
    (found, told)
}

#[test]
fn errors_come_and_go_without_moving_what_is_under_the_mouse() {
    let (views, mut store) = (phaselock_views::all(Views::new()), Store::open(None));
    let plain = Args::parse(["phaselock"].map(OsString::from), views.games());
    let plain = plain.expect("the words can be read");
    let mut menu = Menu::new(&plain, views.games(), &store.settings);
    let mut servers = Servers::silent(ServerLists::open(None));
    let error = "a.server.example.org:4433: the server did not answer for 10 s; ask its host \
                 whether it runs, and look whether your network lets UDP through to this port";
    let error = |has_error: bool| has_error.then(|| error.to_owned());
    for pane in windows() {
        let (moved, told) = move_by_error(pane, |ctx, has_error| {
            menu.set_error(error(has_error));
            drop(menu.draw(ctx, &mut store.settings));
        });
        assert!(told.contains_key("Quit") && told.len() > 10, "{told:?}");
        assert_eq!(moved, Vec::<String>::new(), "menu");

        let (moved, told) = move_by_error(pane, |ctx, has_error| {
            servers.error = error(has_error);
            servers.draw_page(ctx, Tab::Internet, &view_of(4, |n| format!("a:{}", n + 1)));
        });
        assert!(told.keys().any(|words| words.contains("ask its host")), "{told:?}");
        assert!(told.contains_key("Refresh") && told.len() > 10, "{told:?}");
        assert_eq!(moved, Vec::<String>::new(), "servers");
    }
    for pane in windows_of_page() {
        let (moved, told) = move_by_error(pane, |ctx, has_error| {
            card(ctx, error(has_error).as_deref());
        });
        assert!(told.keys().any(|words| words.contains("ask its host")), "{told:?}");
        assert_eq!(moved, Vec::<String>::new(), "card before the game");
    }
}

/// The card of a page before the game.
fn card(ctx: &Context, error: Option<&str>) {
    let mut card = Card {
        server: Some("A server with a name that is as long".into()),
        needs_password: true,
        name: &mut "Wilhelmina".to_owned(),
        password: &mut "secret".to_owned(),
        asks_password: &mut false,
        error,
    };
    let _ = card.draw(ctx, false);
}

#[test]
fn layout_of_the_card_before_a_game_is_clear() {
    let error = "There is no room a-room-with-a-long-code on this server now. Press Play to join \
                 another room.";
    let mut found = lay_out_of_page("card", |ctx| card(ctx, None));
    found.extend(lay_out_of_page("card with a reason", |ctx| card(ctx, Some(error))));
    report(found);
}

/// Asserts that no letters of a screen are too small on phones.
fn check_letters(name: &str, phones: impl Iterator<Item = Pane>, mut draw: impl FnMut(&Context)) {
    for pane in phones {
        let (screen, context, mut found) = (pane.screen(), pane.context(), Vec::new());
        for _ in 0..3 {
            let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
            found = sizes_of(&context.run(input, &mut draw).shapes);
        }
        assert!(found.len() > 1, "{name}: {found:?}");
        let small = found.iter().find(|(_, points)| points / pane.unit < READABLE - 0.01);
        assert!(small.is_none(), "{name} at {pane:?}: {small:?}");
    }
}

#[test]
fn letters_of_cards_can_be_read_on_a_phone() {
    check_letters("before the game", phones(Needs::Page), |ctx| {
        card(ctx, Some("the server did not answer for 10 s"))
    });
    let reason = Disconnect::new(Code::Lost, "the server did not answer for 10 s");
    let now = LocalTime(0);
    let state = State::Waiting { reason, retry_at: now + Micros::from_ms(2500), attempt: 3 };
    check_letters("joining", phones(Needs::Page), |ctx| {
        let status = status_of(&state, None, now);
        overlay::draw(&ctx.layer_painter(LayerId::background()), &status);
    });
    let mut loading = download();
    check_letters("download", phones(Needs::Page), |ctx| assert_eq!(loading.draw(ctx), None));
    let mut controls = Controls::default();
    controls.set_glass(true);
    check_letters("lesson", phones(Needs::Menu), |ctx| {
        lesson::sample(&ctx.layer_painter(LayerId::background()), ctx.screen_rect(), &controls);
    });
}

/// What the settings' screen looks at, beside the settings.
struct Around {
    views: Views,
    controls: Controls,
    gamepads: Gamepads,
    languages: Languages,
}

impl Around {
    fn env<'a>(&'a self, store: &'a mut Store) -> Env<'a> {
        let Self { views, controls, gamepads, languages } = self;
        Env { store, views, controls, gamepads, languages }
    }
}

#[test]
fn layout_of_settings_is_clear() {
    let around = Around {
        views: phaselock_views::all(Views::new()),
        controls: Controls::default(),
        gamepads: gamepad::start(),
        languages: Languages::default(),
    };
    let mut store = Store::open(None);
    let mut found = Vec::new();
    for tab in screen::Tab::ALL {
        let mut screen = Screen::at(tab);
        found.extend(lay_out_of_page(&format!("settings, {tab:?}"), |ctx| {
            screen.draw(ctx, around.env(&mut store));
        }));
    }
    let chat = ("chat".to_owned(), vec!["Tab".to_owned(), "W".to_owned()]);
    store.settings.controls.insert("all".to_owned(), [chat].into());
    let mut screen = Screen::waiting();
    found.extend(lay_out_of_page("settings, a press is waited for, keys have two uses", |ctx| {
        screen.draw(ctx, around.env(&mut store));
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("settings.toml");
    let faults: String = (0..40).map(|n| format!("unknown_{n} = {n}\n")).collect();
    std::fs::write(&path, format!("[sound]\n{faults}")).expect("written");
    let mut store = Store::open(Some(path));
    assert!(store.problems().len() > 20, "{:?}", store.problems());
    let mut screen = Screen::default();
    found.extend(lay_out_of_page("settings with faults", |ctx| {
        screen.draw(ctx, around.env(&mut store));
    }));
    report(found);
}

#[test]
fn layout_of_laboratory_is_clear() {
    let views = phaselock_views::all(Views::new());
    let mut lab = Lab::new(&Begin::default(), None, views.games());
    report(lay_out("laboratory", |ctx| {
        let _ = lab.draw(ctx, 1.0 / 60.0);
    }));
}

#[test]
fn layout_of_recordings_is_clear() {
    let folder = tempfile::tempdir().expect("a folder");
    let views = phaselock_views::all(Views::new());
    let settings = Settings::default();
    let mut empty = Recordings::new(Some(folder.path().to_owned()), views.clone());
    let mut found = lay_out("no recordings", |ctx| assert_eq!(empty.draw(ctx, &settings), None));
    let mut room = Room::<Race>::new(RoomConfig {
        record: Some(RecordConfig::default()),
        settings: RoomSettings { bots: 9, ..RoomSettings::default() },
        ..RoomConfig::default()
    });
    while room.tick() < Tick(700) {
        let now = room.next_timeout();
        room.handle_timeout(now);
    }
    room.cut_replay();
    let pieces = std::iter::from_fn(|| room.poll_replay());
    let file: Vec<u8> = pieces
        .flat_map(|piece| match piece {
            Piece::Start(bytes) | Piece::Chunk(bytes) => bytes,
        })
        .collect();
    let long = "of-a-server-with-a-name-that-is-as-long-as-any-file-name-should-be";
    for number in 0..9 {
        let bytes = if number % 3 == 2 { b"foreign" } else { &file[..] };
        let name = format!("2026-11-26-11350{number}_race_{long}.plr");
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    let mut screen = Recordings::new(Some(folder.path().to_owned()), views);
    let context = Pane::of((1280.0, 720.0), Needs::Menu, 1.0).context();
    while !screen.is_settled() {
        let _ =
            context.run(RawInput::default(), |ctx| assert_eq!(screen.draw(ctx, &settings), None));
    }
    found.extend(lay_out("recordings", |ctx| assert_eq!(screen.draw(ctx, &settings), None)));
    screen.error = Some("This recording cannot be played: the recording is damaged.".to_owned());
    found.extend(lay_out("recordings, one is deleted", |ctx| {
        screen.ask_to_delete();
        assert_eq!(screen.draw(ctx, &settings), None);
    }));
    report(found);
}

/// A visit that has not begun.
fn status_of<'a>(state: &'a State, link: Option<&'a str>, now: LocalTime) -> Status<'a> {
    Status {
        is_recording: false,
        title: "a.server.with.a.long.name.example.org:4433",
        server: "",
        state,
        lost: None,
        now,
        playing: None,
        silence: None,
        figures: None,
        without_network: false,
        link,
        pinned: None,
        menu_keys: "Esc, Start",
    }
}

/// A download in its middle.
struct HalfWay;

impl Download for HalfWay {
    fn view(&mut self) -> Progress {
        Progress::Running { received: 41_000_000, size: Some(123_456_789) }
    }
}

/// The screen of a download from a long address.
fn download() -> Loading {
    let folder = "recordings/of/a/server/with/a/long/name";
    let url = format!("https://files.example.org/{folder}/2026-11-26-1135_race_{folder}.plr");
    Loading::new(url, Box::new(HalfWay))
}

#[test]
fn layout_of_a_download_is_clear() {
    let mut loading = download();
    report(lay_out_of_page("download", |ctx| assert_eq!(loading.draw(ctx), None)));
}

#[test]
fn layout_of_connecting_is_clear() {
    let lost = Disconnect::new(
        Code::Lost,
        "no server is called a.server.with.a.long.name.example.org; check the spelling, and \
         that this computer is online",
    );
    let now = LocalTime(0);
    let states = [
        State::Connecting { attempt: 3 },
        State::Waiting { reason: lost.clone(), retry_at: now + Micros::from_ms(2500), attempt: 3 },
        State::Ended { reason: lost.clone() },
    ];
    let mut found = Vec::new();
    for (state, link) in states.iter().zip([None, Some("delay 120 ms, jitter 30 ms"), None]) {
        found.extend(lay_out_of_page(&format!("{state:.12?}"), |ctx| {
            let status = Status { lost: Some(&lost.text), ..status_of(state, link, now) };
            overlay::draw(&ctx.layer_painter(LayerId::background()), &status);
        }));
    }
    report(found);
}

/// Servers of all kinds, the first one with rooms and a password.
fn view_of(count: u16, address: impl Fn(u16) -> String) -> SurveyView {
    let room = |n: u16| RoomStatus {
        code: format!("room-{n}").parse().expect("a code"),
        game: "platformer".into(),
        players: 12,
        players_max: 64,
        bots: 0,
    };
    let info = Info {
        server: "A server with a name that is as long".into(),
        version: "0.1.0-with-a-name".into(),
        games: phaselock_views::all(Views::new()).games().names().map(str::to_owned).collect(),
        players: 63,
        players_max: 64,
        needs_password: true,
        rooms: (0..12).map(room).collect(),
        ..Info::default()
    };
    let found = (0..count).map(|n| Found {
        address: address(n).parse().expect("an address"),
        via: Via { named: true, lan: true, directory: true },
        listed: Some(Fingerprint([0xcd; 32])),
        reply: match n % 3 {
            0 => Reply::Answered(Box::new(info.clone()), Micros::from_ms(1234)),
            1 => Reply::Asking,
            _ => Reply::Silent,
        },
    });
    SurveyView { found: found.collect(), ..SurveyView::default() }
}

#[test]
fn layout_of_servers_and_of_trust_is_clear() {
    let address = |n: u16| format!("a.server.with.a.long.name.example.org:{}", 4433 + n);
    let mut book = ServerLists::open(None);
    for n in 0..40 {
        let address = address(n).parse().expect("an address");
        book.change(|pages| pages.star(&address, "A server with a name that is as long", true));
    }
    let mut servers = Servers::silent(book);
    let mut found = lay_out("servers", |ctx| drop(servers.draw(ctx)));
    for tab in Tab::ALL {
        let view = view_of(40, address);
        let name = format!("servers, {tab:?}, one chosen");
        found.extend(lay_out(&name, |ctx| servers.draw_page(ctx, tab, &view)));
    }
    let [expected, found_now] = [0xab, 0xcd].map(|byte| Fingerprint([byte; 32]));
    let trust = Trust {
        changed: Changed { host: address(0), expected, found: found_now },
        invitation: address(0).parse().expect("an address"),
    };
    found.extend(lay_out("trust", |ctx| {
        let _ = trust.draw(ctx);
    }));
    report(found);
}

/// A page whose host has named no directory.
struct NoDirectory;

impl Directories for NoDirectory {
    fn is_empty(&self) -> bool {
        true
    }

    fn can_grow(&self) -> bool {
        false
    }

    fn seek(&self, _: SeekWish) -> Result<Box<dyn Search>, String> {
        Err("there is none".to_owned())
    }
}

#[test]
fn layout_of_playing_online_is_clear() {
    let views = phaselock_views::all(Views::new());
    let mut online = Online::new(views.games().names());
    let directory: Vec<Address> = vec!["directory.example.org:4435".parse().expect("an address")];
    let mut found = Vec::new();
    let error = "no directory answers; check their addresses, and your connection";
    for (name, error) in [("choices", None), ("choices with an error", Some(error.to_owned()))] {
        for page in 0..Online::PAGES {
            online.show(page);
            online.error.clone_from(&error);
            found.extend(lay_out_of_page(&format!("online, {name}, {page}"), |ctx| {
                drop(online.draw_view(ctx, None, &directory));
            }));
        }
    }
    online.error = None;
    found.extend(lay_out_of_page("online without a directory", |ctx| {
        drop(online.draw_view(ctx, None, &Vec::<Address>::new()));
    }));
    found.extend(lay_out_of_page("online in a page without a directory", |ctx| {
        drop(online.draw_view(ctx, None, &NoDirectory));
    }));
    let waiting = SeekState::Waiting { position: 1234 };
    for (state, party) in [(SeekState::Asking, None), (waiting, Some(PartyCode::EXAMPLE))] {
        let view = SeekView { state, party };
        found.extend(lay_out_of_page("online, searching", |ctx| {
            drop(online.draw_view(ctx, Some(view.clone()), &directory));
        }));
    }
    online.tell(PartyCode::EXAMPLE);
    found.extend(lay_out_of_page("online, code of a party", |ctx| {
        drop(online.draw_view(ctx, None, &directory));
    }));
    report(found);
}

//! The screens without a world: menu, settings, servers, the question of trust.

use std::collections::BTreeMap;
use std::ffi::OsString;

use egui_macroquad::egui::{Context, LayerId, RawInput, Rect, pos2, vec2};
use phaselock::client::State;
use phaselock::fingerprint::Fingerprint;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::query::Info;
use phaselock::wire::rooms::RoomStatus;
use phaselock_quic::client::Changed;
use phaselock_quic::survey::{Found, Reply, Via, View};

use super::checker::{problems, texts};
use super::{report, sizes, variants};
use crate::args::Args;
use crate::controls::Controls;
use crate::gamepad::Gamepads;
use crate::lab::{Begin, Lab};
use crate::languages::Languages;
use crate::letters::Letters;
use crate::look;
use crate::menu::Menu;
use crate::overlay::{self, Status};
use crate::servers::{Book, Servers, Tab, Trust};
use crate::settings::Store;
use crate::settings::screen::{self, Screen};

/// Lays out a screen in all sizes, languages and sizes of letters.
fn lay_out(name: &str, mut draw: impl FnMut(&Context)) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (variant, letters) in variants() {
        for (width, height) in sizes() {
            let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height));
            let context = Context::default();
            look::style(&context);
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
            let state = format!("{name}, {variant} at {width} x {height}");
            found.extend(last.into_iter().map(|it| (state.clone(), it)));
        }
    }
    found
}

#[test]
fn layout_of_menu_is_clear() {
    let views = crate::views::all();
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
        drop(menu.draw_told(ctx, &mut store.settings, Some((told.to_owned(), true))));
    }));
    report(found);
}

/// Places of the words of a screen in a window of a size in points.
fn places(size: (f32, f32), mut draw: impl FnMut(&Context)) -> BTreeMap<String, Rect> {
    let screen = Rect::from_min_size(pos2(0.0, 0.0), size.into());
    let (context, mut seen) = (Context::default(), Vec::new());
    look::style(&context);
    for frame in 0..4 {
        let time = Some(f64::from(frame) / 60.0);
        let input = RawInput { screen_rect: Some(screen), time, ..RawInput::default() };
        seen = texts(&context.run(input, &mut draw).shapes, screen);
    }
    seen.into_iter().map(|text| (text.words, text.rect)).collect()
}

/// Words that stand elsewhere once an error is shown.
fn moved(before: &BTreeMap<String, Rect>, after: &BTreeMap<String, Rect>) -> Vec<String> {
    let both = before.iter().filter_map(|(words, rect)| Some((words, rect, after.get(words)?)));
    // A hair is not seen.
    let moved = both.filter(|(_, before, after)| before.min.distance(after.min) > 3.0);
    moved.map(|(words, before, after)| format!("{words:?}: {before:?} to {after:?}")).collect()
}

#[test]
fn errors_come_and_go_without_moving_what_is_under_the_mouse() {
    let (views, mut store) = (crate::views::all(), Store::open(None));
    let plain = Args::parse(["phaselock"].map(OsString::from), views.games());
    let plain = plain.expect("the words can be read");
    let mut menu = Menu::new(&plain, views.games(), &store.settings);
    let mut servers = Servers::silent(Book::open(None));
    let error = "a.server.example.org:4433: the server did not answer for 10 s; ask its host \
                 whether it runs, and look whether your network lets UDP through to this port";
    for size in sizes() {
        let mut of_menu =
            |menu: &mut Menu| places(size, |ctx| drop(menu.draw(ctx, &mut store.settings)));
        menu.set_error(None);
        let before = of_menu(&mut menu);
        menu.set_error(Some(error.to_owned()));
        let mut after = of_menu(&mut menu);
        // The error has the title's place.
        after.retain(|words, _| words != "PHASELOCK" && words != "A game whose clocks agree");
        assert!(before.contains_key("Quit") && after.len() > 10, "{before:?}");
        assert_eq!(moved(&before, &after), Vec::<String>::new(), "menu at {size:?}");

        let of_list = |servers: &mut Servers| {
            places(size, |ctx| {
                servers.draw_page(ctx, Tab::Internet, &view_of(4, |n| format!("a:{}", n + 1)))
            })
        };
        servers.error = None;
        let before = of_list(&mut servers);
        servers.error = Some(error.to_owned());
        let after = of_list(&mut servers);
        assert!(after.keys().any(|words| words.contains("ask its host")), "{after:?}");
        assert!(before.contains_key("Refresh") && after.len() > 10, "{before:?}");
        assert_eq!(moved(&before, &after), Vec::<String>::new(), "servers at {size:?}");
    }
}

#[test]
fn layout_of_settings_is_clear() {
    let (views, controls) = (crate::views::all(), Controls::default());
    let (gamepads, languages) = (Gamepads::start(), Languages::default());
    let mut store = Store::open(None);
    let mut found = Vec::new();
    for tab in screen::Tab::ALL {
        let mut screen = Screen::at(tab);
        found.extend(lay_out(&format!("settings, {tab:?}"), |ctx| {
            screen.draw(ctx, &mut store, &views, &controls, &gamepads, &languages);
        }));
    }
    let chat = ("chat".to_owned(), vec!["Tab".to_owned(), "W".to_owned()]);
    store.settings.controls.insert("all".to_owned(), [chat].into());
    let mut screen = Screen::waiting();
    found.extend(lay_out("settings, a press is waited for, keys have two uses", |ctx| {
        screen.draw(ctx, &mut store, &views, &controls, &gamepads, &languages);
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("settings.toml");
    let faults: String = (0..40).map(|n| format!("unknown_{n} = {n}\n")).collect();
    std::fs::write(&path, format!("[sound]\n{faults}")).expect("written");
    let mut store = Store::open(Some(path));
    assert!(store.problems().len() > 20, "{:?}", store.problems());
    let mut screen = Screen::default();
    found.extend(lay_out("settings with faults", |ctx| {
        screen.draw(ctx, &mut store, &views, &controls, &gamepads, &languages);
    }));
    report(found);
}

#[test]
fn layout_of_laboratory_is_clear() {
    let views = crate::views::all();
    let mut lab = Lab::new(&Begin::default(), None, views.games());
    report(lay_out("laboratory", |ctx| {
        let _ = lab.draw(ctx, 1.0 / 60.0);
    }));
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
        found.extend(lay_out(&format!("{state:.12?}"), |ctx| {
            let status = Status {
                title: "a.server.with.a.long.name.example.org:4433",
                server: "",
                state,
                lost: Some(&lost.text),
                now,
                playing: None,
                silence: None,
                figures: None,
                without_network: false,
                link,
                pinned: None,
                menu_keys: "Esc, Start",
            };
            overlay::draw(&ctx.layer_painter(LayerId::background()), &status);
        }));
    }
    report(found);
}

/// Servers of all kinds, the first one with rooms and a password.
fn view_of(count: u16, address: impl Fn(u16) -> String) -> View {
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
        games: crate::views::all().games().names().map(str::to_owned).collect(),
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
            0 => Reply::Told(Box::new(info.clone()), Micros::from_ms(1234)),
            1 => Reply::Asking,
            _ => Reply::Silent,
        },
    });
    View { found: found.collect(), ..View::default() }
}

#[test]
fn layout_of_servers_and_of_trust_is_clear() {
    let address = |n: u16| format!("a.server.with.a.long.name.example.org:{}", 4433 + n);
    let mut book = Book::open(None);
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

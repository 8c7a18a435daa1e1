//! The screens without a world: menu, settings, servers, the question of trust.

use std::ffi::OsString;

use egui_macroquad::egui::{Context, RawInput, Rect, pos2, vec2};
use phaselock::fingerprint::Fingerprint;
use phaselock_quic::client::Changed;

use super::checker::problems;
use super::{report, sizes};
use crate::args::Args;
use crate::controls::Controls;
use crate::gamepad::Gamepads;
use crate::languages::Languages;
use crate::look;
use crate::menu::Menu;
use crate::servers::{Book, Servers, Trust};
use crate::settings::Store;
use crate::settings::screen::{Screen, Tab};

/// Lays out a screen in all sizes.
fn lay_out(name: &str, mut draw: impl FnMut(&Context)) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (width, height) in sizes() {
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height));
        let context = Context::default();
        look::style(&context);
        let mut last = Vec::new();
        for frame in 0..4 {
            let time = Some(f64::from(frame) / 60.0);
            let input = RawInput { screen_rect: Some(screen), time, ..RawInput::default() };
            let output = context.run(input, &mut draw);
            last = problems(&output.shapes, screen, &[]);
        }
        // The menus' own ground is the whole window's.
        last.retain(|problem| !problem.contains("has no ground"));
        found.extend(last.into_iter().map(|it| (format!("{name} at {width} x {height}"), it)));
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
    report(found);
}

#[test]
fn layout_of_settings_is_clear() {
    let (views, controls) = (crate::views::all(), Controls::default());
    let (gamepads, languages) = (Gamepads::start(), Languages::default());
    let mut store = Store::open(None);
    let mut found = Vec::new();
    for tab in Tab::ALL {
        let mut screen = Screen::at(tab);
        found.extend(lay_out(&format!("settings, {tab:?}"), |ctx| {
            screen.draw(ctx, &mut store, &views, &controls, &gamepads, &languages);
        }));
    }
    report(found);
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

//! The window in a page: it joins the server that the page's address names, and has no other.

use std::time::Duration;

use egui_macroquad::egui::text_edit::TextEditState;
use macroquad::Window;
use macroquad::miniquad::conf::Conf;
use macroquad::miniquad::window::set_fullscreen;
use macroquad::window::next_frame;
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::Code;
use phaselock::wire::text::{clip, read_name};
use phaselock_web::page::{self, Field};

use super::args::{Setup, Wishes, default_name};
use super::before::{Before, PASSWORD_MAX, Wish};
use super::languages::Languages;
use super::network::Clock;
use super::registry::Views;
use super::settings::Store;
use super::settings::screen::Screen;
use super::sounds::Sounds;
use super::visit::{self, Next, TELL_EVERY, Visit, VisitConfig};
use phaselock_ui::controls::{Controls, PadValues};
use phaselock_ui::cues::{self, Cues, common};
use phaselock_ui::gamepad::{Pads, Rumble, standard};
use phaselock_ui::glass::Glass;
use phaselock_ui::look::{draw_notice, is_clicked, pixels_per_point, style, turn_wheel};
use phaselock_ui::parts::NAME_CHARS_MAX;
use phaselock_ui::renderer::Renderer;
use phaselock_ui::rig;
use phaselock_ui::words::{fill, tr};
use phaselock_ui::{actions, navigate, palette, sight, typing};

/// Opens the page's canvas and stays for as long as the page does.
pub fn run(views: &Views) {
    let views = views.clone();
    let conf = Conf { window_title: "Phaselock".into(), high_dpi: true, ..Conf::default() };
    Window::from_config(conf, async move { Page::new(views).frames().await });
}

/// The browser's gamepad.
#[derive(Debug, Default)]
struct PagePads {
    is_there: bool,
}

impl Pads for PagePads {
    fn take(&mut self, dead_zone: f32) -> PadValues {
        let told = page::pad();
        self.is_there = told.is_some();
        told.map_or_else(PadValues::default, |told| standard::values(&told, dead_zone))
    }

    fn state(&self) -> (usize, bool) {
        (usize::from(self.is_there), false)
    }

    fn rumble(&self, Rumble { strength, length }: Rumble) {
        page::shake(strength, length.as_secs_f32() * 1000.0);
    }
}

struct Page {
    views: Views,
    store: Store,
    setup: Setup,
    clock: Clock,
    visit: Option<Visit>,
    /// Name in the field before the game.
    name: String,
    /// Word in the field for the server's password.
    password: String,
    /// The password's field gets the keyboard in the next frame.
    asks_password: bool,
    /// Reason of the last visit's end.
    error: Option<String>,
    controls: Controls,
    cues: Cues,
    sounds: Sounds,
    renderer: Renderer,
    glass: Glass,
    fullscreen: bool,
    /// A field waits for letters.
    writes: bool,
    screen: Option<Screen>,
    gamepads: PagePads,
    languages: Languages,
    told: LocalTime,
}

impl Page {
    fn new(views: Views) -> Self {
        let store = Store::open(Store::default_path());
        let mut languages = Languages::default();
        store.speak(&mut languages);
        let linked = page::linked("name").map(|name| clip(name.trim(), TEXT_BYTES_MAX).to_owned());
        let linked = linked.filter(|name| !name.is_empty());
        let kept = Some(store.settings.player.name.clone()).filter(|name| !name.is_empty());
        let invited = linked.as_ref().or(kept.as_ref());
        // One that no server takes stays in the field, which says why.
        let is_ready = invited.is_some_and(|name| read_name(name).is_ok());
        let (text, mut wishes) = (page::linked("room"), Wishes::default());
        let room = text.as_ref().and_then(|code| code.parse().ok());
        wishes.bad_room = text.filter(|_| room.is_none());
        wishes.game = page::linked("game");
        let setup =
            Setup { room, wishes, watch: page::linked("watch").is_some(), ..Setup::default() };
        let mut begun = Self {
            views,
            error: store.notice().or(languages.problem().map(str::to_owned)),
            store,
            setup,
            clock: Clock::start(),
            visit: None,
            name: linked.or(kept).unwrap_or_else(default_name),
            password: String::new(),
            asks_password: page::needs_password(),
            controls: Controls::default(),
            cues: Cues::default(),
            sounds: Sounds::new(false),
            renderer: Renderer::new(style),
            glass: Glass::default(),
            fullscreen: false,
            writes: false,
            screen: None,
            gamepads: PagePads::default(),
            languages,
            told: LocalTime(0),
        };
        // Whoever has been here before, or is invited by name, plays at once.
        if is_ready && !page::needs_password() {
            begun.join();
        }
        begun
    }

    fn join(&mut self) {
        let written = self.name.trim();
        let name = if written.is_empty() { default_name() } else { written.to_owned() };
        if self.store.settings.player.name.is_empty() {
            self.store.settings.player.take_name(&name);
        }
        self.setup.password = Some(self.password.clone()).filter(|word| !word.is_empty());
        let title = page::server_name().unwrap_or_else(|| tr("the server").to_owned());
        let settings = &self.store.settings;
        let config = VisitConfig {
            name,
            look: settings.player.look(),
            muted: Some("muted.toml".into()),
            clock: self.clock,
            views: &self.views,
            setup: &self.setup,
            panels: &settings.last.panels,
            lessons: &settings.seen.lessons,
            records: &settings.records,
        };
        self.error = None;
        self.visit = Some(Visit::join_page(title, config));
        self.controls.rest();
    }

    async fn frames(mut self) {
        let mut last = self.clock.now();
        loop {
            let now = self.clock.now();
            let secs = (now - last).as_secs().min(0.25) as f32;
            last = now;
            self.store.poll(Duration::from_micros(now.0.unsigned_abs()));
            self.sounds.away = page::is_hidden();
            if self.sounds.away {
                // The page's script goes on to call, though nothing is painted.
                self.controls.rest();
                self.controls.between();
                self.update();
                self.sounds.advance(&self.cues, &self.store.settings.sound, secs);
            } else {
                self.frame(secs);
            }
            if now - self.told >= TELL_EVERY {
                self.told = now;
                page::tell(&self.status());
            }
            next_frame().await;
        }
    }

    /// State for whoever looks from outside.
    fn status(&self) -> String {
        let screen = self.screen.as_ref().map(|_| "settings");
        visit::status(self.visit.as_ref(), screen, self.error.as_deref())
    }

    /// Moves the visit on.
    fn update(&mut self) {
        let (name, look) =
            (self.store.settings.player.name.clone(), self.store.settings.player.look());
        let held = page::held();
        let Some(visit) = &mut self.visit else { return };
        visit.wear(&name, look);
        let next = visit.update(&mut self.controls, None, &self.cues, held);
        let panels = visit.panels().into_iter().map(str::to_owned).collect();
        if self.store.settings.last.panels != panels {
            self.store.settings.last.panels = panels;
        }
        if let Some(game) = visit.lessons.take_had() {
            self.store.settings.seen.note(game);
        }
        while let Some(new) = visit.records.poll_new() {
            self.store.settings.note_record(new);
        }
        self.follow(next);
    }

    fn follow(&mut self, next: Next) {
        let reason = match next {
            Next::Stay => return,
            Next::Settings => return self.screen = Some(Screen::default()),
            Next::Leave => None,
            Next::Ended(code, reason) => {
                self.asks_password |= code == Code::Password;
                // The next attempt leads to a room of the server's choice.
                let room = self.setup.room.take_if(|_| code == Code::NoRoom);
                Some(room.map_or(reason, |room| {
                    fill(
                        "There is no room {room} on this server now. Press Play to join another \
                         room.",
                        &[("room", &room.to_string())],
                    )
                }))
            }
            // The page has another build's client: its server has been renewed.
            Next::Outdated(reason) => Some(reason).filter(|_| !page::reload()),
        };
        self.error = reason;
        self.sounds.hush();
        if let Some(visit) = self.visit.take() {
            visit.close("left");
        }
    }

    fn frame(&mut self, secs: f32) {
        let scale = self.store.settings.display.ui_scale as f32;
        let playing = self.visit.as_ref().and_then(Visit::actions);
        let pixels_per_point = match playing {
            Some(_) => pixels_per_point(scale),
            None => pixels_per_point_before(scale),
        };
        let (game, own) = playing.unwrap_or_default();
        self.controls.bind(game, own, &self.store.settings.controls);
        let dead_zone = f32::from(self.store.settings.gamepad.dead_zone) / 100.0;
        let mut pad = self.gamepads.take(dead_zone);
        let plays = self.visit.as_ref().is_some_and(|visit| !visit.is_paused());
        let plays = plays && self.screen.is_none() && !self.writes;
        let touchable = self.visit.as_ref().map_or((own, false), Visit::touchable);
        let touched = self.glass.gather(touchable, pixels_per_point, plays, &mut pad);
        self.controls.gather(pixels_per_point, pad, touched);
        self.controls.set_glass(self.glass.is_used());
        if self.controls.pressed(&actions::FULLSCREEN)
            || self.screen.is_some() && self.fullscreen != self.store.settings.display.fullscreen
        {
            self.fullscreen = !self.fullscreen;
            self.store.settings.display.fullscreen = self.fullscreen;
            set_fullscreen(self.fullscreen);
        }
        self.store.speak(&mut self.languages);
        let display = &self.store.settings.display;
        rig::set_reduced_motion(display.reduced_motion);
        self.renderer.set_letters(display.text_scale as f32, self.languages.code());
        let wanted = self.controls.clone();
        if self.screen.is_some() {
            self.controls.rest();
        }
        self.update();
        self.paint(secs, pixels_per_point, &wanted);
        self.sounds.advance(&self.cues, &self.store.settings.sound, secs);
        let most = f32::from(self.store.settings.gamepad.rumble) / 100.0;
        for cues::Rumble { strength, secs } in self.cues.take_rumbles() {
            let length = Duration::try_from_secs_f32(secs).unwrap_or_default();
            self.gamepads.rumble(Rumble { strength: strength * most, length });
        }
    }

    fn paint(&mut self, secs: f32, pixels_per_point: f32, wanted: &Controls) {
        let backdrop = self.visit.as_ref().map_or(palette::VOID, Visit::backdrop);
        let colors = self.store.settings.display.palette;
        let covered = self.screen.is_some();
        let in_game = self.visit.as_ref().is_some_and(|visit| !visit.is_paused()) && !covered;
        let screen_waits = self.screen.as_ref().is_some_and(Screen::waits);
        let mut next = Next::Stay;
        let (mut wish, mut writes, mut is_secret) = (None, None, false);
        let Self { renderer, visit, controls, cues, glass, screen, store, .. } = self;
        let (views, gamepads, languages) = (&self.views, &self.gamepads, &self.languages);
        let mut card = Before {
            server: page::server_name(),
            needs_password: page::needs_password(),
            name: &mut self.name,
            password: &mut self.password,
            asks_password: &mut self.asks_password,
            error: self.error.as_deref(),
        };
        let sounds = &self.sounds;
        renderer.frame(pixels_per_point, sight::backdrop(backdrop, colors), |ctx| {
            turn_wheel(ctx);
            typing::clean(ctx);
            if !in_game && !screen_waits {
                navigate::follow(ctx, wanted);
            }
            match visit {
                Some(visit) => next = visit.draw(ctx, controls, secs, cues, covered),
                None => (wish, is_secret) = card.draw(ctx, covered),
            }
            if in_game {
                glass.draw(ctx);
            }
            if let Some(open) = screen
                && open.draw(ctx, store, views, wanted, gamepads, languages)
            {
                *screen = None;
            }
            if is_clicked(ctx) {
                cues.tell(&common::CLICK);
            }
            if let Some(reason) = sounds.notice() {
                draw_notice(ctx, reason, in_game);
            }
            sight::apply(ctx, colors);
            let focus = ctx.memory(|memory| memory.focused());
            writes = focus.filter(|id| TextEditState::load(ctx, *id).is_some());
        });
        self.writes = writes.is_some();
        let talks = self.visit.as_ref().is_some_and(Visit::talks);
        let letters_max = match () {
            () if is_secret => PASSWORD_MAX,
            () if talks => TEXT_BYTES_MAX,
            () => NAME_CHARS_MAX,
        };
        let letters_max = letters_max as u32;
        let is_on_glass = self.glass.is_used();
        page::write(writes.map(|id| {
            let number = id.value() as u32;
            Field { number, letters_max, is_secret, is_on_glass }
        }));
        self.follow(next);
        match wish {
            Some(Wish::Join) => {
                self.store.settings.player.take_name(&self.name);
                self.join();
            }
            Some(Wish::Settings) => self.screen = Some(Screen::default()),
            None => {}
        }
    }
}

//! The frame loop: menu, session, menu.

use std::cell::Cell;
use std::io::Write;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use egui_macroquad::egui::LayerId;
use macroquad::input::{is_quit_requested, prevent_quit};
use macroquad::miniquad::conf::{Conf, Platform};
use macroquad::miniquad::window::{screen_size, set_fullscreen};
use macroquad::window::next_frame;
use phaselock::invitation::Invitation;
use phaselock::time::LocalTime;
use phaselock::wire::rooms::RoomCode;
use phaselock_lab::record::MotionFiles;
use phaselock_quic::clock::Clock;

use super::args::{Args, Start};
use super::display;
use super::focus::Focus;
use super::holds::Holds;
use super::languages::Languages;
use super::menu::{Menu, Wish};
use super::pacing::{self, Pacer, Presence};
use super::registry::Views;
use super::servers::{Book, Servers, Trust};
use super::settings::screen::Screen;
use super::settings::values::WindowSize;
use super::settings::{Store, folder};
use super::sounds::Sounds;
use super::visit::{self, Next, TELL_EVERY, Visit};
use phaselock_lab::scene::{Begin, Lab};
use phaselock_ui::actions;
use phaselock_ui::controls::Controls;
use phaselock_ui::cues::{self, Cues, common};
use phaselock_ui::gamepad::{self, Gamepads, Pads as _, Rumble};
use phaselock_ui::look::{draw_notice, is_clicked, pixels_per_point, style, turn_wheel};
use phaselock_ui::renderer::Renderer;
use phaselock_ui::rig;
use phaselock_ui::screenshot::Screenshot;
use phaselock_ui::{background, navigate, palette, sight, typing};

mod visits;

/// Opens the window and stays until the player leaves; the error says why it could not.
pub(crate) fn run(args: Args, views: &Views) -> Result<(), String> {
    let screenshot = args.options.screenshot.as_deref().map(Screenshot::prepare).transpose();
    let screenshot = screenshot.map_err(|error| error.to_string())?;
    let motion = args.options.record_motion.as_deref().map(MotionFiles::prepare).transpose();
    let motion = motion.map_err(|error| error.to_string())?;
    let path = args.options.settings.clone().or_else(Store::default_path);
    let store = Store::open(path);
    for problem in store.problems() {
        eprintln!("phaselock: {problem}");
    }
    let display = &store.settings.display;
    let WindowSize { width, height } = args.options.window.unwrap_or(display.window_size);
    let fullscreen = args.options.fullscreen || display.fullscreen;
    let platform = Platform {
        linux_wm_class: "phaselock",
        swap_interval: Some(display.vsync.into()),
        ..Platform::default()
    };
    let conf = move || Conf {
        window_title: "Phaselock".into(),
        window_width: width.into(),
        window_height: height.into(),
        high_dpi: true,
        fullscreen,
        icon: Some(background::icon()),
        platform,
        ..Conf::default()
    };
    let outcome = Rc::new(Cell::new(Ok(())));
    let told = outcome.clone();
    let views = views.clone();
    display::open(conf, async move {
        told.set(App::new(args, views, store, screenshot, motion).frames().await)
    })
    .map_err(|error| error.to_string())?;
    outcome.replace(Ok(()))
}

/// Name of the file of known servers, beside the settings.
const SERVERS: &str = "servers.toml";

struct App {
    args: Args,
    views: Views,
    store: Store,
    clock: Clock,
    screenshot: Option<Screenshot>,
    motion: Option<MotionFiles>,
    menu: Menu,
    visit: Option<Visit>,
    /// The laboratory, kept as the player left it.
    lab: Option<Lab>,
    in_lab: bool,
    /// The list of servers, and whether it is shown: between visits that began there too.
    servers: Servers,
    in_list: bool,
    /// The question whether a changed certificate is trusted.
    trust: Option<Trust>,
    /// The server of the visit, unless it is in this program.
    invitation: Option<Invitation>,
    /// Room and wish to watch with which it was chosen from the list.
    part: (Option<RoomCode>, bool),
    controls: Controls,
    cues: Cues,
    sounds: Sounds,
    renderer: Renderer,
    fullscreen: bool,
    /// The settings' screen, while it is open.
    screen: Option<Screen>,
    gamepads: Gamepads,
    languages: Languages,
    pacer: Pacer,
    holds: Holds,
    told: LocalTime,
    /// Sessions that are saying goodbye.
    closing: Vec<JoinHandle<()>>,
}

impl App {
    fn new(
        args: Args,
        views: Views,
        store: Store,
        screenshot: Option<Screenshot>,
        motion: Option<MotionFiles>,
    ) -> Self {
        let path = args.options.settings.as_ref().map(|path| path.with_file_name(SERVERS));
        let book = Book::open(path.or_else(|| Some(folder()?.join(SERVERS))));
        let servers = Servers::new(book, args.options.directories.clone(), views.clone());
        let mut menu = Menu::new(&args, views.games(), &store.settings);
        let mut languages = Languages::default();
        store.speak(&mut languages);
        menu.set_error(store.notice().or(languages.problem().map(str::to_owned)));
        Self {
            menu,
            fullscreen: args.options.fullscreen || store.settings.display.fullscreen,
            store,
            views,
            clock: Clock::start(),
            screenshot,
            motion,
            visit: None,
            lab: None,
            in_lab: false,
            servers,
            in_list: false,
            trust: None,
            invitation: None,
            part: Default::default(),
            controls: Controls::default(),
            cues: Cues::default(),
            sounds: Sounds::new(args.options.mute),
            renderer: Renderer::new(style),
            screen: None,
            gamepads: gamepad::start(),
            languages,
            pacer: Pacer::default(),
            holds: Holds::default(),
            told: LocalTime(0),
            closing: Vec::new(),
            args,
        }
    }

    async fn frames(mut self) -> Result<(), String> {
        prevent_quit();
        let mut focus = Focus::new();
        match self.args.start.clone() {
            Start::Menu => {}
            Start::Play { games, bots } => self.host(&games, bots, false),
            Start::Join { invitation } => self.join(invitation, self.menu.name()),
            Start::Lab(begin) => self.experiment(&begin),
        }
        let began = Instant::now();
        let mut last = began;
        loop {
            let frame_began = Instant::now();
            let presence = focus.read();
            self.sounds.away = presence != Presence::Foreground;
            let secs = (frame_began - last).as_secs_f32().min(0.25);
            last = frame_began;
            self.store.poll(began.elapsed());
            let mut quit = is_quit_requested();
            // Nobody sees a picture, but a test may want one.
            if presence == Presence::Hidden && self.screenshot.is_none() {
                self.controls.rest();
                self.update_between();
                self.sounds.advance(&self.cues, &self.store.settings.sound, secs);
            } else {
                quit |= self.frame(secs, presence).is_break();
            }
            self.tell();
            let late = self.args.options.exit_after.is_some_and(|after| began.elapsed() >= after);
            if quit || late {
                if let Some(screenshot) = &mut self.screenshot {
                    screenshot.take().map_err(|error| error.to_string())?;
                }
                self.store.save();
                let verdict = if late { self.verdict() } else { Ok(()) };
                self.leave();
                for goodbye in self.closing {
                    let _ = goodbye.join();
                }
                return verdict;
            }
            let cap = self.store.settings.display.frame_cap;
            let least = pacing::frame_least(cap, presence, focus.display_hz());
            let due = self.pacer.next(frame_began - began, least);
            while let Some(rest) = due.checked_sub(began.elapsed()) {
                self.holds.sleep(rest.min(pacing::UPDATE_EVERY));
                if rest > pacing::UPDATE_EVERY {
                    self.update_between();
                }
            }
            next_frame().await;
        }
    }

    /// Prints what is played, for a program that looks on.
    fn tell(&mut self) {
        let now = self.clock.now();
        if self.args.options.status && now - self.told >= TELL_EVERY {
            self.told = now;
            let reason = self.servers.error.as_deref().or(self.menu.error());
            let status = visit::status(self.visit.as_ref(), self.screen_name(), reason);
            // Whoever looked on may have gone.
            let _ = writeln!(std::io::stdout(), "{status}");
        }
    }

    /// Name of the screen, unless it is the menu's or the game's.
    fn screen_name(&self) -> Option<&'static str> {
        match &self.visit {
            _ if self.screen.is_some() => Some("settings"),
            Some(_) => None,
            None if self.in_lab => Some("laboratory"),
            None if self.trust.is_some() => Some("trust"),
            None if self.in_list => Some("servers"),
            None => None,
        }
    }

    /// Keeps the session going between two frames that are far apart.
    fn update_between(&mut self) {
        self.controls.between();
        let held = self.holds.take();
        if let Some(visit) = &mut self.visit {
            let next = visit.update(&mut self.controls, self.motion.as_mut(), &self.cues, held);
            self.follow(next);
        }
    }

    /// Error if the game of the command line was not joined.
    fn verdict(&self) -> Result<(), String> {
        match (&self.args.start, &self.visit) {
            (Start::Menu | Start::Lab(_), _) => Ok(()),
            (_, Some(visit)) if visit.is_playing() => Ok(()),
            (_, Some(visit)) => Err(format!("not in the game: {}", visit.trouble())),
            (_, None) => {
                let reason = self.menu.error().unwrap_or("left");
                Err(format!("not in the game: {reason}"))
            }
        }
    }

    fn frame(&mut self, secs: f32, presence: Presence) -> ControlFlow<()> {
        let pixels_per_point = pixels_per_point(self.store.settings.display.ui_scale as f32);
        let (game, own) = self.visit.as_ref().and_then(Visit::actions).unwrap_or_default();
        self.controls.bind(game, own, &self.store.settings.controls);
        let pad = self.gamepads.take(f32::from(self.store.settings.gamepad.dead_zone) / 100.0);
        // The window in front has the gamepad.
        let has_pad = presence == Presence::Foreground;
        let pad = if has_pad { pad } else { Default::default() };
        self.controls.gather(pixels_per_point, pad, Default::default());
        self.take_display();
        // While the settings are open, keys are theirs.
        let wanted = self.controls.clone();
        if self.screen.is_some() {
            self.controls.rest();
        }
        let (name, look) = (self.store.settings.player.name.clone(), self.look());
        let held = self.holds.take();
        if let Some(visit) = &mut self.visit {
            visit.wear(&name, look);
            let next = visit.update(&mut self.controls, self.motion.as_mut(), &self.cues, held);
            let (panels, last) = (visit.panels(), &mut self.store.settings.last.panels);
            if *last != panels {
                *last = panels.into_iter().map(str::to_owned).collect();
            }
            if let Some(game) = visit.lessons.take_had() {
                self.store.settings.seen.note(game);
            }
            while let Some(new) = visit.records.poll_new() {
                self.store.settings.note_record(new);
            }
            self.follow(next);
            self.note_arrival();
        }

        let backdrop = self.visit.as_ref().map_or(palette::VOID, Visit::backdrop);
        let colors = self.store.settings.display.palette;
        let backdrop = sight::backdrop(backdrop, colors);
        let mut next = Next::Stay;
        let (mut wish, mut left, mut choice, mut answer) = (None, false, None, None);
        let covered = self.screen.is_some();
        let in_game = self.visit.as_ref().is_some_and(|visit| !visit.is_paused()) && !covered;
        let screen_waits = self.screen.as_ref().is_some_and(Screen::waits);
        self.renderer.frame(pixels_per_point, backdrop, |ctx| {
            turn_wheel(ctx);
            typing::clean(ctx);
            if !in_game && !screen_waits {
                navigate::follow(ctx, &wanted);
            }
            match (&mut self.visit, self.lab.as_mut().filter(|_| self.in_lab)) {
                (Some(visit), _) => {
                    next = visit.draw(ctx, &mut self.controls, secs, &self.cues, covered);
                }
                (None, Some(lab)) => left = lab.draw(ctx, secs),
                (None, None) if covered => {
                    let (painter, screen) =
                        (ctx.layer_painter(LayerId::background()), ctx.screen_rect());
                    let y = screen.top() + screen.height() * 0.2;
                    background::draw(&painter, screen, y, ctx.input(|input| input.time));
                }
                (None, None) if self.trust.is_some() => {
                    let painter = ctx.layer_painter(LayerId::background());
                    background::grid(&painter, ctx.screen_rect(), background::STEP);
                    answer = self.trust.as_ref().and_then(|trust| trust.draw(ctx));
                }
                (None, None) if self.in_list => choice = self.servers.draw(ctx),
                (None, None) => wish = self.menu.draw(ctx, &mut self.store.settings),
            }
            if let Some(screen) = &mut self.screen
                && screen.draw(
                    ctx,
                    &mut self.store,
                    &self.views,
                    &wanted,
                    &self.gamepads,
                    &self.languages,
                )
            {
                self.screen = None;
                self.menu.take_name(&self.store.settings);
            }
            if is_clicked(ctx) {
                self.cues.tell(&common::CLICK);
            }
            if let Some(reason) = self.sounds.notice() {
                draw_notice(ctx, reason, self.visit.is_some());
            }
            sight::apply(ctx, colors);
        });
        self.sounds.advance(&self.cues, &self.store.settings.sound, secs);
        let most = f32::from(self.store.settings.gamepad.rumble) / 100.0;
        for cues::Rumble { strength, secs } in self.cues.take_rumbles() {
            let length = Duration::try_from_secs_f32(secs).unwrap_or_default();
            self.gamepads.rumble(Rumble { strength: strength * most, length });
        }
        if let Some(lab) = &mut self.lab {
            lab.painted();
        }
        self.in_lab &= !left;
        self.follow(next);
        if let Some(choice) = choice {
            self.choose(choice);
        }
        if let Some(answer) = answer {
            self.answer(answer);
        }
        match wish {
            None => {}
            Some(Wish::Play { games, bots, open }) => {
                self.host(&games, bots, open);
            }
            Some(Wish::Join { invitation, password }) => {
                self.args.options.setup.password = password;
                self.join(invitation, self.menu.name());
            }
            Some(Wish::Search) => self.in_list = true,
            Some(Wish::Settings) => self.screen = Some(Screen::default()),
            Some(Wish::Experiment) => self.experiment(&Begin::default()),
            Some(Wish::Quit) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Shows what the settings of the display say.
    fn take_display(&mut self) {
        if self.controls.pressed(&actions::FULLSCREEN) {
            self.store.settings.display.fullscreen = !self.fullscreen;
            self.fullscreen = !self.fullscreen;
            set_fullscreen(self.fullscreen);
        } else if self.screen.is_some() && self.fullscreen != self.store.settings.display.fullscreen
        {
            self.fullscreen = !self.fullscreen;
            set_fullscreen(self.fullscreen);
        }
        self.store.speak(&mut self.languages);
        let display = &mut self.store.settings.display;
        let (width, height) = screen_size();
        if !self.fullscreen && self.args.options.window.is_none() {
            let side = |pixels: f32| (pixels / display::points()) as u16;
            display.window_size.follow(side(width), side(height));
        }
        rig::set_reduced_motion(display.reduced_motion);
        self.renderer.set_letters(display.text_scale as f32, self.languages.code());
    }

    /// Opens the laboratory, as it was left if it was open before.
    fn experiment(&mut self, begin: &Begin) {
        let (link, games) = (self.args.options.setup.link.as_ref(), self.views.games());
        self.lab.get_or_insert_with(|| Lab::new(begin, link, games));
        self.in_lab = true;
    }
}

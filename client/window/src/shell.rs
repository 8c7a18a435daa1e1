//! The window's frames: a visit to a server or the lobby between two visits, with the settings over
//! both.

use std::ops::ControlFlow;
use std::thread::JoinHandle;
use std::time::Duration;

use egui_macroquad::egui::Id;
use egui_macroquad::egui::text_edit::TextEditState;
use macroquad::miniquad::window::set_fullscreen;
use macroquad::window::next_frame;
use phaselock::limits::{PASSWORD_BYTES_MAX, TEXT_BYTES_MAX};
use phaselock::time::LocalTime;
use phaselock_ui::controls::Controls;
use phaselock_ui::cues::{self, Cues, common};
use phaselock_ui::gamepad::Rumble;
use phaselock_ui::glass::Touchable;
use phaselock_ui::look::{Extent, Needs, draw_notice, is_clicked, style, turn_wheel};
use phaselock_ui::parts::NAME_CHARS_MAX;
use phaselock_ui::renderer::Renderer;
use phaselock_ui::screenshot::Picture;
use phaselock_ui::words::tr;
use phaselock_ui::{actions, camera_rig, color_vision, navigate, palette, typing};

use crate::platform::{Desk, Lobby, Order, Platform, Presence};
use crate::registry::Views;
use crate::settings::Store;
use crate::settings::languages::Languages;
use crate::settings::screen::{Env, Screen};
use crate::sounds::Sounds;
use crate::visit::drawing::VisitFrame;
use crate::visit::minutes::not_saved;
use crate::visit::motion_files::begin_file;
use crate::visit::status::{REPORT_EVERY, status};
use crate::visit::{End, Next, Visit};

/// Maximum time that the picture advances in one frame, in seconds.
const FRAME_SECS_MAX: f64 = 0.25;

/// Name of the folder of clips, next to the settings.
const CLIPS: &str = "clips";

/// The window, from the first frame to the last one.
pub(crate) struct Shell<P, L> {
    platform: P,
    lobby: L,
    views: Views,
    store: Store,
    languages: Languages,
    visit: Option<Visit>,
    /// The settings' screen, while it is open.
    screen: Option<Screen>,
    controls: Controls,
    cues: Cues,
    sounds: Sounds,
    renderer: Renderer,
    fullscreen: bool,
    /// Whether a text field has the keyboard.
    writes: bool,
    reported: LocalTime,
    /// Sessions that are saying goodbye.
    closing: Vec<JoinHandle<()>>,
    /// The last minutes of the last game, until another one begins: names and bytes.
    last_minutes: Vec<(String, Vec<u8>)>,
}

/// What a shell starts with.
pub(crate) struct Opening {
    pub(crate) views: Views,
    pub(crate) store: Store,
    pub(crate) languages: Languages,
    pub(crate) fullscreen: bool,
    /// Whether to run without a sound device.
    pub(crate) mute: bool,
}

impl<P: Platform, L: Lobby> Shell<P, L> {
    /// Creates the shell in the open window.
    pub(crate) fn new(platform: P, mut lobby: L, opening: Opening) -> Self {
        let Opening { views, store, mut languages, fullscreen, mute } = opening;
        store.speak(&mut languages);
        lobby.set_error(store.notice().or(languages.problem().map(str::to_owned)));
        Self {
            platform,
            lobby,
            views,
            store,
            languages,
            visit: None,
            screen: None,
            controls: Controls::default(),
            cues: Cues::default(),
            sounds: Sounds::new(mute),
            renderer: Renderer::new(style),
            fullscreen,
            writes: false,
            reported: LocalTime(0),
            closing: Vec::new(),
            last_minutes: Vec::new(),
        }
    }

    /// Runs the frames until the player leaves. The error is for the command line.
    pub(crate) async fn frames(mut self) -> Result<(), String> {
        let order = self.lobby.start(desk(&self.views, &mut self.store));
        let mut is_over = self.follow_order(order).is_break();
        let mut last = self.platform.now();
        loop {
            let began = self.platform.now();
            let secs = (began - last).as_secs().min(FRAME_SECS_MAX) as f32;
            last = began;
            let presence = self.platform.presence();
            self.sounds.away = presence != Presence::Foreground;
            self.store.poll(Duration::from_micros(began.0.unsigned_abs()));
            is_over |= self.platform.is_over();
            let is_painted = self.platform.paints_unseen() || self.is_filming();
            if presence == Presence::Hidden && !is_painted {
                self.controls.release_all();
                self.update_between();
                self.sound(secs);
            } else {
                is_over |= self.frame(secs, presence).is_break();
            }
            self.report_status();
            if is_over {
                return self.end();
            }
            // An export is as fast as the machine can draw it.
            if !self.is_filming() {
                self.platform.pace(began, self.store.settings.display.frame_cap, presence);
                while self.platform.waits() {
                    self.update_between();
                }
            }
            next_frame().await;
        }
    }

    fn end(mut self) -> Result<(), String> {
        // Writing a picture and the settings takes time that must not count as a delay.
        let is_cut = self.visit.as_ref().is_some_and(Visit::is_exporting);
        let verdict = match self.lobby.failure() {
            Some(failure) => Err(failure.to_owned()),
            None if is_cut => Err(tr("The export was cancelled.").to_owned()),
            None if self.platform.is_late() => self.verdict(),
            None => Ok(()),
        };
        self.platform.finish()?;
        self.store.save();
        self.leave();
        for goodbye in self.closing {
            let _ = goodbye.join();
        }
        verdict
    }

    /// Fails if the game that the command line asked for was not joined in time.
    fn verdict(&self) -> Result<(), String> {
        match &self.visit {
            _ if !self.lobby.must_join() => Ok(()),
            Some(visit) if visit.is_playing() => Ok(()),
            Some(visit) => Err(format!("not in the game: {}", visit.trouble())),
            None => Err(format!("not in the game: {}", self.lobby.error().unwrap_or("left"))),
        }
    }

    /// Reports the state to other programs.
    fn report_status(&mut self) {
        let now = self.platform.now();
        if !self.platform.reports_status() || now - self.reported < REPORT_EVERY {
            return;
        }
        self.reported = now;
        let screen = match &self.visit {
            _ if self.screen.is_some() => Some("settings"),
            Some(_) => None,
            None => self.lobby.screen(),
        };
        let status = status(self.visit.as_ref(), screen, self.lobby.error());
        self.platform.report_status(&status);
    }

    /// Keeps the session going between frames that are far apart.
    fn update_between(&mut self) {
        self.controls.between();
        self.update();
    }

    fn frame(&mut self, secs: f32, presence: Presence) -> ControlFlow<()> {
        let scale = self.store.settings.display.ui_scale as f32;
        let needs = match self.visit.as_ref().and_then(Visit::actions) {
            Some(_) => Needs::Menu,
            None => self.platform.needs(),
        };
        let pixels_per_point = needs.pixels_per_point(Extent::of_window(), scale);
        self.gather(pixels_per_point, presence);
        self.follow_display();
        // While the settings are open, they get the keys.
        let wanted = self.controls.clone();
        if self.screen.is_some() {
            self.controls.release_all();
        }
        self.update();
        let secs = self.visit.as_mut().and_then(Visit::film_secs).unwrap_or(secs);
        let next = self.paint(secs, pixels_per_point, &wanted);
        if self.is_filming() {
            self.film();
        } else {
            self.sound(secs);
        }
        self.rumble();
        self.lobby.painted();
        self.follow(next);
        let order = match self.take_dropped() {
            None => self.lobby.decide(desk(&self.views, &mut self.store)),
            order => order,
        };
        self.follow_order(order)
    }

    /// Takes a recording that was dropped on the window, and shows it in place of the lobby or of
    /// another recording. A game goes on, and so does an export.
    fn take_dropped(&mut self) -> Option<Order> {
        let file = self.lobby.take_dropped()?;
        let is_filming = self.is_filming();
        match &mut self.visit {
            Some(visit) if !visit.is_recording() => {
                visit.tell(tr("To watch that recording, leave the game, then drop it again."));
                return None;
            }
            Some(_) if is_filming => return None,
            Some(_) => self.follow(Next::End(End::Left)),
            None => {}
        }
        if self.screen.take().is_some() {
            self.lobby.settings_closed(&self.store.settings);
        }
        self.lobby.watch_dropped(file, desk(&self.views, &mut self.store))
    }

    /// Reads keys, mouse, gamepad and touch.
    fn gather(&mut self, pixels_per_point: f32, presence: Presence) {
        let (game, own) = self.visit.as_ref().and_then(Visit::actions).unwrap_or_default();
        self.controls.bind(game, own, &self.store.settings.controls);
        let dead_zone = f32::from(self.store.settings.gamepad.dead_zone) / 100.0;
        let pad = self.platform.pads().take(dead_zone);
        // Only a window in the foreground uses the gamepad.
        let mut pad = if presence == Presence::Foreground { pad } else { Default::default() };
        let plays = self.plays() && !self.writes;
        let menu = Touchable { actions: own, ..Touchable::default() };
        let touchable = self.visit.as_mut().map_or(menu, Visit::touchable);
        let touched = match self.platform.glass() {
            Some(glass) => {
                let touched = glass.gather(touchable, pixels_per_point, plays, &mut pad);
                self.controls.set_glass(glass.is_used());
                touched
            }
            None => Default::default(),
        };
        self.controls.gather(pixels_per_point, pad, touched);
    }

    /// Whether the player's keys reach a game.
    fn plays(&self) -> bool {
        self.visit.as_ref().is_some_and(|visit| !visit.is_paused()) && self.screen.is_none()
    }

    /// Applies the display settings.
    fn follow_display(&mut self) {
        let display = &mut self.store.settings.display;
        let is_chosen = self.screen.is_some() && self.fullscreen != display.fullscreen;
        if self.controls.pressed(&actions::FULLSCREEN) || is_chosen {
            self.fullscreen = !self.fullscreen;
            display.fullscreen = self.fullscreen;
            set_fullscreen(self.fullscreen);
        }
        if !self.fullscreen {
            self.platform.note_size(display);
        }
        camera_rig::set_reduced_motion(display.reduced_motion);
        self.store.speak(&mut self.languages);
        let letters = self.store.settings.display.text_scale as f32;
        self.renderer.set_letters(letters, self.languages.code());
    }

    /// Updates the visit, and notes its results in the settings.
    fn update(&mut self) {
        // Before the visit is updated, which then begins to show the clip's start.
        self.save_clip();
        let held = self.platform.held();
        let Some(visit) = &mut self.visit else { return self.save_last_minutes() };
        let settings = &mut self.store.settings;
        visit.follow_profile(&settings.player.name, settings.player.look());
        visit.follow_input_delay(settings.player.input_delay);
        visit.follow_ghost(&settings.player.ghost);
        visit.follow_keeping(settings.player.keep_minutes);
        visit.follow_replays(settings.display.replays);
        let next = visit.update(&mut self.controls, self.platform.motion(), &self.cues, held);
        let panels = visit.panels();
        if settings.last.panels != panels {
            settings.last.panels = panels.into_iter().map(str::to_owned).collect();
        }
        if let Some(game) = visit.lessons.take_had() {
            settings.seen.note(game);
        }
        while let Some(new) = visit.records.poll_new() {
            settings.note_record(new);
        }
        for (name, bytes) in visit.take_unsaved() {
            self.platform.save(name, bytes);
        }
        while let Some(saved) = self.platform.poll_saved() {
            visit.tell_saved(saved);
        }
        if let Some(server) = visit.take_arrival() {
            self.lobby.arrived(&server);
        }
        self.follow(next);
    }

    /// Between two visits, saves the last minutes of the one before, if the player wants that.
    fn save_last_minutes(&mut self) {
        if self.controls.pressed(&actions::SAVE_MINUTES) {
            for (name, bytes) in self.last_minutes.clone() {
                self.platform.save(name, bytes);
            }
        }
        while let Some(saved) = self.platform.poll_saved() {
            match saved {
                Ok(_) => {
                    self.cues.play(&common::CHAT);
                    self.lobby.saved();
                }
                Err(why) => self.lobby.set_error(Some(not_saved(&why))),
            }
        }
    }

    /// Paints the frame. Returns how the visit goes on.
    fn paint(&mut self, secs: f32, pixels_per_point: f32, wanted: &Controls) -> Next {
        let backdrop = self.visit.as_ref().map_or(palette::VOID, Visit::backdrop);
        let colors = self.store.settings.display.palette;
        let (plays, covered) = (self.plays(), self.screen.is_some());
        let screen_waits = self.screen.as_ref().is_some_and(Screen::waits);
        let is_filming = self.is_filming();
        let (mut next, mut writes) = (Next::Stay, None);
        let Self { renderer, visit, lobby, platform, controls, cues, screen, store, .. } = self;
        let (views, languages, sounds) = (&self.views, &self.languages, &self.sounds);
        renderer.frame(pixels_per_point, color_vision::backdrop(backdrop, colors), |ctx| {
            turn_wheel(ctx);
            typing::clean(ctx);
            if !plays && !screen_waits {
                navigate::follow(ctx, wanted);
            }
            match visit {
                Some(visit) => {
                    next = visit.draw(VisitFrame { ctx, controls, secs, cues, covered });
                }
                None => lobby.draw(ctx, &mut store.settings, secs, covered),
            }
            if let Some(glass) = platform.glass().filter(|_| plays) {
                glass.draw(ctx);
            }
            if let Some(open) = screen
                && open.draw(
                    ctx,
                    Env { store, views, controls: wanted, gamepads: platform.pads(), languages },
                )
            {
                *screen = None;
                lobby.settings_closed(&store.settings);
            }
            if !is_filming && is_clicked(ctx) {
                cues.play(&common::CLICK);
            }
            if let Some(reason) = sounds.notice().filter(|_| !is_filming) {
                draw_notice(ctx, reason, visit.is_some());
            }
            color_vision::apply(ctx, colors);
            let focus = ctx.memory(|memory| memory.focused());
            writes = focus.filter(|id| TextEditState::load(ctx, *id).is_some());
        });
        self.note_writing(writes);
        next
    }

    /// Notes the text field that has the keyboard.
    fn note_writing(&mut self, field: Option<Id>) {
        self.writes = field.is_some();
        let is_secret = self.visit.is_none() && self.lobby.is_secret();
        let letters_max = match () {
            () if is_secret => PASSWORD_BYTES_MAX,
            () if self.visit.as_ref().is_some_and(Visit::talks) => TEXT_BYTES_MAX,
            () => NAME_CHARS_MAX,
        };
        self.platform.write(field, letters_max, is_secret);
    }

    fn sound(&mut self, secs: f32) {
        self.sounds.held = self.visit.as_mut().is_some_and(Visit::is_silent);
        let Self { platform, sounds, .. } = self;
        let play = |output: &mut _| platform.play(output);
        sounds.advance(&self.cues, &self.store.settings.sound, secs, play);
    }

    fn is_filming(&mut self) -> bool {
        self.visit.as_mut().is_some_and(Visit::is_filming)
    }

    /// Hands picture and sounds of this frame to the export.
    fn film(&mut self) {
        let Some(visit) = &mut self.visit else { return };
        let next = visit.film(Picture::of_screen(), self.cues.take_orders());
        self.follow(next);
    }

    /// Starts to save the clip that the player has marked.
    fn save_clip(&mut self) {
        let Some(visit) = &mut self.visit else { return };
        let Some(cut) = visit.take_cut() else { return };
        if let Some(open) = self.platform.clip(self.store.sibling(CLIPS), visit.title()) {
            visit.save_clip(cut, open);
        }
    }

    fn rumble(&mut self) {
        let most = f32::from(self.store.settings.gamepad.rumble) / 100.0;
        // Of a world in slow motion, nothing is felt either.
        let most = if self.sounds.held { 0.0 } else { most };
        for cues::CueRumble { strength, secs } in self.cues.take_rumbles() {
            let length = Duration::try_from_secs_f32(secs).unwrap_or_default();
            self.platform.pads().rumble(Rumble { strength: strength * most, length });
        }
    }

    /// Does what the visit asks for.
    fn follow(&mut self, next: Next) {
        match next {
            Next::Stay => {}
            Next::Settings => self.screen = Some(Screen::default()),
            Next::End(end) => {
                let has_begun = self.leave();
                self.lobby.ended(end, has_begun);
            }
        }
    }

    /// Does what the lobby asks for.
    fn follow_order(&mut self, order: Option<Order>) -> ControlFlow<()> {
        match order {
            None => {}
            Some(Order::Visit(visit)) => {
                let visit = self.visit.insert(*visit);
                if !visit.is_recording() {
                    self.last_minutes.clear();
                }
                if self.platform.clip(self.store.sibling(CLIPS), visit.title()).is_some() {
                    visit.allow_films();
                }
                self.controls.release_all();
            }
            Some(Order::Settings) => self.screen = Some(Screen::default()),
            Some(Order::Quit) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Leaves the server; returns whether a game was joined there.
    fn leave(&mut self) -> bool {
        begin_file(self.platform.motion());
        self.sounds.hush();
        self.closing.retain(|goodbye| !goodbye.is_finished());
        let Some(mut visit) = self.visit.take() else { return false };
        if !visit.is_recording() {
            self.last_minutes = visit.last_minutes();
        }
        let has_begun = visit.has_begun();
        self.closing.extend(visit.close("left"));
        has_begun
    }
}

/// What the shell lends the lobby.
fn desk<'a>(views: &'a Views, store: &'a mut Store) -> Desk<'a> {
    let muted = store.sibling("muted.toml");
    Desk { views, settings: &mut store.settings, muted }
}

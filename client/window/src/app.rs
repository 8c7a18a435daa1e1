//! The frame loop: menu, session, menu.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use egui_macroquad::egui::{self, Context};
use macroquad::color::Color;
use macroquad::input::{is_key_pressed, is_quit_requested, prevent_quit};
use macroquad::miniquad::conf::{Conf, Platform};
use macroquad::miniquad::window::{dpi_scale, screen_size, set_fullscreen};
use macroquad::window::{clear_background, next_frame};
use phaselock_lab::record::MotionFiles;
use phaselock_quic::address::Address;
use phaselock_quic::clock::Clock;

use super::args::{Args, Start};
use super::controls::{Controls, KeyCode};
use super::lab::{Begin, Lab};
use super::menu::{self, Menu, Wish};
use super::screenshot::Screenshot;
use super::view::Views;
use super::visit::{self, Next, Visit};
use super::{background, display, palette};

/// Size of the window at which a point of the user interface is a pixel.
const DESIGN: (f32, f32) = (1280.0, 720.0);
/// Least size in points that the menu needs.
const LEAST: (f32, f32) = (800.0, 600.0);
/// Pixels per point, on a display of usual density, below which letters are hard to read.
const READABLE: f32 = 0.8;
/// Points by which a notch of the wheel moves lists, as in egui.
const NOTCH: f32 = 40.0;
/// Shortest frame, 300 a second: without a display's rhythm the window would use a whole core for
/// frames that nobody sees.
const FRAME_LEAST: Duration = Duration::from_micros(3333);

/// Opens the window and stays until the player leaves; the error says why it could not.
pub(crate) fn run(args: Args, views: &Views) -> Result<(), String> {
    let screenshot = args.options.screenshot.as_deref().map(Screenshot::prepare).transpose();
    let screenshot = screenshot.map_err(|error| error.to_string())?;
    let motion = args.options.record_motion.as_deref().map(MotionFiles::prepare).transpose();
    let motion = motion.map_err(|error| error.to_string())?;
    let ((width, height), fullscreen) = (args.options.window, args.options.fullscreen);
    let conf = move || Conf {
        window_title: "Phaselock".into(),
        window_width: width.into(),
        window_height: height.into(),
        high_dpi: true,
        fullscreen,
        icon: Some(background::icon()),
        platform: Platform { linux_wm_class: "phaselock", ..Platform::default() },
        ..Conf::default()
    };
    let outcome = Rc::new(Cell::new(Ok(())));
    let told = outcome.clone();
    let views = views.clone();
    display::open(conf, async move {
        told.set(App::new(args, views, screenshot, motion).frames().await)
    })
    .map_err(|error| error.to_string())?;
    outcome.replace(Ok(()))
}

struct App {
    args: Args,
    views: Views,
    clock: Clock,
    screenshot: Option<Screenshot>,
    motion: Option<MotionFiles>,
    menu: Menu,
    visit: Option<Visit>,
    /// The laboratory, kept as the player left it.
    lab: Option<Lab>,
    in_lab: bool,
    controls: Controls,
    fullscreen: bool,
    /// Sessions that are saying goodbye.
    closing: Vec<JoinHandle<()>>,
}

impl App {
    fn new(
        args: Args,
        views: Views,
        screenshot: Option<Screenshot>,
        motion: Option<MotionFiles>,
    ) -> Self {
        Self {
            menu: Menu::new(&args, views.games()),
            views,
            clock: Clock::start(),
            screenshot,
            motion,
            visit: None,
            lab: None,
            in_lab: false,
            controls: Controls::default(),
            fullscreen: args.options.fullscreen,
            closing: Vec::new(),
            args,
        }
    }

    async fn frames(mut self) -> Result<(), String> {
        prevent_quit();
        egui_macroquad::cfg(style);
        match self.args.start.clone() {
            Start::Menu => {}
            Start::Play { games, bots } => self.host(&games, bots),
            Start::Join { address } => self.join(address, self.args.name()),
            Start::Lab(begin) => self.experiment(&begin),
        }
        let began = Instant::now();
        let mut last = began;
        loop {
            let frame_began = Instant::now();
            let secs = (frame_began - last).as_secs_f32().min(0.25);
            last = frame_began;
            let mut quit = is_quit_requested();
            quit |= self.frame(secs).is_break();
            let late = self.args.options.exit_after.is_some_and(|after| began.elapsed() >= after);
            if quit || late {
                if let Some(screenshot) = &mut self.screenshot {
                    screenshot.take().map_err(|error| error.to_string())?;
                }
                let verdict = if late { self.verdict() } else { Ok(()) };
                self.leave();
                for goodbye in self.closing {
                    let _ = goodbye.join();
                }
                return verdict;
            }
            if let Some(rest) = FRAME_LEAST.checked_sub(frame_began.elapsed()) {
                std::thread::sleep(rest);
            }
            next_frame().await;
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

    fn frame(&mut self, secs: f32) -> ControlFlow<()> {
        if is_key_pressed(KeyCode::F11) {
            self.fullscreen = !self.fullscreen;
            set_fullscreen(self.fullscreen);
        }
        let pixels_per_point = pixels_per_point();
        self.controls.gather(pixels_per_point);
        if let Some(visit) = &mut self.visit {
            let next = visit.update(&mut self.controls, self.motion.as_mut());
            self.follow(next);
        }

        let backdrop = self.visit.as_ref().map_or(palette::VOID, Visit::backdrop);
        let [r, g, b, a] = backdrop.to_array();
        clear_background(Color::from_rgba(r, g, b, a));
        let mut next = Next::Stay;
        let (mut wish, mut left) = (None, false);
        egui_macroquad::ui(|ctx| {
            ctx.set_pixels_per_point(pixels_per_point);
            turn_wheel(ctx);
            match (&mut self.visit, self.lab.as_mut().filter(|_| self.in_lab)) {
                (Some(visit), _) => next = visit.draw(ctx, &mut self.controls, secs),
                (None, Some(lab)) => left = lab.draw(ctx, secs),
                (None, None) => wish = self.menu.draw(ctx),
            }
        });
        egui_macroquad::draw();
        if let Some(lab) = &mut self.lab {
            lab.painted();
        }
        self.in_lab &= !left;
        self.follow(next);
        match wish {
            None => {}
            Some(Wish::Play { games, bots }) => self.host(&games, bots),
            Some(Wish::Join { address, password }) => {
                self.args.options.setup.password = password;
                self.join(address, self.menu.name());
            }
            Some(Wish::Experiment) => self.experiment(&Begin::default()),
            Some(Wish::Quit) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Opens the laboratory, as it was left if it was open before.
    fn experiment(&mut self, begin: &Begin) {
        let (link, games) = (self.args.options.setup.link.as_ref(), self.views.games());
        self.lab.get_or_insert_with(|| Lab::new(begin, link, games));
        self.in_lab = true;
    }

    fn host(&mut self, games: &[String], bots: u16) {
        let games = self.views.games().select(games).map_err(|error| error.to_string());
        let name = self.menu.name();
        self.begin(games.and_then(|games| Visit::host(games, bots, self.setting(name))));
    }

    fn join(&mut self, address: Address, name: String) {
        self.begin(Visit::join(address, self.setting(name)));
    }

    fn setting(&self, name: String) -> visit::VisitConfig<'_> {
        let (views, setup) = (&self.views, &self.args.options.setup);
        visit::VisitConfig { name, clock: self.clock, views, setup }
    }

    fn begin(&mut self, started: Result<Visit, String>) {
        match started {
            Ok(visit) => {
                self.menu.set_error(None);
                self.visit = Some(visit);
                self.controls.rest();
            }
            Err(reason) => self.menu.set_error(Some(reason)),
        }
    }

    fn follow(&mut self, next: Next) {
        match next {
            Next::Stay => {}
            Next::Leave => self.leave(),
            Next::Ended(reason) => {
                self.leave();
                self.menu.set_error(Some(reason));
            }
        }
    }

    fn leave(&mut self) {
        visit::begin_file(self.motion.as_mut());
        if let Some(visit) = self.visit.take() {
            self.closing.extend(visit.close("left"));
        }
        self.closing.retain(|goodbye| !goodbye.is_finished());
    }
}

/// Scales everything with the window, but letters no smaller than can be read, unless they need
/// more room than there is.
fn pixels_per_point() -> f32 {
    let (width, height) = screen_size();
    let fits = (width / DESIGN.0).min(height / DESIGN.1);
    // In steps, because each new size draws all letters anew.
    let fits = (fits * 20.0).round() / 20.0;
    let room = (width / LEAST.0).min(height / LEAST.1);
    fits.max(READABLE * dpi_scale()).min(room).clamp(0.4, 6.0)
}

/// Moves lists by [`NOTCH`] per notch of the wheel. egui-macroquad divides by 90 what X11 and
/// Wayland count in notches, so that it would be half a point.
fn turn_wheel(ctx: &Context) {
    if !cfg!(target_os = "linux") {
        return;
    }
    ctx.input_mut(|input| {
        let turned = input.events.iter().map(|event| match event {
            egui::Event::MouseWheel { delta, .. } => (delta.y * 90.0).clamp(-1.0, 1.0),
            _ => 0.0,
        });
        input.smooth_scroll_delta.y = turned.sum::<f32>() * NOTCH;
    });
}

fn style(ctx: &Context) {
    ctx.options_mut(|options| {
        // The frame's closure moves sparks and clocks along: it must run once a frame.
        options.max_passes = NonZeroUsize::MIN;
        options.zoom_with_keyboard = false;
        options.theme_preference = egui::ThemePreference::Dark;
    });
    ctx.set_visuals(menu::visuals());
}

//! The laboratory: draw a motion, and see what a network leaves of it and what each method makes
//! of that.
//!
//! ```text
//! mouse -> drawing --+
//! file, formula -----+-> model (controls, methods, time) -> track -> canvas
//!                                       |                  `-> legend, transport
//!                                       +-> export
//! ```
//!
//! *Invariant:* what is measured, the rest of the crate measures; in here it is chosen, painted and
//! written to files.

mod against;
mod canvas;
mod drawing;
mod errors;
mod export;
mod legend;
mod model;
mod panel;
mod settings;
mod track;
mod transport;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::file::MotionFile;
use crate::formulas::Formula;
use crate::{Contender, Recording};
use egui_macroquad::egui::{
    Align, CentralPanel, Context, CursorIcon, Event, FontId, Frame, Key, Layout, Margin, Modifiers,
    PointerButton, RichText, ScrollArea, Sense, SidePanel, TopBottomPanel, Ui,
};
use phaselock::games::Games;
use phaselock::link::Conditions;

use self::canvas::{CORNER_WIDTH, Canvas, Options};
use self::drawing::Drawing;
use self::errors::Errors;
use self::export::Names;
use self::legend::Combination;
use self::model::{Model, Origin, Unit};
use self::settings::LabSettings;
use phaselock_ui::paint::panel as board;
use phaselock_ui::prelude::*;
use phaselock_ui::screenshot::Screenshot;

const SIDE_WIDTH: f32 = 404.0;
const TRANSPORT_HEIGHT: f32 = 118.0;
/// Computing time per frame: a quarter of a frame at 60 Hz.
const WORK: Duration = Duration::from_millis(4);
/// Computing time for methods that are shown: a late frame is better than a method that vanishes
/// for one.
const WORK_SEEN: Duration = Duration::from_millis(40);
/// Seconds between updates of the numbers; faster would be unreadable.
const SCORES_SECS: f32 = 0.1;
/// Magnifications of the picture; the one without a name fits.
const ZOOMS: [(f64, &str); 3] = [(1.0, ""), (4.0, "4×"), (16.0, "16×")];
const NOTICE_SECS: f32 = 6.0;

/// Options of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Begin {
    /// Name and content of a file.
    pub file: Option<(String, Arc<MotionFile>)>,
    /// A built-in path instead.
    pub path: Option<Formula>,
    /// The methods to show.
    pub methods: Option<Vec<Contender>>,
    /// Folder for exports; `None` is the current one.
    pub export: Option<PathBuf>,
}

/// The laboratory's scene.
#[derive(Debug)]
pub struct Lab {
    model: Model,
    canvas: Canvas,
    errors: Errors,
    drawing: Option<Drawing>,
    options: Options,
    combination: Combination,
    now: f64,
    /// Seconds until the numbers are updated.
    unread_secs: f32,
    folder: PathBuf,
    /// Names of an export whose picture is not complete.
    picture: Option<Names>,
    notice: Option<Notice>,
}

#[derive(Debug)]
struct Notice {
    words: String,
    color: Color32,
    secs: f32,
}

impl Lab {
    /// Starts with what the command line asks for, and a simulated link.
    pub fn new(begin: &Begin, link: Option<&Conditions>, games: &Games) -> Self {
        let path = begin.path.unwrap_or(Formula::Zigzag);
        let mut model = Model::new(path, LabSettings::over(link), begin.methods.as_deref());
        let mut notice = None;
        let file = begin.file.as_ref();
        let file = file.and_then(|(name, motion)| {
            let unit = if motion.source.is_some() { Unit::Metres } else { Unit::Own };
            Some((name, Recording::of_motion(motion, games)?, unit))
        });
        if let Some((name, recording, unit)) = file {
            if recording.secs() > model::SECS_MAX {
                let mins = format!("{:.1}", recording.secs() / 60.0);
                let words = fill("Showing the first of {mins} minutes.", &[("mins", &mins)]);
                notice = Some(Notice { words, color: palette::WARN, secs: NOTICE_SECS });
            }
            model.set_file(name.clone(), recording, unit);
        }
        Self {
            model,
            canvas: Canvas::default(),
            errors: Errors::default(),
            drawing: None,
            options: Options { zoom: 1.0, ..Options::default() },
            combination: Combination::default(),
            now: 0.0,
            unread_secs: 0.0,
            folder: begin.export.clone().unwrap_or_default(),
            picture: None,
            notice,
        }
    }

    /// Draws the scene. Returns whether to go back to the menu.
    pub fn draw(&mut self, ctx: &Context, secs: f32) -> bool {
        let mut export = transport::keys(ctx, &mut self.model);
        // An open list is closed first.
        let escape = !ctx.memory(|memory| memory.any_popup_open())
            && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        // A drawing is cancelled first.
        let mut leave = escape && self.drawing.take().is_none();
        self.work(secs);

        let frame = Frame::new().fill(palette::CARD).stroke(Stroke::new(1.0, palette::EDGE));
        let mut pointed = None;
        let side = SidePanel::right("lab side").exact_width(SIDE_WIDTH).resizable(false);
        side.frame(frame.inner_margin(Margin::symmetric(12, 8))).show(ctx, |ui| {
            ui.horizontal(|ui| {
                ui.label(RichText::new(tr("Laboratory")).size(20.0).color(palette::TEXT));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    leave |= panel::chip(ui, false, tr("Menu")).on_hover_text(tr("Esc")).clicked();
                });
            });
            let Self { model, options, combination, .. } = self;
            // In a small window, little space is left below.
            ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
                let bottom = ui.max_rect().bottom();
                panel::draw(ui, model);
                pointed = legend::draw(ui, model, &mut options.against, combination, bottom);
            });
        });
        let below = TopBottomPanel::bottom("lab transport").exact_height(TRANSPORT_HEIGHT);
        below.frame(frame.inner_margin(Margin::symmetric(14, 7))).show(ctx, |ui| {
            let how = (self.options.against, pointed);
            export |= transport::draw(ui, &mut self.model, &mut self.errors, how);
        });
        CentralPanel::default().frame(Frame::NONE).show(ctx, |ui| self.picture(ui, pointed));
        if export {
            self.export();
        }
        leave
    }

    /// Advances time, and computes what is not known yet.
    fn work(&mut self, secs: f32) {
        self.now += f64::from(secs);
        if self.drawing.is_none() {
            self.model.advance(f64::from(secs));
        }
        let began = Instant::now();
        self.model.compute(|on| began.elapsed() < if on { WORK_SEEN } else { WORK });
        self.unread_secs -= secs;
        let due = self.unread_secs <= 0.0 || !self.model.playing;
        if due {
            self.unread_secs = SCORES_SECS;
        }
        self.model.score(due, || began.elapsed() < WORK);
        if let Some(notice) = &mut self.notice {
            notice.secs -= secs;
        }
        self.notice.take_if(|notice| notice.secs <= 0.0);
    }

    fn picture(&mut self, ui: &mut Ui, pointed: Option<usize>) {
        let rect = ui.max_rect();
        self.mouse(ui, rect);
        let painter = ui.painter_at(rect);
        if let Some(drawing) = &self.drawing {
            Canvas::sketch(&painter, rect, drawing);
            return;
        }
        let options = Options { pointed, ..self.options };
        self.canvas.draw(&painter, rect, &self.model, options);
        let fresh = self.model.drawn.is_none() && self.model.path.origin != Origin::Drawn;
        if fresh && self.notice.is_none() && self.picture.is_none() {
            hint(ui, rect);
        }
        self.corner(ui, rect);
        if let Some(notice) = &self.notice {
            let font = FontId::proportional(14.0);
            let words =
                painter.layout(notice.words.clone(), font, notice.color, rect.width() - 80.0);
            let at = rect.center_bottom() - vec2(0.0, 48.0);
            let area = Align2::CENTER_BOTTOM.anchor_size(at, words.size());
            board(&painter, area.expand2(vec2(14.0, 8.0)));
            painter.galley(area.min, words, notice.color);
        }
    }

    /// Draws the picture's switches.
    fn corner(&mut self, ui: &mut Ui, rect: Rect) {
        let corner = corner(rect);
        ui.painter().rect_filled(corner.expand(5.0), 6.0, fade(palette::VOID, 0.75));
        ui.put(corner, |ui: &mut Ui| {
            let row = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 5.0;
                let letters = dense(ui.ctx(), 13.0);
                let label =
                    |words: &str| RichText::new(words).size(letters).color(palette::TEXT_SOFT);
                for (zoom, words) in ZOOMS.into_iter().rev() {
                    let words = if words.is_empty() { tr("fit") } else { words };
                    panel::choose(ui, &mut self.options.zoom, zoom, words);
                }
                ui.label(label(tr("Zoom")));
                ui.add_space(10.0);
                let secs = format!("{:.0} s", canvas::TRAIL_SECS);
                for (whole, words) in [(true, tr("all")), (false, &secs)] {
                    panel::choose(ui, &mut self.options.whole, whole, words);
                }
                ui.label(label(tr("Trail")));
            });
            row.response
        });
    }

    /// Draws a path while the button is held on the picture.
    fn mouse(&mut self, ui: &Ui, rect: Rect) {
        let response = ui.interact(rect, ui.id().with("canvas"), Sense::drag());
        let response = response.on_hover_cursor(CursorIcon::Crosshair);
        let position = |at: Pos2| {
            let at = at.clamp(rect.min, rect.max) - rect.min;
            [f64::from(at.x), f64::from(at.y)]
        };
        // Only where it went while the button was held.
        let mut held = self.drawing.is_some();
        let mut moved = Vec::new();
        ui.input(|input| {
            for event in &input.events {
                match event {
                    Event::PointerButton {
                        button: PointerButton::Primary, pressed, pos, ..
                    } => {
                        if held {
                            moved.push(position(*pos));
                        }
                        held = *pressed;
                    }
                    Event::PointerMoved(at) if held => moved.push(position(*at)),
                    _ => {}
                }
            }
        });
        // It may have moved on since.
        let (now, at) = (self.now, ui.input(|input| input.pointer.press_origin()));
        // What is in the corner is clicked, not drawn over.
        let at = at.filter(|at| !corner(rect).expand(5.0).contains(*at));
        if let (true, Some(at)) = (response.drag_started(), at) {
            self.drawing = Some(Drawing::new(now, position(at)));
            self.notice = None;
            return;
        }
        let Some(drawing) = &mut self.drawing else { return };
        drawing.follow(now, &moved);
        if drawing.is_full() || !response.dragged() {
            let outcome = drawing.finish();
            let full = drawing.is_full();
            self.drawing = None;
            match outcome {
                Ok(recording) => {
                    (self.canvas.sheet, self.options.zoom) = (rect.size(), 1.0);
                    self.model.set_drawn(recording);
                    if full {
                        let secs = format!("{:.0}", model::SECS_MAX);
                        let words = fill("A path lasts at most {secs} s.", &[("secs", &secs)]);
                        self.show_notice(words, palette::WARN);
                    }
                }
                Err(error) => self.show_notice(error.to_string(), palette::TEXT),
            }
        }
    }

    fn show_notice(&mut self, words: String, color: Color32) {
        self.notice = Some(Notice { words, color, secs: NOTICE_SECS });
    }

    /// Writes the numbers now, and the picture once it is complete.
    fn export(&mut self) {
        self.model.compute(|_| true);
        while !self.model.score(true, || true) {}
        let written = Names::free(&self.folder).and_then(|names| {
            export::write_new(&names.of("svg"), &export::figure_svg(&self.model))?;
            export::write_new(&names.of("csv"), &export::frames_csv(&self.model))?;
            export::write_new(&names.of("json"), &export::summary_json(&self.model))?;
            Ok(names)
        });
        match written {
            Ok(names) => self.picture = Some(names),
            Err(error) => self.show_notice(error.to_string(), palette::BAD),
        }
    }

    /// Keeps the painted frame if an export asked for it.
    pub fn painted(&mut self) {
        let Some(names) = self.picture.take() else { return };
        let taken = Screenshot::prepare(&names.of("png")).and_then(|mut picture| picture.take());
        match taken {
            Ok(()) => {
                let words = fill("Written: {files}.", &[("files", &names.words())]);
                self.show_notice(words, palette::GOOD)
            }
            Err(error) => self.show_notice(format!("{error}."), palette::BAD),
        }
    }
}

fn corner(rect: Rect) -> Rect {
    let size = vec2(CORNER_WIDTH, 26.0);
    Rect::from_min_size(rect.right_top() + vec2(-12.0 - size.x, 12.0), size)
}

/// Invites to draw, until a path was drawn.
fn hint(ui: &Ui, rect: Rect) {
    let painter = ui.painter_at(rect);
    let font = FontId::proportional(26.0);
    let words = painter.layout_no_wrap(tr("Draw here").into(), font, fade(palette::TEXT, 0.8));
    let at = rect.center_bottom() - vec2(0.0, 44.0);
    let area = Align2::CENTER_BOTTOM.anchor_size(at, words.size());
    painter.galley(area.min, words, palette::TEXT);
}

#[cfg(test)]
mod tests;

//! The laboratory's picture: where the body truly is, what is known of it, and where each method
//! shows it.

use crate::strokes::{self, Marker};
use crate::track::{Fate, Legs};
use crate::{OnScreen, ScoredFrame};
use egui_macroquad::egui::{FontId, Vec2};
use phaselock::motion::Timeline;

use super::against::{Against, truth};
use super::drawing::Drawing;
use super::model::{Model, Origin};
use super::track::{Track, View};
use phaselock_ui::background;
use phaselock_ui::prelude::*;

/// Seconds of the past painted strongly. Arbitrary: three or four strokes of a zigzag.
pub(crate) const TRAIL_SECS: f64 = 2.0;
/// Margin around a path in points, with space for words above and below.
const MARGIN: Vec2 = vec2(48.0, 62.0);
/// Width of the switches in the picture's corner.
pub(super) const CORNER_WIDTH: f32 = 252.0;
/// Lower edge of the switches, below the picture's upper edge.
pub(super) const CORNER_BOTTOM: f32 = 46.0;
/// Maximum number of updates painted, the newest ones. Arbitrary: that many rings fill any window.
const RINGS_MAX: usize = 400;
/// Seconds for which a new update stands out.
const FLASH_SECS: f64 = 0.25;

/// Options of the picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Whether all of the past is painted strongly.
    pub(crate) whole: bool,
    pub(crate) against: Against,
    /// Row under the mouse; the others fade.
    pub(crate) pointed: Option<usize>,
    /// Magnification; 0 or 1 shows everything, more follows the body.
    pub(crate) zoom: f64,
}

/// Lines kept from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    of: Option<(u64, View)>,
    truth: Track,
    /// Tracks by row; `None` for a hidden row.
    tracks: Vec<Option<Track>>,
    /// Size of the canvas when a path was drawn on it: the path's positions are points of that
    /// canvas.
    pub(crate) sheet: Vec2,
}

impl Canvas {
    fn view(&self, model: &Model, rect: Rect, zoom: f64) -> View {
        let fits = if model.path.origin == Origin::Drawn {
            // A drawing stays where it was drawn.
            let bounds = [[0.0, self.sheet.x.into()], [0.0, self.sheet.y.into()]];
            View::new(bounds, rect.center(), [rect.width(), rect.height()])
        } else {
            let room = rect.size() - 2.0 * MARGIN;
            View::new(model.bounds, rect.center(), [room.x, room.y])
        };
        match model.place_at_head() {
            Some(position) if zoom > 1.0 => fits.nearer(zoom, position),
            _ => fits,
        }
    }

    fn refresh(&mut self, model: &Model, view: View) {
        if self.of == Some((model.version, view)) {
            return;
        }
        self.of = Some((model.version, view));
        let recording = &*model.path.recording;
        let samples = recording.samples.iter().take_while(|sample| sample.time <= model.secs);
        let mut legs = Legs::default();
        self.truth = Track::new(samples.map(|sample| {
            let at = recording.position_of(&recording.shape.coords(&sample.values, None));
            Some((view.point(at), legs.of(recording, at, sample.segment)))
        }));
        let track = |run: &Vec<ScoredFrame>| {
            let mut legs = Legs::default();
            Track::new(run.iter().map(|frame| match (frame.position, frame.seen) {
                (Some(at), OnScreen::Shown(_, segment)) => {
                    Some((view.point(at), legs.of(recording, at, segment)))
                }
                _ => None,
            }))
        };
        let rows = model.rows.iter();
        self.tracks = rows.map(|row| row.run.as_ref().filter(|_| row.on).map(track)).collect();
    }

    pub(crate) fn draw(&mut self, painter: &Painter, rect: Rect, model: &Model, options: Options) {
        let painter = &painter.with_clip_rect(rect);
        ground(painter, rect);
        let view = self.view(model, rect, options.zoom);
        self.refresh(model, view);
        let (head, frames) = (model.head, model.frames());
        let since = if options.whole { 0.0 } else { head - TRAIL_SECS };
        let from = model.carried.frames.partition_point(|frame| frame.now < since);

        let samples = &model.path.recording.samples;
        let until = |time: f64| samples.partition_point(|sample| sample.time <= time);
        let pale = |strength: f32, width: f32| Stroke::new(width, fade(palette::TEXT, strength));
        lines(painter, self.truth.lines(0..until(model.secs)), pale(0.13, 7.0));
        // The lines of a long path overlap.
        let faint = (5.0 / model.secs.max(1.0) as f32).clamp(0.1, 0.4);
        let ahead = |row: usize| options.pointed.is_none_or(|pointed| pointed == row);
        let rows = || model.rows.iter().zip(&self.tracks).enumerate();
        for (at, (row, track)) in rows() {
            let Some(track) = track else { continue };
            let strength = if ahead(at) { faint } else { 0.2 * faint };
            let stroke = Stroke::new(1.0, fade(color(row.look), strength));
            lines(painter, track.lines(0..usize::MAX), stroke);
        }
        lines(painter, self.truth.lines(until(since)..until(head)), pale(0.3, 7.0));
        updates(painter, model, &view, since);
        for (at, (row, track)) in rows() {
            let Some(track) = track else { continue };
            let look = strokes::Stroke::of(row.look);
            let (width, strength) = if ahead(at) { (2.2, 1.0) } else { (1.4, 0.25) };
            let stroke = Stroke::new(width, fade(color(row.look), strength));
            lines(painter, track.dashes(from..frames, look.dash), stroke);
        }
        self.now(painter, model, &view, options);
        key(painter, rect, model, options.against);
        words(painter, rect, model);
    }

    /// Paints the moment looked at.
    fn now(&self, painter: &Painter, model: &Model, view: &View, options: Options) {
        let Some(frame) = model.frames().checked_sub(1) else {
            if let Some(truth) = model.path.recording.truth(model.head) {
                body(painter, view.point(truth.position));
            }
            return;
        };
        let rows = model.rows.iter().zip(&self.tracks).enumerate();
        let shown: Vec<_> = rows
            .filter_map(|(at, (row, track))| {
                let (point, run) = (track.as_ref()?.at(frame)?, row.run.as_ref()?);
                Some((at, row.look, point, run.get(frame)?))
            })
            .collect();
        // The shown past, and lines to where each should be.
        for (at, look, point, watched) in &shown {
            let Some(truth) = truth(watched, options.against) else { continue };
            let truth = view.point(truth);
            let ahead = options.pointed.is_none_or(|pointed| pointed == *at);
            let strength = if ahead { 0.9 } else { 0.2 };
            let stroke = Stroke::new(1.2, fade(color(*look), strength));
            painter.line_segment([*point, truth], stroke);
            if watched.time < watched.at.now && options.against == Against::Then {
                was(painter, truth);
            }
        }
        if let Some(truth) = model.path.recording.truth(model.head) {
            body(painter, view.point(truth.position));
        }
        for (at, look, point, _) in &shown {
            let ahead = options.pointed.is_none_or(|pointed| pointed == *at);
            marker(painter, *point, *look, if ahead { 7.5 } else { 5.0 });
        }
    }

    /// Paints a path while it is drawn.
    pub(crate) fn sketch(painter: &Painter, rect: Rect, drawing: &Drawing) {
        let painter = &painter.with_clip_rect(rect);
        ground(painter, rect);
        let point = |[x, y]: [f64; 2]| rect.min + vec2(x as f32, y as f32);
        let track = Track::new(drawing.positions().map(|position| Some((point(position), 0))));
        lines(painter, track.lines(0..usize::MAX), Stroke::new(7.0, fade(palette::TEXT, 0.4)));
        if let Some(position) = drawing.positions().last() {
            body(painter, point(position));
        }
        let top = rect.center_top() + vec2(0.0, 22.0);
        let secs = [drawing.secs(), super::model::SECS_MAX];
        let [secs, most] = [format!("{:.1}", secs[0]), format!("{:.0}", secs[1])];
        let words = fill("{secs} s of {most}", &[("secs", &secs), ("most", &most)]);
        text(painter, top, Align2::CENTER_TOP, &words, (20.0, palette::TEXT));
        let below = top + vec2(0.0, 28.0);
        let hint = tr("Release to play it");
        text(painter, below, Align2::CENTER_TOP, hint, (13.0, palette::TEXT_SOFT));
    }
}

fn ground(painter: &Painter, rect: Rect) {
    painter.rect_filled(rect, 0.0, palette::VOID);
    background::grid(painter, rect, 40.0);
}

fn lines(painter: &Painter, lines: Vec<Vec<Pos2>>, stroke: Stroke) {
    let stroke = PathStroke::from(stroke);
    painter.extend(lines.into_iter().map(|line| Shape::line(line, stroke.clone())));
}

fn body(painter: &Painter, at: Pos2) {
    painter.circle(at, 9.5, palette::TEXT, Stroke::new(2.0, palette::VOID));
}

/// Colour of a look on the dark ground.
pub(crate) fn color(look: usize) -> Color32 {
    let [r, g, b] = strokes::Stroke::of(look).color;
    mix(Color32::from_rgb(r, g, b), Color32::WHITE, 0.18)
}

pub(crate) fn marker(painter: &Painter, at: Pos2, look: usize, size: f32) {
    let (look, color) = (strokes::Stroke::of(look), color(look));
    let rim = Stroke::new(1.5, palette::VOID);
    let arms = |ends: [Vec2; 2]| {
        for (width, color) in [(size * 0.6 + 2.5, palette::VOID), (size * 0.6, color)] {
            for end in ends {
                let out = end * (size + if color == palette::VOID { 1.2 } else { 0.0 });
                painter.line_segment([at - out, at + out], Stroke::new(width, color));
            }
        }
    };
    match look.marker {
        Marker::Cross => arms([vec2(0.75, 0.75), vec2(0.75, -0.75)]),
        Marker::Plus => arms([vec2(1.0, 0.0), vec2(0.0, 1.0)]),
        Marker::Circle => {
            painter.circle(at, size * 0.9, color, rim);
        }
        Marker::Square | Marker::Triangle | Marker::Diamond | Marker::TriangleDown => {
            let outline = look.marker.outline().into_iter();
            let corners = outline.map(|[x, y]| at + vec2(x, y) * size * 1.1).collect();
            painter.add(Shape::convex_polygon(corners, color, rim));
        }
    }
}

/// Paints a look's line as in the picture.
pub(crate) fn sample(painter: &Painter, rect: Rect, look: usize, strength: f32) {
    let positions = [rect.left_center(), rect.right_center()].map(|at| Some((at, 0)));
    let dash = strokes::Stroke::of(look).dash;
    let stroke = Stroke::new(2.2, fade(color(look), strength));
    lines(painter, Track::new(positions.into_iter()).dashes(0..2, dash), stroke);
}

/// Paints the body at the time that a method shows.
fn was(painter: &Painter, at: Pos2) {
    painter.circle_stroke(at, 6.0, Stroke::new(1.5, fade(palette::TEXT, 0.7)));
}

fn ring(painter: &Painter, at: Pos2, strength: f32) {
    painter.circle_stroke(at, 4.5, Stroke::new(1.6, fade(palette::WARN, strength)));
}

fn under_way(painter: &Painter, at: Pos2) {
    painter.circle_stroke(at, 4.0, Stroke::new(1.2, fade(palette::WARN, 0.5)));
}

fn lost(painter: &Painter, at: Pos2, strength: f32) {
    let stroke = Stroke::new(1.8, fade(palette::BAD, strength));
    for [a, b] in [[vec2(-4.0, -4.0), vec2(4.0, 4.0)], [vec2(-4.0, 4.0), vec2(4.0, -4.0)]] {
        painter.line_segment([at + a, at + b], stroke);
    }
}

fn updates(painter: &Painter, model: &Model, view: &View, since: f64) {
    let head = model.head;
    let sent = model.updates.partition_point(|update| update.sent <= head);
    for update in &model.updates[sent.saturating_sub(RINGS_MAX)..sent] {
        let at = view.point(update.position);
        let strength = if update.sent >= since { 1.0 } else { 0.25 };
        match update.fate {
            Fate::Arrives(came) if came <= head => {
                ring(painter, at, strength);
                let age = ((head - came) / FLASH_SECS) as f32;
                if age < 1.0 {
                    let stroke = Stroke::new(2.0, fade(palette::WARN, 1.0 - age));
                    painter.circle_stroke(at, 5.0 + 9.0 * age, stroke);
                }
            }
            Fate::Lost => lost(painter, at, strength),
            Fate::Arrives(_) | Fate::Open => under_way(painter, at),
        }
    }
}

/// Paints the legend of the signs in the corner.
fn key(painter: &Painter, rect: Rect, model: &Model, against: Against) {
    let mut at = rect.left_bottom() + vec2(22.0, -18.0);
    let mut entry = |words: &str, sign: &dyn Fn(Pos2)| {
        sign(at);
        let after = at + vec2(14.0, 0.0);
        let words = text(painter, after, Align2::LEFT_CENTER, words, (12.0, palette::TEXT_SOFT));
        at.x = words.right() + 22.0;
    };
    entry(tr("truth"), &|at| {
        painter.circle_filled(at, 6.0, palette::TEXT);
    });
    let mut on = model.rows.iter().filter(|row| row.on);
    let past = on.any(|row| row.contender.timeline() == Timeline::Past);
    if past && against == Against::Then {
        entry(tr("then"), &|at| was(painter, at));
    }
    entry(tr("update"), &|at| ring(painter, at, 1.0));
    entry(tr("in flight"), &|at| under_way(painter, at));
    if model.updates.iter().any(|update| update.fate == Fate::Lost) {
        entry(tr("lost"), &|at| lost(painter, at, 1.0));
    }
}

/// Paints the conditions, for readers of a screenshot.
fn words(painter: &Painter, rect: Rect, model: &Model) {
    let at = rect.left_top() + vec2(18.0, 14.0);
    let controls = &model.controls;
    let room = (rect.width() - CORNER_WIDTH - 40.0).max(60.0);
    let lettering = Lettering::new(dense(painter.ctx(), 17.0), palette::TEXT).within(room);
    let title = text_over(painter, at, Align2::LEFT_TOP, &model.path.title, lettering);
    let mut below = title.left_bottom() + vec2(0.0, 1.0);
    let [ms, hz] = [controls.interval_ms, controls.frame_hz].map(|it| format!("{it:.0}"));
    let rates = fill(
        "an update every {ms} ms, {frames} frames per second",
        &[("ms", &ms), ("frames", &hz)],
    );
    let net = format!("{}, {rates}", controls.net_words());
    let room = rect.width() - 36.0;
    let letters = dense(painter.ctx(), 12.5);
    let font = FontId::proportional(letters);
    let width = |text: &str| {
        let text = painter.layout_no_wrap(text.to_owned(), font.clone(), palette::TEXT_SOFT);
        text.size().x
    };
    let mut rows = vec![net];
    if width(&rows[0]) > room - CORNER_WIDTH {
        // Below what is in the corner, and in two rows if one is too short.
        below.y = below.y.max(rect.top() + CORNER_BOTTOM);
        if width(&rows[0]) > room {
            rows = vec![format!("{},", controls.net_words()), rates];
        }
    }
    for row in rows {
        let lettering = Lettering::new(letters, palette::TEXT_SOFT).within(room);
        below = text_over(painter, below, Align2::LEFT_TOP, &row, lettering).left_bottom();
    }
}

//! The bar below a recording: time, speed, markers, and buttons for mouse and fingers.

use egui_macroquad::egui::{
    Align2, Area, Button, Color32, Context, FontId, Id, Label, LayerId, Order, Rect, Response,
    RichText, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2,
};
use phaselock::playback::Playback;
use phaselock::replay::{Damage, Happening, Moment};
use phaselock::rewind::Rewound;
use phaselock::time::{Micros, ServerTime, Tick};
use phaselock_ui::block::text_block;
use phaselock_ui::glass::css_pixel;
use phaselock_ui::layout::{self, Item, Way};
use phaselock_ui::paint::{fade, readable};
use phaselock_ui::words::{fill, tr};
use phaselock_ui::{palette, ruling};

use super::player::{LEAP, NORMAL, Player, SPEED_WORDS};

// Lengths are in points, or in CSS pixels for fingers: a CSS pixel has about the same size on every
// screen.

/// Height of the bar with its buttons.
const HEIGHT: f32 = 76.0;
/// Height of the part to click or drag in order to seek.
const TRACK: f32 = 26.0;
const MARGIN: f32 = 14.0;
const BUTTON: f32 = 34.0;
/// Maximum distance of the pointer from a marker that it points at.
const NEAR: f32 = 6.0;

impl Player {
    /// Returns the height of the bar in points; 0 while a part is exported.
    pub(crate) fn bar_height(&self) -> f32 {
        if self.film_secs().is_some() { 0.0 } else { HEIGHT * self.unit }
    }

    /// Draws the bar along the lower edge, and does what is clicked.
    pub(crate) fn draw(&mut self, ctx: &Context, by_glass: bool) {
        self.unit = if by_glass { css_pixel(ctx) } else { 1.0 };
        if self.film_secs().is_some() {
            self.bar = Rect::NOTHING;
            return;
        }
        let screen = ctx.screen_rect();
        let rect = Rect::from_min_max(
            pos2(screen.left(), screen.bottom() - self.bar_height()),
            screen.right_bottom(),
        );
        let painter = ctx.layer_painter(LayerId::background());
        painter.rect_filled(rect, 0.0, palette::PANEL);
        layout::claim(&painter, Item::Panel, rect);
        self.bar = rect;
        if let Some(note) = self.note() {
            // Above the bar for spectators.
            let place = (rect.center_top() - vec2(0.0, 6.0), Align2::CENTER_BOTTOM);
            let lines = [(&*note, readable(ctx, 14.0), palette::WARN)];
            text_block(&painter, (Item::ProgramNotice, &[Way::Up]), place, &lines);
        }
        Area::new(Id::new("replay-bar"))
            .order(Order::Middle)
            .fixed_pos(rect.left_top() + vec2(MARGIN, 6.0))
            .show(ctx, |ui| {
                ui.set_width(rect.width() - 2.0 * MARGIN);
                self.track(ui);
                ui.horizontal(|ui| self.buttons(ui));
            });
    }

    /// The line of time with its markers.
    fn track(&mut self, ui: &mut Ui) {
        let size = vec2(ui.available_width(), TRACK * self.unit);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let (first, last) = self.playback.span();
        let length = last.since(first).max(1) as f32;
        let x_of = |tick: Tick| rect.left() + rect.width() * (tick.since(first) as f32 / length);
        let line = Rect::from_center_size(rect.center(), vec2(rect.width(), 6.0));
        let painter = ui.painter();
        painter.rect_filled(line, 3.0, palette::BUTTON);
        let now = x_of(self.dragged.unwrap_or(self.playback.tick()));
        let played = Rect::from_min_max(line.min, pos2(now, line.bottom()));
        painter.rect_filled(played, 3.0, palette::OWN);
        for damage in self.playback.damage() {
            // If it is not known which ticks are damaged, there is at least a line.
            let (from, to) = (x_of(damage.first), x_of(damage.last));
            let part = line.with_min_x(from).with_max_x(to.max(from + 2.0)).expand2(vec2(0.0, 1.0));
            painter.rect_filled(part, 0.0, palette::BAD);
        }
        if let Some(start) = self.clip.map(x_of) {
            let range = line.with_min_x(start.min(now)).with_max_x(start.max(now)).expand(2.0);
            let edge = Stroke::new(2.0, palette::WARN);
            painter.rect_stroke(range, 3.0, edge, StrokeKind::Outside);
        }
        for moment in self.playback.moments() {
            let (color, height) = look(&moment.what);
            let at = pos2(x_of(moment.tick), rect.center().y);
            let mark = Rect::from_center_size(at, vec2(2.0, height));
            painter.rect_filled(mark, 1.0, color);
        }
        let mut last = f32::NEG_INFINITY;
        for shot in self.playback.shots().iter().filter(|shot| shot.hit.is_some()) {
            let x = x_of(shot.tick);
            // Hundreds of hits share a point of the line.
            if x - last >= 1.0 {
                let mark = Rect::from_center_size(pos2(x, line.bottom() + 3.0), vec2(1.0, 4.0));
                painter.rect_filled(mark, 0.0, palette::BAD);
                last = x;
            }
        }
        painter.circle_filled(pos2(now, rect.center().y), 7.0, palette::TEXT);
        let tick_at = |x: f32| {
            let part = ((x - rect.left()) / rect.width()).clamp(0.0, 1.0);
            first.plus((f64::from(part) * f64::from(length)).round() as u64)
        };
        if let Some(pointer) = response.hover_pos() {
            let near = |moment: &&Moment| (x_of(moment.tick) - pointer.x).abs() < NEAR * self.unit;
            let found = self.playback.moments().iter().filter(near);
            let mut lines = vec![clock(&self.playback, tick_at(pointer.x))];
            let is_near = |damage: &Damage| {
                let (from, to) = (x_of(damage.first), x_of(damage.last));
                (from - 2.0..=to + 2.0).contains(&pointer.x)
            };
            let is_damaged = self.playback.damage().iter().any(is_near);
            lines.extend(is_damaged.then(|| tr("damaged: this part is skipped").to_owned()));
            lines.extend(found.take(6).map(|moment| words(&moment.what)));
            let near = |shot: &&Rewound| (x_of(shot.tick) - pointer.x).abs() < NEAR * self.unit;
            let shots = self.playback.shots().iter();
            let shots = shots.filter(|shot| shot.hit.is_some() && shot.ruling().is_sane());
            let roster = self.playback.session().client().map(|client| client.common().roster());
            lines.extend(shots.filter(near).take(4).map(|shot| {
                let seat = roster.and_then(|roster| roster.get(&shot.shooter));
                let name = seat.map_or(tr("someone"), |seat| &seat.name);
                let ruling = shot.ruling();
                format!("{name}: {} {}", ruling::view_time(&ruling), ruling::outcome(&ruling))
            }));
            response.clone().on_hover_text_at_pointer(lines.join("\n"));
        }
        let chosen = response.interact_pointer_pos().map(|pointer| tick_at(pointer.x));
        if response.dragged() {
            // Each move takes a while, so only the last place counts.
            self.dragged = chosen;
        }
        let ended = self.dragged.take_if(|_| response.drag_stopped());
        if let Some(tick) = ended.or(chosen.filter(|_| response.clicked())) {
            self.move_to(tick);
        }
    }

    fn buttons(&mut self, ui: &mut Ui) {
        let is_still = self.paused;
        let unit = self.unit;
        let button = |ui: &mut Ui, sign: &str, what: &str| button(ui, unit, (sign, what));
        if button(ui, if is_still { "▶" } else { "⏸" }, tr("pause")).clicked() {
            self.toggle();
        }
        if button(ui, "⏪", tr("5 s back")).clicked() {
            self.move_by(Micros(-LEAP.0));
        }
        if button(ui, "⏩", tr("5 s forward")).clicked() {
            self.move_by(LEAP);
        }
        if self.viewer().is_none() {
            self.has_eyes ^= button(ui, "👁", tr("through the player's eyes")).clicked();
        }
        if self.can_film {
            let what = match self.clip {
                None => tr("start a clip"),
                Some(_) => tr("end the clip and save it"),
            };
            if button(ui, "✂", what).clicked() {
                self.mark_clip();
            }
        }
        if button(ui, "−", tr("slower")).clicked() {
            self.change_speed(-1);
        }
        let speed = fill("{speed} x", &[("speed", SPEED_WORDS[self.speed])]);
        let color = if self.speed == NORMAL { palette::TEXT_SOFT } else { palette::OWN };
        ui.add_sized(
            vec2(44.0 * unit, BUTTON * unit),
            Label::new(RichText::new(speed).size(readable(ui.ctx(), 15.0)).color(color))
                .selectable(false),
        );
        if button(ui, "+", tr("faster")).clicked() {
            self.change_speed(1);
        }
        let (_, last) = self.playback.span();
        let time = format!(
            "{} / {}",
            clock(&self.playback, self.playback.tick()),
            clock(&self.playback, last)
        );
        let font = FontId::proportional(readable(ui.ctx(), 15.0));
        let room = ui.available_rect_before_wrap();
        let time = ui.painter().layout_no_wrap(time, font, palette::TEXT_SOFT);
        if time.size().x <= room.width() {
            let at = pos2(room.right(), room.top() + BUTTON * unit / 2.0);
            let at = Align2::RIGHT_CENTER.anchor_size(at, time.size()).min;
            ui.painter().galley(at, time, palette::TEXT_SOFT);
        }
    }
}

fn button(ui: &mut Ui, unit: f32, (sign, what): (&str, &str)) -> Response {
    let sign = RichText::new(sign).size(17.0 * unit).color(palette::TEXT);
    let button = Button::new(sign).fill(fade(palette::BUTTON, 0.9));
    let response = ui.add_sized(Vec2::splat(BUTTON * unit), button).on_hover_text(what);
    // The keyboard has keys of its own for all of them.
    response.surrender_focus();
    response
}

/// The time of a tick since the start, as minutes and seconds.
fn clock(playback: &Playback, tick: Tick) -> String {
    let (first, _) = playback.span();
    let ServerTime(micros) = playback.header().rates.time_of(Tick(tick.since(first)));
    let secs = micros / 1_000_000;
    format!("{}:{:02}", secs / 60, secs % 60)
}

/// Colour and height of a marker.
fn look(what: &Happening) -> (Color32, f32) {
    match what {
        Happening::Mark(_) => (palette::WARN, 24.0),
        Happening::Round(_) => (palette::TEXT, 24.0),
        Happening::Score { .. } => (palette::GOOD, 16.0),
        Happening::Chat(_) => (palette::TEXT_SOFT, 10.0),
        Happening::Joined(_) | Happening::Left(_) => (palette::TEXT_FAINT, 10.0),
    }
}

fn words(what: &Happening) -> String {
    match what {
        Happening::Mark(text) => text.clone(),
        Happening::Round(_) => tr("The round ends").to_owned(),
        Happening::Chat(line) => line.clone(),
        Happening::Score { name, measure, value, .. } => {
            let value =
                if value.fract() == 0.0 { format!("{value}") } else { format!("{value:.2}") };
            format!("{name}: {value} {measure}")
        }
        Happening::Joined(name) => fill("{name} has joined", &[("name", name)]),
        Happening::Left(name) => fill("{name} has left", &[("name", name)]),
    }
}

//! The platformer's players: squashed, stretched, with eyes, feet and a trail.
//!
//! Platforms are drawn at the own player's time. Others are shown at an earlier time, so a rider
//! is moved along with its platform to where that is drawn. A player who is about to land is moved
//! there bit by bit on the way, and so is one that has leapt off.

use std::collections::BTreeMap;

use egui_macroquad::egui::epaint::PathStroke;
use egui_macroquad::egui::{Align2, Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};
use glam::Vec2;
use phaselock::game::Slot;
use phaselock::ids::EntityId;
use phaselock::time::Rates;
use phaselock_games::platformer::Player;
use phaselock_games::platformer::level::{Level, PLATFORMS};
use phaselock_games::platformer::movement::{HALF_WIDTH, HEIGHT, RUN_SPEED, lands_on};

use phaselock_client::camera::Camera;
use phaselock_client::paint::{fade, glow, light, mix};
use phaselock_client::palette;
use phaselock_client::particles::Trail;
use phaselock_client::rig::ease;
use phaselock_client::scoreboard::name_tag;

/// Seconds of look-ahead for a landing on a platform.
const AHEAD_SECS: f32 = 0.45;
/// Seconds from leaving a platform until the offset is gone.
const BACK_SECS: f32 = 0.25;
/// Half-life in seconds of the missing offset after an unpredicted landing.
const SETTLE_SECS: f32 = 0.04;
/// Metres from a platform beyond which nobody lands on it soon.
const NEAR: f32 = 7.0;
const TRAIL_SECS: f32 = 0.35;

/// Offset of a player who moves along with a platform.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lean {
    by: Vec2,
    /// Platform of the frame before, plus 1, and its offset.
    before: Option<(u8, Vec2)>,
}

impl Lean {
    /// Advances by `secs`. `ride` is the platform, plus 1, and the seconds until the landing on
    /// it; `theirs` and `ours` are the player's and the picture's times as points of the cycle.
    pub(super) fn advance(&mut self, ride: Option<(u8, f32)>, theirs: f32, ours: f32, secs: f32) {
        let platform = |(number, _): (u8, f32)| PLATFORMS.get(usize::from(number).checked_sub(1)?);
        let Some((platform, (number, left))) = ride.and_then(platform).zip(ride) else {
            self.before = None;
            self.by *= (1.0 - secs / BACK_SECS).clamp(0.0, 1.0);
            // It ends there.
            if self.by.length() < 0.01 {
                self.by = Vec2::ZERO;
            }
            return;
        };
        let wanted = platform.at(ours) - platform.at(theirs);
        // The offset goes with the platform; a missing part is made up for.
        if let Some((_, before)) = self.before.replace((number, wanted)).filter(|it| it.0 == number)
        {
            self.by += wanted - before;
        }
        let share = if left > 0.0 {
            // In equal steps until the landing.
            (secs / left).min(1.0)
        } else {
            1.0 - (-secs / SETTLE_SECS).exp2()
        };
        let missing = wanted - self.by;
        self.by += missing * share;
        // A step of the quantisation does not matter.
        if missing.length() < 0.004 {
            self.by = wanted;
        }
    }

    pub(super) fn by(&self) -> Vec2 {
        self.by
    }
}

#[derive(Debug, Default)]
struct Body {
    lean: Lean,
    /// Drawn position of the feet.
    at: Vec2,
    velocity: Vec2,
    /// Above 0 wider than high, 0 at rest, below 0 stretched.
    squash: f32,
    squash_speed: f32,
    /// Metres run on the ground, for the feet.
    strides: f32,
    facing: f32,
    trail: Trail,
    stood: bool,
    fell: f32,
    falls: u8,
    coins: u32,
    seen: bool,
}

/// An event of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// A landing, with its speed.
    Landed(f32),
    Leapt,
    Coin,
    /// A return to the checkpoint.
    Hurt,
}

#[derive(Debug, Default)]
pub(super) struct Bodies(BTreeMap<EntityId, Body>);

impl Bodies {
    /// Advances everybody by `secs`; `ours` is the own player's time. Calls `happened` for each
    /// event.
    pub(super) fn advance(
        &mut self,
        (level, rates): (&Level, Rates),
        players: &[Slot<Player>],
        own: Option<EntityId>,
        ours: f32,
        secs: f32,
        mut happened: impl FnMut(EntityId, Event, Vec2),
    ) {
        self.0.retain(|id, _| players.iter().any(|slot| slot.id == *id));
        for slot in players {
            let player = &slot.entity;
            let body = self.0.entry(slot.id).or_default();
            if own != Some(slot.id) {
                let ride = ride_of(level, rates, player);
                if body.falls != player.falls || !body.seen {
                    body.lean = Lean::default();
                }
                body.lean.advance(ride, player.clock, ours, secs);
            }
            body.step(slot, secs, &mut happened);
        }
    }

    /// Drawn position of a player's feet.
    pub(super) fn position(&self, id: EntityId) -> Option<Vec2> {
        self.0.get(&id).map(|body| body.at)
    }

    pub(super) fn draw_trail(&self, painter: &Painter, camera: Camera, id: EntityId, own: bool) {
        if let Some(body) = self.0.get(&id) {
            let strength = if own { 0.4 } else { 0.2 };
            body.trail.draw(painter, camera, fade(palette::side(own), strength), 0.7, TRAIL_SECS);
        }
    }

    pub(super) fn draw(&self, painter: &Painter, camera: Camera, slot: &Slot<Player>, own: bool) {
        if let Some(body) = self.0.get(&slot.id) {
            body.draw(painter, camera, own);
        }
    }

    pub(super) fn draw_tag(
        &self,
        painter: &Painter,
        camera: Camera,
        id: EntityId,
        (name, bot): (&str, bool),
        in_goal: bool,
    ) {
        let Some(body) = self.0.get(&id) else { return };
        let over = camera.to_screen(body.at - Vec2::Y * (HEIGHT + 0.3));
        let words = if in_goal { format!("{name} ✔") } else { name.to_owned() };
        name_tag(painter, over, Align2::CENTER_BOTTOM, (&words, bot), 12.0, 0.85);
    }
}

/// The platform that a player rides or lands on soon, plus 1, and the seconds until then.
fn ride_of(level: &Level, rates: Rates, player: &Player) -> Option<(u8, f32)> {
    if player.ride > 0 {
        return Some((player.ride, 0.0));
    }
    let near = |at: Vec2| (at - player.feet()).abs().max_element() < NEAR;
    let any = PLATFORMS.iter().any(|platform| near(platform.at(player.clock)));
    (any && !player.stands()).then(|| lands_on(level, rates, player, AHEAD_SECS)).flatten()
}

impl Body {
    fn step(
        &mut self,
        slot: &Slot<Player>,
        secs: f32,
        happened: &mut impl FnMut(EntityId, Event, Vec2),
    ) {
        let player = &slot.entity;
        let before = self.at;
        self.at = player.feet() + self.lean.by();
        let mut tell = |event, at| happened(slot.id, event, at);
        if self.seen && self.falls != player.falls {
            tell(Event::Hurt, before);
            self.squash = -0.5;
        } else if self.seen {
            if player.stands() && !self.stood {
                tell(Event::Landed(self.fell), self.at);
                self.squash = (self.fell / 40.0).clamp(0.08, 0.38);
                self.squash_speed = 0.0;
            }
            if !player.stands() && player.vy < -6.0 && (self.stood || self.velocity.y > -2.0) {
                tell(Event::Leapt, self.at);
                self.squash = -0.3;
            }
            if player.coins() > self.coins {
                tell(Event::Coin, self.at - Vec2::Y * 0.6);
            }
        }
        self.fell = if player.stands() { 0.0 } else { player.vy.max(0.0) };
        (self.stood, self.falls, self.coins) = (player.stands(), player.falls, player.coins());
        self.velocity = player.velocity();
        // A damped spring, in steps small enough to be stable.
        let mut left = secs.min(0.1);
        while left > 0.0 {
            let step = left.min(0.008);
            self.squash_speed += (-420.0 * self.squash - 22.0 * self.squash_speed) * step;
            self.squash += self.squash_speed * step;
            left -= step;
        }
        if player.stands() {
            self.strides += player.vx * secs;
        }
        let wanted =
            if player.keys().right != 0 { f32::from(player.keys().right) } else { self.facing };
        let wanted = if wanted == 0.0 { 1.0 } else { wanted.signum() };
        self.facing = ease(self.facing, wanted, secs, 0.04);
        self.trail.advance(secs, TRAIL_SECS);
        self.trail.push(self.at - Vec2::Y * HEIGHT * 0.5, 2.0);
        self.seen = true;
    }

    fn draw(&self, painter: &Painter, camera: Camera, own: bool) {
        let metre = camera.scale;
        let flight = (self.velocity.y.abs() / 60.0).min(0.16);
        let squash = (self.squash - if self.stood { 0.0 } else { flight }).clamp(-0.4, 0.4);
        let wide = 2.0 * HALF_WIDTH * (1.0 + squash * 0.8);
        let high = HEIGHT * (1.0 - squash);
        let feet = camera.to_screen(self.at);
        let lean = (self.velocity.x / RUN_SPEED).clamp(-1.0, 1.0) * 0.09;
        let (edge, inside) = (palette::side(own), palette::side_dark(own));
        if own {
            glow(painter, feet - vec2(0.0, 0.5 * metre), 1.9 * metre, light(palette::OWN, 0.13));
        }
        // Feet first, behind the body; in the air they hang.
        for (side, phase) in [(-1.0, 0.0), (1.0, std::f32::consts::PI)] {
            let swing = self.strides * 3.4 + phase;
            let (dx, dy) = if self.stood {
                let moves = (self.velocity.x.abs() / 3.0).min(1.0);
                (swing.sin() * 0.2 * moves + side * 0.15, -(swing.cos().max(0.0)) * 0.14 * moves)
            } else {
                (side * 0.17 - lean, 0.06 + 0.05 * side * self.facing)
            };
            let at = feet + vec2(dx, dy - 0.07) * metre;
            let size = vec2(0.15, 0.09) * metre;
            painter.add(Shape::ellipse_filled(at, size, mix(edge, palette::VOID, 0.45)));
        }
        let stand = 0.1;
        let corner = |x: f32, y: f32| {
            // The head leans into the run.
            let part = (y - stand) / (high - stand);
            feet + vec2(x + lean * part * 1.6, -y) * metre
        };
        // The own player has corners, the others are round.
        let round = if own { 0.16 } else { wide * 0.5 };
        let mut points = Vec::new();
        let half = wide / 2.0;
        let corners = [
            (half - round, high - round, 0.0_f32),
            (-half + round, high - round, 0.25),
            (-half + round, stand + round.min(0.2), 0.5),
            (half - round, stand + round.min(0.2), 0.75),
        ];
        for (x, y, turn) in corners {
            let (rx, ry) = (round, if turn < 0.5 { round } else { round.min(0.2) });
            for n in 0..=4 {
                let angle = (turn + n as f32 / 16.0) * std::f32::consts::TAU;
                points.push(corner(x + angle.cos() * rx, y + angle.sin() * ry));
            }
        }
        let stroke = Stroke::new(0.08 * metre, edge);
        let dark = mix(inside, edge, if own { 0.35 } else { 0.25 });
        painter.add(Shape::convex_polygon(points, dark, PathStroke::from(stroke)));
        self.draw_face(painter, &corner, (wide, high), metre, own, edge);
    }

    fn draw_face(
        &self,
        painter: &Painter,
        corner: &impl Fn(f32, f32) -> Pos2,
        (wide, high): (f32, f32),
        metre: f32,
        own: bool,
        edge: Color32,
    ) {
        let look = self.facing * wide * 0.17;
        for side in [-1.0, 1.0] {
            let at = corner(look + side * wide * 0.17, high * 0.68);
            painter.add(Shape::ellipse_filled(at, vec2(0.085, 0.12) * metre, palette::TEXT));
            let gaze = vec2(self.facing * 0.03, (self.velocity.y / 200.0).clamp(-0.05, 0.05));
            painter.circle_filled(at + gaze * metre, 0.05 * metre, palette::VOID);
        }
        if own {
            // A scarf in the wind, and an arrow over the head.
            let neck = corner(-self.facing * wide * 0.42, high * 0.45);
            let wind = -(self.velocity.x * 0.045 + self.facing * 0.22).clamp(-0.55, 0.55);
            let drop = (0.16 - self.velocity.y * 0.018).clamp(-0.3, 0.45);
            let tip = neck + vec2(wind, drop) * metre;
            let band = [corner(-wide * 0.44, high * 0.45), corner(wide * 0.44, high * 0.45)];
            painter.line_segment(band, Stroke::new(0.11 * metre, palette::WARN));
            painter.line_segment([neck, tip], Stroke::new(0.1 * metre, palette::WARN));
            let top = corner(0.0, high + 0.42);
            let points = vec![
                top + vec2(-0.15, -0.12) * metre,
                top + vec2(0.15, -0.12) * metre,
                top + vec2(0.0, 0.1) * metre,
            ];
            painter.add(Shape::convex_polygon(points, edge, Stroke::NONE));
        } else {
            // A visor.
            let rect = Rect::from_center_size(
                corner(look, high * 0.68),
                vec2(wide * 0.72, high * 0.3) * metre,
            );
            let stroke = Stroke::new(0.04 * metre, fade(edge, 0.8));
            painter.rect_stroke(rect, 0.12 * metre, stroke, StrokeKind::Middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_is_whole_at_a_landing_and_gone_after_a_leap() {
        let (mut lean, secs) = (Lean::default(), 1.0 / 60.0);
        let ours = |theirs: f32| theirs + 0.01;
        let mut clock = 0.05;
        let mut last = lean.by();
        let mut step = |lean: &mut Lean, ride| {
            clock += secs / 24.0;
            lean.advance(ride, clock, ours(clock), secs);
            let wanted = PLATFORMS[0].at(ours(clock)) - PLATFORMS[0].at(clock);
            let moved = (lean.by() - last).length();
            last = lean.by();
            assert!(moved < 0.1, "{moved} m in a frame");
            (wanted - lean.by()).length()
        };
        for n in (0..24).rev() {
            step(&mut lean, Some((1, n as f32 * secs)));
        }
        for _ in 0..60 {
            assert!(step(&mut lean, Some((1, 0.0))) < 0.005, "it stands on it");
        }
        assert!(lean.by().length() > 0.1, "the platform has moved meanwhile");
        for _ in 0..90 {
            step(&mut lean, None);
        }
        assert_eq!(lean.by(), Vec2::ZERO);
    }
}

//! The players' picture: bodies, rifles, names, health.

use std::collections::BTreeMap;

use egui_macroquad::egui::epaint::PathStroke;
use egui_macroquad::egui::{Align2, Color32, Painter, Pos2, Rect, Shape, Stroke, Vec2, vec2};
use phaselock::game::Slot;
use phaselock::ids::EntityId;
use phaselock_games::skirmish::movement::RADIUS;
use phaselock_games::skirmish::{HEALTH, Player, Weapon};

use super::events::{Event, MUZZLE};
use super::icons::{Icon, icon};
use phaselock_client::camera::Camera;
use phaselock_client::paint::{arc, fade, glow, light, mix};
use phaselock_client::palette;
use phaselock_client::scoreboard::name_tag;

const HURT_SECS: f32 = 0.16;
const RECOIL_SECS: f32 = 0.12;
const APPEAR_SECS: f32 = 0.3;
const FADE_SECS: f32 = 0.5;

const SIGHT_SECS: f32 = 0.15;

#[derive(Debug, Default)]
pub(super) struct Bodies(BTreeMap<EntityId, Body>);

#[derive(Clone, Copy, Debug, Default)]
struct Body {
    /// Last known state, moved on since; none before the first.
    last: Option<Slot<Player>>,
    /// Visible share, 0 to 1.
    sight: f32,
    hurt: f32,
    recoil: f32,
    appear: f32,
    dead: f32,
}

impl Bodies {
    pub(super) fn handle(&mut self, event: &Event) {
        match event {
            Event::Shot { shooter, .. } | Event::Launched { shooter, .. } => {
                self.0.entry(*shooter).or_default().recoil = RECOIL_SECS;
            }
            Event::Hurt { id, .. } => self.0.entry(*id).or_default().hurt = HURT_SECS,
            Event::Died { id, .. } => self.0.entry(*id).or_default().dead = 0.0,
            Event::Spawned { id, .. } => self.0.entry(*id).or_default().appear = APPEAR_SECS,
            Event::Landed
            | Event::Killed { .. }
            | Event::Blast { .. }
            | Event::Taken { .. }
            | Event::Put { .. } => {}
        }
    }

    pub(super) fn advance(
        &mut self,
        players: impl Iterator<Item = Slot<Player>> + Clone,
        secs: f32,
    ) {
        let step = secs / SIGHT_SECS;
        self.0.retain(|id, body| {
            if players.clone().all(|slot| slot.id != *id) {
                body.sight -= step;
                if let Some(slot) = &mut body.last {
                    // A fading player keeps its velocity.
                    slot.entity.x += slot.entity.vx * secs;
                    slot.entity.y += slot.entity.vy * secs;
                }
            }
            body.sight > 0.0
        });
        for slot in players {
            let body = self.0.entry(slot.id).or_default();
            body.last = Some(slot);
            body.sight = (body.sight + step).min(1.0);
            body.hurt = (body.hurt - secs).max(0.0);
            body.recoil = (body.recoil - secs).max(0.0);
            body.appear = (body.appear - secs).max(0.0);
            body.dead = if slot.entity.health == 0 { body.dead + secs } else { 0.0 };
        }
    }

    /// Everybody to paint, with their visible shares.
    pub(super) fn shown(&self) -> impl Iterator<Item = (Slot<Player>, f32)> {
        self.0.values().filter_map(|body| Some((body.last?, body.sight)))
    }

    pub(super) fn draw(&self, painter: &Painter, camera: Camera, slot: &Slot<Player>, own: bool) {
        let body = self.0.get(&slot.id).copied().unwrap_or_default();
        let player = &slot.entity;
        let alive = player.health > 0;
        let gone = (body.dead / FADE_SECS).min(1.0);
        let appeared = 1.0 - body.appear / APPEAR_SECS;
        let there = if alive { appeared } else { (1.0 - gone) * 0.7 } * body.sight;
        if there <= 0.0 {
            return;
        }
        let size = if alive { 0.6 + 0.4 * appeared } else { 1.0 - 0.4 * gone };
        let look = Look::new(own, there, if alive { body.hurt / HURT_SECS } else { 0.6 });
        let metre = camera.scale * size;
        let at = camera.to_screen(player.position());
        let facing = vec2(player.facing().x, player.facing().y);

        let below = at + vec2(0.1, 0.16) * metre;
        glow(painter, below, 0.66 * metre, Color32::from_black_alpha((150.0 * there) as u8));
        if own && alive {
            glow(painter, at, 2.6 * metre, light(palette::OWN, 0.12 * there));
            health_ring(painter, at, metre, f32::from(player.health) / f32::from(HEALTH), there);
        }
        if alive {
            let kick = 0.16 * body.recoil / RECOIL_SECS;
            if player.is_carrying() {
                arms(painter, at, facing, metre, &look);
            } else {
                weapon(painter, (at, facing, metre), player.weapon(), kick, &look);
            }
        }
        painter.circle(at, RADIUS * metre, look.inside, Stroke::new(0.08 * metre, look.edge));
        if own {
            chevron(painter, at, facing, metre, look.edge);
        } else {
            painter.circle_filled(at + facing * 0.12 * metre, 0.13 * metre, look.edge);
        }
    }
}

/// Name and health above a living player.
pub(super) fn draw_tag(
    painter: &Painter,
    camera: Camera,
    player: &Player,
    tag: (&str, bool),
    sight: f32,
) {
    let over = camera.to_screen(player.position()) - vec2(0.0, 0.72 * camera.scale);
    let bar = Rect::from_center_size(over, vec2(0.95 * camera.scale, 5.0));
    painter.rect_filled(bar.expand(1.0), 2.0, fade(palette::PANEL, 0.85 * sight));
    let share = f32::from(player.health) / f32::from(HEALTH);
    let full = Rect::from_min_size(bar.min, vec2(bar.width() * share, bar.height()));
    let color = mix(palette::BAD, palette::FOE, share * 1.6 - 0.3);
    painter.rect_filled(full, 1.5, fade(color, sight));
    name_tag(painter, bar.center_top() - vec2(0.0, 3.0), Align2::CENTER_BOTTOM, tag, 13.0, sight);
}

struct Look {
    edge: Color32,
    inside: Color32,
    steel: Color32,
}

impl Look {
    fn new(own: bool, there: f32, hurt: f32) -> Self {
        let (edge, inside) = (palette::side(own), palette::side_dark(own));
        Self {
            edge: fade(mix(edge, Color32::WHITE, hurt * 0.8), there),
            inside: fade(mix(inside, Color32::WHITE, hurt * 0.7), there),
            steel: fade(palette::STEEL, there),
        }
    }
}

/// The weapon in hand: a long rifle, a thick launcher, or a grenade or mine.
fn weapon(
    painter: &Painter,
    (at, facing, metre): (Pos2, Vec2, f32),
    weapon: Weapon,
    kick: f32,
    look: &Look,
) {
    let from = at + facing * (0.2 * metre);
    let dark = fade(palette::VOID, f32::from(look.steel.a()) / 255.0);
    let (reach, width) = match weapon {
        Weapon::Rifle => (MUZZLE, 0.12),
        Weapon::Rockets => (MUZZLE * 0.86, 0.26),
        Weapon::Grenades | Weapon::Mines => {
            let hand = at + facing * ((0.56 - kick) * metre);
            painter.line_segment([from, hand], Stroke::new(0.17 * metre, look.edge));
            let sign = Icon::of_weapon(weapon);
            painter.circle_filled(hand, 0.17 * metre, dark);
            icon(painter, hand, 0.3 * metre, sign, look.steel);
            return;
        }
    };
    let to = at + facing * ((reach - kick) * metre);
    painter.line_segment([from, to + facing * 1.5], Stroke::new((width + 0.08) * metre, dark));
    painter.line_segment([from, to], Stroke::new(width * metre, look.steel));
    let grip = at + facing * (0.56 - kick) * metre;
    painter.line_segment([from, grip], Stroke::new(0.17 * metre, look.edge));
    if weapon == Weapon::Rockets {
        let mouth = [to - facing * 0.09 * metre, to];
        painter.line_segment(mouth, Stroke::new(0.3 * metre, dark));
    }
}

/// Two arms around a carried thing.
fn arms(painter: &Painter, at: Pos2, facing: Vec2, metre: f32, look: &Look) {
    for side in [-1.0, 1.0] {
        let aside = facing.rot90() * (0.3 * side * metre);
        let ends = [at + aside + facing * 0.15 * metre, at + aside + facing * 0.62 * metre];
        painter.line_segment(ends, Stroke::new(0.15 * metre, look.edge));
    }
}

/// The sign of the own player: an arrow's head.
fn chevron(painter: &Painter, at: Pos2, facing: Vec2, metre: f32, color: Color32) {
    let aside = facing.rot90() * 0.16 * metre;
    let back = at - facing * 0.1 * metre;
    let tip = at + facing * 0.17 * metre;
    let stroke = PathStroke::new(0.085 * metre, color);
    painter.add(Shape::line(vec![back + aside, tip, back - aside], stroke));
}

/// The own health as a ring, where one looks anyway.
fn health_ring(painter: &Painter, at: Pos2, metre: f32, share: f32, there: f32) {
    let radius = 0.6 * metre;
    let color = mix(palette::BAD, palette::OWN, share * 1.8 - 0.4);
    painter.circle_stroke(at, radius, Stroke::new(0.05 * metre, fade(palette::OWN, 0.22 * there)));
    if share > 0.0 {
        let stroke = Stroke::new(0.07 * metre, fade(color, there));
        arc(painter, at, radius, -0.25, share, stroke);
    }
}

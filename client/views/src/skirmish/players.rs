//! The players' picture: bodies, rifles, names, health.

use std::collections::BTreeMap;

use phaselock_games::skirmish::movement::RADIUS;
use phaselock_games::skirmish::{HEALTH, Player, Weapon};
use phaselock_ui::prelude::*;

use super::events::{Event, MUZZLE};
use super::icons::{Icon, icon};

const HURT_SECS: f32 = 0.16;
const RECOIL_SECS: f32 = 0.12;
const APPEAR_SECS: f32 = 0.3;
const FADE_SECS: f32 = 0.5;

const VISIBILITY_SECS: f32 = 0.15;

#[derive(Debug, Default)]
pub(super) struct Bodies(BTreeMap<EntityId, Body>);

#[derive(Clone, Copy, Debug, Default)]
struct Body {
    /// Last known state, moved on since; `None` before the first.
    last: Option<Slot<Player>>,
    /// Visible share, 0 to 1.
    visibility: f32,
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
            _ => {}
        }
    }

    pub(super) fn advance(
        &mut self,
        players: impl Iterator<Item = Slot<Player>> + Clone,
        secs: f32,
    ) {
        let step = secs / VISIBILITY_SECS;
        self.0.retain(|id, body| {
            if players.clone().all(|slot| slot.id != *id) {
                body.visibility -= step;
                if let Some(slot) = &mut body.last {
                    // A fading player keeps its velocity.
                    slot.entity.x += slot.entity.vx * secs;
                    slot.entity.y += slot.entity.vy * secs;
                }
            }
            body.visibility > 0.0
        });
        for slot in players {
            let body = self.0.entry(slot.id).or_default();
            body.last = Some(slot);
            body.visibility = (body.visibility + step).min(1.0);
            body.hurt = (body.hurt - secs).max(0.0);
            body.recoil = (body.recoil - secs).max(0.0);
            body.appear = (body.appear - secs).max(0.0);
            body.dead = if slot.entity.health == 0 { body.dead + secs } else { 0.0 };
        }
    }

    /// Players to paint, with their visible shares.
    pub(super) fn shown(&self) -> impl Iterator<Item = (Slot<Player>, f32)> {
        self.0.values().filter_map(|body| Some((body.last?, body.visibility)))
    }

    pub(super) fn draw(&self, world: &Brush<'_>, slot: &Slot<Player>, own: bool, dress: Dress) {
        let body = self.0.get(&slot.id).copied().unwrap_or_default();
        let player = &slot.entity;
        let alive = player.health > 0;
        let gone = (body.dead / FADE_SECS).min(1.0);
        let appeared = 1.0 - body.appear / APPEAR_SECS;
        let there = if alive { appeared } else { (1.0 - gone) * 0.7 } * body.visibility;
        if there <= 0.0 {
            return;
        }
        let size = if alive { 0.6 + 0.4 * appeared } else { 1.0 - 0.4 * gone };
        let look = Look::new(dress, there, if alive { body.hurt / HURT_SECS } else { 0.6 });
        let upright = world.local(player.position(), Vec2::X * size);
        let brush = &world.local(player.position(), player.facing() * size);

        upright.glow((0.1, 0.16), 0.66, Color32::from_black_alpha((150.0 * there) as u8));
        if own && alive {
            upright.glow(Vec2::ZERO, 2.6, light(palette::OWN, 0.12 * there));
            health_ring(&upright, f32::from(player.health) / f32::from(HEALTH), there);
        }
        if alive && player.is_carrying() {
            // Two arms around the carried thing.
            for side in [-0.3, 0.3] {
                brush.line([(0.15, side), (0.62, side)], brush.stroke(0.15, look.edge));
            }
        } else if alive {
            weapon(brush, player.weapon(), 0.16 * body.recoil / RECOIL_SECS, &look);
        }
        brush.circle(Vec2::ZERO, RADIUS, look.inside, brush.stroke(0.08, look.edge));
        if own {
            // The sign of the local player: an arrowhead.
            let corners = [(-0.1, -0.16), (0.17, 0.0), (-0.1, 0.16)];
            brush.path(corners, brush.stroke(0.085, look.edge));
        } else {
            brush.disc((0.12, 0.0), 0.13, look.edge);
        }
        dress.mark(brush, RADIUS, there);
    }
}

/// Name and health above a living player.
pub(super) fn draw_tag(brush: &Brush<'_>, player: &Player, tag: (&str, bool), visibility: f32) {
    let over = brush.point(player.position() - Vec2::Y * 0.72);
    let bar = Rect::from_center_size(over, vec2(0.95 * brush.metre, 5.0));
    brush.painter.rect_filled(bar.expand(1.0), 2.0, fade(palette::PANEL, 0.85 * visibility));
    let share = f32::from(player.health) / f32::from(HEALTH);
    let full = Rect::from_min_size(bar.min, vec2(bar.width() * share, bar.height()));
    let color = mix(palette::BAD, palette::FOE, share * 1.6 - 0.3);
    brush.painter.rect_filled(full, 1.5, fade(color, visibility));
    let at = bar.center_top() - vec2(0.0, 3.0);
    name_tag(
        brush.painter,
        at,
        Align2::CENTER_BOTTOM,
        tag,
        (13.0, fade(palette::TEXT, visibility)),
    );
}

struct Look {
    edge: Color32,
    inside: Color32,
    steel: Color32,
}

impl Look {
    fn new(dress: Dress, there: f32, hurt: f32) -> Self {
        let (edge, inside) = (dress.color, dress.dark);
        Self {
            edge: fade(mix(edge, Color32::WHITE, hurt * 0.8), there),
            inside: fade(mix(inside, Color32::WHITE, hurt * 0.7), there),
            steel: fade(palette::STEEL, there),
        }
    }
}

/// The weapon in hand: a long rifle, a thick launcher, or a grenade or mine.
fn weapon(brush: &Brush<'_>, weapon: Weapon, kick: f32, look: &Look) {
    let hand = (0.56 - kick, 0.0);
    let arm = || brush.line([(0.2, 0.0), hand], brush.stroke(0.17, look.edge));
    let dark = fade(palette::VOID, f32::from(look.steel.a()) / 255.0);
    let (reach, width) = match weapon {
        Weapon::Rifle => (MUZZLE, 0.12),
        Weapon::Rockets => (MUZZLE * 0.86, 0.26),
        Weapon::Grenades | Weapon::Mines => {
            arm();
            brush.disc(hand, 0.17, dark);
            let sign = Icon::of_weapon(weapon);
            icon(brush.painter, brush.point(hand), 0.3 * brush.metre, sign, look.steel);
            return;
        }
    };
    let tip = reach - kick;
    // Dark around the steel, and 1.5 points beyond its end.
    let edge = brush.stroke(width + 0.08, dark);
    brush.line([(0.2, 0.0), (tip + 1.5 / brush.metre, 0.0)], edge);
    brush.line([(0.2, 0.0), (tip, 0.0)], brush.stroke(width, look.steel));
    arm();
    if weapon == Weapon::Rockets {
        brush.line([(tip - 0.09, 0.0), (tip, 0.0)], brush.stroke(0.3, dark));
    }
}

/// Paints the player's health as a ring around the body, where players look anyway.
fn health_ring(brush: &Brush<'_>, share: f32, there: f32) {
    let color = mix(palette::BAD, palette::OWN, share * 1.8 - 0.4);
    brush.ring(Vec2::ZERO, 0.6, brush.stroke(0.05, fade(palette::OWN, 0.22 * there)));
    if share > 0.0 {
        brush.arc(Vec2::ZERO, 0.6, (-0.25, share), brush.stroke(0.07, fade(color, there)));
    }
}

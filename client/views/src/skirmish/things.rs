//! Things in the arena: crates, barrels, pickups, mines, rockets, grenades.

use std::collections::BTreeMap;

use phaselock::time::Rates;
use phaselock_games::skirmish::flight::{FUSE_SECS, SHELL_RADIUS};
use phaselock_games::skirmish::props::{BARREL_RADIUS, CRATE_HALF};
use phaselock_games::skirmish::{Mine, Pickup, Piece, Prop, Shell, Skirmish};
use phaselock_ui::prelude::*;

use super::icons::{Icon, icon};

const VISIBILITY_SECS: f32 = 0.15;
/// Height of crates and barrels, as a share of the camera's height.
const HEIGHT: f32 = 0.018;
/// Height of carried ones.
const CARRIED_HEIGHT: f32 = 0.05;
/// Metres from one puff of a rocket's smoke to the next.
const PUFFS: f32 = 0.3;

/// Props and pickups as last known, with their visible shares.
#[derive(Debug, Default)]
pub(super) struct Things {
    seen: BTreeMap<EntityId, (Slot<Piece>, f32)>,
    /// Last position of each rocket, and the metres flown since its last puff.
    smoke: BTreeMap<EntityId, (Vec2, f32)>,
}

impl Things {
    /// Advances by `secs`. Rockets and damaged barrels smoke.
    pub(super) fn advance(
        &mut self,
        entities: &Entities<Piece>,
        secs: f32,
        particles: &mut Particles,
    ) {
        let step = secs / VISIBILITY_SECS;
        self.seen.retain(|id, (_, visibility)| {
            if entities.get(*id).is_none() {
                *visibility -= step;
            }
            *visibility > 0.0
        });
        for slot in entities.iter() {
            let (Piece::Prop(_) | Piece::Pickup(_) | Piece::Mine(_)) = &slot.entity else {
                continue;
            };
            let seen = self.seen.entry(slot.id).or_insert((*slot, 0.0));
            *seen = (*slot, (seen.1 + step).min(1.0));
            if let Piece::Prop(prop) = &slot.entity
                && prop.wear > 0
                && !prop.gone
                && macroquad::rand::gen_range(0.0, 1.0) < secs * 14.0
            {
                let up = Vec2::new(0.2, -0.9);
                particles.puff(Mote {
                    at: prop.position(),
                    velocity: up,
                    size: 0.16,
                    life: 0.9,
                    color: Color32::from_gray(70),
                });
            }
        }
        self.smoke.retain(|id, _| entities.get(*id).is_some());
        for slot in entities.records::<Shell>() {
            let shell = slot.entity;
            if shell.grenade || shell.burst > 0 {
                continue;
            }
            let here = shell.position();
            let (last, left) = self.smoke.entry(slot.id).or_insert((here, 0.0));
            let way = here - *last;
            *left += way.length();
            *last = here;
            while *left > PUFFS {
                *left -= PUFFS;
                let at = here - way.normalize_or_zero() * (*left + 0.3);
                particles.puff(Mote {
                    at,
                    velocity: way * 0.4,
                    size: 0.13,
                    life: 0.55,
                    color: Color32::from_gray(120),
                });
            }
        }
    }

    pub(super) fn draw_floor(&self, brush: &Brush<'_>, own: PlayerId, age_secs: f32) {
        for (slot, visibility) in self.seen.values() {
            match &slot.entity {
                Piece::Pickup(it) => pickup(brush, it, *visibility, age_secs),
                Piece::Mine(it) => {
                    mine(brush, it, slot.owner == Some(own), *visibility, age_secs);
                }
                _ => {}
            }
        }
    }

    /// Paints standing props, or carried ones.
    pub(super) fn draw_props(&self, brush: &Brush<'_>, carried: bool) {
        for (slot, visibility) in self.seen.values() {
            if let Piece::Prop(it) = &slot.entity
                && !it.gone
                && it.held == carried
            {
                prop(brush, it, *visibility);
            }
        }
    }
}

pub(super) fn draw_shells(brush: &Brush<'_>, scene: &Scene<'_, Skirmish>) {
    let entities = &scene.picture.entities;
    for slot in entities.records::<Shell>().filter(|slot| slot.entity.burst == 0) {
        let color = palette::side(slot.owner == Some(scene.player));
        if slot.entity.grenade {
            grenade(brush, &slot.entity, color, scene.rates);
        } else {
            rocket(brush, &slot.entity, color);
        }
    }
}

fn rocket(brush: &Brush<'_>, shell: &Shell, color: Color32) {
    let brush = brush.local(shell.position(), shell.velocity().normalize_or(Vec2::X));
    brush.glow((-0.25, 0.0), 0.55, light(palette::WARN, 0.5));
    let tail = ((-0.75, 0.0), light(color, 0.0));
    brush.beam([((-0.2, 0.0), light(Color32::WHITE, 0.95)), tail], 0.26);
    let body = [(-0.25, -0.09), (0.14, -0.09), (0.34, 0.0), (0.14, 0.09), (-0.25, 0.09)];
    brush.polygon(body, palette::STEEL, (1.6, color));
    for side in [-1.0, 1.0] {
        brush.line([(-0.1, 0.08 * side), (-0.28, 0.2 * side)], brush.stroke(0.07, color));
    }
}

fn grenade(brush: &Brush<'_>, shell: &Shell, color: Color32, rates: Rates) {
    let brush = brush.local(shell.position(), Vec2::X);
    let (at, radius) = (Vec2::ZERO, SHELL_RADIUS * 1.35);
    let left = f32::from(shell.fuse) * rates.step_secs();
    // The less time is left, the faster it blinks.
    let part = 1.0 - left / FUSE_SECS;
    let blinks = (part * part * 16.0 + part * 4.0).fract() < 0.5;
    brush.glow((0.08, 0.13), radius * 1.4, Color32::from_black_alpha(130));
    brush.circle(at, radius, palette::OWN_DARK, (2.0, color));
    brush.ring(at, radius * 0.55, (1.2, fade(color, 0.7)));
    let around = radius + 4.0 / brush.metre;
    brush.arc(at, around, (-0.25, 1.0 - part), (2.0, fade(palette::WARN, 0.9)));
    if blinks {
        brush.glow(at, radius * 2.4, light(palette::BAD, 0.7));
        brush.disc(at, radius * 0.4, Color32::WHITE);
    }
}

fn prop(brush: &Brush<'_>, prop: &Prop, visibility: f32) {
    let rise = if prop.held { CARRIED_HEIGHT } else { 0.0 };
    let brush = brush.local(prop.position(), Vec2::X);
    let (low, high) = (brush.raised(rise), brush.raised(rise + HEIGHT));
    let shade = Color32::from_black_alpha((110.0 * visibility) as u8);
    let off = Vec2::new(0.1, 0.16) * if prop.held { 2.6 } else { 1.0 };
    let dye = |color: Color32| fade(color, visibility);
    if prop.barrel {
        let (at, radius) = (Vec2::ZERO, BARREL_RADIUS);
        brush.glow(off, radius * 1.5, shade);
        low.disc(at, radius, dye(mix(palette::BARREL, palette::VOID, 0.45)));
        high.disc(at, radius, dye(if prop.fuse > 0 { Color32::WHITE } else { palette::BARREL }));
        // Stripes of danger around the rim, and a sign in the middle.
        for n in 0_u8..8 {
            let color = if n % 2 == 0 { palette::WARN } else { palette::VOID };
            let stroke = brush.stroke(radius * 0.3, dye(color));
            high.arc(at, radius * 0.84, (f32::from(n) / 8.0, 0.125), stroke);
        }
        let line = Stroke::new(1.6, dye(palette::WARN));
        let sign = high.local(at, Vec2::X * (radius * 0.42));
        sign.outline([(0.0, -1.0), (0.95, 0.75), (-0.95, 0.75)], line);
        sign.line([(0.0, -0.4), (0.0, 0.25)], line);
        return;
    }
    let half = Vec2::splat(CRATE_HALF);
    let (painter, corner) = (brush.painter, 0.04 * brush.metre);
    let below = brush.rect(off - half, off + half);
    shadow(painter, below, 0.2 * brush.metre, f32::INFINITY, shade);
    let side = dye(mix(palette::CRATE, palette::VOID, 0.5));
    painter.rect_filled(low.rect(-half, half), corner, side);
    let top = high.rect(-half, half);
    painter.rect_filled(top, corner, dye(palette::CRATE));
    let plank = Stroke::new(1.0, dye(mix(palette::CRATE, palette::VOID, 0.35)));
    for share in [0.25, 0.5, 0.75] {
        painter.hline(top.x_range(), top.top() + top.height() * share, plank);
    }
    let frame = brush.stroke(0.11, dye(palette::CRATE_EDGE));
    let inner = top.shrink(0.055 * brush.metre);
    painter.line_segment([inner.left_top(), inner.right_bottom()], frame);
    painter.rect_stroke(top, corner, frame, StrokeKind::Inside);
}

fn pickup(brush: &Brush<'_>, pickup: &Pickup, visibility: f32, age_secs: f32) {
    let brush = brush.local(pickup.position(), Vec2::X);
    let metre = brush.metre;
    let sign = Icon::of_goods(pickup.goods());
    brush.ring(Vec2::ZERO, 0.5, (1.5, fade(palette::MARKING, visibility)));
    if pickup.taken {
        let at = brush.point(Vec2::ZERO);
        icon(brush.painter, at, 0.42 * metre, sign, fade(palette::MARKING, visibility * 0.9));
        return;
    }
    let swing = (age_secs * 2.4 + pickup.x).sin() * 0.04;
    let color = if sign == Icon::Health { palette::GOOD } else { palette::STEEL };
    brush.glow(Vec2::ZERO, 0.85, light(color, 0.22 * visibility));
    let brush = brush.local((0.0, -0.06 - swing), Vec2::X);
    let plate = fade(palette::PANEL, 0.9 * visibility);
    let edge = Stroke::new(2.0, fade(color, visibility));
    if sign == Icon::Health {
        let rect = brush.rect(Vec2::splat(-0.35), Vec2::splat(0.35));
        brush.painter.rect(rect, 0.12 * metre, plate, edge, StrokeKind::Inside);
    } else {
        let corner = |n: u8| Vec2::from_angle(f32::from(n) / 6.0 * std::f32::consts::TAU) * 0.42;
        brush.polygon((0..6).map(corner), plate, edge);
    }
    icon(brush.painter, brush.point(Vec2::ZERO), 0.44 * metre, sign, fade(color, visibility));
}

fn mine(brush: &Brush<'_>, mine: &Mine, own: bool, visibility: f32, age_secs: f32) {
    if mine.burst > 0 {
        return;
    }
    let (at, color) = (mine.position(), palette::side(own));
    brush.glow(at, 0.4, Color32::from_black_alpha((120.0 * visibility) as u8));
    let steel = fade(palette::STEEL, visibility);
    icon(brush.painter, brush.point(at), 0.56 * brush.metre, Icon::Mine, steel);
    brush.disc(at, 0.1, fade(palette::VOID, visibility));
    // A dashed ring around the player's own mine, a whole one around another's.
    let ring = Stroke::new(1.6, fade(color, 0.8 * visibility));
    if own {
        brush.dashes(at, 0.36, Dashes { count: 6, from: 0.0, share: 0.54 }, ring);
    } else {
        brush.ring(at, 0.36, ring);
    }
    if (age_secs * 1.4 + mine.x).fract() < 0.3 {
        brush.glow(at, 0.3, light(color, 0.9 * visibility));
        brush.disc(at, 0.06, fade(Color32::WHITE, visibility));
    }
}

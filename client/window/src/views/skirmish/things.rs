//! Things in the arena: crates, barrels, pickups, mines, rockets, grenades.

use std::collections::BTreeMap;

use egui_macroquad::egui::{
    Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2 as Ui, vec2,
};
use glam::Vec2;
use phaselock::game::{Entities, Slot};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::Rates;
use phaselock_games::skirmish::flight::{FUSE_SECS, SHELL_RADIUS};
use phaselock_games::skirmish::props::{BARREL_RADIUS, CRATE_HALF};
use phaselock_games::skirmish::{Mine, Pickup, Piece, Prop, Shell};

use super::icons::{Icon, icon};
use phaselock_client::camera::Camera;
use phaselock_client::paint::{arc, beam, dashes, fade, glow, light, mix, shadow};
use phaselock_client::palette;
use phaselock_client::particles::Particles;

const SIGHT_SECS: f32 = 0.15;
/// Height of crates and barrels, as a share of the camera's height.
const HEIGHT: f32 = 0.018;
/// Height of carried ones.
const CARRIED_HEIGHT: f32 = 0.05;
/// Metres from one puff of a rocket's smoke to the next.
const PUFFS: f32 = 0.3;

/// Standing and lying things as last known, with their visible shares.
#[derive(Debug, Default)]
pub(super) struct Things {
    seen: BTreeMap<EntityId, (Slot<Piece>, f32)>,
    /// Last position of each rocket, and the metres flown since its last puff.
    smoke: BTreeMap<EntityId, (Vec2, f32)>,
}

impl Things {
    /// Advances by `secs`; rockets smoke, and so do damaged barrels.
    pub(super) fn advance(
        &mut self,
        entities: &Entities<Piece>,
        secs: f32,
        particles: &mut Particles,
    ) {
        let step = secs / SIGHT_SECS;
        self.seen.retain(|id, (_, sight)| {
            if entities.get(*id).is_none() {
                *sight -= step;
            }
            *sight > 0.0
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
                particles.puff(prop.position(), up, 0.16, Color32::from_gray(70), 0.9);
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
                particles.puff(at, way * 0.4, 0.13, Color32::from_gray(120), 0.55);
            }
        }
    }

    pub(super) fn draw_floor(
        &self,
        painter: &Painter,
        camera: Camera,
        own: PlayerId,
        age_secs: f32,
    ) {
        for (slot, sight) in self.seen.values() {
            match &slot.entity {
                Piece::Pickup(it) => pickup(painter, camera, it, *sight, age_secs),
                Piece::Mine(it) => {
                    mine(painter, camera, it, slot.owner == Some(own), *sight, age_secs);
                }
                _ => {}
            }
        }
    }

    /// Paints standing props, or carried ones.
    pub(super) fn draw_props(&self, painter: &Painter, camera: Camera, carried: bool) {
        for (slot, sight) in self.seen.values() {
            if let Piece::Prop(it) = &slot.entity
                && !it.gone
                && it.held == carried
            {
                prop(painter, camera, it, *sight);
            }
        }
    }
}

pub(super) fn draw_shells(
    painter: &Painter,
    camera: Camera,
    entities: &Entities<Piece>,
    own: PlayerId,
    rates: Rates,
) {
    for slot in entities.records::<Shell>().filter(|slot| slot.entity.burst == 0) {
        let color = palette::side(slot.owner == Some(own));
        if slot.entity.grenade {
            grenade(painter, camera, &slot.entity, color, rates);
        } else {
            rocket(painter, camera, &slot.entity, color);
        }
    }
}

fn rocket(painter: &Painter, camera: Camera, shell: &Shell, color: Color32) {
    let along = shell.velocity().normalize_or_zero();
    let metre = camera.scale;
    let at = |far: f32, aside: f32| {
        camera.to_screen(shell.position() + along * far + along.perp() * aside)
    };
    glow(painter, at(-0.25, 0.0), 0.55 * metre, light(palette::WARN, 0.5));
    let flame = [(at(-0.2, 0.0), light(Color32::WHITE, 0.95)), (at(-0.75, 0.0), light(color, 0.0))];
    beam(painter, flame, 0.26 * metre);
    let body =
        vec![at(-0.25, -0.09), at(0.14, -0.09), at(0.34, 0.0), at(0.14, 0.09), at(-0.25, 0.09)];
    let edge = Stroke::new(1.6, color);
    painter.add(Shape::convex_polygon(body, palette::STEEL, edge));
    for side in [-1.0, 1.0] {
        let fin = [at(-0.1, 0.08 * side), at(-0.28, 0.2 * side)];
        painter.line_segment(fin, Stroke::new(0.07 * metre, color));
    }
}

fn grenade(painter: &Painter, camera: Camera, shell: &Shell, color: Color32, rates: Rates) {
    let (at, metre) = (camera.to_screen(shell.position()), camera.scale);
    let radius = SHELL_RADIUS * 1.35 * metre;
    let left = f32::from(shell.fuse) * rates.step_secs();
    // The less time is left, the faster it blinks.
    let part = 1.0 - left / FUSE_SECS;
    let blinks = (part * part * 16.0 + part * 4.0).fract() < 0.5;
    glow(painter, at + vec2(0.08, 0.13) * metre, radius * 1.4, Color32::from_black_alpha(130));
    painter.circle(at, radius, palette::OWN_DARK, Stroke::new(2.0, color));
    painter.circle_stroke(at, radius * 0.55, Stroke::new(1.2, fade(color, 0.7)));
    arc(painter, at, radius + 4.0, -0.25, 1.0 - part, Stroke::new(2.0, fade(palette::WARN, 0.9)));
    if blinks {
        glow(painter, at, radius * 2.4, light(palette::BAD, 0.7));
        painter.circle_filled(at, radius * 0.4, Color32::WHITE);
    }
}

fn prop(painter: &Painter, camera: Camera, prop: &Prop, sight: f32) {
    let metre = camera.scale;
    let rise = if prop.held { CARRIED_HEIGHT } else { 0.0 };
    let middle = prop.position();
    let low = |point: Vec2| camera.to_screen_at(point, rise);
    let high = |point: Vec2| camera.to_screen_at(point, rise + HEIGHT);
    let shade = Color32::from_black_alpha((110.0 * sight) as u8);
    let off = vec2(0.1, 0.16) * metre * if prop.held { 2.6 } else { 1.0 };
    if prop.barrel {
        let radius = BARREL_RADIUS * metre;
        glow(painter, camera.to_screen(middle) + off, radius * 1.5, shade);
        let side = fade(mix(palette::BARREL, palette::VOID, 0.45), sight);
        painter.circle_filled(low(middle), radius, side);
        let burns = prop.fuse > 0;
        let top = high(middle);
        let color = if burns { Color32::WHITE } else { palette::BARREL };
        painter.circle_filled(top, radius, fade(color, sight));
        // Stripes of danger around the rim, and a sign in the middle.
        for n in 0_u8..8 {
            let color = if n % 2 == 0 { palette::WARN } else { palette::VOID };
            let stroke = Stroke::new(radius * 0.3, fade(color, sight));
            arc(painter, top, radius * 0.84, f32::from(n) / 8.0, 0.125, stroke);
        }
        let size = radius * 0.42;
        let sign = [vec2(0.0, -1.0), vec2(0.95, 0.75), vec2(-0.95, 0.75)];
        let sign = sign.iter().map(|corner| top + *corner * size).collect();
        let line = Stroke::new(1.6, fade(palette::WARN, sight));
        painter.add(Shape::closed_line(sign, line));
        painter.line_segment([top - vec2(0.0, size * 0.4), top + vec2(0.0, size * 0.25)], line);
        return;
    }
    let half = Vec2::splat(CRATE_HALF);
    let rect = |at: &dyn Fn(Vec2) -> Pos2| Rect::from_min_max(at(middle - half), at(middle + half));
    let ground =
        Rect::from_min_max(camera.to_screen(middle - half), camera.to_screen(middle + half));
    shadow(painter, ground.translate(off), 0.2 * metre, shade);
    let side = fade(mix(palette::CRATE, palette::VOID, 0.5), sight);
    painter.rect_filled(rect(&low), 0.04 * metre, side);
    let top = rect(&high);
    painter.rect_filled(top, 0.04 * metre, fade(palette::CRATE, sight));
    let plank = Stroke::new(1.0, fade(mix(palette::CRATE, palette::VOID, 0.35), sight));
    for share in [0.25, 0.5, 0.75] {
        let y = top.top() + top.height() * share;
        painter.hline(top.x_range(), y, plank);
    }
    let frame = Stroke::new(0.11 * metre, fade(palette::CRATE_EDGE, sight));
    let inner = top.shrink(0.055 * metre);
    painter.line_segment([inner.left_top(), inner.right_bottom()], frame);
    painter.rect_stroke(top, 0.04 * metre, frame, StrokeKind::Inside);
}

fn pickup(painter: &Painter, camera: Camera, pickup: &Pickup, sight: f32, age_secs: f32) {
    let (at, metre) = (camera.to_screen(pickup.position()), camera.scale);
    let sign = Icon::of_goods(pickup.goods());
    let ring = Stroke::new(1.5, fade(palette::MARKING, sight));
    painter.circle_stroke(at, 0.5 * metre, ring);
    if pickup.taken {
        icon(painter, at, 0.42 * metre, sign, fade(palette::MARKING, sight * 0.9));
        return;
    }
    let swing = (age_secs * 2.4 + pickup.x).sin() * 0.04;
    let color = if sign == Icon::Health { palette::GOOD } else { palette::STEEL };
    glow(painter, at, 0.85 * metre, light(color, 0.22 * sight));
    let at = at - vec2(0.0, (0.06 + swing) * metre);
    let plate = fade(palette::PANEL, 0.9 * sight);
    let edge = Stroke::new(2.0, fade(color, sight));
    if sign == Icon::Health {
        let rect = Rect::from_center_size(at, Ui::splat(0.7 * metre));
        painter.rect(rect, 0.12 * metre, plate, edge, StrokeKind::Inside);
    } else {
        let corner =
            |n: u8| at + Ui::angled(f32::from(n) / 6.0 * std::f32::consts::TAU) * 0.42 * metre;
        let points = (0..6).map(corner).collect();
        painter.add(Shape::convex_polygon(points, plate, edge));
    }
    icon(painter, at, 0.44 * metre, sign, fade(color, sight));
}

fn mine(painter: &Painter, camera: Camera, mine: &Mine, own: bool, sight: f32, age_secs: f32) {
    if mine.burst > 0 {
        return;
    }
    let (at, metre) = (camera.to_screen(mine.position()), camera.scale);
    let color = palette::side(own);
    glow(painter, at, 0.4 * metre, Color32::from_black_alpha((120.0 * sight) as u8));
    icon(painter, at, 0.56 * metre, Icon::Mine, fade(palette::STEEL, sight));
    painter.circle_filled(at, 0.1 * metre, fade(palette::VOID, sight));
    // A dashed ring around an own mine, a whole one around another's.
    let ring = Stroke::new(1.6, fade(color, 0.8 * sight));
    if own {
        dashes(painter, (at, 0.36 * metre), 6, (0.0, 0.54), ring);
    } else {
        painter.circle_stroke(at, 0.36 * metre, ring);
    }
    if (age_secs * 1.4 + mine.x).fract() < 0.3 {
        glow(painter, at, 0.3 * metre, light(color, 0.9 * sight));
        painter.circle_filled(at, 0.06 * metre, fade(Color32::WHITE, sight));
    }
}

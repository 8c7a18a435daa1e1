//! Ships and bullets: hulls, flames, shields, trails, names.

use std::collections::BTreeMap;

use phaselock_games::asteroids::{Bullet, HULL, Ship};
use phaselock_ui::prelude::*;

const TRAIL_SECS: f32 = 0.9;
/// Metres in a frame that are a jump, not flight.
const CUT: f32 = 8.0;
const HURT_SECS: f32 = 0.18;

/// Outlines in metres, the bow along x: the local ship is a slim dart with a notch, others are
/// broad with two prongs, so that their shapes differ.
const OWN_HULL: [(f32, f32); 4] = [(1.35, 0.0), (-0.95, 0.78), (-0.5, 0.0), (-0.95, -0.78)];
const FOE_HULL: [(f32, f32); 8] = [
    (1.2, 0.34),
    (0.35, 0.5),
    (-0.55, 1.05),
    (-0.9, 0.5),
    (-0.9, -0.5),
    (-0.55, -1.05),
    (0.35, -0.5),
    (1.2, -0.34),
];

#[derive(Debug, Default)]
pub(super) struct Ships(BTreeMap<EntityId, Memory>);

#[derive(Debug, Default)]
struct Memory {
    trail: Trail,
    hurt: f32,
    seen: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) id: EntityId,
    pub(super) ship: Ship,
    /// Position in the picture's world.
    pub(super) at: Vec2,
    pub(super) own: bool,
    pub(super) dress: Dress,
}

impl Ships {
    pub(super) fn hurt(&mut self, id: EntityId) {
        self.0.entry(id).or_default().hurt = HURT_SECS;
    }

    pub(super) fn advance(&mut self, ships: &[Seen], secs: f32) {
        self.0.values_mut().for_each(|memory| memory.seen = false);
        for seen in ships {
            let memory = self.0.entry(seen.id).or_default();
            memory.seen = true;
            memory.hurt = (memory.hurt - secs).max(0.0);
            memory.trail.advance(secs, TRAIL_SECS);
            if seen.ship.is_alive() && seen.ship.thrust {
                memory.trail.push(seen.at - seen.ship.facing() * 0.9, CUT);
            }
        }
        self.0.retain(|_, memory| memory.seen);
    }

    pub(super) fn draw_trails(&self, brush: &Brush<'_>, ships: &[Seen]) {
        for seen in ships {
            if let Some(memory) = self.0.get(&seen.id) {
                let color = fade(seen.dress.color, 0.55);
                memory.trail.draw(brush, color, 0.8, TRAIL_SECS);
            }
        }
    }

    pub(super) fn draw(&self, world: &Brush<'_>, seen: &Seen, age_secs: f32) {
        let ship = &seen.ship;
        let brush = world.local(seen.at, ship.facing());
        let hurt = self.0.get(&seen.id).map_or(0.0, |memory| memory.hurt / HURT_SECS);
        let line = mix(seen.dress.color, Color32::WHITE, hurt);
        let inside = mix(seen.dress.dark, Color32::WHITE, hurt * 0.8);
        if ship.thrust {
            draw_flame(&brush, seen.id.index, age_secs);
        }
        let stroke = Stroke::new((0.11 * brush.metre).clamp(1.3, 3.0), line);
        let fill = |corners: &[(f32, f32)]| {
            brush.polygon(corners.iter().copied(), inside, Stroke::NONE);
        };
        if seen.own {
            brush.glow(Vec2::ZERO, 3.0, light(palette::OWN, 0.14));
            // Two halves, since the notch makes the whole concave.
            let [bow, left, notch, right] = OWN_HULL;
            fill(&[bow, left, notch]);
            fill(&[bow, notch, right]);
            brush.outline(OWN_HULL, stroke);
        } else {
            for corners in [[0, 1, 6, 7], [1, 2, 3, 6], [3, 4, 5, 6]] {
                fill(&corners.map(|n: usize| FOE_HULL[n]));
            }
            brush.outline(FOE_HULL, stroke);
            brush.disc((0.1, 0.0), 0.22, line);
        }
        seen.dress.mark(&brush, 0.8, 0.9);
        if ship.shield > 0 {
            draw_shield(&world.local(seen.at, Vec2::X), (line, ship.shield), age_secs);
        }
    }
}

fn draw_flame(brush: &Brush<'_>, index: u16, age_secs: f32) {
    let flicker = 0.8 + 0.25 * (age_secs * 47.0 + index as f32).sin() * (age_secs * 31.0).cos();
    let color = mix(palette::WARN, palette::FOE, 0.4);
    let ends = |white: f32| {
        let stern = light(mix(color, Color32::WHITE, white), 0.95);
        [((-0.6, 0.0), stern), ((-0.6 - 1.5 * flicker, 0.0), light(color, 0.0))]
    };
    brush.glow((-0.9, 0.0), 1.3, light(color, 0.35 * flicker));
    brush.beam(ends(0.0), 0.95);
    brush.beam(ends(0.8), 0.4);
}

/// Paints a ring around a ship, broken and flickering shortly before its end.
fn draw_shield(brush: &Brush<'_>, (color, left): (Color32, u16), age_secs: f32) {
    let ending = left < 45;
    let pulse = 0.6 + 0.3 * (age_secs * if ending { 22.0 } else { 5.0 }).sin();
    brush.glow(Vec2::ZERO, 1.75 * 1.3, light(color, 0.16 * pulse));
    let parts: u8 = if ending { 8 } else { 3 };
    let dashes = Dashes { count: parts, from: age_secs * 0.25, share: 0.72 };
    brush.dashes(Vec2::ZERO, 1.75, dashes, (2.0, fade(color, pulse)));
}

/// Paints a bullet: the player's are bright darts, others' are rings with a short tail.
pub(super) fn draw_bullet(
    brush: &Brush<'_>,
    (bullet, own): (&Bullet, bool),
    at: Vec2,
    color: Color32,
) {
    let tail = at - bullet.velocity().normalize_or_zero() * if own { 1.5 } else { 0.9 };
    brush.glow(at, 0.9, light(color, 0.5));
    brush.beam([(tail, light(color, 0.0)), (at, light(color, 1.0))], 0.4);
    let (tip, metre) = (brush.point(at), brush.metre);
    if own {
        brush.painter.circle_filled(tip, (0.17 * metre).max(2.0), Color32::WHITE);
    } else {
        let stroke = Stroke::new((0.09 * metre).max(1.3), color);
        brush.painter.circle(tip, (0.24 * metre).max(3.0), palette::VOID, stroke);
    }
}

pub(super) fn draw_tag(brush: &Brush<'_>, seen: &Seen, tag: (&str, bool)) {
    let over = brush.point(seen.at - Vec2::Y * 1.9);
    for n in 0..HULL {
        let at = over + vec2((f32::from(n) - f32::from(HULL - 1) / 2.0) * 9.0, 0.0);
        let color = seen.dress.color;
        let inside = if n < seen.ship.hull { color } else { Color32::TRANSPARENT };
        brush.painter.circle(at, 3.0, inside, (1.0, fade(color, 0.9)));
    }
    name_tag(
        brush.painter,
        over - vec2(0.0, 5.0),
        Align2::CENTER_BOTTOM,
        tag,
        (13.0, palette::TEXT),
    );
}

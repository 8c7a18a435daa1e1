//! Ships and bullets: hulls, flames, shields, trails, names.

use std::collections::BTreeMap;

use egui_macroquad::egui::epaint::PathStroke;
use egui_macroquad::egui::{Align2, Color32, Painter, Pos2, Shape, Stroke, vec2};
use glam::Vec2;
use phaselock::ids::EntityId;
use phaselock_games::asteroids::{Bullet, HULL, Ship};

use phaselock_client::camera::Camera;
use phaselock_client::paint::{beam, dashes, fade, glow, light, mix};
use phaselock_client::palette;
use phaselock_client::particles::Trail;
use phaselock_client::scoreboard::name_tag;

const TRAIL_SECS: f32 = 0.9;
/// Metres in a frame that are a jump and no flight.
const CUT: f32 = 8.0;
const HURT_SECS: f32 = 0.18;

/// Outlines in metres, the bow along x: the own ship is a slim dart with a notch, others are broad
/// with two prongs, so that shape tells them apart.
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

    pub(super) fn draw_trails(&self, painter: &Painter, camera: Camera, ships: &[Seen]) {
        for seen in ships {
            if let Some(memory) = self.0.get(&seen.id) {
                let color = fade(palette::side(seen.own), 0.55);
                memory.trail.draw(painter, camera, color, 0.8, TRAIL_SECS);
            }
        }
    }

    pub(super) fn draw(&self, painter: &Painter, camera: Camera, seen: &Seen, age_secs: f32) {
        let (ship, at) = (&seen.ship, seen.at);
        let hurt = self.0.get(&seen.id).map_or(0.0, |memory| memory.hurt / HURT_SECS);
        let line = mix(palette::side(seen.own), Color32::WHITE, hurt);
        let inside = mix(palette::side_dark(seen.own), Color32::WHITE, hurt * 0.8);
        let facing = ship.facing();
        let point = |(x, y): (f32, f32)| camera.to_screen(at + facing * x + facing.perp() * y);
        if ship.thrust {
            draw_flame(painter, camera, seen, age_secs);
        }
        let middle = camera.to_screen(at);
        if seen.own {
            glow(painter, middle, 3.0 * camera.scale, light(palette::OWN, 0.14));
        }
        let stroke = PathStroke::new((0.11 * camera.scale).clamp(1.3, 3.0), line);
        let fill =
            |points: Vec<Pos2>| painter.add(Shape::convex_polygon(points, inside, Stroke::NONE));
        if seen.own {
            // Two halves, since the notch makes the whole concave.
            fill(vec![point(OWN_HULL[0]), point(OWN_HULL[1]), point(OWN_HULL[2])]);
            fill(vec![point(OWN_HULL[0]), point(OWN_HULL[2]), point(OWN_HULL[3])]);
            painter.add(Shape::closed_line(OWN_HULL.map(point).to_vec(), stroke));
        } else {
            let quad = |corners: [usize; 4]| corners.map(|n| point(FOE_HULL[n])).to_vec();
            fill(quad([0, 1, 6, 7]));
            fill(quad([1, 2, 3, 6]));
            fill(quad([3, 4, 5, 6]));
            painter.add(Shape::closed_line(FOE_HULL.map(point).to_vec(), stroke));
            painter.circle_filled(point((0.1, 0.0)), 0.22 * camera.scale, line);
        }
        if ship.shield > 0 {
            draw_shield(painter, middle, 1.75 * camera.scale, (line, ship.shield), age_secs);
        }
    }
}

fn draw_flame(painter: &Painter, camera: Camera, seen: &Seen, age_secs: f32) {
    let beat = seen.id.index as f32;
    let flicker = 0.8 + 0.25 * (age_secs * 47.0 + beat).sin() * (age_secs * 31.0).cos();
    let facing = seen.ship.facing();
    let stern = seen.at - facing * 0.6;
    let tip = stern - facing * 1.5 * flicker;
    let color = mix(palette::WARN, palette::FOE, 0.4);
    let ends = |from: f32| {
        [
            (camera.to_screen(stern), light(mix(color, Color32::WHITE, from), 0.95)),
            (camera.to_screen(tip), light(color, 0.0)),
        ]
    };
    let middle = camera.to_screen(stern - facing * 0.3);
    glow(painter, middle, 1.3 * camera.scale, light(color, 0.35 * flicker));
    beam(painter, ends(0.0), 0.95 * camera.scale);
    beam(painter, ends(0.8), 0.4 * camera.scale);
}

/// A ring about a ship, broken and flickering shortly before its end.
fn draw_shield(
    painter: &Painter,
    at: Pos2,
    radius: f32,
    (color, left): (Color32, u16),
    age_secs: f32,
) {
    let ending = left < 45;
    let pulse = 0.6 + 0.3 * (age_secs * if ending { 22.0 } else { 5.0 }).sin();
    glow(painter, at, radius * 1.3, light(color, 0.16 * pulse));
    let stroke = Stroke::new(2.0, fade(color, pulse));
    let parts: u8 = if ending { 8 } else { 3 };
    dashes(painter, (at, radius), parts, (age_secs * 0.25, 0.72), stroke);
}

/// A bullet: the own ones are bright darts, others' are rings with a short tail.
pub(super) fn draw_bullet(painter: &Painter, camera: Camera, bullet: &Bullet, at: Vec2, own: bool) {
    let along = bullet.velocity().normalize_or_zero();
    let color = palette::side(own);
    let tip = camera.to_screen(at);
    let length = if own { 1.5 } else { 0.9 };
    let tail = camera.to_screen(at - along * length);
    glow(painter, tip, 0.9 * camera.scale, light(color, 0.5));
    beam(painter, [(tail, light(color, 0.0)), (tip, light(color, 1.0))], 0.4 * camera.scale);
    if own {
        painter.circle_filled(tip, (0.17 * camera.scale).max(2.0), Color32::WHITE);
    } else {
        let stroke = Stroke::new((0.09 * camera.scale).max(1.3), color);
        painter.circle(tip, (0.24 * camera.scale).max(3.0), palette::VOID, stroke);
    }
}

pub(super) fn draw_tag(painter: &Painter, camera: Camera, seen: &Seen, tag: (&str, bool)) {
    let over = camera.to_screen(seen.at) - vec2(0.0, 1.9 * camera.scale);
    for n in 0..HULL {
        let at = over + vec2((f32::from(n) - f32::from(HULL - 1) / 2.0) * 9.0, 0.0);
        let stroke = Stroke::new(1.0, fade(palette::FOE, 0.9));
        let inside = if n < seen.ship.hull { palette::FOE } else { Color32::TRANSPARENT };
        painter.circle(at, 3.0, inside, stroke);
    }
    name_tag(painter, over - vec2(0.0, 5.0), Align2::CENTER_BOTTOM, tag, 13.0, 1.0);
}

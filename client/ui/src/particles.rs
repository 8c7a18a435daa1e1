//! Particles that fade quickly: sparks, rings, flashes, smoke, debris, trails.
//!
//! Particles are not part of the world: views add them at events.

use std::collections::VecDeque;

use egui_macroquad::egui::epaint::Mesh;
use egui_macroquad::egui::{Color32, Shape, Stroke};
use glam::Vec2;
use macroquad::rand::gen_range;

use super::brush::Brush;
use super::camera_rig::reduced_motion;
use super::paint::{fade, light};

/// Maximum number of particles of each kind; the oldest go first. Far more than a full server
/// needs.
const EACH_MAX: usize = 384;
/// Maximum number of points of a trail.
const TRAIL_MAX: usize = 96;
/// Half-life of the speed of sparks, in seconds.
const DRAG_SECS: f32 = 0.07;
/// Half-life of the speed of debris and smoke, in seconds.
const DEBRIS_DRAG_SECS: f32 = 0.5;
const FLASH_SECS: f32 = 0.07;
const TRACER_SECS: f32 = 0.13;

/// All particles of a picture: positions and sizes in metres, speeds in metres per second,
/// lifetimes in seconds.
#[derive(Debug, Default)]
pub struct Particles {
    sparks: Fading<Particle>,
    rings: Fading<Particle>,
    flashes: Fading<Particle>,
    puffs: Fading<Particle>,
    debris: Fading<Particle>,
    tracers: Fading<([Vec2; 2], Color32)>,
}

/// Sparks that fly off at once.
#[derive(Clone, Copy, Debug)]
pub struct Sparks {
    /// Number of sparks.
    pub count: usize,
    /// Speed of the fastest spark.
    pub speed: f32,
    /// Lifetime of the longest-lived spark.
    pub life: f32,
    /// Colour of the sparks.
    pub color: Color32,
}

/// A short light.
#[derive(Clone, Copy, Debug)]
pub struct Flash {
    /// Size of the flash.
    pub size: f32,
    /// Lifetime beyond the usual 70 ms.
    pub longer: f32,
    /// Colour of the flash.
    pub color: Color32,
}

/// A piece of smoke, dust or debris.
#[derive(Clone, Copy, Debug)]
pub struct Mote {
    /// Initial position.
    pub at: Vec2,
    /// Initial velocity.
    pub velocity: Vec2,
    /// Initial radius.
    pub size: f32,
    /// Lifetime.
    pub life: f32,
    /// Colour of the piece.
    pub color: Color32,
}

#[derive(Debug)]
struct Particle {
    at: Vec2,
    velocity: Vec2,
    /// Direction of a flash; initial direction of debris.
    along: Vec2,
    /// Radians per second.
    spin: f32,
    /// Radius at the beginning and at the end.
    size: (f32, f32),
    color: Color32,
}

impl Particle {
    fn new(at: Vec2, velocity: Vec2, size: (f32, f32), color: Color32) -> Self {
        Self { at, velocity, along: Vec2::ZERO, spin: 0.0, size, color }
    }

    fn advance(&mut self, secs: f32, half_secs: f32) {
        self.at += self.velocity * secs;
        self.velocity *= (-secs / half_secs).exp2();
        self.along = Vec2::from_angle(self.spin * secs).rotate(self.along);
    }
}

impl Particles {
    /// Adds a spark that leaves a short streak.
    pub fn spark(&mut self, at: Vec2, velocity: Vec2, color: Color32, life: f32) {
        self.sparks.push(Particle::new(at, velocity, (0.0, 0.0), color), life);
    }

    /// Adds sparks all around.
    pub fn burst(&mut self, at: Vec2, Sparks { count, speed, life, color }: Sparks) {
        for n in 0..count {
            // Turned by the golden angle each, they spread evenly.
            let out = Vec2::from_angle(n as f32 * 2.4) * gen_range(0.2, 1.0) * speed;
            self.spark(at, out, color, gen_range(0.4, 1.0) * life);
        }
    }

    /// Adds sparks in a cone of a third of a circle around the direction `along`.
    pub fn spray(&mut self, at: Vec2, along: Vec2, sparks: Sparks) {
        let Sparks { count, speed, life, color } = sparks;
        for _ in 0..count {
            let turn = gen_range(-1.1, 1.1);
            let out = Vec2::from_angle(turn).rotate(along) * gen_range(0.3, 1.0) * speed;
            self.spark(at, out, color, gen_range(0.4, 1.0) * life);
        }
    }

    /// Adds a ring on the floor that grows or shrinks from one radius to another.
    pub fn ring(&mut self, at: Vec2, size: (f32, f32), color: Color32, life: f32) {
        self.rings.push(Particle::new(at, Vec2::ZERO, size, color), life);
    }

    /// Adds a flash in the direction `along`, or all around if that is zero.
    pub fn flash(&mut self, at: Vec2, along: Vec2, Flash { size, longer, color }: Flash) {
        if reduced_motion() {
            return;
        }
        let flash = Particle::new(at, Vec2::ZERO, (size, size), color);
        self.flashes.push(Particle { along, ..flash }, FLASH_SECS + longer);
    }

    /// Adds a puff of smoke or dust that drifts, grows to twice its size, and fades.
    pub fn puff(&mut self, Mote { at, velocity, size, life, color }: Mote) {
        self.puffs.push(Particle::new(at, velocity, (size, 2.0 * size), color), life);
    }

    /// Adds the light of a shot, from its muzzle to its end.
    pub fn tracer(&mut self, ends: [Vec2; 2], color: Color32) {
        self.tracers.push((ends, color), TRACER_SECS);
    }

    /// Adds a tumbling splinter.
    pub fn splinter(&mut self, Mote { at, velocity, size, life, color }: Mote) {
        let (along, spin) = (Vec2::from_angle(gen_range(0.0, 6.3)), gen_range(-9.0, 9.0));
        let piece = Particle::new(at, velocity, (size, size), color);
        self.debris.push(Particle { along, spin, ..piece }, life);
    }

    /// Adds an explosion: flash, rings, sparks, splinters, smoke.
    pub fn explosion(&mut self, at: Vec2, radius: f32, color: Color32) {
        self.flash(at, Vec2::ZERO, Flash { size: radius * 0.8, longer: 0.12, color });
        self.ring(at, (radius * 0.2, radius), color, 0.4);
        self.ring(at, (radius * 0.1, radius * 0.6), Color32::WHITE, 0.25);
        self.burst(at, Sparks { count: 26, speed: radius * 5.0, life: 0.7, color });
        for n in 0..10 {
            let out = Vec2::from_angle(n as f32 * 2.4);
            let (near, speed) = (gen_range(0.0, 0.4) * radius, gen_range(0.2, 1.2) * radius);
            let grey = Color32::from_gray(gen_range(40_u8, 90_u8));
            self.puff(Mote {
                at: at + out * near,
                velocity: out * speed,
                size: radius * 0.3,
                life: gen_range(0.5, 1.1),
                color: grey,
            });
        }
        for n in 0..8 {
            let out = Vec2::from_angle(n as f32 * 2.4 + 1.0) * gen_range(1.0, 3.0) * radius;
            self.splinter(Mote {
                at,
                velocity: out,
                size: radius * 0.07,
                life: gen_range(0.4, 0.9),
                color,
            });
        }
    }

    /// Advances all particles by `secs` seconds.
    pub fn advance(&mut self, secs: f32) {
        self.sparks.advance(secs, |spark| spark.advance(secs, DRAG_SECS));
        self.rings.advance(secs, |_| {});
        self.flashes.advance(secs, |_| {});
        self.tracers.advance(secs, |_| {});
        self.puffs.advance(secs, |puff| puff.advance(secs, DEBRIS_DRAG_SECS));
        self.debris.advance(secs, |piece| piece.advance(secs, DEBRIS_DRAG_SECS));
    }

    /// Paints the particles on the floor, beneath the players.
    pub fn draw_below(&self, brush: &Brush<'_>) {
        for (ring, part) in self.rings.iter() {
            let left = 1.0 - part;
            let radius = ring.size.0 + (ring.size.1 - ring.size.0) * (1.0 - left * left);
            let width = left * 0.12 * brush.metre + 0.5;
            brush.ring(ring.at, radius, (width, fade(ring.color, left * 0.8)));
        }
    }

    /// Paints the particles above the players.
    pub fn draw_above(&self, brush: &Brush<'_>) {
        for (([from, to], color), part) in self.tracers.iter() {
            // The tail catches up with the head, so the tracer seems to fly.
            let tail = from.lerp(*to, part * 0.7);
            for (strength, width) in [(0.35, 0.34), (0.9, 0.09), (0.6, 0.045)] {
                let strength = (1.0 - part) * strength;
                let ends = [(tail, light(*color, 0.1 * strength)), (*to, light(*color, strength))];
                brush.beam(ends, width);
            }
        }
        for (puff, part) in self.puffs.iter() {
            let strength = (1.0 - part) * (part * 8.0).min(1.0) * 0.5;
            brush.glow(puff.at, puff.size.0 * (1.0 + part), fade(puff.color, strength));
        }
        for (piece, part) in self.debris.iter() {
            let corners = [0.0_f32, 2.1, 4.2].map(Vec2::from_angle);
            let color = fade(piece.color, (1.0 - part) * 1.6);
            let brush = brush.local(piece.at, piece.along * piece.size.0);
            brush.polygon(corners, color, Stroke::NONE);
        }
        for (spark, part) in self.sparks.iter() {
            let tail = (spark.at - spark.velocity * 0.035, light(spark.color, 0.0));
            brush.beam([tail, (spark.at, light(spark.color, 1.0 - part))], 0.1);
        }
        for (flash, part) in self.flashes.iter() {
            let (left, size) = (1.0 - part, flash.size.0);
            brush.glow(flash.at, size * 1.9, light(flash.color, left * 0.5));
            brush.glow(flash.at, size * 0.7, light(Color32::WHITE, left * 0.8));
            if flash.along != Vec2::ZERO {
                let tip = (flash.at + flash.along * size * 1.5, light(flash.color, 0.0));
                brush.beam([(flash.at, light(Color32::WHITE, left * 0.9)), tip], 0.34);
            }
        }
    }
}

/// Items with limited lifetimes: at most 384; the oldest go first.
#[derive(Debug)]
pub struct Fading<T> {
    list: VecDeque<(T, f32, f32)>,
}

impl<T> Default for Fading<T> {
    fn default() -> Self {
        Self { list: VecDeque::new() }
    }
}

impl<T> Fading<T> {
    /// Adds an item with a lifetime in seconds.
    pub fn push(&mut self, item: T, life: f32) {
        if self.list.len() == EACH_MAX {
            self.list.pop_front();
        }
        self.list.push_back((item, 0.0, life.max(0.01)));
    }

    /// Advances by `secs` seconds; `go_on` moves each item.
    pub fn advance(&mut self, secs: f32, mut go_on: impl FnMut(&mut T)) {
        self.list.retain_mut(|(item, age, life)| {
            go_on(item);
            *age += secs;
            age < life
        });
    }

    /// All items, each with the elapsed share of its lifetime: 0 up to 1.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&T, f32)> {
        self.list.iter().map(|(item, age, life)| (item, age / life))
    }
}

/// The track of something that moves, as a ribbon that gets narrower and fainter.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    points: VecDeque<(Vec2, f32)>,
}

impl Trail {
    /// Adds the current position. A jump of more than `cut` metres starts a new trail.
    pub fn push(&mut self, at: Vec2, cut: f32) {
        if self.points.back().is_some_and(|(last, _)| last.distance(at) > cut) {
            self.points.clear();
        }
        // At rest, no point is added, but the last one stays young.
        if let Some((last, age)) = self.points.back_mut()
            && last.distance(at) < 1e-3
        {
            *age = 0.0;
            return;
        }
        if self.points.len() == TRAIL_MAX {
            self.points.pop_front();
        }
        self.points.push_back((at, 0.0));
    }

    /// Advances by `secs` seconds; points older than `life` seconds are removed.
    pub fn advance(&mut self, secs: f32, life: f32) {
        self.points.retain_mut(|(_, age)| {
            *age += secs;
            *age < life
        });
    }

    /// Paints the trail as light, `width` metres wide at its newest end.
    pub fn draw(&self, brush: &Brush<'_>, color: Color32, width: f32, life: f32) {
        let mut mesh = Mesh::default();
        let count = self.points.len();
        for (n, (at, age)) in self.points.iter().enumerate() {
            let left = (1.0 - age / life).clamp(0.0, 1.0);
            let before = self.points[n.saturating_sub(1)].0;
            let after = self.points[(n + 1).min(count - 1)].0;
            let aside = (after - before).normalize_or_zero().perp() * (width * left / 2.0);
            mesh.colored_vertex(brush.point(*at - aside), light(color, 0.0));
            mesh.colored_vertex(brush.point(*at), light(color, left * left));
            mesh.colored_vertex(brush.point(*at + aside), light(color, 0.0));
        }
        for n in 1..count as u32 {
            let (a, b) = (3 * n - 3, 3 * n);
            for side in 0..2 {
                mesh.add_triangle(a + side, b + side, a + side + 1);
                mesh.add_triangle(b + side, a + side + 1, b + side + 1);
            }
        }
        brush.painter.add(Shape::mesh(mesh));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_fade_and_are_never_too_many() {
        let mut particles = Particles::default();
        for _ in 0..200 {
            particles.explosion(Vec2::ZERO, 3.0, Color32::WHITE);
        }
        assert_eq!(particles.sparks.list.len(), EACH_MAX);
        for _ in 0..120 {
            particles.advance(0.02);
        }
        assert_eq!(particles.sparks.list.len() + particles.puffs.list.len(), 0);
    }

    #[test]
    fn trail_is_cut_at_a_jump_and_ends_where_it_is_old() {
        let mut trail = Trail::default();
        for x in 0..200 {
            trail.push(Vec2::new(x as f32, 0.0), 2.0);
            trail.advance(0.01, 10.0);
        }
        assert_eq!(trail.points.len(), TRAIL_MAX);
        trail.push(Vec2::ZERO, 2.0);
        assert_eq!(trail.points.len(), 1);
        trail.advance(11.0, 10.0);
        assert_eq!(trail.points.len(), 0);
    }
}

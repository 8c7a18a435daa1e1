//! What shines for a moment: tracers, flashes, sparks, rings.

use egui_macroquad::egui::{Color32, Painter, Stroke};
use glam::Vec2;
use macroquad::rand::gen_range;

use crate::window::camera::Camera;
use crate::window::paint::{beam, fade, glow, light};

/// Of each kind that are shown at a time; the oldest go first. Far more than a full server's worth.
const EACH_MAX: usize = 256;

/// Everything that shines at the moment.
#[derive(Debug, Default)]
pub(super) struct Effects {
    tracers: Vec<Tracer>,
    sparks: Vec<Spark>,
    rings: Vec<Ring>,
    flashes: Vec<Flash>,
}

#[derive(Debug)]
struct Tracer {
    from: Vec2,
    to: Vec2,
    color: Color32,
    age: f32,
}

#[derive(Debug)]
struct Spark {
    at: Vec2,
    velocity: Vec2,
    color: Color32,
    age: f32,
    life: f32,
}

#[derive(Debug)]
struct Ring {
    at: Vec2,
    from: f32,
    to: f32,
    color: Color32,
    age: f32,
    life: f32,
}

#[derive(Debug)]
struct Flash {
    at: Vec2,
    along: Vec2,
    size: f32,
    color: Color32,
    age: f32,
}

const TRACER_SECS: f32 = 0.13;
const FLASH_SECS: f32 = 0.07;
/// How fast sparks slow down: in this many seconds to half.
const DRAG_SECS: f32 = 0.07;

impl Effects {
    /// A shot from a muzzle to what it hit; `body` if that was somebody.
    pub(super) fn shot(&mut self, from: Vec2, to: Vec2, along: Vec2, color: Color32, body: bool) {
        push(&mut self.flashes, Flash { at: from, along, size: 0.42, color, age: 0.0 });
        push(&mut self.tracers, Tracer { from, to, color, age: 0.0 });
        let count = if body { 9 } else { 6 };
        let speed = if body { 5.0 } else { 4.0 };
        let flash = Flash { at: to, along: Vec2::ZERO, size: 0.3, color, age: 0.0 };
        push(&mut self.flashes, flash);
        for _ in 0..count {
            let turn = gen_range(-1.1, 1.1);
            let back = Vec2::from_angle(turn).rotate(-along) * gen_range(0.3, 1.0) * speed;
            self.spark(to, back, color, gen_range(0.14, 0.32));
        }
    }

    /// Somebody died here.
    pub(super) fn death(&mut self, at: Vec2, color: Color32) {
        let ring = |to, life| Ring { at, from: 0.35, to, color, age: 0.0, life };
        push(&mut self.rings, ring(1.7, 0.45));
        push(&mut self.rings, ring(1.0, 0.7));
        push(&mut self.flashes, Flash { at, along: Vec2::ZERO, size: 0.9, color, age: -0.05 });
        for n in 0..22 {
            let out = Vec2::from_angle(n as f32 * 2.4) * gen_range(1.5, 8.0);
            self.spark(at, out, color, gen_range(0.3, 0.75));
        }
    }

    /// Somebody came into the world here.
    pub(super) fn spawn(&mut self, at: Vec2, color: Color32) {
        let ring = |from, to, life| Ring { at, from, to, color, age: 0.0, life };
        push(&mut self.rings, ring(2.0, 0.45, 0.4));
        push(&mut self.rings, ring(0.45, 0.9, 0.6));
    }

    fn spark(&mut self, at: Vec2, velocity: Vec2, color: Color32, life: f32) {
        push(&mut self.sparks, Spark { at, velocity, color, age: 0.0, life });
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, secs: f32) {
        let keep = (-secs / DRAG_SECS).exp2();
        self.tracers.retain_mut(|tracer| older(&mut tracer.age, secs, TRACER_SECS));
        self.flashes.retain_mut(|flash| older(&mut flash.age, secs, FLASH_SECS));
        self.rings.retain_mut(|ring| older(&mut ring.age, secs, ring.life));
        self.sparks.retain_mut(|spark| {
            spark.at += spark.velocity * secs;
            spark.velocity *= keep;
            older(&mut spark.age, secs, spark.life)
        });
    }

    /// Paints what lies on the floor, beneath the players.
    pub(super) fn draw_below(&self, painter: &Painter, camera: Camera) {
        for ring in &self.rings {
            let part = ring.age / ring.life;
            let eased = 1.0 - (1.0 - part) * (1.0 - part);
            let radius = (ring.from + (ring.to - ring.from) * eased) * camera.scale;
            let width = (1.0 - part) * 0.12 * camera.scale + 0.5;
            let stroke = Stroke::new(width, fade(ring.color, (1.0 - part) * 0.8));
            painter.circle_stroke(camera.to_screen(ring.at), radius, stroke);
        }
    }

    /// Paints what flies above them.
    pub(super) fn draw_above(&self, painter: &Painter, camera: Camera) {
        let scale = camera.scale;
        for tracer in &self.tracers {
            let left = 1.0 - tracer.age / TRACER_SECS;
            // The tail catches up with the head: it reads as something that flies.
            let tail = tracer.from.lerp(tracer.to, (1.0 - left) * 0.7);
            let ends = |strength: f32| {
                let (from, to) = (camera.to_screen(tail), camera.to_screen(tracer.to));
                [(from, light(tracer.color, 0.1 * strength)), (to, light(tracer.color, strength))]
            };
            beam(painter, ends(left * 0.35), 0.34 * scale);
            beam(painter, ends(left * 0.9), 0.09 * scale);
            beam(painter, ends(left * 0.6), 0.045 * scale);
        }
        for spark in &self.sparks {
            let left = 1.0 - spark.age / spark.life;
            let tail = spark.at - spark.velocity * 0.035;
            let ends = [
                (camera.to_screen(tail), light(spark.color, 0.0)),
                (camera.to_screen(spark.at), light(spark.color, left)),
            ];
            beam(painter, ends, 0.1 * scale);
        }
        for flash in &self.flashes {
            let left = (1.0 - flash.age / FLASH_SECS).min(1.0);
            let at = camera.to_screen(flash.at);
            glow(painter, at, flash.size * 1.9 * scale, light(flash.color, left * 0.5));
            glow(painter, at, flash.size * 0.7 * scale, light(Color32::WHITE, left * 0.8));
            if flash.along != Vec2::ZERO {
                let tip = camera.to_screen(flash.at + flash.along * flash.size * 1.5);
                let white = light(Color32::WHITE, left * 0.9);
                beam(painter, [(at, white), (tip, light(flash.color, 0.0))], 0.34 * scale);
            }
        }
    }
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == EACH_MAX {
        list.remove(0);
    }
    list.push(item);
}

/// Ages something; returns whether it still lives.
fn older(age: &mut f32, secs: f32, life: f32) -> bool {
    *age += secs;
    *age < life
}

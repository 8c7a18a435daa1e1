//! Effects of Skirmish: tracers, and sparks of shots, deaths and returns.

use egui_macroquad::egui::{Color32, Painter};
use glam::Vec2;

use phaselock_games::skirmish::BLAST_REACH;

use phaselock_client::camera::Camera;
use phaselock_client::paint::{beam, light};
use phaselock_client::palette;
use phaselock_client::particles::{Fading, Particles};

const TRACER_SECS: f32 = 0.13;

/// Everything that shines at the moment.
#[derive(Debug, Default)]
pub(super) struct Effects {
    tracers: Fading<Tracer>,
    pub(super) particles: Particles,
}

#[derive(Debug)]
struct Tracer {
    from: Vec2,
    to: Vec2,
    color: Color32,
}

impl Effects {
    /// A shot from a muzzle to its end; `body` if that is a player.
    pub(super) fn shot(&mut self, from: Vec2, to: Vec2, along: Vec2, color: Color32, body: bool) {
        self.tracers.push(Tracer { from, to, color }, TRACER_SECS);
        self.particles.flash(from, along, 0.42, color, 0.0);
        self.particles.flash(to, Vec2::ZERO, 0.3, color, 0.0);
        let (count, speed) = if body { (9, 5.0) } else { (6, 4.0) };
        self.particles.spray(to, -along, count, speed, color, 0.32);
    }

    /// A shot of another weapon than the rifle.
    pub(super) fn launch(&mut self, from: Vec2, along: Vec2, color: Color32) {
        self.particles.flash(from, along, 0.4, color, 0.04);
        for n in 0_u8..3 {
            let back = -along * (1.0 + f32::from(n));
            self.particles.puff(from - along * 0.5, back, 0.16, Color32::from_gray(110), 0.5);
        }
    }

    /// An explosion.
    pub(super) fn blast(&mut self, at: Vec2, color: Color32) {
        self.particles.explosion(at, BLAST_REACH * 0.8, color);
        self.particles.ring(at, (0.4, BLAST_REACH), color, 0.5);
        self.particles.flash(at, Vec2::ZERO, 1.5, palette::WARN, 0.1);
    }

    /// A pickup taken, or a thing put in its place.
    pub(super) fn twinkle(&mut self, at: Vec2, color: Color32) {
        self.particles.ring(at, (0.3, 0.9), color, 0.35);
        self.particles.burst(at, 8, 2.5, color, 0.4);
    }

    pub(super) fn death(&mut self, at: Vec2, color: Color32) {
        self.particles.ring(at, (0.35, 1.7), color, 0.45);
        self.particles.ring(at, (0.35, 1.0), color, 0.7);
        self.particles.flash(at, Vec2::ZERO, 0.9, color, 0.05);
        self.particles.burst(at, 22, 8.0, color, 0.75);
    }

    /// Somebody came into the world here.
    pub(super) fn spawn(&mut self, at: Vec2, color: Color32) {
        self.particles.ring(at, (2.0, 0.45), color, 0.4);
        self.particles.ring(at, (0.45, 0.9), color, 0.6);
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, secs: f32) {
        self.tracers.advance(secs, |_| {});
        self.particles.advance(secs);
    }

    pub(super) fn draw_above(&self, painter: &Painter, camera: Camera) {
        let scale = camera.scale;
        for (tracer, part) in self.tracers.iter() {
            let left = 1.0 - part;
            // The tail catches up with the head, so that the tracer seems to fly.
            let tail = tracer.from.lerp(tracer.to, part * 0.7);
            let ends = |strength: f32| {
                let (from, to) = (camera.to_screen(tail), camera.to_screen(tracer.to));
                [(from, light(tracer.color, 0.1 * strength)), (to, light(tracer.color, strength))]
            };
            beam(painter, ends(left * 0.35), 0.34 * scale);
            beam(painter, ends(left * 0.9), 0.09 * scale);
            beam(painter, ends(left * 0.6), 0.045 * scale);
        }
        self.particles.draw_above(painter, camera);
    }
}

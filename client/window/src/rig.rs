//! Motion of the camera: it follows with ease, and trembles from blows.

use egui_macroquad::egui::Rect;
use glam::Vec2;

use super::camera::Camera;

/// Shake of a blow of full strength, as a share of the visible height.
const SHAKE: f32 = 0.012;
/// Seconds from a blow of full strength to rest.
const SHAKE_SECS: f32 = 0.7;

/// Target and framing of the camera.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// Point of the world to follow, in metres.
    pub target: Vec2,
    /// Visible metres from left to right on most screens.
    pub width: f32,
    /// Visible metres from top to bottom, at most.
    pub height: f32,
    /// Half-life of the distance to the target, in seconds.
    pub ease_secs: f32,
    /// Distance to the target, in metres, beyond which the picture jumps.
    pub cut: f32,
    /// Half of the world's size and the visible margin around it, in metres; none for an endless
    /// world.
    pub bounds: Option<(Vec2, f32)>,
}

/// A camera that follows a target with ease and trembles from blows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rig {
    middle: Option<Vec2>,
    trauma: f32,
}

impl Rig {
    /// Advances by `secs` seconds; returns the camera without its shake: the one that the mouse
    /// points into.
    pub fn follow(&mut self, screen: Rect, secs: f32, shot: &Shot) -> Camera {
        self.trauma = (self.trauma - secs / SHAKE_SECS).max(0.0);
        let before = self.middle.filter(|before| before.distance(shot.target) <= shot.cut);
        let middle = before.map_or(shot.target, |before| {
            shot.target + (before - shot.target) * (-secs / shot.ease_secs).exp2()
        });
        let mut camera = Camera::new(screen, middle, shot.width, shot.height);
        if let Some((half, margin)) = shot.bounds {
            camera.keep_within(half, margin);
        }
        self.middle = Some(camera.middle);
        camera
    }

    /// Adds a blow of a strength from 0 to 1; blows add up to 1 at most.
    pub fn shake(&mut self, strength: f32) {
        self.trauma = (self.trauma + strength.max(0.0)).min(1.0);
    }

    /// The camera with its shake, `age_secs` seconds into the session.
    pub fn shaken(&self, camera: Camera, age_secs: f32) -> Camera {
        // Squared, so that small blows are hardly felt. Two sines without a common beat look like a
        // hand that trembles.
        let reach = self.trauma.powi(2) * SHAKE * 2.0 * camera.half().y;
        let time = age_secs * 60.0;
        let off = Vec2::new((time * 1.1).sin(), (time * 1.7).cos()) * reach;
        Camera { middle: camera.middle + off, ..camera }
    }
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::{Pos2, vec2};

    use super::*;

    const SHOT: Shot = Shot {
        target: Vec2::new(8.0, 0.0),
        width: 26.0,
        height: 19.5,
        ease_secs: 0.1,
        cut: 9.0,
        bounds: None,
    };

    #[test]
    fn it_follows_with_ease_at_any_frame_rate_and_jumps_far_ways() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let after = |frames: u32| {
            let mut rig = Rig { middle: Some(Vec2::ZERO), trauma: 0.0 };
            for _ in 0..frames {
                rig.follow(screen, 0.1 / frames as f32, &SHOT);
            }
            rig.middle.expect("it has followed").x
        };
        assert!((after(1) - 4.0).abs() < 1e-4 && (after(50) - 4.0).abs() < 1e-3);
        let mut rig = Rig { middle: Some(Vec2::new(-2.0, 0.0)), trauma: 0.0 };
        assert_eq!(rig.follow(screen, 0.001, &SHOT).middle, SHOT.target);
    }

    #[test]
    fn a_blow_is_felt_and_forgotten() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let mut rig = Rig::default();
        let camera = rig.follow(screen, 0.01, &SHOT);
        rig.shake(5.0);
        let off = rig.shaken(camera, 0.3).middle.distance(camera.middle);
        assert!(off > 0.05 && off < 0.5, "{off}");
        let camera = rig.follow(screen, 1.0, &SHOT);
        assert_eq!(rig.shaken(camera, 1.3).middle, camera.middle);
    }
}

//! Camera motion: it follows smoothly, and shakes from blows.

use std::cell::Cell;
use std::ops::{Add, Mul, Sub};

use egui_macroquad::egui::Rect;
use glam::Vec2;

use super::camera::{Camera, ViewBounds};

/// Shake of a blow of full strength, as a share of the visible height.
const SHAKE: f32 = 0.012;
/// Seconds until the shake of a full-strength blow has ended.
const SHAKE_SECS: f32 = 0.7;

thread_local! {
    /// The window draws on one thread.
    static REDUCED_MOTION: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether screen shake and flashes are suppressed.
pub fn set_reduced_motion(reduced: bool) {
    REDUCED_MOTION.set(reduced);
}

/// Whether the player wants no shaking and no flashes.
pub fn reduced_motion() -> bool {
    REDUCED_MOTION.get()
}

/// What the camera follows, and how much it shows.
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
    /// Distance to the target, in metres, beyond which the camera jumps.
    pub cut: f32,
    /// The part of the world that may be shown; `None` for an endless world. Leave it to the rig to
    /// clamp the target: on a touchscreen, the local player stays in the middle instead.
    pub bounds: Option<ViewBounds>,
}

/// A camera that follows a target smoothly and shakes from blows.
#[derive(Clone, Copy, Debug, Default)]
pub struct CameraRig {
    without_shake: Option<Camera>,
    trauma: f32,
    age_secs: f32,
}

impl CameraRig {
    /// Advances by `secs` seconds; returns the camera to draw with.
    pub fn follow(&mut self, screen: Rect, secs: f32, shot: &Shot) -> Camera {
        let within = |middle: Vec2| {
            let mut camera = Camera::new(screen, middle, shot.width, shot.height);
            if let Some(bounds) = shot.bounds {
                camera.keep_within(bounds);
            }
            camera
        };
        // Within bounds already, so that the camera comes to rest at them with ease too.
        let target = within(shot.target).middle;
        let before = self.without_shake.map(|before| before.middle);
        let near = before.filter(|before| before.distance(target) <= shot.cut);
        let middle = near.map_or(target, |near| ease(near, target, secs, shot.ease_secs));
        self.hold(within(middle), secs)
    }

    /// Advances by `secs` seconds with a camera that follows nothing; returns the one to draw with.
    pub fn hold(&mut self, camera: Camera, secs: f32) -> Camera {
        self.without_shake = Some(camera);
        self.trauma = (self.trauma - secs / SHAKE_SECS).max(0.0);
        self.age_secs += secs;
        // Squared, so that small blows are hardly felt. Two sines without a common beat look
        // random.
        let reach = self.trauma.powi(2) * SHAKE * 2.0 * camera.half().y;
        let time = self.age_secs * 60.0;
        let off = Vec2::new((time * 1.1).sin(), (time * 1.7).cos()) * reach;
        Camera { middle: camera.middle + off, ..camera }
    }

    /// The last frame's camera without its shake, for the mouse to point into.
    pub fn without_shake(&self) -> Option<Camera> {
        self.without_shake
    }

    /// Adds a blow of a strength from 0 to 1; the sum is at most 1.
    pub fn shake(&mut self, strength: f32) {
        if reduced_motion() {
            return;
        }
        self.trauma = (self.trauma + strength.max(0.0)).min(1.0);
    }
}

/// The value on the way from `now` to `wanted` after `secs` seconds. Half of the way takes
/// `half_secs`.
pub fn ease<T>(now: T, wanted: T, secs: f32, half_secs: f32) -> T
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f32, Output = T>,
{
    wanted + (now - wanted) * (-secs / half_secs).exp2()
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
    fn camera_follows_with_ease_at_any_frame_rate_and_jumps_far_ways() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let after = |frames: u32| {
            let mut rig = CameraRig::default();
            rig.follow(screen, 0.1, &Shot { target: Vec2::ZERO, ..SHOT });
            for _ in 0..frames {
                rig.follow(screen, 0.1 / frames as f32, &SHOT);
            }
            rig.without_shake().expect("a camera").middle.x
        };
        assert!((after(1) - 4.0).abs() < 1e-4 && (after(50) - 4.0).abs() < 1e-3);
        let mut rig = CameraRig::default();
        rig.follow(screen, 0.001, &Shot { target: Vec2::new(-2.0, 0.0), ..SHOT });
        assert_eq!(rig.follow(screen, 0.001, &SHOT).middle, SHOT.target);
    }

    #[test]
    fn camera_comes_to_rest_at_the_bounds_with_ease() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let mut rig = CameraRig::default();
        let bounds = Some(ViewBounds::around(Vec2::new(17.0, 50.0), 0.0));
        let mut at = |target: Vec2| {
            rig.follow(screen, 0.1, &Shot { target, bounds, ..SHOT });
            rig.without_shake().expect("a camera").middle.x
        };
        assert_eq!(at(Vec2::ZERO), 0.0);
        // The target is 8 m away, and the camera's last place 4 m.
        let places = [at(SHOT.target), at(SHOT.target), at(SHOT.target)];
        let off = places.iter().zip([2.0, 3.0, 3.5]).map(|(at, wanted)| (at - wanted).abs());
        assert!(off.fold(0.0, f32::max) < 1e-3, "{places:?}");
    }

    #[test]
    fn reduced_motion_shakes_nothing() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let mut rig = CameraRig::default();
        set_reduced_motion(true);
        rig.shake(5.0);
        set_reduced_motion(false);
        assert_eq!(rig.follow(screen, 0.01, &SHOT).middle, SHOT.target);
    }

    #[test]
    fn blow_is_felt_and_forgotten() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let mut rig = CameraRig::default();
        rig.shake(5.0);
        let off = rig.follow(screen, 0.01, &SHOT).middle.distance(SHOT.target);
        assert!(off > 0.05 && off < 0.5, "{off}");
        assert_eq!(rig.follow(screen, 1.0, &SHOT).middle, SHOT.target);
    }
}

//! Converts between world and window.

use egui_macroquad::egui::{Pos2, Rect, vec2};
use glam::Vec2;

/// Part of the world that a camera shows nothing beyond, in metres. A side may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewBounds {
    /// The upper left corner.
    pub min: Vec2,
    /// The lower right corner.
    pub max: Vec2,
}

impl ViewBounds {
    /// A world around its origin, of half its size, with a margin on all sides.
    pub const fn around(half: Vec2, margin: f32) -> Self {
        let (x, y) = (half.x + margin, half.y + margin);
        Self { min: Vec2::new(-x, -y), max: Vec2::new(x, y) }
    }
}

/// The visible part of the world, and its place in the window. In both, the y axis points down.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Point of the world in the middle of the window, in metres.
    pub middle: Vec2,
    /// Points of the window per metre.
    pub scale: f32,
    /// The window, in points.
    pub screen: Rect,
}

impl Camera {
    /// Shows `width` metres from left to right on a screen of about 16 to 9. A narrower screen
    /// shows more above and below, up to `height`; a wider one shows less. So no player sees much
    /// more than others do.
    pub fn new(screen: Rect, middle: Vec2, width: f32, height: f32) -> Self {
        let least = height * 0.64; // What a screen of 21 to 9 would not go below.
        let fits = screen.width() / width;
        let scale = fits.max(screen.height() / height).min(screen.height() / least);
        Self { middle, scale, screen }
    }

    /// Position of a world point in the window.
    pub fn to_screen(self, point: Vec2) -> Pos2 {
        let away = (point - self.middle) * self.scale;
        self.screen.center() + vec2(away.x, away.y)
    }

    /// World point at a position in the window.
    pub fn to_world(self, point: Pos2) -> Vec2 {
        let away = point - self.screen.center();
        self.middle + Vec2::new(away.x, away.y) / self.scale
    }

    /// Whether a point is visible, or at most `margin` metres beyond the edge.
    pub fn sees(self, point: Vec2, margin: f32) -> bool {
        (point - self.middle).abs().cmplt(self.half() + margin).all()
    }

    /// Half of the visible width and height, in metres.
    pub fn half(self) -> Vec2 {
        Vec2::new(self.screen.width(), self.screen.height()) / (2.0 * self.scale)
    }

    /// Moves the middle so that nothing beyond the bounds is visible. Where the window shows more
    /// than they contain, it shows their middle.
    pub fn keep_within(&mut self, bounds: ViewBounds) {
        let (least, most) = (bounds.min + self.half(), bounds.max - self.half());
        let within = self.middle.max(least).min(most);
        self.middle = Vec2::select(least.cmple(most), within, (least + most) / 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(width: f32, height: f32) -> Camera {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(width, height));
        Camera::new(screen, Vec2::new(3.0, -2.0), 26.0, 19.5)
    }

    #[test]
    fn there_and_back_again() {
        let camera = camera(1280.0, 720.0);
        let point = Vec2::new(-7.25, 5.5);
        assert!((camera.to_world(camera.to_screen(point)) - point).length() < 1e-4);
        assert_eq!(camera.to_screen(camera.middle), camera.screen.center());
    }

    #[test]
    fn bounds_hold_the_camera_on_each_side_that_has_one() {
        let kept = |middle: Vec2, bounds: ViewBounds| {
            let mut camera = Camera { middle, ..camera(1280.0, 720.0) };
            camera.keep_within(bounds);
            camera.middle
        };
        let half = camera(1280.0, 720.0).half();
        let around = ViewBounds::around(half + Vec2::new(5.0, -1.0), 2.0);
        assert!(kept(Vec2::new(40.0, -9.0), around).distance(Vec2::new(7.0, -1.0)) < 1e-4);
        let narrow = ViewBounds { min: Vec2::ZERO, max: Vec2::new(1.0, f32::INFINITY) };
        assert!(kept(Vec2::new(90.0, 90.0), narrow).distance(Vec2::new(0.5, 90.0)) < 1e-4);
        assert!(kept(Vec2::new(90.0, -90.0), narrow).distance(Vec2::new(0.5, half.y)) < 1e-4);
    }

    #[test]
    fn every_window_shows_about_as_much() {
        for (width, height) in [(1280.0, 720.0), (800.0, 600.0), (1920.0, 1080.0)] {
            assert!((camera(width, height).half().x - 13.0).abs() < 1e-4, "{width} x {height}");
        }
        assert!(camera(3440.0, 1440.0).half().y > 6.0);
        assert!(camera(600.0, 900.0).half().y <= 9.76);
    }
}

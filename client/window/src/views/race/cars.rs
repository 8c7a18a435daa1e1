//! The cars' picture: bodies, wheels, lights, numbers, and a pattern of each car's own.

use egui_macroquad::egui::epaint::Mesh;
use egui_macroquad::egui::{Align2, Color32, Painter, Pos2, Shape, Stroke, vec2};
use glam::Vec2;
use phaselock::ids::PlayerId;
use phaselock_games::race::Car;

use phaselock_client::camera::Camera;
use phaselock_client::paint::{beam, fade, glow, light, mix, quad, text};
use phaselock_client::palette;
use phaselock_client::scoreboard::name_tag;

/// Right half of the body from above, from the nose back: metres ahead of the middle and to the
/// right.
const BODY: [(f32, f32); 8] = [
    (2.15, 0.42),
    (2.0, 0.78),
    (1.3, 0.93),
    (0.4, 0.9),
    (-0.6, 0.95),
    (-1.6, 0.98),
    (-2.05, 0.86),
    (-2.15, 0.6),
];
/// Patterns that tell cars apart, besides their numbers.
const PATTERNS: u16 = 6;

/// A car's frame of reference on the screen.
#[derive(Clone, Copy)]
struct Frame {
    camera: Camera,
    at: Vec2,
    nose: Vec2,
}

impl Frame {
    fn point(&self, ahead: f32, right: f32) -> Pos2 {
        self.camera.to_screen(self.at + self.nose * ahead + self.nose.perp() * right)
    }

    fn block(&self, mesh: &mut Mesh, ahead: [f32; 2], right: [f32; 2], color: Color32) {
        let ([back, front], [left, right]) = (ahead, right);
        let corners = [(back, left), (front, left), (front, right), (back, right)];
        self.quad(mesh, corners, color);
    }

    fn quad(&self, mesh: &mut Mesh, corners: [(f32, f32); 4], color: Color32) {
        quad(mesh, corners.map(|(ahead, right)| self.point(ahead, right)), color);
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) own: bool,
    pub(super) player: PlayerId,
    pub(super) solid: bool,
}

pub(super) fn draw(painter: &Painter, camera: Camera, car: &Car, look: Look) {
    let frame = Frame { camera, at: car.position(), nose: car.nose() };
    let there = if look.solid { 1.0 } else { 0.45 };
    let dye = |color: Color32| fade(color, there);
    // Other cars differ in brightness, besides their patterns.
    let shade = f32::from(look.player.0 * 7 % 5) / 4.0;
    let paint = if look.own {
        palette::OWN
    } else {
        let dark = mix(palette::FOE, palette::FOE_DARK, 0.35);
        mix(dark, mix(palette::FOE, palette::TEXT, 0.3), shade)
    };
    let trim = if look.own { palette::TEXT } else { palette::FOE_DARK };

    if look.solid {
        for (ahead, radius) in [(1.0, 1.5), (-1.0, 1.6)] {
            let at = frame.at + frame.nose * ahead + Vec2::new(0.18, 0.3);
            let black = Color32::from_black_alpha(150);
            glow(painter, camera.to_screen(at), radius * camera.scale, black);
        }
    }
    headlights(painter, &frame, there);

    let mut mesh = Mesh::default();
    let rubber = dye(palette::VOID);
    for side in [-1.0, 1.0] {
        frame.block(&mut mesh, [-1.65, -0.9], [side * 0.78, side * 1.06], rubber);
        // The front wheels turn by up to a twelfth of a circle.
        let (sin, cos) = (car.wheel * 0.5).sin_cos();
        let hub = frame.at + frame.nose * 1.25 + frame.nose.perp() * (side * 0.9);
        let nose = frame.nose * cos + frame.nose.perp() * sin;
        let wheel = Frame { camera, at: hub, nose };
        wheel.block(&mut mesh, [-0.36, 0.36], [-0.15, 0.15], rubber);
    }
    painter.add(Shape::mesh(mesh));

    let outline: Vec<Pos2> = BODY
        .iter()
        .map(|(ahead, right)| frame.point(*ahead, *right))
        .chain(BODY.iter().rev().map(|(ahead, right)| frame.point(*ahead, -right)))
        .collect();
    let edge = Stroke::new((0.1 * camera.scale).max(1.0), dye(trim));
    painter.add(Shape::convex_polygon(outline, dye(paint), edge));
    let mut mesh = Mesh::default();
    pattern(&mut mesh, &frame, look.player.0 % PATTERNS, dye(trim));
    // Wing and windows.
    frame.block(&mut mesh, [-2.3, -2.0], [-0.95, 0.95], dye(trim));
    let glass = dye(mix(palette::VOID, palette::STEEL, 0.12));
    let screen = [(0.95, -0.62), (0.95, 0.62), (0.5, 0.7), (0.5, -0.7)];
    frame.quad(&mut mesh, screen, glass);
    let rear = [(-0.95, -0.6), (-0.95, 0.6), (-0.65, 0.68), (-0.65, -0.68)];
    frame.quad(&mut mesh, rear, glass);
    painter.add(Shape::mesh(mesh));
    tail_lights(painter, &frame, car, there);

    // The number stands upright, whichever way the car goes.
    let middle = frame.point(-0.07, 0.0);
    let radius = 0.56 * camera.scale;
    painter.circle_filled(middle, radius, dye(palette::TEXT));
    let number = (look.player.0 + 1).to_string();
    let size = radius * if number.len() > 2 { 1.05 } else { 1.4 };
    text(painter, middle, Align2::CENTER_CENTER, &number, size, dye(palette::VOID));
    if look.own {
        // An arrowhead before the nose tells the own car without colour.
        let tip = [(3.3, 0.0), (2.7, 0.5), (2.85, 0.0), (2.7, -0.5)];
        let mut mesh = Mesh::default();
        frame.quad(&mut mesh, tip, fade(palette::OWN, 0.85));
        painter.add(Shape::mesh(mesh));
    }
}

/// Stripes, bands and squares.
fn pattern(mesh: &mut Mesh, frame: &Frame, which: u16, color: Color32) {
    match which {
        // Two stripes from nose to tail.
        0 => {
            for side in [-1.0, 1.0] {
                frame.block(mesh, [-2.0, 2.05], [side * 0.15, side * 0.4], color);
            }
        }
        // A broad band across the bonnet.
        1 => frame.block(mesh, [1.15, 1.65], [-0.88, 0.88], color),
        // A chevron.
        2 => {
            for side in [-1.0, 1.0] {
                let corners = [(1.95, 0.0), (1.55, 0.0), (1.05, side * 0.88), (1.4, side * 0.88)];
                frame.quad(mesh, corners, color);
            }
        }
        // One half.
        3 => frame.block(mesh, [-2.0, 1.9], [0.0, 0.72], color),
        // Squares on the bonnet.
        4 => {
            for n in 0..6 {
                let (row, column) = (n / 3, n % 3);
                if (row + column) % 2 == 0 {
                    let ahead = 1.05 + row as f32 * 0.4;
                    let right = -0.66 + column as f32 * 0.44;
                    frame.block(mesh, [ahead, ahead + 0.4], [right, right + 0.44], color);
                }
            }
        }
        // Sills along both sides.
        _ => {
            for side in [-1.0, 1.0] {
                frame.block(mesh, [-1.9, 1.3], [side * 0.68, side * 0.9], color);
            }
        }
    }
}

fn headlights(painter: &Painter, frame: &Frame, there: f32) {
    for side in [-0.62, 0.62] {
        let from = (frame.point(2.0, side), light(palette::TEXT, 0.2 * there));
        let to = (frame.point(9.0, side * 2.2), light(palette::TEXT, 0.0));
        beam(painter, [from, to], 2.2 * frame.camera.scale);
        let lamp = frame.point(1.95, side);
        painter.circle_filled(lamp, 0.16 * frame.camera.scale, fade(palette::TEXT, there));
    }
}

fn tail_lights(painter: &Painter, frame: &Frame, car: &Car, there: f32) {
    let along = car.slip().x;
    let brakes = car.hand || (car.pedal < 0 && along > 0.5);
    let reverses = car.pedal < 0 && along < -0.3;
    for side in [-0.66, 0.66] {
        let at = frame.point(-2.1, side);
        let size = if brakes { 0.26 } else { 0.16 } * frame.camera.scale;
        painter.circle_filled(at, size, fade(palette::BAD, there));
        if brakes {
            glow(painter, at, 1.3 * frame.camera.scale, light(palette::BAD, 0.5 * there));
        }
        if reverses {
            let at = frame.point(-2.1, side * 0.5);
            painter.circle_filled(at, 0.15 * frame.camera.scale, fade(palette::TEXT, there));
        }
    }
}

/// Name above a car, with its place in the race; 0 if nothing counts.
pub(super) fn draw_tag(
    painter: &Painter,
    camera: Camera,
    car: &Car,
    (name, bot): (&str, bool),
    place: u16,
) {
    let over = camera.to_screen(car.position()) - vec2(0.0, 2.2 * camera.scale);
    let words = if place == 0 { name.to_owned() } else { format!("{place}. {name}") };
    name_tag(painter, over, Align2::CENTER_BOTTOM, (&words, bot), 12.5, 0.92);
}

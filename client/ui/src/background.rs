//! Background of the menu and icon of the program: two waves that fall into step.

use egui_macroquad::egui::emath::GuiRounding as _;
use egui_macroquad::egui::epaint::{Mesh, PathStroke};
use egui_macroquad::egui::{Color32, Painter, Pos2, Rect, Shape, pos2, vec2};
use macroquad::miniquad::conf::Icon;

use super::paint::{fade, hairline, mix};
use super::palette;

/// Seconds between losses of phase.
const PERIOD: f32 = 9.0;
/// Wavelengths across the window.
const WAVES: f32 = 3.0;

/// Number of points of a wave.
const WAVE_POINTS: u32 = 96;
/// Distance in points between the lines of the grid behind the waves.
pub const STEP: f32 = 48.0;
/// Maximum side, in points, of the fields with a colour at each corner.
const FIELD: f32 = 2.0 * STEP;

/// Paints faint lines, `step` points apart.
pub fn grid(painter: &Painter, rect: Rect, step: f32) {
    let mut mesh = Mesh::default();
    for n in 0..(rect.width() / step) as u32 + 1 {
        let x = rect.left() + n as f32 * step;
        let ends = [pos2(x, rect.top()), pos2(x, rect.bottom())];
        hairline(&mut mesh, painter, ends, 1.0, palette::VOID_GRID);
    }
    for n in 0..(rect.height() / step) as u32 + 1 {
        let y = rect.top() + n as f32 * step;
        let ends = [pos2(rect.left(), y), pos2(rect.right(), y)];
        hairline(&mut mesh, painter, ends, 1.0, palette::VOID_GRID);
    }
    painter.add(Shape::mesh(mesh));
}

/// Sum of two colours, opaque.
fn add(a: Color32, b: Color32) -> Color32 {
    Color32::from_rgb(
        a.r().saturating_add(b.r()),
        a.g().saturating_add(b.g()),
        a.b().saturating_add(b.b()),
    )
}

/// The light behind the waves: bright around them, dark towards the window's edges.
#[derive(Clone, Copy)]
struct Light {
    screen: Rect,
    middle: Pos2,
}

impl Light {
    /// A colour at a place, with the light there applied.
    fn on(self, color: Color32, at: Pos2) -> Color32 {
        let screen = self.screen;
        let far = at.distance(self.middle) / (screen.width() * 0.55);
        let bright = 0.16 * (1.0 - far).clamp(0.0, 1.0).powi(2);
        let lit = add(color, fade(palette::OWN, bright));
        let from_edge = [
            at.x - screen.left(),
            screen.right() - at.x,
            at.y - screen.top(),
            screen.bottom() - at.y,
        ];
        let from_edge = from_edge.into_iter().fold(f32::MAX, f32::min);
        let inwards = (from_edge / (screen.height() * 0.45)).clamp(0.0, 1.0);
        mix(lit, palette::VOID, 0.85 * (1.0 - inwards).powi(2))
    }

    /// Covers the window with one opaque layer; glows and rims over the grid would be three.
    fn draw(self, painter: &Painter) {
        let screen = self.screen;
        let mut mesh = Mesh::default();
        let columns = (screen.width() / FIELD).ceil().max(1.0) as u32;
        let rows = (screen.height() / FIELD).ceil().max(1.0) as u32;
        let field = screen.size() / vec2(columns as f32, rows as f32);
        for row in 0..=rows {
            for column in 0..=columns {
                let at = screen.left_top() + vec2(column as f32, row as f32) * field;
                mesh.colored_vertex(at, self.on(palette::VOID, at));
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let a = row * (columns + 1) + column;
                let c = a + columns + 1;
                mesh.add_triangle(a, a + 1, c);
                mesh.add_triangle(a + 1, c, c + 1);
            }
        }
        let pixels = painter.pixels_per_point();
        for n in 0..=(screen.width() / STEP) as u32 {
            let from = pos2(screen.left() + n as f32 * STEP, screen.top());
            mesh.append(self.line(pixels, from, vec2(0.0, field.y), rows));
        }
        for n in 0..=(screen.height() / STEP) as u32 {
            let from = pos2(screen.left(), screen.top() + n as f32 * STEP);
            mesh.append(self.line(pixels, from, vec2(field.x, 0.0), columns));
        }
        painter.add(Shape::mesh(mesh));
    }

    /// A line of a number of steps, one of the `pixels` of a point wide.
    fn line(self, pixels: f32, from: Pos2, step: egui_macroquad::egui::Vec2, steps: u32) -> Mesh {
        let mut mesh = Mesh::default();
        let near = from.round_to_pixels(pixels);
        let aside = step.normalized().rot90().abs() / pixels;
        for n in 0..=steps {
            let at = near + step * n as f32;
            let color = self.on(palette::VOID_GRID, at);
            mesh.colored_vertex(at, color);
            mesh.colored_vertex(at + aside, color);
        }
        for n in 0..steps {
            let a = 2 * n;
            mesh.add_triangle(a, a + 1, a + 2);
            mesh.add_triangle(a + 1, a + 2, a + 3);
        }
        mesh
    }
}

/// Paints the waves at height `y` in points, at `time` in seconds.
pub fn draw(painter: &Painter, screen: Rect, y: f32, time: f64) {
    let middle = pos2(screen.center().x, y);
    Light { screen, middle }.draw(painter);

    // It starts most of a turn behind and is pulled in with some overshoot, as a loop with a
    // proportional and an integral part does.
    let age = (time % f64::from(PERIOD)) as f32;
    let behind = 0.42 * (-0.9 * age).exp() * (1.7 * age).cos();
    let travel = (time * 0.22).fract() as f32;
    let height = screen.height() * 0.055;
    let wave = |turns: f32| -> Vec<Pos2> {
        (0..=WAVE_POINTS)
            .map(|n| {
                let x = n as f32 / WAVE_POINTS as f32;
                let angle = (x * WAVES - travel - turns) * std::f32::consts::TAU;
                // Quieter towards the window's edges. The sine of pi, rounded, is below zero.
                let swell = 0.3 + 0.7 * (x * std::f32::consts::PI).sin().max(0.0).powf(0.7);
                pos2(screen.left() + x * screen.width(), middle.y + angle.sin() * swell * height)
            })
            .collect()
    };
    let locked = 1.0 - (behind.abs() * 6.0).min(1.0);
    for (turns, color) in [(0.0, palette::OWN), (behind, palette::FOE)] {
        let points = wave(turns);
        for (width, strength) in [(7.0, 0.05 + 0.05 * locked), (1.8, 0.5)] {
            let stroke = PathStroke::new(width, fade(color, strength));
            painter.add(Shape::line(points.clone(), stroke));
        }
    }
}

/// The program's icon.
pub fn icon() -> Icon {
    Icon { small: pixels::<1024, 16>(), medium: pixels::<4096, 32>(), big: pixels::<16384, 64>() }
}

/// A square of `SIDE` by `SIDE` pixels of four bytes: a ring with a wave through it.
fn pixels<const BYTES: usize, const SIDE: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let pixel = 2.0 / SIDE as f32;
    // Coverage of a pixel that is `away` from the middle of a line of half-width `half`.
    let cover = |away: f32, half: f32| ((half - away) / pixel + 0.5).clamp(0.0, 1.0);
    for (n, rgba) in bytes.chunks_exact_mut(4).enumerate() {
        let x = ((n % SIDE) as f32 + 0.5) * pixel - 1.0;
        let y = ((n / SIDE) as f32 + 0.5) * pixel - 1.0;
        let from_middle = x.hypot(y);
        let ring = cover((from_middle - 0.84).abs(), 0.1);
        let slope = (x * std::f32::consts::PI).cos();
        let wave =
            (y + 0.36 * (x * std::f32::consts::PI).sin()).abs() / (1.0 + slope * slope).sqrt();
        let wave = cover(wave, 0.1) * cover(from_middle, 0.84);
        let disc = cover(from_middle, 0.9);
        let color = [(palette::CARD, 1.0_f32), (palette::FOE, wave), (palette::OWN, ring)];
        for (part, byte) in rgba.iter_mut().take(3).enumerate() {
            let over = |below: f32, (color, cover): (Color32, f32)| {
                below + (f32::from(color.to_array()[part]) - below) * cover
            };
            *byte = color.into_iter().fold(0.0, over) as u8;
        }
        rgba[3] = (disc.max(ring) * 255.0) as u8;
    }
    bytes
}

//! The circuit's picture: lawn, road, kerbs, lines, barriers, the grid.

use egui_macroquad::egui::epaint::{Mesh, PathStroke};
use egui_macroquad::egui::{Color32, Painter, Pos2, Shape, Stroke};
use glam::Vec2;
use phaselock_games::race::track::{BARRIER, BEND, HALF_WIDTH, KERB, Track};

use phaselock_client::camera::Camera;
use phaselock_client::paint::{fade, mix, quad, triangle};
use phaselock_client::palette;

/// Metres painted beyond the picture.
const MARGIN: f32 = 8.0;
/// Side of a patch of lawn with a tuft of grass, in metres.
const PATCH: f32 = 4.5;
/// Width of a mown stripe, in metres.
const MOWN: f32 = 11.0;
/// Height of barriers, as a share of the camera's height.
const BARRIER_HEIGHT: f32 = 0.012;
/// Painted slots of the grid.
const SLOTS: usize = 32;

/// The road in pieces, made once.
#[derive(Debug)]
pub(super) struct Ground {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    at: Vec2,
    right: Vec2,
    /// Distance of the racing line from the middle; rubber makes it darker.
    line: f32,
    kerb: bool,
    /// Positions of the barriers, left and right; none where other parts of the track lie behind.
    barriers: [Option<Vec2>; 2],
}

impl Default for Ground {
    fn default() -> Self {
        let track = Track::get();
        let pieces = track.samples.iter().map(|sample| {
            let right = sample.along.perp();
            let barriers = [-1.0, 1.0].map(|side: f32| {
                let at = sample.at + right * (side * (BARRIER + 0.45));
                (track.spot(at).beside.abs() > BARRIER - 0.1).then_some(at)
            });
            let kerb = sample.curvature.abs() >= BEND;
            Piece { at: sample.at, right, line: sample.line, kerb, barriers }
        });
        Self { pieces: pieces.collect() }
    }
}

/// A stripe along the road, between two distances from its middle.
fn stripe(mesh: &mut Mesh, camera: Camera, [a, b]: [&Piece; 2], from: [f32; 2], color: Color32) {
    let corner = |piece: &Piece, aside: f32| camera.to_screen(piece.at + piece.right * aside);
    let [left, right] = from;
    quad(mesh, [corner(a, left), corner(a, right), corner(b, right), corner(b, left)], color);
}

/// A pseudo-random number from 0 up to 1 for a patch of the lawn.
fn chance(x: i32, y: i32, salt: u32) -> f32 {
    let mut bits =
        (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77) ^ salt;
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x2c1b_3c6d);
    bits = (bits ^ (bits >> 12)).wrapping_mul(0x297a_2d39);
    (bits >> 8) as f32 / (1 << 24) as f32
}

impl Ground {
    /// Paints everything beneath the cars, on a window of the lawn's colour.
    pub(super) fn draw(&self, painter: &Painter, camera: Camera) {
        lawn(painter, camera);
        let seen = |piece: &Piece| camera.sees(piece.at, BARRIER + MARGIN);
        let count = self.pieces.len();
        let pairs: Vec<_> = (0..count)
            .map(|n| [&self.pieces[n], &self.pieces[(n + 1) % count]])
            .zip(0_usize..)
            .filter(|([a, b], _)| seen(a) || seen(b))
            .collect();
        let mut mesh = Mesh::default();
        let shoulder = mix(palette::GRASS, palette::EARTH, 0.45);
        for (pair, _) in &pairs {
            stripe(&mut mesh, camera, *pair, [-HALF_WIDTH - 2.4, HALF_WIDTH + 2.4], shoulder);
        }
        for (pair, n) in &pairs {
            if pair[0].kerb {
                // Stripes can be told without colours.
                let color = if n % 2 == 0 { palette::KERB } else { palette::TEXT };
                let out = HALF_WIDTH + KERB;
                stripe(&mut mesh, camera, *pair, [-out, -HALF_WIDTH], fade_solid(color));
                stripe(&mut mesh, camera, *pair, [HALF_WIDTH, out], fade_solid(color));
            }
        }
        for (pair, _) in &pairs {
            stripe(&mut mesh, camera, *pair, [-HALF_WIDTH, HALF_WIDTH], palette::ASPHALT);
        }
        for ([a, b], _) in &pairs {
            for (half_width, strength) in [(2.4, 0.16), (1.2, 0.2)] {
                let color = fade(palette::RUBBER, strength);
                let edge = |piece: &Piece, by: f32| {
                    let most = HALF_WIDTH - 0.4;
                    let aside = (piece.line + by).clamp(-most, most);
                    camera.to_screen(piece.at + piece.right * aside)
                };
                let [left, right] = [-half_width, half_width];
                quad(
                    &mut mesh,
                    [edge(a, left), edge(a, right), edge(b, right), edge(b, left)],
                    color,
                );
            }
        }
        painter.add(Shape::mesh(mesh));

        let white = Stroke::new((0.16 * camera.scale).max(1.0), fade(palette::TEXT, 0.75));
        for side in [-1.0, 1.0] {
            let edge = |piece: &Piece| Some(piece.at + piece.right * (side * (HALF_WIDTH - 0.3)));
            self.run(painter, camera, &seen, edge, white);
        }
        grid(painter, camera);
    }

    pub(super) fn draw_barriers(&self, painter: &Painter, camera: Camera) {
        let seen = |piece: &Piece| camera.sees(piece.at, BARRIER + MARGIN);
        for side in 0..2 {
            let at = |piece: &Piece| piece.barriers[side];
            let wide = |metres: f32, color| Stroke::new((metres * camera.scale).max(1.5), color);
            let below = Camera { middle: camera.middle - Vec2::new(0.18, 0.3), ..camera };
            self.run(painter, below, &seen, at, wide(0.9, Color32::from_black_alpha(90)));
            self.run(painter, camera, &seen, at, wide(0.75, palette::WALL_SIDE_DARK));
            let scale = camera.scale * (1.0 + BARRIER_HEIGHT);
            let top = Camera { scale, ..camera };
            self.run(painter, top, &seen, at, wide(0.6, palette::WALL_TOP));
            self.run(painter, top, &seen, at, wide(0.14, palette::WALL_RIM));
        }
    }

    /// Paints the visible part of a line along the road.
    fn run(
        &self,
        painter: &Painter,
        camera: Camera,
        seen: &impl Fn(&Piece) -> bool,
        at: impl Fn(&Piece) -> Option<Vec2>,
        stroke: Stroke,
    ) {
        let mut points: Vec<Pos2> = Vec::new();
        let closed = self.pieces.iter().chain(self.pieces.first());
        for piece in closed {
            match at(piece).filter(|_| seen(piece)) {
                Some(at) => points.push(camera.to_screen(at)),
                None => line(painter, &mut points, stroke),
            }
        }
        line(painter, &mut points, stroke);
    }
}

fn line(painter: &Painter, points: &mut Vec<Pos2>, stroke: Stroke) {
    let points = std::mem::take(points);
    if points.len() > 1 {
        painter.add(Shape::line(points, PathStroke::from(stroke)));
    }
}

/// Somewhat worn paint on the road.
fn fade_solid(color: Color32) -> Color32 {
    mix(color, palette::ASPHALT, 0.16)
}

/// Mown stripes and tufts.
fn lawn(painter: &Painter, camera: Camera) {
    let (low, high) = (camera.middle - camera.half(), camera.middle + camera.half());
    let mut mesh = Mesh::default();
    // Stripes lean: x + y / 4 is constant along them.
    let across = |point: Vec2| point.x + 0.25 * point.y;
    let first = (across(low) / (2.0 * MOWN)).floor() as i32;
    let last = (across(high) / (2.0 * MOWN)).ceil() as i32;
    for n in first..=last {
        let x = n as f32 * 2.0 * MOWN;
        let corner = |x: f32, y: f32| camera.to_screen(Vec2::new(x - 0.25 * y, y));
        let ends = [(x, low.y), (x + MOWN, low.y), (x + MOWN, high.y), (x, high.y)];
        quad(&mut mesh, ends.map(|(x, y)| corner(x, y)), palette::GRASS_STRIPE);
    }
    let tuft = fade(palette::GRASS_TUFT, 0.7);
    let (from, to) = ((low / PATCH).floor(), (high / PATCH).ceil());
    for row in from.y as i32..to.y as i32 {
        for column in from.x as i32..to.x as i32 {
            let off = Vec2::new(chance(column, row, 1), chance(column, row, 2));
            let at = (Vec2::new(column as f32, row as f32) + off) * PATCH;
            let tall = 0.25 + 0.45 * chance(column, row, 3);
            for lean in [-0.32, 0.0, 0.3] {
                let foot = |by: f32| camera.to_screen(at + Vec2::new(lean * 0.6 + by, 0.0));
                let tip = camera.to_screen(at + Vec2::new(lean, -tall));
                triangle(&mut mesh, [foot(-0.06), foot(0.06), tip].map(|point| (point, tuft)));
            }
        }
    }
    painter.add(Shape::mesh(mesh));
}

/// The chequered line, and the slots behind it.
fn grid(painter: &Painter, camera: Camera) {
    let track = Track::get();
    let seen = |at: Vec2| camera.sees(at, MARGIN);
    if seen(track.samples[0].at) {
        let (at, along) = (track.samples[0].at, track.samples[0].along);
        let right = along.perp();
        let mut mesh = Mesh::default();
        let columns = (HALF_WIDTH * 2.0) as i32;
        for row in 0..2 {
            for column in 0..columns {
                let color = if (row + column) % 2 == 0 { palette::TEXT } else { palette::VOID };
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| {
                    let beside = (column + x) as f32 - HALF_WIDTH;
                    camera.to_screen(at + right * beside + along * ((row + y) as f32 - 1.0))
                });
                quad(&mut mesh, corners, mix(color, palette::ASPHALT, 0.12));
            }
        }
        painter.add(Shape::mesh(mesh));
    }
    let white = Stroke::new((0.13 * camera.scale).max(1.0), fade(palette::TEXT, 0.5));
    for slot in 0..SLOTS {
        let (station, beside) = track.slot(slot, SLOTS);
        let at = track.position(station, beside);
        if !seen(at) {
            continue;
        }
        let along = track.sample(station).along;
        let corner = |x: f32, y: f32| camera.to_screen(at + along.perp() * x + along * y);
        let points = vec![corner(-1.4, 1.4), corner(-1.4, 2.6), corner(1.4, 2.6), corner(1.4, 1.4)];
        painter.add(Shape::line(points, PathStroke::from(white)));
    }
}

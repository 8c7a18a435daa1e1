//! The circuit's picture: lawn, road, kerbs, lines, barriers, the grid.

use phaselock_games::race::track::{BARRIER, BEND, HALF_WIDTH, KERB, Track};
use phaselock_ui::prelude::*;

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
    /// Positions of the barriers, left and right; `None` where other parts of the track lie behind.
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

impl Piece {
    fn aside(&self, by: f32) -> Vec2 {
        self.at + self.right * by
    }
}

/// Adds a stripe along the road, between two distances from the middle of each end.
fn stripe(
    (brush, mesh): (&Brush<'_>, &mut Mesh),
    [a, b]: [&Piece; 2],
    [from, to]: [[f32; 2]; 2],
    color: Color32,
) {
    let corners = [a.aside(from[0]), a.aside(from[1]), b.aside(to[1]), b.aside(to[0])];
    brush.quad(mesh, corners, color);
}

impl Ground {
    /// Paints everything beneath the cars, in a window of the lawn's colour.
    pub(super) fn draw(&self, brush: &Brush<'_>) {
        lawn(brush);
        let seen = |piece: &Piece| brush.camera.sees(piece.at, BARRIER + MARGIN);
        let count = self.pieces.len();
        let pairs: Vec<_> = (0..count)
            .map(|n| [&self.pieces[n], &self.pieces[(n + 1) % count]])
            .zip(0_usize..)
            .filter(|([a, b], _)| seen(a) || seen(b))
            .collect();
        let mut mesh = Mesh::default();
        let mut stripe = |pair: &[&Piece; 2], [left, right]: [f32; 2], color: Color32| {
            stripe((brush, &mut mesh), *pair, [[left, right]; 2], color);
        };
        let shoulder = mix(palette::GRASS, palette::EARTH, 0.45);
        for (pair, _) in &pairs {
            stripe(pair, [-HALF_WIDTH - 2.4, HALF_WIDTH + 2.4], shoulder);
        }
        for (pair, n) in pairs.iter().filter(|(pair, _)| pair[0].kerb) {
            // Stripes can be seen without colours.
            let color = if n % 2 == 0 { palette::KERB } else { palette::TEXT };
            // The paint is somewhat worn.
            let color = mix(color, palette::ASPHALT, 0.16);
            stripe(pair, [-HALF_WIDTH - KERB, -HALF_WIDTH], color);
            stripe(pair, [HALF_WIDTH, HALF_WIDTH + KERB], color);
        }
        for (pair, _) in &pairs {
            stripe(pair, [-HALF_WIDTH, HALF_WIDTH], palette::ASPHALT);
        }
        for (pair, _) in &pairs {
            for (half_width, strength) in [(2.4, 0.16), (1.2, 0.2)] {
                let most = HALF_WIDTH - 0.4;
                let sides = pair.map(|piece| {
                    [-half_width, half_width].map(|by| (piece.line + by).clamp(-most, most))
                });
                let color = fade(palette::RUBBER, strength);
                self::stripe((brush, &mut mesh), *pair, sides, color);
            }
        }
        brush.painter.add(Shape::mesh(mesh));

        let white = Stroke::new((0.16 * brush.metre).max(1.0), fade(palette::TEXT, 0.75));
        for side in [-1.0, 1.0] {
            let edge = |piece: &Piece| Some(piece.aside(side * (HALF_WIDTH - 0.3)));
            self.run(brush, &seen, edge, white);
        }
        grid(brush);
    }

    pub(super) fn draw_barriers(&self, brush: &Brush<'_>) {
        let seen = |piece: &Piece| brush.camera.sees(piece.at, BARRIER + MARGIN);
        let (below, top) = (brush.local((0.18, 0.3), Vec2::X), brush.raised(BARRIER_HEIGHT));
        for side in 0..2 {
            let run = |brush: &Brush<'_>, width: f32, color| {
                let stroke = Stroke::new((width * brush.metre).max(1.5), color);
                self.run(brush, &seen, |piece| piece.barriers[side], stroke);
            };
            run(&below, 0.9, Color32::from_black_alpha(90));
            run(brush, 0.75, palette::WALL_SIDE_DARK);
            run(&top, 0.6, palette::WALL_TOP);
            run(&top, 0.14, palette::WALL_RIM);
        }
    }

    /// Paints the visible part of a line along the road.
    fn run(
        &self,
        brush: &Brush<'_>,
        seen: &impl Fn(&Piece) -> bool,
        at: impl Fn(&Piece) -> Option<Vec2>,
        stroke: Stroke,
    ) {
        let closed = self.pieces.iter().chain(self.pieces.first());
        let points: Vec<_> = closed.map(|piece| at(piece).filter(|_| seen(piece))).collect();
        for part in points.split(Option::is_none).filter(|part| part.len() > 1) {
            brush.path(part.iter().flatten().copied(), stroke);
        }
    }
}

/// Mown stripes and tufts.
fn lawn(brush: &Brush<'_>) {
    let (low, high) =
        (brush.camera.middle - brush.camera.half(), brush.camera.middle + brush.camera.half());
    let mut mesh = Mesh::default();
    // Stripes lean: x + y / 4 is constant along them.
    let across = |point: Vec2| point.x + 0.25 * point.y;
    let first = (across(low) / (2.0 * MOWN)).floor() as i32;
    let last = (across(high) / (2.0 * MOWN)).ceil() as i32;
    for n in first..=last {
        let x = n as f32 * 2.0 * MOWN;
        let ends = [(x, low.y), (x + MOWN, low.y), (x + MOWN, high.y), (x, high.y)];
        let corners = ends.map(|(x, y)| (x - 0.25 * y, y));
        brush.quad(&mut mesh, corners, palette::GRASS_STRIPE);
    }
    let tuft = fade(palette::GRASS_TUFT, 0.7);
    let (from, to) = ((low / PATCH).floor(), (high / PATCH).ceil());
    for row in from.y as i32..to.y as i32 {
        for column in from.x as i32..to.x as i32 {
            let off = Vec2::new(chance(column, row, 1), chance(column, row, 2));
            let at = (Vec2::new(column as f32, row as f32) + off) * PATCH;
            let tall = 0.25 + 0.45 * chance(column, row, 3);
            for lean in [-0.32, 0.0, 0.3] {
                let corners = [(lean * 0.6 - 0.06, 0.0), (lean * 0.6 + 0.06, 0.0), (lean, -tall)];
                let corners = corners.map(|off| (at + Vec2::from(off), tuft));
                brush.fan(&mut mesh, corners);
            }
        }
    }
    brush.painter.add(Shape::mesh(mesh));
}

/// The chequered line, and the slots behind it.
fn grid(brush: &Brush<'_>) {
    let track = Track::get();
    let seen = |at: Vec2| brush.camera.sees(at, MARGIN);
    let start = &track.samples[0];
    if seen(start.at) {
        let line = brush.local(start.at, start.along);
        let mut mesh = Mesh::default();
        for row in 0..2 {
            for column in 0..(HALF_WIDTH * 2.0) as i32 {
                let color = if (row + column) % 2 == 0 { palette::TEXT } else { palette::VOID };
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
                    .map(|(x, y)| ((row + y) as f32 - 1.0, (column + x) as f32 - HALF_WIDTH));
                line.quad(&mut mesh, corners, mix(color, palette::ASPHALT, 0.12));
            }
        }
        brush.painter.add(Shape::mesh(mesh));
    }
    let white = Stroke::new((0.13 * brush.metre).max(1.0), fade(palette::TEXT, 0.5));
    for slot in 0..SLOTS {
        let (station, beside) = track.slot(slot, SLOTS);
        let at = track.position(station, beside);
        if seen(at) {
            let slot = brush.local(at, track.sample(station).along);
            slot.path([(1.4, -1.4), (2.6, -1.4), (2.6, 1.4), (1.4, 1.4)], white);
        }
    }
}

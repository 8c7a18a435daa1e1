//! The platformer's level: sky, hills, tiles with their edges and grass, and moving things.

use std::sync::LazyLock;

use egui_macroquad::egui::epaint::Mesh;
use egui_macroquad::egui::{
    Align2, Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2,
};
use glam::Vec2;
use phaselock_games::platformer::Player;
use phaselock_games::platformer::level::{Level, PLATFORMS, Platform, Tile};

use phaselock_client::camera::Camera;
use phaselock_client::paint::{fade, glow, light, mix, quad, quad_shaded, text_over, triangle};
use phaselock_client::palette;

/// The sky at its top and at the horizon.
const SKY: [Color32; 2] = [palette::VOID, palette::MARKING];
/// Distant hills: share of the camera's motion, height and waves in metres, share of the horizon's
/// light.
const HILLS: [Hills; 3] = [
    Hills { slow: 0.12, height: 6.0, rough: 2.6, wave: 0.11, haze: 0.55 },
    Hills { slow: 0.28, height: 3.8, rough: 2.0, wave: 0.17, haze: 0.35 },
    Hills { slow: 0.5, height: 1.2, rough: 1.5, wave: 0.31, haze: 0.15 },
];

struct Hills {
    slow: f32,
    height: f32,
    rough: f32,
    wave: f32,
    haze: f32,
}

impl Hills {
    /// Height at a position, in metres.
    fn at(&self, x: f32) -> f32 {
        let x = x * self.wave;
        self.height
            + self.rough * (x.sin() * 0.6 + (x * 2.3 + 1.0).sin() * 0.3 + (x * 5.1).sin() * 0.1)
    }
}

/// Coloured shapes in metres, painted in one go.
struct Quads {
    mesh: Mesh,
    camera: Camera,
}

impl Quads {
    fn new(camera: Camera) -> Self {
        Self { mesh: Mesh::default(), camera }
    }

    /// A rectangle with a colour above and one below.
    fn rect(&mut self, min: Vec2, max: Vec2, [above, below]: [Color32; 2]) {
        self.corners(min, max, [above, above, below, below]);
    }

    /// A rectangle with a colour for each corner, clockwise from the least.
    fn corners(&mut self, min: Vec2, max: Vec2, [a, b, c, d]: [Color32; 4]) {
        let corner = |x: f32, y: f32, color| (self.camera.to_screen(Vec2::new(x, y)), color);
        let corners = [
            corner(min.x, min.y, a),
            corner(max.x, min.y, b),
            corner(max.x, max.y, c),
            corner(min.x, max.y, d),
        ];
        quad_shaded(&mut self.mesh, corners);
    }

    fn triangle(&mut self, [a, b, tip]: [Vec2; 3], [foot, top]: [Color32; 2]) {
        let corners = [(a, foot), (b, foot), (tip, top)];
        let corners = corners.map(|(at, color)| (self.camera.to_screen(at), color));
        triangle(&mut self.mesh, corners);
    }

    fn paint(self, painter: &Painter) {
        painter.add(Shape::mesh(self.mesh));
    }
}

/// A pseudo-random number from 0 up to 1 for a tile.
fn dice(column: i32, row: i32, salt: u32) -> f32 {
    let mixed = (column as u32).wrapping_mul(0x9e37_79b9) ^ (row as u32).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ salt.wrapping_mul(0xc2b2_ae35)).wrapping_mul(0x27d4_eb2f);
    ((mixed ^ (mixed >> 15)) & 0xffff) as f32 / 65536.0
}

pub(super) fn draw_sky(painter: &Painter, camera: Camera, age_secs: f32) {
    let screen = camera.screen;
    let mut mesh = Mesh::default();
    let corners = [
        (screen.left_top(), SKY[0]),
        (screen.right_top(), SKY[0]),
        (screen.right_bottom(), SKY[1]),
        (screen.left_bottom(), SKY[1]),
    ];
    quad_shaded(&mut mesh, corners);
    painter.add(Shape::mesh(mesh));
    let moon = screen.left_top() + vec2(screen.width() * 0.78, screen.height() * 0.2);
    glow(painter, moon, screen.height() * 0.4, light(palette::OWN, 0.1));
    painter.circle_filled(moon, screen.height() * 0.045, fade(palette::TEXT, 0.85));
    for n in 0..70 {
        let (x, y) = (dice(n, 0, 1), dice(n, 0, 2));
        let drift = camera.middle.x * 0.002;
        let at = pos2(
            screen.left() + (x - drift).rem_euclid(1.0) * screen.width(),
            screen.top() + y * 0.7 * screen.height(),
        );
        let twinkle = 0.35 + 0.3 * (age_secs * (0.6 + x) + y * 40.0).sin();
        painter.circle_filled(at, 0.7 + dice(n, 0, 3), light(palette::TEXT, twinkle));
    }
    for hills in &HILLS {
        draw_hills(painter, camera, hills);
    }
}

fn draw_hills(painter: &Painter, camera: Camera, hills: &Hills) {
    const STEPS: usize = 64;
    let screen = camera.screen;
    let color = mix(palette::VOID, palette::GRID_MAJOR, 0.4 + hills.haze);
    let foot = mix(color, SKY[1], 0.35);
    // Distant hills move more slowly in both directions.
    let middle = camera.middle * hills.slow;
    let horizon = screen.center().y + (6.0 - (camera.middle.y - 12.0) * hills.slow) * camera.scale;
    let mut mesh = Mesh::default();
    for step in 0..=STEPS {
        let x = screen.left() + screen.width() * step as f32 / STEPS as f32;
        let along = middle.x + (x - screen.center().x) / camera.scale + hills.slow * 500.0;
        mesh.colored_vertex(pos2(x, horizon - hills.at(along) * camera.scale), color);
        mesh.colored_vertex(pos2(x, screen.bottom().max(horizon)), foot);
    }
    for step in 0..STEPS as u32 {
        let first = step * 2;
        mesh.add_triangle(first, first + 1, first + 2);
        mesh.add_triangle(first + 1, first + 2, first + 3);
    }
    painter.add(Shape::mesh(mesh));
}

/// Visible columns and rows.
fn seen(level: &Level, camera: Camera) -> (std::ops::Range<i32>, std::ops::Range<i32>) {
    let (min, max) = (camera.middle - camera.half(), camera.middle + camera.half());
    // One more on each side, and some below the level.
    let columns = min.x.floor() as i32 - 1..max.x.ceil() as i32 + 1;
    (
        columns,
        (min.y.floor() as i32 - 1).max(-1)..(max.y.ceil() as i32 + 1).min(level.height as i32 + 12),
    )
}

/// True on solid ground; below the level its last row goes on.
fn is_ground(level: &Level, column: i32, row: i32) -> bool {
    if !(0..level.width as i32).contains(&column) {
        return true;
    }
    level.is_solid(column, row.min(level.height as i32 - 1))
}

pub(super) fn draw_tiles(painter: &Painter, camera: Camera, level: &Level, age_secs: f32) {
    let (columns, rows) = seen(level, camera);
    let mut quads = Quads::new(camera);
    for row in rows {
        for column in columns.clone() {
            let min = Vec2::new(column as f32, row as f32);
            if is_ground(level, column, row) {
                ground(&mut quads, level, column, row);
                continue;
            }
            match level.tile(column, row) {
                Tile::Board => board(&mut quads, level, column, row),
                Tile::Spikes => {
                    for n in 0..3 {
                        let x = min.x + n as f32 / 3.0;
                        let foot = [Vec2::new(x, min.y + 1.0), Vec2::new(x + 0.333, min.y + 1.0)];
                        let tip = Vec2::new(x + 0.167, min.y + 0.38);
                        let colors = [palette::WALL_SIDE_DARK, palette::BAD];
                        quads.triangle([foot[0], foot[1], tip], colors);
                    }
                }
                Tile::Spring => {
                    let sway = 0.03 * (age_secs * 5.0).sin();
                    let top = min + Vec2::new(0.08, 0.5 + sway);
                    for n in 0..3 {
                        let y = min.y + 0.66 + n as f32 * 0.12;
                        let (left, right) = (min.x + 0.25, min.x + 0.75);
                        let (from, to) = (Vec2::new(left, y), Vec2::new(right, y + 0.05));
                        quads.rect(from, to, [palette::STEEL; 2]);
                    }
                    let colors = [palette::GOOD, palette::OWN_DARK];
                    quads.rect(top, top + Vec2::new(0.84, 0.14), colors);
                }
                Tile::Air | Tile::Solid => {}
            }
        }
    }
    quads.paint(painter);
}

/// Colour of the ground at a corner of a tile: the farther from the air, the darker.
fn shade(column: i32, row: i32) -> Color32 {
    static DEPTHS: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let level = Level::the();
        let near = |(column, row): (i32, i32), reach: i32| {
            let side = -reach..reach;
            side.clone().any(|dx| side.clone().any(|dy| !is_ground(level, column + dx, row + dy)))
        };
        let depth = |corner| (1..5).take_while(|reach| !near(corner, *reach)).count() as f32;
        let rows = 0..=level.height as i32;
        rows.flat_map(|row| (0..=level.width as i32).map(move |column| (column, row)))
            .map(depth)
            .collect()
    });
    let level = Level::the();
    let (width, height) = (level.width as i32, level.height as i32);
    let at = row.clamp(0, height) * (width + 1) + column.clamp(0, width);
    let below = (row - height).max(0) as f32;
    let depth = DEPTHS.get(at as usize).copied().unwrap_or(0.0) + below;
    mix(palette::WALL_SIDE, palette::VOID, (depth * 0.19).min(0.78))
}

fn ground(quads: &mut Quads, level: &Level, column: i32, row: i32) {
    let min = Vec2::new(column as f32, row as f32);
    let air = |dx: i32, dy: i32| !is_ground(level, column + dx, row + dy);
    let [above, below] = [0, 1].map(|down| [0, 1].map(|right| shade(column + right, row + down)));
    quads.corners(min, min + 1.0, [above[0], above[1], below[1], below[0]]);
    // Stones here and there.
    if dice(column, row, 5) < 0.45 {
        let at =
            min + Vec2::new(0.15 + 0.5 * dice(column, row, 6), 0.3 + 0.4 * dice(column, row, 7));
        let size = Vec2::new(0.12 + 0.16 * dice(column, row, 8), 0.1);
        quads.rect(at, at + size, [fade(palette::WALL_TOP, 0.28), fade(palette::WALL_TOP, 0.1)]);
    }
    let rim = [fade(palette::WALL_RIM, 0.55), fade(palette::WALL_RIM, 0.3)];
    if air(-1, 0) {
        quads.rect(min, min + Vec2::new(0.07, 1.0), rim);
    }
    if air(1, 0) {
        quads.rect(min + Vec2::new(0.93, 0.0), min + 1.0, rim);
    }
    if air(0, 1) {
        quads.rect(min + Vec2::new(0.0, 0.9), min + 1.0, [palette::VOID; 2]);
    }
    if air(0, -1) {
        let grass = mix(palette::GOOD, palette::OWN_DARK, 0.25);
        let dark = mix(palette::GOOD, palette::VOID, 0.62);
        quads.rect(min, min + Vec2::new(1.0, 0.16), [grass, dark]);
        for n in 0..5 {
            let x = min.x + 0.1 + n as f32 * 0.19 + 0.08 * dice(column, n, 9);
            let high = 0.1 + 0.16 * dice(column, n, 10);
            let foot = [Vec2::new(x - 0.05, min.y + 0.02), Vec2::new(x + 0.05, min.y + 0.02)];
            let lean = 0.1 * (dice(column, n, 11) - 0.5);
            quads.triangle([foot[0], foot[1], Vec2::new(x + lean, min.y - high)], [dark, grass]);
            // And down over the edge, in fringes.
            let low = 0.2 + 0.16 * dice(column, n, 12);
            let foot = [Vec2::new(x - 0.1, min.y + 0.14), Vec2::new(x + 0.1, min.y + 0.14)];
            quads.triangle([foot[0], foot[1], Vec2::new(x, min.y + low)], [dark, dark]);
        }
    }
}

fn board(quads: &mut Quads, level: &Level, column: i32, row: i32) {
    let min = Vec2::new(column as f32, row as f32);
    let ends = |side: i32| level.tile(column + side, row) != Tile::Board;
    let left = if ends(-1) { 0.04 } else { 0.0 };
    let right = if ends(1) { 0.96 } else { 1.0 };
    let wood = [palette::WALL_RIM, palette::WALL_SIDE];
    quads.rect(min + Vec2::new(left, 0.0), min + Vec2::new(right, 0.24), wood);
    quads.rect(min + Vec2::new(left, 0.0), min + Vec2::new(right, 0.06), [palette::STEEL; 2]);
    let seam = 0.35 + 0.3 * dice(column, row, 13);
    quads.rect(min + Vec2::new(seam, 0.06), min + Vec2::new(seam + 0.03, 0.24), [palette::VOID; 2]);
    if ends(-1) || ends(1) {
        let x = if ends(-1) { 0.14 } else { 0.78 };
        let colors = [palette::WALL_SIDE, fade(palette::WALL_SIDE, 0.0)];
        quads.rect(min + Vec2::new(x, 0.24), min + Vec2::new(x + 0.08, 0.6), colors);
    }
}

/// Paints the platforms at a point of the cycle, with their ways.
pub(super) fn draw_platforms(painter: &Painter, camera: Camera, clock: f32) {
    for platform in &PLATFORMS {
        let at = platform.at(clock);
        let reach = camera.half() + platform.half + 9.0;
        if (at - camera.middle).abs().cmpgt(reach).any() {
            continue;
        }
        draw_way(painter, camera, platform);
        let size = vec2(2.0 * platform.half, 0.36) * camera.scale;
        let top = camera.to_screen(at);
        let rect = Rect::from_min_size(pos2(top.x - size.x / 2.0, top.y), size);
        glow(painter, rect.center_bottom(), size.x * 0.6, light(palette::WARN, 0.09));
        let edge = Stroke::new(0.05 * camera.scale, palette::STEEL);
        let corner = 0.12 * camera.scale;
        painter.rect(rect, corner, palette::WALL_SIDE, edge, StrokeKind::Inside);
        let shine = Rect::from_min_size(rect.min, vec2(size.x, 0.09 * camera.scale));
        painter.rect_filled(shine, corner, palette::TEXT_SOFT);
        // Chevrons to either side say that it moves.
        for side in [-1.0, 1.0] {
            for n in 1..3 {
                let x = rect.center().x + side * n as f32 * 0.22 * camera.scale;
                let tip =
                    pos2(x + side * 0.1 * camera.scale, rect.center().y + 0.04 * camera.scale);
                let back = |dy: f32| pos2(x, tip.y + dy * camera.scale);
                let stroke = Stroke::new(0.05 * camera.scale, fade(palette::WARN, 0.85));
                painter.line_segment([back(-0.08), tip], stroke);
                painter.line_segment([tip, back(0.08)], stroke);
            }
        }
    }
}

fn draw_way(painter: &Painter, camera: Camera, platform: &Platform) {
    let [from, to] = [platform.from, platform.to].map(|end| camera.to_screen(end + Vec2::Y * 0.18));
    let steps = (platform.from.distance(platform.to) / 0.5) as u32;
    for n in 0..=steps {
        let at = from + (to - from) * (n as f32 / steps.max(1) as f32);
        painter.circle_filled(at, 0.04 * camera.scale, fade(palette::TEXT_FAINT, 0.5));
    }
    for end in [from, to] {
        let stroke = Stroke::new(1.5, fade(palette::TEXT_FAINT, 0.6));
        painter.circle_stroke(end, 0.1 * camera.scale, stroke);
    }
}

/// Paints coins, hollow where the own player has been, and flags.
pub(super) fn draw_things(
    painter: &Painter,
    camera: Camera,
    level: &Level,
    own: Option<&Player>,
    age_secs: f32,
) {
    let near = |x: f32| (x - camera.middle.x).abs() < camera.half().x + 2.0;
    for (coin, number) in level.coins.iter().zip(0..) {
        if !near(coin.x) {
            continue;
        }
        let at = camera.to_screen(*coin);
        let radius = 0.26 * camera.scale;
        if own.is_some_and(|own| own.has_coin(number)) {
            let stroke = Stroke::new(1.0, fade(palette::TEXT_FAINT, 0.4));
            painter.circle_stroke(at, radius * 0.5, stroke);
            continue;
        }
        let spin = (age_secs * 3.2 + coin.x * 0.35).sin();
        let bob = vec2(0.0, (age_secs * 2.0 + coin.x).sin() * 0.05 * camera.scale);
        let width = (radius * spin.abs()).max(0.06 * camera.scale);
        glow(painter, at + bob, radius * 2.2, light(palette::WARN, 0.16));
        let oval = |scale: f32, color: Color32| {
            let size = vec2(width * scale, radius * scale);
            painter.add(Shape::ellipse_filled(at + bob, size, color));
        };
        oval(1.0, mix(palette::WARN, palette::FOE_DARK, 0.45));
        oval(0.82, palette::WARN);
        if spin.abs() > 0.45 {
            let mark = Rect::from_center_size(at + bob, vec2(0.16 * width, radius * 0.8));
            painter.rect_filled(mark, 1.0, mix(palette::WARN, palette::FOE_DARK, 0.5));
        }
    }
    let last = level.stages.len().saturating_sub(1);
    for (stage, number) in level.stages.iter().zip(0..).skip(1) {
        if near(stage.x) {
            let reached = own.is_some_and(|own| usize::from(own.stage) >= number);
            let foot = camera.to_screen(*stage);
            if number == last {
                draw_goal(painter, camera, foot, age_secs);
            } else {
                draw_checkpoint(painter, camera, foot, reached, age_secs);
            }
        }
    }
}

fn draw_checkpoint(painter: &Painter, camera: Camera, foot: Pos2, reached: bool, age_secs: f32) {
    let metre = camera.scale;
    let color = if reached { palette::GOOD } else { palette::TEXT_FAINT };
    let top = foot - vec2(0.0, 1.7 * metre);
    painter.line_segment([foot, top], Stroke::new(0.08 * metre, palette::STEEL));
    painter.circle_filled(top, 0.09 * metre, palette::STEEL);
    // Up when it was reached, down before.
    let high = if reached { 0.08 } else { 0.95 };
    let hoist = top + vec2(0.0, high * metre);
    let wave = (age_secs * 4.0).sin() * 0.06 * metre;
    let points =
        vec![hoist, hoist + vec2(0.8 * metre, 0.24 * metre + wave), hoist + vec2(0.0, 0.5 * metre)];
    painter.add(Shape::convex_polygon(points, fade(color, 0.9), Stroke::NONE));
}

fn draw_goal(painter: &Painter, camera: Camera, foot: Pos2, age_secs: f32) {
    let metre = camera.scale;
    let top = foot - vec2(0.0, 4.2 * metre);
    glow(painter, top + vec2(0.9, 0.6) * metre, 3.0 * metre, light(palette::OWN, 0.14));
    painter.line_segment([foot, top], Stroke::new(0.13 * metre, palette::STEEL));
    painter.circle_filled(top, 0.16 * metre, palette::WARN);
    // Chequered, in the wind.
    let (columns, rows, size) = (8, 5, 0.26);
    let mut mesh = Mesh::default();
    let corner = |column: u32, row: u32| {
        let x = column as f32 * size;
        let wave = (age_secs * 5.0 - x * 2.4).sin() * 0.09 * x;
        top + vec2(x, 0.12 + row as f32 * size + wave) * metre
    };
    for column in 0..columns {
        for row in 0..rows {
            let color = if (column + row) % 2 == 0 { palette::TEXT } else { palette::VOID };
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)];
            quad(&mut mesh, corners.map(|(x, y)| corner(column + x, row + y)), color);
        }
    }
    painter.add(Shape::mesh(mesh));
    let at = foot + vec2(0.0, 0.45 * metre);
    text_over(painter, at, Align2::CENTER_CENTER, "GOAL", 13.0, palette::TEXT_SOFT);
}

//! The platformer's level: sky, hills, tiles with their edges and grass, and moving things.

use std::sync::LazyLock;

use phaselock_games::platformer::Player;
use phaselock_games::platformer::level::{Level, PLATFORMS, Platform, Tile};
use phaselock_ui::prelude::*;

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
struct Quads<'a> {
    mesh: Mesh,
    brush: &'a Brush<'a>,
}

impl Quads<'_> {
    /// A rectangle with a colour above and one below.
    fn rect(&mut self, min: Vec2, size: (f32, f32), [above, below]: [Color32; 2]) {
        self.corners(min, size, [above, above, below, below]);
    }

    /// A rectangle with a colour for each corner, clockwise from the least.
    fn corners(&mut self, min: Vec2, (x, y): (f32, f32), [a, b, c, d]: [Color32; 4]) {
        let corners = [((0.0, 0.0), a), ((x, 0.0), b), ((x, y), c), ((0.0, y), d)];
        let corners = corners.map(|(off, color)| (min + Vec2::from(off), color));
        self.brush.fan(&mut self.mesh, corners);
    }

    /// A triangle from the middle of its foot, `half` of its width to either side, to its tip.
    fn tuft(&mut self, middle: Vec2, half: f32, tip: Vec2, [foot, top]: [Color32; 2]) {
        let aside = Vec2::X * half;
        let corners = [(middle - aside, foot), (middle + aside, foot), (tip, top)];
        self.brush.fan(&mut self.mesh, corners);
    }
}

pub(super) fn draw_sky(brush: &Brush<'_>, age_secs: f32) {
    let screen = brush.camera.screen;
    let mut mesh = Mesh::default();
    let corners = [
        (screen.left_top(), SKY[0]),
        (screen.right_top(), SKY[0]),
        (screen.right_bottom(), SKY[1]),
        (screen.left_bottom(), SKY[1]),
    ];
    fan(&mut mesh, corners);
    brush.painter.add(Shape::mesh(mesh));
    let moon = screen.left_top() + vec2(screen.width() * 0.78, screen.height() * 0.2);
    glow(brush.painter, moon, screen.height() * 0.4, light(palette::OWN, 0.1));
    brush.painter.circle_filled(moon, screen.height() * 0.045, fade(palette::TEXT, 0.85));
    for n in 0..70 {
        let (x, y) = (chance(n, 0, 1), chance(n, 0, 2));
        let drift = brush.camera.middle.x * 0.002;
        let at = pos2(
            screen.left() + (x - drift).rem_euclid(1.0) * screen.width(),
            screen.top() + y * 0.7 * screen.height(),
        );
        let twinkle = 0.35 + 0.3 * (age_secs * (0.6 + x) + y * 40.0).sin();
        brush.painter.circle_filled(at, 0.7 + chance(n, 0, 3), light(palette::TEXT, twinkle));
    }
    for hills in &HILLS {
        draw_hills(brush, hills);
    }
}

fn draw_hills(brush: &Brush<'_>, hills: &Hills) {
    const STEPS: usize = 64;
    let screen = brush.camera.screen;
    let color = mix(palette::VOID, palette::GRID_MAJOR, 0.4 + hills.haze);
    let foot = mix(color, SKY[1], 0.35);
    // Distant hills move more slowly in both directions.
    let middle = brush.camera.middle * hills.slow;
    let horizon =
        screen.center().y + (6.0 - (brush.camera.middle.y - 12.0) * hills.slow) * brush.metre;
    let mut mesh = Mesh::default();
    for step in 0..=STEPS {
        let x = screen.left() + screen.width() * step as f32 / STEPS as f32;
        let along = middle.x + (x - screen.center().x) / brush.metre + hills.slow * 500.0;
        mesh.colored_vertex(pos2(x, horizon - hills.at(along) * brush.metre), color);
        mesh.colored_vertex(pos2(x, screen.bottom().max(horizon)), foot);
    }
    for step in 0..STEPS as u32 {
        let first = step * 2;
        mesh.add_triangle(first, first + 1, first + 2);
        mesh.add_triangle(first + 1, first + 2, first + 3);
    }
    brush.painter.add(Shape::mesh(mesh));
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

/// Whether a tile is solid; below the level, its last row goes on.
fn is_ground(level: &Level, column: i32, row: i32) -> bool {
    if !(0..level.width as i32).contains(&column) {
        return true;
    }
    level.is_solid(column, row.min(level.height as i32 - 1))
}

pub(super) fn draw_tiles(brush: &Brush<'_>, level: &Level, age_secs: f32) {
    let (columns, rows) = seen(level, brush.camera);
    let mut quads = Quads { mesh: Mesh::default(), brush };
    for (row, column) in rows.flat_map(|row| columns.clone().map(move |column| (row, column))) {
        let min = Vec2::new(column as f32, row as f32);
        if is_ground(level, column, row) {
            ground(&mut quads, level, column, row);
            continue;
        }
        match level.tile(column, row) {
            Tile::Board => board(&mut quads, level, column, row),
            Tile::Spikes => {
                for n in 0..3 {
                    let foot = min + Vec2::new(n as f32 / 3.0 + 0.167, 1.0);
                    let colors = [palette::WALL_SIDE_DARK, palette::BAD];
                    quads.tuft(foot, 0.167, foot - Vec2::Y * 0.62, colors);
                }
            }
            Tile::Spring => {
                let sway = 0.03 * (age_secs * 5.0).sin();
                for n in 0..3 {
                    let at = min + Vec2::new(0.25, 0.66 + n as f32 * 0.12);
                    quads.rect(at, (0.5, 0.05), [palette::STEEL; 2]);
                }
                let top = min + Vec2::new(0.08, 0.5 + sway);
                quads.rect(top, (0.84, 0.14), [palette::GOOD, palette::OWN_DARK]);
            }
            Tile::Air | Tile::Solid => {}
        }
    }
    brush.painter.add(Shape::mesh(quads.mesh));
}

/// Colour of the ground at a tile's corner: the farther from the air, the darker.
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

fn ground(quads: &mut Quads<'_>, level: &Level, column: i32, row: i32) {
    let min = Vec2::new(column as f32, row as f32);
    let at = |x: f32, y: f32| min + Vec2::new(x, y);
    let air = |dx: i32, dy: i32| !is_ground(level, column + dx, row + dy);
    let [above, below] = [0, 1].map(|down| [0, 1].map(|right| shade(column + right, row + down)));
    quads.corners(min, (1.0, 1.0), [above[0], above[1], below[1], below[0]]);
    // Stones here and there.
    if chance(column, row, 5) < 0.45 {
        let at = at(0.15 + 0.5 * chance(column, row, 6), 0.3 + 0.4 * chance(column, row, 7));
        let colors = [fade(palette::WALL_TOP, 0.28), fade(palette::WALL_TOP, 0.1)];
        quads.rect(at, (0.12 + 0.16 * chance(column, row, 8), 0.1), colors);
    }
    let rim = [fade(palette::WALL_RIM, 0.55), fade(palette::WALL_RIM, 0.3)];
    if air(-1, 0) {
        quads.rect(min, (0.07, 1.0), rim);
    }
    if air(1, 0) {
        quads.rect(at(0.93, 0.0), (0.07, 1.0), rim);
    }
    if air(0, 1) {
        quads.rect(at(0.0, 0.9), (1.0, 0.1), [palette::VOID; 2]);
    }
    if air(0, -1) {
        let grass = mix(palette::GOOD, palette::OWN_DARK, 0.25);
        let dark = mix(palette::GOOD, palette::VOID, 0.62);
        quads.rect(min, (1.0, 0.16), [grass, dark]);
        for n in 0..5 {
            let x = 0.1 + n as f32 * 0.19 + 0.08 * chance(column, n, 9);
            let high = 0.1 + 0.16 * chance(column, n, 10);
            let lean = 0.1 * (chance(column, n, 11) - 0.5);
            quads.tuft(at(x, 0.02), 0.05, at(x + lean, -high), [dark, grass]);
            // And down over the edge, in fringes.
            let low = 0.2 + 0.16 * chance(column, n, 12);
            quads.tuft(at(x, 0.14), 0.1, at(x, low), [dark, dark]);
        }
    }
}

fn board(quads: &mut Quads<'_>, level: &Level, column: i32, row: i32) {
    let at = |x: f32, y: f32| Vec2::new(column as f32 + x, row as f32 + y);
    let ends = |side: i32| level.tile(column + side, row) != Tile::Board;
    let left = if ends(-1) { 0.04 } else { 0.0 };
    let right = if ends(1) { 0.96 } else { 1.0 };
    quads.rect(at(left, 0.0), (right - left, 0.24), [palette::WALL_RIM, palette::WALL_SIDE]);
    quads.rect(at(left, 0.0), (right - left, 0.06), [palette::STEEL; 2]);
    let seam = at(0.35 + 0.3 * chance(column, row, 13), 0.06);
    quads.rect(seam, (0.03, 0.18), [palette::VOID; 2]);
    if ends(-1) || ends(1) {
        let x = if ends(-1) { 0.14 } else { 0.78 };
        let colors = [palette::WALL_SIDE, fade(palette::WALL_SIDE, 0.0)];
        quads.rect(at(x, 0.24), (0.08, 0.36), colors);
    }
}

/// Paints the platforms at a point of the cycle, with their tracks.
pub(super) fn draw_platforms(brush: &Brush<'_>, clock: f32) {
    for platform in &PLATFORMS {
        let (at, half) = (platform.at(clock), platform.half);
        let reach = brush.camera.half() + half + 9.0;
        if (at - brush.camera.middle).abs().cmpgt(reach).any() {
            continue;
        }
        draw_way(brush, platform);
        let (brush, painter) = (brush.local(at, Vec2::X), brush.painter);
        brush.glow((0.0, 0.36), 1.2 * half, light(palette::WARN, 0.09));
        let (edge, corner) = (brush.stroke(0.05, palette::STEEL), 0.12 * brush.metre);
        let rect = brush.rect((-half, 0.0), (half, 0.36));
        painter.rect(rect, corner, palette::WALL_SIDE, edge, StrokeKind::Inside);
        painter.rect_filled(brush.rect((-half, 0.0), (half, 0.09)), corner, palette::TEXT_SOFT);
        // Chevrons on both sides show that it moves.
        let stroke = brush.stroke(0.05, fade(palette::WARN, 0.85));
        for (side, n) in [(-1.0, 1.0), (-1.0, 2.0), (1.0, 1.0), (1.0, 2.0)] {
            let x = side * n * 0.22;
            brush.path([(x, 0.14), (x + side * 0.1, 0.22), (x, 0.3)], stroke);
        }
    }
}

fn draw_way(brush: &Brush<'_>, platform: &Platform) {
    let [from, to] = [platform.from, platform.to].map(|end| end + Vec2::Y * 0.18);
    let steps = (platform.from.distance(platform.to) / 0.5) as u32;
    for n in 0..=steps {
        let at = from.lerp(to, n as f32 / steps.max(1) as f32);
        brush.disc(at, 0.04, fade(palette::TEXT_FAINT, 0.5));
    }
    for end in [from, to] {
        brush.ring(end, 0.1, (1.5, fade(palette::TEXT_FAINT, 0.6)));
    }
}

/// Paints coins, hollow where the local player has been, and flags.
pub(super) fn draw_things(brush: &Brush<'_>, level: &Level, own: Option<&Player>, age_secs: f32) {
    let near = |x: f32| (x - brush.camera.middle.x).abs() < brush.camera.half().x + 2.0;
    for (coin, number) in level.coins.iter().zip(0..).filter(|(coin, _)| near(coin.x)) {
        let radius = 0.26;
        if own.is_some_and(|own| own.has_coin(number)) {
            brush.ring(*coin, radius * 0.5, (1.0, fade(palette::TEXT_FAINT, 0.4)));
            continue;
        }
        let spin = (age_secs * 3.2 + coin.x * 0.35).sin();
        let bob = (age_secs * 2.0 + coin.x).sin() * 0.05;
        let brush = brush.local(*coin + Vec2::Y * bob, Vec2::X);
        let width = (radius * spin.abs()).max(0.06);
        let size = vec2(width, radius);
        brush.glow(Vec2::ZERO, radius * 2.2, light(palette::WARN, 0.16));
        brush.ellipse(Vec2::ZERO, size, mix(palette::WARN, palette::FOE_DARK, 0.45));
        brush.ellipse(Vec2::ZERO, size * 0.82, palette::WARN);
        if spin.abs() > 0.45 {
            let half = (0.08 * width, 0.4 * radius);
            let mark = brush.rect((-half.0, -half.1), half);
            brush.painter.rect_filled(mark, 1.0, mix(palette::WARN, palette::FOE_DARK, 0.5));
        }
    }
    let last = level.stages.len().saturating_sub(1);
    for (stage, number) in level.stages.iter().zip(0..).skip(1).filter(|(it, _)| near(it.x)) {
        let brush = brush.local(*stage, Vec2::X);
        if number == last {
            draw_goal(&brush, age_secs);
        } else {
            let reached = own.is_some_and(|own| usize::from(own.stage) >= number);
            draw_checkpoint(&brush, reached, age_secs);
        }
    }
}

fn draw_checkpoint(brush: &Brush<'_>, reached: bool, age_secs: f32) {
    let color = if reached { palette::GOOD } else { palette::TEXT_FAINT };
    brush.line([(0.0, 0.0), (0.0, -1.7)], brush.stroke(0.08, palette::STEEL));
    brush.disc((0.0, -1.7), 0.09, palette::STEEL);
    // Up when it was reached, down before.
    let hoist = if reached { -1.62 } else { -0.75 };
    let wave = (age_secs * 4.0).sin() * 0.06;
    let flag = [(0.0, hoist), (0.8, hoist + 0.24 + wave), (0.0, hoist + 0.5)];
    brush.polygon(flag, fade(color, 0.9), Stroke::NONE);
}

fn draw_goal(brush: &Brush<'_>, age_secs: f32) {
    let top = -4.2;
    brush.glow((0.9, top + 0.6), 3.0, light(palette::OWN, 0.14));
    brush.line([(0.0, 0.0), (0.0, top)], brush.stroke(0.13, palette::STEEL));
    brush.disc((0.0, top), 0.16, palette::WARN);
    // Chequered, in the wind.
    let (columns, rows, size) = (8, 5, 0.26);
    let mut mesh = Mesh::default();
    let corner = |column: u32, row: u32| {
        let x = column as f32 * size;
        let wave = (age_secs * 5.0 - x * 2.4).sin() * 0.09 * x;
        (x, top + 0.12 + row as f32 * size + wave)
    };
    for (column, row) in (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row))) {
        let color = if (column + row) % 2 == 0 { palette::TEXT } else { palette::VOID };
        let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| corner(column + x, row + y));
        brush.quad(&mut mesh, corners, color);
    }
    brush.painter.add(Shape::mesh(mesh));
    let at = brush.point((0.0, 0.45));
    name_tag(
        brush.painter,
        at,
        Align2::CENTER_CENTER,
        (tr("GOAL"), false),
        (13.0, fade(palette::TEXT, 0.9)),
    );
}

//! The arena's picture: floor, grid, markings, and walls that stand up a little.

use phaselock::physics::Aabb;
use phaselock_games::skirmish::arena::{Arena, BORDER, HALF};
use phaselock_ui::prelude::*;

use super::shade;

/// Height of walls as a share of the camera's height: visible, but too little to hide a player.
const WALL_HEIGHT: f32 = 0.03;
/// Width of the rim on top of a wall, in metres.
const RIM: f32 = 0.07;

/// Width of a shadow's edge, in metres.
const SHADOW: f32 = 0.5;
/// Part of a shadow that its wall may leave visible, in metres from the edge: more than the wall is
/// off its shadow.
const SHOWN: f32 = 1.0;

/// Paints the arena in a window of the floor's colour. The part that cannot be seen from the
/// viewpoint is in the shade; walls stand out of it, as players know them anyway.
pub(super) fn draw(brush: &Brush<'_>, arena: &Arena, viewpoint: Option<Vec2>) {
    grid(brush);
    markings(brush);

    let (painter, camera, top) = (brush.painter, brush.camera, brush.raised(WALL_HEIGHT));
    let seen = Aabb::centred(camera.middle, camera.half() + 1.5);
    let walls = arena
        .walls
        .iter()
        .filter(|wall| wall.min.cmplt(seen.max).all() && wall.max.cmpgt(seen.min).all());
    let shaded = Aabb::centred(Vec2::ZERO, HALF + SHADOW);
    let below = Vec2::new(0.14, 0.22);
    for wall in walls.clone() {
        // Only the part of an outer wall's shadow that may reach the floor.
        let (min, max) = (wall.min.max(shaded.min), wall.max.min(shaded.max));
        let rect = brush.rect(min - 0.1 + below, max + 0.1 + below);
        let (edge, hidden) = (SHADOW * brush.metre, SHOWN * brush.metre);
        shadow(painter, rect, edge, hidden, Color32::from_black_alpha(96));
    }
    if let Some(viewpoint) = viewpoint {
        shade::draw(brush, arena, viewpoint);
    }
    for wall in walls.clone() {
        sides(brush, wall);
    }
    // First all rims and then all tops, so that walls that touch look like one.
    let mut mesh = Mesh::default();
    for wall in walls.clone() {
        let (rect, rim) = (top.rect(wall.min, wall.max), 2.0 * RIM * brush.metre);
        frame_of_plates(&mut mesh, painter, rect, rim, palette::WALL_RIM);
    }
    for wall in walls {
        let rect = top.rect(wall.min + RIM, wall.max - RIM);
        plate(&mut mesh, painter, rect, palette::WALL_TOP);
    }
    painter.add(Shape::mesh(mesh));
    outside(&top);
}

/// Paints the void beyond the outer walls.
fn outside(top: &Brush<'_>) {
    let (screen, inner) = (top.camera.screen, top.rect(-HALF - BORDER, HALF + BORDER));
    let (left, right) = (screen.left()..=inner.left(), inner.right()..=screen.right());
    let (above, below) = (screen.top()..=inner.top(), inner.bottom()..=screen.bottom());
    let rects = [
        Rect::from_x_y_ranges(left, screen.y_range()),
        Rect::from_x_y_ranges(right, screen.y_range()),
        Rect::from_x_y_ranges(screen.x_range(), above),
        Rect::from_x_y_ranges(screen.x_range(), below),
    ];
    for rect in rects.into_iter().filter(|rect| rect.is_positive()) {
        top.painter.rect_filled(rect, 0.0, palette::VOID);
    }
}

fn grid(brush: &Brush<'_>) {
    let mut mesh = Mesh::default();
    let look = |n: i32| {
        if n % 5 == 0 { (1.5, palette::GRID_MAJOR) } else { (1.0, palette::GRID) }
    };
    // Only what is visible.
    let (camera, half) = (brush.camera, brush.camera.half());
    let (min, max) = ((camera.middle - half).max(-HALF), (camera.middle + half).min(HALF));
    let mut line = |n: i32, a: Vec2, b: Vec2| {
        let (width, color) = look(n);
        let ends = [brush.point(a), brush.point(b)];
        hairline(&mut mesh, brush.painter, ends, width, color);
    };
    for n in min.x.ceil() as i32..=max.x.floor() as i32 {
        line(n, Vec2::new(n as f32, min.y), Vec2::new(n as f32, max.y));
    }
    for n in min.y.ceil() as i32..=max.y.floor() as i32 {
        line(n, Vec2::new(min.x, n as f32), Vec2::new(max.x, n as f32));
    }
    brush.painter.add(Shape::mesh(mesh));
}

/// Lines for orientation: the court's ring, the middle line, the corners.
fn markings(brush: &Brush<'_>) {
    let stroke = brush.stroke(0.09, palette::MARKING);
    brush.ring(Vec2::ZERO, 3.6, stroke);
    for sign in [-1.0, 1.0] {
        brush.line([(0.0, 3.6 * sign), (0.0, HALF.y * sign)], stroke);
        let [left, right] = if sign < 0.0 { [0.0, 0.25] } else { [0.75, 0.5] };
        brush.arc((-HALF.x, HALF.y * sign), 4.0, (left, 0.25), stroke);
        brush.arc((HALF.x, HALF.y * sign), 4.0, (right, 0.25), stroke);
        let x = (HALF.x - BORDER) * sign;
        brush.line([(x, -1.5), (x, 1.5)], brush.stroke(0.09, fade(palette::MARKING, 0.8)));
    }
}

/// The sides of a wall that face the camera.
fn sides(brush: &Brush<'_>, wall: &Aabb) {
    let (min, max, middle) = (wall.min, wall.max, brush.camera.middle);
    let faces = [
        (middle.x < min.x, [(min.x, min.y), (min.x, max.y)], palette::WALL_SIDE_DARK),
        (middle.x > max.x, [(max.x, min.y), (max.x, max.y)], palette::WALL_SIDE_DARK),
        (middle.y < min.y, [(min.x, min.y), (max.x, min.y)], palette::WALL_SIDE),
        (middle.y > max.y, [(min.x, max.y), (max.x, max.y)], palette::WALL_SIDE),
    ];
    let top = brush.raised(WALL_HEIGHT);
    for (_, [a, b], color) in faces.into_iter().filter(|(visible, ..)| *visible) {
        let mut points = vec![brush.point(a), brush.point(b), top.point(b), top.point(a)];
        // egui smooths the edges of clockwise polygons only.
        let next = points.iter().cycle().skip(1);
        let area: f32 = points.iter().zip(next).map(|(a, b)| a.x * b.y - b.x * a.y).sum();
        // A barely visible side would get smoothed corners of many times its height.
        if area.abs() < 2.0 * points[0].distance(points[1]) {
            continue;
        }
        if area < 0.0 {
            points.reverse();
        }
        brush.painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
    }
}

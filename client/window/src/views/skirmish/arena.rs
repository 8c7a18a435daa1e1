//! The arena's picture: floor, grid, markings, and walls that stand up a little.

use egui_macroquad::egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};
use glam::Vec2;
use phaselock::physics::Aabb;
use phaselock_games::skirmish::arena::{Arena, BORDER, HALF};

use super::shade;
use phaselock_client::camera::Camera;
use phaselock_client::paint::{arc, fade, shadow};
use phaselock_client::palette;

/// Height of walls as a share of the camera's height: visible, but too little to hide anybody.
const WALL_HEIGHT: f32 = 0.03;
/// Width of the rim on top of a wall, in metres.
const RIM: f32 = 0.07;

/// Width of a shadow's edge, in metres.
const SHADOW: f32 = 0.5;

/// Paints the arena on a window of the floor's colour. The part that cannot be seen from the
/// viewpoint lies in the shade; walls stand out of it, being known anyway.
pub(super) fn draw(painter: &Painter, camera: Camera, arena: &Arena, viewpoint: Option<Vec2>) {
    let floor = on_floor(camera, Aabb::centred(Vec2::ZERO, HALF));
    grid(painter, camera, floor);
    markings(painter, camera);

    let scale = camera.scale;
    let seen = Aabb::centred(camera.middle, camera.half() + 1.5);
    let walls = arena
        .walls
        .iter()
        .filter(|wall| wall.min.cmplt(seen.max).all() && wall.max.cmpgt(seen.min).all());
    let shaded = Aabb::centred(Vec2::ZERO, HALF + SHADOW);
    for wall in walls.clone() {
        // Only the part of an outer wall's shadow that may reach the floor.
        let (min, max) = (wall.min.max(shaded.min), wall.max.min(shaded.max));
        let below = on_floor(camera, Aabb { min, max }.grown(0.1));
        let below = below.translate(vec2(0.14, 0.22) * scale);
        shadow(painter, below, SHADOW * scale, Color32::from_black_alpha(96));
    }
    if let Some(viewpoint) = viewpoint {
        shade::draw(painter, camera, arena, viewpoint);
    }
    for wall in walls.clone() {
        sides(painter, camera, wall);
    }
    // First all rims and then all tops, so that walls that touch look like one.
    for wall in walls.clone() {
        let rim = Stroke::new(2.0 * RIM * scale, palette::WALL_RIM);
        painter.rect_stroke(on_top(camera, *wall), 0.05 * scale, rim, StrokeKind::Inside);
    }
    for wall in walls {
        painter.rect_filled(on_top(camera, wall.grown(-RIM)), 0.0, palette::WALL_TOP);
    }
    outside(painter, camera);
}

/// Paints the void beyond the outer walls.
fn outside(painter: &Painter, camera: Camera) {
    let (screen, inner) = (camera.screen, on_top(camera, Aabb::centred(Vec2::ZERO, HALF + BORDER)));
    let (left, right) = (screen.left()..=inner.left(), inner.right()..=screen.right());
    let (above, below) = (screen.top()..=inner.top(), inner.bottom()..=screen.bottom());
    let rects = [
        Rect::from_x_y_ranges(left, screen.y_range()),
        Rect::from_x_y_ranges(right, screen.y_range()),
        Rect::from_x_y_ranges(screen.x_range(), above),
        Rect::from_x_y_ranges(screen.x_range(), below),
    ];
    for rect in rects.into_iter().filter(|rect| rect.is_positive()) {
        painter.rect_filled(rect, 0.0, palette::VOID);
    }
}

fn on_floor(camera: Camera, area: Aabb) -> Rect {
    Rect::from_min_max(camera.to_screen(area.min), camera.to_screen(area.max))
}

fn on_top(camera: Camera, area: Aabb) -> Rect {
    let at = |point| camera.to_screen_at(point, WALL_HEIGHT);
    Rect::from_min_max(at(area.min), at(area.max))
}

fn grid(painter: &Painter, camera: Camera, floor: Rect) {
    let line = |n: i32| {
        let (width, color) =
            if n % 5 == 0 { (1.5, palette::GRID_MAJOR) } else { (1.0, palette::GRID) };
        Stroke::new(width, color)
    };
    let seen = floor.intersect(camera.screen);
    for n in -(HALF.x as i32)..=HALF.x as i32 {
        let x = camera.to_screen(Vec2::new(n as f32, 0.0)).x;
        if seen.x_range().contains(x) {
            painter.vline(x, seen.y_range(), line(n));
        }
    }
    for n in -(HALF.y as i32)..=HALF.y as i32 {
        let y = camera.to_screen(Vec2::new(0.0, n as f32)).y;
        if seen.y_range().contains(y) {
            painter.hline(seen.x_range(), y, line(n));
        }
    }
}

/// Lines for orientation: the court's ring, the middle line, the corners.
fn markings(painter: &Painter, camera: Camera) {
    let stroke = Stroke::new(0.09 * camera.scale, palette::MARKING);
    let middle = camera.to_screen(Vec2::ZERO);
    painter.circle_stroke(middle, 3.6 * camera.scale, stroke);
    for sign in [-1.0, 1.0] {
        let near = camera.to_screen(Vec2::new(0.0, 3.6 * sign));
        let far = camera.to_screen(Vec2::new(0.0, HALF.y * sign));
        painter.line_segment([near, far], stroke);
        for (side, from) in [
            (-1.0, if sign < 0.0 { 0.0 } else { 0.75 }),
            (1.0, if sign < 0.0 { 0.25 } else { 0.5 }),
        ] {
            let corner = camera.to_screen(Vec2::new(HALF.x * side, HALF.y * sign));
            arc(painter, corner, 4.0 * camera.scale, from, 0.25, stroke);
        }
        let tick = Vec2::new((HALF.x - BORDER) * sign, 0.0);
        let half = Vec2::new(0.0, 1.5);
        let ends = [camera.to_screen(tick - half), camera.to_screen(tick + half)];
        painter.line_segment(ends, Stroke::new(stroke.width, fade(palette::MARKING, 0.8)));
    }
}

/// The sides of a wall that face the camera.
fn sides(painter: &Painter, camera: Camera, wall: &Aabb) {
    let (min, max, middle) = (wall.min, wall.max, camera.middle);
    let corner = |x: f32, y: f32| Vec2::new(x, y);
    let faces = [
        (middle.x < min.x, [corner(min.x, min.y), corner(min.x, max.y)], palette::WALL_SIDE_DARK),
        (middle.x > max.x, [corner(max.x, min.y), corner(max.x, max.y)], palette::WALL_SIDE_DARK),
        (middle.y < min.y, [corner(min.x, min.y), corner(max.x, min.y)], palette::WALL_SIDE),
        (middle.y > max.y, [corner(min.x, max.y), corner(max.x, max.y)], palette::WALL_SIDE),
    ];
    for (_, [a, b], color) in faces.into_iter().filter(|(visible, ..)| *visible) {
        let mut points: Vec<Pos2> = vec![
            camera.to_screen(a),
            camera.to_screen(b),
            camera.to_screen_at(b, WALL_HEIGHT),
            camera.to_screen_at(a, WALL_HEIGHT),
        ];
        // egui smooths the edges of clockwise polygons only.
        let area: f32 = points
            .iter()
            .zip(points.iter().cycle().skip(1))
            .map(|(a, b)| a.x * b.y - b.x * a.y)
            .sum();
        // A hardly visible side would get smoothed corners of many times its height.
        if area.abs() < 2.0 * points[0].distance(points[1]) {
            continue;
        }
        if area < 0.0 {
            points.reverse();
        }
        painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
    }
}

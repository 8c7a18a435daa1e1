//! The rink's picture: rim, ice, markings, goals.

use egui_macroquad::egui::epaint::PathStroke;
use egui_macroquad::egui::{
    Align2, Color32, CornerRadius, Painter, Rect, Shape, Stroke, StrokeKind,
};
use glam::Vec2;
use phaselock_games::puck::rink::{CIRCLE, CORNER, DEPTH, GOAL, HALF, POST, POST_AT};

use super::seen::RIM;
use phaselock_client::camera::Camera;
use phaselock_client::paint::{arc, beam, fade, glow, light, mix, text};
use phaselock_client::palette;

/// Radius of the area in front of a goal, in metres.
const CREASE: f32 = 2.3;

/// Paints a line between two points of the rink.
fn line(painter: &Painter, camera: Camera, ends: [Vec2; 2], stroke: Stroke) {
    painter.line_segment(ends.map(|end| camera.to_screen(end)), stroke);
}

fn rect(camera: Camera, min: Vec2, max: Vec2) -> Rect {
    Rect::from_two_pos(camera.to_screen(min), camera.to_screen(max))
}

/// Paints the rink; `lit` is the light of the goals, 0 to 1, and `goals` the score on the ice,
/// each with the own side first.
pub(super) fn draw(painter: &Painter, camera: Camera, lit: [f32; 2], goals: [u8; 2]) {
    draw_rim(painter, camera);
    let ice = rect(camera, -HALF, HALF);
    let cold = mix(mix(palette::FLOOR, palette::STEEL, 0.17), palette::OWN, 0.1);
    painter.rect_filled(ice, CornerRadius::from(CORNER * camera.scale), cold);
    for (at, lit) in [(-1.0, lit[0]), (1.0, lit[1])] {
        draw_goal(painter, camera, at, lit);
    }
    draw_reflections(painter, camera, lit);
    draw_score(painter, camera, goals);
    draw_markings(painter, camera);
    let edge = Stroke::new(0.05 * camera.scale, mix(palette::WALL_RIM, palette::STEEL, 0.5));
    outline(painter, camera, edge);
}

/// The frame around the ice, with the goals' boxes.
fn draw_rim(painter: &Painter, camera: Camera) {
    let out = HALF + RIM;
    let radius = CornerRadius::from((CORNER + RIM) * camera.scale);
    let goals = Vec2::new(HALF.x + DEPTH + RIM * 0.8, GOAL + POST + RIM * 0.6);
    let shade = Color32::from_black_alpha(90);
    let below = Vec2::new(0.1, 0.16);
    painter.rect_filled(rect(camera, below - out, below + out), radius, shade);
    let stroke = Stroke::new(1.5, palette::WALL_RIM);
    let boxes = CornerRadius::from(0.3 * camera.scale);
    for (half, radius) in [(goals, boxes), (out, radius)] {
        let rect = rect(camera, -half, half);
        painter.rect(rect, radius, palette::WALL_SIDE, stroke, StrokeKind::Inside);
    }
    painter.rect_filled(rect(camera, -goals * 0.995, goals * 0.995), boxes, palette::WALL_SIDE);
}

/// The inner edge of the wall: the ice, its corners, and the mouths of the goals.
fn outline(painter: &Painter, camera: Camera, stroke: Stroke) {
    let quarter = |middle: Vec2, radius: f32, from: f32, by: f32| {
        (0..=8).map(move |step| {
            let angle = (from + by * step as f32 / 8.0) * std::f32::consts::TAU;
            middle + Vec2::from_angle(angle) * radius
        })
    };
    let inner = HALF - CORNER;
    // From the middle of the lower side to the goal at the right and around its lower post.
    let mut part = vec![Vec2::new(0.0, HALF.y)];
    part.extend(quarter(inner, CORNER, 0.25, -0.25));
    part.extend(quarter(POST_AT, POST, 0.5, 0.25));
    part.push(Vec2::new(HALF.x + DEPTH, GOAL));
    part.push(Vec2::new(HALF.x + DEPTH, 0.0));
    for turn in [Vec2::new(1.0, 1.0), Vec2::new(-1.0, 1.0), Vec2::new(1.0, -1.0), -Vec2::ONE] {
        let points = part.iter().map(|at| camera.to_screen(*at * turn)).collect();
        painter.add(Shape::line(points, PathStroke::from(stroke)));
    }
}

/// A goal: its box, its net, its light.
fn draw_goal(painter: &Painter, camera: Camera, at: f32, lit: f32) {
    let color = palette::side(at < 0.0);
    let back = HALF.x + DEPTH;
    let inside = rect(camera, Vec2::new(HALF.x * at, -GOAL), Vec2::new(back * at, GOAL));
    let dark = mix(palette::VOID, color, 0.1 + 0.5 * lit);
    painter.rect_filled(inside, 0.0, dark);
    let mouth =
        rect(camera, Vec2::new((HALF.x - 0.02) * at, -GOAL), Vec2::new((HALF.x + POST) * at, GOAL));
    painter.rect_filled(mouth, 0.0, dark);
    let net = Stroke::new(1.0, fade(palette::STEEL, 0.16 + 0.4 * lit));
    for n in 1..4 {
        let x = (HALF.x + DEPTH * n as f32 / 4.0) * at;
        line(painter, camera, [Vec2::new(x, -GOAL), Vec2::new(x, GOAL)], net);
    }
    for n in -5..=5 {
        let y = GOAL * n as f32 / 6.0;
        line(painter, camera, [Vec2::new(HALF.x * at, y), Vec2::new(back * at, y)], net);
    }
    if lit > 0.0 {
        let middle = camera.to_screen(Vec2::new((HALF.x + 0.3) * at, 0.0));
        glow(painter, middle, 4.5 * camera.scale, light(color, 0.55 * lit));
        glow(painter, middle, 2.0 * camera.scale, light(Color32::WHITE, 0.4 * lit));
    }
}

/// Reflections of lamps and goals on the ice; scratches of many rounds.
fn draw_reflections(painter: &Painter, camera: Camera, lit: [f32; 2]) {
    let white = Color32::WHITE;
    for (x, y, size) in [(-4.4, -2.0, 3.4), (0.4, 1.2, 4.2), (4.6, -1.4, 3.4)] {
        let at = camera.to_screen(Vec2::new(x, y));
        glow(painter, at, size * camera.scale, light(white, 0.05));
        // A lamp's stripe, as on polished ice.
        let end = |by: f32| camera.to_screen(Vec2::new(x + by, y - by * 0.6));
        let faint = light(white, 0.0);
        beam(painter, [(end(-1.7), faint), (end(0.2), light(white, 0.07))], 0.5 * camera.scale);
        beam(painter, [(end(0.2), light(white, 0.07)), (end(1.9), faint)], 0.5 * camera.scale);
    }
    for (at, lit) in [(-1.0, lit[0]), (1.0, lit[1])] {
        let color = palette::side(at < 0.0);
        let spot = camera.to_screen(Vec2::new(at * (HALF.x - 0.6), 0.0));
        glow(painter, spot, 3.6 * camera.scale, light(color, 0.06 + 0.3 * lit));
    }
    let scratch = Stroke::new(1.0, fade(white, 0.035));
    for n in 0..46 {
        // Evenly strewn by the golden ratio.
        let share = |by: f32| (n as f32 * by).fract() * 2.0 - 1.0;
        let from = Vec2::new(share(0.618), share(0.755)) * (HALF - 0.9);
        let along = Vec2::from_angle(n as f32 * 2.4) * (0.3 + 0.5 * (n as f32 * 0.37).fract());
        line(painter, camera, [from, from + along], scratch);
    }
}

/// Each side's score, as if painted beneath the ice.
fn draw_score(painter: &Painter, camera: Camera, goals: [u8; 2]) {
    for (at, goals) in [(-1.0, goals[0]), (1.0, goals[1])] {
        let at_line = camera.to_screen(Vec2::new(4.0 * at, 0.0));
        let color = fade(palette::side(at < 0.0), 0.2);
        let size = 3.4 * camera.scale;
        text(painter, at_line, Align2::CENTER_CENTER, &goals.to_string(), size, color);
    }
}

fn draw_markings(painter: &Painter, camera: Camera) {
    let metre = camera.scale;
    let color = mix(palette::MARKING, palette::STEEL, 0.45);
    let stroke = Stroke::new(0.06 * metre, fade(color, 0.75));
    let middle = camera.to_screen(Vec2::ZERO);
    let bold = Stroke::new(0.11 * metre, fade(color, 0.9));
    line(painter, camera, [Vec2::new(0.0, -HALF.y), Vec2::new(0.0, HALF.y)], bold);
    painter.circle_stroke(middle, CIRCLE * metre, stroke);
    painter.circle_filled(middle, 0.14 * metre, color);
    for at in [-1.0, 1.0] {
        let color = palette::side(at < 0.0);
        // The goal's line, and the area before it: hatched on the own side, dotted on the other.
        let own = at < 0.0;
        let goal = camera.to_screen(Vec2::new(HALF.x * at, 0.0));
        let crease = Stroke::new(0.06 * metre, fade(color, 0.7));
        let from = if own { -0.25 } else { 0.25 };
        arc(painter, goal, CREASE * metre, from, 0.5, crease);
        let ends = [Vec2::new(HALF.x * at, -GOAL), Vec2::new(HALF.x * at, GOAL)];
        line(painter, camera, ends, Stroke::new(0.07 * metre, fade(color, 0.9)));
        fill_crease(painter, camera, at, fade(color, 0.22));
        for y in [-2.3, 2.3] {
            let spot = camera.to_screen(Vec2::new(4.0 * at, y));
            painter.circle_stroke(spot, 0.5 * metre, Stroke::new(0.045 * metre, fade(color, 0.45)));
            painter.circle_filled(spot, 0.09 * metre, fade(color, 0.6));
        }
    }
}

/// The pattern of an area before a goal.
fn fill_crease(painter: &Painter, camera: Camera, at: f32, color: Color32) {
    let stroke = Stroke::new(0.05 * camera.scale, color);
    let inside = |x: f32| (CREASE * CREASE - x * x).max(0.0).sqrt();
    if at < 0.0 {
        for n in 1..6 {
            let y = -CREASE + CREASE * n as f32 / 3.0;
            let ends = [Vec2::new(-HALF.x, y), Vec2::new(-HALF.x + inside(y), y)];
            line(painter, camera, ends, stroke);
        }
        return;
    }
    for column in 0..4 {
        for row in -3..=3 {
            let off = Vec2::new(0.35 + 0.55 * column as f32, 0.6 * row as f32);
            if off.length() < CREASE - 0.2 {
                let spot = camera.to_screen(Vec2::new(HALF.x - off.x, off.y));
                painter.circle_filled(spot, 0.06 * camera.scale, color);
            }
        }
    }
}

//! The rink's picture: rim, ice, markings, goals.

use phaselock_games::puck::rink::{CIRCLE, CORNER, DEPTH, GOAL, HALF, POST, POST_AT};
use phaselock_ui::prelude::*;

use super::seen::RIM;

/// Radius of the area in front of a goal, in metres.
const CREASE: f32 = 2.3;

/// Paints the rink. `lit` is the light of the goals, 0 to 1, and `goals` the score on the ice, each
/// with the player's side first.
pub(super) fn draw(brush: &Brush<'_>, lit: [f32; 2], goals: [u8; 2]) {
    draw_rim(brush);
    let ice = brush.rect(-HALF, HALF);
    let cold = mix(mix(palette::FLOOR, palette::STEEL, 0.17), palette::OWN, 0.1);
    brush.painter.rect_filled(ice, CornerRadius::from(CORNER * brush.metre), cold);
    for (at, lit) in [(-1.0, lit[0]), (1.0, lit[1])] {
        draw_goal(brush, at, lit);
    }
    draw_reflections(brush, lit);
    draw_score(brush, goals);
    draw_markings(brush);
    let edge = brush.stroke(0.05, mix(palette::WALL_RIM, palette::STEEL, 0.5));
    outline(brush, edge);
}

/// Paints the frame around the ice, with the goals' boxes. It is a band, since painting beneath the
/// ice would be wasted.
fn draw_rim(brush: &Brush<'_>) {
    let out = HALF + RIM;
    let radius = CornerRadius::from((CORNER + RIM) * brush.metre);
    let band = |width: f32, color: Color32| brush.stroke(width, color);
    let below = Vec2::new(0.1, 0.16);
    let shade = (brush.rect(below - out, below + out), band(0.4, Color32::from_black_alpha(90)));
    brush.painter.rect_stroke(shade.0, radius, shade.1, StrokeKind::Inside);
    let edge = Stroke::new(1.5, palette::WALL_RIM);
    let goal = Vec2::new(HALF.x + DEPTH + RIM * 0.8, GOAL + POST + RIM * 0.6);
    let corners = CornerRadius::from(0.3 * brush.metre);
    let inside = |at: f32, share: f32| {
        let corner = goal * share;
        brush.rect(((HALF.x - 0.6) * at, -corner.y), (corner.x * at, corner.y))
    };
    for at in [-1.0, 1.0] {
        brush.painter.rect(inside(at, 1.0), corners, palette::WALL_SIDE, edge, StrokeKind::Inside);
    }
    let frame = brush.rect(-out, out);
    let wall = band(RIM + 0.1, palette::WALL_SIDE);
    brush.painter.rect_stroke(frame, radius, wall, StrokeKind::Inside);
    brush.painter.rect_stroke(frame, radius, edge, StrokeKind::Inside);
    for at in [-1.0, 1.0] {
        brush.painter.rect_filled(inside(at, 0.995), corners, palette::WALL_SIDE);
    }
}

/// The inner edge of the wall: the ice, its corners, and the mouths of the goals.
fn outline(brush: &Brush<'_>, stroke: Stroke) {
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
        brush.path(part.iter().map(|at| *at * turn), stroke);
    }
}

/// A goal: its box, its net, its light.
fn draw_goal(brush: &Brush<'_>, at: f32, lit: f32) {
    let color = palette::side(at < 0.0);
    let back = HALF.x + DEPTH;
    let dark = mix(palette::VOID, color, 0.1 + 0.5 * lit);
    for [from, to] in [[HALF.x, back], [HALF.x - 0.02, HALF.x + POST]] {
        let inside = brush.rect((from * at, -GOAL), (to * at, GOAL));
        brush.painter.rect_filled(inside, 0.0, dark);
    }
    let net = (1.0, fade(palette::STEEL, 0.16 + 0.4 * lit));
    for n in 1..4 {
        let x = (HALF.x + DEPTH * n as f32 / 4.0) * at;
        brush.line([(x, -GOAL), (x, GOAL)], net);
    }
    for n in -5..=5 {
        let y = GOAL * n as f32 / 6.0;
        brush.line([(HALF.x * at, y), (back * at, y)], net);
    }
    if lit > 0.0 {
        let middle = ((HALF.x + 0.3) * at, 0.0);
        brush.glow(middle, 4.5, light(color, 0.55 * lit));
        brush.glow(middle, 2.0, light(Color32::WHITE, 0.4 * lit));
    }
}

/// Reflections of lamps and goals on the ice; scratches of many rounds.
fn draw_reflections(brush: &Brush<'_>, lit: [f32; 2]) {
    let white = Color32::WHITE;
    for (x, y, size) in [(-4.4, -2.0, 2.0), (0.4, 1.2, 2.6), (4.6, -1.4, 2.0)] {
        brush.glow((x, y), size, light(white, 0.05));
        // A lamp's stripe, as on polished ice.
        let end = |by: f32, strength: f32| ((x + by, y - by * 0.6), light(white, strength));
        brush.beam([end(-1.7, 0.0), end(0.2, 0.07)], 0.5);
        brush.beam([end(0.2, 0.07), end(1.9, 0.0)], 0.5);
    }
    for (at, lit) in [(-1.0, lit[0]), (1.0, lit[1])] {
        let color = palette::side(at < 0.0);
        brush.glow((at * (HALF.x - 0.6), 0.0), 3.6, light(color, 0.06 + 0.3 * lit));
    }
    for n in 0..46 {
        // Evenly strewn by the golden ratio.
        let share = |by: f32| (n as f32 * by).fract() * 2.0 - 1.0;
        let from = Vec2::new(share(0.618), share(0.755)) * (HALF - 0.9);
        let along = Vec2::from_angle(n as f32 * 2.4) * (0.3 + 0.5 * (n as f32 * 0.37).fract());
        brush.line([from, from + along], (1.0, fade(white, 0.035)));
    }
}

/// Paints each side's score, as if beneath the ice.
fn draw_score(brush: &Brush<'_>, goals: [u8; 2]) {
    for (at, goals) in [(-1.0, goals[0]), (1.0, goals[1])] {
        let (at, color) = (brush.point((4.0 * at, 0.0)), fade(palette::side(at < 0.0), 0.2));
        let (goals, size) = (goals.to_string(), 3.4 * brush.metre);
        text(brush.painter, at, Align2::CENTER_CENTER, &goals, (size, color));
    }
}

fn draw_markings(brush: &Brush<'_>) {
    let color = mix(palette::MARKING, palette::STEEL, 0.45);
    brush.line([(0.0, -HALF.y), (0.0, HALF.y)], brush.stroke(0.11, fade(color, 0.9)));
    brush.ring(Vec2::ZERO, CIRCLE, brush.stroke(0.06, fade(color, 0.75)));
    brush.disc(Vec2::ZERO, 0.14, color);
    for at in [-1.0, 1.0] {
        let color = palette::side(at < 0.0);
        // The goal line, and the area in front of it: hatched on the player's side, dotted on the
        // other.
        let from = if at < 0.0 { -0.25 } else { 0.25 };
        let crease = brush.stroke(0.06, fade(color, 0.7));
        brush.arc((HALF.x * at, 0.0), CREASE, (from, 0.5), crease);
        let line = brush.stroke(0.07, fade(color, 0.9));
        brush.line([(HALF.x * at, -GOAL), (HALF.x * at, GOAL)], line);
        fill_crease(brush, at, fade(color, 0.22));
        for y in [-2.3, 2.3] {
            brush.ring((4.0 * at, y), 0.5, brush.stroke(0.045, fade(color, 0.45)));
            brush.disc((4.0 * at, y), 0.09, fade(color, 0.6));
        }
    }
}

/// The pattern of an area before a goal.
fn fill_crease(brush: &Brush<'_>, at: f32, color: Color32) {
    let inside = |x: f32| (CREASE * CREASE - x * x).max(0.0).sqrt();
    if at < 0.0 {
        for n in 1..6 {
            let y = -CREASE + CREASE * n as f32 / 3.0;
            brush.line([(-HALF.x, y), (-HALF.x + inside(y), y)], brush.stroke(0.05, color));
        }
        return;
    }
    for column in 0..4 {
        for row in -3..=3 {
            let off = Vec2::new(0.35 + 0.55 * column as f32, 0.6 * row as f32);
            if off.length() < CREASE - 0.2 {
                brush.disc((HALF.x - off.x, off.y), 0.06, color);
            }
        }
    }
}

//! Gives round shapes only as many corners as they need to look round.
//!
//! egui gives a circle of 25 points 64 corners and one of 50 points 128; each corner takes six
//! triangles where the edge is smoothed. A circle through its corners deviates from a polygon by
//! the sagitta `r (1 - cos(pi / n))`; `n` is chosen for a deviation that is invisible.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use egui_macroquad::egui::emath::GuiRounding as _;
use egui_macroquad::egui::epaint::{CircleShape, PathShape, PathStroke, RectShape};
use egui_macroquad::egui::{Color32, CornerRadius, Pos2, Shape, Stroke, StrokeKind, Vec2};

/// Maximum deviation of a polygon from its circle, in pixels: edges are smoothed over a whole one.
const DEVIATION: f32 = 0.2;
/// Maximum number of corners: egui's own. A window full of circles larger than any screen is still
/// drawn in time.
const CORNERS_MAX: f32 = 128.0;
/// Radius in pixels up to which egui's own circles have few corners, or are copied from a texture.
const SMALL: f32 = 9.0;

/// Number of corners of a circle with a radius in pixels.
fn corners(radius: f32) -> f32 {
    let angle = (1.0 - DEVIATION / radius.max(2.0 * DEVIATION)).acos();
    (PI / angle).ceil().clamp(8.0, CORNERS_MAX)
}

/// Reduces the corners of a shape that has more than it needs.
pub(super) fn simplify(shape: &mut Shape, pixels_per_point: f32) {
    let simple = match shape {
        Shape::Vec(shapes) => {
            shapes.iter_mut().for_each(|shape| simplify(shape, pixels_per_point));
            None
        }
        Shape::Circle(it) => circle(it, pixels_per_point),
        Shape::Rect(it) => rounded(it, pixels_per_point),
        _ => None,
    };
    if let Some(simple) = simple {
        *shape = simple;
    }
}

/// A polygon for a circle, or `None` if egui draws it.
fn circle(it: &CircleShape, pixels_per_point: f32) -> Option<Shape> {
    let CircleShape { center, radius, fill, stroke } = *it;
    let is_simple = radius * pixels_per_point > SMALL && radius.is_finite() && center.is_finite();
    if !is_simple {
        return None;
    }
    let count = corners((radius + stroke.width) * pixels_per_point);
    // Half of the deviation lies inside of the circle, and half outside.
    let out = radius * (1.0 + (1.0 - (PI / count).cos()) / 2.0);
    // egui extends a path by half of its stroke beyond its points; those of a ring lie in the
    // middle of the stroke.
    let (out, kind) = match fill == Color32::TRANSPARENT {
        true => (out + stroke.width / 2.0, StrokeKind::Middle),
        false => (out, StrokeKind::Outside),
    };
    let corner = |n: u32| center + Vec2::angled(n as f32 / count * TAU) * out;
    Some(polygon((0..count as u32).map(corner).collect(), fill, stroke, kind))
}

/// A polygon for a rectangle with round corners, or `None` if egui draws it: without round corners,
/// with a texture, blurred, or so narrow that its edges meet.
fn rounded(it: &RectShape, pixels_per_point: f32) -> Option<Shape> {
    let RectShape { mut rect, corner_radius, stroke, fill, stroke_kind, .. } = *it;
    let pixel = 1.0 / pixels_per_point;
    let smooth = it.brush.is_none() && it.blur_width == 0.0 && rect.is_finite();
    let room = rect.size().min_elem() - 2.0 * stroke.width;
    if !smooth || corner_radius == CornerRadius::ZERO || room < 4.0 * pixel {
        return None;
    }
    if it.round_to_pixels.unwrap_or(true) {
        let pixels = stroke.width * pixels_per_point;
        let odd = pixels > 0.0 && (pixels <= 1.0 || pixels.round_ties_even() as u32 % 2 == 1);
        rect = match stroke_kind {
            StrokeKind::Middle if odd => rect.round_to_pixel_center(pixels_per_point),
            _ => rect.round_to_pixels(pixels_per_point),
        };
    }
    let CornerRadius { nw, ne, sw, se } = corner_radius;
    // A bend on the inside of a wide stroke would cross itself.
    let (inward, outward) = match stroke_kind {
        StrokeKind::Inside => (stroke.width, 0.0),
        StrokeKind::Middle => (stroke.width / 2.0, stroke.width / 2.0),
        StrokeKind::Outside => (0.0, stroke.width),
    };
    let least = inward + 0.1;
    let most = rect.size().min_elem() / 2.0;
    let radius =
        |points: u8| if points == 0 { 0.0 } else { f32::from(points).max(least).min(most) };
    let quadrants = [
        (rect.right_bottom(), Vec2::new(-1.0, -1.0), radius(se)),
        (rect.left_bottom(), Vec2::new(1.0, -1.0), radius(sw)),
        (rect.left_top(), Vec2::new(1.0, 1.0), radius(nw)),
        (rect.right_top(), Vec2::new(-1.0, 1.0), radius(ne)),
    ];
    let mut points = Vec::with_capacity(16);
    for (turn, (corner, inwards, radius)) in (0_u8..).zip(quadrants) {
        if radius == 0.0 {
            points.push(corner);
            continue;
        }
        let steps = (corners((radius + outward) * pixels_per_point) / 4.0).ceil();
        let from = f32::from(turn) * FRAC_PI_2;
        for step in 0..=steps as u32 {
            let out = Vec2::angled(from + step as f32 / steps * FRAC_PI_2);
            points.push(corner + (inwards + out) * radius);
        }
    }
    // Two corners in one place would have no direction between them.
    points.dedup_by(|a, b| a.distance(*b) < 0.05 * pixel);
    if points.len() > 1 && points[0].distance(points[points.len() - 1]) < 0.05 * pixel {
        points.pop();
    }
    Some(polygon(points, fill, stroke, stroke_kind))
}

fn polygon(points: Vec<Pos2>, fill: Color32, stroke: Stroke, kind: StrokeKind) -> Shape {
    let stroke = PathStroke::from(stroke).with_kind(kind);
    PathShape { points, closed: true, fill, stroke }.into()
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::epaint::Primitive;
    use egui_macroquad::egui::epaint::{ClippedShape, Mesh};
    use egui_macroquad::egui::{Context, RawInput, Rect, pos2};

    use super::*;

    /// Triangles of a shape drawn only by egui, and of the simplified shape.
    fn meshes(shape: &Shape, pixels_per_point: f32) -> [Mesh; 2] {
        let ctx = Context::default();
        let mut input = RawInput::default();
        input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point =
            Some(pixels_per_point);
        let _ = ctx.run(input, |_| {});
        let mut simple = shape.clone();
        simplify(&mut simple, pixels_per_point);
        [shape.clone(), simple].map(|shape| {
            let shapes = vec![ClippedShape { clip_rect: Rect::EVERYTHING, shape }];
            let mut primitives = ctx.tessellate(shapes, pixels_per_point);
            match primitives.remove(0).primitive {
                Primitive::Mesh(mesh) => mesh,
                Primitive::Callback(_) => unreachable!("no callback was painted"),
            }
        })
    }

    /// Sum of alpha over an area in square points: the mean of the corners, for each triangle.
    fn ink(mesh: &Mesh) -> f32 {
        let triangle = |corners: &[u32]| {
            let [a, b, c] = [0, 1, 2].map(|n| &mesh.vertices[corners[n] as usize]);
            let (u, v) = (b.pos - a.pos, c.pos - a.pos);
            let alpha: f32 = [a, b, c].iter().map(|it| f32::from(it.color.a())).sum();
            (u.x * v.y - u.y * v.x).abs() / 2.0 * alpha / (3.0 * 255.0)
        };
        mesh.indices.chunks_exact(3).map(triangle).sum()
    }

    /// Smallest rectangle around the visible part of a mesh.
    fn seen(mesh: &Mesh) -> Rect {
        let points = mesh.vertices.iter().filter(|it| it.color.a() > 0).map(|it| it.pos);
        Rect::from_points(&points.collect::<Vec<_>>())
    }

    fn rect(radius: u8, stroke: f32, kind: StrokeKind) -> Shape {
        let rect = Rect::from_min_max(pos2(20.3, 30.7), pos2(180.2, 110.4));
        Shape::Rect(RectShape::new(
            rect,
            radius,
            Color32::from_black_alpha(90),
            Stroke::new(stroke, Color32::WHITE),
            kind,
        ))
    }

    #[test]
    fn round_shapes_cover_the_same_with_fewer_triangles() {
        let edge = Stroke::new(2.0, Color32::WHITE);
        let disc = |radius| Shape::circle_filled(pos2(90.0, 90.0), radius, Color32::WHITE);
        let ring = |radius| Shape::circle_stroke(pos2(90.0, 90.0), radius, edge);
        for pixels_per_point in [1.0, 1.5, 2.0] {
            for shape in [
                disc(20.0),
                disc(60.0),
                ring(25.0),
                ring(140.0),
                rect(6, 1.0, StrokeKind::Inside),
                rect(6, 0.0, StrokeKind::Inside),
                rect(10, 3.0, StrokeKind::Middle),
                rect(20, 2.0, StrokeKind::Outside),
                Shape::Vec(vec![rect(6, 1.0, StrokeKind::Inside)]),
                // Round ends without a straight side between them.
                rect(40, 0.0, StrokeKind::Inside),
            ] {
                let [before, after] = meshes(&shape, pixels_per_point);
                let (part, inks) = (
                    after.indices.len() as f32 / before.indices.len() as f32,
                    ink(&after) / ink(&before),
                );
                assert!(part < 0.8, "{part} of the triangles of {shape:?}");
                assert!((inks - 1.0).abs() < 0.02, "{inks} of the ink of {shape:?}");
                let (was, is) = (seen(&before), seen(&after));
                let off = (was.min - is.min).length().max((was.max - is.max).length());
                assert!(off * pixels_per_point < 0.5, "{was} is {is}: {shape:?}");
            }
        }
    }

    #[test]
    fn deviation_is_a_part_of_a_pixel() {
        for radius in [9.5_f32, 30.0, 200.0, 600.0] {
            let sagitta = radius * (1.0 - (PI / corners(radius)).cos());
            assert!(sagitta <= DEVIATION * 1.001, "{sagitta} at {radius}");
        }
    }

    #[test]
    fn circles_beyond_every_screen_have_no_more_corners() {
        for radius in [1e4, 1e8, 1e30] {
            let mut shape = Shape::circle_filled(Pos2::ZERO, radius, Color32::WHITE);
            simplify(&mut shape, 2.0);
            assert!(matches!(shape, Shape::Path(path) if path.points.len() == 128), "{radius}");
        }
    }

    #[test]
    fn what_is_not_round_is_left_alone() {
        for shape in [
            rect(0, 2.0, StrokeKind::Inside),
            Shape::circle_filled(pos2(5.0, 5.0), 3.0, Color32::WHITE),
            Shape::rect_filled(
                Rect::from_min_size(Pos2::ZERO, Vec2::new(90.0, 3.0)),
                2.0,
                Color32::WHITE,
            ),
            Shape::rect_filled(Rect::EVERYTHING, 2.0, Color32::WHITE),
            Shape::circle_filled(Pos2::ZERO, f32::INFINITY, Color32::WHITE),
        ] {
            let mut simple = shape.clone();
            simplify(&mut simple, 1.0);
            assert_eq!(simple, shape);
        }
    }
}

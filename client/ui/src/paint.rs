//! Painting that egui lacks: glows, beams, arcs, spaced and shadowed text.

use egui_macroquad::egui::emath::GuiRounding as _;
use egui_macroquad::egui::epaint::{Mesh, PathStroke};
use egui_macroquad::egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui_macroquad::egui::{
    Align2, Color32, Context, FontId, Id, Painter, Pos2, Rangef, Rect, Shape, Stroke, StrokeKind,
    Vec2, vec2,
};

use super::palette;

/// Triangles of a shadow's corner.
const CORNER_STEPS: u32 = 3;

/// Strength of a ground behind text over the world, from 0 to 1.
const GROUND: f32 = 0.66;

/// The colour at a share of its opacity, 0 to 1.
pub fn fade(color: Color32, strength: f32) -> Color32 {
    color.gamma_multiply(strength.clamp(0.0, 1.0))
}

/// The colour as light of a strength from 0 to 1: it brightens what is beneath and hides nothing.
pub fn light(color: Color32, strength: f32) -> Color32 {
    let [r, g, b, _] = fade(color, strength).to_array();
    Color32::from_rgba_premultiplied(r, g, b, 0)
}

/// Mixes two colours; `part` is the share of the second, 0 to 1.
pub fn mix(a: Color32, b: Color32, part: f32) -> Color32 {
    a.lerp_to_gamma(b, part.clamp(0.0, 1.0))
}

/// A pseudo-random number from 0 up to 1 for a cell of a grid; each use has its own `salt`.
pub fn chance(column: i32, row: i32, salt: u32) -> f32 {
    // Multiplied by large odd numbers and folded, as hashes are.
    let mixed = (column as u32).wrapping_mul(0x9e37_79b9) ^ (row as u32).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ salt.wrapping_mul(0xc2b2_ae35)).wrapping_mul(0x27d4_eb2f);
    ((mixed ^ (mixed >> 15)) & 0xffff) as f32 / 65536.0
}

/// Rings of a glow as shares of its radius and strength: roughly the fall-off of light, with as
/// many rings as a radius in points can show.
fn rings(radius: f32) -> &'static [(f32, f32)] {
    match radius {
        ..8.0 => &[(0.5, 0.34), (1.0, 0.0)],
        ..40.0 => &[(0.3, 0.64), (0.65, 0.18), (1.0, 0.0)],
        _ => &[(0.25, 0.72), (0.5, 0.34), (0.75, 0.1), (1.0, 0.0)],
    }
}

/// Paints a round spot, with a radius in points, that fades towards its rim.
pub fn glow(painter: &Painter, middle: Pos2, radius: f32, color: Color32) {
    // The rim is dark, so a dozen corners look round on a small spot.
    let spokes = (radius.max(0.0).sqrt() * 3.0).clamp(8.0, 40.0) as u32;
    let shares = rings(radius);
    let mut mesh = Mesh::default();
    mesh.colored_vertex(middle, color);
    for spoke in 0..spokes {
        let out = Vec2::angled(spoke as f32 / spokes as f32 * std::f32::consts::TAU);
        for (share, strength) in shares {
            mesh.colored_vertex(middle + out * radius * *share, scale(color, *strength));
        }
    }
    let rings = shares.len() as u32;
    let at = |spoke: u32, ring: u32| 1 + (spoke % spokes) * rings + ring;
    for spoke in 0..spokes {
        mesh.add_triangle(0, at(spoke, 0), at(spoke + 1, 0));
        for ring in 1..rings {
            let (a, b) = (at(spoke, ring - 1), at(spoke + 1, ring - 1));
            let (c, d) = (at(spoke, ring), at(spoke + 1, ring));
            mesh.add_triangle(a, c, b);
            mesh.add_triangle(b, c, d);
        }
    }
    painter.add(Shape::mesh(mesh));
}

/// Paints a line, `width` points wide, that is brightest along its middle, with a colour at each
/// end.
pub fn beam(painter: &Painter, ends: [(Pos2, Color32); 2], width: f32) {
    let [(a, from), (b, to)] = ends;
    let aside = (b - a).normalized().rot90() * (width / 2.0);
    let mut mesh = Mesh::default();
    for (point, color) in [(a, from), (b, to)] {
        mesh.colored_vertex(point - aside, Color32::TRANSPARENT);
        mesh.colored_vertex(point, color);
        mesh.colored_vertex(point + aside, Color32::TRANSPARENT);
    }
    for [a, b, c] in [[0, 1, 3], [1, 3, 4], [1, 2, 4], [2, 4, 5]] {
        mesh.add_triangle(a, b, c);
    }
    painter.add(Shape::mesh(mesh));
}

/// Colours the rim of the window, fading over `depth` points towards the middle.
pub fn rim(painter: &Painter, screen: Rect, depth: f32, color: Color32) {
    let inner = screen.shrink(depth);
    let corners =
        |rect: Rect| [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
    let mut mesh = Mesh::default();
    for (out, inside) in corners(screen).into_iter().zip(corners(inner)) {
        mesh.colored_vertex(out, color);
        // Fainter half-way than a straight line would be, so that the middle stays clear.
        mesh.colored_vertex(out + (inside - out) * 0.45, scale(color, 0.32));
        mesh.colored_vertex(inside, Color32::TRANSPARENT);
    }
    for side in 0..4 {
        let (a, b) = (side * 3, (side + 1) % 4 * 3);
        for step in 0..2 {
            mesh.add_triangle(a + step, b + step, a + step + 1);
            mesh.add_triangle(b + step, a + step + 1, b + step + 1);
        }
    }
    painter.add(Shape::mesh(mesh));
}

/// Adds a convex area to a mesh; its corners are in order around it, with a colour each.
pub fn fan(mesh: &mut Mesh, corners: impl IntoIterator<Item = (Pos2, Color32)>) {
    let first = mesh.vertices.len() as u32;
    for (corner, color) in corners {
        mesh.colored_vertex(corner, color);
    }
    for last in first + 2..mesh.vertices.len() as u32 {
        mesh.add_triangle(first, last - 1, last);
    }
}

/// Adds a rectangle with hard edges, on whole pixels, to a mesh.
///
/// It takes two triangles; one with smoothed edges takes ten.
pub fn plate(mesh: &mut Mesh, painter: &Painter, rect: Rect, color: Color32) {
    let rect = rect.round_to_pixels(painter.pixels_per_point());
    if rect.is_positive() {
        mesh.add_colored_rect(rect, color);
    }
}

/// Adds a rectangular frame with hard edges to a mesh, `width` points wide, within a rectangle.
pub fn frame_of_plates(mesh: &mut Mesh, painter: &Painter, rect: Rect, width: f32, color: Color32) {
    let inner = rect.shrink(width);
    if !inner.is_positive() {
        return plate(mesh, painter, rect, color);
    }
    let (level, upright) = (rect.x_range(), inner.y_range());
    for (x, y) in [
        (level, Rangef::new(rect.top(), inner.top())),
        (level, Rangef::new(inner.bottom(), rect.bottom())),
        (Rangef::new(rect.left(), inner.left()), upright),
        (Rangef::new(inner.right(), rect.right()), upright),
    ] {
        plate(mesh, painter, Rect::from_x_y_ranges(x, y), color);
    }
}

/// Adds a horizontal or vertical line on whole pixels to a mesh, `width` points wide and at least
/// one pixel.
pub fn hairline(mesh: &mut Mesh, painter: &Painter, ends: [Pos2; 2], width: f32, color: Color32) {
    let pixels = painter.pixels_per_point();
    let half = (width * pixels).round().max(1.0) / pixels / 2.0;
    let [a, b] = ends;
    let aside = if a.x == b.x { vec2(half, 0.0) } else { vec2(0.0, half) };
    // Only the near edge is rounded, so that the width stays the same.
    let near = (a - aside).round_to_pixels(pixels);
    mesh.add_colored_rect(Rect::from_two_pos(near, near + (b - a) + aside * 2.0), color);
}

/// Paints the shadow of a raised rectangle, `blur` points wide at its edge. The middle, more than
/// `hidden` points from the edge, is left out, since the rectangle covers it.
pub fn shadow(painter: &Painter, rect: Rect, blur: f32, hidden: f32, color: Color32) {
    // A narrow rectangle has no space for more.
    let blur = blur.min(rect.size().min_elem().max(0.0));
    let dark = rect.shrink(blur / 2.0);
    let corners =
        |rect: Rect| [rect.right_bottom(), rect.left_bottom(), rect.left_top(), rect.right_top()];
    let mut mesh = Mesh::default();
    for (turn, corner) in corners(dark).into_iter().enumerate() {
        mesh.colored_vertex(corner, color);
        for step in 0..=CORNER_STEPS {
            let turns = turn as f32 + step as f32 / CORNER_STEPS as f32;
            let out = Vec2::angled(turns * std::f32::consts::FRAC_PI_2);
            mesh.colored_vertex(corner + out * blur, Color32::TRANSPARENT);
        }
    }
    let of_corner = CORNER_STEPS + 2;
    for turn in 0..4 {
        let (here, next) = (turn * of_corner, (turn + 1) % 4 * of_corner);
        for step in 1..=CORNER_STEPS {
            mesh.add_triangle(here, here + step, here + step + 1);
        }
        mesh.add_triangle(here, here + of_corner - 1, next);
        mesh.add_triangle(next, here + of_corner - 1, next + 1);
    }
    let inner = dark.shrink(hidden);
    if inner.is_positive() {
        let first = mesh.vertices.len() as u32;
        corners(inner).into_iter().for_each(|corner| mesh.colored_vertex(corner, color));
        for turn in 0..4 {
            let [a, b] = [turn, (turn + 1) % 4].map(|it| (it * of_corner, first + it));
            mesh.add_triangle(a.0, b.0, b.1);
            mesh.add_triangle(a.0, b.1, a.1);
        }
    } else {
        mesh.add_triangle(0, of_corner, 2 * of_corner);
        mesh.add_triangle(0, 2 * of_corner, 3 * of_corner);
    }
    painter.add(Shape::mesh(mesh));
}

/// Paints a convex area with its outline; the corners are in points from `at`.
pub fn polygon(
    painter: &Painter,
    at: Pos2,
    corners: &[(f32, f32)],
    fill: Color32,
    stroke: impl Into<Stroke>,
) {
    let corners = corners.iter().map(|(x, y)| at + vec2(*x, *y)).collect();
    painter.add(Shape::convex_polygon(corners, fill, stroke.into()));
}

/// A circle in the window, in points.
#[derive(Clone, Copy, Debug)]
pub struct Circle {
    /// Middle of the circle.
    pub middle: Pos2,
    /// Radius of the circle.
    pub radius: f32,
}

/// Dashes around a circle.
#[derive(Clone, Copy, Debug)]
pub struct Dashes {
    /// Number of dashes.
    pub count: u8,
    /// Where the first dash begins, in turns clockwise.
    pub from: f32,
    /// Length of a dash, as a share of the way to the next one's start.
    pub share: f32,
}

/// Paints a ring of dashes.
pub fn dashes(painter: &Painter, circle: Circle, dashes: Dashes, stroke: Stroke) {
    let part = 1.0 / f32::from(dashes.count);
    for n in 0..dashes.count {
        let from = dashes.from + f32::from(n) * part;
        arc(painter, circle, from, dashes.share * part, stroke);
    }
}

/// Paints a bar, filled from the left to a share from 0 to 1.
pub fn bar(painter: &Painter, rect: Rect, share: f32, color: Color32) {
    painter.rect_filled(rect, 2.0, fade(palette::EDGE, 0.7));
    fill_bar(painter, rect, share, color);
}

/// Fills a bar from the left to a share from 0 to 1.
pub fn fill_bar(painter: &Painter, rect: Rect, share: f32, color: Color32) {
    if share > 0.0 {
        let size = vec2(rect.width() * share.min(1.0), rect.height());
        painter.rect_filled(Rect::from_min_size(rect.min, size), 2.0, color);
    }
}

/// Paints part of a circle: from `from`, clockwise by `turns`, both in turns.
pub fn arc(painter: &Painter, circle: Circle, from: f32, turns: f32, stroke: Stroke) {
    let steps = (turns.abs() * 48.0).ceil().max(1.0);
    let point = |step: u32| {
        let angle = (from + turns * step as f32 / steps) * std::f32::consts::TAU;
        circle.middle + Vec2::angled(angle) * circle.radius
    };
    let points = (0..=steps as u32).map(point).collect();
    painter.add(Shape::line(points, PathStroke::from(stroke)));
}

/// Paints a translucent panel behind text.
pub fn panel(painter: &Painter, rect: Rect) {
    painter.rect(
        rect,
        6.0,
        fade(palette::PANEL, 0.7),
        Stroke::new(1.0, fade(palette::EDGE, 0.8)),
        StrokeKind::Inside,
    );
}

/// Size, colour and spacing of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lettering {
    /// Size of the letters in points.
    pub size: f32,
    /// Colour of the letters.
    pub color: Color32,
    /// Points between two letters, beyond the font's own.
    pub spacing: f32,
    /// Width in points at which a line is cut off.
    pub room: f32,
}

impl Lettering {
    /// Letters with the font's own spacing, in a line that is not cut off.
    pub const fn new(size: f32, color: Color32) -> Self {
        Self { size, color, spacing: 0.0, room: f32::INFINITY }
    }

    /// Letters `spacing` points further apart, as in headings.
    #[must_use]
    pub const fn spaced(self, spacing: f32) -> Self {
        Self { spacing, ..self }
    }

    /// A line that is cut off at a width of `room` points.
    #[must_use]
    pub const fn within(self, room: f32) -> Self {
        Self { room, ..self }
    }

    /// Letters small enough for a text over the world to fit into a width of `room` points.
    #[must_use]
    pub fn fitted(self, painter: &Painter, text: &str, room: f32) -> Self {
        let wide = painter.layout_job(self.job(text)).size().x;
        Self { size: self.size * (room / wide.max(1.0)).min(1.0), ..self }
    }

    /// Lays a text out in these letters.
    pub(crate) fn job(self, text: &str) -> LayoutJob {
        let format = TextFormat {
            font_id: FontId::proportional(self.size),
            extra_letter_spacing: self.spacing,
            color: self.color,
            ..TextFormat::default()
        };
        let mut job = LayoutJob::single_section(text.to_owned(), format);
        if self.room.is_finite() {
            job.wrap = TextWrapping::truncate_at_width(self.room);
            job.break_on_newline = false;
        }
        job
    }
}

impl From<(f32, Color32)> for Lettering {
    fn from((size, color): (f32, Color32)) -> Self {
        Self::new(size, color)
    }
}

/// Paints text of a size in points, whatever text size the player has chosen. Returns its
/// rectangle. Panels over the world use [`Inset`](super::inset::Inset) instead.
pub fn text(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    text: &str,
    lettering: impl Into<Lettering>,
) -> Rect {
    let lettering = lettering.into();
    let size = dense(painter.ctx(), lettering.size);
    let galley = painter.layout_job(Lettering { size, ..lettering }.job(text));
    // The last letter's spacing is invisible.
    let rect = align.anchor_size(at + vec2(lettering.spacing / 2.0, 0.0), galley.size());
    painter.galley(rect.min, galley, lettering.color);
    rect
}

/// Key of the text size in egui's memory.
const LETTERS: &str = "size of letters";

/// Stores the player's text size.
pub(crate) fn note_letters(ctx: &Context, factor: f32) {
    ctx.data_mut(|data| data.insert_temp(Id::new(LETTERS), factor));
}

/// The player's text size, as a factor of the usual one.
pub fn letters(ctx: &Context) -> f32 {
    ctx.data(|data| data.get_temp::<f32>(Id::new(LETTERS))).unwrap_or(1.0)
}

/// Key of the points per CSS pixel in egui's memory.
const CSS: &str = "points of a pixel of CSS";
/// Minimum size of letters that must be readable, in CSS pixels, which are about as large on every
/// screen.
pub const READABLE: f32 = 11.0;

/// Stores the number of points per CSS pixel.
pub fn note_css(ctx: &Context, points: f32) {
    ctx.data_mut(|data| data.insert_temp(Id::new(CSS), points));
}

/// Factor by which letters of `size` points must grow to be readable on a phone. A card then has
/// larger letters on more lines.
pub fn to_be_read(ctx: &Context, size: f32) -> f32 {
    let css = ctx.data(|data| data.get_temp::<f32>(Id::new(CSS))).unwrap_or(1.0);
    (READABLE * css / (size * letters(ctx))).max(1.0)
}

/// Letter size in points, raised to at least [`READABLE`] CSS pixels.
pub fn readable(ctx: &Context, size: f32) -> f32 {
    size * to_be_read(ctx, size)
}

/// Letter size that ignores the player's text size, for places where nothing else grows with it: in
/// the world, and in tables of menus.
pub fn dense(ctx: &Context, size: f32) -> f32 {
    size / letters(ctx)
}

/// Paints a dark ground behind text over the world, of a strength from 0 to 1.
pub fn ground(painter: &Painter, rect: Rect, strength: f32) {
    painter.rect_filled(rect, 5.0, fade(palette::VOID, GROUND * strength));
}

/// Rectangle of the ground behind a text.
pub fn around(text: Rect) -> Rect {
    text.expand2(vec2(6.0, 2.0))
}

/// Paints text on a dark ground, readable over anything. Returns its rectangle.
pub fn text_over(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    text: &str,
    lettering: impl Into<Lettering>,
) -> Rect {
    let lettering = lettering.into();
    let galley = painter.layout_job(lettering.job(text));
    let rect = align.anchor_size(at, galley.size());
    ground(painter, around(rect), f32::from(lettering.color.a()) / 255.0);
    painter.galley(rect.min, galley, lettering.color);
    rect
}

fn scale(color: Color32, strength: f32) -> Color32 {
    let [r, g, b, a] = color.to_array().map(|part| (f32::from(part) * strength).round() as u8);
    Color32::from_rgba_premultiplied(r, g, b, a)
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::pos2;

    use super::*;

    fn bounds(mesh: &Mesh) -> Rect {
        Rect::from_points(&mesh.vertices.iter().map(|it| it.pos).collect::<Vec<_>>())
    }

    fn area(mesh: &Mesh) -> f32 {
        let triangle = |corners: &[u32]| {
            let [a, b, c] = [0, 1, 2].map(|n| mesh.vertices[corners[n] as usize].pos);
            let (u, v) = (b - a, c - a);
            (u.x * v.y - u.y * v.x).abs() / 2.0
        };
        mesh.indices.chunks_exact(3).map(triangle).sum()
    }

    #[test]
    fn plates_and_hairlines_cover_whole_pixels() {
        for pixels in [1.0, 1.25, 2.0] {
            let ctx = Context::default();
            ctx.set_pixels_per_point(pixels);
            let _ = ctx.run(Default::default(), |ctx| {
                let painter = ctx.debug_painter();
                let rect = Rect::from_min_max(pos2(10.3, 20.6), pos2(50.2, 40.4));
                let mut frame = Mesh::default();
                frame_of_plates(&mut frame, &painter, rect, 4.0, Color32::WHITE);
                assert_eq!(bounds(&frame), rect.round_to_pixels(pixels));
                let inner = rect.shrink(4.0).round_to_pixels(pixels);
                let wanted = rect.round_to_pixels(pixels).area() - inner.area();
                assert!((area(&frame) - wanted).abs() < 0.01, "{} of {wanted}", area(&frame));

                let mut line = Mesh::default();
                let ends = [pos2(7.4, 3.0), pos2(7.4, 33.0)];
                hairline(&mut line, &painter, ends, 1.0, Color32::WHITE);
                let size = bounds(&line).size() * pixels;
                assert!((size - vec2(pixels.round(), 30.0 * pixels)).length() < 0.01, "{size}");
                let left = bounds(&line).left() * pixels;
                assert!((left - left.round()).abs() < 0.01 && (left / pixels - 7.4).abs() < 1.0);
            });
        }
    }

    #[test]
    fn shadow_leaves_out_what_is_hidden_and_nothing_else() {
        let ctx = Context::default();
        let rect = Rect::from_min_max(pos2(100.0, 100.0), pos2(300.0, 200.0));
        let shown = |hidden: f32| {
            let output = ctx.run(Default::default(), |ctx| {
                shadow(&ctx.debug_painter(), rect, 20.0, hidden, Color32::BLACK);
            });
            let meshes = output.shapes.into_iter().filter_map(|it| match it.shape {
                Shape::Mesh(mesh) => Some((area(&mesh), bounds(&mesh))),
                _ => None,
            });
            meshes.last().expect("a mesh")
        };
        let ((whole, around), (ring, same)) = (shown(f32::INFINITY), shown(15.0));
        assert_eq!((around, same), (rect.expand(10.0), rect.expand(10.0)));
        let middle = rect.shrink(10.0 + 15.0).area();
        assert!((whole - ring - middle).abs() < 0.1, "{whole}, {ring}, {middle}");
    }
}

//! The sky: stars in near and far layers, and mist between them.
//!
//! The camera crosses the field's edges without a jump, so nothing here depends on any edge.

use macroquad::rand::RandGenerator;
use phaselock_ui::prelude::*;

/// Layers of stars: share of the camera's motion, stars per tile, size in points.
const LAYERS: [(f32, usize, f32); 3] = [(0.12, 130, 1.7), (0.28, 70, 2.4), (0.5, 30, 3.4)];
/// Side of a layer's tile, in metres of that layer.
const TILE: f32 = 90.0;
/// Mist: position in its tile and radius, in metres.
const MIST: [(f32, f32, f32); 4] =
    [(30.0, 40.0, 46.0), (120.0, 20.0, 38.0), (80.0, 130.0, 52.0), (160.0, 100.0, 40.0)];
const MIST_TILE: f32 = 190.0;
const MIST_PART: f32 = 0.07;

#[derive(Debug)]
pub(super) struct Space {
    layers: Vec<Vec<Star>>,
}

#[derive(Clone, Copy, Debug)]
struct Star {
    at: Vec2,
    size: f32,
    color: Color32,
    /// Phase of the twinkling, in radians.
    beat: f32,
}

impl Default for Space {
    fn default() -> Self {
        let random = RandGenerator::new();
        random.srand(7);
        let star = |size: f32| {
            let bright = random.gen_range(0.55_f32, 1.0);
            let warm = mix(palette::STEEL, palette::WARN, random.gen_range(-0.6, 0.4));
            Star {
                at: Vec2::new(random.gen_range(0.0, TILE), random.gen_range(0.0, TILE)),
                size: size * random.gen_range(0.6, 1.2),
                color: fade(mix(warm, palette::OWN, random.gen_range(-0.5, 0.4)), bright),
                beat: random.gen_range(0.0, 6.3),
            }
        };
        let layer = |(_, count, size)| (0..count).map(|_| star(size)).collect();
        Self { layers: LAYERS.map(layer).into() }
    }
}

/// Images of a point that repeats every `tile` metres, within `half` of the middle.
fn images(at: Vec2, tile: f32, half: Vec2) -> impl Iterator<Item = Vec2> {
    let first = Vec2::new(at.x.rem_euclid(tile), at.y.rem_euclid(tile));
    let span = move |first: f32, half: f32| {
        let least = ((-half - first) / tile).ceil() as i32;
        let most = ((half - first) / tile).floor() as i32;
        (least..=most).map(move |n| first + n as f32 * tile)
    };
    span(first.y, half.y).flat_map(move |y| span(first.x, half.x).map(move |x| Vec2::new(x, y)))
}

impl Space {
    pub(super) fn draw(&self, brush: &Brush<'_>, age_secs: f32) {
        let middle = brush.camera.screen.center();
        for (n, (x, y, radius)) in MIST.into_iter().enumerate() {
            let away = Vec2::new(x, y) - brush.camera.middle * MIST_PART;
            let thin = if n % 2 == 0 { palette::OWN_DARK } else { palette::MARKING };
            let color = mix(thin, palette::OWN, 0.12);
            for at in images(away, MIST_TILE, brush.camera.half() + radius) {
                let at = middle + vec2(at.x, at.y) * brush.metre;
                glow(brush.painter, at, radius * brush.metre, light(color, 0.8));
            }
        }
        let mut mesh = Mesh::default();
        for (stars, (part, ..)) in self.layers.iter().zip(LAYERS) {
            for star in stars {
                let twinkle = 0.8 + 0.2 * (age_secs * 1.7 + star.beat).sin();
                let color = light(star.color, twinkle);
                for at in
                    images(star.at - brush.camera.middle * part, TILE, brush.camera.half() + 1.0)
                {
                    let at = middle + vec2(at.x, at.y) * brush.metre;
                    let half = star.size * (brush.camera.screen.height() / 900.0).max(0.7);
                    // A diamond, brightest in its middle.
                    let first = mesh.vertices.len() as u32;
                    mesh.colored_vertex(at, color);
                    for (x, y) in [(half, 0.0), (0.0, half), (-half, 0.0), (0.0, -half)] {
                        mesh.colored_vertex(at + vec2(x, y) * 1.3, light(color, 0.2));
                    }
                    for side in 0..4 {
                        mesh.add_triangle(first, first + 1 + side, first + 1 + (side + 1) % 4);
                    }
                }
            }
        }
        brush.painter.add(Shape::mesh(mesh));
    }
}

/// Edges of the field within a distance of a position, from that position.
pub(super) fn seams(from: Vec2, reach: f32, size: f32) -> impl Iterator<Item = [Vec2; 2]> {
    let sides = [-from.x, size - from.x].map(|x| (x, false)).into_iter();
    let sides = sides.chain([-from.y, size - from.y].map(|y| (y, true)));
    sides.filter(move |(off, _)| off.abs() < reach).map(move |(off, level)| {
        // A chord of the circle.
        let half = (reach * reach - off * off).sqrt();
        [-half, half].map(|end| if level { Vec2::new(end, off) } else { Vec2::new(off, end) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sky_has_no_seam() {
        // All images move by as much as the camera does, wherever a tile begins.
        let half = Vec2::new(50.0, 30.0);
        let seen =
            |shift: f32| images(Vec2::new(40.0 - shift, 10.0), TILE, half).collect::<Vec<_>>();
        for n in 0..2000 {
            let shift = n as f32 * 0.1;
            for at in seen(shift) {
                let next = at - Vec2::new(0.1, 0.0);
                let gone = next.x < -half.x;
                let there = seen(shift + 0.1).iter().any(|after| after.distance(next) < 0.01);
                assert!(gone || there, "{at} at {shift}");
            }
            assert!(!seen(shift).is_empty());
        }
    }
}

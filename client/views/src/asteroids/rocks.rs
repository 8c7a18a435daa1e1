//! Rocks: shapes and spin from their seeds, and a warning before they appear.

use phaselock_games::asteroids::Rock;
use phaselock_games::asteroids::rocks::radius;
use phaselock_ui::prelude::*;

const CORNERS: usize = 12;
/// Ticks before its end at which a split looks solid; arbitrary, longer than a split takes.
const SOON_TICKS: f32 = 30.0;

/// A number from 0 up to 1 that follows from a rock's seed.
fn number(seed: u8, which: u32) -> f32 {
    chance(seed.into(), 0, which)
}

/// Corners around a rock's middle as parts of its radius, before it turns.
fn corners(seed: u8) -> [Vec2; CORNERS] {
    std::array::from_fn(|n| {
        let turn = (n as f32 + 0.5 * (number(seed, 40 + n as u32) - 0.5)) / CORNERS as f32;
        let out = 0.72 + 0.36 * number(seed, n as u32);
        Vec2::from_angle(turn * std::f32::consts::TAU) * out
    })
}

/// Turn of a rock at a time, in radians: it follows from the seed and is never sent.
pub(super) fn turned(seed: u8, secs: f64) -> f32 {
    let speed = f64::from(number(seed, 99) - 0.5) * 1.6;
    (speed * secs % std::f64::consts::TAU) as f32
}

/// Paints a rock at a point of the picture's world, `secs` into the world's time.
pub(super) fn draw(brush: &Brush<'_>, rock: &Rock, at: Vec2, secs: f64) {
    let turn = Vec2::from_angle(turned(rock.seed, secs)) * radius(rock);
    let width = (0.11 * brush.metre).clamp(1.2, 3.0);
    let brush = brush.local(at, turn);
    let outline = corners(rock.seed).map(|corner| brush.point(corner));
    if rock.forming > 0 && rock.size == 0 {
        draw_warning(&brush, rock, &outline, 0.35 * brush.camera.scale);
        return;
    }
    // The parts of a split rock are faint while they are harmless.
    let there = 1.0 - 0.65 * (f32::from(rock.forming) / SOON_TICKS).min(1.0);
    let mut body = Mesh::default();
    let middle = brush.point(Vec2::ZERO);
    body.colored_vertex(middle, fade(palette::WALL_SIDE, there));
    for (n, corner) in (0..).zip(outline) {
        // A light from the upper left.
        let lit = ((corner - middle).normalized().dot(vec2(-0.6, -0.8)) + 1.0) / 2.0;
        let part = lit * 0.9 - 0.1 + 0.1 * number(rock.seed, 70 + n);
        body.colored_vertex(corner, fade(mix(palette::GRID, palette::WALL_TOP, part), there));
        body.add_triangle(0, 1 + n, 1 + (n + 1) % CORNERS as u32);
    }
    brush.painter.add(Shape::mesh(body));
    let line = fade(palette::WALL_RIM, there);
    for n in 0..2 + 2 * u32::from(rock.size == 0) {
        // Craters.
        let out = 0.2 + 0.4 * number(rock.seed, 30 + n);
        let out = Vec2::from_angle(number(rock.seed, 20 + n) * 6.3) * out;
        let (size, edge) = (0.08 + 0.12 * number(rock.seed, 50 + n), fade(line, 0.45));
        brush.circle(out, size, fade(palette::GRID, 0.5 * there), (width * 0.6, edge));
    }
    brush.outline(corners(rock.seed), (width, mix(line, palette::STEEL, 0.5 * there)));
}

/// Paints a rock that is about to appear: a broken outline, and a ring that closes in.
fn draw_warning(brush: &Brush<'_>, rock: &Rock, outline: &[Pos2], dash: f32) {
    let left = f32::from(rock.forming) / 90.0;
    let blink = 0.55 + 0.45 * (left * 40.0).sin();
    let color = fade(palette::WARN, 0.35 + 0.4 * blink * (1.0 - left).max(0.2));
    let mut points = outline.to_vec();
    points.extend(outline.first());
    brush.painter.extend(Shape::dashed_line(&points, Stroke::new(1.5, color), dash, dash));
    brush.ring(Vec2::ZERO, 1.1 + 1.2 * left, (1.2, fade(color, 0.7)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_differ_and_stay_about_as_large_as_what_can_be_hit() {
        for seed in 0..=255_u8 {
            let shape = corners(seed);
            for (n, corner) in shape.iter().enumerate() {
                assert!((0.7..1.1).contains(&corner.length()), "{corner}");
                // Around the middle once, so that it can be filled from there.
                assert!(corner.perp_dot(shape[(n + 1) % CORNERS]) > 0.0, "{seed}");
            }
            assert!(seed == 0 || shape != corners(seed - 1));
            assert!(
                (turned(seed, 1e7) - turned(seed, 1e7 + 0.01)).abs() < 0.02
                    || turned(seed, 1e7).abs() > 6.2
            );
        }
    }
}

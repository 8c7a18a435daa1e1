//! Shade over everything that the local player cannot see; the server does not reveal players
//! there.
//!
//! A ray sweeps around the player from corner to corner. Between two neighbouring corners, the
//! nearest thing is one side of one wall, with one piece of shade behind it. So no two pieces
//! overlap, and the shade is equally dark everywhere. Its edge gets softer with the distance from
//! the corner, as with a lamp.

use phaselock::physics::{Aabb, ray_to_walls};
use phaselock_games::skirmish::arena::{Arena, HALF};
use phaselock_ui::prelude::*;

/// Darkness of the shade, 0 to 1.
const DARK: f32 = 0.48;
/// Metres from the player beyond which there is nothing.
const FAR: f32 = 160.0;
/// Angle by which a ray passes a corner on either side, in radians: 2 mm at 20 m.
const PAST: f32 = 1e-4;
/// Half of the lamp's size in metres: the softness of the shade's edge.
const LAMP: f32 = 0.3;
/// Maximum angle of a soft edge, in radians; near corners it would be the lamp's own.
const SOFT_MAX: f32 = 0.16;
/// Pieces of a soft edge, each as long as it is visible.
const SLICES: u32 = 6;

/// A direction, and the visible distances just before and just after it.
#[derive(Clone, Copy, Debug)]
struct Look {
    along: Vec2,
    before: f32,
    after: f32,
}

/// Paints the shade on the floor, as seen from the viewpoint.
pub(super) fn draw(brush: &Brush<'_>, arena: &Arena, viewpoint: Vec2) {
    // Only walls between the viewpoint and the visible part can shade that part.
    let seen = Aabb::centred(brush.camera.middle, brush.camera.half());
    let seen = Aabb { min: seen.min.min(viewpoint), max: seen.max.max(viewpoint) }.grown(0.5);
    let near = |wall: &&Aabb| wall.min.cmplt(seen.max).all() && wall.max.cmpgt(seen.min).all();
    let walls: Vec<_> = arena.walls.iter().filter(near).copied().collect();
    // A viewpoint inside a wall sees nothing. It gets there while a correction is smoothed out.
    if walls.iter().any(|wall| wall.nearest(viewpoint) == viewpoint) {
        return;
    }
    let lines = rays(&walls, viewpoint);
    let mut mesh = Mesh::default();
    let dark = fade(palette::VOID, DARK);
    for (look, next) in lines.iter().zip(lines.iter().cycle().skip(1)) {
        let (a, b) = (viewpoint + look.along * look.after, viewpoint + next.along * next.before);
        // Beyond the arena there is no floor.
        if !(is_outer(a) && is_outer(b)) {
            let far = [viewpoint + next.along * FAR, viewpoint + look.along * FAR];
            brush.quad(&mut mesh, [a, b, far[0], far[1]], dark);
        }
        let step = look.after - look.before;
        if step.abs() > 0.05 {
            edge(&mut mesh, brush, &walls, viewpoint, *look);
        }
    }
    brush.painter.add(Shape::mesh(mesh));
}

/// All directions in which something begins or ends, in order.
fn rays(walls: &[Aabb], viewpoint: Vec2) -> Vec<Look> {
    let corners = |area: Aabb| {
        let Aabb { min, max } = area;
        [min, Vec2::new(max.x, min.y), max, Vec2::new(min.x, max.y)]
    };
    let mut points: Vec<Vec2> = walls.iter().flat_map(|wall| corners(*wall)).collect();
    for (n, wall) in walls.iter().enumerate() {
        for other in &walls[n + 1..] {
            // Two walls that intersect have corners that neither has by itself.
            let both = Aabb { min: wall.min.max(other.min), max: wall.max.min(other.max) };
            if both.min.cmple(both.max).all() {
                points.extend(corners(both));
            }
        }
    }
    points.extend(corners(Aabb::centred(Vec2::ZERO, HALF)));
    let mut angles: Vec<f32> = points.iter().map(|point| (*point - viewpoint).to_angle()).collect();
    angles.sort_by(f32::total_cmp);
    angles.dedup_by(|a, b| (*a - *b).abs() < 3.0 * PAST);
    let far = |angle: f32| ray_to_walls(viewpoint, Vec2::from_angle(angle), walls, FAR);
    let look = |angle: f32| Look {
        along: Vec2::from_angle(angle),
        before: far(angle - PAST),
        after: far(angle + PAST),
    };
    angles.into_iter().map(look).collect()
}

/// Whether a point is on the outer walls.
fn is_outer(point: Vec2) -> bool {
    (point.abs() - HALF + 0.05).max_element() > 0.0
}

/// The soft edge at a corner, on the lit side of its shade.
fn edge(mesh: &mut Mesh, brush: &Brush<'_>, walls: &[Aabb], viewpoint: Vec2, look: Look) {
    let dark = fade(palette::VOID, DARK);
    let near = look.before.min(look.after);
    let lit = if look.after > look.before { look.along.perp() } else { -look.along.perp() };
    let corner = viewpoint + look.along * near;
    let soft = (LAMP / near.max(0.1)).min(SOFT_MAX);
    let ray = |slice: u32| {
        let out = (look.along + lit * (soft * slice as f32 / SLICES as f32)).normalize();
        // Past the corner itself, up to the next wall in the light.
        let reach = ray_to_walls(corner + out * 0.02 + lit * 0.01, out, walls, FAR);
        (corner + out * reach, fade(dark, 1.0 - slice as f32 / SLICES as f32))
    };
    let mut last = ray(0);
    for next in (1..=SLICES).map(ray) {
        let corners = [(corner, next.1), last, next];
        brush.fan(mesh, corners);
        last = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::physics::has_line_of_sight;

    #[test]
    fn all_that_is_behind_something_lies_in_the_shade() {
        let arena = Arena::new();
        for viewpoint in [Vec2::new(-6.0, 0.3), Vec2::new(4.0, 4.4), Vec2::new(22.9, 14.2)] {
            let lines = rays(&arena.walls, viewpoint);
            for point in &arena.waypoints {
                let (angle, distance) =
                    ((*point - viewpoint).to_angle(), viewpoint.distance(*point));
                let next = lines.partition_point(|look| look.along.to_angle() <= angle);
                let from = lines[(next + lines.len() - 1) % lines.len()];
                let to = lines[next % lines.len()];
                // Where the line to the point meets the side between the two.
                let (a, b) = (from.along * from.after, to.along * to.before);
                let along = Vec2::from_angle(angle);
                let far = a.perp_dot(b - a) / along.perp_dot(b - a);
                // Points in line with a corner, or at a wall, do not count.
                let grazes = lines.iter().any(|look| look.along.angle_to(along).abs() < 1e-3);
                if !grazes && (far - distance).abs() > 0.05 {
                    let lit = far > distance;
                    assert_eq!(
                        lit,
                        has_line_of_sight(viewpoint, *point, &arena.walls),
                        "{point} from {viewpoint}"
                    );
                }
            }
        }
    }
}

//! Circles and boxes: overlaps, sliding along walls, and sweeps.

use glam::Vec2;

use phaselock::physics::Aabb;

/// An outline around a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyShape {
    /// A circle, by its radius.
    Circle(f32),
    /// An axis-aligned box, by half of its size.
    Box(Vec2),
}

impl BodyShape {
    /// Returns half of its width and height.
    pub fn half(self) -> Vec2 {
        match self {
            Self::Circle(radius) => Vec2::splat(radius),
            Self::Box(half) => half,
        }
    }
}

/// Returns the overlap of two shapes: the direction from the first to the second in which they
/// separate soonest, and that distance in metres.
pub(super) fn overlap(a: Vec2, of_a: BodyShape, b: Vec2, of_b: BodyShape) -> Option<(Vec2, f32)> {
    let to = b - a;
    let room = of_a.half() + of_b.half() - to.abs();
    if room.min_element() <= 0.0 {
        return None;
    }
    match (of_a, of_b) {
        (BodyShape::Circle(one), BodyShape::Circle(other)) => {
            let distance = to.length();
            let depth = one + other - distance;
            let along = if distance > 0.0 { to / distance } else { Vec2::X };
            (depth > 0.0).then_some((along, depth))
        }
        (BodyShape::Box(_), BodyShape::Box(_)) => Some(shorter_axis(to, room)),
        (BodyShape::Circle(radius), BodyShape::Box(half)) => {
            let nearest = (-to).clamp(-half, half);
            let out = -to - nearest;
            let distance = out.length();
            if distance == 0.0 {
                // The centre is inside.
                return Some(shorter_axis(to, room));
            }
            (distance < radius).then(|| (-out / distance, radius - distance))
        }
        (BodyShape::Box(_), BodyShape::Circle(_)) => {
            overlap(b, of_b, a, of_a).map(|(along, depth)| (-along, depth))
        }
    }
}

fn shorter_axis(to: Vec2, room: Vec2) -> (Vec2, f32) {
    let sign = |to: f32| if to < 0.0 { -1.0 } else { 1.0 };
    if room.x < room.y {
        (Vec2::new(sign(to.x), 0.0), room.x)
    } else {
        (Vec2::new(0.0, sign(to.y)), room.y)
    }
}

/// Maximum step of a movement, in metres: less than half of the thinnest wall and of the smallest
/// object, so that nothing passes through anything.
const STEP: f32 = 0.15;

/// Moves an object in steps, and slides it along the walls, which stop its velocity.
pub(super) fn shift(
    position: &mut Vec2,
    velocity: &mut Vec2,
    shape: BodyShape,
    by: Vec2,
    walls: &[Aabb],
) {
    let steps = (by.length() / STEP).ceil().clamp(1.0, 64.0);
    for _ in 0..steps as u32 {
        *position += by / steps;
        // Getting out of one wall may lead into its neighbour; at most two are near.
        for _ in 0..2 {
            for wall in walls {
                let half = wall.size() / 2.0;
                let out = overlap(wall.min + half, BodyShape::Box(half), *position, shape);
                let Some((normal, depth)) = out else { continue };
                *position += normal * depth;
                let into = velocity.dot(normal).min(0.0);
                *velocity -= normal * into;
            }
        }
    }
}

/// Returns the metres that a circle flies along a unit vector until it touches a shape, and the
/// direction away from that; `None` if nothing is in the way within `most`. It never meets what it
/// flies away from.
pub(super) fn sweep(
    from: Vec2,
    radius: f32,
    along: Vec2,
    most: f32,
    things: impl Iterator<Item = (Vec2, BodyShape)>,
) -> Option<(f32, Vec2)> {
    let mut first: Option<(f32, Vec2)> = None;
    for (middle, shape) in things {
        let reach = shape.half() + radius + most;
        if (middle - from).abs().cmpgt(reach).any() {
            continue;
        }
        let met = match shape {
            BodyShape::Circle(other) => sweep_circle(from, along, middle, radius + other),
            BodyShape::Box(half) => sweep_box(from, along, middle, half + radius),
        };
        if let Some(met) = met.filter(|met| met.0 <= first.map_or(most, |first| first.0)) {
            first = Some(met);
        }
    }
    first
}

fn sweep_circle(from: Vec2, along: Vec2, middle: Vec2, radius: f32) -> Option<(f32, Vec2)> {
    let far = phaselock::physics::ray_to_circle(from, along, middle, radius)?;
    let away = from + along * far - middle;
    let normal = if away == Vec2::ZERO { -along } else { away.normalize() };
    (along.dot(normal) < 0.0).then_some((far, normal))
}

/// A box grown by a circle's radius keeps its corners, where the circle touches slightly early.
fn sweep_box(from: Vec2, along: Vec2, middle: Vec2, half: Vec2) -> Option<(f32, Vec2)> {
    let to = from - middle;
    if to.abs().cmple(half).all() {
        // Already inside, if only by rounding: out by the nearest side.
        let (normal, _) = shorter_axis(to, half - to.abs());
        return (along.dot(normal) < 0.0).then_some((0.0, normal));
    }
    let mut enter = (f32::MIN, Vec2::ZERO);
    let mut leave = f32::MAX;
    for (axis, to, along, half) in
        [(Vec2::X, to.x, along.x, half.x), (Vec2::Y, to.y, along.y, half.y)]
    {
        if along == 0.0 {
            if to.abs() > half {
                return None;
            }
            continue;
        }
        let towards = if along < 0.0 { -1.0 } else { 1.0 };
        let near = (-half * towards - to) / along;
        if near > enter.0 {
            enter = (near, axis * -towards);
        }
        leave = leave.min((half * towards - to) / along);
    }
    (enter.0 >= 0.0 && enter.0 <= leave).then_some(enter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::physics::direction;
    use proptest::prelude::*;

    const CRATE: BodyShape = BodyShape::Box(Vec2::splat(0.5));

    #[test]
    fn overlapping_shapes_are_parted_the_shorter_way() {
        let ball = BodyShape::Circle(0.4);
        let met = overlap(Vec2::ZERO, ball, Vec2::new(0.8, 0.1), CRATE).expect("they touch");
        assert!(met.0 == Vec2::X && (met.1 - 0.1).abs() < 1e-6, "{met:?}");
        let back = overlap(Vec2::new(0.8, 0.1), CRATE, Vec2::ZERO, ball).expect("they touch");
        assert_eq!((back.0, back.1), (-met.0, met.1));
        assert_eq!(overlap(Vec2::ZERO, ball, Vec2::new(0.8, 0.8), CRATE), None, "past the corner");
        assert!(overlap(Vec2::ZERO, ball, Vec2::ZERO, ball).is_some());
    }

    #[test]
    fn a_sweep_meets_the_first_side_in_its_way() {
        let things = || [(Vec2::new(3.0, 0.0), CRATE), (Vec2::new(6.0, 0.0), CRATE)].into_iter();
        let met = sweep(Vec2::ZERO, 0.1, Vec2::X, 9.0, things());
        assert_eq!(met, Some((2.4, -Vec2::X)));
        assert_eq!(sweep(Vec2::ZERO, 0.1, Vec2::X, 2.0, things()), None);
        assert_eq!(sweep(Vec2::ZERO, 0.1, Vec2::Y, 9.0, things()), None);
        let inside = Vec2::new(2.45, 0.0);
        assert_eq!(sweep(inside, 0.1, Vec2::X, 9.0, things()), Some((0.0, -Vec2::X)));
        assert_eq!(sweep(inside, 0.1, -Vec2::X, 9.0, things()), None, "it is on its way out");
    }

    proptest! {
        #[test]
        fn parted_things_do_not_overlap(x in -1.5_f32..1.5, y in -1.5_f32..1.5, kinds in 0..4) {
            let shape = |round: bool| if round { BodyShape::Circle(0.4) } else { CRATE };
            let (a, b) = (shape(kinds & 1 == 0), shape(kinds & 2 == 0));
            let at = Vec2::new(x, y);
            if let Some((along, depth)) = overlap(Vec2::ZERO, a, at, b) {
                let left = overlap(Vec2::ZERO, a, at + along * depth, b);
                prop_assert!(left.is_none_or(|(_, depth)| depth < 1e-4), "{left:?}");
            }
        }

        #[test]
        fn no_way_leads_through_a_wall(angle in 0.0_f32..1.0, far in 0.0_f32..9.0, round: bool) {
            let wall = Aabb::centred(Vec2::ZERO, Vec2::new(0.5, 2.0));
            let shape = if round { BodyShape::Circle(0.4) } else { CRATE };
            let mut position = direction(angle) * 3.5;
            let mut velocity = -direction(angle);
            let side = position;
            shift(&mut position, &mut velocity, shape, -side.normalize() * far, &[wall]);
            let depth = overlap(Vec2::ZERO, BodyShape::Box(Vec2::new(0.5, 2.0)), position, shape);
            prop_assert!(depth.is_none_or(|(_, depth)| depth < 1e-4), "{position} {depth:?}");
        }
    }
}

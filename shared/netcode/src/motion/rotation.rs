//! Unit quaternions, treated as points on a sphere that move along great circles.
//!
//! A quaternion and its negative are the same rotation; here all are on one side, as on a
//! [`Track`](super::Track). They come from a grid, so their length is only approximately 1.

/// Four components.
pub(super) type Four = [f64; 4];

fn dot(a: &Four, b: &Four) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn length(a: &Four) -> f64 {
    dot(a, a).sqrt()
}

fn sum(a: &Four, by: f64, b: &Four) -> Four {
    std::array::from_fn(|at| a[at] + by * b[at])
}

/// Returns the first four components of a slice.
pub(super) fn four(coords: &[f64]) -> Four {
    std::array::from_fn(|at| coords[at])
}

/// Returns the part of a change that is tangential to the sphere at a point.
fn tangent(at: &Four, change: &Four) -> Four {
    sum(change, -dot(at, change) / dot(at, at).max(f64::MIN_POSITIVE), at)
}

/// Returns the rate of change of the components per second on arrival at `to`, after a uniform turn
/// from `from` that took `secs`.
pub(super) fn rate(from: &Four, to: &Four, secs: f64) -> Four {
    let chord = sum(to, -1.0, from);
    let along = tangent(to, &chord);
    let (sine, angle) =
        (length(&along), 2.0 * libm::atan2(length(&chord), length(&sum(to, 1.0, from))));
    // For a small angle the arc equals its chord.
    let scale = if sine > 1e-6 { angle / sine } else { 1.0 };
    along.map(|part| part * scale / secs)
}

/// Returns a quaternion and its rate after `secs`, given its rate now. Only the tangential part of
/// the rate counts.
pub(super) fn turned(from: &Four, rate: &Four, secs: f64) -> (Four, Four) {
    let along = tangent(from, rate);
    let radius = length(from).max(1e-6);
    // Radians per second on the sphere: half the body's rate of turn.
    let speed = length(&along) / radius;
    let angle = speed * secs;
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let arc = if speed > 1e-9 { sine / speed } else { secs };
    let position = std::array::from_fn(|at| from[at] * cosine + along[at] * arc);
    let rate = std::array::from_fn(|at| along[at] * cosine - from[at] * speed * sine);
    (position, rate)
}

/// Returns the quaternion at the fraction `t` along the shorter arc, or beyond it. If either is no
/// rotation, returns the other.
pub(super) fn slerp(from: &Four, to: &Four, t: f64) -> Four {
    if length(from) * length(to) < 1e-6 {
        return *to;
    }
    let sign = 1.0_f64.copysign(dot(from, to));
    let from = from.map(|part| part * sign);
    // From the other end, where the rate is known.
    turned(to, &rate(&from, to, 1.0), t - 1.0).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Returns a rotation by `turns` about an axis.
    fn about(axis: [f64; 3], turns: f64) -> Four {
        let (sin, cos) = (libm::sin(turns * PI), libm::cos(turns * PI));
        [axis[0] * sin, axis[1] * sin, axis[2] * sin, cos]
    }

    fn off(a: &Four, b: &Four) -> f64 {
        length(&sum(a, -1.0, b)).min(length(&sum(a, 1.0, b)))
    }

    #[test]
    fn uniform_turning_is_uniform() {
        let axis = [0.6, 0.0, 0.8];
        for (a, b) in [(0.1, 0.3), (0.9, 0.7), (0.2, 0.2), (0.1, 0.1 + 1e-7)] {
            let (from, to) = (about(axis, a), about(axis, b));
            for t in [0.0, 0.25, 0.5, 1.0, 1.75, 3.0] {
                let there = about(axis, a + (b - a) * t);
                assert!(off(&slerp(&from, &to, t), &there) < 1e-6, "{a} to {b}, {t}");
                assert!(off(&slerp(&from.map(|part| -part), &to, t), &there) < 1e-6);
            }
            let (there, then) = turned(&to, &rate(&from, &to, 0.5), 0.25);
            assert!(off(&there, &about(axis, b + (b - a) / 2.0)) < 1e-6);
            let later = turned(&to, &rate(&from, &to, 0.5), 0.25 + 1e-6).0;
            let measured = sum(&later, -1.0, &there).map(|part| part / 1e-6);
            assert!(length(&sum(&measured, -1.0, &then)) < 1e-4);
        }
    }

    #[test]
    fn what_is_no_rotation_makes_no_nonsense() {
        let zero = [0.0; 4];
        let one = [0.0, 0.0, 0.0, 1.0];
        for (from, to) in [(zero, one), (one, zero), (zero, zero)] {
            let all = [slerp(&from, &to, 0.5), rate(&from, &to, 1e-6), turned(&from, &to, 0.2).0];
            assert!(all.iter().flatten().all(|part| part.is_finite()));
        }
    }
}

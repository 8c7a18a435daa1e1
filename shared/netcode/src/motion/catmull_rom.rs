//! Catmull-Rom interpolation: through every state, in the direction of its neighbours.
//!
//! Source: the thesis, section 2.2.5 with equations 2.2 and 2.30, made non-uniform, so that a lost state
//! does not kink the curve. With the slopes `d0` and `d1` and the spans `h0` and `h1` before and after a
//! state its tangent is `(h1 d0 + h0 d1) / (h0 + h1)`: that of the parabola through the three, which is what
//! the pyramid of Barry and Goldman has there; with equal spans it is parallel to the line between the
//! neighbours. At the ends it is the same parabola's tangent at its end, `(3 p0 - 4 p1 + p2) / 2h` with equal
//! spans (the thesis prints one of the signs of the indices wrong).
//!
//! Between states that have both neighbours its velocity is continuous. The end of the last segment has
//! not: the state that comes next changes its tangent, and with it what is being shown if the delay is
//! below two intervals. That jump is hidden: what was shown goes on, and slides to the new curve over
//! one interval. The same hides the jump at the end of a famine.

use super::between::{self, Mended};
use super::path::{Coords, Knot, Path};

/// See the module.
pub(super) fn catmull_rom() -> Mended {
    Mended::new(curve)
}

/// The curve at a time.
fn curve(path: &Path, time: f64) -> Coords {
    between::raw(path, time, |segment, place| {
        let knots = path.knots();
        let before = segment.index.checked_sub(1).map(|at| &knots[at]);
        let after = knots.get(segment.index + 2);
        let weights = between::hermite(segment.elapsed / segment.span);
        let (from, to) = (segment.from, segment.to);
        for at in path.shape().moving() {
            let slope = |a: &Knot, b: &Knot| (b.place[at] - a.place[at]) / (b.time - a.time);
            let here = slope(from, to);
            // By how much the slope turns from one segment to the next, for each second between
            // their middles, halved.
            let bend =
                |a: &Knot, b: &Knot, c: &Knot| (slope(b, c) - slope(a, b)) / (c.time - a.time);
            let left = before.map(|before| bend(before, from, to));
            let right = after.map(|after| bend(from, to, after));
            let leave = here - segment.span * left.or(right).unwrap_or(0.0);
            let arrive = here + segment.span * right.or(left).unwrap_or(0.0);
            place[at] = weights[0] * from.place[at]
                + weights[1] * segment.span * leave
                + weights[2] * to.place[at]
                + weights[3] * segment.span * arrive;
        }
    })
}

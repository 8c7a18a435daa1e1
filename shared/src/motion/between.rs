//! What the interpolators have in common: finding the two states around a time, and cubics between them.

use super::{Coords, Knot, Path, Shown};

/// Two neighbouring states and a time between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    /// The earlier one's place in the path.
    pub(super) index: usize,
    pub(super) from: &'a Knot,
    pub(super) to: &'a Knot,
    /// Seconds from one to the other: more than 0.
    pub(super) span: f64,
    /// Seconds since the earlier one: 0 up to the span.
    pub(super) elapsed: f64,
}

/// The states around a time; the one to stand at if there is nothing on one side of it.
fn around(path: &Path, time: f64) -> Result<Segment<'_>, &Knot> {
    let knots = path.knots();
    let next = path.until(time);
    let index = next.saturating_sub(1);
    let from = &knots[index];
    if next == 0 {
        return Err(from);
    }
    let Some(to) = knots.get(next) else { return Err(from) };
    Ok(Segment { index, from, to, span: to.time - from.time, elapsed: time - from.time })
}

/// What to show at a time in the past, if `inside` fills in the coordinates between two states.
pub(super) fn show(path: &Path, time: f64, inside: impl FnOnce(Segment<'_>, &mut Coords)) -> Shown {
    let mut place = raw(path, time, inside);
    finish(path, time, &mut place)
}

/// The same before it is tamed.
pub(super) fn raw(path: &Path, time: f64, inside: impl FnOnce(Segment<'_>, &mut Coords)) -> Coords {
    match around(path, time) {
        Err(knot) => knot.place,
        Ok(segment) => {
            let mut place = segment.from.place;
            inside(segment, &mut place);
            place
        }
    }
}

/// Coordinates for a time in the past, tamed and judged.
pub(super) fn finish(path: &Path, time: f64, place: &mut Coords) -> Shown {
    let Some(newest) = path.newest() else { return Shown { place: *place, starved: true } };
    path.shape().tame(place, &newest.place);
    // What never moves misses nothing.
    Shown { place: *place, starved: time > newest.time && path.shape().moves() }
}

/// The weights of a cubic Hermite a part `u` of the way: of the start, of the start's tangent, of the end,
/// of the end's tangent, the tangents being by part.
pub(super) fn hermite(u: f64) -> [f64; 4] {
    let rest = 1.0 - u;
    [(1.0 + 2.0 * u) * rest * rest, u * rest * rest, u * u * (1.0 + 2.0 * rest), -(u * u * rest)]
}

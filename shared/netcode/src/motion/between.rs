//! What the interpolators have in common: finding the two states around a time, and cubics between them.

use super::ease::{Curve, Ease};
use super::method::{Method, Moment, Rules, Shown, Timeline};
use super::path::{Coords, Knot, Path};
use crate::limits::FIELDS_MAX;

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

/// Where a thing is at a time in the past, if `inside` fills in the coordinates between two states.
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

/// A curve through known states. What comes later or late may change it where it was shown already, and so
/// does the end of a famine, in which it stood: what was shown then goes on, and slides to what the curve has
/// become over one interval.
#[derive(Clone, Debug)]
pub(super) struct Mended {
    curve: fn(&Path, f64) -> Coords,
    last: Option<Last>,
    ease: Ease,
}

/// The last frame that was drawn.
#[derive(Clone, Debug)]
struct Last {
    time: f64,
    /// Where the curve was then.
    curve: Coords,
    /// Where it was shown.
    shown: Coords,
    /// How many knots there were, and the times of the first and the last: what comes late is not
    /// announced.
    knots: (usize, f64, f64),
}

impl Mended {
    /// A new one for a curve, which says where a thing is at a time.
    pub(super) fn new(curve: fn(&Path, f64) -> Coords) -> Self {
        Self { curve, last: None, ease: Ease::new(Curve::Straight) }
    }

    /// Goes on from where it was shown, if the curve there is no longer what it was.
    fn mend(&mut self, path: &Path, over: f64, last: Last) {
        let shape = path.shape();
        let now = (self.curve)(path, last.time);
        let (mut before, still) = (last.curve, [0.0; FIELDS_MAX]);
        shape.align(&mut before, &mut [0.0; FIELDS_MAX], &now);
        if shape.moving().any(|at| before[at] != now[at]) {
            self.ease.bridge(shape, last.time, over, (last.shown, still), (&now, &still));
        }
    }
}

impl Method for Mended {
    fn timeline(&self) -> Timeline {
        Timeline::Past
    }

    fn show(&mut self, path: &Path, at: Moment, _rules: &dyn Rules) -> Shown {
        let time = |knot: Option<&Knot>| knot.map_or(0.0, |knot| knot.time);
        let knots = (path.knots().len(), time(path.knots().front()), time(path.newest()));
        if let Some(last) = self.last.take().filter(|last| last.knots != knots) {
            self.mend(path, at.interval, last);
        }
        let curve = (self.curve)(path, at.past);
        let mut shown = curve;
        self.ease.add(path.shape(), at.past, &mut shown);
        self.last = Some(Last { time: at.past, curve, shown, knots });
        finish(path, at.past, &mut shown)
    }
}

/// The weights of a cubic Hermite a part `u` of the way: of the start, of the start's tangent, of the end,
/// of the end's tangent, the tangents being by part.
pub(super) fn hermite(u: f64) -> [f64; 4] {
    let rest = 1.0 - u;
    [(1.0 + 2.0 * u) * rest * rest, u * rest * rest, u * u * (1.0 + 2.0 * rest), -(u * u * rest)]
}

/// What these change by as `u` does.
pub(super) fn hermite_slopes(u: f64) -> [f64; 4] {
    let (rest, hump) = (1.0 - u, 6.0 * u * (1.0 - u));
    [-hump, rest * (1.0 - 3.0 * u), hump, u * (3.0 * u - 2.0)]
}

//! Interpolators: curves through known states, which show the past.
//!
//! Past the newest state all of them stop. A *mended* curve continues from what was shown when a
//! state changes it in the past: a late state, the next neighbour of Catmull-Rom's last segment, or
//! the first state after a long gap. It slides to the new curve over one interval.

use super::ease::{Curve, Ease, Span};
use super::method::{Method, Moment, Rules, Shown, Timeline};
use super::track::{Coords, Knot, Track};
use crate::limits::FIELDS_MAX;

/// Computes the coordinates on a curve through a track's states at a time.
type At = fn(&Track, f64) -> Coords;

/// Linear interpolation between the last state at or before the time and the next. It has a kink at
/// each state; past the newest it stops, and it jumps when the next one comes.
pub(super) fn linear(track: &Track, time: f64) -> Coords {
    between(track, time, |segment, position| {
        let part = segment.elapsed / segment.span;
        for at in track.shape().moving() {
            let (from, to) = (segment.from.position[at], segment.to.position[at]);
            position[at] = from + (to - from) * part;
        }
    })
}

/// Hermite interpolation: a cubic with the rates of the two states, stated or computed from the
/// state before. A rate needs no later state, so velocity is continuous up to the newest.
pub(super) fn hermite(track: &Track, time: f64) -> Coords {
    between(track, time, |segment, position| {
        let weights = hermite_weights(segment.elapsed / segment.span);
        for at in track.shape().moving() {
            position[at] = segment.cubic(weights, at, segment.from.rate[at], segment.to.rate[at]);
        }
    })
}

/// Catmull-Rom interpolation (the thesis's equations 2.2 and 2.30), made non-uniform, so that a
/// lost state does not kink the curve. With the slopes `d0` and `d1` and the spans `h0` and `h1`
/// before and after a state, its tangent is `(h1 d0 + h0 d1) / (h0 + h1)`, that of the parabola
/// through the three states (Barry and Goldman's pyramid). At the ends it is that parabola's
/// tangent there (the thesis prints a wrong sign).
pub(super) fn catmull_rom(track: &Track, time: f64) -> Coords {
    between(track, time, |segment, position| {
        let knots = track.knots();
        let before = segment.index.checked_sub(1).map(|at| &knots[at]);
        let after = knots.get(segment.index + 2);
        let weights = hermite_weights(segment.elapsed / segment.span);
        let (from, to) = (segment.from, segment.to);
        for at in track.shape().moving() {
            let slope = |a: &Knot, b: &Knot| (b.position[at] - a.position[at]) / (b.time - a.time);
            let here = slope(from, to);
            // Half the change of slope per second, from one segment to the next.
            let bend =
                |a: &Knot, b: &Knot, c: &Knot| (slope(b, c) - slope(a, b)) / (c.time - a.time);
            let left = before.map(|before| bend(before, from, to));
            let right = after.map(|after| bend(from, to, after));
            let leave = here - segment.span * left.or(right).unwrap_or(0.0);
            let arrive = here + segment.span * right.or(left).unwrap_or(0.0);
            position[at] = segment.cubic(weights, at, leave, arrive);
        }
    })
}

/// Two neighbouring states and a time between them.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    /// Index of the earlier one in the track.
    index: usize,
    from: &'a Knot,
    to: &'a Knot,
    /// Seconds from one to the other; greater than 0.
    span: f64,
    /// Seconds since the earlier one: 0 up to the span.
    elapsed: f64,
}

impl Segment<'_> {
    /// Returns a coordinate on the cubic that leaves and arrives with these rates.
    fn cubic(&self, weights: [f64; 4], at: usize, leave: f64, arrive: f64) -> f64 {
        weights[0] * self.from.position[at]
            + weights[1] * self.span * leave
            + weights[2] * self.to.position[at]
            + weights[3] * self.span * arrive
    }
}

/// Returns the coordinates at a time. `inside` computes them between two states; before the first
/// and after the last state they are those of that state.
fn between(track: &Track, time: f64, inside: impl FnOnce(Segment<'_>, &mut Coords)) -> Coords {
    let knots = track.knots();
    let next = track.until(time);
    let index = next.saturating_sub(1);
    let from = &knots[index];
    let mut position = from.position;
    if let Some(to) = knots.get(next).filter(|_| next > 0) {
        let (span, elapsed) = (to.time - from.time, time - from.time);
        inside(Segment { index, from, to, span, elapsed }, &mut position);
    }
    position
}

/// An interpolator's state for one entity.
#[derive(Clone, Debug)]
pub(super) struct Interpolator {
    curve: At,
    /// Whether the curve is mended.
    mends: bool,
    last: Option<Last>,
    ease: Ease,
}

/// The last drawn frame.
#[derive(Clone, Debug)]
struct Last {
    time: f64,
    /// Position on the curve.
    curve: Coords,
    /// Position where the entity was shown.
    shown: Coords,
    /// Number of knots, and times of the first and the last: late knots are not announced.
    knots: (usize, f64, f64),
}

impl Interpolator {
    pub(super) fn new(curve: At, mends: bool) -> Self {
        Self { curve, mends, last: None, ease: Ease::new(Curve::Straight) }
    }

    /// Continues from where the entity was shown if the curve has changed there.
    fn mend(&mut self, track: &Track, over: f64, last: Last) {
        let shape = track.shape();
        let now = (self.curve)(track, last.time);
        let (mut before, still) = (last.curve, [0.0; FIELDS_MAX]);
        shape.align(&mut before, &mut [0.0; FIELDS_MAX], &now);
        if shape.moving().any(|at| before[at] != now[at]) {
            let span = Span { begin: last.time, over };
            self.ease.bridge(shape, span, (last.shown, still), (&now, &still));
        }
    }
}

impl Method for Interpolator {
    fn timeline(&self) -> Timeline {
        Timeline::Past
    }

    fn show(&mut self, track: &Track, at: Moment, _rules: &dyn Rules) -> Shown {
        let curve = (self.curve)(track, at.past);
        let mut position = curve;
        if self.mends {
            let time = |knot: Option<&Knot>| knot.map_or(0.0, |knot| knot.time);
            let knots = (track.knots().len(), time(track.knots().front()), time(track.newest()));
            if let Some(last) = self.last.take().filter(|last| last.knots != knots) {
                self.mend(track, at.interval, last);
            }
            self.ease.add(track.shape(), at.past, &mut position);
            self.last = Some(Last { time: at.past, curve, shown: position, knots });
        }
        let Some(newest) = track.newest() else { return Shown { position, starved: true } };
        track.shape().tame(&mut position, &newest.position);
        // An entity that never moves lacks no states.
        Shown { position, starved: at.past > newest.time && track.shape().moves() }
    }
}

/// Returns the weights of a cubic Hermite at the fraction `u`: start, tangent at the start, end,
/// tangent at the end.
pub(super) fn hermite_weights(u: f64) -> [f64; 4] {
    let rest = 1.0 - u;
    [(1.0 + 2.0 * u) * rest * rest, u * rest * rest, u * u * (1.0 + 2.0 * rest), -(u * u * rest)]
}

/// Returns the derivatives of these weights by `u`.
pub(super) fn hermite_slopes(u: f64) -> [f64; 4] {
    let (rest, hump) = (1.0 - u, 6.0 * u * (1.0 - u));
    [-hump, rest * (1.0 - 3.0 * u), hump, u * (3.0 * u - 2.0)]
}

//! Interpolators: curves through known states, which show the past.
//!
//! Past the newest state all stand. A *mended* curve goes on from what was shown when a state
//! changes it in the past: a late one, the next neighbour of Catmull-Rom's last segment, or the end
//! of a famine. It slides to the new curve over one interval.

use super::ease::{Curve, Ease, Span};
use super::method::{Method, Moment, Rules, Shown, Timeline};
use super::track::{Coords, Knot, Track};
use crate::limits::FIELDS_MAX;

/// Coordinates on a curve through a track's states at a time.
type At = fn(&Track, f64) -> Coords;

/// Linear interpolation between the last state at or before the time and the next. It has a kink at
/// every state; past the newest it stands, and jumps when the next one comes.
pub(super) fn linear(track: &Track, time: f64) -> Coords {
    between(track, time, |segment, position| {
        let part = segment.elapsed / segment.span;
        for at in track.shape().moving() {
            let (from, to) = (segment.from.position[at], segment.to.position[at]);
            position[at] = from + (to - from) * part;
        }
    })
}

/// Hermite interpolation: a cubic with the rates of the two states, stated or since the state
/// before. A rate needs no later state, so velocity is continuous up to the newest.
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
/// before and after a state its tangent is `(h1 d0 + h0 d1) / (h0 + h1)`, that of the parabola
/// through the three (Barry and Goldman's pyramid). At the ends it is that parabola's tangent at
/// its end (the thesis prints a wrong sign).
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
            // Half of the slope's turn a second, from one segment to the next.
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
    /// The earlier one's index in the track.
    index: usize,
    from: &'a Knot,
    to: &'a Knot,
    /// Seconds from one to the other: more than 0.
    span: f64,
    /// Seconds since the earlier one: 0 up to the span.
    elapsed: f64,
}

impl Segment<'_> {
    /// A coordinate on the cubic that leaves and arrives with these rates.
    fn cubic(&self, weights: [f64; 4], at: usize, leave: f64, arrive: f64) -> f64 {
        weights[0] * self.from.position[at]
            + weights[1] * self.span * leave
            + weights[2] * self.to.position[at]
            + weights[3] * self.span * arrive
    }
}

/// Coordinates at a time: `inside` fills them in between two states; beyond the first and the last
/// state they are that one's.
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

/// An interpolator at work on one entity.
#[derive(Clone, Debug)]
pub(super) struct Interpolator {
    curve: At,
    /// True if the curve is mended.
    mends: bool,
    last: Option<Last>,
    ease: Ease,
}

/// The last frame that was drawn.
#[derive(Clone, Debug)]
struct Last {
    time: f64,
    /// Where the curve was then.
    curve: Coords,
    /// Where the thing was shown.
    shown: Coords,
    /// Count of the knots, and the times of the first and the last: a late one is not announced.
    knots: (usize, f64, f64),
}

impl Interpolator {
    pub(super) fn new(curve: At, mends: bool) -> Self {
        Self { curve, mends, last: None, ease: Ease::new(Curve::Straight) }
    }

    /// Goes on from where it was shown, if the curve there is no longer what it was.
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
        // What never moves misses nothing.
        Shown { position, starved: at.past > newest.time && track.shape().moves() }
    }
}

/// Weights of a cubic Hermite a part `u` of the way: start, start's tangent, end, end's tangent.
pub(super) fn hermite_weights(u: f64) -> [f64; 4] {
    let rest = 1.0 - u;
    [(1.0 + 2.0 * u) * rest * rest, u * rest * rest, u * u * (1.0 + 2.0 * rest), -(u * u * rest)]
}

/// Changes of these weights as `u` changes.
pub(super) fn hermite_slopes(u: f64) -> [f64; 4] {
    let (rest, hump) = (1.0 - u, 6.0 * u * (1.0 - u));
    [-hump, rest * (1.0 - 3.0 * u), hump, u * (3.0 * u - 2.0)]
}

//! Waypoints: on each arrival, moves from the shown position to the one expected at the next
//! arrival.
//!
//! Source: the thesis, sections 2.3.1, 2.3.2 and 4.3, and its program Cursorsimulation. There are
//! two stages, which can be combined freely:
//!
//! 1. An [`Extrapolator`] gives the *target*: the position when the next state comes, one interval
//!    ([`Moment::interval`](super::Moment), or [`Method::expect`]) after the last arrival.
//!    Averaging past arrivals gives the thesis's time history.
//! 2. A [`Joining`] leads from the *start*, the position shown at the arrival, to the target.
//!
//! Let `P1` be the start, `P2` the target, `P0` the start of the segment before, `u` the elapsed
//! fraction of the interval and `d = P2 - P1`. Then each joining is the cubic from `P1` to `P2`
//! with these tangents by `u`; a *jump* is on the forecast from each arrival on:
//!
//! | joining | at the start | at the target |
//! |---|---|---|
//! | linear | `d` | `d` |
//! | Catmull-Rom | `(P2 - P0) / 2` | `(3 P2 - 4 P1 + P0) / 2` |
//! | Hermite | the velocity shown | that of the parabola through the three, at their times |
//! | cubic spline, eq. 2.19 | the velocity shown | the forecast's |
//!
//! Catmull-Rom is the thesis's, uniform whatever the times, with the indices and the sign of
//! equation 2.2 corrected. It overshoots where `P0` to `P1` is long and `P1` to `P2` short.
//! Hermite's end formula is equal at equal steps, and preserves uniform motion at any spacing. On a
//! straight forecast the cubic spline is the curve of [`Choice::CubicSpline`](super::Choice).
//!
//! Without a new state the entity continues along the forecast, up to the horizon. The first state
//! is shown along its forecast. A gap beyond a field's snap distance is not hidden. Position is
//! continuous except for that and for jumps; velocity is continuous at arrivals for Hermite and the
//! cubic spline, and for the latter at the target too.

use super::ease::Span;
pub use super::extrapolator::Extrapolator;
use super::fir::SPAN_MIN;
use super::forecast::{Forecast, SLOWING_SECS};
use super::forecaster::Forecaster;
use super::interpolators::{hermite_slopes, hermite_weights};
use super::method::{HORIZON_SECS, Method, Rules};
use super::present::{Drawing, LastFrame, Present};
use super::track::{Coords, Knot, Shape, TURNS_MAX, Track};
use crate::limits::FIELDS_MAX;

mod joining;
#[cfg(test)]
mod tests;

pub use joining::Joining;

/// The minimum and maximum horizon in seconds. A stop takes a twentieth of a second, and no network
/// in the laboratory is slow enough to reach the maximum.
pub const HORIZON_BOUNDS: (f64, f64) = (SLOWING_SECS, 20.0);

/// Creates a method from two stages, for one entity. It extrapolates up to `horizon` seconds beyond
/// the newest state, limited to [`HORIZON_BOUNDS`]; if that is NaN, [`HORIZON_SECS`] applies.
pub fn waypoints(extrapolator: Extrapolator, joining: Joining, horizon: f64) -> Box<dyn Method> {
    Box::new(Present::new(Waypoints::new(extrapolator, joining, horizon)))
}

/// The method of this module.
#[derive(Debug)]
struct Waypoints {
    forecaster: Forecaster,
    joining: Joining,
    forecast: Option<Forecast>,
    leg: Option<Leg>,
}

/// The motion from one arrival to the next.
#[derive(Debug)]
struct Leg {
    /// Time of its start.
    begin: f64,
    /// Position of its start.
    start: Coords,
    /// Cubic to the target; `None` if it follows the forecast from the start.
    segment: Option<Segment>,
}

/// A change from one leg to the next.
#[derive(Clone, Copy)]
struct Turn<'a> {
    /// Time of the next leg.
    span: Span,
    /// The previous forecast, and the leg that is shown.
    old: &'a Forecast,
    leg: &'a Leg,
    /// The newest state, and the forecast from it.
    newest: &'a Knot,
    next: &'a Forecast,
}

/// A cubic for each coordinate.
#[derive(Debug)]
struct Segment {
    /// Length of the segment in seconds.
    over: f64,
    target: Coords,
    /// Change over the whole segment at the rate of its start.
    leave: Coords,
    /// Change over the whole segment at the rate of its end.
    arrive: Coords,
}

impl Leg {
    /// Returns the segment and its elapsed fraction, unless it ended more than `since` seconds ago.
    fn segment(&self, time: f64, since: f64) -> Option<(&Segment, f64)> {
        let segment = self.segment.as_ref()?;
        let passed = time - self.begin;
        // Negative only if the state is stamped later than the present.
        (passed < segment.over + since).then(|| (segment, (passed / segment.over).clamp(-1.0, 1.0)))
    }

    fn position(&self, shape: &Shape, rules: &dyn Rules, forecast: &Forecast, time: f64) -> Coords {
        let Some((segment, u)) = self.segment(time, 0.0) else {
            return forecast.at(shape, rules, time);
        };
        if u < 0.0 {
            return self.sum(shape, segment, [1.0, u, 0.0, 0.0]);
        }
        self.sum(shape, segment, hermite_weights(u))
    }

    /// At the target it is the rate of the arrival, however the times are rounded.
    fn rate(&self, shape: &Shape, rules: &dyn Rules, forecast: &Forecast, time: f64) -> Coords {
        let Some((segment, u)) = self.segment(time, SPAN_MIN) else {
            return forecast.rate_at(shape, rules, time);
        };
        self.sum(shape, segment, hermite_slopes(u.max(0.0)).map(|slope| slope / segment.over))
    }

    /// Returns the weighted sum of the start, its tangent, the target and its tangent.
    fn sum(&self, shape: &Shape, segment: &Segment, weights: [f64; 4]) -> Coords {
        let mut sum = [0.0; FIELDS_MAX];
        for at in shape.moving() {
            sum[at] = weights[0] * self.start[at]
                + weights[1] * segment.leave[at]
                + weights[2] * segment.target[at]
                + weights[3] * segment.arrive[at];
        }
        sum
    }
}

/// Returns a change over one segment, limited by the field's range; 0 for NaN.
fn bounded(shape: &Shape, at: usize, change: f64) -> f64 {
    let (least, most) = shape.range(at);
    let period = shape.fields()[at].period();
    let bound = period.map_or(most - least, |period| TURNS_MAX * period);
    if change.is_finite() { change.clamp(-bound, bound) } else { 0.0 }
}

impl Waypoints {
    fn new(extrapolator: Extrapolator, joining: Joining, horizon: f64) -> Self {
        let (least, most) = HORIZON_BOUNDS;
        let horizon = if horizon.is_nan() { HORIZON_SECS } else { horizon.clamp(least, most) };
        let forecaster = Forecaster::new(extrapolator, horizon);
        Self { forecaster, joining, forecast: None, leg: None }
    }

    /// Returns a leg that continues from the old one.
    fn next_leg(&self, track: &Track, rules: &dyn Rules, turn: Turn<'_>) -> Leg {
        let Turn { span: Span { begin, over }, old, leg, newest, next } = turn;
        let shape = track.shape();
        let mut start = leg.position(shape, rules, old, begin);
        let mut rate = leg.rate(shape, rules, old, begin);
        // Of the segment before, only the remaining displacement matters.
        let (mut step, mut same) = ([0.0; FIELDS_MAX], start);
        for at in shape.moving() {
            step[at] = start[at] - leg.start[at];
        }
        let mut here = next.at(shape, rules, begin);
        shape.align(&mut same, &mut step, &here);
        shape.align(&mut start, &mut rate, &here);
        shape.tame(&mut start, &newest.position);
        shape.tame(&mut here, &newest.position);
        let snaps = |at: usize| {
            let gap = start[at] - here[at];
            gap.abs() > f64::from(shape.fields()[at].snap_distance)
        };
        if self.joining == Joining::Jump || shape.moving().any(snaps) {
            return Leg { begin, start: here, segment: None };
        }
        let span = begin - leg.begin;
        let due = begin + over;
        let mut target = next.at(shape, rules, due);
        shape.tame(&mut target, &newest.position);
        let end = match self.joining {
            Joining::CubicSpline => next.rate_at(shape, rules, due),
            _ => [0.0; FIELDS_MAX],
        };
        let (mut leave, mut arrive) = ([0.0; FIELDS_MAX], [0.0; FIELDS_MAX]);
        for at in shape.moving() {
            let change = target[at] - start[at];
            let (from, to) = match self.joining {
                Joining::Jump | Joining::Linear => (change, change),
                Joining::CatmullRom => (0.5 * (change + step[at]), 0.5 * (3.0 * change - step[at])),
                Joining::Hermite => {
                    // The change of slope, if the segment before has one.
                    let turn = if span < SPAN_MIN {
                        0.0
                    } else {
                        (change - step[at] * over / span) * over / (span + over)
                    };
                    (over * rate[at], change + turn)
                }
                Joining::CubicSpline => (over * rate[at], over * end[at]),
            };
            leave[at] = bounded(shape, at, from);
            arrive[at] = bounded(shape, at, to);
        }
        Leg { begin, start, segment: Some(Segment { over, target, leave, arrive }) }
    }
}

impl Drawing for Waypoints {
    fn learn(&mut self, track: &Track, newest: &Knot, rules: &dyn Rules, last: LastFrame) {
        let next = self.forecaster.forecast(track, newest, rules, last.interval);
        let leg = match (&self.forecast, &self.leg, last.begin(newest)) {
            (Some(old), Some(leg), Some(begin)) => {
                let span = Span { begin, over: last.interval };
                self.next_leg(track, rules, Turn { span, old, leg, newest, next: &next })
            }
            // Nothing has been shown yet.
            _ => {
                let begin = newest.arrival;
                Leg { begin, start: next.at(track.shape(), rules, begin), segment: None }
            }
        };
        self.leg = Some(leg);
        self.forecast = Some(next);
    }

    fn handle_interval(&mut self, _interval: f64) -> bool {
        // The length of a step was unknown until now.
        self.forecaster.is_even()
    }

    fn position(&mut self, shape: &Shape, rules: &dyn Rules, now: f64) -> Coords {
        let (Some(forecast), Some(leg)) = (&self.forecast, &self.leg) else {
            return [0.0; FIELDS_MAX];
        };
        leg.position(shape, rules, forecast, now)
    }

    fn horizon(&self) -> f64 {
        self.forecaster.horizon
    }
}

//! Extrapolation as a weighted sum of the last three values: the FIR filters of the thesis.
//!
//! Source: the thesis, section 2.3.2 and Table 1. Let `x0` be the newest value, and `x1` and `x2`
//! those before, at times `t0 > t1 > t2`. With the spans `h0 = t0 - t1` and `h1 = t1 - t2`, and the
//! slopes over them, `d0` and `d1`, all filters are
//!
//! ```text
//! x(t) = x0 + (t - t0) d0 + (r + (t - t0) p + (t - t0)^2 q) (d0 - d1)
//! ```
//!
//! and differ in how they use the change of slope, `d0 - d1`:
//!
//! | kind | r | p | q | at equal steps, one step ahead |
//! |---|---|---|---|---|
//! | linear, eq. 2.26 | 0 | 0 | 0 | 2, -1, 0 |
//! | thesis quadratic, eq. 2.28 | 0 | 0 | 1 / (h0 + h1) | 5/2, -2, 1/2 |
//! | quadratic | 0 | h0 / (h0 + h1) | 1 / (h0 + h1) | 3, -3, 1 |
//! | Catmull-Rom, eq. 2.31 | 0 | h0 / (h0 + h1) | 0 | 5/2, -2, 1/2 |
//! | Richardson as printed, eq. 2.34 and 2.36 | h0 c | c | 0 | 7/3, -5/3, 1/3 |
//! | Richardson as derived, eq. 2.35 | 0 | c | 0 | 13/6, -4/3, 1/6 |
//!
//! with `c = h1 / (3 (h0 + h1))`. So the weights sum to 1 and are exact for uniform motion at any
//! spacing; in the thesis's table only those of the linear row and of Richardson's are.
//!
//! Errors in the thesis:
//! - Its quadratic (`x0 + v + a/2` with `v = d0`) uses the newest slope as the velocity at `t0`,
//!   although it is that of half a step before. [`Filter::Quadratic`] is the parabola.
//! - Equation 2.34 does not follow from 2.33 by 2.31. It is 2.36 at equal steps, which continues
//!   from `x1` with the slope at `x0`: at `t0` its value is not `x0`, and it doubles the effect of
//!   a turn.
//! - Equation 2.33 divides by 3, as for central differences. For one-sided ones Richardson's step
//!   is `2 F(h) - F(2h)`, which at equal steps is Catmull-Rom's tangent again.
//! - Table 1's quadratic row for any spacing has an extra factor and lacks the spans.

use super::forecast::Forecast;
use super::track::{Knot, Shape};

/// An FIR filter for extrapolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filter {
    /// Continues the line through the last two values, eq. 2.25 and 2.26.
    Linear,
    /// Continues with the last slope and the acceleration as in the thesis, eq. 2.28 and 2.29.
    ThesisQuadratic,
    /// Continues the parabola through the last three values.
    Quadratic,
    /// Continues along that parabola's tangent at the newest value, which is Catmull-Rom's at an
    /// end, eq. 2.30 and 2.31.
    CatmullRom,
    /// The weights that the thesis prints for Richardson's extrapolation, eq. 2.34 and 2.36, which
    /// do not start from the newest value.
    RichardsonPrinted,
    /// The slope that follows from its equation for Richardson's extrapolation, eq. 2.33 and 2.35.
    Richardson,
}

/// The minimum span of a slope in seconds: server time has microseconds.
pub(super) const SPAN_MIN: f64 = 1e-6;

impl Filter {
    /// All filters.
    pub const ALL: [Self; 6] = [
        Self::Linear,
        Self::ThesisQuadratic,
        Self::Quadratic,
        Self::CatmullRom,
        Self::RichardsonPrinted,
        Self::Richardson,
    ];

    /// Returns `r`, `p` and `q` of the module's formula, for two spans.
    fn turning(self, h0: f64, h1: f64) -> (f64, f64, f64) {
        let both = h0 + h1;
        let c = h1 / (3.0 * both);
        match self {
            Self::Linear => (0.0, 0.0, 0.0),
            Self::ThesisQuadratic => (0.0, 0.0, 1.0 / both),
            Self::Quadratic => (0.0, h0 / both, 1.0 / both),
            Self::CatmullRom => (0.0, h0 / both, 0.0),
            Self::RichardsonPrinted => (h0 * c, c, 0.0),
            Self::Richardson => (0.0, c, 0.0),
        }
    }
}

/// Returns the weights of the newest value and the two before, at times `t0 > t1 > t2`, for the
/// value at `t`. They sum to 1. Spans below a microsecond count as one.
pub fn coefficients(kind: Filter, t0: f64, t1: f64, t2: f64, t: f64) -> [f64; 3] {
    let (h0, h1) = ((t0 - t1).max(SPAN_MIN), (t1 - t2).max(SPAN_MIN));
    let (r, p, q) = kind.turning(h0, h1);
    let ahead = t - t0;
    // For the slopes.
    let turned = r + ahead * (p + ahead * q);
    let (newer, older) = (ahead + turned, -turned);
    [1.0 + newer / h0, older / h1 - newer / h0, -older / h1]
}

/// Returns the weights for the value one step ahead if all steps are equal.
pub fn uniform(kind: Filter) -> [f64; 3] {
    match kind {
        Filter::Linear => [2.0, -1.0, 0.0],
        Filter::ThesisQuadratic | Filter::CatmullRom => [2.5, -2.0, 0.5],
        Filter::Quadratic => [3.0, -3.0, 1.0],
        Filter::RichardsonPrinted => [7.0 / 3.0, -5.0 / 3.0, 1.0 / 3.0],
        Filter::Richardson => [13.0 / 6.0, -4.0 / 3.0, 1.0 / 6.0],
    }
}

/// Returns the forecast from a knot and those before it. Two knots give a linear one; a single knot
/// continues at its own rate.
pub(super) fn forecast(
    kind: Filter,
    shape: &Shape,
    newest: &Knot,
    [before, earlier]: [Option<&Knot>; 2],
) -> Forecast {
    let mut forecast = Forecast::reckoned(newest);
    let Some(before) = before else { return forecast };
    let h0 = (newest.time - before.time).max(SPAN_MIN);
    let older = earlier.map(|earlier| (earlier, (before.time - earlier.time).max(SPAN_MIN)));
    let (r, p, q) = older.map_or((0.0, 0.0, 0.0), |(_, h1)| kind.turning(h0, h1));
    for at in shape.moving() {
        let d0 = (newest.position[at] - before.position[at]) / h0;
        let d1 =
            older.map_or(d0, |(earlier, h1)| (before.position[at] - earlier.position[at]) / h1);
        forecast.position[at] += r * (d0 - d1);
        forecast.rate[at] = d0 + p * (d0 - d1);
        forecast.curvature[at] = q * (d0 - d1);
    }
    // Rotations start on their sphere, with slopes along it.
    for at in shape.rotations().flat_map(|at| at..at + 4) {
        forecast.position[at] = newest.position[at];
        let (d0, d1) =
            (newest.rate[at], if older.is_some() { before.rate[at] } else { newest.rate[at] });
        forecast.rate[at] = d0 + p * (d0 - d1);
        forecast.curvature[at] = q * (d0 - d1);
    }
    forecast
}

/// Returns the forecast with the weights of equal steps, whatever the spacing: straight from the
/// newest knot to the weighted sum of positions, which is reached after `secs`. With fewer knots it
/// is that of [`forecast`].
pub(super) fn forecast_evenly(
    kind: Filter,
    shape: &Shape,
    newest: &Knot,
    [before, earlier]: [Option<&Knot>; 2],
    secs: f64,
) -> Forecast {
    let mut forecast = Forecast::reckoned(newest);
    let Some(before) = before else { return forecast };
    let kind = if earlier.is_some() { kind } else { Filter::Linear };
    let earlier = earlier.unwrap_or(before);
    // The weights sum to 1, so the sum is the newest position plus fractions of the last two steps.
    let [first, _, last] = uniform(kind);
    let ahead = |newer: f64, older: f64| ((first - 1.0) * newer - last * older) / secs;
    for at in shape.moving() {
        let (newer, older) =
            (newest.position[at] - before.position[at], before.position[at] - earlier.position[at]);
        forecast.rate[at] = ahead(newer, older);
    }
    // Rotations move along their sphere.
    let h0 = (newest.time - before.time).max(SPAN_MIN);
    let h1 = (before.time - earlier.time).max(SPAN_MIN);
    for at in shape.rotations().flat_map(|at| at..at + 4) {
        forecast.rate[at] = ahead(h0 * newest.rate[at], h1 * before.rate[at]);
    }
    forecast
}

#[cfg(test)]
mod tests {
    use super::super::extrapolator::Extrapolator;
    use super::super::method::NoRules;
    use super::super::tests::testing::{Body, X, Y, track_of};
    use super::super::track::Track;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn at_equal_steps_they_are_the_table() {
        for kind in Filter::ALL {
            let any = coefficients(kind, 0.3, 0.2, 0.1, 0.4);
            for (any, uniform) in any.iter().zip(uniform(kind)) {
                assert!((any - uniform).abs() < 1e-9, "{kind:?}: {any} for {uniform}");
            }
        }
        // The thesis's example, eq. 2.27: 3 at 2, 4 at 2.5, so 7 at 4.
        let [newest, before, _] = coefficients(Filter::Linear, 2.5, 2.0, 0.0, 4.0);
        assert_eq!(newest * 4.0 + before * 3.0, 7.0);
    }

    fn sum(weights: [f64; 3], times: [f64; 3], value: impl Fn(f64) -> f64) -> f64 {
        weights.iter().zip(times).map(|(weight, time)| weight * value(time)).sum()
    }

    proptest! {
        #[test]
        fn uniform_motion_is_extrapolated_at_any_spacing(
            h0 in 0.001_f64..2.0, h1 in 0.001_f64..2.0, ahead in -0.25_f64..0.25,
            speed in -9.0_f64..9.0,
        ) {
            let times = [5.0, 5.0 - h0, 5.0 - h0 - h1];
            let line = |t: f64| 2.0 + speed * t;
            for kind in Filter::ALL {
                let weights = coefficients(kind, times[0], times[1], times[2], 5.0 + ahead);
                prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", kind);
                let value = sum(weights, times, line);
                prop_assert!((value - line(5.0 + ahead)).abs() < 1e-6, "{:?}", kind);
            }
            let parabola = |t: f64| line(t) - 3.0 * (t - 4.0) * (t - 4.0);
            let kind = Filter::Quadratic;
            let weights = coefficients(kind, times[0], times[1], times[2], 5.0 + ahead);
            prop_assert!((sum(weights, times, parabola) - parabola(5.0 + ahead)).abs() < 1e-5);
            // A Catmull-Rom spline leaves the newest point like the parabola.
            let near = coefficients(Filter::CatmullRom, times[0], times[1], times[2], 5.0 + 1e-6);
            let slope = (sum(near, times, parabola) - parabola(5.0)) / 1e-6;
            prop_assert!((slope - (speed - 6.0)).abs() < 1e-3);
        }

        #[test]
        fn the_method_extrapolates_what_the_weights_say(
            h0 in 0.001_f64..0.5, h1 in 0.001_f64..0.5, age in 0.0_f64..0.2, x: [i16; 3],
        ) {
            let times = [5.0, 5.0 - h0, 5.0 - h0 - h1];
            let y = |at: usize| f32::from(x[at]) / 64.0;
            let body = |at: usize| (times[at], Body { y: y(at), ..Body::at(0.0) });
            let track = track_of(&[body(2), body(1), body(0)], 0.0);
            for kind in Filter::ALL {
                let forecast = Extrapolator::Fir(kind).forecast(&track, 0, 0.1);
                let forecast = forecast.expect("a state is there");
                let position = forecast.at(track.shape(), &NoRules, 5.0 + age);
                let weights = coefficients(kind, times[0], times[1], times[2], 5.0 + age);
                let said: f64 = weights.iter().zip(x).map(|(w, x)| w * f64::from(x) / 64.0).sum();
                prop_assert!((position[Y] - said).abs() < 1e-6 * said.abs().max(1.0), "{:?}", kind);
            }
        }
    }

    #[test]
    fn with_less_they_do_what_they_can() {
        let at = |track: &Track, kind| {
            let forecast =
                Extrapolator::Fir(kind).forecast(track, 0, 0.1).expect("a state is there");
            let position = forecast.at(track.shape(), &NoRules, 2.1);
            (position[X], position[Y])
        };
        let one = track_of(&[(2.0, Body { vx: 5.0, y: 1.0, ..Body::at(1.0) })], 0.0);
        let two = track_of(&[(1.9, Body::uniform(1.9)), (2.0, Body::uniform(2.0))], 0.0);
        for kind in Filter::ALL {
            let (x, y) = at(&one, kind);
            assert!((x - 1.5).abs() < 1e-9 && y == 1.0);
            let (x, y) = at(&two, kind);
            assert!((x - 8.4).abs() < 1e-5 && (y + 6.3).abs() < 1e-5);
        }
    }
}

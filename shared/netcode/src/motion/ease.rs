//! Hides the jump when an entity's picture changes to another track.
//!
//! The picture must get from its position and velocity to a new track. An [`Ease`] is an offset
//! that is added to the new track until the picture reaches it. It is a function of time only, so
//! frames may be drawn at any rate.

use super::track::{Coords, Shape};
use crate::limits::FIELDS_MAX;

/// Curve along which a gap closes. `g` is the gap, `s` the rate of the old track minus that of the
/// new one, and `u` the elapsed fraction of the correction's time:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Curve {
    /// `g (1 - u)`: linear interpolation. Velocity jumps at both ends.
    #[default]
    Straight,
    /// A cubic from the old velocity to the new one. For straight tracks it is the Bezier curve
    /// with control points on the old track at one third of the time and on the new one at two
    /// thirds.
    Cubic,
    /// A quadratic Bezier curve whose control point is on the old track at half time. Velocity
    /// jumps at the end.
    Bezier,
    /// `g (1 - u)^2`, in [`FADING`] times the correction's time: a shown velocity that has turned
    /// out wrong is dropped at once, and the new track is reached without another jump. At
    /// equal jerk, it had the smallest error of these curves on six recorded matches.
    Fading,
    /// `(g + s t) e^(-k t)` with `e^(-k / 60) = 11/12`: exactly a display that, 60 times a second,
    /// moves by its own velocity and then, with that velocity, a twelfth of the way to the new
    /// track. `s` is that velocity and not a derivative. It never ends; `k` increases near the snap
    /// distance.
    Twelfth,
}

/// A correction in progress, or none.
#[derive(Clone, Debug)]
pub(super) struct Ease {
    curve: Curve,
    begin: f64,
    over: f64,
    haste: f64,
    gap: Coords,
    slip: Coords,
    is_over: bool,
}

impl Default for Ease {
    fn default() -> Self {
        Self::new(Curve::default())
    }
}

/// `k` of [`Curve::Twelfth`] in 1/s: 60 ln(12/11).
pub(super) const TWELFTH_RATE: f64 = 5.220_682_619_339_78;

/// Factor by which the display catches up faster just below the snap distance. Arbitrary.
const HASTE_MAX: f64 = 4.0;

/// Duration of [`Curve::Fading`] as a multiple of the correction's time. It fades by half in less
/// than a third of it.
const FADING: f64 = 1.25;

/// The minimum and maximum duration of a correction in seconds, for any interval. Arbitrary.
const OVER_SECS: (f64, f64) = (0.001, 1.0);

/// Limits an interval to that range.
pub(super) fn limited(interval: f64) -> f64 {
    if interval.is_finite() { interval.clamp(OVER_SECS.0, OVER_SECS.1) } else { OVER_SECS.1 }
}

/// A span of the shown time in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) begin: f64,
    /// Length of the span.
    pub(super) over: f64,
}

impl Ease {
    /// Creates an ease without a correction.
    pub(super) fn new(curve: Curve) -> Self {
        let zero = [0.0; FIELDS_MAX];
        Self { curve, begin: 0.0, over: 1.0, haste: 1.0, gap: zero, slip: zero, is_over: true }
    }

    /// Starts a correction from the old track to the new one; each is a position and its rate. A
    /// gap beyond a field's snap distance is not hidden.
    pub(super) fn bridge(
        &mut self,
        shape: &Shape,
        span: Span,
        mut old: (Coords, Coords),
        new: (&Coords, &Coords),
    ) {
        let Span { begin, over } = span;
        shape.align(&mut old.0, &mut old.1, new.0);
        self.begin = begin;
        let times = if self.curve == Curve::Fading { FADING } else { 1.0 };
        self.over = limited(over * times);
        self.is_over = true;
        let mut snaps = 0.0_f64;
        for at in shape.moving() {
            let (least, most) = shape.range(at);
            let range = most - least;
            let gap = old.0[at] - new.0[at];
            let slip = old.1[at] - new.1[at];
            // Invalid input may give values that are not finite, or beyond the field's range.
            let sound = gap.is_finite() && slip.is_finite();
            self.gap[at] = if sound { gap.clamp(-range, range) } else { 0.0 };
            let fastest = range / self.over;
            self.slip[at] = if sound { slip.clamp(-fastest, fastest) } else { 0.0 };
            self.is_over &= self.gap[at] == 0.0 && self.slip[at] == 0.0;
            snaps = snaps.max(self.gap[at].abs() / f64::from(shape.fields()[at].snap_distance));
        }
        self.is_over |= snaps > 1.0;
        self.haste = 1.0 + (HASTE_MAX - 1.0) * snaps.min(1.0);
    }

    /// Returns the weights of the gap and the slip at a time.
    fn weights(&self, time: f64) -> (f64, f64) {
        let elapsed = (time - self.begin).max(0.0);
        let u = (elapsed / self.over).min(1.0);
        let rest = 1.0 - u;
        match self.curve {
            Curve::Straight => (rest, 0.0),
            Curve::Cubic => ((1.0 + 2.0 * u) * rest * rest, self.over * u * rest * rest),
            Curve::Bezier => (1.0 - u * u, self.over * u * rest),
            Curve::Fading => (rest * rest, 0.0),
            Curve::Twelfth => {
                let left = libm::exp(-TWELFTH_RATE * self.haste * elapsed);
                (left, elapsed * left)
            }
        }
    }

    /// Returns the rates of change of these weights per second; for [`Curve::Twelfth`] the weight
    /// of the display's own velocity.
    fn slopes(&self, time: f64) -> (f64, f64) {
        let elapsed = (time - self.begin).max(0.0);
        let u = (elapsed / self.over).min(1.0);
        match self.curve {
            Curve::Straight if u < 1.0 => (-1.0 / self.over, 0.0),
            Curve::Straight => (0.0, 0.0),
            Curve::Cubic => (-6.0 * u * (1.0 - u) / self.over, (1.0 - u) * (1.0 - 3.0 * u)),
            Curve::Bezier if u < 1.0 => (-2.0 * u / self.over, 1.0 - 2.0 * u),
            Curve::Bezier => (0.0, 0.0),
            Curve::Fading => (-2.0 * (1.0 - u) / self.over, 0.0),
            Curve::Twelfth => (0.0, libm::exp(-TWELFTH_RATE * self.haste * elapsed)),
        }
    }

    /// Whether the correction is over from this time on.
    fn is_done(&self, time: f64) -> bool {
        let secs = match self.curve {
            // A billionth of the gap is left, which is less than a grid step.
            Curve::Twelfth => 4.0,
            _ => self.over,
        };
        self.is_over || time - self.begin >= secs
    }

    /// Adds the rest of the gap to a position on the new track.
    pub(super) fn add(&self, shape: &Shape, time: f64, position: &mut Coords) {
        if self.is_done(time) {
            return;
        }
        let (gap, slip) = self.weights(time);
        for at in shape.moving() {
            position[at] += gap * self.gap[at] + slip * self.slip[at];
        }
    }

    /// Adds the rest of the slip to a rate on the new track.
    pub(super) fn add_rate(&self, shape: &Shape, time: f64, rate: &mut Coords) {
        if self.is_done(time) {
            return;
        }
        let (gap, slip) = self.slopes(time);
        for at in shape.moving() {
            rate[at] += gap * self.gap[at] + slip * self.slip[at];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::testing::{Body, HEADING, Q, X};
    use super::*;

    fn coords(x: f64) -> Coords {
        let mut coords = [0.0; FIELDS_MAX];
        coords[X] = x;
        coords
    }

    fn bridged(curve: Curve, gap: f64, slip: f64) -> Ease {
        let mut ease = Ease::new(curve);
        let zero = coords(0.0);
        let span = Span { begin: 5.0, over: 0.5 };
        ease.bridge(&Body::shape(), span, (coords(gap), coords(slip)), (&zero, &zero));
        ease
    }

    fn left(ease: &Ease, time: f64) -> f64 {
        let mut position = coords(0.0);
        ease.add(&Body::shape(), time, &mut position);
        position[X]
    }

    #[test]
    fn a_gap_opens_at_once_and_closes_as_the_curve_says() {
        for curve in [Curve::Straight, Curve::Cubic, Curve::Bezier, Curve::Fading, Curve::Twelfth] {
            let ease = bridged(curve, 2.0, 3.0);
            assert_eq!(left(&ease, 5.0), 2.0, "{curve:?}");
            assert_eq!(left(&ease, 20.0), 0.0, "{curve:?}");
            let mut rate = coords(0.0);
            ease.add_rate(&Body::shape(), 5.0, &mut rate);
            let start = (left(&ease, 5.0 + 1e-6) - 2.0) / 1e-6;
            let end = (left(&ease, 5.5) - left(&ease, 5.5 - 1e-6)) / 1e-6;
            match curve {
                Curve::Straight => {
                    assert!((start + 4.0).abs() < 1e-3 && (rate[X] + 4.0).abs() < 1e-9)
                }
                Curve::Cubic => {
                    assert!((start - 3.0).abs() < 1e-3 && (rate[X] - 3.0).abs() < 1e-9);
                    assert!(end.abs() < 1e-3);
                }
                Curve::Bezier => {
                    assert!((start - 3.0).abs() < 1e-3 && (rate[X] - 3.0).abs() < 1e-9)
                }
                Curve::Fading => {
                    assert!((start + 6.4).abs() < 1e-3 && (rate[X] + 6.4).abs() < 1e-9);
                    assert!(left(&ease, 5.6) > 0.0 && left(&ease, 5.625) == 0.0);
                }
                Curve::Twelfth => assert!((rate[X] - 3.0).abs() < 1e-9),
            }
        }
    }

    #[test]
    fn rates_are_the_derivatives() {
        for curve in [Curve::Straight, Curve::Cubic, Curve::Bezier, Curve::Fading] {
            let ease = bridged(curve, 2.0, 3.0);
            for n in 1..10 {
                let t = 5.0 + f64::from(n) * 0.049;
                let mut rate = coords(0.0);
                ease.add_rate(&Body::shape(), t, &mut rate);
                let measured = (left(&ease, t + 1e-6) - left(&ease, t - 1e-6)) / 2e-6;
                assert!((rate[X] - measured).abs() < 1e-5, "{curve:?} at {t}");
            }
        }
    }

    #[test]
    fn a_twelfth_of_the_way_in_each_sixtieth_of_a_second() {
        // As in the article, frame by frame.
        let (mut display, mut velocity) = (2.0_f64, 3.0_f64);
        let ease = bridged(Curve::Twelfth, 2.0, 3.0);
        // Far from snapping, it catches up as in the article.
        let mut slow = ease;
        slow.haste = 1.0;
        for n in 1..=60 {
            display += velocity / 60.0;
            display -= display / 12.0;
            velocity -= velocity / 12.0;
            let shown = left(&slow, 5.0 + f64::from(n) / 60.0);
            assert!((shown - display).abs() < 1e-9, "{n}: {shown} {display}");
        }
        // After 12 frames (11/12)^12 is left, and not nothing, as the article says.
        let mut rest = slow;
        rest.slip[X] = 0.0;
        assert!((left(&rest, 5.2) / 2.0 - 0.352).abs() < 0.001);
        // An entity closer to its snap distance catches up sooner, and beyond that it snaps.
        let after = |gap: f64| left(&bridged(Curve::Twelfth, gap, 0.0), 5.2) / gap;
        assert!(after(0.001) > 0.35 && after(50.0) < 0.08 && after(99.0) < 0.02);
        assert_eq!(after(101.0), 0.0);
    }

    #[test]
    fn turns_go_the_shorter_way_and_quaternions_keep_their_sign() {
        let mut ease = Ease::new(Curve::Straight);
        let zero = coords(0.0);
        let (mut old, mut new) = (coords(0.0), coords(0.0));
        (old[HEADING], new[HEADING]) = (3.9, 0.1);
        (old[Q + 3], new[Q + 3]) = (-1.0, 1.0);
        let span = Span { begin: 0.0, over: 1.0 };
        ease.bridge(&Body::shape(), span, (old, zero), (&new, &zero));
        let mut position = new;
        ease.add(&Body::shape(), 0.0, &mut position);
        assert!((position[HEADING] + 0.1).abs() < 1e-9 && position[Q + 3] == 1.0);
    }
}

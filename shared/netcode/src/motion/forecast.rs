//! Expected tracks, which extrapolators compute from the known states.

use std::sync::Arc;

use super::method::{HORIZON_SECS, Rules, Start};
use super::rotation::{four, turned};
use super::track::{Coords, EarlySteer, Knot, Shape};
use crate::fields::Values;
use crate::limits::FIELDS_MAX;

/// Seconds before the horizon in which extrapolations slow down. Arbitrary.
pub(super) const SLOWING_SECS: f64 = 0.05;

/// Returns the seconds to look ahead of a state of this age, and the rate at which they grow with
/// the age. They equal the age until the last twentieth of a second before the horizon, in which
/// they slow to a stop. Symmetric for times before the state.
pub(super) fn reach(age: f64, horizon: f64) -> (f64, f64) {
    let steady = horizon - SLOWING_SECS;
    let over = ((age.abs() - steady) / SLOWING_SECS).clamp(0.0, 1.0);
    // The integral of a speed that falls from 1 to 0.
    let secs = age.abs().min(steady) + SLOWING_SECS * (over - over * over / 2.0);
    (secs.copysign(age), 1.0 - over)
}

/// A track that starts at a state: a parabola for each coordinate, or the rules' answer, and far
/// from the state a straight line. Rotations turn uniformly, at the rate of their parabolas.
#[derive(Clone, Debug)]
pub(super) struct Forecast {
    /// The state's time.
    pub(super) time: f64,
    /// Position at that time.
    pub(super) position: Coords,
    /// Rate of change per second at that time.
    pub(super) rate: Coords,
    /// Half the rate of change of `rate` per second.
    pub(super) curvature: Coords,
    /// Seconds after which it goes straight.
    pub(super) curve_secs: f64,
    /// Fraction of its rate that it keeps from then on.
    pub(super) keeps: f64,
    /// Seconds beyond the state after which the forecast stops.
    pub(super) horizon: f64,
    /// The state, if the rules are asked before the parabola is used.
    pub(super) ruled: Option<Ruled>,
}

/// A state from which rules continue.
#[derive(Clone, Debug)]
pub(super) struct Ruled {
    values: Values,
    early: Option<Arc<[EarlySteer]>>,
}

impl Ruled {
    pub(super) fn of(knot: &Knot) -> Self {
        Self { values: knot.values, early: knot.early.clone() }
    }

    fn start(&self) -> Start<'_> {
        Start { values: &self.values, early: self.early.as_deref().unwrap_or_default() }
    }
}

impl Forecast {
    /// Continues straight at a knot's rates.
    pub(super) fn reckoned(knot: &Knot) -> Self {
        let curvature = [0.0; FIELDS_MAX];
        let (time, horizon) = (knot.time, HORIZON_SECS);
        Self {
            time,
            position: knot.position,
            rate: knot.rate,
            curvature,
            curve_secs: f64::INFINITY,
            keeps: 1.0,
            horizon,
            ruled: None,
        }
    }

    /// Returns the forecast with another horizon.
    pub(super) fn until(self, horizon: f64) -> Self {
        Self { horizon, ..self }
    }

    /// Stays at the knot's position.
    pub(super) fn standing(knot: &Knot) -> Self {
        Self { rate: [0.0; FIELDS_MAX], ..Self::reckoned(knot) }
    }

    /// Follows the rules, or a knot's rates where the rules give no answer.
    pub(super) fn by_rules(knot: &Knot) -> Self {
        Self { ruled: Some(Ruled::of(knot)), ..Self::reckoned(knot) }
    }

    /// Returns the position at a time.
    pub(super) fn at(&self, shape: &Shape, rules: &dyn Rules, time: f64) -> Coords {
        let secs = reach(time - self.time, self.horizon).0;
        let ruled = self.forward(shape, rules, secs);
        ruled.unwrap_or_else(|| self.unruled(shape, secs))
    }

    /// Returns the weights of the rates and of the curvatures in the way after some seconds.
    pub(super) fn weights(&self, secs: f64) -> (f64, f64) {
        let bent = secs.min(self.curve_secs);
        let straight = if bent < secs { self.keeps * (secs - bent) } else { 0.0 };
        (bent + straight, bent * (bent + 2.0 * straight))
    }

    /// Returns the position after some seconds, without the rules.
    fn unruled(&self, shape: &Shape, secs: f64) -> Coords {
        let mut position = self.position;
        let (rates, curves) = self.weights(secs);
        for at in shape.moving() {
            position[at] += rates * self.rate[at] + curves * self.curvature[at];
        }
        for at in shape.rotations() {
            position[at..at + 4].copy_from_slice(&self.turned(at, secs).0);
        }
        position
    }

    /// Returns a rotation, given by the index of its first component, and its rate after some
    /// seconds.
    fn turned(&self, at: usize, secs: f64) -> ([f64; 4], [f64; 4]) {
        let (rates, curves) = self.weights(secs);
        let curve = if rates == 0.0 { 0.0 } else { curves / rates };
        let rate =
            std::array::from_fn(|part| self.rate[at + part] + curve * self.curvature[at + part]);
        turned(&four(&self.position[at..]), &rate, rates)
    }

    /// Returns the rules' answer, which exists only for the future.
    pub(super) fn forward(&self, shape: &Shape, rules: &dyn Rules, secs: f64) -> Option<Coords> {
        let ruled = self.ruled.as_ref().filter(|_| secs >= 0.0)?;
        let bent = secs.min(self.curve_secs);
        let values = rules.forward(ruled.start(), bent)?;
        if !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let mut position = shape.coords(&values, Some(&self.position));
        if bent < secs {
            for at in shape.moving() {
                position[at] += self.keeps * (secs - bent) * self.rate[at];
            }
        }
        Some(position)
    }

    /// Returns the rate of change of the position per second at a time.
    pub(super) fn rate_at(&self, shape: &Shape, rules: &dyn Rules, time: f64) -> Coords {
        let (secs, speed) = reach(time - self.time, self.horizon);
        self.rate_after(shape, rules, (secs, speed), self.forward(shape, rules, secs))
    }

    /// Returns the position at a time, and its rate of change per second.
    pub(super) fn going_at(&self, shape: &Shape, rules: &dyn Rules, time: f64) -> (Coords, Coords) {
        let (secs, speed) = reach(time - self.time, self.horizon);
        let ruled = self.forward(shape, rules, secs);
        let position = ruled.unwrap_or_else(|| self.unruled(shape, secs));
        (position, self.rate_after(shape, rules, (secs, speed), ruled))
    }

    /// Returns the rate of change of the position per second, after some seconds at a speed, where
    /// the rules put it `here`.
    fn rate_after(
        &self,
        shape: &Shape,
        rules: &dyn Rules,
        (secs, speed): (f64, f64),
        here: Option<Coords>,
    ) -> Coords {
        /// Seconds over which a rate of the rules is measured; single precision needs at least this
        /// many.
        const STEP: f64 = 1.0 / 64.0;
        let mut rate = [0.0; FIELDS_MAX];
        if let Some(here) = here
            && let Some(there) = self.forward(shape, rules, secs + STEP)
        {
            for at in shape.moving() {
                rate[at] = speed * (there[at] - here[at]) / STEP;
            }
            return rate;
        }
        let speed = if secs > self.curve_secs { speed * self.keeps } else { speed };
        let bent = secs.min(self.curve_secs);
        for at in shape.moving() {
            rate[at] = speed * (self.rate[at] + 2.0 * bent * self.curvature[at]);
        }
        for at in shape.rotations() {
            // The curvature contributes less than the grid's rounding.
            let turning = self.turned(at, secs).1;
            rate[at..at + 4].copy_from_slice(&turning.map(|part| speed * part));
        }
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::method::NoRules;
    use super::super::tests::testing::{Body, X, Y, track_of};
    use super::super::track::Track;
    use super::*;

    #[test]
    fn it_looks_as_far_ahead_as_a_state_is_old_and_stops_gently_at_the_horizon() {
        let usual = |age| reach(age, HORIZON_SECS);
        assert_eq!(usual(0.15), (0.15, 1.0));
        assert_eq!(usual(-0.15), (-0.15, 1.0));
        assert_eq!(reach(0.9, 1.0), (0.9, 1.0));
        assert_eq!(reach(9.0, SLOWING_SECS), (SLOWING_SECS / 2.0, 0.0), "it only slows down");
        let (end, speed) = usual(HORIZON_SECS);
        assert!(end < HORIZON_SECS && speed < 1e-9);
        assert!((usual(1e9).0 - end).abs() < 1e-9 && usual(1e9).1 == 0.0);
        let mut before = usual(0.0);
        for n in 1..=300 {
            let now = usual(f64::from(n) * 0.001);
            assert!(((now.0 - before.0) / 0.001 - f64::midpoint(now.1, before.1)).abs() < 1e-3);
            before = now;
        }
    }

    /// Gravity on y, from the present position.
    struct Falling;

    impl Rules for Falling {
        fn forward(&self, Start { values, .. }: Start<'_>, secs: f64) -> Option<Values> {
            let mut after = *values;
            after[Y] -= 5.0 * secs * secs;
            (values[X] < 100.0).then_some(after)
        }
    }

    fn newest(track: &Track) -> &Knot {
        track.newest().expect("just made")
    }

    #[test]
    fn rules_come_before_rates_and_rates_before_nothing() {
        let track = track_of(&[(1.0, Body { vx: 2.0, ..Body::at(3.0) })], 0.0);
        let forecast = Forecast::by_rules(newest(&track));
        let shape = track.shape();
        let ruled = forecast.at(shape, &Falling, 1.1);
        assert!((ruled[Y] + 0.05).abs() < 1e-6 && ruled[X] == 3.0);
        let rate = forecast.rate_at(shape, &Falling, 1.1);
        assert!((rate[Y] + 1.0).abs() < 0.1, "{}", rate[Y]);
        let unruled = forecast.at(shape, &NoRules, 1.1);
        assert!((unruled[X] - 3.2).abs() < 1e-9 && unruled[Y] == 0.0);
        // The rules know nothing about the past.
        assert!((forecast.at(shape, &Falling, 0.9)[X] - 2.8).abs() < 1e-9);
        let far = track_of(&[(1.0, Body { vx: 2.0, ..Body::at(300.0) })], 0.0);
        let silent = Forecast::by_rules(newest(&far)).at(shape, &Falling, 1.1);
        assert!((silent[X] - 300.2).abs() < 1e-6);
    }

    #[test]
    fn nonsense_of_the_rules_is_not_shown() {
        struct Wild;
        impl Rules for Wild {
            fn forward(&self, _start: Start<'_>, _secs: f64) -> Option<Values> {
                Some([f64::NAN; FIELDS_MAX])
            }
        }
        let track = track_of(&[(1.0, Body { vx: 2.0, ..Body::at(3.0) })], 0.0);
        let position = Forecast::by_rules(newest(&track)).at(track.shape(), &Wild, 1.1);
        assert!((position[X] - 3.2).abs() < 1e-9);
    }
}

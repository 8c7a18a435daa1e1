//! Expected tracks, which extrapolators make of the known states.

use super::method::{HORIZON_SECS, Rules};
use super::rotation::{four, turned};
use super::track::{Coords, Knot, Shape};
use crate::fields::Values;
use crate::limits::FIELDS_MAX;

/// Seconds before the horizon in which extrapolations slow down. Arbitrary.
pub(super) const SLOWING_SECS: f64 = 0.05;

/// Seconds to look ahead of a state of some age, and their growth with the age: the age itself
/// until the last twentieth of a second before the horizon, in which it comes to a stop. The same
/// before the state.
pub(super) fn reach(age: f64, horizon: f64) -> (f64, f64) {
    let steady = horizon - SLOWING_SECS;
    let over = ((age.abs() - steady) / SLOWING_SECS).clamp(0.0, 1.0);
    // The integral of a speed that falls from 1 to 0.
    let secs = age.abs().min(steady) + SLOWING_SECS * (over - over * over / 2.0);
    (secs.copysign(age), 1.0 - over)
}

/// A track from a state on: a parabola for each coordinate, or by the rules. Rotations turn
/// uniformly, by the change of their parabolas.
#[derive(Clone, Debug)]
pub(super) struct Forecast {
    /// The state's time.
    pub(super) time: f64,
    /// Position at that time.
    pub(super) position: Coords,
    /// Change a second at that time.
    pub(super) rate: Coords,
    /// Half of the rate's change a second.
    pub(super) bend: Coords,
    /// Seconds beyond the state from which on it stands.
    pub(super) horizon: f64,
    /// The state, if the rules are to be asked before the parabola.
    pub(super) values: Option<Values>,
}

impl Forecast {
    /// Straight on at a knot's rates.
    pub(super) fn reckoned(knot: &Knot) -> Self {
        let bend = [0.0; FIELDS_MAX];
        let (time, horizon) = (knot.time, HORIZON_SECS);
        Self { time, position: knot.position, rate: knot.rate, bend, horizon, values: None }
    }

    /// The same as far as another horizon.
    pub(super) fn until(self, horizon: f64) -> Self {
        Self { horizon, ..self }
    }

    /// Standing where it is.
    pub(super) fn standing(knot: &Knot) -> Self {
        Self { rate: [0.0; FIELDS_MAX], ..Self::reckoned(knot) }
    }

    /// By the rules; where they say nothing, at the knot's rates.
    pub(super) fn by_rules(knot: &Knot) -> Self {
        Self { values: Some(knot.values), ..Self::reckoned(knot) }
    }

    /// Where it will be at a time.
    pub(super) fn at(&self, shape: &Shape, rules: &dyn Rules, time: f64) -> Coords {
        let secs = reach(time - self.time, self.horizon).0;
        self.forward(shape, rules, secs).unwrap_or_else(|| self.unruled(shape, secs))
    }

    /// Where it will be after some seconds, whatever the rules say.
    fn unruled(&self, shape: &Shape, secs: f64) -> Coords {
        let mut position = self.position;
        for at in shape.moving() {
            position[at] += secs * (self.rate[at] + secs * self.bend[at]);
        }
        for at in shape.rotations() {
            position[at..at + 4].copy_from_slice(&self.turned(at, secs).0);
        }
        position
    }

    /// A rotation, by the index of its first component, and its rate after some seconds.
    fn turned(&self, at: usize, secs: f64) -> ([f64; 4], [f64; 4]) {
        let rate = std::array::from_fn(|part| self.rate[at + part] + secs * self.bend[at + part]);
        turned(&four(&self.position[at..]), &rate, secs)
    }

    /// The rules' answer, which is about the future only.
    fn forward(&self, shape: &Shape, rules: &dyn Rules, secs: f64) -> Option<Coords> {
        let values = self.values.as_ref().filter(|_| secs >= 0.0)?;
        let values = rules.forward(values, secs)?;
        let sound = values.iter().all(|value| value.is_finite());
        sound.then(|| shape.coords(&values, Some(&self.position)))
    }

    /// Change a second of the position at a time.
    pub(super) fn rate_at(&self, shape: &Shape, rules: &dyn Rules, time: f64) -> Coords {
        let (secs, speed) = reach(time - self.time, self.horizon);
        self.rate_after(shape, rules, (secs, speed), self.forward(shape, rules, secs))
    }

    /// Where it will be at a time, and the change of that a second.
    pub(super) fn going_at(&self, shape: &Shape, rules: &dyn Rules, time: f64) -> (Coords, Coords) {
        let (secs, speed) = reach(time - self.time, self.horizon);
        let ruled = self.forward(shape, rules, secs);
        let position = ruled.unwrap_or_else(|| self.unruled(shape, secs));
        (position, self.rate_after(shape, rules, (secs, speed), ruled))
    }

    /// Change a second of the position after some seconds at a speed, where the rules put it
    /// `here`.
    fn rate_after(
        &self,
        shape: &Shape,
        rules: &dyn Rules,
        (secs, speed): (f64, f64),
        here: Option<Coords>,
    ) -> Coords {
        /// Seconds over which a rate of the rules is measured; single precision allows no fewer.
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
        for at in shape.moving() {
            rate[at] = speed * (self.rate[at] + 2.0 * secs * self.bend[at]);
        }
        for at in shape.rotations() {
            // The bend adds less than the grid rounds.
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

    /// Gravity on y, from where it is.
    struct Falling;

    impl Rules for Falling {
        fn forward(&self, values: &Values, secs: f64) -> Option<Values> {
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
        // The rules do not say what was before.
        assert!((forecast.at(shape, &Falling, 0.9)[X] - 2.8).abs() < 1e-9);
        let far = track_of(&[(1.0, Body { vx: 2.0, ..Body::at(300.0) })], 0.0);
        let silent = Forecast::by_rules(newest(&far)).at(shape, &Falling, 1.1);
        assert!((silent[X] - 300.2).abs() < 1e-6);
    }

    #[test]
    fn nonsense_of_the_rules_is_not_shown() {
        struct Wild;
        impl Rules for Wild {
            fn forward(&self, _values: &Values, _secs: f64) -> Option<Values> {
                Some([f64::NAN; FIELDS_MAX])
            }
        }
        let track = track_of(&[(1.0, Body { vx: 2.0, ..Body::at(3.0) })], 0.0);
        let position = Forecast::by_rules(newest(&track)).at(track.shape(), &Wild, 1.1);
        assert!((position[X] - 3.2).abs() < 1e-9);
    }
}

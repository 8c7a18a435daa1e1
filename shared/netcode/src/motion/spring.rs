//! Hides corrections of predicted entities: the picture keeps its position and velocity, and a
//! critically damped spring takes it to the true state.
//!
//! An error that decays exponentially begins with its fastest motion, so a hit that the client
//! could not know about looks like a jump in the first frame. The spring starts with the velocity
//! that was drawn, and from rest it does not overshoot (Lowe, *Critically Damped Ease-In/Ease-Out
//! Smoothing*, Game Programming Gems 4, 2004; the closed form is that of any damped oscillator, so
//! the frame rate does not matter).

use crate::fields::{Field, Motion, Values};
use crate::limits::FIELDS_MAX;

/// Difference between the drawn values and the predicted ones, and its rate per second; decays to
/// exactly zero.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ErrorSpring {
    error: Values,
    rate: Values,
}

/// Values at one moment, and their rate of change per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// The values.
    pub values: Values,
    /// Rate of change of the values per second.
    pub rate: Values,
}

impl ErrorSpring {
    /// Angular frequency in radians per second: a tenth of an error is left after 0.28 s. Measured
    /// with the bench `feel`: a stiffer spring looks like a jump after a hit that moves the player
    /// by metres; a softer one keeps the picture off for longer than necessary.
    pub const FREQUENCY: f64 = 14.0;

    /// Adds a correction from `before` to `after` to the current error. Beyond a field's snap
    /// distance the true state is shown at once.
    pub fn correct(&mut self, fields: &[Field], before: &Moving, after: &Moving) {
        for (at, field) in fields.iter().enumerate() {
            let way = self.error[at] + before.values[at] - after.values[at];
            let (error, slides) = match field.motion {
                Motion::Linear | Motion::Unit => (way, true),
                Motion::Angle | Motion::Wrap => (field.way(0.0, way), true),
                Motion::Step | Motion::Cut | Motion::Largest | Motion::Smallest => (0.0, false),
            };
            self.error[at] = error;
            let rate = self.rate[at] + before.rate[at] - after.rate[at];
            self.rate[at] = if slides { rate } else { 0.0 };
        }
        let mut errors = self.error.iter().zip(fields);
        let snaps = errors.any(|(error, field)| error.abs() > f64::from(field.snap_distance));
        let all = self.error.iter().chain(&self.rate);
        if snaps || all.clone().any(|it| !it.is_finite()) {
            self.clear();
        }
    }

    /// Discards the error, so that the true state is shown.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Advances by `secs`. An error below half a grid step that does not grow becomes zero.
    pub fn advance(&mut self, fields: &[Field], secs: f32) {
        let secs = f64::from(secs.max(0.0));
        let keep = libm::exp(-Self::FREQUENCY * secs);
        for ((error, rate), field) in self.error.iter_mut().zip(&mut self.rate).zip(fields) {
            let pull = *rate + Self::FREQUENCY * *error;
            *error = (*error + pull * secs) * keep;
            *rate = (*rate - Self::FREQUENCY * pull * secs) * keep;
            // From its velocity alone it would get this far.
            let furthest = error.abs().max(rate.abs() / Self::FREQUENCY);
            if furthest < 0.5 / field.steps() {
                (*error, *rate) = (0.0, 0.0);
            }
        }
    }

    /// Returns the values to draw.
    pub fn apply(&self, fields: &[Field], predicted: &Values) -> Values {
        super::smoothing::with_error(fields, predicted, &self.error)
    }

    /// Whether nothing is hidden.
    pub fn is_zero(&self) -> bool {
        self.error.iter().chain(&self.rate).all(|it| *it == 0.0)
    }
}

impl Moving {
    /// Creates values that stand still.
    pub fn resting(values: Values) -> Self {
        Self { values, rate: [0.0; FIELDS_MAX] }
    }

    /// Computes the motion between values that are `secs` apart, at the values `at` between or near
    /// them.
    pub fn between(fields: &[Field], [before, after]: [&Values; 2], secs: f64, at: Values) -> Self {
        let mut rate = [0.0; FIELDS_MAX];
        for (n, field) in fields.iter().enumerate() {
            rate[n] = field.way(before[n], after[n]) / secs;
        }
        Self { values: at, rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] =
        &[Field::centred(15, 8).snap_beyond(4.0).named("x"), Field::angle(10).named("aim")];

    fn moving(x: f64, aim: f64, speed: f64) -> Moving {
        let mut moving = Moving::resting([0.0; FIELDS_MAX]);
        moving.values[..2].copy_from_slice(&[x, aim]);
        moving.rate[0] = speed;
        moving
    }

    #[test]
    fn correction_keeps_position_and_speed_and_ends_exactly() {
        // A hit 2 m ago has reversed the motion.
        let (before, after) = (moving(3.0, 0.95, 5.0), moving(1.0, 0.05, -10.0));
        let mut spring = ErrorSpring::default();
        spring.correct(FIELDS, &before, &after);
        let frame = 1.0 / 60.0;
        let (mut drawn, mut step) = (3.0, 5.0 * f64::from(frame));
        let mut predicted = after.values;
        let mut most = 0.0_f64;
        for _ in 0..120 {
            spring.advance(FIELDS, frame);
            predicted[0] += -10.0 * f64::from(frame);
            let next = spring.apply(FIELDS, &predicted)[0];
            most = most.max((next - drawn - step).abs());
            (step, drawn) = (next - drawn, next);
        }
        // Exponential decay would begin with half a metre.
        assert!(most < 0.2, "{most} m");
        assert!(spring.is_zero(), "{spring:?}");
    }

    #[test]
    fn error_at_rest_is_undone_without_overshoot_whatever_the_frame_rate() {
        let course = |frames: u16| {
            let mut spring = ErrorSpring::default();
            spring.correct(FIELDS, &moving(2.0, 0.0, 0.0), &moving(0.0, 0.0, 0.0));
            let mut last = 2.0;
            for _ in 0..frames {
                spring.advance(FIELDS, 0.28 / f32::from(frames));
                let drawn = spring.apply(FIELDS, &[0.0; FIELDS_MAX])[0];
                assert!((0.0..=last).contains(&drawn), "{last} to {drawn}");
                last = drawn;
            }
            last
        };
        let (slow, fast) = (course(4), course(400));
        assert!((slow - fast).abs() < 1e-4, "{slow} and {fast}");
        assert!((0.15..0.25).contains(&slow), "a tenth of 2 m is left: {slow}");
    }

    #[test]
    fn angle_goes_the_short_way() {
        let mut spring = ErrorSpring::default();
        spring.correct(FIELDS, &moving(0.0, 0.95, 0.0), &moving(0.0, 0.05, 0.0));
        let mut last = 0.95;
        for _ in 0..60 {
            spring.advance(FIELDS, 0.01);
            let drawn = spring.apply(FIELDS, &moving(0.0, 0.05, 0.0).values)[1];
            assert!(FIELDS[1].way(last, drawn) >= 0.0, "{last} to {drawn}");
            last = drawn;
        }
        assert!(FIELDS[1].way(last, 0.05).abs() < 0.01, "{last}");
    }

    #[test]
    fn great_correction_and_no_number_are_shown_at_once() {
        let mut spring = ErrorSpring::default();
        spring.correct(FIELDS, &moving(1.0, 0.0, 3.0), &moving(5.5, 0.5, 0.0));
        assert!(spring.is_zero());
        spring.correct(FIELDS, &moving(f64::NAN, 0.0, 0.0), &moving(5.0, 0.5, 0.0));
        assert!(spring.is_zero());
        spring.correct(FIELDS, &moving(5.0, 0.0, f64::INFINITY), &moving(5.0, 0.5, 0.0));
        assert!(spring.is_zero());
    }
}

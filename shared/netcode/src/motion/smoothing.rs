//! Hides corrections and changes of method: the picture keeps its position and slides to the true
//! state.

use crate::fields::{Field, Motion, Values, wrapped};
use crate::limits::FIELDS_MAX;

/// Difference between the drawn values and the true ones; decays to exactly zero.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct RenderError(Values);

impl RenderError {
    /// Time in seconds in which half of an error decays. A tenth is left after a fifth of a second,
    /// the time that the asteroid shooter mentions (its own 1/12 per frame leaves a third).
    pub const HALF_LIFE_SECS: f32 = 0.06;

    /// Adds a correction from `before` to `after` to the current error. Beyond a field's snap
    /// distance the true state is shown at once.
    pub fn correct(&mut self, fields: &[Field], before: &Values, after: &Values) {
        for ((error, field), (before, after)) in
            self.0.iter_mut().zip(fields).zip(before.iter().zip(after))
        {
            *error = match field.motion {
                Motion::Linear | Motion::Unit => *error + before - after,
                Motion::Angle | Motion::Wrap => field.way(0.0, *error + before - after),
                Motion::Step | Motion::Cut | Motion::Largest | Motion::Smallest => 0.0,
            };
        }
        let snaps = self
            .0
            .iter()
            .zip(fields)
            .any(|(error, field)| error.abs() > f64::from(field.snap_distance));
        if snaps || self.0.iter().any(|error| !error.is_finite()) {
            self.clear();
        }
    }

    /// Discards the error, so that the true state is shown.
    pub fn clear(&mut self) {
        self.0 = [0.0; FIELDS_MAX];
    }

    /// Advances by `secs`. An error below half a grid step becomes zero.
    pub fn decay(&mut self, fields: &[Field], secs: f32) {
        let keep = (-secs.max(0.0) / Self::HALF_LIFE_SECS).exp2();
        for (error, field) in self.0.iter_mut().zip(fields) {
            *error = or_none(field, *error * f64::from(keep));
        }
    }

    /// Advances by `secs` for an entity that moves at `rates`, in its fields' units per second. If
    /// it is drawn ahead of its position, it slows down and waits rather than moving back, unless
    /// it is too slow.
    pub fn decay_on_the_way(&mut self, fields: &[Field], secs: f32, rates: &[f64; FIELDS_MAX]) {
        if self.is_zero() {
            return;
        }
        let before = self.0;
        self.decay(fields, secs);
        let keep = f64::from((-secs.max(0.0) / Self::WAIT_HALF_LIFE_SECS).exp2());
        let errors = self.0.iter_mut().zip(before);
        for (((error, before), rate), field) in errors.zip(rates).zip(fields) {
            let slowest = f64::from(Self::WAIT * secs.max(0.0)) * rate;
            let back = before - *error;
            if back * slowest > 0.0 && back.abs() > slowest.abs() {
                let waited = before - slowest;
                let least = before * keep;
                // Both have the sign of the error.
                let less = if waited.abs() < least.abs() { waited } else { least };
                *error = or_none(field, less);
            }
        }
    }

    /// Fraction of its speed by which a waiting entity slows down. Arbitrary: a higher one looks
    /// like a stop.
    pub const WAIT: f32 = 0.6;
    /// The longest half-life of an error in seconds. Arbitrary: an entity that moves 1.4 times its
    /// error per second never moves back.
    pub const WAIT_HALF_LIFE_SECS: f32 = 0.5;

    /// Returns the values to draw.
    pub fn apply(&self, fields: &[Field], predicted: &Values) -> Values {
        if self.is_zero() { *predicted } else { with_error(fields, predicted, &self.0) }
    }

    /// Whether there is no error.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|error| *error == 0.0)
    }
}

/// Returns the values to draw with an error.
pub(super) fn with_error(fields: &[Field], predicted: &Values, error: &Values) -> Values {
    let mut drawn = *predicted;
    for ((value, error), field) in drawn.iter_mut().zip(error).zip(fields) {
        match field.motion {
            Motion::Linear | Motion::Unit => *value += error,
            Motion::Angle | Motion::Wrap => {
                *value = wrapped(*value + error, field.period().unwrap_or(1.0));
            }
            Motion::Step | Motion::Cut | Motion::Largest | Motion::Smallest => {}
        }
    }
    drawn
}

/// Returns an error, or 0 if it is below half a step of the field's grid.
fn or_none(field: &Field, error: f64) -> f64 {
    let half = 0.5 / field.steps();
    if error.abs() < half { 0.0 } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::turn_between;

    const FIELDS: &[Field] =
        &[Field::centred(15, 8).snap_beyond(3.0).named("x"), Field::angle(10).named("aim")];

    fn values(x: f64, aim: f64) -> Values {
        let mut values = [0.0; FIELDS_MAX];
        values[..2].copy_from_slice(&[x, aim]);
        values
    }

    #[test]
    fn a_correction_does_not_jump_and_ends_exactly() {
        let mut error = RenderError::default();
        error.correct(FIELDS, &values(1.0, 0.95), &values(2.0, 0.05));
        let drawn = error.apply(FIELDS, &values(2.0, 0.05));
        assert!((drawn[0] - 1.0).abs() < 1e-6 && turn_between(drawn[1], 0.95).abs() < 1e-6);
        error.decay(FIELDS, RenderError::HALF_LIFE_SECS);
        assert!((error.apply(FIELDS, &values(2.0, 0.05))[0] - 1.5).abs() < 1e-6);
        // Another one in the meantime; still no jump.
        error.correct(FIELDS, &values(2.0, 0.05), &values(1.8, 0.05));
        assert!((error.apply(FIELDS, &values(1.8, 0.05))[0] - 1.5).abs() < 1e-6);
        for _ in 0..60 {
            error.decay(FIELDS, 1.0 / 60.0);
        }
        assert!(error.is_zero());
    }

    #[test]
    fn across_an_edge_a_correction_is_the_short_way_and_drawn_inside() {
        const WRAPPING: &[Field] = &[Field::wrapping(13, 6).snap_beyond(8.0).named("x")];
        for (before, after) in [(127.0, 2.0), (1.0, 126.0), (126.5, 127.5)] {
            let mut error = RenderError::default();
            error.correct(WRAPPING, &values(before, 0.0), &values(after, 0.0));
            let mut last = before;
            for _ in 0..60 {
                let drawn = error.apply(WRAPPING, &values(after, 0.0))[0];
                assert!((0.0..128.0).contains(&drawn), "{drawn}");
                assert!(WRAPPING[0].way(last, drawn).abs() < 0.7, "{last} to {drawn}");
                last = drawn;
                error.decay(WRAPPING, 0.01);
            }
            assert!(WRAPPING[0].way(last, after).abs() < 0.1);
        }
        let mut error = RenderError::default();
        error.correct(WRAPPING, &values(100.0, 0.0), &values(2.0, 0.0));
        assert!(error.is_zero(), "30 apart is a leap");
    }

    #[test]
    fn what_is_drawn_ahead_waits_and_does_not_go_back() {
        let mut error = RenderError::default();
        error.correct(FIELDS, &values(2.0, 0.0), &values(0.0, 0.0));
        let mut rates = [0.0; FIELDS_MAX];
        rates[0] = 6.0;
        let (mut drawn, mut frames) = (2.0, 0);
        while !error.is_zero() {
            error.decay_on_the_way(FIELDS, 0.01, &rates);
            frames += 1;
            let next = error.apply(FIELDS, &values(0.06 * f64::from(frames), 0.0))[0];
            assert!(
                next - drawn >= 0.06 * (1.0 - f64::from(RenderError::WAIT)) - 0.003,
                "{drawn} to {next}"
            );
            drawn = next;
        }
        assert!((50..100).contains(&frames), "{frames} frames");
        // An entity that is behind catches up as fast as before.
        error.correct(FIELDS, &values(0.0, 0.0), &values(2.0, 0.0));
        error.decay_on_the_way(FIELDS, RenderError::HALF_LIFE_SECS, &rates);
        assert!((error.apply(FIELDS, &values(2.0, 0.0))[0] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_hardly_moves_does_not_wait_for_ever() {
        let mut rates = [0.0; FIELDS_MAX];
        rates[0] = 0.01;
        let mut error = RenderError::default();
        error.correct(FIELDS, &values(2.0, 0.0), &values(0.0, 0.0));
        for _ in 0..500 {
            error.decay_on_the_way(FIELDS, 0.01, &rates);
        }
        assert!(error.is_zero(), "{error:?} after five seconds");
    }

    #[test]
    fn a_great_correction_is_shown_at_once() {
        let mut error = RenderError::default();
        error.correct(FIELDS, &values(1.0, 0.0), &values(5.0, 0.5));
        assert!(error.is_zero());
        error.correct(FIELDS, &values(f64::NAN, 0.0), &values(5.0, 0.5));
        assert!(error.is_zero());
    }
}

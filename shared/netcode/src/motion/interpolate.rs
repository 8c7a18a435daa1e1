//! Points in time between two ticks, and values between two states.

use crate::fields::{Field, Motion, Values};
use crate::time::{Rates, ServerTime, Tick};

/// A point in time between two ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickTime {
    /// The tick at or before it.
    pub tick: Tick,
    /// The elapsed fraction of the step: 0 up to but excluding 1.
    pub fraction: f32,
}

impl TickTime {
    /// Converts a server time.
    pub fn at(rates: Rates, time: ServerTime) -> Self {
        let tick = rates.tick_at(time);
        let passed = (time - rates.time_of(tick)).0 as f32;
        let fraction = (passed / rates.step().0 as f32).clamp(0.0, 1.0 - f32::EPSILON);
        Self { tick, fraction }
    }

    /// Returns the ticks since an earlier tick, with fractions.
    pub fn since(self, earlier: Tick) -> f32 {
        self.tick.since(earlier) as f32 + self.fraction
    }
}

/// Whether there is a discontinuity between two states.
pub fn cut_between(fields: &[Field], a: &Values, b: &Values) -> bool {
    fields.iter().zip(a.iter().zip(b)).any(|(field, (a, b))| field.motion == Motion::Cut && a != b)
}

/// Interpolates from `a` to `b`, with `t` from 0 to 1, each field according to its own motion.
pub fn blend_values(fields: &[Field], a: &Values, b: &Values, t: f64) -> Values {
    let mut values = *a;
    for ((value, b), field) in values.iter_mut().zip(b).zip(fields) {
        *value = field.blend(*value, *b, t);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Micros;

    #[test]
    fn a_server_time_has_its_tick_and_fraction() {
        let rates = Rates::DEFAULT;
        let at = TickTime::at(rates, rates.time_of(Tick(90)) + Micros(8333));
        assert_eq!(at.tick, Tick(90));
        assert!((at.fraction - 0.5).abs() < 0.001);
    }
}

//! An extrapolator at work on one entity.

use super::adaptive::Adaptive;
use super::extrapolator::Extrapolator;
use super::forecast::Forecast;
use super::kalman::Kalman;
use super::method::Rules;
use super::track::{Knot, Track};

/// An extrapolator with its memory for one entity.
#[derive(Clone, Debug)]
pub(super) struct Forecaster {
    extrapolator: Extrapolator,
    memory: Memory,
    /// Seconds beyond the newest state after which its forecasts stop.
    pub(super) horizon: f64,
}

#[derive(Clone, Debug)]
enum Memory {
    None,
    Kalman(Box<Kalman>),
    Adaptive(Box<Adaptive>),
}

impl Forecaster {
    pub(super) fn new(extrapolator: Extrapolator, horizon: f64) -> Self {
        let memory = match extrapolator {
            Extrapolator::Kalman => Memory::Kalman(Box::default()),
            Extrapolator::Adaptive => Memory::Adaptive(Box::new(Adaptive::new(horizon))),
            _ => Memory::None,
        };
        Self { extrapolator, memory, horizon }
    }

    /// Whether its forecasts depend on the interval.
    pub(super) fn is_even(&self) -> bool {
        matches!(self.extrapolator, Extrapolator::Uniform(_))
    }

    /// Returns the forecast from the track's newest state. Call it once for each state.
    pub(super) fn forecast(
        &mut self,
        track: &Track,
        newest: &Knot,
        rules: &dyn Rules,
        interval: f64,
    ) -> Forecast {
        let forecast = match &mut self.memory {
            Memory::None => self.extrapolator.forecast(track, 0, interval),
            Memory::Kalman(kalman) => Some(kalman.forecast(track, newest)),
            Memory::Adaptive(adaptive) => Some(adaptive.forecast(track, newest, rules)),
        };
        forecast.unwrap_or_else(|| Forecast::reckoned(newest)).until(self.horizon)
    }
}

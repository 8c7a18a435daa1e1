//! Showing the present by a forecast, whichever, and sliding from one to the next.

use std::fmt::Debug;

use super::ease::{Curve, Ease};
use super::forecast::Forecast;
use super::method::{Method, Moment, Rules, Shown, Timeline};
use super::path::{Coords, Knot, Path};

/// Makes a forecast of a path.
pub(super) trait Extrapolate: Debug + Send {
    /// The course from the path's newest state on.
    fn forecast(&mut self, path: &Path, newest: &Knot, rules: &dyn Rules) -> Forecast;
}

/// Straight on at the newest state's rates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reckoned {
    /// For so many seconds.
    pub(super) horizon: f64,
}

impl Extrapolate for Reckoned {
    fn forecast(&mut self, _path: &Path, newest: &Knot, _rules: &dyn Rules) -> Forecast {
        Forecast::reckoned(newest).until(self.horizon)
    }
}

/// What every method of the present that extrapolates is made of.
///
/// When a state comes, what is shown goes on from where it is at that time, and with its velocity if the
/// curve keeps that. If the state came between two frames, the correction begins when it came, not with
/// the frame, so that the picture does not depend on when frames are drawn; if it is stamped before the last
/// frame, it begins there, for what was drawn was drawn.
#[derive(Clone, Debug)]
pub(super) struct Eased<F> {
    predict_spawn: F,
    forecast: Option<Forecast>,
    ease: Ease,
    shown: Option<Frame>,
}

/// The last frame that was drawn, and the interval as last told.
#[derive(Clone, Copy, Debug)]
struct Frame {
    now: f64,
    interval: f64,
}

/// Seconds after the last frame at which a correction begins at the latest, should an arrival be stamped
/// beyond the present. Arbitrary.
const BEGIN_MAX_SECS: f64 = 1.0;

/// When a correction begins.
pub(super) fn begin(arrival: f64, shown: f64) -> f64 {
    arrival.clamp(shown, shown + BEGIN_MAX_SECS)
}

/// The time of a moment, or the newest state's if it is no number.
pub(super) fn present(path: &Path, now: f64) -> f64 {
    let newest = path.newest().map_or(0.0, |knot| knot.time);
    if now.is_finite() { now } else { newest }
}

/// Coordinates for the present, tamed and judged.
pub(super) fn finish(path: &Path, now: f64, horizon: f64, mut place: Coords) -> Shown {
    let Some(newest) = path.newest() else { return Shown { place, starved: true } };
    path.shape().tame(&mut place, &newest.place);
    Shown { place, starved: now > newest.time + horizon && path.shape().moves() }
}

impl<F: Extrapolate> Eased<F> {
    /// A new one.
    pub(super) fn new(predict_spawn: F, curve: Curve) -> Self {
        Self { predict_spawn, forecast: None, ease: Ease::new(curve), shown: None }
    }

    /// What extrapolates.
    #[cfg(test)]
    pub(super) fn predict_spawn(&self) -> &F {
        &self.predict_spawn
    }

    fn learn(&mut self, path: &Path, rules: &dyn Rules) {
        let Some(newest) = path.newest() else { return };
        if self.forecast.as_ref().is_some_and(|forecast| forecast.time == newest.time) {
            return;
        }
        let next = self.predict_spawn.forecast(path, newest, rules);
        let shape = path.shape();
        if let (Some(old), Some(frame)) = (&self.forecast, self.shown) {
            let begin = begin(newest.arrival, frame.now);
            let mut place = old.at(shape, rules, begin);
            let mut rate = old.rate_at(shape, rules, begin);
            self.ease.add(shape, begin, &mut place);
            self.ease.add_rate(shape, begin, &mut rate);
            let next = (&next.at(shape, rules, begin), &next.rate_at(shape, rules, begin));
            self.ease.bridge(shape, begin, frame.interval, (place, rate), next);
        }
        self.forecast = Some(next);
    }
}

impl<F: Extrapolate> Method for Eased<F> {
    fn timeline(&self) -> Timeline {
        Timeline::Present
    }

    fn observe(&mut self, path: &Path, rules: &dyn Rules) {
        self.learn(path, rules);
    }

    fn expect(&mut self, interval: f64) {
        if let Some(frame) = &mut self.shown {
            frame.interval = interval;
        }
    }

    fn show(&mut self, path: &Path, at: Moment, rules: &dyn Rules) -> Shown {
        self.learn(path, rules);
        let now = present(path, at.now);
        self.shown = Some(Frame { now, interval: at.interval });
        let Some(forecast) = &self.forecast else {
            return Shown { place: [0.0; crate::limits::FIELDS_MAX], starved: true };
        };
        let mut place = forecast.at(path.shape(), rules, now);
        self.ease.add(path.shape(), now, &mut place);
        finish(path, now, forecast.horizon, place)
    }
}

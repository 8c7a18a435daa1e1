//! Methods that show the present by a forecast, and slide from one forecast to the next.

use super::ease::{Curve, Ease};
use super::extrapolator::Extrapolator;
use super::forecast::Forecast;
use super::forecaster::Forecaster;
use super::method::{Method, Moment, Rules, Shown, Timeline};
use super::track::{Coords, Track};
use crate::limits::FIELDS_MAX;

/// A method of the present: an extrapolator, and the curve that hides its jumps.
///
/// When a state comes, what is shown goes on from where it is at that time, and with its velocity
/// if the curve keeps that. If the state came between two frames, the correction begins when it
/// came, not with the frame, so that the picture does not depend on when frames are drawn; if it
/// is stamped before the last frame, it begins there, for what was drawn was drawn.
#[derive(Clone, Debug)]
pub(super) struct Eased {
    forecaster: Forecaster,
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

/// Seconds after the last frame at which a correction begins at the latest, should an arrival be
/// stamped beyond the present. Arbitrary.
const BEGIN_MAX_SECS: f64 = 1.0;

/// When a correction begins.
pub(super) fn begin(arrival: f64, shown: f64) -> f64 {
    arrival.clamp(shown, shown + BEGIN_MAX_SECS)
}

/// The time of a moment, or the newest state's if it is no number.
pub(super) fn present(track: &Track, now: f64) -> f64 {
    let newest = track.newest().map_or(0.0, |knot| knot.time);
    if now.is_finite() { now } else { newest }
}

/// Coordinates for the present, tamed and judged.
pub(super) fn finish(track: &Track, now: f64, horizon: f64, mut position: Coords) -> Shown {
    let Some(newest) = track.newest() else { return Shown { position, starved: true } };
    track.shape().tame(&mut position, &newest.position);
    Shown { position, starved: now > newest.time + horizon && track.shape().moves() }
}

impl Eased {
    pub(super) fn new(extrapolator: Extrapolator, curve: Curve, horizon: f64) -> Self {
        let forecaster = Forecaster::new(extrapolator, horizon);
        Self { forecaster, forecast: None, ease: Ease::new(curve), shown: None }
    }

    fn learn(&mut self, track: &Track, rules: &dyn Rules) {
        let Some(newest) = track.newest() else { return };
        if self.forecast.as_ref().is_some_and(|forecast| forecast.time == newest.time) {
            return;
        }
        let interval = self.shown.map_or(1.0, |frame| frame.interval);
        let next = self.forecaster.forecast(track, newest, rules, interval);
        let shape = track.shape();
        if let (Some(old), Some(frame)) = (&self.forecast, self.shown) {
            let begin = begin(newest.arrival, frame.now);
            let mut position = old.at(shape, rules, begin);
            let mut rate = old.rate_at(shape, rules, begin);
            self.ease.add(shape, begin, &mut position);
            self.ease.add_rate(shape, begin, &mut rate);
            let next = (&next.at(shape, rules, begin), &next.rate_at(shape, rules, begin));
            self.ease.bridge(shape, begin, frame.interval, (position, rate), next);
        }
        self.forecast = Some(next);
    }
}

impl Method for Eased {
    fn timeline(&self) -> Timeline {
        Timeline::Present
    }

    fn observe(&mut self, track: &Track, rules: &dyn Rules) {
        self.learn(track, rules);
    }

    fn expect(&mut self, interval: f64) {
        if let Some(frame) = &mut self.shown {
            frame.interval = interval;
        }
    }

    fn show(&mut self, track: &Track, at: Moment, rules: &dyn Rules) -> Shown {
        self.learn(track, rules);
        let now = present(track, at.now);
        self.shown = Some(Frame { now, interval: at.interval });
        let Some(forecast) = &self.forecast else {
            return Shown { position: [0.0; FIELDS_MAX], starved: true };
        };
        let mut position = forecast.at(track.shape(), rules, now);
        self.ease.add(track.shape(), now, &mut position);
        finish(track, now, forecast.horizon, position)
    }
}

//! Methods that show the present: their common part, and the method that slides from one forecast
//! to the next.

use std::fmt::Debug;

use super::ease::{Curve, Ease, Span, limited};
use super::extrapolator::Extrapolator;
use super::forecast::Forecast;
use super::forecaster::Forecaster;
use super::keeping::Keeping;
use super::method::{Method, Moment, Rules, Shown, Timeline};
use super::tick_cache::TickCache;
use super::track::{Coords, Knot, Shape, Track};
use crate::limits::FIELDS_MAX;

/// The maximum seconds after the last frame before a correction begins, if an arrival is stamped
/// later than the present. Arbitrary.
const BEGIN_MAX_SECS: f64 = 1.0;

/// The last frame, as far as a new state depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastFrame {
    /// Time of the frame in seconds; `None` before the first.
    shown: Option<f64>,
    /// Expected seconds from one state to the next, limited.
    pub(super) interval: f64,
}

impl LastFrame {
    /// Returns the time at which the correction for a new state begins; `None` before the first
    /// frame.
    ///
    /// If the state came between two frames, this is its arrival, so that the picture does not
    /// depend on the frame rate. A state that is stamped before the last frame corrects from that
    /// frame on.
    pub(super) fn begin(self, newest: &Knot) -> Option<f64> {
        self.shown.map(|shown| newest.arrival.clamp(shown, shown + BEGIN_MAX_SECS))
    }
}

/// Computes coordinates over time, from one state to the next.
pub(super) trait Drawing: Debug + Send {
    /// Continues from a new state. Called once for each.
    fn learn(&mut self, track: &Track, newest: &Knot, rules: &dyn Rules, last: LastFrame);

    /// Handles the interval, which the first frame provides. Returns whether the newest state must
    /// be processed again.
    fn handle_interval(&mut self, _interval: f64) -> bool {
        false
    }

    /// Returns the coordinates at a time after the first state.
    fn position(&mut self, shape: &Shape, rules: &dyn Rules, now: f64) -> Coords;

    /// Returns the seconds beyond the newest state after which the drawing stops.
    fn horizon(&self) -> f64;
}

/// A method that shows the present with a drawing.
#[derive(Clone, Debug)]
pub(super) struct Present<C> {
    pub(super) drawing: C,
    /// Time of the state that the drawing continues from.
    learned: Option<f64>,
    last: LastFrame,
}

impl<C: Drawing> Present<C> {
    pub(super) fn new(drawing: C) -> Self {
        Self { drawing, learned: None, last: LastFrame { shown: None, interval: 1.0 } }
    }
}

impl<C: Drawing> Method for Present<C> {
    fn timeline(&self) -> Timeline {
        Timeline::Present
    }

    fn observe(&mut self, track: &Track, rules: &dyn Rules) {
        let Some(newest) = track.newest() else { return };
        if self.learned.replace(newest.time) != Some(newest.time) {
            self.drawing.learn(track, newest, rules, self.last);
        }
    }

    fn expect(&mut self, interval: f64) {
        self.last.interval = limited(interval);
    }

    fn show(&mut self, track: &Track, at: Moment, rules: &dyn Rules) -> Shown {
        let interval = limited(at.interval);
        if self.last.shown.is_none() {
            self.last.interval = interval;
            if self.drawing.handle_interval(interval) {
                self.learned = None;
            }
        }
        self.observe(track, rules);
        let Some(newest) = track.newest() else {
            return Shown { position: [0.0; FIELDS_MAX], starved: true };
        };
        let now = if at.now.is_finite() { at.now } else { newest.time };
        self.last = LastFrame { shown: Some(now), interval };
        let shape = track.shape();
        let mut position = self.drawing.position(shape, rules, now);
        shape.tame(&mut position, &newest.position);
        let starved = now > newest.time + self.drawing.horizon() && shape.moves();
        Shown { position, starved }
    }
}

/// A drawing along an extrapolator's forecasts, with a curve that hides the jumps between them.
#[derive(Clone, Debug)]
pub(super) struct Eased {
    forecaster: Forecaster,
    forecast: Option<Forecast>,
    /// Cached ticks of the forecast's state, and space for those of the next one.
    kept: TickCache,
    kept_next: TickCache,
    ease: Ease,
}

impl Eased {
    pub(super) fn new(extrapolator: Extrapolator, curve: Curve, horizon: f64) -> Self {
        let forecaster = Forecaster::new(extrapolator, horizon);
        let [kept, kept_next] = [(); 2].map(|()| TickCache::default());
        Self { forecaster, forecast: None, kept, kept_next, ease: Ease::new(curve) }
    }
}

impl Drawing for Eased {
    fn learn(&mut self, track: &Track, newest: &Knot, rules: &dyn Rules, last: LastFrame) {
        let next = self.forecaster.forecast(track, newest, rules, last.interval);
        self.kept_next.clear();
        let shape = track.shape();
        if let (Some(old), Some(begin)) = (&self.forecast, last.begin(newest)) {
            let (mut position, mut rate) =
                old.going_at(shape, &Keeping::new(rules, &mut self.kept), begin);
            self.ease.add(shape, begin, &mut position);
            self.ease.add_rate(shape, begin, &mut rate);
            let next = next.going_at(shape, &Keeping::new(rules, &mut self.kept_next), begin);
            let span = Span { begin, over: last.interval };
            self.ease.bridge(shape, span, (position, rate), (&next.0, &next.1));
        }
        std::mem::swap(&mut self.kept, &mut self.kept_next);
        self.forecast = Some(next);
    }

    fn position(&mut self, shape: &Shape, rules: &dyn Rules, now: f64) -> Coords {
        let Some(forecast) = &self.forecast else { return [0.0; FIELDS_MAX] };
        let mut position = forecast.at(shape, &Keeping::new(rules, &mut self.kept), now);
        self.ease.add(shape, now, &mut position);
        position
    }

    fn horizon(&self) -> f64 {
        self.forecaster.horizon
    }
}

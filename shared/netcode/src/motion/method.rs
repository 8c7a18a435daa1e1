//! The trait of all presentation methods, and their input.

use std::fmt::Debug;

use super::tick_cache::TickCache;
use super::track::{Coords, EarlySteer, Track};
use crate::fields::Values;

/// Seconds of extrapolation beyond the newest state, after which entities stop. A quarter of a
/// second, like Source's `cl_extrapolate_amount`: longer extrapolations are seldom right.
pub const HORIZON_SECS: f64 = 0.25;

/// Seconds after which `Threshold` always sends. DIS's heartbeat of 5 s is too long for games that
/// lose states.
pub const HEARTBEAT_SECS_MAX: f64 = 1.0;

/// Seconds of dead reckoning: the longest silence of its senders, plus the usual horizon.
pub const RECKONED_SECS: f64 = HEARTBEAT_SECS_MAX + HORIZON_SECS;

/// The relevant times when a frame is drawn, in seconds of server time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The server's time now.
    pub now: f64,
    /// The shown time of entities that are presented in the past: `now` minus the interpolation
    /// delay.
    pub past: f64,
    /// Expected seconds from one state to the next.
    pub interval: f64,
}

/// The time at which a method shows entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// [`Moment::past`]: between known states, if the delay is long enough.
    Past,
    /// [`Moment::now`]: beyond the newest state.
    Present,
}

impl Timeline {
    /// Returns the shown time.
    pub fn time(self, at: Moment) -> f64 {
        match self {
            Self::Past => at.past,
            Self::Present => at.now,
        }
    }
}

/// A state from which rules continue.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Values of the state.
    pub values: &'a Values,
    /// Changes of the entity's steering that are known to follow, in order.
    pub early: &'a [EarlySteer],
}

impl<'a> From<&'a Values> for Start<'a> {
    fn from(values: &'a Values) -> Self {
        Self { values, early: &[] }
    }
}

/// A game's rules for a single entity, as far as they follow from its state.
pub trait Rules {
    /// Returns the values `secs` after a state: 0 or more, and at most [`HORIZON_SECS`] and a tick
    /// unless the laboratory asks for more. `None` if the rules have no answer.
    fn forward(&self, start: Start<'_>, secs: f64) -> Option<Values>;

    /// Returns exactly what [`forward`](Self::forward) returns, but may cache in `_kept` the ticks
    /// that were run from this state, so that rules that work in ticks run none of them twice.
    fn forward_on(&self, start: Start<'_>, secs: f64, _kept: &mut TickCache) -> Option<Values> {
        self.forward(start, secs)
    }
}

/// Rules that never have an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRules;

impl Rules for NoRules {
    fn forward(&self, _start: Start<'_>, _secs: f64) -> Option<Values> {
        None
    }
}

/// Where a method shows an entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Coordinates to draw.
    pub position: Coords,
    /// Whether states are missing: the shown time is past the newest state of an interpolator, or
    /// beyond the horizon.
    pub starved: bool,
}

/// A method's state for presenting one entity.
pub trait Method: Debug + Send {
    /// Returns the time at which it shows the entity.
    fn timeline(&self) -> Timeline;

    /// Handles a new newest knot on the track. Late knots between older ones are not announced.
    fn observe(&mut self, _path: &Track, _rules: &dyn Rules) {}

    /// Sets the expected seconds from the newest state to the next. A frame sets it too.
    fn expect(&mut self, _interval: f64) {}

    /// Returns where to show the entity. Called once for each frame, with increasing times and a
    /// track of at least one knot.
    fn show(&mut self, track: &Track, at: Moment, rules: &dyn Rules) -> Shown;
}

//! The trait of all methods of presentation, and their input.

use std::fmt::Debug;

use super::kept::KeptTicks;
use super::track::{Coords, Track};
use crate::fields::Values;

/// Seconds of extrapolation beyond the newest state; then things stand. A quarter of a second, as
/// Source's `cl_extrapolate_amount`: longer extrapolations are seldom right.
pub const HORIZON_SECS: f64 = 0.25;

/// Seconds after which `Threshold` sends in any case. DIS's heartbeat of 5 s is too long for games
/// that lose states.
pub const HEARTBEAT_SECS_MAX: f64 = 1.0;

/// Seconds of dead reckoning: its senders' longest silence, and the usual horizon.
pub const RECKONED_SECS: f64 = HEARTBEAT_SECS_MAX + HORIZON_SECS;

/// The times that matter when a frame is drawn, in seconds of server time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The server's time now.
    pub now: f64,
    /// Time of what is shown in the past: `now` less the interpolation delay.
    pub past: f64,
    /// Expected seconds from one state to the next.
    pub interval: f64,
}

/// The time that a method shows things at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// [`Moment::past`]: between states that are known, if the delay is long enough.
    Past,
    /// [`Moment::now`]: beyond the newest state.
    Present,
}

impl Timeline {
    /// The time that is shown.
    pub fn time(self, at: Moment) -> f64 {
        match self {
            Self::Past => at.past,
            Self::Present => at.now,
        }
    }
}

/// A game's rules, as far as they follow from one entity's state.
pub trait Rules {
    /// The values of a state after so many seconds: 0 or more, at most [`HORIZON_SECS`] and a tick
    /// unless the laboratory asks for more. None if the rules do not say.
    fn forward(&self, values: &Values, secs: f64) -> Option<Values>;

    /// The same to the last bit, with the ticks that were run from these values before: rules that
    /// go by ticks run none of them twice.
    fn forward_on(&self, values: &Values, secs: f64, _kept: &mut KeptTicks) -> Option<Values> {
        self.forward(values, secs)
    }
}

/// Rules that say nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRules;

impl Rules for NoRules {
    fn forward(&self, _values: &Values, _secs: f64) -> Option<Values> {
        None
    }
}

/// Where an entity is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Its coordinates.
    pub position: Coords,
    /// True if it lacks states: an interpolator past the newest, or anything beyond the horizon.
    pub starved: bool,
}

/// A way to show one entity, with a memory of what it showed.
pub trait Method: Debug + Send {
    /// The time that it shows things at.
    fn timeline(&self) -> Timeline;

    /// The track has a new newest knot. Late knots between older ones are not announced.
    fn observe(&mut self, _path: &Track, _rules: &dyn Rules) {}

    /// From now on the next state is expected so many seconds after the newest. A frame says so
    /// too.
    fn expect(&mut self, _interval: f64) {}

    /// Coordinates to show. Called once for each frame, with rising times and a track of one knot
    /// or more.
    fn show(&mut self, track: &Track, at: Moment, rules: &dyn Rules) -> Shown;
}

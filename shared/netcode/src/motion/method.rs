//! The trait of all methods of presentation, and their input.

use std::fmt::Debug;

use super::track::{Coords, Track};
use crate::fields::Values;

/// Seconds beyond the newest state that anything is extrapolated; from there on it stands. A
/// quarter of a second, as Source's `cl_extrapolate_amount`: a guess over more is seldom right.
pub const HORIZON_SECS: f64 = 0.25;

/// Seconds after which `Threshold` sends whatever happened: DIS's heartbeat is 5 s by default,
/// which is long for a game in which states are lost.
pub const HEARTBEAT_SECS_MAX: f64 = 1.0;

/// The same for dead reckoning: what its senders are silent for at most, and then as long as for
/// anything else.
pub const RECKONED_SECS: f64 = HEARTBEAT_SECS_MAX + HORIZON_SECS;

/// The times that matter when a frame is drawn, in seconds of server time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The server's time now.
    pub now: f64,
    /// The time to show what is shown in the past: `now` less the interpolation delay.
    pub past: f64,
    /// Seconds from one state to the next, as the sender intends or as past arrivals let expect.
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
    /// The values of a state after so many seconds (0 or more, at most [`HORIZON_SECS`] and a
    /// tick, unless the laboratory is asked for a longer horizon); none if the rules do not say.
    /// May be asked for times between ticks.
    fn forward(&self, values: &Values, secs: f64) -> Option<Values>;
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
    /// Whether it lacks the states to do what it promises: an interpolator past the newest state,
    /// or anything beyond the horizon.
    pub starved: bool,
}

/// A way to show one entity. It may keep a memory of what it showed; a new one begins without.
pub trait Method: Debug + Send {
    /// The time that it shows things at.
    fn timeline(&self) -> Timeline;

    /// The track has a new newest knot. What came late, between older knots, is not announced.
    fn observe(&mut self, _path: &Track, _rules: &dyn Rules) {}

    /// From now on the next state is expected so many seconds after the newest. A frame says so as
    /// well; who learns it from what comes says it before the state is announced.
    fn expect(&mut self, _interval: f64) {}

    /// Where to show the entity. Called once for each frame, with times that never fall; the track
    /// has at least one knot.
    fn show(&mut self, track: &Track, at: Moment, rules: &dyn Rules) -> Shown;
}

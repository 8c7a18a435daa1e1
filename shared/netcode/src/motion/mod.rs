//! What is shown of things whose states come late, now and then, and not at all: every method of the
//! field behind one trait.
//!
//! A [`Method`] is fed an entity's [`Path`], the states of it that came, and says where to show it at a
//! [`Moment`]. Some show the past, between states that are known; others the present, beyond the newest.
//! Methods know neither the network nor the game: what a field is, the field table says ([`Shape`]), and
//! what the game's rules make of a state, [`Rules`] say.
//!
//! ```text
//! Path -> between (linear, hermite, catmull_rom)                       -> Shown, in the past
//! Path -> forecast (reckoned, by rules, fir, kalman, adaptive) -> ease -> Shown, in the present
//!                  the same and hold, fir at equal steps -> waypoints  -> Shown, in the present
//! Path -> projective                                                   -> Shown, in the present
//! ```
//!
//! [`Choice`] names those that games are played with. A jump in what is known is hidden in one place (`ease`), by
//! one of four curves. [`waypoints`] is the thesis's scheme, any extrapolator with any interpolator, for
//! comparison: it leads from where a thing is shown to where it is expected at the next arrival. [`sending`] decides when a state is worth sending to a receiver that foretells.
//!
//! *Invariants:*
//! - Whatever comes, and however it is spaced in time, what is shown is finite.
//! - Nothing is extrapolated beyond [`HORIZON_SECS`] from the newest state; dead reckoning, whose senders are
//!   silent on purpose, not beyond [`RECKONED_SECS`].
//! - A method is given one uninterrupted course: no teleport, no other entity in the same slot.

mod adaptive;
#[cfg(test)]
mod around;
mod between;
mod catmull_rom;
pub mod choice;
mod cubic_spline;
mod dead_reckoning;
mod ease;
mod eased;
pub mod fir;
mod forecast;
pub mod foretelling;
mod hermite;
pub mod interpolate;
mod kalman;
mod linear;
mod one_twelfth;
pub mod path;
pub mod presenter;
mod projective;
mod rotation;
mod run_forward;
pub mod sending;
pub mod smoothing;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod waypoints;

use std::fmt::Debug;

use crate::fields::Values;
pub use choice::Choice;
pub use path::{Coords, Knot, Path, Shape};

/// Seconds beyond the newest state that anything is extrapolated; from there on it stands. A quarter of a
/// second, as Source's `cl_extrapolate_amount`: a guess over more is seldom right.
pub const HORIZON_SECS: f64 = 0.25;

/// The same for dead reckoning: what its senders are silent for at most, and then as long as for anything
/// else.
pub const RECKONED_SECS: f64 = sending::HEARTBEAT_SECS_MAX + HORIZON_SECS;

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

/// Which time a method shows things at.
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

/// What a game's rules make of a state, as far as it alone tells.
pub trait Rules {
    /// The values of a state after so many seconds (0 or more, at most [`HORIZON_SECS`] and a tick, unless
    /// the laboratory is asked for a longer horizon); none if the rules do not say. May be asked for times
    /// between ticks.
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
    pub place: Coords,
    /// Whether it lacks the states to do what it promises: an interpolator past the newest state, or
    /// anything beyond the horizon.
    pub starved: bool,
}

/// A way to show one entity. It may keep a memory of what it showed; a new one begins without.
pub trait Method: Debug + Send {
    /// Which time it shows things at.
    fn timeline(&self) -> Timeline;

    /// The path has a new newest knot. What came late, between older knots, is not announced.
    fn observe(&mut self, _path: &Path, _rules: &dyn Rules) {}

    /// From now on the next state is expected so many seconds after the newest. A frame says so as well; who
    /// learns it from what comes says it before the state is announced.
    fn expect(&mut self, _interval: f64) {}

    /// Where to show the entity. Called once for each frame, with times that never fall; the path has at
    /// least one knot.
    fn show(&mut self, path: &Path, at: Moment, rules: &dyn Rules) -> Shown;
}

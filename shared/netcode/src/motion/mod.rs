//! Presentation of entities whose states arrive late, rarely or not at all: all known methods
//! behind one trait.
//!
//! A [`Method`] receives an entity's [`Track`], the states that have arrived, and returns where to
//! show it at a [`Moment`]. Some methods show the past, between known states; others the present,
//! beyond the newest. Methods know neither the network nor the game: the field table describes the
//! fields ([`Shape`]), and [`Rules`] advance a state.
//!
//! ```text
//! Track -> between (linear, hermite, catmull_rom)                       -> Shown, in the past
//! Track -> forecast (reckoned, by rules, fir, kalman, adaptive) -> ease -> Shown, in the present
//!                  these, and hold, fir at equal steps  -> waypoints  -> Shown, in the present
//! Track -> projective                                                   -> Shown, in the present
//! ```
//!
//! [`Choice`] names the methods that games can use. One of five curves hides each jump (`ease`).
//! [`waypoints`] is the thesis's scheme, any extrapolator with any interpolator, for comparison.
//! [`sending`] decides when a state is worth sending to a receiver that extrapolates, for a single
//! body; [`SendRule`] is what a kind of entity declares and the server's snapshots follow.
//!
//! *Invariants:*
//! - Whatever arrives, and however it is spaced in time, what is shown is finite.
//! - Nothing is extrapolated beyond [`HORIZON_SECS`] from the newest state, or beyond
//!   [`RECKONED_SECS`] with dead reckoning, whose senders are silent on purpose, and the adaptive
//!   method, which learns how far to go.
//! - A method receives one uninterrupted track: no teleport, no other entity in the same slot.

mod adaptive;
pub mod choice;
mod ease;
mod extrapolator;
pub mod fir;
mod forecast;
mod forecaster;
pub mod interpolate;
mod interpolators;
mod kalman;
mod keeping;
pub mod method;
mod names;
mod present;
mod projective;
mod rotation;
pub mod send_rule;
pub mod sending;
pub mod smoothing;
pub mod spring;
#[cfg(test)]
mod tests;
mod tick_cache;
pub mod track;
pub mod waypoints;

pub use choice::Choice;
pub use method::{
    HEARTBEAT_SECS_MAX, HORIZON_SECS, Method, Moment, NoRules, RECKONED_SECS, Rules, Shown, Start,
    Timeline,
};
pub use send_rule::SendRule;
pub use tick_cache::TickCache;
pub use track::{Coords, EarlySteer, Knot, Shape, Track};

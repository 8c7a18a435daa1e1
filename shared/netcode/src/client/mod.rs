//! The client's state machines, from the first hello to the last goodbye.
//!
//! [`Client`] is one game: snapshots and inputs in, input packets and pictures out. [`Session`] is
//! a stay on a server with all its games, from joining to leaving. Programs and tests that play
//! drive a `Session`.
//!
//! *Invariant:* no I/O, so that it runs in a window, in a bot, in a test in virtual time, and in a
//! browser.

pub(crate) mod any;
pub mod carriage;
mod co_prediction;
pub(crate) mod common;
pub(crate) mod controller;
mod departures;
mod footage;
mod frame_inputs;
pub(crate) mod game;
mod ghosts;
mod hidden;
mod highlights;
mod hindsight;
mod input_delay;
mod last_minutes;
mod news;
mod output;
mod pace;
mod picture;
mod prediction;
mod recollection;
mod recorder;
mod session;
mod session_input;
mod stats;
mod view_times;

pub use any::AnyClient;
pub use common::Common;
pub use controller::{Autopilot, Controller};
pub use footage::GameOrigin;
pub use game::Client;
pub use ghosts::{FetchedGhost, GhostChoice};
pub use highlights::Highlights;
pub use hindsight::Hindsight;
pub use last_minutes::SavedPart;
pub use news::Correction;
pub use output::{MotionSample, Notice, Output, Part, Redirect, SessionConfig, Speaker, State};
pub use pace::Ghost;
pub use picture::Picture;
pub use recorder::Recorded;
pub use session::Session;
pub use session_input::SessionInput;
pub use stats::{Misses, Stats};

pub use crate::wire::control::Seat;

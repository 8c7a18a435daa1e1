//! The laboratory: sends motion over a simulated network, shows it by every presentation method,
//! and compares the result with the truth. `README.md` beside this crate explains its commands.
//!
//! ```text
//! file, formula -> Recording -> Sending -> Link -> Screen (Track -> Method) -> watch -> Scores
//!                                           `----> Delay, time history ---^
//! ```
//!
//! Motion comes from a file, a formula, the mouse or a game. The methods, the network and the
//! interpolation delay are those of the games. The client's clock is assumed to be perfect; clock
//! errors are measured separately.
//!
//! ```
//! use phaselock_lab::formulas::Formula;
//!
//! let zigzag = Formula::Zigzag.record(3.0); // seconds
//! assert_eq!(zigzag.secs(), 3.0);
//! ```
//!
//! *Invariants:*
//! - Measuring does no I/O and reads no clock: text and numbers go in, text and numbers come out.
//!   All randomness is seeded.
//! - No method is reimplemented here: the measured code is the code that plays.
//!
//! Two modules serve programs and are exempt: `load` reads motions from files, and `record` writes
//! the motion of a session to files.

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

pub mod advise;
pub mod carried;
pub mod contender;
pub mod figures;
pub mod file;
pub mod formulas;
pub mod load;
mod plot;
pub mod record;
pub mod recording;
pub mod report;
#[cfg(feature = "scene")]
pub mod scene;
pub mod scores;
pub mod screen;
pub mod setup;
pub mod strokes;
pub mod sweep;
pub mod thesis;
pub mod track;

pub use carried::Carried;
pub use contender::Contender;
pub use recording::{RecordedSample, Recording, Truth};
pub use scores::{ScoredFrame, Scores, watch};
pub use screen::{OnScreen, Screen};
pub use setup::{DelayRule, LabNetwork, LabSetup, SendPolicy, Stamps};

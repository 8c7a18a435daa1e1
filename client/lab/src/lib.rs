//! The laboratory: motion is sent over a bad network and shown by every method, against the truth.
//!
//! ```text
//! file, formula -> Recording -> Sending -> Link -> Screen (Track -> Method) -> watch -> Scores
//!                                           `----> Delay, time history ---^
//! ```
//!
//! Motion comes from a file, a formula, the mouse or a game; the methods, the network and the
//! interpolation delay are the product's own. The client's clock is perfect: clock errors are
//! another measurement.
//!
//! ```
//! use phaselock_lab::formulas::Formula;
//!
//! let zigzag = Formula::Zigzag.record(3.0); // seconds
//! assert_eq!(zigzag.secs(), 3.0);
//! ```
//!
//! *Invariants:*
//! - Measuring does no I/O and reads no clock: text and numbers in, text and numbers out. All
//!   chance is drawn from seeds.
//! - Nothing of the methods is rebuilt here: the measured code is the played code.
//!
//! Three modules serve programs and are outside of that: `load` reads motions from files, `record`
//! writes the motion of a session to files, and `usage` phrases command line errors.

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
pub mod usage;

pub use carried::Carried;
pub use contender::Contender;
pub use recording::{Recording, Sample, Truth};
pub use scores::{Scores, Watched, watch};
pub use screen::{OnScreen, Screen};
pub use setup::{DelayRule, Network, Sending, Setup, Stamps};

//! The laboratory: motion is sent over a bad network and shown by every method, against the truth.
//!
//! ```text
//! file, shapes -> Recording -> Sending -> Link -> Screen (Path -> Method) -> watch -> Scores -> ranking
//!                                          `----> Delay, time history ---^
//! ```
//!
//! Motion comes from a file, from a formula, from the mouse or from a game; the methods, the network and the
//! interpolation delay are the product's own. The client's clock is taken for perfect: how far clocks are off
//! is another measurement.
//!
//! *Invariants:*
//! - No I/O, no clock: text and numbers in, text and numbers out. All chance is drawn from seeds.
//! - Nothing of the methods is rebuilt in here: what is measured is what is played with.

pub mod advise;
pub mod carried;
pub mod contender;
pub mod figures;
pub mod file;
pub mod plot;
pub mod ranking;
pub mod record;
pub mod recording;
pub mod report;
pub mod scores;
pub mod screen;
pub mod setup;
pub mod shapes;
pub mod strokes;
pub mod sweep;
pub mod thesis;
pub mod track;
pub mod usage;

pub use carried::Carried;
pub use contender::Contender;
pub use recording::{Recording, Sample, Truth};
pub use scores::{Scores, Watched, watch};
pub use screen::{Screen, Seen};
pub use setup::{DelayRule, Network, Sending, Setup, Stamps};

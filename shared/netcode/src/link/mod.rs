//! A simulated network that is reproducible from its seed: between server and client in tests, and
//! on top of the real network with `--link`.
//!
//! [`Link`] is one direction; [`Conditions`] are both directions, as people write them: `mobile`,
//! or `delay=100ms,jitter=30ms,loss=5%`, or `cable; 10s: delay=120ms; 20s: cable`, or a recording.

mod codel;
mod conditions;
mod config;
mod recording;
mod schedule;
#[cfg(test)]
mod tests;
mod way;

pub use conditions::{Conditions, ConditionsError, PROFILES};
pub use config::{Drops, LinkConfig, LinkError, Spread};
pub use recording::{RECORDING_BYTES_MAX, RecordingError};
pub use schedule::LinkSchedule;
pub use way::{Link, LinkStats};

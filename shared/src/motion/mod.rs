//! What is shown between and after snapshots.

pub mod interpolate;
pub mod smoothing;

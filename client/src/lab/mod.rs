//! The laboratory: what measures methods of presentation on recorded motion, and draws what it found.

pub mod plot;
pub mod strokes;

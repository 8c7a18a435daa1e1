//! The laboratory: recorded motion, and what the methods of presentation make of it.
//!
//! *Invariant:* no I/O here, and no clock: text and numbers in, values out.

pub mod file;

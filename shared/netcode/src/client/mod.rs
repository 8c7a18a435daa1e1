//! The client's decisions, from the first hello to the last goodbye.
//!
//! [`Client`] is one game played: snapshots and inputs in, input packets and pictures out.
//!
//! *Invariant:* no I/O here, so that it runs in a window, in a bot, in a test in virtual time, and
//! in a browser.

mod game;
mod news;
mod others;
mod prediction;
mod recorder;
mod seen;
mod stats;

pub use game::{Carried, Client, Seat, View};
pub use news::Correction;
pub use recorder::Recorded;
pub use stats::{Misses, Stats};

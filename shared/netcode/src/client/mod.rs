//! The client's decisions, from the first hello to the last goodbye.
//!
//! [`Client`] is one game played: snapshots and inputs in, input packets and pictures out. [`Session`]
//! is a stay on a server with all its games, from joining to leaving; every program and every test
//! that plays drives one.
//!
//! *Invariant:* no I/O here, so that it runs in a window, in a bot, in a test in virtual time, and
//! in a browser.

pub mod any;
pub(crate) mod common;
mod fed;
pub(crate) mod game;
mod news;
mod others;
mod prediction;
mod recorder;
mod seen;
mod session;
mod stats;

pub use any::{AnyClient, Controller};
pub use common::{Common, Seat};
pub use fed::Fed;
pub use game::{Client, View};
pub use news::Correction;
pub use recorder::Recorded;
pub use session::{Motion, Notice, Output, Session, SessionConfig, State};
pub use stats::{Misses, Stats};

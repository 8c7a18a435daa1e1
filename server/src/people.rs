//! Bans, mutes and roles of players, kept in memory and in the database, and the gate that applies
//! them.

mod attempts;
mod book;
mod gate;

pub use attempts::{FailedLogins, Secret};
pub use book::{Book, GivenRole};
pub use gate::{Gatekeeper, Rules};

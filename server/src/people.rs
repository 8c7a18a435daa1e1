//! People as the host treats them: bans, mutes and roles, kept in memory and in the database.

mod attempts;
mod book;
mod gate;

pub use attempts::{FailedLogins, Secret};
pub use book::{Book, GivenRole};
pub use gate::{Gatekeeper, Rules};

//! Bans, mutes and roles of players, kept in memory and in the database, and the gate that applies
//! them.

mod access_lists;
mod attempts;
mod exits;
mod gate;
mod redirects;
mod transfers;

pub(crate) use access_lists::{AccessLists, GivenRole};
pub(crate) use attempts::{FailedLogins, Secret};
pub(crate) use exits::{Exit, Exits};
pub(crate) use gate::{Gatekeeper, Rules};
pub(crate) use redirects::redirected;

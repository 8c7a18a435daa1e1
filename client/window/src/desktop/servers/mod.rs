//! Finding servers: the list of them, the player's own book of servers, and the question whether a
//! changed certificate is to be trusted.
//!
//! ```text
//! screen -+-> book: favourites, history and directories, in a file
//!         +-> phaselock_quic::survey: asks servers, the local network and directories
//!         +-> list: one row for each server, filtered and sorted
//!         +-> details: one server
//!         +-> empty: why there is none
//! trust: what a changed certificate means, and the player's answer
//! ```

mod details;
mod empty;
mod list;
mod screen;
mod server_lists;
#[cfg(test)]
mod tests;
mod trust;

#[cfg(test)]
pub(crate) use list::Tab;
pub(crate) use screen::{Choice, Servers};
pub(crate) use server_lists::ServerLists;
pub(crate) use trust::{Answer, Trust};

//! Looks for servers and queries their status: many at once, at a limited rate. [`Survey`] is the
//! state machine; [`Surveyor`] drives it on a separate thread.
//!
//! Servers are named by the player, found with a broadcast on the local network, or listed by a
//! directory. Call [`poll_transmit`](Survey::poll_transmit) until it has nothing more, then again
//! at [`next_timeout`](Survey::next_timeout), and pass received packets to it.

mod driver;
mod queries;
#[cfg(test)]
mod tests;

pub use self::driver::{SurveyView, Surveyor, Wanted};
pub use self::queries::{
    DIRECTORIES_MAX, Found, LAN_PORTS, Listing, Reply, SERVERS_MAX, Survey, Via, neighbours,
};

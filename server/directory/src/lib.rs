//! Phaselock's server list and matchmaker: servers announce themselves to it, and players ask it
//! for the list, or for a place to play.
//!
//! ```text
//! main -> args -+-> drive: UDP socket, signals, the clock -> core::ServerList
//!               |     +-> http: requests of browsers
//!               |     +-> agones: requests to Agones' allocator
//!               +-> ask: list and health of a running directory
//! ```
//!
//! *Invariant:* nothing is stored on disk, and memory is bounded by [`core::Bounds`]. After a
//! restart the list is complete again within half of [`core::LISTED_SECS`]: by then every server
//! has announced itself again. Players who wait ask again, and lose only their order.
#![warn(clippy::print_stderr)]

pub mod agones;
pub mod args;
pub mod ask;
pub mod core;
pub mod drive;
pub mod http;
mod pem;
pub mod secret;

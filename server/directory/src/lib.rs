//! Phaselock's server list: servers announce themselves to it, and players ask it for the list.
//!
//! ```text
//! main -> args -+-> drive: one UDP socket, signals, the clock -> core::ServerList
//!               +-> ask: list and health of a running directory
//! ```
//!
//! *Invariant:* nothing is stored on disk, and memory is bounded by [`core::Bounds`]. After a
//! restart the list is complete again within half of [`core::LISTED_SECS`]: by then every server
//! has announced itself again.

pub mod args;
pub mod ask;
pub mod core;
pub mod drive;

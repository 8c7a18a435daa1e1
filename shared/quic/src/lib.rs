//! Phaselock over QUIC: carries packets between rooms, sessions and the network, with tokio and
//! quinn.
//!
//! | to | begin at |
//! |---|---|
//! | play from your own program | [`connect`], or [`client::Driver`] for full control |
//! | embed a server | [`serve`] for tests, [`local::LocalServer`] with your own settings |
//! | run a server on your own runtime | [`server::Server`] |
//!
//! ```text
//! server::Server -- drive, network, peer -> phaselock::server::Room (one task owns them all)
//! client::Driver -- client::carrier -----> phaselock::client::Session (the player owns it)
//!         |                |
//!         +-- settings, congestion, framing, socket, clock: once, for both sides
//! ```
//!
//! A whole game, its server and two players:
//!
#![doc = concat!("```no_run\n", include_str!("../examples/walk.rs"), "```")]
#![warn(clippy::too_many_lines, clippy::print_stderr)]
//!
//! *Invariant:* except for tests, only this crate names quinn. It decides nothing about a game: it
//! forwards packets, bounds its queues, and never waits for a peer that does not keep up.

pub mod announce;
mod asking;
pub mod attempts;
pub mod client;
pub mod clock;
pub mod conditioned;
mod congestion;
mod door;
pub mod doorkeeping;
pub mod files;
pub mod fleet;
mod framing;
mod goodbye;
pub mod identity;
pub mod local;
pub mod packets;
pub mod pins;
pub mod player;
pub mod private;
pub mod query;
pub mod reach;
pub mod seek;
pub mod server;
mod settings;
pub mod socket;
pub mod survey;
pub mod tickets;
mod timers;
pub mod verify;
pub mod web;
pub mod workers;

pub use phaselock::{address, invitation};

pub use door::{Player, connect, serve};

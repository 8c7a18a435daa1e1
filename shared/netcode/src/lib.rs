//! The netcode that Phaselock's server and client share.
//!
//! Data flows down one side and up the other:
//!
//! ```text
//! server                                                    client
//! game::Game::step -> World -> snapshot::history            snapshot::store -> motion (others)
//!                                 | snapshot::sender             ^           -> prediction (self)
//!                                 v                              |
//!                         wire::snapshot  ---- datagrams ---> wire::snapshot
//! inputs <- wire::input <------------ datagrams ------------- wire::input
//! clock::offset ------------- in every snapshot ------------> clock::{pll, lead, delay}
//! ```
//!
//! *Invariants:*
//! - Nothing here does I/O, reads a clock or draws unseeded randomness; time is an argument.
//! - Netcode never looks into a field of a game; a game never hears of the network.
//! - Everything read from the network is validated before anything is changed, and bounded
//!   ([`limits`]).

pub mod client;
pub mod clock;
pub mod fields;
pub mod fingerprint;
pub mod game;
pub mod games;
pub mod identity;
pub mod ids;
pub mod inputs;
pub mod interest;
pub mod limits;
pub mod link;
pub mod motion;
pub mod path;
pub mod physics;
pub mod presentation;
pub mod random;
pub mod rewind;
pub mod server;
pub mod snapshot;
pub mod time;
pub mod wire;

//! Phaselock over QUIC: what carries packets between a room, a session and the network.

pub mod client;
pub mod host;
pub mod identity;
pub mod local;
pub mod query;
pub mod server;

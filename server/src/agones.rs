//! The server's life under [Agones](https://agones.dev), which runs game servers on Kubernetes.
//!
//! Agones puts a sidecar next to each server. The server tells it over HTTP on the loopback
//! interface that it is ready, healthy, in use or done, and reads from it what Agones knows about
//! the server: its `GameServer`.
//!
//! ```text
//! sdk         the sidecar's interface: calls, answers, a GameServer
//! allocation  what an allocation asks for, in annotations
//! counts      counters and lists that Agones keeps of rooms and players
//! core        decides which call is next, without I/O
//! sidecar     carries calls out
//! ```
//!
//! `host/fleet.rs` connects the core with the sidecar and the server.

mod allocation;
mod core;
mod counts;
mod sdk;
mod sidecar;
#[cfg(test)]
mod tests;

pub(crate) use self::allocation::Allocation;
pub(crate) use self::core::{Agent, END_MAX, Note, Order, Server, not_in_force};
pub(crate) use self::sdk::{Answer, Call, label};
pub(crate) use self::sidecar::{Sidecar, Update};

//! Delta snapshots: the history of the world ([`history`]), what the server knows about each client
//! ([`sender`]), encodings shared by clients ([`encodings`]), the order of entities ([`priority`]),
//! and the states that a client keeps ([`store`]).
//!
//! A kind can be sent only when its readers' extrapolation is off (`silence`).
//!
//! The server codes each entity as its difference from an extrapolation of states that the client
//! acknowledged. Packets are acknowledged one by one, so any pattern of loss, duplication and
//! reordering ends in the server's state: what is not acknowledged is sent again in each snapshot
//! that has space for it.
//!
//! *Invariants:*
//! - What is sent depends on what the client acknowledged, never on what was merely sent. What is
//!   left out is close enough to the extrapolation from any state that the client may have.
//! - Nothing is sent about a hidden entity, except that its slot is in use.
//! - No coder carries state from one packet to the next.

mod bits;
mod content;
pub mod early;
pub mod encodings;
pub mod history;
mod knowledge;
mod packing;
mod plan;
pub mod priority;
mod recent;
pub mod sender;
mod silence;
pub mod store;
mod strands;

pub use crate::wire::state::EntityState;

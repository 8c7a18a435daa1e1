//! Phaselock's directory: servers announce themselves to it, players ask it for the list.
//!
//! ```text
//! main -> args -+-> drive: one UDP socket, signals, the clock -> core::Directory
//!               +-> ask: the list of a running one, and its health
//! ```
//!
//! *Invariant:* nothing is kept on the disk, and the memory is bounded by [`core::Bounds`]. A
//! directory that was restarted has its list again as soon as the servers have announced
//! themselves anew: within half the time for which they are listed.

pub mod args;
pub mod ask;
pub mod core;
pub mod drive;

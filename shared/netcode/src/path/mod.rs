//! The path to the other side: how many bytes may be under way on it, and in a client's snapshots.
//!
//! Each path has one controller, which finds out by experiment whether a longer round trip is the
//! stream's own queue: it sends less for a while and sees whether that helps. Towards a client that
//! is the room's [`SendRate`]. It decides what goes into a snapshot, and the driver keeps all that
//! it sends, control messages too, within its [`PathWindow`]. Towards a server, where inputs are as
//! many as they are, it is the client's [`CongestionWindow`].

mod bucket;
mod flight;
mod measure;
mod rate;
mod trial;
mod window;

pub use rate::SendRate;
pub use trial::PathWindow;
pub use window::{CongestionLimits, CongestionWindow};

//! The path to the other side: how many bytes may be under way ([`CongestionWindow`]), and how
//! many a client's snapshots may take ([`SendRate`]).
//!
//! Both answer the same question, whether a longer round trip is the stream's own queue, by the
//! same experiment: they send less for a while and see whether that helps. The driver keeps the
//! window, which bounds every packet; the room keeps the rate, which decides what goes into a
//! snapshot.

mod measure;
mod rate;
mod window;

pub use rate::SendRate;
pub use window::{CongestionLimits, CongestionWindow};

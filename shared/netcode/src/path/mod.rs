//! Congestion control of a path: how many bytes may be in flight, and how many a client's snapshots
//! may use.
//!
//! Each path has one controller, which finds out by experiment whether a longer round trip is
//! caused by the stream's own queue: it sends less for a while and checks whether that helps.
//! Towards a client that is the room's [`SendRate`]. It decides how much goes into a snapshot, and
//! the driver keeps everything that it sends, control messages included, within its [`PathWindow`].
//! Towards a server, where the amount of input is fixed, it is the client's [`CongestionWindow`];
//! [`Spacing`] decides only when the next input packet is made.

mod bucket;
mod flight;
mod measure;
mod quiet;
mod rate;
mod spacing;
mod trial;
mod window;

pub use measure::Ways;
pub use rate::SendRate;
pub use spacing::Spacing;
pub use trial::PathWindow;
pub use window::{CongestionLimits, CongestionWindow};

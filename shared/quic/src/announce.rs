//! Announces a server to a directory, so that players can find it: the state machine, and the task
//! that drives it.
//!
//! Call [`handle_timeout`](Announcer::handle_timeout) when
//! [`next_timeout`](Announcer::next_timeout) is due, and
//! [`handle_packet`](Announcer::handle_packet) with packets from the directory; send what they
//! return.

mod announcer;
mod driver;
mod placing;
#[cfg(test)]
mod tests;

pub use self::announcer::{Announcer, Standing};
pub use self::driver::{Announcement, announce};
pub use self::placing::{Placer, PlacesWish, place};

//! Happy Eyeballs (RFC 8305): tries all addresses of a name in quick succession until one answers.
//!
//! [`Attempts`] decides when to try which address. Call [`poll`](Attempts::poll) when
//! [`next_timeout`](Attempts::next_timeout) is due, start an attempt at the address it returns, and
//! report one that failed with [`handle_failure`](Attempts::handle_failure). The first attempt
//! that gets an answer wins; the driver then closes the others. [`race`] is that driver.

mod driver;
mod schedule;
#[cfg(test)]
mod tests;

pub use self::driver::{LookupError, lookup, race};
pub(crate) use self::schedule::unmapped;
pub use self::schedule::{ADDRESSES_MAX, ATTEMPT_DELAY, Attempts};

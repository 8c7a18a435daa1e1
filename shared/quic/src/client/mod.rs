//! The client side: QUIC on a separate thread or on the current runtime, and a [`Driver`] that
//! passes its events to a session.

mod carrier;
mod channels;
mod driver;
mod options;
#[cfg(test)]
mod tests;
mod web;

pub use channels::Changed;
pub use driver::Driver;
pub use options::{Options, Pins, Transport};

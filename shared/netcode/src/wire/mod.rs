//! The wire format: each byte that crosses the network is written and read here, and described in
//! `WIRE.md`.

#![warn(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

/// Declares the kinds of a packet's fields.
macro_rules! field_kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal;)+) => {
        $($(#[doc = $doc])* pub(super) const $name: u8 = $number;)+
        /// All kinds.
        #[cfg(test)]
        pub(in crate::wire) const KINDS: &[u8] = &[$($number),+];
    };
}
use field_kinds;

pub mod bits;
mod cast;
pub mod control;
pub mod counts;
mod datagram;
pub mod description;
pub mod directory;
pub mod disconnect;
mod error;
pub mod extrapolation;
pub mod fields;
pub mod ghost;
pub(crate) mod hash;
pub mod input;
pub mod layout;
pub mod model;
pub mod protocol;
pub mod query;
pub mod range;
mod records;
pub mod rooms;
mod rotation;
pub mod round;
pub mod snapshot;
pub mod state;
pub mod talk;
#[cfg(test)]
mod tests;
pub mod text;

pub use datagram::{Echo, is_of_game, mark_game};
pub use error::WireError;
#[cfg(test)]
pub(crate) use tests::documented;

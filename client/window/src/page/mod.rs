//! The window in a web page: it joins the server in the page's address, or one that the page's
//! directory names, or shows the recording in the page's address.

#![cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "tests draw the card alone"))]

pub(crate) mod card;
#[cfg(target_arch = "wasm32")]
mod connection;
#[cfg(target_arch = "wasm32")]
mod found;
#[cfg(target_arch = "wasm32")]
mod lobby;
#[cfg(target_arch = "wasm32")]
mod machine;
#[cfg(target_arch = "wasm32")]
mod replays;
#[cfg(target_arch = "wasm32")]
mod seek;
#[cfg(target_arch = "wasm32")]
mod start;

#[cfg(target_arch = "wasm32")]
pub use start::run;

//! The page of a browser, as the client in it sees it: a carriage over WebTransport, a clock, the
//! page's storage, its sound and its gamepads.
//!
//! ```text
//! network (a session's carriage) -+
//! seek (a search in a directory) -+
//! download (a recording) ---------+
//! page (clock, storage, sound) ---+-> imports -> page/play.js
//! ```
//!
//! *Invariant:* the page's functions get numbers and bytes, and give back numbers and bytes. There
//! is no unsafe block; their declarations are in one file.
//!
//! On other targets than WebAssembly there is nothing here.

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]
#![cfg(target_arch = "wasm32")]

pub mod download;
mod imports;
pub mod network;
pub mod page;
pub mod seek;

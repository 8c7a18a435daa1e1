//! The player's recordings: a list of the files in a folder, to watch and to delete.
//!
//! ```text
//! screen -+-> shelf: a thread that reads the folder, and headers and pictures of the files in view
//!         +-> picture: where the players went
//! ```
//!
//! *Invariant:* the frame loop touches no file.

mod picture;
mod screen;
mod shelf;

pub(crate) use screen::{Picked, Recordings};

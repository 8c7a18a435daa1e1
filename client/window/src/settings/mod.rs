//! The player's settings: kept in a file, changed in the window.
//!
//! ```text
//! Store (the file) -- reads, writes --> Settings (model, a plain value) <-- the window changes it
//!                          |
//!          file (text <-> settings), keys (the table of all settings)
//! ```
//!
//! A new setting is a field of [`Settings`] and a row of [`keys::KEYS`], which documents it in the
//! file. Whatever changes the value changes the file: [`Store::poll`] sees the difference.

pub(crate) mod file;
pub(crate) mod keys;
pub(crate) mod languages;
mod model;
pub(crate) mod screen;
mod store;
#[cfg(test)]
mod tests;
pub(crate) mod values;

pub(crate) use model::{Display, Settings, Sound};
pub(crate) use store::Store;

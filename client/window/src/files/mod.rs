//! Small files of the player: on disk, or in the browser.

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(not(target_arch = "wasm32"))]
mod disk;

#[cfg(target_arch = "wasm32")]
pub(crate) use browser::{LockedFile, read};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use disk::{LockedFile, read};

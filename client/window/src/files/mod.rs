//! Small files of the player: on disk, or in the browser.

#[cfg(not(target_arch = "wasm32"))]
mod disk;
#[cfg(target_arch = "wasm32")]
mod kept;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use disk::{Held, read};
#[cfg(target_arch = "wasm32")]
pub(crate) use kept::{Held, read};

//! The gamepad: a core that makes sticks and buttons of raw events, and its drivers.
//!
//! ```text
//! evdev (Linux's devices) -> driver (a thread) -> pad (the core) -> values, once a frame
//! ```
//!
//! Nothing here blocks a frame: the thread waits for devices, the frame takes what there is.

mod driver;
#[cfg(target_os = "linux")]
mod evdev;
pub(crate) mod pad;
#[cfg(any(target_arch = "wasm32", test))]
pub(crate) mod standard;
#[cfg(test)]
mod tests;

pub(crate) use driver::{Gamepads, Rumble};

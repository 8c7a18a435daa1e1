//! The gamepad: a core that makes sticks and buttons of raw events, and its drivers.
//!
//! ```text
//! evdev (Linux's devices)  \
//!                           -> driver (a thread) -> pad (the core) -> values, once a frame
//! xinput (Windows) -> xpad  /
//! ```
//!
//! Nothing here blocks a frame: the thread waits for devices, the frame takes the newest values.

mod driver;
#[cfg(target_os = "linux")]
mod evdev;
pub mod pad;
pub mod standard;
#[cfg(test)]
mod tests;
#[cfg(windows)]
mod xinput;
#[cfg(any(windows, test))]
mod xpad;

pub use driver::Gamepads;
pub use pad::{Pads, Rumble};

/// Starts looking for gamepads that this system can read.
#[cfg(target_os = "linux")]
pub fn start() -> Gamepads {
    Gamepads::with(evdev::Folder)
}

/// Starts looking for gamepads that this system can read.
#[cfg(windows)]
pub fn start() -> Gamepads {
    Gamepads::with(xinput::Slots::load())
}

/// Returns no gamepads: they cannot be read on this system.
#[cfg(not(any(target_os = "linux", windows)))]
pub fn start() -> Gamepads {
    Gamepads::none()
}

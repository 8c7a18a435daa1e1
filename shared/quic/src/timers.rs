//! Timers for rooms, sessions and quinn's clients, which are precise on Windows, too.
//!
//! There, tokio waits with the system's coarse timer: its timers end up to 16 ms late
//! (<https://github.com/tokio-rs/tokio/issues/5021>), which is a whole tick. `std::thread::sleep`
//! uses a precise timer, from Windows 10 version 1803 on, so one thread sleeps for all timers.

#[cfg(any(windows, test))]
mod alarm;

#[cfg(windows)]
pub(crate) use self::alarm::{QuicRuntime, Sleep, sleep_until};
#[cfg(not(windows))]
pub(crate) use quinn::TokioRuntime as QuicRuntime;
#[cfg(not(windows))]
pub(crate) use tokio::time::{Sleep, sleep_until};

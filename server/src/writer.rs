//! A thread that writes: watched while it runs, and waited for at the end, within limits.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest time for which the end of the process waits for a thread. Tests give a slow disk more.
const END_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 5 });
/// Time between checks whether it has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// A thread that never ends by itself.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The thread holds the other reference.
    alive: Arc<()>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Starts a thread. `name` is for debuggers and panics.
    pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            let _held = held;
            run();
        })?;
        Ok(Self { alive, thread })
    }

    /// Whether the thread has ended.
    pub(crate) fn watch(&self) -> impl Fn() -> bool + Send + 'static {
        let alive = Arc::downgrade(&self.alive);
        move || alive.strong_count() < 2
    }

    /// Calls `signal`, which signals the thread to end, until it succeeds, and waits for the end.
    /// Returns false if the thread has panicked, or is stuck on a disk and is left behind.
    pub(crate) fn end(self, mut signal: impl FnMut() -> bool) -> bool {
        let end = Instant::now() + END_TIMEOUT;
        let mut is_signalled = false;
        while !self.thread.is_finished() && Instant::now() < end {
            is_signalled = is_signalled || signal();
            thread::sleep(LOOK_INTERVAL);
        }
        self.thread.is_finished() && self.thread.join().is_ok()
    }
}

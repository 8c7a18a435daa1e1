//! Errors of what a host asks for, and how the program reports errors.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use phaselock_quic::server::OrderError;

/// Longest time for writing a sentence to standard error.
const COMPLAINT_TIMEOUT: Duration = Duration::from_millis(500);

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ActError {
    /// The author's role does not allow it.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such player, ban, role or room.
    #[error("{0}")]
    NotFound(String),
    /// The request is invalid.
    #[error("{0}")]
    Bad(String),
    /// The request conflicts with the current state.
    #[error("{0}")]
    Conflict(String),
    /// The settings are invalid; all mistakes.
    #[error("the settings are invalid, and nothing has changed: {}", .0.join("; "))]
    Mistakes(Vec<String>),
    /// The server or the database cannot do it now.
    #[error("{0}")]
    Failed(String),
}

impl From<OrderError> for ActError {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::Refused(_) | OrderError::WhichRoom => Self::Conflict(error.to_string()),
            OrderError::NoRoom(_) => Self::NotFound(error.to_string()),
            OrderError::Late | OrderError::Busy | OrderError::Panicked | OrderError::Stopped => {
                Self::Failed(error.to_string())
            }
        }
    }
}

/// Writes a sentence to standard error, if that takes at most half a second. A Windows service also
/// writes it to the event log.
pub(crate) fn complain(sentence: &str) {
    #[cfg(windows)]
    crate::event_log::report(sentence);
    let (done, is_done) = mpsc::channel();
    let line = format!("{sentence}\n");
    let writer = thread::Builder::new().name("complaint".to_owned());
    let started = writer.spawn(move || {
        // Not being read, it leaves only the exit status.
        let _ = standard_error().write_all(line.as_bytes());
        let _ = done.send(());
    });
    if started.is_ok() {
        let _ = is_done.recv_timeout(COMPLAINT_TIMEOUT);
    }
}

/// Standard error without its lock, which a stalled writer would hold.
pub(crate) fn standard_error() -> Box<dyn Write + Send> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        if let Ok(copy) = io::stderr().as_fd().try_clone_to_owned() {
            return Box::new(std::fs::File::from(copy));
        }
    }
    Box::new(io::stderr())
}

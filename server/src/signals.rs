//! The signals that control the server.

use anyhow::Result;

/// SIGXFSZ on Linux and the BSDs: a file would exceed the process's size limit.
#[cfg(unix)]
const FILE_TOO_LONG: i32 = 25;

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGTERM, or Ctrl-C.
    Stop,
    /// SIGHUP.
    Reload,
}

/// The signals of this process, from the creation of this value on.
#[cfg(unix)]
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    /// Never read. By default this signal ends the process; while it is handled, the write fails
    /// instead, as on a full disk.
    _file_too_long: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> Result<Self> {
        use anyhow::Context as _;
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot wait for Ctrl-C")?,
            hang_up: signal(SignalKind::hangup()).context("cannot wait for SIGHUP")?,
            _file_too_long: signal(SignalKind::from_raw(FILE_TOO_LONG))
                .context("cannot wait for SIGXFSZ")?,
        })
    }

    /// Returns the next signal; `None` if there will be none.
    pub(crate) async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            signal = self.terminate.recv() => signal.map(|()| Signal::Stop),
            signal = self.interrupt.recv() => signal.map(|()| Signal::Stop),
            signal = self.hang_up.recv() => signal.map(|()| Signal::Reload),
        }
    }
}

/// The signals of this process.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self)
    }

    /// Returns the next signal; `None` if there will be none.
    pub(crate) async fn next(&mut self) -> Option<Signal> {
        tokio::signal::ctrl_c().await.ok().map(|()| Signal::Stop)
    }
}

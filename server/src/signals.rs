//! The signals that control the server.

use anyhow::Result;

/// SIGXFSZ on Linux and the BSDs: a file would exceed the process's size limit.
#[cfg(unix)]
const FILE_TOO_LONG: i32 = 25;

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGTERM, or Ctrl-C; on Windows also Ctrl+Break.
    Stop,
    /// The end of the console, and the system's shutdown: Windows ends the process some seconds
    /// later, even if it is still saving its rooms, so there is no time to drain.
    #[cfg(any(windows, test))]
    StopAtOnce,
    /// SIGHUP; as a Windows service, changed parameters.
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

/// Requests of the service control manager.
#[cfg(windows)]
static STOP: tokio::sync::Notify = tokio::sync::Notify::const_new();
#[cfg(windows)]
static STOP_AT_ONCE: tokio::sync::Notify = tokio::sync::Notify::const_new();
#[cfg(windows)]
static RELOAD: tokio::sync::Notify = tokio::sync::Notify::const_new();

/// Sends a signal to this process's server, as a Windows service is asked to stop or to reload.
#[cfg(windows)]
pub(crate) fn request(signal: Signal) {
    match signal {
        Signal::Stop => STOP.notify_one(),
        Signal::StopAtOnce => STOP_AT_ONCE.notify_one(),
        Signal::Reload => RELOAD.notify_one(),
    }
}

/// The events by which Windows asks this process to stop, from the creation of this value on.
#[cfg(windows)]
pub(crate) struct Signals {
    ctrl_c: tokio::signal::windows::CtrlC,
    ctrl_break: tokio::signal::windows::CtrlBreak,
    /// The console's window was closed.
    close: tokio::signal::windows::CtrlClose,
    shut_down: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    pub(crate) fn new() -> Result<Self> {
        use anyhow::Context as _;
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        Ok(Self {
            ctrl_c: ctrl_c().context("cannot wait for Ctrl+C")?,
            ctrl_break: ctrl_break().context("cannot wait for Ctrl+Break")?,
            close: ctrl_close().context("cannot wait for the end of the console")?,
            shut_down: ctrl_shutdown().context("cannot wait for the system's shutdown")?,
        })
    }

    /// Returns the next signal; `None` if there will be none.
    pub(crate) async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            () = STOP.notified() => Some(Signal::Stop),
            () = STOP_AT_ONCE.notified() => Some(Signal::StopAtOnce),
            () = RELOAD.notified() => Some(Signal::Reload),
            signal = self.ctrl_c.recv() => signal.map(|()| Signal::Stop),
            signal = self.ctrl_break.recv() => signal.map(|()| Signal::Stop),
            signal = self.close.recv() => signal.map(|()| Signal::StopAtOnce),
            signal = self.shut_down.recv() => signal.map(|()| Signal::StopAtOnce),
        }
    }
}

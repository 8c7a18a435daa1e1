//! The server's log: text for people, JSON for collectors.
//!
//! A separate thread writes it, to standard error or to a file; standard output is for the answers
//! of commands. Logging never blocks: a line for which there is no space is dropped and counted,
//! and the log says so as soon as there is space again.

mod events;
mod queue;
mod recent;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::{broadcast, oneshot};
use tracing::Subscriber;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{Layer as _, Registry, reload};

use self::events::Named;
use self::queue::Queue;
pub(crate) use self::recent::LogLine;
use self::recent::Recent;
use crate::config::{BadFilter, LogFormat, parse_filter};
use crate::error::{complain, standard_error};

/// Maximum bytes of the log that wait to be written: minutes of a busy server. Arbitrary.
pub(crate) const QUEUE_BYTES_MAX: usize = 1024 * 1024;
/// Longest time for which the end of the process waits for the last lines.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// An error of setting up or changing the log.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, Error)]
pub(crate) enum LoggingError {
    #[error(transparent)]
    Filter(#[from] BadFilter),
    #[error("cannot open the log file {}: {error}; choose one that can be written", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("cannot start the thread that writes the log: {0}")]
    Thread(io::Error),
    #[error("logging is already set up in this process")]
    AlreadySet,
}

/// Format and destination of the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogOptions {
    /// Format of a line.
    pub format: LogFormat,
    /// Directives for [`Targets`].
    pub filter: String,
    /// File that lines are appended to; `None` for standard error.
    pub file: Option<PathBuf>,
}

/// A handle of this process's log. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct LogHandle {
    queue: Arc<Queue>,
    recent: Recent,
    filter: reload::Handle<Targets, Registry>,
    format: LogFormat,
    file: Option<PathBuf>,
}

/// Starts logging for the whole process, including panics of its threads. Call it once, before
/// anything logs. The receiver resolves when the writer thread ends, which means that it has
/// failed.
///
/// Text is coloured only on a terminal, and not if `NO_COLOR` is set (<https://no-color.org>).
///
/// # Errors
///
/// If the filter is invalid, the file cannot be opened, the thread cannot be started, or logging is
/// already set up.
pub(crate) fn init(
    options: LogOptions,
) -> Result<(LogHandle, oneshot::Receiver<()>), LoggingError> {
    let colour = options.file.is_none()
        && io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let output: Box<dyn Write + Send> = match &options.file {
        Some(path) => Box::new(open(path)?),
        None => standard_error(),
    };
    let (subscriber, log) = subscriber(options, colour)?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| LoggingError::AlreadySet)?;
    let format = log.format;
    let ended = queue::start(&log.queue, output, move |lines| drop_note(format, lines));
    let ended = ended.map_err(LoggingError::Thread)?;
    log_panics();
    Ok((log, ended))
}

/// Returns a subscriber whose lines are queued for a thread, and its handle.
fn subscriber(
    options: LogOptions,
    colour: bool,
) -> Result<(impl Subscriber + Send + Sync + 'static, LogHandle), LoggingError> {
    let LogOptions { format, filter, file } = options;
    let (filter, filter_handle) = reload::Layer::new(parse_filter(&filter)?);
    let queue = Arc::new(Queue::new(QUEUE_BYTES_MAX));
    let recent = Recent::default();
    // A line that cannot be formatted is left out: reporting it on standard error could panic.
    let layer = layer()
        .with_ansi(colour)
        .log_internal_errors(false)
        .with_writer(queue::Sink(Arc::clone(&queue)));
    let layer = match format {
        LogFormat::Text => layer.boxed(),
        // Fields next to the message, where collectors index them by default.
        LogFormat::Json => layer.json().flatten_event(true).map_event_format(Named).boxed(),
    };
    let subscriber = tracing_subscriber::registry().with(filter).with(layer).with(recent.clone());
    Ok((subscriber, LogHandle { queue, recent, filter: filter_handle, format, file }))
}

/// Creates a log for this thread, with lines of `info` and above, that is never written.
#[cfg(test)]
pub(crate) fn for_tests() -> (LogHandle, tracing::subscriber::DefaultGuard) {
    let options = LogOptions { filter: "info".into(), ..LogOptions::default() };
    let (subscriber, log) = subscriber(options, false).expect("the filter is valid");
    (log, tracing::subscriber::set_default(subscriber))
}

fn open(path: &Path) -> Result<File, LoggingError> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.map_err(|error| LoggingError::File { path: path.to_owned(), error })
}

impl LogHandle {
    /// Returns the number of lines written so far.
    pub(crate) fn written(&self) -> u64 {
        self.queue.written()
    }

    /// Returns the number of lines dropped so far: there was no space, or they could not be
    /// written.
    pub(crate) fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Returns the filter in force, as directives for [`Targets`].
    pub(crate) fn filter(&self) -> String {
        self.filter.with_current(Targets::to_string).unwrap_or_default()
    }

    /// Replaces the filter.
    ///
    /// # Errors
    ///
    /// If the filter is invalid; the old one stays in force.
    pub(crate) fn set_filter(&self, filter: &str) -> Result<(), BadFilter> {
        self.put_filter(parse_filter(filter)?);
        Ok(())
    }

    pub(crate) fn put_filter(&self, filter: Targets) {
        // Fails only if the subscriber is gone, and then nothing has a filter.
        let _ = self.filter.reload(filter);
    }

    /// Returns the newest lines, oldest first; at most [`LINES_MAX`].
    pub(crate) fn recent(&self, count: usize) -> Vec<LogLine> {
        self.recent.last(count)
    }

    /// Returns lines from now on. A listener that falls behind loses the oldest, and is told how
    /// many.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<LogLine> {
        self.recent.subscribe()
    }

    /// Reopens the log file after it was renamed or removed. Without a file this does nothing.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened; lines then go to the old one.
    pub(crate) fn reopen(&self) -> Result<(), LoggingError> {
        if let Some(path) = &self.file {
            self.queue.replace_output(Box::new(open(path)?));
        }
        Ok(())
    }

    /// Waits until all lines are written, for at most half a second.
    pub(crate) fn flush(&self) {
        self.queue.flush(END_TIMEOUT);
    }

    /// Reports on standard error and in the log why the process ends, and waits like
    /// [`flush`](Self::flush).
    pub(crate) fn complain(&self, sentence: &str) {
        if self.file.is_some() || self.format == LogFormat::Json {
            tracing::error!(name: "server_failed", "{sentence}");
        }
        if self.file.is_none() && self.format == LogFormat::Text {
            self.queue.push(format!("{sentence}\n").as_bytes());
        }
        self.flush();
        #[cfg(windows)]
        let is_unread = crate::event_log::is_open();
        #[cfg(not(windows))]
        let is_unread = false;
        if self.file.is_some() || is_unread || self.queue.has_ended() {
            complain(sentence);
        }
    }
}

/// Formats the line about dropped lines.
fn drop_note(format: LogFormat, lines: u64) -> String {
    let mut time = String::new();
    // Cannot fail: writing to a string always succeeds.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    let (target, message) = (module_path!(), "lines of the log were dropped");
    match format {
        LogFormat::Text => format!("{time}  WARN {target}: {lines} {message}\n"),
        LogFormat::Json => format!(
            "{{\"event\":\"log_dropped\",\"timestamp\":\"{time}\",\"level\":\"WARN\",\
             \"message\":\"{message}\",\"lines\":{lines},\"target\":\"{target}\"}}\n"
        ),
    }
}

/// Logs panics: the default hook would write to standard error, and could block on it forever.
fn log_panics() {
    panic::set_hook(Box::new(|info| {
        let thread = thread::current();
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let backtrace = std::backtrace::Backtrace::capture();
        let is_captured = backtrace.status() == std::backtrace::BacktraceStatus::Captured;
        tracing::error!(
            name: "panicked",
            thread = thread.name().unwrap_or("unnamed"),
            at = info.location().map(tracing::field::display),
            text = text.unwrap_or("no text"),
            backtrace = is_captured.then(|| tracing::field::display(&backtrace)),
            "panicked"
        );
    }));
}

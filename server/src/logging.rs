//! The server's log: text for people, JSON for collectors.
//!
//! The log goes to standard error, unbuffered; standard output is for the answers of commands.

use std::io::{self, IsTerminal};

use thiserror::Error;
use tracing::Subscriber;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::fmt::{MakeWriter, layer};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::config::LogFormat;

/// Logging cannot be set up.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, Error)]
pub enum LoggingError {
    #[error("the log filter {filter:?} is not valid: {source}")]
    Filter { filter: String, source: ParseError },
    #[error("this process has set up logging already")]
    AlreadySet,
}

/// Starts logging for the whole process. Call it once, before anything logs.
///
/// Text is coloured only on a terminal, and not where `NO_COLOR` is set (<https://no-color.org>).
pub fn init(format: LogFormat, filter: &str) -> Result<(), LoggingError> {
    let colour = io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let subscriber = subscriber(format, filter, colour, io::stderr)?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| LoggingError::AlreadySet)
}

fn subscriber<W>(
    format: LogFormat,
    filter: &str,
    colour: bool,
    writer: W,
) -> Result<Box<dyn Subscriber + Send + Sync>, LoggingError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = filter
        .parse::<Targets>()
        .map_err(|source| LoggingError::Filter { filter: filter.to_owned(), source })?;
    let layer = layer().with_ansi(colour).with_writer(writer);
    let layer = match format {
        LogFormat::Text => layer.boxed(),
        // Fields beside the message, as collectors index by default.
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    Ok(Box::new(tracing_subscriber::registry().with(layer.with_filter(filter))))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The log of one event below the filter and one at it.
    fn logged(format: LogFormat) -> String {
        let written = Arc::new(Mutex::new(Vec::new()));
        let writer = {
            let written = Arc::clone(&written);
            move || Sink(Arc::clone(&written))
        };
        let subscriber = subscriber(format, "info", false, writer).expect("the filter is valid");
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!("unheard");
            tracing::info!(players = 3, "heard");
        });
        let bytes = written.lock().expect("no writer panicked").clone();
        String::from_utf8(bytes).expect("a log is text")
    }

    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no writer panicked").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn text_is_one_plain_line() {
        let log = logged(LogFormat::Text);
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(log.trim_end().ends_with("heard players=3"), "{log}");
        assert!(log.contains("INFO") && !log.contains('\u{1b}'), "{log}");
    }

    #[test]
    fn json_is_one_flat_object() {
        let log = logged(LogFormat::Json);
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(log.starts_with('{') && log.trim_end().ends_with('}'), "{log}");
        assert!(
            log.contains(r#""level":"INFO""#) && log.contains(r#""message":"heard","players":3"#),
            "{log}"
        );
        assert!(!log.contains(r#""fields""#), "{log}");
    }

    #[test]
    fn a_bad_filter_is_refused() {
        let error =
            init(LogFormat::Text, "phaselock=loud").expect_err("there is no level called loud");
        assert!(error.to_string().contains("\"phaselock=loud\""), "{error}");
    }
}

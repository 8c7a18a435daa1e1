//! The newest lines of the log in memory, and a feed of them, for the administration.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::broadcast;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::events::name_of;

/// Maximum lines that are kept.
pub(crate) const LINES_MAX: usize = 500;
/// Maximum bytes of text that are kept: twice what that number of typical lines needs.
const BYTES_MAX: usize = 256 * 1024;
/// Maximum bytes of text in a line; the rest is cut off. Arbitrary.
const LINE_BYTES_MAX: usize = 8 * 1024;
/// Maximum lines that wait for a listener. Beyond that the oldest are lost, and the listener is
/// told how many.
const FEED_MAX: usize = 256;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogLine {
    /// Unix time in milliseconds.
    pub time_unix_millis: u64,
    /// Severity.
    pub level: Level,
    /// Module that wrote it.
    pub target: &'static str,
    /// Name of its event, if it has one.
    pub event: Option<&'static str>,
    /// Message, then the fields as `name=value`, preceded by the fields of the room if there is
    /// one. At most 8 KiB.
    pub text: String,
    /// Range of the message in the text.
    pub(crate) said: Range<usize>,
}

impl LogLine {
    /// Returns only the message, without fields: nothing that a player wrote, and no address.
    pub(crate) fn message(&self) -> &str {
        self.text.get(self.said.clone()).unwrap_or_default()
    }
}

/// The newest lines. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    lines: Arc<Mutex<Lines>>,
    feed: broadcast::Sender<LogLine>,
}

#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<LogLine>,
    bytes: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Self { lines: Arc::default(), feed: broadcast::channel(FEED_MAX).0 }
    }
}

impl Recent {
    /// Returns the last `count` lines, oldest first.
    pub(super) fn last(&self, count: usize) -> Vec<LogLine> {
        let kept = self.lines();
        let skipped = kept.lines.len().saturating_sub(count);
        kept.lines.iter().skip(skipped).cloned().collect()
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<LogLine> {
        self.feed.subscribe()
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: LogLine) {
        if self.feed.receiver_count() > 0 {
            // Fails if all listeners have left.
            let _ = self.feed.send(line.clone());
        }
        let mut kept = self.lines();
        kept.bytes += line.text.len();
        kept.lines.push_back(line);
        while kept.lines.len() > LINES_MAX || kept.bytes > BYTES_MAX {
            let Some(oldest) = kept.lines.pop_front() else { return };
            kept.bytes -= oldest.text.len();
        }
    }
}

/// Fields of a span, as shown before a line's message.
struct SpanText(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recent {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut text = Text::default();
        attributes.record(&mut text);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(SpanText(text.fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut text = String::new();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(SpanText(fields)) = span.extensions().get() {
                // Writing to a string cannot fail.
                let _ = write!(text, "{}{fields}: ", span.name());
            }
        }
        let mut said = Text::default();
        event.record(&mut said);
        let name = name_of(event);
        let begin = text.len();
        text.push_str(&said.message);
        let end = text.len();
        text.push_str(if said.message.is_empty() {
            said.fields.trim_start()
        } else {
            &said.fields
        });
        text.truncate(text.floor_char_boundary(LINE_BYTES_MAX));
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time_unix_millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let metadata = event.metadata();
        let (level, target) = (*metadata.level(), metadata.target());
        let said = begin.min(text.len())..end.min(text.len());
        self.push(LogLine { time_unix_millis, level, target, event: name, text, said });
    }
}

/// Collects the message, and the other fields with a blank before each.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

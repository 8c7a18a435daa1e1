//! Names of the log's events, which do not change when the text of a message does.
//!
//! Each call from `info` up names its event: `tracing::info!(name: "player_joined", ...)`.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Returns the name that a call gives its event. By default, tracing names events after their place
/// in the source, as in `event src/lib.rs:12`.
pub(super) fn name_of(event: &Event<'_>) -> Option<&'static str> {
    Some(event.metadata().name()).filter(|name| !name.contains(' '))
}

/// Puts the event's name first in the JSON object.
#[derive(Debug)]
pub(super) struct Named<F>(pub(super) F);

impl<S, N, F> FormatEvent<S, N> for Named<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(name) = name_of(event) else {
            return self.0.format_event(context, writer, event);
        };
        let mut object = String::new();
        self.0.format_event(context, Writer::new(&mut object), event)?;
        let members = object.strip_prefix('{').unwrap_or(&object);
        write!(writer, "{{\"event\":\"{name}\",{members}")
    }
}

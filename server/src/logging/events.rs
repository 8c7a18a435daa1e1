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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => sources(&path, found),
                false => {
                    found.extend(path.extension().is_some_and(|it| it == "rs").then_some(path))
                }
            }
        }
    }

    /// The arguments of each call that logs at `info` or above, in a source without its tests.
    fn calls(text: &str) -> Vec<&str> {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
        let levels = ["info", "warn", "error"].map(|level| format!("tracing::{level}!("));
        levels.iter().flat_map(|start| code.split(start.as_str()).skip(1)).collect()
    }

    /// The name that a call gives its event.
    fn name_in(arguments: &str) -> Option<&str> {
        let name = arguments.trim_start().strip_prefix("name: \"")?;
        name.split_once("\",").map(|(name, _)| name)
    }

    /// The names that the manual lists.
    fn listed(manual: &str) -> BTreeSet<&str> {
        let (_, list) = manual.split_once("lines at `debug` have none:").expect("the list");
        let (list, _) = list.split_once("\n\n").expect("the list ends");
        list.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn each_call_names_its_event_and_the_manual_lists_all_names() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        for folder in ["src", "../shared/netcode/src", "../shared/quic/src"] {
            sources(&root.join(folder), &mut files);
        }
        // Written without a call, once there is space again.
        let mut used = BTreeSet::from(["log_dropped".to_owned()]);
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).expect("a source");
            for call in calls(&text) {
                let name = name_in(call).unwrap_or_else(|| {
                    let call: String = call.chars().take(80).collect();
                    panic!("{}: no `name:` in {call}", file.display())
                });
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                assert!(name.chars().all(plain), "{}: {name:?}", file.display());
                used.insert(name.to_owned());
            }
        }
        let manual = root.join("../docs/hosting/reference.md");
        let manual = fs::read_to_string(manual).expect("the manual");
        assert_eq!(used, listed(&manual).into_iter().map(str::to_owned).collect());
    }
}

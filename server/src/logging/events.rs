//! Names of the log's events, which stay the same when the text of a message changes.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The beginning of each message from `info` up, and its event.
const EVENTS: &[(&str, &str)] = &[
    ("listening", "server_listening"),
    ("a directory lists the server", "directory_listed"),
    ("a directory does not list the server", "directory_refused"),
    ("stopping", "server_stopping"),
    ("stopped", "server_stopped"),
    ("phaselock-server", "server_failed"),
    ("draining", "room_draining"),
    ("panicked", "panicked"),
    ("joined", "player_joined"),
    ("left", "player_left"),
    ("away", "player_away"),
    ("resumed", "player_resumed"),
    ("chat", "player_chat"),
    ("a vote is called", "vote_called"),
    ("a vote is over", "vote_over"),
    ("the game that was voted for does not begin", "vote_failed"),
    ("moved", "player_moved"),
    ("renamed", "player_renamed"),
    ("watches", "player_watches"),
    ("plays", "player_plays"),
    ("report", "game_report"),
    ("the game begins", "game_began"),
    ("a round is over", "round_over"),
    ("sending", "send_rule"),
    ("the room was empty for long", "room_closed_empty"),
    ("the room panicked again and again", "room_closed_panicked"),
    ("the room panicked", "room_panicked"),
    ("the room's players are lost", "room_players_lost"),
    ("the server stalled", "server_stalled"),
    ("the system clock jumped", "clock_jumped"),
    ("the system clock is back", "clock_returned"),
    ("dates follow the system clock", "dates_changed"),
    ("the configuration is not of this game", "game_setup_invalid"),
    ("the coding tables were trained on other records", "game_tables_stale"),
    ("a thread of rooms could not keep up", "thread_packets_lost"),
    ("a thread of rooms does not end", "thread_not_ending"),
    ("a thread of rooms takes no orders", "thread_orders_full"),
    ("an order could not be carried out in the next game", "order_failed"),
    ("a control message is too long to send", "message_too_long"),
    ("cannot receive packets", "socket_failed"),
    ("the kernel grants a small socket buffer", "socket_buffer_small"),
    ("no IPv6 on this machine", "ipv6_missing"),
    ("made a new server identity", "identity_made"),
    ("the data directory has been used", "identity_lost"),
    ("the private key was open to other users", "key_was_open"),
    ("the private key is open to other users", "key_open"),
    ("a file of the settings has changed", "settings_file_changed"),
    ("a mistake in the settings", "setting_invalid"),
    ("a setting has changed", "setting_changed"),
    ("a setting needs a restart", "setting_needs_restart"),
    ("the settings were loaded", "settings_loaded"),
    ("the settings were not loaded", "settings_refused"),
    ("a room has not taken over the settings", "room_settings_late"),
    ("rooms stand still", "rooms_stalled"),
    ("lines of the log were dropped", "log_dropped"),
    ("a change cannot be kept", "database_change_lost"),
    ("the data directory cannot be locked", "data_dir_unlocked"),
    ("the first token of an admin", "first_token"),
    ("the administration listens", "administration_listening"),
    ("the administration has no listener", "administration_failed"),
    ("the administration panicked", "administration_panicked"),
    ("a simulated bad network lies before all clients", "network_simulated"),
    ("browsers play by these links", "page_listening"),
    ("the public page is at these links", "public_page_listening"),
    ("the page has no listener", "page_failed"),
    ("cannot make a certificate for browsers", "page_certificate_failed"),
    ("an act of the host", "host_act"),
    ("the host missed news", "host_lagged"),
    ("the database takes changes again", "database_recovered"),
    ("the database takes no changes", "database_failing"),
    ("the database is damaged", "database_damaged"),
    ("the database was lost while", "database_lost"),
    ("the database cannot be copied", "database_copy_failed"),
    ("there is no new database yet", "database_new_failed"),
    ("the database's journal was removed", "database_journal_lost"),
    ("what is old cannot be deleted", "database_old_stuck"),
    ("a row of the database", "database_row_invalid"),
    ("a thread that writes panicked", "writer_panicked"),
    ("an old room cannot be removed", "room_file_stuck"),
    ("a kept room", "room_kept_invalid"),
    ("the kept room is of no game", "room_kept_foreign"),
    ("the room begins anew", "room_kept_refused"),
    ("the rules of the kept room panicked", "room_kept_panicked"),
    ("the game goes on where the server ended", "room_restored"),
    ("the room cannot be kept", "room_keep_failed"),
    ("rooms are kept again", "room_keep_recovered"),
    ("a login failed", "login_failed"),
    ("the certificate has to be renewed", "certificate_expires"),
    ("the drain was called off", "room_undrained"),
    ("refused in the last 10 s", "strangers_refused"),
    ("a backup was made", "backup_made"),
    ("cannot remove an old backup", "backup_stuck"),
    ("a backup failed", "backup_failed"),
    ("a webhook fails", "webhook_failing"),
    ("a webhook works again", "webhook_recovered"),
    ("a webhook has no thread", "webhook_stopped"),
    ("cannot start threads for snapshots", "snapshot_threads_missing"),
    ("a scheduled restart is near", "restart_near"),
    ("a scheduled restart begins", "restart_begun"),
    ("a scheduled restart is called off", "restart_called_off"),
    ("a scheduled restart is skipped", "restart_skipped"),
    ("a list of addresses fails", "deny_list_failing"),
    ("a list of addresses works again", "deny_list_recovered"),
    ("a list of addresses has changed", "deny_list_changed"),
];

/// The event of a message.
pub(super) fn name_of(message: &str) -> Option<&'static str> {
    let is_of = |beginning: &str| {
        let rest = message.strip_prefix(beginning);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    EVENTS.iter().find(|(beginning, _)| is_of(beginning)).map(|(_, name)| *name)
}

/// Puts the event's name first into a JSON object.
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
        let mut message = Message(String::new());
        event.record(&mut message);
        let Some(name) = name_of(&message.0) else {
            return self.0.format_event(context, writer, event);
        };
        let mut object = String::new();
        self.0.format_event(context, Writer::new(&mut object), event)?;
        let members = object.strip_prefix('{').unwrap_or(&object);
        write!(writer, "{{\"event\":\"{name}\",{members}")
    }
}

/// An event's message.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // A text takes everything.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

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

    /// The last literal of each line of the log from `info` up, in a source without its tests.
    fn messages(text: &str) -> Vec<String> {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
        let levels = ["info", "warn", "error"].map(|level| format!("tracing::{level}!("));
        let calls = levels.iter().flat_map(|start| code.split(start.as_str()).skip(1));
        calls.filter_map(last_literal).collect()
    }

    /// The last literal of a macro's arguments, which the text begins with.
    fn last_literal(text: &str) -> Option<String> {
        let (mut depth, mut literal, mut last) = (1, None, None);
        for c in text.chars() {
            match (c, &mut literal) {
                ('"', Some(_)) => last = literal.take(),
                ('"', None) => literal = Some(String::new()),
                (c, Some(literal)) => literal.push(if c == '\\' { ' ' } else { c }),
                ('(', None) => depth += 1,
                (')', None) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        last.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn every_message_has_a_name_and_every_name_is_in_the_manual() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        for folder in ["src", "../shared/netcode/src", "../shared/quic/src"] {
            sources(&root.join(folder), &mut files);
        }
        let mut used = BTreeSet::from(["server_failed", "log_dropped"]);
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).expect("a source");
            for message in messages(&text) {
                // A sentence for people names the program.
                if message == "{sentence}" {
                    continue;
                }
                let name = name_of(&message);
                assert!(name.is_some(), "{}: '{message}' has no event", file.display());
                used.extend(name);
            }
        }
        let manual = fs::read_to_string(root.join("HOSTING.md")).expect("the manual");
        let mut names = BTreeSet::new();
        for (message, name) in EVENTS {
            assert!(names.insert(name), "{name} stands twice");
            assert!(used.contains(name), "nothing says '{message}' any more");
            assert!(manual.contains(&format!("`{name}`")), "{name} is not in the manual");
        }
    }

    #[test]
    fn messages_are_known_by_their_beginning() {
        assert_eq!(name_of("the room panicked; its players go on"), Some("room_panicked"));
        assert_eq!(name_of("the room panicked again and again"), Some("room_closed_panicked"));
        assert_eq!(name_of("leftover"), None);
    }
}

//! Events as receivers get them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use tracing::Level;

use crate::api::{AuditEvent, HostEvent, NumberView};
use crate::config::Topic;
use crate::logging::LogLine;

/// Time within which each kind of alarm is sent at most once.
const ALARM_INTERVAL: Duration = Duration::from_secs(600);
/// Maximum kinds of alarms remembered for that: more than the log has.
const ALARMS_MAX: usize = 512;
/// Maximum players of a round in its line of text.
const PLAYERS_MAX: usize = 10;
/// Modules whose lines never become alarms.
const OWN: &str = "phaselock_server::webhooks";
/// Actions that are sanctions.
const SANCTIONS: [&str; 5] = ["kick", "ban", "unban", "mute", "unmute"];

/// A report of something that happened.
#[derive(Debug)]
pub(super) struct Report {
    /// `None` for a test.
    pub(super) topic: Option<Topic>,
    event: &'static str,
    /// A line for everyone, without keys and addresses.
    text: String,
    data: Value,
}

impl Report {
    /// Returns the report of an event, if receivers may want it.
    pub(super) fn of(event: &HostEvent) -> Option<Self> {
        let (topic, text) = match event {
            HostEvent::Joined { room, name, .. } => (Topic::Joins, format!("{name} joined {room}")),
            // The reason may be the player's own words; only the JSON has it.
            HostEvent::Left { room, name, .. } => (Topic::Joins, format!("{name} left {room}")),
            HostEvent::Results { room, game, round, numbers } => {
                (Topic::Results, results(room, game, *round, numbers))
            }
            HostEvent::Audit(act) if SANCTIONS.contains(&&*act.act) => {
                (Topic::Sanctions, sanction(act))
            }
            _ => return None,
        };
        let mut data = event.data();
        // Receivers do not need the address of every player who joins.
        if let Some(data) = data.as_object_mut() {
            data.remove("address");
        }
        let event = match event {
            HostEvent::Audit(_) => "sanction",
            other => other.name(),
        };
        Some(Self { topic: Some(topic), event, text, data })
    }

    /// Returns a report that shows that a receiver works.
    pub(super) fn test(by: &str) -> Self {
        let text = format!("a test of this webhook by {by}");
        Self { topic: None, event: "test", text, data: json!({ "by": by }) }
    }
}

/// Formats results in a line: the players in the order of their first score.
fn results(room: &str, game: &str, round: u32, numbers: &[NumberView]) -> String {
    let mut players: Vec<(&str, String)> = Vec::new();
    for NumberView { name, measure, value, .. } in numbers {
        let number = format!("{measure} {value}");
        match players.iter_mut().find(|(it, _)| it == name) {
            Some((_, text)) => *text += &format!(", {number}"),
            None => players.push((name, number)),
        }
    }
    let more = players.len().saturating_sub(PLAYERS_MAX);
    let shown = players.iter().take(PLAYERS_MAX).map(|(name, text)| format!("{name} ({text})"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("round {round} of {game} in {room}: {shown}{more}")
}

/// Formats a sanction in a line, without its key or address.
fn sanction(act: &AuditEvent) -> String {
    let whom = act.whom.as_deref().unwrap_or_default();
    let whom = match whom.rsplit_once(" (") {
        Some((name, _)) => name,
        None => "a key or an address",
    };
    let mut text = format!("{}: {} {whom}", act.by, act.act);
    for part in [&act.detail, &act.why].into_iter().flatten() {
        text += &format!(", {part}");
    }
    text
}

/// Alarms from the log, rate-limited by kind.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    /// When each kind was last sent, and how many were left out since.
    last: HashMap<&'static str, (Instant, u64)>,
}

impl Alarms {
    /// Returns the report of a line, if it is an alarm whose kind was not just sent.
    pub(super) fn of(&mut self, line: &LogLine) -> Option<Report> {
        // An alarm about webhooks would go to the receiver that fails.
        if line.level > Level::WARN || line.target.starts_with(OWN) {
            return None;
        }
        let kind = line.event.unwrap_or(line.target);
        let known = self.last.get_mut(kind);
        let left_out = match known {
            Some((at, left_out)) if at.elapsed() < ALARM_INTERVAL => {
                *left_out += 1;
                return None;
            }
            Some((_, left_out)) => *left_out,
            None => 0,
        };
        if self.last.len() < ALARMS_MAX {
            self.last.insert(kind, (Instant::now(), 0));
        }
        let level = if line.level == Level::ERROR { "error" } else { "warning" };
        let more = match left_out {
            0 => String::new(),
            count => format!(" (and {count} more before)"),
        };
        let text = format!("{level}: {}{more}", line.message());
        let data = json!({
            "level": level, "kind": kind, "line": line.text, "left_out": left_out,
        });
        Some(Report { topic: Some(Topic::Alarms), event: "alarm", text, data })
    }
}

/// The server, as receivers know it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sender {
    pub(super) name: String,
    pub(super) fingerprint: String,
}

/// A report to be sent.
#[derive(Debug)]
pub(super) struct Message {
    /// Stays the same in all attempts, so that a receiver recognises a repeated message.
    pub(super) id: String,
    pub(super) made: Instant,
    /// A JSON object.
    pub(super) body: String,
    /// A line of Markdown, with its marks escaped in names.
    pub(super) markdown: String,
}

impl Message {
    pub(super) fn new(report: Report, sender: &Sender, time: i64) -> Self {
        let Report { event, text, data, .. } = report;
        let mut random = [0; 16];
        // Without random numbers TLS fails too, and nothing arrives.
        let _ = getrandom::fill(&mut random);
        let id = format!("msg_{:032x}", u128::from_le_bytes(random));
        let body = json!({
            "id": id,
            "event": event,
            "time": time,
            "server": sender,
            "text": text,
            "data": data,
        });
        let markdown = format!("**{}** {}", plain(&sender.name), plain(&text));
        Self { id, made: Instant::now(), body: body.to_string(), markdown }
    }
}

/// Escapes Markdown.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        // The colon is escaped so that no URL in a name becomes a link.
        if c.is_ascii_punctuation() && !".,;'\"!?%+=/&$".contains(c) {
            plain.push('\\');
        }
        plain.push(if c.is_control() { ' ' } else { c });
    }
    plain
}

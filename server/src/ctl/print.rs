//! Answers as text: sentences and tables.

use phaselock::wire::text::printable;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{
    AllowListView, AuditRow, BackedUp, ChatView, DenyListView, Done, DrainView, HostEvent,
    LeftView, LineView, NewToken, PlayerResult, PlayerView, RecordRow, ReloadReport, ReplayView,
    ResultRow, RoleView, RoomView, ScoreView, SentenceView, SettingChange, SettingView, StatusView,
    TokenView, WebhookTest,
};
use crate::author::Role;
use crate::time::{date, span_text};

/// Number of players of a recording whose names are shown.
const NAMES_MAX: usize = 5;

/// An answer that can be shown as text.
pub(super) trait Shown: DeserializeOwned {
    /// Returns the text; empty if there is nothing to show.
    fn text(&self) -> String;
}

impl Shown for Done {
    fn text(&self) -> String {
        sentences(&self.done)
    }
}

impl Shown for BackedUp {
    fn text(&self) -> String {
        sentences(&self.done)
    }
}

impl Shown for NewToken {
    fn text(&self) -> String {
        printable(&self.token)
    }
}

impl Shown for Vec<PlayerView> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("SEAT", |it| format!("p{}", it.seat)),
                ("NAME", |it| printable(&it.name)),
                ("ROOM", |it| printable(&it.room)),
                ("SCORES", |it| scores(&it.scores)),
                ("PING", |it| millis(it.ping)),
                ("JITTER", |it| millis(it.jitter)),
                ("LOSS", |it| format!("{:.1} %", it.loss * 100.0)),
                ("OFFSET", |it| millis(it.offset)),
                ("LATE", |it| it.late_inputs.to_string()),
                ("ROLE", |it| it.role.map_or("", Role::as_str).to_owned()),
                ("ADDRESS", |it| optional(it.address.as_ref())),
                ("KEY", |it| printable(&it.key).chars().take(12).collect()),
                ("", |it| match (it.away, &it.muted) {
                    (true, _) => "away".to_owned(),
                    (false, Some(_)) => "muted".to_owned(),
                    (false, None) => String::new(),
                }),
            ],
        )
    }
}

impl Shown for Vec<SentenceView> {
    fn text(&self) -> String {
        let table = table(
            self,
            &[
                ("ID", |it| it.id.to_string()),
                ("KIND", |it| printable(&it.kind)),
                ("SUBJECT", |it| printable(&it.subject)),
                ("NAME", |it| optional(it.name.as_ref())),
                ("UNTIL", |it| it.until.map_or("forever".to_owned(), date)),
                ("BY", |it| printable(&it.by)),
                ("REASON", |it| printable(&it.reason)),
            ],
        );
        // All that were made at once have the same note.
        match self.first().and_then(|it| it.note.as_ref()) {
            Some(note) => format!("{table}\n{}", printable(note)),
            None => table,
        }
    }
}

impl Shown for Vec<SettingView> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("SETTING", |it| printable(&it.setting)),
                ("VALUE", |it| printable(&it.value)),
                ("ORIGIN", |it| printable(&it.origin)),
            ],
        )
    }
}

impl Shown for Vec<WebhookTest> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("WEBHOOK", |it| printable(&it.webhook)),
                ("DELIVERED", |it| it.delivered.to_string()),
                ("ANSWER", |it| printable(&it.answer)),
            ],
        )
    }
}

impl Shown for Vec<LineView> {
    fn text(&self) -> String {
        let line = |it: &LineView| {
            let time = i64::try_from(it.time).unwrap_or(0);
            format!("{} {:5} {}", clock(time), printable(&it.level), printable(&it.text))
        };
        self.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Shown for Vec<ChatView> {
    fn text(&self) -> String {
        let line = |it: &ChatView| {
            let said = said(it.room.as_deref(), it.name.as_deref(), &it.text);
            format!("{} {said}", clock(it.time))
        };
        self.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Shown for AllowListView {
    fn text(&self) -> String {
        let Some(file) = &self.file else {
            return "there is no allow list: anyone may join".to_owned();
        };
        let players = table(
            &self.players,
            &[("NAME", |it| printable(&it.name)), ("KEY", |it| printable(&it.key))],
        );
        format!("{}\n{players}", printable(file))
    }
}

impl Shown for Vec<LeftView> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("NAME", |it| printable(&it.name)),
                ("KEY", |it| printable(&it.key)),
                ("ADDRESS", |it| optional(it.address.as_ref())),
                ("ROOM", |it| printable(&it.room)),
                ("LEFT", |it| date(it.left)),
            ],
        )
    }
}

impl Shown for Vec<RoleView> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("ROLE", |it| it.role.to_string()),
                ("NAME", |it| optional(it.name.as_ref())),
                ("KEY", |it| printable(&it.key)),
                ("BY", |it| printable(&it.by)),
            ],
        )
    }
}

impl Shown for Vec<ReplayView> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("FILE", |it| printable(&it.file)),
                ("GAME", |it| match &it.game {
                    Some(game) => printable(game),
                    None if it.unread => "not read yet".to_owned(),
                    None => "unreadable".to_owned(),
                }),
                ("BEGAN", |it| it.began.map(date).unwrap_or_default()),
                ("LENGTH", |it| it.seconds.map(length).unwrap_or_default()),
                ("BYTES", |it| it.bytes.to_string()),
                ("PLAYERS", |it| some_of(&it.players)),
            ],
        )
    }
}

impl Shown for Vec<TokenView> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("NAME", |it| printable(&it.name)),
                ("ROLE", |it| it.role.to_string()),
                ("MADE", |it| date(it.made)),
            ],
        )
    }
}

impl Shown for Vec<AuditRow> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("TIME", |it| date(it.time)),
                ("BY", |it| printable(&it.by)),
                ("ROLE", |it| printable(&it.role)),
                ("ACT", |it| printable(&it.act)),
                ("WHOM", |it| optional(it.whom.as_ref())),
                ("WHY", |it| optional(it.why.as_ref())),
                ("DETAIL", |it| optional(it.detail.as_ref())),
            ],
        )
    }
}

impl Shown for Vec<ResultRow> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("TIME", |it| date(it.time)),
                ("ROOM", |it| printable(&it.room)),
                ("GAME", |it| printable(&it.game)),
                ("ROUND", |it| it.round.to_string()),
                ("NUMBERS", |it| numbers(&it.players)),
            ],
        )
    }
}

impl Shown for Vec<RecordRow> {
    fn text(&self) -> String {
        table(
            self,
            &[
                ("GAME", |it| printable(&it.game)),
                ("NUMBER", |it| printable(&it.measure)),
                ("VALUE", |it| number(it.value)),
                ("NAME", |it| printable(&it.name)),
                ("TIME", |it| date(it.time)),
            ],
        )
    }
}

impl Shown for ReloadReport {
    fn text(&self) -> String {
        let line = |it: &SettingChange| {
            let [setting, from, to] = [&it.setting, &it.from, &it.to].map(|it| printable(it));
            match &it.why {
                None => format!("  {setting}: {from} -> {to}"),
                Some(why) => format!("  {setting}: {from} -> {to} ({})", printable(why)),
            }
        };
        let part = |changes: &[SettingChange], head: &str| {
            let lines: Vec<_> = changes.iter().map(line).collect();
            (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
        };
        let parts =
            [part(&self.changed, "in force now:"), part(&self.needs_restart, "needs a restart:")];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "nothing has changed".to_owned() } else { parts.join("\n") }
    }
}

impl Shown for StatusView {
    fn text(&self) -> String {
        let mut lines = vec![
            format!(
                "{}, version {}, up for {}",
                printable(&self.name),
                printable(&self.version),
                span_text(self.now - self.started)
            ),
            format!(
                "{} of {} players, {} bots, at {}",
                self.players,
                self.seats,
                self.bots,
                printable(&self.address.join(", "))
            ),
        ];
        lines.extend(health(self));
        for directory in &self.directories {
            let [address, standing] =
                [&directory.address, &directory.standing].map(|it| printable(it));
            lines.push(format!("directory {address}: {standing}"));
        }
        lines.extend(self.deny_lists.iter().map(|list| deny_list(list, self.now)));
        if let Some(at) = self.next_restart {
            let left = span_text((at - self.now).max(0));
            lines.push(format!("next restart: {}, in {left}", date(at)));
        }
        lines.extend(self.draining.as_ref().map(|it| drain(it, self.now)));
        lines.push(String::new());
        lines.push(rooms(&self.rooms));
        lines.join("\n")
    }
}

/// The state of the database, and whatever is wrong with the server.
fn health(status: &StatusView) -> Vec<String> {
    let mut lines = vec![format!("database: {}", printable(&status.database))];
    for (thing, state) in [("clock", &status.clock), ("rooms", &status.keeping)] {
        if state != "ok" {
            lines.push(format!("{thing}: {}", printable(state)));
        }
    }
    lines.extend(status.agones.as_ref().map(|state| format!("Agones: {}", printable(state))));
    if let Some(expires) = status.certificate_expires {
        lines.push(match expires - status.now {
            ..=0 => format!("certificate: expired on {}; renew it", date(expires)),
            left => format!("certificate: valid until {}, for {}", date(expires), span_text(left)),
        });
    }
    let failed = &status.failed_logins;
    if failed.tokens + failed.passwords > 0 {
        lines.push(format!(
            "failed logins since the start: {} with a wrong token, {} with a wrong password",
            failed.tokens, failed.passwords
        ));
    }
    if status.log.dropped > 0 {
        lines.push(format!("log: {} lines were dropped", status.log.dropped));
    }
    lines
}

fn deny_list(list: &DenyListView, now: i64) -> String {
    let entries = match list.entries {
        1 => "1 entry".to_owned(),
        entries => format!("{entries} entries"),
    };
    let fetched = list.fetched.map(|it| format!(", fetched {} ago", span_text((now - it).max(0))));
    let problem = list.problem.as_ref().map(|it| format!("; {}", printable(it)));
    format!(
        "deny list {}: {entries}, {} refused{}{}",
        printable(&list.list),
        list.refused,
        fetched.unwrap_or_default(),
        problem.unwrap_or_default()
    )
}

/// Formats a drain: the time left, and where players are sent.
fn drain(drain: &DrainView, now: i64) -> String {
    let to = drain.redirect.as_ref();
    let to = to.map(|to| format!("; players are sent to {}", printable(to)));
    let end = if drain.restart { "restarts" } else { "stops" };
    format!(
        "draining: no one can join, and it {end} in {} at the latest, at {}{}\ngoodbye: {}",
        span_text(drain.until - now),
        date(drain.until),
        to.unwrap_or_default(),
        printable(&drain.text)
    )
}

fn rooms(rooms: &[RoomView]) -> String {
    table(
        rooms,
        &[
            ("ROOM", |it| printable(&it.code)),
            ("GAME", |it| printable(&it.game)),
            ("PLAYERS", |it| format!("{} of {}", it.players, it.seats)),
            ("BOTS", |it| it.bots.to_string()),
            ("ROUND", |it| it.round.to_string()),
            ("TICK", |it| format!("{} µs, 99 % {}", it.tick_micros.mean, it.tick_micros.p99)),
            ("BUSY", |it| format!("{:.1} %", it.busy * 100.0)),
            ("LATE", |it| it.late_inputs.to_string()),
            ("PANICS", |it| it.panics.to_string()),
            ("", |it| if it.asleep { "asleep" } else { "" }.to_owned()),
        ],
    )
}

/// A player's current scores.
fn scores(scores: &[ScoreView]) -> String {
    let of = |it: &ScoreView| format!("{} {}", printable(&it.measure), number(it.value));
    scores.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// The scores of a round, with the players' names.
fn numbers(players: &[PlayerResult]) -> String {
    let of = |it: &PlayerResult| {
        format!("{} {} {}", printable(&it.name), printable(&it.measure), number(it.value))
    };
    players.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Formats an event of the stream.
pub(super) fn event(name: &str, data: Value) -> String {
    if name == "log"
        && let Ok(line) = serde_json::from_value::<LineView>(data.clone())
    {
        return format!("{} {}", printable(&line.level), printable(&line.text));
    }
    // An unknown event, from another version, is shown as it is.
    let as_it_is = format!("{} {data}", printable(name));
    HostEvent::read(name, data).map_or(as_it_is, |event| event_text(&event))
}

/// Formats an event.
fn event_text(event: &HostEvent) -> String {
    let text = |text: &str| printable(text);
    let (room, line) = match event {
        HostEvent::Joined { room, name, address, .. } => {
            (room, format!("{} joined from {}", text(name), optional(address.as_ref())))
        }
        HostEvent::Left { room, name, reason, .. } => {
            (room, format!("{} left: {}", text(name), text(reason)))
        }
        HostEvent::Away { room, name, .. } => (room, format!("{} lost the connection", text(name))),
        HostEvent::Resumed { room, name, .. } => (room, format!("{} is back", text(name))),
        HostEvent::Moved { room, name, address, .. } => {
            (room, format!("{} moved to {}", text(name), text(address)))
        }
        HostEvent::Renamed { room, seat, name } => {
            (room, format!("p{seat} is now called {}", text(name)))
        }
        HostEvent::Chat { room, name, text, .. } => {
            return said(room.as_deref(), name.as_deref(), text);
        }
        HostEvent::Game { room, name } => (room, format!("the game is {}", text(name))),
        HostEvent::Round { room, played } => (room, format!("round {played} is over")),
        HostEvent::Results { room, game, .. } => (room, format!("results of {}", text(game))),
        HostEvent::Report { room, name, player, value } => {
            let player = optional(player.as_ref());
            (room, format!("{player} {}: {}", text(name), number(*value)))
        }
        HostEvent::Audit(act) => {
            let [by, what] = [&act.by, &act.act].map(|it| text(it));
            let [whom, why] = [&act.whom, &act.why].map(|it| optional(it.as_ref()));
            return format!("{by} ({}): {what} {whom} {why}", act.role);
        }
    };
    format!("[{}] {line}", printable(room))
}

/// Formats a chat line; the host's has no name.
fn said(room: Option<&str>, name: Option<&str>, text: &str) -> String {
    let room = room.map_or_else(String::new, |room| format!("[{}] ", printable(room)));
    match name {
        Some(name) => format!("{room}{}: {}", printable(name), printable(text)),
        None => format!("{room}* {}", printable(text)),
    }
}

/// Formats an optional text. Players choose their names, so it is made safe to print.
fn optional(text: Option<&String>) -> String {
    text.map(|text| printable(text)).unwrap_or_default()
}

/// Formats seconds as minutes and seconds.
fn length(secs: u64) -> String {
    format!("{}:{:02}", secs / 60, secs % 60)
}

/// Formats names: the first few, and how many others there are.
fn some_of(names: &[String]) -> String {
    let mut shown: Vec<_> = names.iter().take(NAMES_MAX).map(|name| printable(name)).collect();
    match names.len().saturating_sub(NAMES_MAX) {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    shown.join(", ")
}

/// Formats sentences, one per line.
fn sentences(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Formats a number as JSON does, so that it can be compared with the answer.
fn number(value: f64) -> String {
    Value::from(value).to_string()
}

fn millis(ms: Option<f64>) -> String {
    ms.map_or_else(String::new, |ms| format!("{ms:.1} ms"))
}

/// Returns the time of day of a Unix time in milliseconds.
fn clock(unix_ms: i64) -> String {
    let secs = unix_ms / 1000;
    format!("{:02}:{:02}:{:02}", secs / 3600 % 24, secs / 60 % 60, secs % 60)
}

/// A column of a table: its heading, and the cell of a row.
type Column<T> = (&'static str, fn(&T) -> String);

/// Formats a table; empty if it has no rows.
fn table<T>(all: &[T], columns: &[Column<T>]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let head: Vec<_> = columns.iter().map(|(head, _)| (*head).to_owned()).collect();
    let rows = all.iter().map(|row| columns.iter().map(|(_, cell)| cell(row)).collect());
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_sentence_has_its_own_line() {
        let done = "Ada is no longer banned\n192.0.2.7 is\u{7} no longer banned".to_owned();
        let shown = Done { done }.text();
        assert_eq!(shown, "Ada is no longer banned\n192.0.2.7 is no longer banned");
        assert_eq!(Done { done: "it is said".into() }.text(), "it is said");
        // A name is not split into sentences.
        let joined = json!({ "room": "1", "seat": 1, "name": "A\nda", "key": "", "address": "x" });
        assert_eq!(event("joined", joined), "[1] Ada joined from x");
        // A later server may have other events.
        assert_eq!(event("danced", json!({ "name": "Ada" })), r#"danced {"name":"Ada"}"#);
    }
}

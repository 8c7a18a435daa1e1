//! Answers for people: sentences and tables.

use phaselock::wire::text::printable;
use serde_json::Value;

use crate::people::{date, span_text};

/// Shape of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Done,
    Status,
    Players,
    Left,
    Sentences,
    Reload,
    Settings,
    WebhookTests,
    Log,
    Chat,
    Allowed,
    Roles,
    Tokens,
    Token,
    Audit,
    Results,
    Records,
}

/// A column: its head, and a cell of a row.
type Column = (&'static str, fn(&Value) -> String);

/// The answer as text.
pub(super) fn text(value: &Value, shape: Shape) -> String {
    let text = match shape {
        Shape::Done => sentences(&value["done"]),
        Shape::Token => plain(&value["token"]),
        Shape::Status => status(value),
        Shape::Reload => reload(value),
        Shape::Players => table(
            value,
            &[
                ("SEAT", |it| format!("p{}", it["seat"])),
                ("NAME", |it| plain(&it["name"])),
                ("ROOM", |it| plain(&it["room"])),
                ("SCORES", |it| scores(&it["scores"])),
                ("PING", |it| millis(&it["ping"])),
                ("JITTER", |it| millis(&it["jitter"])),
                ("LOSS", |it| format!("{:.1} %", it["loss"].as_f64().unwrap_or(0.0) * 100.0)),
                ("OFFSET", |it| millis(&it["offset"])),
                ("LATE", |it| plain(&it["late_inputs"])),
                ("ROLE", |it| plain(&it["role"])),
                ("ADDRESS", |it| plain(&it["address"])),
                ("KEY", |it| plain(&it["key"]).chars().take(12).collect()),
                ("", |it| match (it["away"].as_bool(), it["muted"].is_null()) {
                    (Some(true), _) => "away".into(),
                    (_, false) => "muted".into(),
                    _ => String::new(),
                }),
            ],
        ),
        Shape::Sentences => table(
            value,
            &[
                ("ID", |it| plain(&it["id"])),
                ("KIND", |it| plain(&it["kind"])),
                ("SUBJECT", |it| plain(&it["subject"])),
                ("NAME", |it| plain(&it["name"])),
                ("UNTIL", |it| time(&it["until"], "forever")),
                ("BY", |it| plain(&it["by"])),
                ("REASON", |it| plain(&it["reason"])),
            ],
        ),
        Shape::Settings => table(
            value,
            &[
                ("SETTING", |it| plain(&it["setting"])),
                ("VALUE", |it| plain(&it["value"])),
                ("ORIGIN", |it| plain(&it["origin"])),
            ],
        ),
        Shape::WebhookTests => table(
            value,
            &[
                ("WEBHOOK", |it| plain(&it["webhook"])),
                ("DELIVERED", |it| plain(&it["delivered"])),
                ("ANSWER", |it| plain(&it["answer"])),
            ],
        ),
        Shape::Log => lines(value, |it| {
            format!("{} {:5} {}", clock(&it["time"]), plain(&it["level"]), plain(&it["text"]))
        }),
        Shape::Chat => lines(value, |it| format!("{} {}", clock(&it["time"]), event("chat", it))),
        Shape::Allowed if value["file"].is_null() => {
            "there is no allow list: everybody may join".into()
        }
        Shape::Allowed => {
            let players = [("NAME", name_of as fn(&Value) -> String), ("KEY", key_of)];
            format!("{}\n{}", plain(&value["file"]), table(&value["players"], &players))
        }
        Shape::Left => table(
            value,
            &[
                ("NAME", |it| plain(&it["name"])),
                ("KEY", |it| plain(&it["key"])),
                ("ADDRESS", |it| plain(&it["address"])),
                ("ROOM", |it| plain(&it["room"])),
                ("LEFT", |it| time(&it["left"], "")),
            ],
        ),
        Shape::Roles => table(
            value,
            &[
                ("ROLE", |it| plain(&it["role"])),
                ("NAME", |it| plain(&it["name"])),
                ("KEY", |it| plain(&it["key"])),
                ("BY", |it| plain(&it["by"])),
            ],
        ),
        Shape::Tokens => table(
            value,
            &[
                ("NAME", |it| plain(&it["name"])),
                ("ROLE", |it| plain(&it["role"])),
                ("MADE", |it| time(&it["made"], "")),
            ],
        ),
        Shape::Audit => table(
            value,
            &[
                ("TIME", |it| time(&it["time"], "")),
                ("BY", |it| plain(&it["by"])),
                ("ROLE", |it| plain(&it["role"])),
                ("ACT", |it| plain(&it["act"])),
                ("WHOM", |it| plain(&it["whom"])),
                ("WHY", |it| plain(&it["why"])),
                ("DETAIL", |it| plain(&it["detail"])),
            ],
        ),
        Shape::Results => table(
            value,
            &[
                ("TIME", |it| time(&it["time"], "")),
                ("ROOM", |it| plain(&it["room"])),
                ("GAME", |it| plain(&it["game"])),
                ("ROUND", |it| plain(&it["round"])),
                ("NUMBERS", |it| numbers(&it["players"])),
            ],
        ),
        Shape::Records => table(
            value,
            &[
                ("GAME", |it| plain(&it["game"])),
                ("NUMBER", |it| plain(&it["measure"])),
                ("VALUE", |it| plain(&it["value"])),
                ("NAME", |it| plain(&it["name"])),
                ("TIME", |it| time(&it["time"], "")),
            ],
        ),
    };
    // The same is true of all that were made at once.
    let note = value[0]["note"].as_str().map(|note| format!("\n{note}"));
    let text = text + &note.unwrap_or_default();
    if text.is_empty() { "none".into() } else { text }
}

fn name_of(row: &Value) -> String {
    plain(&row["name"])
}

fn key_of(row: &Value) -> String {
    plain(&row["key"])
}

/// Numbers of a player now.
fn scores(value: &Value) -> String {
    let of = |it: &Value| format!("{} {}", plain(&it["measure"]), plain(&it["value"]));
    let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Numbers of a round: of each player, with their names.
fn numbers(players: &Value) -> String {
    let of = |it: &Value| {
        format!("{} {} {}", plain(&it["name"]), plain(&it["measure"]), plain(&it["value"]))
    };
    players
        .as_array()
        .map(|all| all.iter().map(of).collect::<Vec<_>>().join(", "))
        .unwrap_or_default()
}

/// A line for an event.
pub(super) fn event(name: &str, value: &Value) -> String {
    let who = plain(&value["name"]);
    let room = match plain(&value["room"]) {
        room if room.is_empty() => String::new(),
        room => format!("[{room}] "),
    };
    match name {
        "chat" if value["name"].is_null() => format!("{room}* {}", plain(&value["text"])),
        "chat" => format!("{room}{who}: {}", plain(&value["text"])),
        "joined" => format!("{room}{who} joined from {}", plain(&value["address"])),
        "left" => format!("{room}{who} left: {}", plain(&value["reason"])),
        "away" => format!("{room}{who} lost the connection"),
        "resumed" => format!("{room}{who} is back"),
        "game" => format!("{room}the game is {who}"),
        "round" => format!("{room}round {} is over", plain(&value["played"])),
        "results" => format!("{room}results of {}", plain(&value["game"])),
        "report" => {
            format!("{room}{} {who}: {}", plain(&value["player"]), plain(&value["value"]))
        }
        "log" => format!("{} {}", plain(&value["level"]), plain(&value["text"])),
        "audit" => format!(
            "{} ({}): {} {} {}",
            plain(&value["by"]),
            plain(&value["role"]),
            plain(&value["act"]),
            plain(&value["whom"]),
            plain(&value["why"])
        ),
        _ => format!("{name} {value}"),
    }
}

/// A value without quotation marks, safe to print: players choose their names.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => printable(text),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Sentences, each on a line of its own.
fn sentences(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

fn millis(value: &Value) -> String {
    value.as_f64().map_or(String::new(), |ms| format!("{ms:.1} ms"))
}

/// A Unix time in seconds.
fn time(value: &Value, never: &str) -> String {
    value.as_i64().map_or(never.to_owned(), date)
}

/// The time of day of a Unix time in milliseconds.
fn clock(value: &Value) -> String {
    let secs = value.as_i64().unwrap_or(0) / 1000;
    format!("{:02}:{:02}:{:02}", secs / 3600 % 24, secs / 60 % 60, secs % 60)
}

fn lines(value: &Value, line: fn(&Value) -> String) -> String {
    let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A table; nothing if it has no rows.
fn table(value: &Value, columns: &[Column]) -> String {
    let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
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

fn deny_list(list: &Value, now: i64) -> String {
    let (name, refused) = (plain(&list["list"]), plain(&list["refused"]));
    let entries = match list["entries"].as_u64() {
        Some(1) => "1 entry".to_owned(),
        _ => format!("{} entries", plain(&list["entries"])),
    };
    let fetched = list["fetched"].as_i64();
    let fetched = fetched
        .map_or_else(String::new, |it| format!(", fetched {} ago", span_text((now - it).max(0))));
    let problem = list["problem"].as_str();
    let problem = problem.map_or_else(String::new, |it| format!("; {}", printable(it)));
    format!("deny list {name}: {entries}, {refused} refused{fetched}{problem}")
}

fn status(value: &Value) -> String {
    let of = |name: &str| plain(&value[name]);
    let up = value["now"].as_i64().unwrap_or(0) - value["started"].as_i64().unwrap_or(0);
    let mut lines = vec![
        format!("{}, version {}, up for {}", of("name"), of("version"), span_text(up)),
        format!(
            "{} of {} players, {} bots, at {}",
            of("players"),
            of("seats"),
            of("bots"),
            of("address")
        ),
        format!("database: {}", of("database")),
    ];
    if of("clock") != "ok" {
        lines.push(format!("clock: {}", of("clock")));
    }
    // Older servers do not report it.
    if let Some(problem) = value["keeping"].as_str().filter(|it| *it != "ok") {
        lines.push(format!("rooms: {}", printable(problem)));
    }
    if let Some(expires) = value["certificate_expires"].as_i64() {
        let left = expires - value["now"].as_i64().unwrap_or(0);
        lines.push(match left {
            ..=0 => format!("certificate: expired on {}; renew it", date(expires)),
            _ => format!("certificate: valid until {}, for {}", date(expires), span_text(left)),
        });
    }
    let failed = |secret: &str| value["failed_logins"][secret].as_u64().unwrap_or(0);
    if failed("tokens") + failed("passwords") > 0 {
        lines.push(format!(
            "failed logins since the start: {} with a wrong token, {} with a wrong password",
            failed("tokens"),
            failed("passwords")
        ));
    }
    let dropped = value["log"]["dropped"].as_u64().unwrap_or(0);
    if dropped > 0 {
        lines.push(format!("log: {dropped} lines were dropped"));
    }
    for directory in value["directories"].as_array().into_iter().flatten() {
        let (address, standing) = (plain(&directory["address"]), plain(&directory["standing"]));
        lines.push(format!("directory {address}: {standing}"));
    }
    for list in value["deny_lists"].as_array().into_iter().flatten() {
        lines.push(deny_list(list, value["now"].as_i64().unwrap_or(0)));
    }
    if let Some(at) = value["next_restart"].as_i64() {
        let left = (at - value["now"].as_i64().unwrap_or(0)).max(0);
        lines.push(format!("next restart: {}, in {}", date(at), span_text(left)));
    }
    if !value["draining"].is_null() {
        lines.push(drain(&value["draining"], value["now"].as_i64().unwrap_or(0)));
    }
    lines.push(String::new());
    lines.push(table(
        &value["rooms"],
        &[
            ("ROOM", |it| plain(&it["code"])),
            ("GAME", |it| plain(&it["game"])),
            ("PLAYERS", |it| format!("{} of {}", it["players"], it["seats"])),
            ("BOTS", |it| plain(&it["bots"])),
            ("ROUND", |it| plain(&it["round"])),
            ("TICK", |it| {
                format!("{} µs, 99 % {}", it["tick_micros"]["mean"], it["tick_micros"]["p99"])
            }),
            ("BUSY", |it| format!("{:.1} %", it["busy"].as_f64().unwrap_or(0.0) * 100.0)),
            ("LATE", |it| plain(&it["late_inputs"])),
            ("PANICS", |it| plain(&it["panics"])),
            ("", |it| if it["asleep"] == true { "asleep".into() } else { String::new() }),
        ],
    ));
    lines.join("\n")
}

/// A drain: the time left, and where players are sent.
fn drain(value: &Value, now: i64) -> String {
    let until = value["until"].as_i64().unwrap_or(now);
    let to = match plain(&value["redirect"]) {
        to if to.is_empty() => String::new(),
        to => format!("; players are sent to {to}"),
    };
    let end = if value["restart"] == true { "restarts" } else { "stops" };
    format!(
        "draining: it takes nobody in, and {end} in {} at the latest, at {}{to}\ngoodbye: {}",
        span_text(until - now),
        date(until),
        plain(&value["text"])
    )
}

fn reload(value: &Value) -> String {
    let line = |it: &Value| {
        let change =
            format!("{}: {} -> {}", plain(&it["setting"]), plain(&it["from"]), plain(&it["to"]));
        match plain(&it["why"]) {
            why if why.is_empty() => change,
            why => format!("{change} ({why})"),
        }
    };
    let part = |name: &str, head: &str| {
        let all = value[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let lines: Vec<_> = all.iter().map(|it| format!("  {}", line(it))).collect();
        (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
    };
    let parts = [part("changed", "in force now:"), part("needs_restart", "needs a restart:")];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "nothing has changed".into() } else { parts.join("\n") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_sentence_has_its_line() {
        let done = json!({ "done": "Ada is no longer banned\n192.0.2.7 is\u{7} no longer banned" });
        let shown = text(&done, Shape::Done);
        assert_eq!(shown, "Ada is no longer banned\n192.0.2.7 is no longer banned");
        assert_eq!(text(&json!({ "done": "it is said" }), Shape::Done), "it is said");
        // A name is no sentence.
        assert_eq!(
            event("joined", &json!({ "name": "A\nda", "address": "x" })),
            "Ada joined from x"
        );
    }
}

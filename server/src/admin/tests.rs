//! The API over TCP, on a server in this process.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Method, Request, Response};

use super::connections::CONNECTIONS_MAX;
use super::page::POLICY;
use super::stream::STREAMS_MAX;
use crate::author::Role;
use crate::tests::{PATIENCE, Served, author, serve};

const METHODS: [Method; 4] = [Method::GET, Method::POST, Method::PUT, Method::DELETE];

fn token(served: &Served, role: Role) -> String {
    served.wait(served.host.make_token(&author(Role::Admin), role.as_str(), role)).expect("a name")
}

fn call(
    served: &Served,
    (method, path): (Method, &str),
    token: Option<&str>,
    body: &str,
) -> Response<String> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(PATIENCE))
        .allow_non_standard_methods(true)
        .build()
        .into();
    let uri = format!("http://{}{path}", served.admin);
    let mut request = Request::builder().method(method).uri(uri);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    if !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    let answer = agent.run(request.body(body.to_owned()).expect("a request")).expect("an answer");
    let (parts, mut body) = answer.into_parts();
    Response::from_parts(parts, body.read_to_string().expect("text"))
}

/// The text of an error.
fn sentence(answer: &Response<String>) -> String {
    let kind = answer.headers().get("content-type").map(|it| it.to_str().unwrap_or_default());
    assert_eq!(kind, Some("application/json"), "{} {}", answer.status(), answer.body());
    let value: Value = serde_json::from_str(answer.body()).expect("JSON");
    let error = value["error"].as_str().expect("an error").to_owned();
    assert!(error.contains(' '), "{error}");
    error
}

#[test]
fn errors_have_a_status_and_a_sentence() {
    let served = serve(&[]);
    let admin = token(&served, Role::Admin);
    let (get, post, delete) = (Method::GET, Method::POST, Method::DELETE);
    let long = json!({ "text": "x".repeat(20_000) }).to_string();
    for (method, path, body, status) in [
        (&post, "/v1/kick", r#"{"who":"nobody"}"#, 404),
        (&post, "/v1/kick", r#"{"who":"nobody","room":"no such room"}"#, 422),
        (&post, "/v1/kick", r#"{"whom":"nobody"}"#, 422),
        (&post, "/v1/bans", r#"{"who":"nobody","fro":"10m"}"#, 422),
        (&post, "/v1/bans", r#"{"key":7}"#, 422),
        (&post, "/v1/bans", r#"["nobody"]"#, 422),
        (&post, "/v1/bans", r#"{"who":"nobody","who":"somebody"}"#, 422),
        (&Method::PUT, "/v1/settings/bots", r#"{"value":"1","value":"2"}"#, 422),
        (&delete, "/v1/bans?who=nobody&who=somebody", "", 400),
        (&post, "/v1/bans", "{}", 400),
        (&post, "/v1/bans", r#"{"key""#, 400),
        (&post, "/v1/bans", "", 415),
        (&post, "/v1/roles", r#"{"who":"nobody","role":"king"}"#, 422),
        (&post, "/v1/say", &*long, 413),
        (&post, "/v1/say", r#"{"text":" "}"#, 409),
        (&post, "/v1/game", r#"{"game":"chess"}"#, 409),
        (&post, "/v1/allow-list", r#"{"key":"00"}"#, 404),
        (&delete, "/v1/allow-list/00", "", 404),
        (&delete, "/v1/mutes?who=nobody", "", 404),
        (&delete, "/v1/bans", "", 400),
        (&get, "/v1/audit?limit=1001", "", 400),
        (&get, "/v1/chat?lines=-1", "", 400),
        (&Method::PUT, "/v1/log-level", r#"{"filter":""}"#, 400),
        (&Method::PUT, "/v1/log-level", r#"{"filter":" "}"#, 400),
        (&delete, "/v1/bans/7", "", 404),
        (&delete, "/v1/bans/first", "", 400),
        (&delete, "/v1/mutes/99999999999999999999", "", 400),
        (&delete, "/v1/tokens/nobody", "", 404),
        (&delete, "/v1/roles/king", "", 400),
        (&get, "/v1/audit?limit=many", "", 400),
        (&get, "/v1/kick", "", 405),
        (&post, "/metrics", "{}", 405),
        (&get, "/v1/nothing", "", 404),
        (&get, "/v2/status", "", 404),
    ] {
        let answer = call(&served, (method.clone(), path), Some(&admin), body);
        assert_eq!(answer.status().as_u16(), status, "{method} {path} {body}: {}", answer.body());
        sentence(&answer);
    }
    std::fs::write(served.dir.path().join("used.db"), "").expect("it can be written");
    let long = "x".repeat(65);
    for file in [
        "used.db",
        "../out.db",
        "/tmp/out.db",
        ".hidden",
        "",
        "a b",
        "a\nb",
        "a\\b",
        "a:b",
        "-x",
        "nul",
        "COM1.db",
        "x.",
        "é",
        &long,
        "key.pem",
        "phaselock.db-wal",
        "Lock",
    ] {
        let body = json!({ "file": file }).to_string();
        let answer = call(&served, (post.clone(), "/v1/backup"), Some(&admin), &body);
        let status = if file == "used.db" { 409 } else { 400 };
        assert_eq!(answer.status(), status, "{file}");
        sentence(&answer);
    }
    assert!(!served.dir.path().with_file_name("out.db").exists());
}

#[test]
fn every_route_is_described_and_requires_a_token() {
    let served = serve(&[]);
    let viewer = token(&served, Role::Viewer);
    let answer = call(&served, (Method::GET, "/openapi.json"), None, "");
    assert_eq!(answer.status(), 200);
    let description: Value = serde_json::from_str(answer.body()).expect("JSON");
    assert_eq!(description["security"], json!([{ "token": [] }]));
    let paths = description["paths"].as_object().expect("paths");
    let told: BTreeSet<_> = paths.keys().map(String::as_str).collect();
    // The contract's, so that none is left out of both.
    let expected = "/v1/me /v1/status /v1/players /v1/kick /v1/bans /v1/bans/{id} \
        /v1/mutes /v1/mutes/{id} /v1/left /v1/say /v1/tell /v1/game /v1/round /v1/drain \
        /v1/restart /v1/reload /v1/config /v1/settings/{name} /v1/webhooks/test /v1/log-level \
        /v1/log /v1/roles /v1/roles/{key} /v1/people/{key} /v1/tokens /v1/tokens/{name} \
        /v1/audit /v1/results /v1/records /v1/backup /v1/events /v1/chat /v1/allow-list \
        /v1/allow-list/{key} /v1/mark /v1/replays /v1/replays/{file}";
    assert_eq!(told, expected.split_whitespace().collect());
    for (path, item) in paths {
        let real = path.replace("{id}", "1").replace("{key}", "00").replace("{name}", "x");
        let real = real.replace("{file}", "x.plr");
        for method in METHODS {
            let told = item.get(method.as_str().to_lowercase());
            let answer = call(&served, (method.clone(), &real), None, "");
            let Some(told) = told else {
                assert_eq!(answer.status(), 405, "{method} {path} is not in the description");
                continue;
            };
            assert_eq!(answer.status(), 401, "{method} {path}");
            assert_eq!(answer.headers()["www-authenticate"], "Bearer");
            assert!(sentence(&answer).contains("token"));
            let wrong = call(&served, (method.clone(), &real), Some("phl_wrong"), "");
            assert_eq!(wrong.status(), 401, "{method} {path}");
            for status in ["401", "403", "421", "500", "503", "504"] {
                assert!(!told["responses"][status].is_null(), "{status} of {method} {path}");
            }
            let content = told["responses"]["200"]["content"].as_object().expect("content");
            if path == "/v1/events" {
                assert!(content.contains_key("text/event-stream"));
                continue;
            }
            let is_file = path == "/v1/replays/{file}" && method == Method::GET;
            match is_file {
                true => assert!(content.contains_key("application/octet-stream")),
                false => assert!(!content["application/json"]["schema"].is_null(), "{path}"),
            }
            // A viewer gets every list, and changes nothing.
            let answer = call(&served, (method.clone(), &real), Some(&viewer), "{}");
            let secret = ["/v1/tokens", "/v1/audit"].contains(&path.as_str()) || is_file;
            match method == Method::GET && !secret {
                true => assert_eq!(answer.status(), 200, "{method} {path}: {}", answer.body()),
                false => {
                    let status = answer.status().as_u16();
                    assert!([403, 422, 400].contains(&status), "{status} for {method} {path}");
                    sentence(&answer);
                }
            }
        }
    }
    assert!(served.host.access.sentences(crate::sentence::Act::Ban, 0).is_empty());
}

#[test]
fn recordings_are_listed_downloaded_and_deleted() {
    let served = serve(&["--game", "race", "--record", "always"]);
    let [viewer, moderator, admin] =
        [Role::Viewer, Role::Moderator, Role::Admin].map(|role| token(&served, role));
    let ask = |method: Method, path: &str, token: &str, body: &str| {
        let answer = call(&served, (method, path), Some(token), body);
        (answer.status().as_u16(), answer.body().clone())
    };
    let mark = r#"{"text":"what a jump"}"#;
    assert_eq!(ask(Method::POST, "/v1/mark", &viewer, mark).0, 403);
    assert_eq!(ask(Method::POST, "/v1/mark", &moderator, mark).0, 200);
    assert_eq!(ask(Method::POST, "/v1/mark", &moderator, r#"{"text":" "}"#).0, 409);
    assert_eq!(ask(Method::POST, "/v1/replays", &viewer, "{}").0, 403);
    assert_eq!(ask(Method::GET, "/v1/replays", &viewer, ""), (200, "[]".to_owned()));
    let dir = served.dir.path().join("replays");
    // Text, so that it is one here too.
    let content = "x".repeat(300_000);
    std::fs::write(dir.join("race.plr"), &content).expect("it can be written");
    std::fs::write(dir.join("growing.plr.part"), "hidden").expect("it can be written");
    let (_, listed) = ask(Method::GET, "/v1/replays", &viewer, "");
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!((&listed[0]["file"], &listed[0]["bytes"]), (&json!("race.plr"), &json!(300_000)));
    for unknown in ["game", "began", "seconds"] {
        assert_eq!(listed[0][unknown], Value::Null);
    }
    assert_eq!(ask(Method::GET, "/v1/replays?skip=1", &viewer, ""), (200, "[]".to_owned()));
    let file = "/v1/replays/race.plr";
    assert_eq!(ask(Method::GET, file, &viewer, "").0, 403);
    assert_eq!(ask(Method::GET, file, &moderator, ""), (200, content));
    for other in ["growing.plr.part", "growing.plr", "..%2Fkey.pem", "none.plr", "..%2Flock"] {
        assert_eq!(ask(Method::GET, &format!("/v1/replays/{other}"), &admin, "").0, 404, "{other}");
    }
    assert_eq!(ask(Method::DELETE, file, &moderator, "").0, 403);
    assert_eq!(ask(Method::DELETE, file, &admin, "").0, 200);
    assert_eq!(ask(Method::DELETE, file, &admin, "").0, 404);
    assert!(!dir.join("race.plr").exists());
}

#[test]
fn last_minutes_are_saved_only_where_something_is_in_memory() {
    let served = serve(&[]);
    let moderator = token(&served, Role::Moderator);
    for body in ["{}", r#"{"room":"elsewhere"}"#] {
        let answer = call(&served, (Method::POST, "/v1/replays"), Some(&moderator), body);
        assert_eq!(answer.status(), 409);
        assert!(sentence(&answer).contains("there is nothing to save"));
    }
}

#[test]
fn a_moment_is_marked_only_in_a_recording() {
    let served = serve(&[]);
    let admin = token(&served, Role::Admin);
    let mark = (Method::POST, "/v1/mark");
    let answer = call(&served, mark, Some(&admin), r#"{"text":"what a jump"}"#);
    assert_eq!(answer.status(), 409);
    assert!(sentence(&answer).contains("not being recorded"));
}

#[test]
fn answers_match_their_schemas() {
    let served = serve(&["--game", "race"]);
    let admin = token(&served, Role::Admin);
    let _ada = served.join("Ada");
    let seen = call(&served, (Method::GET, "/v1/players"), Some(&admin), "");
    let players: Value = serde_json::from_str(seen.body()).expect("JSON");
    let fields = "room seat name key address role joined away idle ping jitter loss offset \
        offset_error late_inputs bytes_out_per_second scores muted";
    let told: BTreeSet<_> = players[0].as_object().expect("her").keys().cloned().collect();
    assert_eq!(told, fields.split_whitespace().map(str::to_owned).collect());
    let seen = call(&served, (Method::GET, "/v1/status"), Some(&admin), "");
    let status: Value = serde_json::from_str(seen.body()).expect("JSON");
    let fields = "name version games address fingerprint started now tick_hz snapshot_hz players \
        seats bots draining next_restart database clock keeping agones certificate_expires \
        failed_logins directories deny_lists log traffic rooms";
    let told: BTreeSet<_> = status.as_object().expect("one").keys().cloned().collect();
    assert_eq!(told, fields.split_whitespace().map(str::to_owned).collect());
    let fields = "code game players seats bots open tick asleep round late_inputs panics busy \
        tick_micros";
    let told: BTreeSet<_> = status["rooms"][0].as_object().expect("one").keys().cloned().collect();
    assert_eq!(told, fields.split_whitespace().map(str::to_owned).collect());
}

#[test]
fn any_spelling_of_bearer_works_and_wrong_tokens_are_counted() {
    let served = serve(&[]);
    let viewer = token(&served, Role::Viewer);
    let status = |authorization: &str| {
        let mut stream = TcpStream::connect(served.admin).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        let request = format!(
            "GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("it takes it");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer.split(' ').nth(1).map(str::to_owned).expect("a status")
    };
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR "] {
        assert_eq!(status(&format!("{scheme} {viewer}")), "200", "{scheme}");
    }
    for bad in [&*viewer, "Basic eDp5", "Bearer", "Bearerphl", ""] {
        assert_eq!(status(bad), "401", "{bad:?}");
    }
    assert_eq!(served.host.status_now().failed_logins.tokens, 0, "none had a token");
    assert_eq!(status("bearer phl_wrong"), "401");
    served.until("the count", |host| host.status_now().failed_logins.tokens == 1);
    let text = call(&served, (Method::GET, "/metrics"), None, "");
    assert!(text.body().contains("phaselock_failed_logins_total{reason=\"token\"} 1"));
}

#[test]
fn earlier_chat_and_scores_are_served() {
    let served = serve(&["--game", "skirmish"]);
    let admin = token(&served, Role::Admin);
    let _ada = served.join("Ada");
    served.wait(served.host.say(&author(Role::Admin), "hello", None)).expect("the line is sent");
    let seen = call(&served, (Method::GET, "/v1/chat?lines=5"), Some(&admin), "");
    let chat: Value = serde_json::from_str(seen.body()).expect("JSON");
    assert_eq!((&chat[0]["text"], &chat[0]["name"]), (&json!("hello"), &Value::Null));
    assert!(chat[0]["time"].as_i64().is_some_and(|time| time > 1_000_000_000_000));
    served.until("her figures", |host| {
        host.figures().borrow().players.iter().any(|it| !it.scores.is_empty())
    });
    let seen = call(&served, (Method::GET, "/v1/players"), Some(&admin), "");
    let players: Value = serde_json::from_str(seen.body()).expect("JSON");
    assert!(players[0]["scores"][0]["measure"].is_string(), "{players}");
    assert!(players[0]["scores"][0]["value"].is_number(), "{players}");
}

#[test]
fn the_allow_list_is_edited_in_its_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("allowed");
    std::fs::write(&file, "# friends\n").expect("it can be written");
    let served = serve(&["--allow-list", file.to_str().expect("text")]);
    let [admin, moderator] = [Role::Admin, Role::Moderator].map(|role| token(&served, role));
    let key = "ab".repeat(32);
    let body = json!({ "key": key, "name": "Ada\nof the \u{7}third floor" }).to_string();
    let ask = |method: Method, path: &str, token: &str, body: &str| {
        let answer = call(&served, (method, path), Some(token), body);
        (answer.status().as_u16(), answer.body().clone())
    };
    assert_eq!(ask(Method::POST, "/v1/allow-list", &moderator, &body).0, 403);
    let (status, text) = ask(Method::POST, "/v1/allow-list", &admin, &body);
    assert_eq!(status, 200, "{text}");
    let told: Value =
        serde_json::from_str(&ask(Method::GET, "/v1/allow-list", &moderator, "").1).expect("JSON");
    let name = told["players"][0]["name"].as_str().expect("a name");
    assert!(name.starts_with("Ada") && !name.contains('\n'), "{name:?}");
    let written = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(written, format!("# friends\n{key} {name}\n"));
    let path = format!("/v1/allow-list/{key}");
    assert_eq!(ask(Method::DELETE, &path, &moderator, "").0, 403);
    assert_eq!(ask(Method::DELETE, &path, &admin, "").0, 200);
    assert_eq!(ask(Method::DELETE, &path, &admin, "").0, 404);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "# friends\n");
    let acts = ask(Method::GET, "/v1/audit", &admin, "").1;
    assert!(acts.contains("\"disallow\"") && acts.contains("\"allow\""), "{acts}");
    // A missing file is reported, and nothing is done.
    std::fs::remove_file(&file).expect("it is there");
    let (status, text) = ask(Method::POST, "/v1/allow-list", &admin, &body);
    assert!(status == 503 && text.contains("cannot change"), "{status} {text}");
}

/// Waits until the server has closed a connection.
fn wait_for_end(mut stream: TcpStream) {
    match stream.read_to_end(&mut Vec::new()) {
        Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
            panic!("the server keeps the connection")
        }
        // Some systems report an error for a connection that was reset.
        _ => {}
    }
}

/// A reader of the event stream.
struct Reader(BufReader<TcpStream>);

impl Reader {
    /// Sends the request, and reads nothing yet.
    fn open(served: &Served, token: &str) -> Self {
        let mut stream = TcpStream::connect(served.admin).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        let request = format!(
            "GET /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("it takes it");
        Self(BufReader::new(stream))
    }

    /// Opens a stream, retrying until a slot is free: the server notices late that another reader
    /// is gone.
    fn open_soon(served: &Served, token: &str) -> Self {
        let begun = Instant::now();
        loop {
            let mut reader = Self::open(served, token);
            if reader.status() == 200 {
                return reader;
            }
            assert!(begun.elapsed() < PATIENCE, "streams without readers stay");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).expect("in time, and text");
        (read > 0).then(|| line.trim_end().to_owned())
    }

    fn status(&mut self) -> u16 {
        let line = self.line().expect("a status");
        line.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a number")
    }

    /// Returns the next event of a name.
    fn next(&mut self, name: &str) -> Value {
        let wanted = format!("event: {name}");
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < PATIENCE, "there is no {name}");
            let line = self.line().expect("the stream continues");
            if line == wanted {
                let data = self.line().expect("data");
                return serde_json::from_str(data.strip_prefix("data: ").expect("data"))
                    .expect("JSON");
            }
        }
    }
}

/// Streams are counted for the whole process, so this is one test.
#[test]
fn streams_send_figures_are_limited_and_end() {
    let served = serve(&[]);
    let (admin, viewer) = (token(&served, Role::Admin), token(&served, Role::Viewer));
    let mut reader = Reader::open(&served, &viewer);
    assert_eq!(reader.status(), 200);
    let first = reader.next("figures");
    assert!(first["status"]["rooms"].is_array() && first["players"].is_array(), "{first}");
    let second = reader.next("figures");
    assert!(second["time"].as_i64() >= first["time"].as_i64());
    let _ada = served.join("Ada");
    assert_eq!(reader.next("joined")["name"], "Ada");
    served.wait(served.host.say(&author(Role::Admin), "hello", None)).expect("the line is sent");
    let said = reader.next("chat");
    assert_eq!((&said["text"], &said["name"]), (&json!("hello"), &Value::Null));
    assert_eq!(reader.next("audit")["act"], "say");

    let mut others: Vec<_> = (1..STREAMS_MAX).map(|_| Reader::open(&served, &admin)).collect();
    for other in &mut others {
        assert_eq!(other.status(), 200);
    }
    let mut one_more = Reader::open(&served, &admin);
    assert_eq!(one_more.status(), 503);
    drop(others);

    // This reader pauses: what does not fit anywhere is dropped, and counted.
    let mut slow = Reader::open_soon(&served, &admin);
    let text = "x".repeat(2000);
    for _ in 0..6000 {
        tracing::info!("{text}");
    }
    let lost = slow.next("lost");
    assert!(lost["count"].as_u64().is_some_and(|count| count > 0), "{lost}");
    slow.next("figures");

    // A stream ends once its token is deleted.
    let mut watched = Reader::open_soon(&served, &viewer);
    watched.next("figures");
    let by = author(Role::Admin);
    served.wait(served.host.drop_token(&by, "viewer")).expect("it is there");
    while watched.line().is_some() {}
}

#[test]
fn the_page_has_its_policy_and_is_not_cached() {
    let served = serve(&[]);
    let page = call(&served, (Method::GET, "/"), None, "");
    assert_eq!(page.status(), 200);
    assert!(
        page.body().starts_with("<!doctype html>") || page.body().starts_with("<!DOCTYPE html>")
    );
    assert_eq!(page.headers()["content-security-policy"], POLICY);
    for path in ["/", "/metrics", "/livez", "/openapi.json", "/v1/me", "/nothing"] {
        let answer = call(&served, (Method::GET, path), None, "");
        let headers = answer.headers();
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert!(!headers.contains_key("access-control-allow-origin"), "{path}");
    }
}

#[test]
fn foreign_host_names_are_refused() {
    let served = serve(&[]);
    let ask = |target: &str, version: &str, hosts: &[&str]| {
        let mut stream = TcpStream::connect(served.admin).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        let hosts: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        let request = format!("GET {target} HTTP/{version}\r\n{hosts}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it takes it");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer
    };
    let status = |answer: &str| answer.split(' ').nth(1).map(str::to_owned).unwrap_or_default();
    for near in [
        "127.0.0.1",
        "127.0.0.1:4434",
        "192.0.2.7:80",
        "[::1]",
        "[::1]:4434",
        "localhost",
        "LocalHost:4434",
        "server:4434",
    ] {
        for path in ["/", "/metrics"] {
            assert_eq!(status(&ask(path, "1.1", &[near])), "200", "{path} of {near}");
        }
    }
    for far in [
        "rebind.example",
        "rebind.example:4434",
        "127.0.0.1.rebind.example",
        "localhost.rebind.example",
        "localhost@rebind.example",
        "localhost.",
        "127.1",
        "",
        ":4434",
    ] {
        for path in ["/", "/metrics", "/livez", "/openapi.json", "/v1/status", "/nothing"] {
            let answer = ask(path, "1.1", &[far]);
            assert_eq!(status(&answer), "421", "{path} of {far}: {answer}");
            assert!(answer.contains("a name without a dot"), "{answer}");
            assert!(answer.contains("cache-control: no-store"), "{answer}");
        }
    }
    assert_eq!(status(&ask("/", "1.0", &[])), "200");
    assert_eq!(status(&ask("/", "1.0", &["rebind.example"])), "421");
    assert_eq!(status(&ask("/", "1.1", &[])), "421");
    assert_eq!(status(&ask("/", "1.1", &["localhost", "rebind.example"])), "421");
    assert_eq!(status(&ask("http://rebind.example/", "1.1", &["localhost"])), "421");
}

#[test]
fn the_probes_show_whether_players_can_join() {
    let served = serve(&[]);
    let _ada = served.join("Ada");
    let status = |path| call(&served, (Method::GET, path), None, "").status().as_u16();
    served.until("being ready", |_| (status("/livez"), status("/readyz")) == (200, 200));
    let drain = crate::api::Drain { within: Some("1h".into()), ..Default::default() };
    served.wait(served.host.drain(&author(Role::Admin), &drain)).expect("it drains");
    served.until("being drained", |_| (status("/livez"), status("/readyz")) == (200, 503));
    served.wait(served.host.undrain(&author(Role::Admin))).expect("the server continues");
    served.until("being ready again", |_| (status("/livez"), status("/readyz")) == (200, 200));
}

#[test]
fn metrics_parse_and_have_bounded_labels() {
    let served = serve(&["--rooms", "2"]);
    let _players = ["Ada", "Bob", "Cyd"].map(|name| served.join(name));
    served.knock("<b>{room=\"x\"}", None).until("an answer", |it| it.joined > 0);
    let answer = call(&served, (Method::GET, "/metrics"), None, "");
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = answer.body();
    assert!(!text.contains("# EOF"));
    assert!(text.contains("# TYPE phaselock_refusals_total counter"));
    let url = format!("http://{}/metrics", served.admin);
    let request = ureq::get(url).header("accept", "application/openmetrics-text, */*;q=0.5");
    let mut open = request.call().expect("an answer");
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(open.headers()["content-type"], kind);
    let open = open.body_mut().read_to_string().expect("text");
    assert!(open.ends_with("# EOF\n") && open.contains("# TYPE phaselock_refusals counter"));
    // Present before the first event: alerts ask for it.
    assert!(text.contains("phaselock_refusals_total{code=\"17\"} 0"));
    let (mut known, mut infinite) = (BTreeSet::new(), 0);
    for line in text.lines().take_while(|line| *line != "# EOF") {
        if let Some(told) = line.strip_prefix("# TYPE ") {
            let (name, kind) = told.split_once(' ').expect("a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(known.insert(name.to_owned()), "{name} is listed twice");
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        assert!(value.parse::<f64>().is_ok_and(|value| value.is_finite()), "{line}");
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let base = ["_total", "_bucket", "_sum", "_count"];
        let base = base.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(known.contains(base) || known.contains(name), "{line} has no type");
        let labels = labels.strip_suffix('}').expect("labels end");
        for label in labels.split(',').filter(|label| !label.is_empty()) {
            let (label, value) = label.split_once('=').expect("a value");
            assert!(
                ["room", "le", "code", "reason", "version", "transport", "outcome"]
                    .contains(&label),
                "{line}"
            );
            assert!(value.starts_with('"') && value.ends_with('"'), "{line}");
            infinite += usize::from(label == "le" && value == "\"+Inf\"");
        }
    }
    let histograms = text.lines().filter(|line| line.ends_with(" histogram")).count();
    assert!(histograms > 0 && infinite >= histograms, "{infinite} ends of {histograms}");
    assert!(!text.contains("Ada") && !text.contains("<b>"), "names are not labels");
}

#[test]
fn a_crowd_of_idle_connections_does_not_block_others() {
    let served = serve(&[]);
    let status = || call(&served, (Method::GET, "/"), None, "").status();
    let mut idle = VecDeque::new();
    for _ in 0..3 * CONNECTIONS_MAX {
        let mut stream = TcpStream::connect(served.admin).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        // Half a request.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost:");
        idle.push_back(stream);
        if idle.len() > CONNECTIONS_MAX {
            // Only a limited number wait at a time: where the system's queue overflows, connections
            // come late, and in any order.
            wait_for_end(idle.pop_front().expect("the oldest"));
        }
    }
    assert_eq!(status(), 200);
    drop(idle);
    assert_eq!(status(), 200);
}

//! Webhooks against a receiver on this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::courier::WAITING_MAX;
use super::delivery::sign;
use super::*;
use crate::api::{HostEvent, NumberView, Punish};
use crate::author::Role;
use crate::clocks::Clocks;
use crate::config::{Topic, WebhookFormat};
use crate::sentence::Act;
use crate::tests::{PATIENCE, author, serve};

const KEY: &[u8] = b"0123456789abcdef";

/// A received request.
struct Got {
    headers: Vec<(String, String)>,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| &**value).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("it is JSON")
    }
}

/// A receiver that answers with these statuses and headers in turn, and then with 204.
fn receiver(answers: &[&str]) -> (SocketAddr, Receiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let (tell, got) = channel();
    let answers: Vec<_> = answers.iter().map(|it| (*it).to_owned()).collect();
    thread::spawn(move || {
        let mut answers = answers.into_iter();
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut headers = Vec::new();
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|len| len > 2) {
                if let Some((name, value)) = line.trim().split_once(": ") {
                    headers.push((name.to_lowercase(), value.to_owned()));
                }
                line.clear();
            }
            let len = headers.iter().find(|(name, _)| name == "content-length");
            let len = len.and_then(|(_, len)| len.parse().ok()).unwrap_or(0);
            let mut body = vec![0; len];
            let _ = reader.read_exact(&mut body);
            let status = answers.next().unwrap_or_else(|| "204 No Content".to_owned());
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = reader.get_mut().write_all(answer.as_bytes());
            let body = String::from_utf8(body).expect("text");
            if tell.send(Got { headers, body }).is_err() {
                return;
            }
        }
    });
    (address, got)
}

fn webhook(address: SocketAddr, format: WebhookFormat) -> Webhook {
    Webhook {
        url: format!("http://{address}/hook"),
        format,
        key: KEY.to_vec(),
        topics: Topic::ALL.to_vec(),
        files: Vec::new(),
    }
}

fn joined(name: &str) -> Arc<Message> {
    let event = HostEvent::Joined {
        room: "1".into(),
        seat: 3,
        name: name.into(),
        key: "ab".repeat(32),
        address: Some("192.0.2.7:1".into()),
    };
    message(&event)
}

fn message(event: &HostEvent) -> Arc<Message> {
    let sender = Sender { name: "Here".into(), fingerprint: "sha256:00".into() };
    Arc::new(Message::new(
        Report::of(event).expect("the client is informed"),
        &sender,
        1_795_430_400,
    ))
}

fn count(counts: &Counts, outcome: &str) -> u64 {
    counts.get().into_iter().find(|(it, _)| *it == outcome).expect("it is counted").1
}

fn until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn signatures_are_those_of_the_standard_webhooks_specification() {
    // Made with Python's hmac and base64 of these inputs.
    let body = r#"{"test": 2432232314}"#;
    let signature = sign(b"0123456789abcdef", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
    assert_eq!(signature, "v1,r94XOxQw8v+vLaVrXIUkFWnEmqNekP5mdIZf2e/Me5o=");
}

#[test]
fn a_failed_delivery_is_retried_with_the_same_identifier() {
    let (address, got) = receiver(&["503 Service Unavailable"]);
    let counts = Arc::new(Counts::default());
    let hook = webhook(address, WebhookFormat::Json);
    let courier = Courier::start(hook, Arc::clone(&counts), Clocks::begin(None)).expect("a thread");
    courier.give(&joined("Ada"));
    let [first, second] = [(); 2].map(|()| got.recv_timeout(PATIENCE).expect("it comes"));
    assert_eq!(first.body, second.body);
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    let time = second.header("webhook-timestamp").parse().expect("a time");
    let signature = sign(KEY, second.header("webhook-id"), time, &second.body);
    assert_eq!(second.header("webhook-signature"), signature);
    let body = second.json();
    assert_eq!(
        (body["event"].as_str(), body["text"].as_str()),
        (Some("joined"), Some("Ada joined 1"))
    );
    assert_eq!(body["data"]["key"], "ab".repeat(32));
    assert!(!second.body.contains("192.0.2.7"), "{}", second.body);
    until("the count", || count(&counts, "delivered") == 1);
    assert_eq!((count(&counts, "failed"), count(&counts, "dropped")), (1, 0));
}

#[test]
fn what_a_receiver_refuses_is_dropped_and_redirects_are_not_followed() {
    let (other, never) = receiver(&[]);
    let moved = format!("307 Temporary Redirect\r\nlocation: http://{other}/");
    let (address, got) = receiver(&["404 Not Found", &moved]);
    let counts = Arc::new(Counts::default());
    let hook = webhook(address, WebhookFormat::Json);
    let courier = Courier::start(hook, Arc::clone(&counts), Clocks::begin(None)).expect("a thread");
    for name in ["Ada", "Bob", "Eve"] {
        courier.give(&joined(name));
    }
    for name in ["Ada", "Bob", "Eve"] {
        let got = got.recv_timeout(PATIENCE).expect("it comes");
        assert_eq!(got.json()["data"]["name"], name);
    }
    until("the count", || count(&counts, "delivered") == 1);
    assert_eq!((count(&counts, "failed"), count(&counts, "dropped")), (2, 2));
    drop(courier);
    assert!(matches!(never.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)));
}

#[test]
fn a_full_queue_drops_the_oldest_and_never_waits() {
    // It accepts connections, and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let counts = Arc::new(Counts::default());
    let hook = webhook(address, WebhookFormat::Json);
    let courier = Courier::start(hook, Arc::clone(&counts), Clocks::begin(None)).expect("a thread");
    for _ in 0..WAITING_MAX + 51 {
        courier.give(&joined("Ada"));
    }
    let dropped = count(&counts, "dropped");
    assert!((50..=51).contains(&dropped), "{dropped}");
    drop(courier);
    // One is in flight, unless the thread has not run yet.
    let dropped = count(&counts, "dropped") - WAITING_MAX as u64;
    assert!((50..=51).contains(&dropped), "{dropped}");
}

#[test]
fn discord_lines_mention_no_one_and_contain_no_key() {
    let (address, got) = receiver(&["429 Too Many Requests\r\nretry-after: 0.1"]);
    let counts = Arc::new(Counts::default());
    let hook = webhook(address, WebhookFormat::Discord);
    let delivery = Delivery::new(hook.clone(), TEST_TIMEOUT, Clocks::begin(None));
    let results = HostEvent::Results {
        room: "1".into(),
        game: "race".into(),
        round: 2,
        numbers: [("Ada", "lap", 31.5), ("Ada", "place", 1.0), ("Bob", "lap", 33.0)]
            .map(|(name, measure, value)| NumberView {
                name: name.into(),
                key: "cd".repeat(32),
                measure: measure.into(),
                value,
            })
            .into(),
    };
    let batch = [joined("@everyone _x_ [a](http://b)"), message(&results)];
    assert_eq!(delivery.batch(batch.iter()), 2);
    let many = vec![joined(&"x".repeat(500)); 9];
    assert_eq!(delivery.batch(many.iter()), 3, "2000 characters");
    let courier = Courier::start(hook, Arc::clone(&counts), Clocks::begin(None)).expect("a thread");
    courier.give(&batch[0]);
    let _ = got.recv_timeout(PATIENCE).expect("it comes");
    courier.give(&batch[1]);
    let text: Vec<_> = (0..2)
        .map(|_| got.recv_timeout(PATIENCE).expect("it comes").json())
        .inspect(|body| assert_eq!(body["allowed_mentions"]["parse"], serde_json::json!([])))
        .map(|body| body["content"].as_str().expect("text").to_owned())
        .collect();
    assert_eq!(text[0], r"**Here** \@everyone \_x\_ \[a\]\(http\://b\) joined 1");
    assert_eq!(
        text[1],
        r"**Here** round 2 of race in 1\: Ada \(lap 31.5, place 1\), Bob \(lap 33\)"
    );
}

#[test]
fn players_sanctions_and_alarms_are_sent() {
    let (address, got) = receiver(&[]);
    let secret = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(secret.path(), "0123456789abcdef0123456789abcdef\r\n").expect("writable");
    let hook = serde_json::json!({
        "url": format!("http://{address}/"), "secret_file": secret.path(),
    });
    let served = serve(&["--webhook", &hook.to_string()]);
    let mut ada = served.join("Ada");
    let next = |event: &str| loop {
        match got.recv_timeout(PATIENCE) {
            Ok(got) if got.json()["event"] == event => return got,
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                panic!("no {event}")
            }
        }
    };
    assert_eq!(next("joined").json()["data"]["name"], "Ada");
    let request = Punish { who: Some("Ada".into()), reason: "rude".into(), ..Punish::default() };
    served
        .wait(served.host.punish(&author(Role::Admin), Act::Ban, &request))
        .expect("an admin may");
    let sanction = next("sanction").json();
    assert_eq!(sanction["text"], "the admin: ban Ada, forever, rude");
    assert_eq!(sanction["data"]["act"], "ban");
    ada.until("being put out", |it| !it.ends.is_empty());
    assert_eq!(next("left").json()["data"]["name"], "Ada");
    let tests = served.wait(served.host.test_webhooks(&author(Role::Admin))).expect("may");
    assert!(tests.len() == 1 && tests[0].delivered, "{tests:?}");
    assert_eq!(next("test").json()["data"]["by"], "the admin");
}

#[test]
fn alarms_are_rate_limited_with_a_count() {
    let line = |level, event, target| crate::logging::LogLine {
        time_unix_millis: 0,
        level,
        target,
        event,
        text: "a thing stands still address=203.0.113.9".into(),
        said: 0..20,
    };
    let mut alarms = Alarms::default();
    let error = line(tracing::Level::ERROR, Some("rooms_stalled"), "phaselock");
    let report = alarms.of(&error).expect("an alarm");
    let sender = Sender { name: "Here".into(), fingerprint: String::new() };
    let message = Message::new(report, &sender, 0);
    assert_eq!(message.markdown, r"**Here** error\: a thing stands still", "no address");
    assert!(message.body.contains("203.0.113.9"), "JSON has the whole line");
    assert!(alarms.of(&error).is_none(), "the client was just informed");
    let other = line(tracing::Level::WARN, Some("server_stalled"), "phaselock");
    assert!(alarms.of(&other).is_some());
    assert!(alarms.of(&line(tracing::Level::INFO, None, "phaselock")).is_none());
    let own =
        line(tracing::Level::WARN, Some("webhook_failing"), "phaselock_server::webhooks::courier");
    assert!(alarms.of(&own).is_none(), "it would go to the webhook that fails");
}

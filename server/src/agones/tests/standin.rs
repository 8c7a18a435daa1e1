//! A stand-in for the sidecar of Agones, written from its published interface: a model that answers
//! requests, and a server that puts it behind a socket.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The head of an answer in chunks.
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// What is wrong with a sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// It takes requests and answers none.
    Silent,
    /// It answers what no sidecar answers.
    Nonsense,
    /// Its answers never end.
    Endless,
    /// It accepts what the cluster then rejects, as after a conflict.
    Loses,
    /// It refuses everything.
    Refuses,
    /// It shows counters and lists, and cannot set them.
    Counts,
    /// The sidecar cannot set the capacity of a list, as in a cluster from Agones 1.53 on.
    Capacity,
}

/// A sidecar and the `GameServer` in its cluster.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) server: Value,
    /// Counts the changes of the `GameServer`.
    pub(super) version: u64,
    /// Method and path of each request.
    pub(super) calls: Vec<String>,
    pub(super) fault: Fault,
    /// Whether the feature gate of counters and lists is on.
    pub(super) has_counts: bool,
    /// Counts the starts of the sidecar; each one ends the watches.
    pub(super) starts: u64,
    allocations: u64,
    /// Whether allocations are dated, which they are not where the sidecar runs without a cluster.
    pub(super) has_dates: bool,
}

impl Model {
    pub(super) fn new() -> Self {
        let server = json!({
            "object_meta": {
                "name": "phaselock-abcde",
                "namespace": "default",
                "uid": "1234",
                "resource_version": "1",
                "generation": "1",
                "creation_timestamp": "1531795395",
                "deletion_timestamp": "0",
                "annotations": { "agones.dev/sdk-version": "1.52.0" },
                "labels": { "agones.dev/fleet": "phaselock" },
            },
            "spec": {
                "health": {
                    "disabled": false,
                    "period_seconds": 4,
                    "failure_threshold": 3,
                    "initial_delay_seconds": 5,
                },
            },
            "status": {
                "state": "Scheduled",
                "address": "192.0.2.7",
                "addresses": [],
                "ports": [{ "name": "default", "port": 7012 }],
                "players": null,
                "counters": {
                    "rooms": { "count": "0", "capacity": "0" },
                    "players": { "count": "5", "capacity": "10" },
                },
                "lists": { "players": { "capacity": "10", "values": ["somebody"] } },
            },
        });
        Self {
            server,
            version: 1,
            calls: Vec::new(),
            fault: Fault::None,
            has_counts: true,
            starts: 1,
            allocations: 0,
            has_dates: true,
        }
    }

    pub(super) fn state(&self) -> &str {
        self.server["status"]["state"].as_str().expect("text")
    }

    fn meta(&mut self, name: &str) -> &mut Map<String, Value> {
        self.server["object_meta"][name].as_object_mut().expect("a map")
    }

    /// Returns a label or annotation of the server.
    pub(super) fn told(&self, kind: &str, key: &str) -> Option<&str> {
        self.server["object_meta"][kind].get(format!("agones.dev/sdk-{key}"))?.as_str()
    }

    /// Returns count and capacity of a counter.
    pub(super) fn counter(&self, name: &str) -> (i64, i64) {
        let counter = &self.server["status"]["counters"][name];
        let number = |key: &str| counter[key].as_str().expect("text").parse().expect("a number");
        (number("count"), number("capacity"))
    }

    /// Returns the values of the list of players.
    pub(super) fn list(&self) -> Vec<&str> {
        let values = self.server["status"]["lists"]["players"]["values"].as_array();
        values.expect("a list").iter().filter_map(Value::as_str).collect()
    }

    /// Moves the server to another address.
    pub(super) fn set_address(&mut self, address: &str) {
        self.server["status"]["address"] = address.into();
        self.version += 1;
    }

    /// Counts this many more players, as an allocation may.
    pub(super) fn raise(&mut self, name: &str, by: i64) {
        let (count, _) = self.counter(name);
        self.server["status"]["counters"][name]["count"] = (count + by).to_string().into();
        self.version += 1;
    }

    /// Adds a value to the list of players, as an allocation may.
    pub(super) fn add(&mut self, value: &str) {
        let values = self.server["status"]["lists"]["players"]["values"].as_array_mut();
        values.expect("a list").push(value.into());
        self.version += 1;
    }

    /// Defines counters and the list with the server's capacities, as in a Fleet.
    pub(super) fn define(&mut self, rooms: i64, seats: i64) {
        let counter = |capacity: i64| json!({ "count": "0", "capacity": capacity.to_string() });
        let status = &mut self.server["status"];
        status["counters"] = json!({ "rooms": counter(rooms), "players": counter(seats) });
        status["lists"] = json!({ "players": { "capacity": seats.to_string(), "values": [] } });
        self.version += 1;
    }

    /// Allocates the server, with these annotations.
    pub(super) fn allocate(&mut self, annotations: &[(&str, &str)]) {
        self.set_state("Allocated");
        for (key, value) in annotations {
            self.meta("annotations").insert(format!("phaselock.dev/{key}"), (*value).into());
        }
    }

    /// Starts the sidecar again, which ends its watches.
    pub(super) fn restart(&mut self) {
        self.starts += 1;
    }

    pub(super) fn set_state(&mut self, state: &str) {
        self.server["status"]["state"] = state.into();
        self.version += 1;
        if state == "Allocated" && self.has_dates {
            self.allocations += 1;
            let time = format!("2026-03-04T18:00:{:02}Z", self.allocations);
            self.meta("annotations").insert("agones.dev/last-allocated".to_owned(), time.into());
        }
    }

    /// Returns the `GameServer` as it is sent.
    pub(super) fn shown(&self) -> Value {
        let mut shown = self.server.clone();
        if !self.has_counts {
            shown["status"]["counters"] = json!({});
            shown["status"]["lists"] = json!({});
        }
        shown
    }

    /// Returns a line of the watch.
    pub(super) fn line(&self) -> String {
        match self.fault {
            Fault::Nonsense => "{\"result\":{\"object_meta\":7}}".to_owned(),
            _ => json!({ "result": self.shown() }).to_string(),
        }
    }

    /// Answers a request with a status and a body. `None` if there is no answer.
    pub(super) fn handle(&mut self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        self.calls.push(format!("{method} {path}"));
        match self.fault {
            Fault::Silent => return None,
            Fault::Nonsense => return Some((200, "<html>\u{7}".to_owned())),
            Fault::Refuses => return Some(error(2, "this sidecar is\nbroken")),
            Fault::None | Fault::Endless | Fault::Loses | Fault::Counts | Fault::Capacity => {}
        }
        let before = (self.server.clone(), self.version);
        let answer = match self.answer(method, path, body) {
            Ok(answer) => (200, answer.to_string()),
            Err((code, message)) => error(code, &message),
        };
        if self.fault == Fault::Loses {
            (self.server, self.version) = before;
        }
        Some(answer)
    }

    fn answer(&mut self, method: &str, path: &str, body: &str) -> Result<Value, (u8, String)> {
        if path == "/health" && body.is_empty() {
            return Err((3, "a body is needed".to_owned()));
        }
        let body: Value = match body {
            "" => Value::Null,
            body => serde_json::from_str(body).map_err(|error| (3, error.to_string()))?,
        };
        match (method, path) {
            ("POST", "/health") => {}
            ("POST", "/ready") => self.set_state("Ready"),
            ("POST", "/allocate") => self.set_state("Allocated"),
            ("POST", "/shutdown") => self.set_state("Shutdown"),
            ("POST", "/reserve") => {
                integer(&body["seconds"]).ok_or((3, "no seconds".to_owned()))?;
                self.set_state("Reserved");
            }
            ("GET", "/gameserver") => return Ok(self.shown()),
            ("PUT", "/metadata/label") => self.set("labels", &body, is_label)?,
            ("PUT", "/metadata/annotation") => self.set("annotations", &body, |_| true)?,
            ("PATCH" | "POST", path) => {
                if !self.has_counts || self.fault == Fault::Counts {
                    return Err((2, "CountsAndLists not enabled".to_owned()));
                }
                match path.strip_prefix("/v1beta1/").and_then(|it| it.split_once('/')) {
                    Some(("counters", name)) => return self.set_counter(name, &body),
                    Some(("lists", name)) => match (method, name.split_once(':')) {
                        ("PATCH", None) => return self.set_list(name, &body),
                        ("POST", Some((name, verb))) => return self.change(name, verb, &body),
                        _ => return Err((5, "Not Found".to_owned())),
                    },
                    _ => return Err((5, "Not Found".to_owned())),
                }
            }
            _ => return Err((5, "Not Found".to_owned())),
        }
        Ok(json!({}))
    }

    fn set(
        &mut self,
        kind: &str,
        body: &Value,
        is_valid: impl Fn(&str) -> bool,
    ) -> Result<(), (u8, String)> {
        let (Some(key), Some(value)) = (body["key"].as_str(), body["value"].as_str()) else {
            return Err((3, "no key or no value".to_owned()));
        };
        if !is_valid(value) {
            return Err((3, format!("invalid label value {value:?} for key {key:?}")));
        }
        self.meta(kind).insert(format!("agones.dev/sdk-{key}"), value.into());
        self.version += 1;
        Ok(())
    }

    fn set_counter(&mut self, name: &str, body: &Value) -> Result<Value, (u8, String)> {
        let counter = &mut self.server["status"]["counters"][name];
        if counter.is_null() {
            return Err((2, format!("counter not found: {name}")));
        }
        let was = |key: &str| integer(&counter[key]).expect("a number");
        let new = |key: &str| integer(&body[key]).unwrap_or_else(|| was(key));
        let (count, capacity) = (new("count"), new("capacity"));
        if !(0..=capacity).contains(&count) {
            return Err((2, "out of range. Count must be within range [0,Capacity]".to_owned()));
        }
        *counter = json!({ "count": count.to_string(), "capacity": capacity.to_string() });
        self.version += 1;
        Ok(json!({ "name": name, "count": count.to_string(), "capacity": capacity.to_string() }))
    }

    /// Sets the capacity of a list. Setting its values is refused in a cluster.
    fn set_list(&mut self, name: &str, body: &Value) -> Result<Value, (u8, String)> {
        if self.fault == Fault::Capacity || !body["values"].is_null() {
            return Err((2, "no gameservers for fleet".to_owned()));
        }
        let list = &mut self.server["status"]["lists"][name];
        if list.is_null() {
            return Err((2, format!("list not found: {name}")));
        }
        let capacity = integer(&body["capacity"]).unwrap_or_default();
        if !(0..=1000).contains(&capacity) {
            return Err((2, "out of range. Capacity must be within range [0,1000]".to_owned()));
        }
        list["capacity"] = capacity.to_string().into();
        self.version += 1;
        Ok(json!({}))
    }

    /// Adds a value to a list, or removes one.
    fn change(&mut self, name: &str, verb: &str, body: &Value) -> Result<Value, (u8, String)> {
        let list = &mut self.server["status"]["lists"][name];
        let capacity = integer(&list["capacity"]).unwrap_or_default();
        let Some(values) = list["values"].as_array_mut() else {
            return Err((2, format!("list not found: {name}")));
        };
        let value = &body["value"];
        let at = values.iter().position(|it| it == value);
        match (verb, at) {
            ("addValue", None) if i64::try_from(values.len()).is_ok_and(|it| it < capacity) => {
                values.push(value.clone());
            }
            ("addValue", None) => {
                return Err((2, "out of range. No available capacity.".to_owned()));
            }
            ("addValue", Some(_)) => {
                return Err((2, format!("already exists. Value: {value} already in List: {name}")));
            }
            ("removeValue", Some(at)) => drop(values.remove(at)),
            ("removeValue", None) => {
                return Err((2, format!("not found: value {value} not in list {name}")));
            }
            _ => return Err((5, "Not Found".to_owned())),
        }
        self.version += 1;
        Ok(json!({ "name": name, "capacity": list["capacity"], "values": list["values"] }))
    }
}

fn error(code: u8, message: &str) -> (u16, String) {
    let status = match code {
        3 => 400,
        5 => 404,
        _ => 500,
    };
    (status, json!({ "code": code, "message": message, "details": [] }).to_string())
}

fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Whether Kubernetes accepts a label's value.
fn is_label(value: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let ends_well = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    value.len() <= 63
        && value.chars().all(is_good)
        && ends_well(value.chars().next())
        && ends_well(value.chars().next_back())
}

#[derive(Debug)]
struct Shared {
    model: Mutex<Model>,
    changed: Condvar,
}

/// A model behind a socket. It ends with the test's process.
#[derive(Clone, Debug)]
pub(super) struct StandIn {
    pub(super) port: u16,
    shared: Arc<Shared>,
}

impl StandIn {
    /// Starts on a port of the system's choice.
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Self::on(listener)
    }

    /// Starts on a listener.
    pub(super) fn on(listener: TcpListener) -> Self {
        let port = listener.local_addr().expect("it is bound").port();
        let shared =
            Arc::new(Shared { model: Mutex::new(Model::new()), changed: Condvar::default() });
        let of_thread = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&of_thread);
                // A client may hang up at any time.
                thread::spawn(move || drop(shared.serve(&stream)));
            }
        });
        Self { port, shared }
    }

    /// Changes or reads the model.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Model) -> T) -> T {
        let done = change(&mut self.shared.model());
        self.shared.changed.notify_all();
        done
    }
}

impl Shared {
    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the requests of a connection.
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut first = String::new();
            reader.read_line(&mut first)?;
            let mut words = first.split(' ').map(str::to_owned);
            let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(()) };
            let mut headers = BTreeMap::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line)?;
                let Some((name, value)) = line.split_once(':') else { break };
                headers.insert(name.to_lowercase(), value.trim().to_owned());
            }
            let length = headers.get("content-length").and_then(|it| it.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body)?;
            if path == "/watch/gameserver" {
                return self.watch(stream);
            }
            let body = String::from_utf8_lossy(&body);
            let (answer, fault) = {
                let mut model = self.model();
                (model.handle(&method, &path, &body), model.fault)
            };
            self.changed.notify_all();
            if fault == Fault::Endless {
                (&*stream).write_all(CHUNKED)?;
                return endless(stream);
            }
            let Some((status, body)) = answer else {
                thread::sleep(Duration::from_secs(60));
                return Ok(());
            };
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", body.len());
            (&*stream).write_all(format!("{head}{body}").as_bytes())?;
        }
    }

    /// Sends each change of the `GameServer`, in chunks that do not end where lines end.
    fn watch(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.write_all(CHUNKED)?;
        let mut sent = 0;
        let starts = self.model().starts;
        loop {
            let (line, fault) = {
                let mut model = self.model();
                while model.version == sent && model.starts == starts {
                    let waited = self.changed.wait(model);
                    model = waited.unwrap_or_else(PoisonError::into_inner);
                }
                if model.starts != starts {
                    return Ok(());
                }
                sent = model.version;
                (model.line() + "\n", model.fault)
            };
            if fault == Fault::Endless {
                return endless(stream);
            }
            let (head, tail) = line.split_at(line.len() / 2);
            for part in [head, tail] {
                stream.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes())?;
            }
        }
    }
}

/// Sends bytes until the client hangs up.
fn endless(mut stream: &TcpStream) -> io::Result<()> {
    let chunk = [b"1000\r\n".as_slice(), &[b' '; 0x1000], b"\r\n"].concat();
    loop {
        stream.write_all(&chunk)?;
    }
}

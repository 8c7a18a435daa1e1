//! The sidecar's REST interface: calls, answers, and a `GameServer`.
//!
//! Written from `sdk.proto` and `beta.proto` of Agones. The sidecar writes 64-bit numbers as text,
//! and null for what is not set.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use phaselock::wire::text::{clip, one_line};
use phaselock_quic::reach::{game_port, known_ip};
use serde_json::{Map, Value, json};

use super::allocation;

/// Prefix that the sidecar puts in front of the keys of labels and annotations.
const PREFIX: &str = "agones.dev/sdk-";
/// Annotation with the time of the last allocation.
const LAST_ALLOCATED: &str = "agones.dev/last-allocated";
/// Maximum characters of a label's value, by the rules of Kubernetes.
const LABEL_CHARS_MAX: usize = 63;
/// Maximum bytes of a state or an error that are kept.
const WORD_BYTES_MAX: usize = 200;
/// Maximum values of a list, by the rules of Agones.
pub(super) const LIST_MAX: usize = 1000;
/// Maximum seconds between signs of life. Arbitrary; an hour, more than anyone configures.
const PERIOD_SECS_MAX: i64 = 3600;
/// The counters and the list that the server keeps right.
pub(super) const ROOMS: &str = "rooms";
pub(super) const PLAYERS: &str = "players";

/// A request to the sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A sign of life.
    Health,
    /// The server can be allocated.
    Ready,
    /// The server is in use.
    Allocate,
    /// The server must be left alone for a while, and is ready again afterwards.
    Reserve { seconds: u32 },
    /// The server is done, and can be deleted.
    Shutdown,
    /// Get the `GameServer`.
    Look,
    /// Set a label.
    Label { key: &'static str, value: String },
    /// Set an annotation.
    Annotation { key: &'static str, value: String },
    /// Set a counter.
    Counter { name: &'static str, count: i64, capacity: i64 },
    /// Set the capacity of a list. From Agones 1.53 on, the sidecar refuses this in a cluster: it
    /// looks for the limits in a Fleet that exists only in Agones' own tests.
    ListCapacity { name: &'static str, capacity: i64 },
    /// Add a value to a list, or remove it. The call that sets the capacity could set all values at
    /// once, but it is refused.
    ListValue { name: &'static str, value: String, is_wanted: bool },
}

/// What a call is about: calls of one kind replace each other.
pub(super) type Kind = (&'static str, &'static str);

impl Call {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Health => ("health", ""),
            Self::Ready => ("ready", ""),
            Self::Allocate => ("allocate", ""),
            Self::Reserve { .. } => ("reserve", ""),
            Self::Shutdown => ("shutdown", ""),
            Self::Look => ("gameserver", ""),
            Self::Label { key, .. } => ("label", key),
            Self::Annotation { key, .. } => ("annotation", key),
            Self::Counter { name, .. } => ("counter", name),
            Self::ListCapacity { name, .. } => ("list capacity", name),
            Self::ListValue { name, .. } => ("list", name),
        }
    }

    /// Returns the method, the path and the body. `None` stands for a request without a body.
    pub(super) fn request(&self) -> (&'static str, String, Option<Value>) {
        let post = |path: &str, body| ("POST", path.to_owned(), Some(body));
        match self {
            Self::Health => post("/health", json!({})),
            Self::Ready => post("/ready", json!({})),
            Self::Allocate => post("/allocate", json!({})),
            Self::Reserve { seconds } => post("/reserve", json!({ "seconds": text(*seconds) })),
            Self::Shutdown => post("/shutdown", json!({})),
            Self::Look => ("GET", "/gameserver".to_owned(), None),
            Self::Label { key, value } => {
                let body = json!({ "key": key, "value": value });
                ("PUT", "/metadata/label".to_owned(), Some(body))
            }
            Self::Annotation { key, value } => {
                let body = json!({ "key": key, "value": value });
                ("PUT", "/metadata/annotation".to_owned(), Some(body))
            }
            Self::Counter { name, count, capacity } => {
                let body = json!({ "count": text(count), "capacity": text(capacity) });
                ("PATCH", format!("/v1beta1/counters/{name}"), Some(body))
            }
            Self::ListCapacity { name, capacity } => {
                let body = json!({ "capacity": text(capacity) });
                ("PATCH", format!("/v1beta1/lists/{name}"), Some(body))
            }
            Self::ListValue { name, value, is_wanted } => {
                let verb = if *is_wanted { "addValue" } else { "removeValue" };
                post(&format!("/v1beta1/lists/{name}:{verb}"), json!({ "value": value }))
            }
        }
    }

    /// Whether the call belongs to the counters and lists, a beta feature that may be missing.
    pub(super) fn is_beta(&self) -> bool {
        matches!(self, Self::Counter { .. } | Self::ListCapacity { .. } | Self::ListValue { .. })
    }

    /// Whether it is no problem of the server if the sidecar refuses this call.
    pub(super) fn may_fail(&self) -> bool {
        matches!(self, Self::ListCapacity { .. })
    }

    /// Whether a failure says that there is nothing to do: the value to add is in the list already,
    /// or the value to remove is not.
    pub(super) fn is_done(&self, failure: &Failure) -> bool {
        let Failure::Refused { message, .. } = failure else { return false };
        match self {
            Self::ListValue { is_wanted: true, .. } => message.contains("already exists"),
            Self::ListValue { is_wanted: false, .. } => {
                message.contains("not found") && !message.contains("list not found")
            }
            _ => false,
        }
    }
}

fn text(number: impl ToString) -> String {
    number.to_string()
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The sidecar did not answer.
    Silent(String),
    /// The sidecar answered with this status and message.
    Refused { status: u16, message: String },
}

/// The body of an answer, or why there is none.
pub(crate) type Answer = Result<String, Failure>;

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Silent(why)
    }
}

impl Failure {
    /// Returns the failure for an answer with an error status. The sidecar sends errors as JSON.
    pub(super) fn refused(status: u16, body: &str) -> Self {
        let message = serde_json::from_str::<Value>(body).ok();
        let message = message.as_ref().and_then(|it| it.get("message")?.as_str());
        Self::Refused { status, message: short(message.unwrap_or("no reason")) }
    }

    /// Whether the sidecar does not have what the call is about: the feature is off, or the Fleet
    /// defines no such counter or list. The sidecar reports both as internal errors.
    pub(super) fn is_missing(&self) -> bool {
        match self {
            Self::Silent(_) => false,
            Self::Refused { status, message } => {
                let says = |words| message.contains(words);
                [404, 501].contains(status) || says("not enabled") || says("not found")
            }
        }
    }
}

/// Returns a text as one printable line that fits into a message.
fn short(text: &str) -> String {
    clip(&one_line(text), WORD_BYTES_MAX).to_owned()
}

/// What Agones knows about this server, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GameServer {
    /// The state, such as `Ready` or `Allocated`.
    pub(super) state: String,
    /// Address and port at which players reach the server; empty and 0 if unknown. The address may
    /// be a name.
    pub(super) address: String,
    pub(super) port: u16,
    /// Interval of the health checks.
    pub(super) period: Option<Duration>,
    /// Time of the last allocation, as text.
    pub(super) last_allocated: String,
    /// Labels and annotations that the server has set, without the prefix.
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    /// Annotations of the allocation.
    pub(super) asked: BTreeMap<String, String>,
    /// Count and capacity of each counter.
    pub(super) counters: BTreeMap<&'static str, (i64, i64)>,
    /// Capacity and values of the list of players, if there is one.
    pub(super) players: Option<(i64, BTreeSet<String>)>,
}

impl GameServer {
    /// Parses an answer to [`Call::Look`].
    pub(super) fn parse(body: &str) -> Result<Self, String> {
        let value = serde_json::from_str::<Value>(body).map_err(|error| error.to_string())?;
        Self::of(&value).ok_or_else(|| "it is not a GameServer".to_owned())
    }

    /// Parses a line of the watch.
    pub(super) fn parse_line(line: &str) -> Result<Self, String> {
        let value = serde_json::from_str::<Value>(line).map_err(|error| error.to_string())?;
        if let Some(error) = value.get("error") {
            let message = error.get("message").and_then(Value::as_str);
            return Err(short(message.unwrap_or("no reason")));
        }
        let result = value.get("result").and_then(Self::of);
        result.ok_or_else(|| "it is not an update of a GameServer".to_owned())
    }

    fn of(value: &Value) -> Option<Self> {
        let empty = Map::new();
        let meta = value.get("object_meta")?.as_object()?;
        let status = value.get("status")?.as_object()?;
        let state = short(status.get("state")?.as_str()?);
        let map = |name| meta.get(name).and_then(Value::as_object).unwrap_or(&empty);
        let own = |map: &Map<String, Value>, prefix: &str| {
            let of = |(key, value): (&String, &Value)| {
                Some((key.strip_prefix(prefix)?.to_owned(), value.as_str()?.to_owned()))
            };
            map.iter().filter_map(of).collect::<BTreeMap<_, _>>()
        };
        let annotations = map("annotations");
        let (address, port) = reached_at(status);
        let period =
            value.get("spec").and_then(|it| number(it.get("health")?.get("period_seconds")?));
        let period = period.filter(|secs| (1..=PERIOD_SECS_MAX).contains(secs));
        let counter = |name: &'static str| {
            let counter = status.get("counters")?.get(name)?;
            Some((name, (number(counter.get("count")?)?, number(counter.get("capacity")?)?)))
        };
        let list = status.get("lists").and_then(|it| it.get(PLAYERS));
        let players = list.and_then(|list| {
            let values = list.get("values").and_then(Value::as_array);
            let values = values.into_iter().flatten().take(LIST_MAX);
            let values = values.filter_map(|it| it.as_str().map(str::to_owned)).collect();
            Some((number(list.get("capacity")?)?, values))
        });
        let last_allocated = annotations.get(LAST_ALLOCATED).and_then(Value::as_str);
        Some(Self {
            state,
            address,
            port,
            period: period.and_then(|secs| u64::try_from(secs).ok()).map(Duration::from_secs),
            last_allocated: short(last_allocated.unwrap_or_default()),
            labels: own(map("labels"), PREFIX),
            annotations: own(annotations, PREFIX),
            asked: own(annotations, allocation::PREFIX),
            counters: [ROOMS, PLAYERS].into_iter().filter_map(counter).collect(),
            players,
        })
    }
}

/// Returns address and port at which players reach a server with this status; empty and 0 if
/// unknown.
fn reached_at(status: &Map<String, Value>) -> (String, u16) {
    let list = |key| status.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ports = list("ports");
    let own = game_port(ports.iter().map(|it| text_of(it, "name")));
    let port = own.and_then(|own| number(ports.get(own)?.get("port")?));
    let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
    let address = status.get("address").and_then(Value::as_str).unwrap_or_default();
    let all = list("addresses").iter().map(|it| (text_of(it, "type"), text_of(it, "address")));
    (known_ip(address, all).map_or_else(|| short(address), |ip| ip.to_string()), port)
}

/// Returns a field of an object; empty if it is no text.
fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Reads a number, which may be written as text.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Turns a text into a label's value: up to 63 letters, digits, dashes, dots and underscores, with
/// a letter or digit at each end.
pub(crate) fn label(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain = text.chars().map(|c| if is_plain(c) { c } else { '-' });
    let plain: String = plain.take(LABEL_CHARS_MAX).collect();
    plain.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

//! Events of the administration API, as the stream sends them.

use phaselock::wire::rooms::RoomCode;
use phaselock::wire::talk::Audience;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::views::ChatView;
use crate::author::Role;

/// A line of the audit log.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs, reason = "as in the audit log")]
pub(crate) struct AuditEvent {
    pub time: i64,
    pub by: String,
    pub role: Role,
    pub act: String,
    pub whom: Option<String>,
    pub why: Option<String>,
    pub detail: Option<String>,
}

/// A player's score in a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub(crate) struct NumberView {
    pub name: String,
    pub key: String,
    pub measure: String,
    pub value: f64,
}

/// An event of the stream: a name and its data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub(crate) enum HostEvent {
    Joined {
        room: String,
        seat: u16,
        name: String,
        key: String,
        address: Option<String>,
    },
    Left {
        room: String,
        seat: u16,
        name: String,
        reason: String,
    },
    Away {
        room: String,
        seat: u16,
        name: String,
        away: bool,
    },
    Resumed {
        room: String,
        seat: u16,
        name: String,
        away: bool,
    },
    Moved {
        room: String,
        seat: u16,
        name: String,
        address: String,
    },
    Renamed {
        room: String,
        seat: u16,
        name: String,
    },
    Chat {
        /// `None` if it was sent to all rooms.
        room: Option<String>,
        /// `None` if the host said it.
        seat: Option<u16>,
        name: Option<String>,
        to: String,
        text: String,
    },
    Game {
        room: String,
        name: String,
    },
    Round {
        room: String,
        played: u32,
    },
    Results {
        room: String,
        game: String,
        round: u32,
        numbers: Vec<NumberView>,
    },
    Report {
        room: String,
        name: String,
        player: Option<String>,
        value: f64,
    },
    Audit(AuditEvent),
}

impl HostEvent {
    /// Returns the event's name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Joined { .. } => "joined",
            Self::Left { .. } => "left",
            Self::Away { .. } => "away",
            Self::Resumed { .. } => "resumed",
            Self::Moved { .. } => "moved",
            Self::Renamed { .. } => "renamed",
            Self::Chat { .. } => "chat",
            Self::Game { .. } => "game",
            Self::Round { .. } => "round",
            Self::Results { .. } => "results",
            Self::Report { .. } => "report",
            Self::Audit(_) => "audit",
        }
    }

    /// Returns the event's data as JSON.
    pub(crate) fn data(&self) -> Value {
        // Cannot fail: there are only strings, numbers and finite values.
        let mut event = serde_json::to_value(self).unwrap_or_default();
        event["data"].take()
    }

    /// Returns the event of this name and data, or `None` if there is no such event.
    pub(crate) fn read(name: &str, data: Value) -> Option<Self> {
        serde_json::from_value(json!({ "event": name, "data": data })).ok()
    }

    /// Returns the chat line if this event is one. `time` is a Unix time in milliseconds.
    pub(crate) fn chat_line(&self, time: i64) -> Option<ChatView> {
        let Self::Chat { room, seat, name, to, text } = self else { return None };
        Some(ChatView {
            time,
            room: room.clone(),
            seat: *seat,
            name: name.clone(),
            to: to.clone(),
            text: text.clone(),
        })
    }

    /// Returns the event of a line that the host said in one room, or in all (`None`).
    pub(crate) fn said(room: Option<&RoomCode>, text: &str) -> Self {
        let room = room.map(|code| code.as_str().to_owned());
        let (to, text) = (Audience::All.name().to_owned(), text.to_owned());
        Self::Chat { room, seat: None, name: None, to, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_a_round_trip() {
        let (room, name) = (|| "lobby".to_owned(), || "Ada".to_owned());
        let all = [
            HostEvent::Joined { room: room(), seat: 1, name: name(), key: name(), address: None },
            HostEvent::Left { room: room(), seat: 1, name: name(), reason: name() },
            HostEvent::Away { room: room(), seat: 1, name: name(), away: true },
            HostEvent::Resumed { room: room(), seat: 1, name: name(), away: false },
            HostEvent::Moved { room: room(), seat: 1, name: name(), address: name() },
            HostEvent::Renamed { room: room(), seat: 1, name: name() },
            HostEvent::said(None, "hello"),
            HostEvent::Game { room: room(), name: name() },
            HostEvent::Round { room: room(), played: 1 },
            HostEvent::Results { room: room(), game: name(), round: 1, numbers: Vec::new() },
            HostEvent::Report { room: room(), name: name(), player: None, value: 0.5 },
        ];
        for event in all {
            let read = HostEvent::read(event.name(), event.data());
            let read = read.unwrap_or_else(|| panic!("{event:?} has another name"));
            assert_eq!(format!("{read:?}"), format!("{event:?}"));
        }
        assert!(HostEvent::read("nothing", Value::Null).is_none());
    }
}

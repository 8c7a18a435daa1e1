//! The host's things as the interface shows them.

use phaselock::identity::PublicKey;
use phaselock::server::MemberStats;
use phaselock::time::Micros;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::talk::Audience;
use phaselock_quic::server::{Measured, RoomFigures};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Host, IN_MEMORY, Person};
use crate::clocks::Now;
use crate::deny::DenyListView;
use crate::people::{GivenRole, Role, Sentence};
use crate::store::{AuditLine, Written};

/// State of a server.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct StatusView {
    /// The server's name.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Names of its games.
    pub games: Vec<String>,
    /// Addresses that it listens on.
    pub address: Vec<String>,
    /// Its certificate's fingerprint.
    pub fingerprint: String,
    /// Directories that it is announced to.
    pub directories: Vec<DirectoryView>,
    /// Deny lists.
    pub deny_lists: Vec<DenyListView>,
    /// Unix time in seconds of its start.
    pub started: i64,
    /// Unix time in seconds.
    pub now: i64,
    /// Ticks a second.
    pub tick_hz: u32,
    /// Snapshots a second.
    pub snapshot_hz: u32,
    /// People who play.
    pub players: u32,
    /// Seats for people.
    pub seats: u32,
    /// Bots that play.
    pub bots: u32,
    /// Set while the server is drained.
    pub draining: Option<DrainView>,
    /// Unix time in seconds of the next restart of the schedule; none if there is none.
    pub next_restart: Option<i64>,
    /// `ok`, or a sentence on what is wrong.
    pub database: String,
    /// `ok`, or a sentence on a system clock that jumped.
    pub clock: String,
    /// `ok`, or a sentence on why rooms cannot be saved for the next start.
    pub keeping: String,
    /// Unix time in seconds at which the certificate expires; none if it never does.
    pub certificate_expires: Option<i64>,
    /// Logins that failed since the start.
    pub failed_logins: FailedLoginsView,
    /// State of the log.
    pub log: LogView,
    /// Packets since the start.
    pub traffic: TrafficView,
    /// All rooms.
    pub rooms: Vec<RoomView>,
}

/// A directory.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DirectoryView {
    /// Its address.
    pub address: String,
    /// `listed`, `asking`, or a sentence on why the server is not listed.
    pub standing: String,
}

/// A drain.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DrainView {
    /// Unix time in seconds of the end.
    pub until: i64,
    /// Goodbye.
    pub text: String,
    /// The server that players are sent to, as `host:port`.
    pub redirect: Option<String>,
    /// True if the server starts again by itself.
    pub restart: bool,
}

/// Logins that failed.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct FailedLoginsView {
    /// Requests with an unknown token.
    pub tokens: u64,
    /// Players with a wrong password.
    pub passwords: u64,
}

/// State of the log.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct LogView {
    /// Lines written.
    pub written: u64,
    /// Lines dropped.
    pub dropped: u64,
    /// Filter in force.
    pub filter: String,
}

/// UDP packets since the start.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TrafficView {
    pub packets_in: u64,
    pub packets_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// Durations in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TickView {
    pub mean: u64,
    pub p99: u64,
    pub max: u64,
}

/// A room.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoomView {
    /// Its code.
    pub code: String,
    /// Name of the game.
    pub game: String,
    /// People who play.
    pub players: u16,
    /// Seats for people.
    pub seats: u16,
    /// Bots that play.
    pub bots: u16,
    /// True if anybody is led there.
    pub open: bool,
    /// The world's tick.
    pub tick: u64,
    /// True if the room stands still, since nobody is in it.
    pub asleep: bool,
    /// Rounds played.
    pub round: u32,
    /// Inputs that came after their tick, since the start.
    pub late_inputs: u64,
    /// Times that its rules panicked.
    pub panics: u32,
    /// Part of a processor core that it took in the last second.
    pub busy: f64,
    /// Ticks of the last second.
    pub tick_micros: TickView,
}

/// A player.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PlayerView {
    /// Code of the room.
    pub room: String,
    /// The seat.
    pub seat: u16,
    /// The player's name.
    pub name: String,
    /// The player's key in hexadecimal digits.
    pub key: String,
    /// Address and port, as far as known.
    pub address: Option<String>,
    /// The player's role, if there is one.
    pub role: Option<Role>,
    /// Unix time in seconds of the join.
    pub joined: i64,
    /// The connection is lost, and the seat is kept.
    pub away: bool,
    /// Time since the player last did something, in seconds.
    pub idle: i64,
    /// Round trip in milliseconds.
    pub ping: Option<f64>,
    /// Variation of the way's time in milliseconds.
    pub jitter: Option<f64>,
    /// Part of the input packets of the last seconds that were lost.
    pub loss: f64,
    /// Server time less the client's clock, in milliseconds.
    pub offset: Option<f64>,
    /// Bound of the offset's error in milliseconds.
    pub offset_error: Option<f64>,
    /// Inputs that came after their tick.
    pub late_inputs: u64,
    /// Bytes of snapshots in the last second.
    pub bytes_out_per_second: u64,
    /// The player's numbers in the game now, such as points.
    pub scores: Vec<ScoreView>,
    /// Set while the player may not speak.
    pub muted: Option<MuteView>,
}

/// One of a player's numbers in a game.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ScoreView {
    /// Its name, such as `points`.
    pub measure: String,
    /// The number.
    pub value: f64,
}

/// A line of the chat.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChatView {
    /// Unix time in milliseconds.
    pub time: i64,
    /// Code of the room; none for all rooms.
    pub room: Option<String>,
    /// The speaker's seat; none for the host.
    pub seat: Option<u16>,
    /// The speaker's name; none for the host.
    pub name: Option<String>,
    /// `all` or `side`.
    pub to: String,
    /// The line.
    pub text: String,
}

/// The list of players who may join.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AllowListView {
    /// Its file; none if there is no list, and everybody may join.
    pub file: Option<String>,
    /// The players who may join.
    pub players: Vec<AllowedView>,
}

/// A player who may join.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AllowedView {
    /// The player's key.
    pub key: String,
    /// The note after the key, such as a name; may be empty.
    pub name: String,
}

/// A mute in force.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MuteView {
    /// Unix time in seconds of its end; none for ever.
    pub until: Option<i64>,
    /// Reason.
    pub reason: String,
}

/// A ban or a mute.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SentenceView {
    /// Its number.
    pub id: i64,
    /// `key`, `address` or `network`.
    pub kind: String,
    /// The key, address or network.
    pub subject: String,
    /// Name of the player at the time.
    pub name: Option<String>,
    /// Reason.
    pub reason: String,
    /// The token or player who made it.
    pub by: String,
    /// Unix time in seconds.
    pub made: i64,
    /// Unix time in seconds of its end; none for ever.
    pub until: Option<i64>,
    /// A sentence, where it was made just now and is not on the disk yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

impl SentenceView {
    /// The view of one that was made just now.
    pub(crate) fn made(it: &Sentence, written: Written) -> Self {
        let note = (written == Written::Later).then_some(IN_MEMORY);
        Self { note, ..Self::from(it) }
    }
}

impl From<&Sentence> for SentenceView {
    fn from(it: &Sentence) -> Self {
        Self {
            id: it.id,
            kind: it.subject.kind().to_owned(),
            subject: it.subject.to_string(),
            name: it.name.clone(),
            reason: it.reason.clone(),
            by: it.author.clone(),
            made: it.made,
            until: it.until,
            note: None,
        }
    }
}

/// Somebody who has left.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LeftView {
    /// The player's name.
    pub name: String,
    /// The player's key.
    pub key: String,
    /// Where the player's connection came from.
    pub address: Option<String>,
    /// Code of the room.
    pub room: String,
    /// Unix time in seconds of the end.
    pub left: i64,
}

/// A role of a player.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoleView {
    /// The player's key.
    pub key: String,
    /// The player's name when it was given.
    pub name: Option<String>,
    /// The role.
    pub role: Role,
    /// The token or player who gave it.
    pub by: String,
    /// Unix time in seconds.
    pub made: i64,
}

impl RoleView {
    /// The view of a given role.
    pub fn of(key: PublicKey, given: GivenRole) -> Self {
        let GivenRole { name, role, author, made } = given;
        Self { key: key.to_string(), name, role, by: author, made }
    }
}

/// A token of the interface, without its secret.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TokenView {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Unix time in seconds.
    pub made: i64,
}

/// A setting in force.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SettingView {
    /// Its name in the file.
    pub setting: String,
    /// Its value; secrets are hidden.
    pub value: String,
    /// The source of the value.
    pub origin: String,
}

/// All that is measured, once a second.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct Figures {
    /// Unix time in milliseconds.
    pub time: i64,
    /// The server.
    pub status: StatusView,
    /// Its players.
    pub players: Vec<PlayerView>,
}

/// An act.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[allow(missing_docs, reason = "as in the audit log")]
pub struct AuditEvent {
    pub time: i64,
    pub by: String,
    pub role: Role,
    pub act: String,
    pub whom: Option<String>,
    pub why: Option<String>,
    pub detail: Option<String>,
}

impl AuditEvent {
    pub(super) fn of(line: &AuditLine) -> Self {
        Self {
            time: line.time,
            by: line.author.clone(),
            role: line.role,
            act: line.act.to_owned(),
            whom: line.whom.clone(),
            why: line.why.clone(),
            detail: line.detail.clone(),
        }
    }
}

/// A player's number in a round.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct NumberView {
    pub name: String,
    pub key: String,
    pub measure: &'static str,
    pub value: f64,
}

/// News of the host, each with a name.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum HostEvent {
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
        room: Option<String>,
        seat: Option<u16>,
        name: Option<String>,
        to: &'static str,
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
    /// Its name in the stream.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Joined { .. } => "joined",
            Self::Left { .. } => "left",
            Self::Away { away: true, .. } => "away",
            Self::Away { .. } => "resumed",
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

    /// The line of the chat that it is, at a Unix time in milliseconds.
    pub(super) fn chat_line(&self, time: i64) -> Option<ChatView> {
        let Self::Chat { room, seat, name, to, text } = self else { return None };
        Some(ChatView {
            time,
            room: room.clone(),
            seat: *seat,
            name: name.clone(),
            to: (*to).to_owned(),
            text: text.clone(),
        })
    }

    /// The host said a line, in a room or in all.
    pub(super) fn said(room: Option<&RoomCode>, text: &str) -> Self {
        let room = room.map(|code| code.as_str().to_owned());
        Self::Chat { room, seat: None, name: None, to: Audience::All.name(), text: text.to_owned() }
    }
}

fn millis(span: Micros) -> f64 {
    span.0 as f64 / 1000.0
}

fn score((measure, value): &(&'static str, f64)) -> ScoreView {
    ScoreView { measure: (*measure).to_owned(), value: *value }
}

impl RoomView {
    /// The view of a room; `busy` is its part of a core.
    pub(super) fn of(figures: &RoomFigures, busy: f64) -> Self {
        let RoomFigures { status, is_open, panics, rounds, measured, .. } = figures;
        let Measured { tick, is_asleep, inputs, last_second, .. } = &**measured;
        Self {
            code: status.code.as_str().to_owned(),
            game: status.game.clone(),
            players: status.players,
            seats: status.players_max,
            bots: status.bots,
            open: *is_open,
            tick: *tick,
            asleep: *is_asleep,
            round: *rounds,
            late_inputs: inputs.late,
            panics: *panics,
            busy,
            tick_micros: TickView {
                mean: last_second.mean,
                p99: last_second.p99,
                max: last_second.max,
            },
        }
    }
}

impl Host {
    /// The list of players who may join.
    pub fn allow_list(&self) -> AllowListView {
        let list = self.config.borrow().allow_list.clone();
        let file = list.as_ref().map(|list| list.path.display().to_string());
        let keys = list.map(|list| list.keys).unwrap_or_default();
        let view = |(key, name): (PublicKey, String)| AllowedView { key: key.to_string(), name };
        AllowListView { file, players: keys.into_iter().map(view).collect() }
    }

    /// Players who have left, the last one first.
    pub fn left(&self) -> Vec<LeftView> {
        let now = self.clocks.now();
        let view = |(person, left): &(Person, i64)| LeftView {
            name: person.name.clone(),
            key: person.key.to_string(),
            address: person.address.map(|it| it.to_string()),
            room: person.room.as_str().to_owned(),
            left: now.unix_at(*left),
        };
        self.roster().left().map(view).collect()
    }

    /// The view of a player, with the counts of the look before.
    pub(super) fn player_view(
        &self,
        person: &Person,
        figures: Option<&phaselock::server::PlayerFigures>,
        before: MemberStats,
        now: Now,
    ) -> PlayerView {
        let mute = self.mute_of(person, now.unix);
        let stats = figures.map(|it| it.stats).unwrap_or_default();
        let missing = stats.missing.saturating_sub(before.missing) as f64;
        let accepted = stats.accepted.saturating_sub(before.accepted) as f64;
        let sum = missing + accepted;
        let known = figures.filter(|it| it.round_trip.is_some());
        PlayerView {
            room: person.room.as_str().to_owned(),
            seat: person.player.0,
            name: person.name.clone(),
            key: person.key.to_string(),
            address: person.address.map(|it| it.to_string()),
            role: self.book.role(person.key),
            joined: now.unix_at(person.joined),
            away: figures.is_some_and(|it| it.is_away),
            idle: figures.map_or(0, |it| it.idle.0 / 1_000_000),
            ping: known.and_then(|it| it.round_trip).map(millis),
            jitter: known.map(|it| millis(it.jitter)),
            loss: if sum > 0.0 { missing / sum } else { 0.0 },
            offset: figures.and_then(|it| it.offset).map(|it| it.0 as f64 / 1000.0),
            offset_error: figures.and_then(|it| it.error_max).map(millis),
            late_inputs: stats.late,
            bytes_out_per_second: stats.bytes.saturating_sub(before.bytes),
            scores: figures.map_or_else(Vec::new, |it| it.scores.iter().map(score).collect()),
            muted: mute.map(|it| MuteView { until: it.until, reason: it.reason }),
        }
    }
}

//! Answers of the administration API.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::author::Role;

/// State of a server.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct StatusView {
    /// The server's name.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Names of the server's games.
    pub games: Vec<String>,
    /// Addresses that the server listens on.
    pub address: Vec<String>,
    /// Fingerprint of the server's certificate.
    pub fingerprint: String,
    /// Directories that the server is announced to.
    pub directories: Vec<DirectoryView>,
    /// Deny lists.
    pub deny_lists: Vec<DenyListView>,
    /// Unix time of the start, in seconds.
    pub started: i64,
    /// Unix time now, in seconds.
    pub now: i64,
    /// Ticks per second.
    pub tick_hz: u32,
    /// Snapshots per second.
    pub snapshot_hz: u32,
    /// Players in the game, without bots.
    pub players: u32,
    /// Seats for players.
    pub seats: u32,
    /// Bots in the game.
    pub bots: u32,
    /// Set while the server is draining.
    pub draining: Option<DrainView>,
    /// Unix time of the next scheduled restart, in seconds; null if none is scheduled.
    pub next_restart: Option<i64>,
    /// `ok`, or what is wrong with the database.
    pub database: String,
    /// `ok`, or how the system clock jumped.
    pub clock: String,
    /// `ok`, or why rooms cannot be saved for the next start.
    pub keeping: String,
    /// The server's state in Agones, or what is wrong with that; null if Agones is off.
    pub agones: Option<String>,
    /// Unix time at which the certificate expires, in seconds; null if it never does.
    pub certificate_expires: Option<i64>,
    /// Failed logins since the start.
    pub failed_logins: FailedLoginsView,
    /// State of the log.
    pub log: LogView,
    /// Traffic since the start.
    pub traffic: TrafficView,
    /// All rooms.
    pub rooms: Vec<RoomView>,
}

/// A directory.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct DirectoryView {
    /// Address of the directory.
    pub address: String,
    /// `listed`, `asking`, or why the server is not listed.
    pub standing: String,
}

/// State of a drain.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct DrainView {
    /// Unix time at which the server stops at the latest, in seconds.
    pub until: i64,
    /// Message that players see at the end.
    pub text: String,
    /// Server that players are sent to, as `host:port`.
    pub redirect: Option<String>,
    /// Whether the server restarts afterwards.
    pub restart: bool,
}

/// Numbers of failed logins.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct FailedLoginsView {
    /// Requests with a wrong token.
    pub tokens: u64,
    /// Players with a wrong password.
    pub passwords: u64,
}

/// State of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct LogView {
    /// Lines written.
    pub written: u64,
    /// Lines dropped.
    pub dropped: u64,
    /// The log filter in force.
    pub filter: String,
}

/// UDP traffic since the start.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub(crate) struct TrafficView {
    pub packets_in: u64,
    pub packets_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// Tick durations, in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub(crate) struct TickView {
    pub mean: u64,
    pub p99: u64,
    pub max: u64,
}

/// A room.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RoomView {
    /// Code of the room.
    pub code: String,
    /// Name of the game.
    pub game: String,
    /// Players in the game, without bots.
    pub players: u16,
    /// Seats for players.
    pub seats: u16,
    /// Bots in the game.
    pub bots: u16,
    /// Whether players are sent here without asking for this room.
    pub open: bool,
    /// Current tick of the world.
    pub tick: u64,
    /// Whether the room is paused because it is empty.
    pub asleep: bool,
    /// Rounds played.
    pub round: u32,
    /// Inputs that arrived after their tick, since the start.
    pub late_inputs: u64,
    /// Panics of the game's rules.
    pub panics: u32,
    /// Share of a processor core used in the last second.
    pub busy: f64,
    /// Tick durations of the last second.
    pub tick_micros: TickView,
}

/// A player.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct PlayerView {
    /// Code of the room.
    pub room: String,
    /// Seat number.
    pub seat: u16,
    /// The player's name.
    pub name: String,
    /// The player's key in hexadecimal digits.
    pub key: String,
    /// Address and port, if known.
    pub address: Option<String>,
    /// The player's role, if there is one.
    pub role: Option<Role>,
    /// Unix time of the join, in seconds.
    pub joined: i64,
    /// Whether the connection is lost and the seat is held.
    pub away: bool,
    /// Seconds since the player last did something.
    pub idle: i64,
    /// Round-trip time, in milliseconds.
    pub ping: Option<f64>,
    /// Jitter of the transit time, in milliseconds.
    pub jitter: Option<f64>,
    /// Share of input packets lost in the last seconds.
    pub loss: f64,
    /// Server time minus the client's clock, in milliseconds.
    pub offset: Option<f64>,
    /// Error bound of the offset, in milliseconds.
    pub offset_error: Option<f64>,
    /// Inputs that arrived after their tick.
    pub late_inputs: u64,
    /// Snapshot bytes sent in the last second.
    pub bytes_out_per_second: u64,
    /// The player's scores in the current game.
    pub scores: Vec<ScoreView>,
    /// Set while the player is muted.
    pub muted: Option<MuteView>,
}

/// One of a player's scores in a game.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ScoreView {
    /// Name of the score, such as `points`.
    pub measure: String,
    /// Value of the score.
    pub value: f64,
}

/// A line of the chat.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ChatView {
    /// Unix time in milliseconds.
    pub time: i64,
    /// Code of the room; null if the line went to all rooms.
    pub room: Option<String>,
    /// The speaker's seat; null for the host.
    pub seat: Option<u16>,
    /// The speaker's name; null for the host.
    pub name: Option<String>,
    /// `all` or `side`.
    pub to: String,
    /// Text of the line.
    pub text: String,
}

/// The allow list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct AllowListView {
    /// File of the list; null if there is no list and anyone may join.
    pub file: Option<String>,
    /// The players who may join.
    pub players: Vec<AllowedView>,
}

/// An entry of the allow list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct AllowedView {
    /// The player's key.
    pub key: String,
    /// Note after the key, such as a name; may be empty.
    pub name: String,
}

/// A mute in force.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct MuteView {
    /// Unix time at which it ends, in seconds; null if it never does.
    pub until: Option<i64>,
    /// Reason.
    pub reason: String,
}

/// A ban or a mute.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SentenceView {
    /// Number of the ban or mute.
    pub id: i64,
    /// `key`, `address` or `network`.
    pub kind: String,
    /// The key, address or network.
    pub subject: String,
    /// The player's name at the time.
    pub name: Option<String>,
    /// Reason.
    pub reason: String,
    /// Name of the token or player that decided it.
    pub by: String,
    /// Unix time at which it was decided, in seconds.
    pub made: i64,
    /// Unix time at which it ends, in seconds; null if it never does.
    pub until: Option<i64>,
    /// Set if it was made just now and is not on the disk yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A player who has left.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct LeftView {
    /// The player's name.
    pub name: String,
    /// The player's key.
    pub key: String,
    /// Address of the player's connection.
    pub address: Option<String>,
    /// Code of the room.
    pub room: String,
    /// Unix time at which the player left, in seconds.
    pub left: i64,
}

/// A role of a player.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RoleView {
    /// The player's key.
    pub key: String,
    /// The player's name when the role was given.
    pub name: Option<String>,
    /// The role.
    pub role: Role,
    /// Name of the token or player that gave the role.
    pub by: String,
    /// Unix time at which the role was given, in seconds.
    pub made: i64,
}

/// A token, without its secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct TokenView {
    /// Name of the token.
    pub name: String,
    /// Role of the token.
    pub role: Role,
    /// Unix time at which it was created, in seconds.
    pub made: i64,
}

/// A setting in force.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SettingView {
    /// Name of the setting, as in the file.
    pub setting: String,
    /// Value; secrets are hidden.
    pub value: String,
    /// Where the value comes from.
    pub origin: String,
}

/// Figures of the server and its players, once a second.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct Figures {
    /// Unix time in milliseconds.
    pub time: i64,
    /// State of the server.
    pub status: StatusView,
    /// All players.
    pub players: Vec<PlayerView>,
}

/// The state of a deny list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct DenyListView {
    /// File of the list, or its URL without the query.
    pub list: String,
    /// Number of addresses and networks in the list.
    pub entries: u64,
    /// Connections refused because of the list.
    pub refused: u64,
    /// Unix time of the last successful fetch, in seconds; null before the first and for a file.
    pub fetched: Option<i64>,
    /// Why the last fetch failed.
    pub problem: Option<String>,
}

/// Outcome of a test event.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct WebhookTest {
    /// Host of the webhook's URL.
    pub webhook: String,
    /// Whether the receiver accepted the event.
    pub delivered: bool,
    /// The receiver's answer, or why there is none.
    pub answer: String,
}

/// A line of the audit log.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct AuditRow {
    /// Number of the line; later lines have higher numbers.
    pub id: i64,
    /// Unix time in seconds.
    pub time: i64,
    /// Name of the token or player that did it.
    pub by: String,
    /// Role of that token or player.
    pub role: String,
    /// What was done, as one word.
    pub act: String,
    /// The player or thing that it was done to.
    pub whom: Option<String>,
    /// The reason given.
    pub why: Option<String>,
    /// Other details.
    pub detail: Option<String>,
}

/// Results of a round.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ResultRow {
    /// Unix time of the end of the round, in seconds.
    pub time: i64,
    /// Code of the room.
    pub room: String,
    /// Name of the game.
    pub game: String,
    /// Number of the round.
    pub round: u32,
    /// Scores of the players.
    pub players: Vec<PlayerResult>,
}

/// A player's score at the end of a round.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct PlayerResult {
    /// The player's name.
    pub name: String,
    /// The player's key.
    pub key: String,
    /// Value of the score.
    pub value: f64,
    /// Name of the score.
    pub measure: String,
}

/// A player's best score in a game.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RecordRow {
    /// Name of the game.
    pub game: String,
    /// Name of the score.
    pub measure: String,
    /// The player's key.
    pub key: String,
    /// The player's name.
    pub name: String,
    /// Value of the score.
    pub value: f64,
    /// Unix time of the record, in seconds.
    pub time: i64,
}

/// A change of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SettingChange {
    /// Name of the setting, as in the file.
    pub setting: String,
    /// Old value.
    pub from: String,
    /// New value, now or after a restart.
    pub to: String,
    /// Why the change needs a restart, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Result of reloading the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ReloadReport {
    /// Settings that took effect.
    pub changed: Vec<SettingChange>,
    /// Settings that need a restart.
    pub needs_restart: Vec<SettingChange>,
}

/// Confirmation of a request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Done {
    /// What was done, in a sentence.
    pub done: String,
}

/// The token that the request was made with.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Me {
    /// Name of the token.
    pub name: String,
    /// Role of the token.
    pub role: Role,
}

/// A line of the log.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct LineView {
    /// Unix time in milliseconds.
    pub time: u64,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: String,
    /// Part of the program that logged the line.
    pub target: String,
    /// Text of the line.
    pub text: String,
}

/// A new token.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct NewToken {
    /// The token; it cannot be read again.
    pub token: String,
}

/// A finished recording.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ReplayView {
    /// Name of the file.
    pub file: String,
    /// Whether the file has not been read yet, so that its facts are null. A request reads at most
    /// 100 new files; the next request reads more.
    pub unread: bool,
    /// Name of the game; null if the file cannot be read.
    pub game: Option<String>,
    /// Unix time of the beginning, in seconds; null if the file cannot be read.
    pub began: Option<i64>,
    /// Unix time of the end, in seconds.
    pub ended: i64,
    /// Duration of what is recorded, in seconds; null if it cannot be read.
    pub seconds: Option<u64>,
    /// Names of the players and spectators who were there, without bots. In a long recording,
    /// people who stayed only briefly may be missing.
    pub players: Vec<String>,
    /// Size of the file, in bytes.
    pub bytes: u64,
}

/// A finished backup.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct BackedUp {
    /// What was done, in a sentence.
    pub done: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
}

/// An error.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Problem {
    /// What is wrong, in a sentence.
    pub error: String,
    /// Everything that is wrong with the settings, if they could not be loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mistakes: Option<Vec<String>>,
}

//! Answers of the administration.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::author::Role;

/// State of a server.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DirectoryView {
    /// Its address.
    pub address: String,
    /// `listed`, `asking`, or a sentence on why the server is not listed.
    pub standing: String,
}

/// A drain.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct FailedLoginsView {
    /// Requests with an unknown token.
    pub tokens: u64,
    /// Players with a wrong password.
    pub passwords: u64,
}

/// State of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct LogView {
    /// Lines written.
    pub written: u64,
    /// Lines dropped.
    pub dropped: u64,
    /// Filter in force.
    pub filter: String,
}

/// UDP packets since the start.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TrafficView {
    pub packets_in: u64,
    pub packets_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// Durations in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TickView {
    pub mean: u64,
    pub p99: u64,
    pub max: u64,
}

/// A room.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ScoreView {
    /// Its name, such as `points`.
    pub measure: String,
    /// The number.
    pub value: f64,
}

/// A line of the chat.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AllowListView {
    /// Its file; none if there is no list, and everybody may join.
    pub file: Option<String>,
    /// The players who may join.
    pub players: Vec<AllowedView>,
}

/// A player who may join.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AllowedView {
    /// The player's key.
    pub key: String,
    /// The note after the key, such as a name; may be empty.
    pub name: String,
}

/// A mute in force.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MuteView {
    /// Unix time in seconds of its end; none for ever.
    pub until: Option<i64>,
    /// Reason.
    pub reason: String,
}

/// A ban or a mute.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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
    pub note: Option<String>,
}

/// Somebody who has left.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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

/// A token of the interface, without its secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Unix time in seconds.
    pub made: i64,
}

/// A setting in force.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingView {
    /// Its name in the file.
    pub setting: String,
    /// Its value; secrets are hidden.
    pub value: String,
    /// The source of the value.
    pub origin: String,
}

/// All that is measured, once a second.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Figures {
    /// Unix time in milliseconds.
    pub time: i64,
    /// The server.
    pub status: StatusView,
    /// Its players.
    pub players: Vec<PlayerView>,
}

/// The state of a deny list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DenyListView {
    /// Its file, or its URL without the query.
    pub list: String,
    /// Addresses and networks in it.
    pub entries: u64,
    /// Newcomers that it refused.
    pub refused: u64,
    /// Unix time in seconds of the last good fetch; none for a file, and before the first.
    pub fetched: Option<i64>,
    /// Why the last fetch failed, in a sentence.
    pub problem: Option<String>,
}

/// Outcome of a test event.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WebhookTest {
    /// Host that the webhook is sent to.
    pub webhook: String,
    /// True if the receiver took the event.
    pub delivered: bool,
    /// The receiver's answer, or why there is none.
    pub answer: String,
}

/// A line of the audit log.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    /// Number, rising.
    pub id: i64,
    /// Unix time in seconds.
    pub time: i64,
    /// Name of the token, or of the player, who did it.
    pub by: String,
    /// The author's role.
    pub role: String,
    /// The act, a word.
    pub act: String,
    /// Player or thing that it was done to.
    pub whom: Option<String>,
    /// Reason that was given.
    pub why: Option<String>,
    /// Anything else.
    pub detail: Option<String>,
}

/// The end of a round.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultRow {
    /// Unix time in seconds.
    pub time: i64,
    /// Code of the room.
    pub room: String,
    /// Name of the game.
    pub game: String,
    /// Rounds of the game so far.
    pub round: u32,
    /// Numbers of its players.
    pub players: Vec<PlayerResult>,
}

/// A player's number at the end of a round.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlayerResult {
    /// The player's name.
    pub name: String,
    /// The player's key.
    pub key: String,
    /// The number.
    pub value: f64,
    /// Name of the number.
    pub measure: String,
}

/// The best number of a player in a game.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RecordRow {
    /// Name of the game.
    pub game: String,
    /// Name of the number.
    pub measure: String,
    /// The player's key.
    pub key: String,
    /// The player's name.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Unix time in seconds.
    pub time: i64,
}

/// A change of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingChange {
    /// Its name in the file.
    pub setting: String,
    /// Its value before.
    pub from: String,
    /// Its value now, or after a restart.
    pub to: String,
    /// Cause for which it takes a restart, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Result of loading the settings again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReloadReport {
    /// Settings that took effect.
    pub changed: Vec<SettingChange>,
    /// Settings that take a restart.
    pub needs_restart: Vec<SettingChange>,
}

/// Something was done.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Done {
    /// A sentence on what was done.
    pub done: String,
}

/// Name and role of the token.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Me {
    /// Name of the token.
    pub name: String,
    /// Its role.
    pub role: Role,
}

/// A line of the log.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LineView {
    /// Unix time in milliseconds.
    pub time: u64,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: String,
    /// The part of the program.
    pub target: String,
    /// The line.
    pub text: String,
}

/// A new token.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NewToken {
    /// The token, shown this once.
    pub token: String,
}

/// A backup that was made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BackedUp {
    /// A sentence on what was done.
    pub done: String,
    /// Bytes of the file.
    pub bytes: u64,
}

/// An error.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What is wrong, in a sentence.
    pub error: String,
    /// All mistakes in the settings, if these could not be loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mistakes: Option<Vec<String>>,
}

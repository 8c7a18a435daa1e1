//! Request bodies and queries of the administration API. Unknown fields are refused, so that a
//! misspelled `for` does not ban a player forever.

use phaselock::wire::rooms::RoomCode;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::author::Role;

/// An optional field that must not be null.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    String::deserialize(from).map(Some)
}

/// Checks the code of a room, even if the request does not need it.
fn code<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let code = Option::<String>::deserialize(from)?;
    let checked = code.as_deref().map(str::parse::<RoomCode>).transpose();
    checked.map_err(serde::de::Error::custom)?;
    Ok(code)
}

/// Kicks a player.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kick {
    /// Name, seat (such as `p3`), or at least 8 digits of the key.
    pub who: String,
    /// Code of the room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// Also ban the key for this time, such as `10m`.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([1-9][0-9]{0,2}[smhdw]|forever)$")]
    pub span: Option<String>,
    /// Reason, shown to the player.
    #[serde(default)]
    pub reason: String,
}

/// Bans or mutes. Exactly one of the first four fields is required.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Punish {
    /// A player: name, seat (such as `p3`), or at least 8 digits of the key. A ban covers both the
    /// key and the address.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub who: Option<String>,
    /// A key: 64 hexadecimal digits.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9a-fA-F]{64}$")]
    pub key: Option<String>,
    /// An IPv4 or IPv6 address.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(
        nullable = false,
        pattern = "^(([1-9]?[0-9]\\.){3}[1-9]?[0-9]\
        |([0-9a-f]{1,4}:){7}[0-9a-f]{1,4})$"
    )]
    pub address: Option<String>,
    /// A network, such as `192.0.2.0/24`.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(
        nullable = false,
        pattern = "^([1-9]?[0-9]\\.){3}[1-9]?[0-9]/(1[6-9]|2[0-9]|3[0-2])$"
    )]
    pub network: Option<String>,
    /// Code of the player's room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// Duration, such as `7d` (default: `forever`).
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([1-9][0-9]{0,2}[smhdw]|forever)$")]
    pub span: Option<String>,
    /// Reason, shown to the player.
    #[serde(default)]
    pub reason: String,
}

/// Sends a chat line to everyone.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Say {
    /// Text of the line.
    pub text: String,
    /// Code of the room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Marks this moment in the recordings.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarkMoment {
    /// What happened.
    pub text: String,
    /// Code of the room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Writes the last minutes to a file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveReplay {
    /// Code of the room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Sends a chat line to one player.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tell {
    /// Name, seat (such as `p3`), or at least 8 digits of the key.
    pub who: String,
    /// Code of the room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// Text of the line.
    pub text: String,
}

/// Switches to another game.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Play {
    /// Name of the game.
    pub game: String,
    /// Code of the room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Restarts the current game.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestartGame {
    /// Code of the room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Drains the server.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drain {
    /// Maximum time until the server stops: up to an hour (default: 5 minutes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([1-9][0-9]{0,2}s|([1-9]|[1-5][0-9]|60)m|1h)$")]
    pub within: Option<String>,
    /// Message that players see at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Server to send the players to, as `host:port`, best with `#` and the fingerprint of its
    /// certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,3}(:[1-9][0-9]{0,3})?$")]
    pub redirect: Option<String>,
}

/// Changes the log filter.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogLevel {
    /// Filter directives, such as `info,phaselock_quic=debug`.
    #[schema(pattern = "^([a-z_]{1,30}=)?(off|error|warn|info|debug|trace)$")]
    pub filter: String,
}

/// Changes a setting.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetSetting {
    /// The value, written as on the command line.
    pub value: String,
}

/// Gives a player a role.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GiveRole {
    /// A player: name, seat (such as `p3`), or at least 8 digits of the key.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub who: Option<String>,
    /// A key: 64 hexadecimal digits.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9a-fA-F]{64}$")]
    pub key: Option<String>,
    /// Code of the player's room (default: all rooms).
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// The role.
    pub role: Role,
}

/// Creates a token.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeToken {
    /// Name of the token; an existing token of this name is replaced.
    #[schema(pattern = "^[A-Za-z0-9_.-]{1,32}$")]
    pub name: String,
    /// Role of the token.
    pub role: Role,
}

/// Backs up the database.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackUp {
    /// Name of a new file in the data directory.
    #[schema(pattern = "^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9_-])?$")]
    pub file: String,
}

/// A number of rows: 0 to 1000.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub(crate) struct Count(pub u32);

/// Maximum rows in an answer. Arbitrary.
const ROWS_MAX: u32 = 1000;

impl TryFrom<u32> for Count {
    type Error = String;

    fn try_from(count: u32) -> Result<Self, String> {
        match count {
            ..=ROWS_MAX => Ok(Self(count)),
            _ => Err(format!("an answer has at most {ROWS_MAX} rows")),
        }
    }
}

/// How many lines of the log or the chat to return.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Lines {
    /// Maximum number of lines (default: 200).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub lines: Option<Count>,
}

impl Lines {
    /// Returns the number of lines to return.
    pub(crate) fn count(&self) -> usize {
        self.lines.map_or(200, |lines| lines.0 as usize)
    }
}

/// Selects the bans or mutes to lift.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Lift {
    /// Number, key, address or network of the ban or mute; or the player's name, seat (such as
    /// `p3`) or at least 8 digits of the key.
    pub who: String,
    /// Code of the player's room (default: all rooms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Adds a key to the allow list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allow {
    /// The key: 64 hexadecimal digits.
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    pub key: String,
    /// A name or another note.
    #[serde(default)]
    pub name: String,
}

/// Selects a part of the audit log.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditPart {
    /// Maximum number of lines, up to 1000 (default: 100).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub limit: Option<Count>,
    /// Return only lines before this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// How many rows to return.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Limit {
    /// Maximum number of rows, up to 1000 (default: 50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub limit: Option<Count>,
}

/// Which recordings to return.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReplayPart {
    /// Maximum number of recordings, up to 1000 (default: 50). There may be more if this many are
    /// returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub limit: Option<Count>,
    /// Number of newer recordings to leave out (default: 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<u32>,
}

/// Selects a game.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfGame {
    /// Name of the game (default: all games).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
}

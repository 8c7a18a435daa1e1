//! Requests of the administration: bodies and queries. Unknown fields are refused, so that a
//! misspelled one does not ban somebody forever.

use phaselock::wire::rooms::RoomCode;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::author::Role;

/// An optional field that must not be null.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    String::deserialize(from).map(Some)
}

/// The code of a room, even if the request does not need one.
fn code<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let code = Option::<String>::deserialize(from)?;
    let checked = code.as_deref().map(str::parse::<RoomCode>).transpose();
    checked.map_err(serde::de::Error::custom)?;
    Ok(code)
}

/// Puts a player out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Kick {
    /// Name, seat such as `p3`, or at least 8 digits of the key.
    pub who: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// Time for which the key may not come back, such as `10m`.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([1-9][0-9]{0,2}[smhdw]|forever)$")]
    pub span: Option<String>,
    /// Reason.
    #[serde(default)]
    pub reason: String,
}

/// Bans or mutes; one of the first four is given.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Punish {
    /// A player in a room: name, seat such as `p3`, or at least 8 digits of the key. A ban is of
    /// key and address both.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub who: Option<String>,
    /// A key: 64 hexadecimal digits.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9a-fA-F]{64}$")]
    pub key: Option<String>,
    /// An address, of IPv4 or IPv6.
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
    /// Code of the player's room; none for all rooms.
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// Time for which it holds, such as `7d`; by default `forever`.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([1-9][0-9]{0,2}[smhdw]|forever)$")]
    pub span: Option<String>,
    /// Reason.
    #[serde(default)]
    pub reason: String,
}

/// Says a line.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// The line.
    pub text: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Says a line to one player.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tell {
    /// Name, seat such as `p3`, or at least 8 digits of the key.
    pub who: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// The line.
    pub text: String,
}

/// Goes on with a game.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Play {
    /// Name of the game.
    pub game: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Begins a room's game anew.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Again {
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Drains the server.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// The maximum time until the server stops, up to an hour; 5 minutes by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([1-9][0-9]{0,2}s|([1-9]|[1-5][0-9]|60)m|1h)$")]
    pub within: Option<String>,
    /// Goodbye.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Another server for the players, as `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,3}(:[1-9][0-9]{0,3})?$")]
    pub redirect: Option<String>,
}

/// Has other lines logged.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LogLevel {
    /// Directives such as `info,phaselock_quic=debug`.
    #[schema(pattern = "^([a-z_]{1,30}=)?(off|error|warn|info|debug|trace)$")]
    pub filter: String,
}

/// Sets a setting.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSetting {
    /// The value, written as on the command line.
    pub value: String,
}

/// Gives a player a role.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GiveRole {
    /// A player in a room.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub who: Option<String>,
    /// A key: 64 hexadecimal digits.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9a-fA-F]{64}$")]
    pub key: Option<String>,
    /// Code of the player's room; none for all rooms.
    #[serde(default, deserialize_with = "code", skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
    /// The role.
    pub role: Role,
}

/// Makes a token.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeToken {
    /// Its name; one of the same name is replaced.
    #[schema(pattern = "^[A-Za-z0-9_.-]{1,32}$")]
    pub name: String,
    /// Its role.
    pub role: Role,
}

/// Backs the database up.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackUp {
    /// Name of a new file in the data directory.
    #[schema(pattern = "^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9_-])?$")]
    pub file: String,
}

/// A number of rows, 0 to 1000.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct Count(pub u32);

/// The maximum rows of an answer. Arbitrary.
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

/// Lines of the log or the chat.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Lines {
    /// Maximum number of lines; 200 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub lines: Option<Count>,
}

impl Lines {
    /// Returns that number.
    pub fn count(&self) -> usize {
        self.lines.map_or(200, |lines| lines.0 as usize)
    }
}

/// The bans or mutes to lift.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Lift {
    /// Number, key, address or network, or a player's name, seat such as `p3`, or at least 8 digits
    /// of the key.
    pub who: String,
    /// Code of the player's room. By default all rooms are searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(pattern = "^[a-z0-9-]{1,32}$")]
    pub room: Option<String>,
}

/// Lets a key join.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Allow {
    /// The key: 64 hexadecimal digits.
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    pub key: String,
    /// A name or another note.
    #[serde(default)]
    pub name: String,
}

/// A part of the audit log.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditPart {
    /// Lines at most; 100 by default, 1000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub limit: Option<Count>,
    /// Only lines before that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// A number of rows.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Limit {
    /// Rows at most; 50 by default, 1000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub limit: Option<Count>,
}

/// A game.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OfGame {
    /// Name of the game; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
}

//! Bodies and queries of requests. Unknown fields are refused, so that a misspelt one does not
//! ban somebody for ever.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Json, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use phaselock::wire::rooms::RoomCode;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use utoipa::{IntoParams, ToSchema};

use super::answer;
use crate::host::{BanRequest, DrainRequest, Whom};
use crate::people::Role;

/// A request that cannot be read, with errors in the form of all others.
#[derive(Debug)]
pub(super) struct Unread(StatusCode, String);

impl IntoResponse for Unread {
    fn into_response(self) -> Response {
        answer(self.0, &self.1)
    }
}

/// A JSON body.
#[derive(Clone, Debug)]
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Unread;

    async fn from_request(request: Request, state: &S) -> Result<Self, Unread> {
        let body: Result<Json<Object<T>>, JsonRejection> = Json::from_request(request, state).await;
        match body {
            Ok(Json(Object(body))) => Ok(Self(body)),
            Err(JsonRejection::JsonDataError(error)) => {
                let cause = error.source().map_or_else(|| error.body_text(), ToString::to_string);
                let text = format!("the body is invalid: {cause}; see /openapi.json");
                Err(Unread(StatusCode::UNPROCESSABLE_ENTITY, text))
            }
            Err(error) => Err(Unread(error.status(), error.body_text())),
        }
    }
}

/// A JSON object, read straight into its type, so that a key that stands twice is refused. serde
/// would read a list as the fields in their order.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
    }
}

/// A query.
#[derive(Clone, Debug)]
pub(super) struct Asked<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Unread;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Unread> {
        let query: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        query
            .map(|Query(query)| Self(query))
            .map_err(|error| Unread(error.status(), error.body_text()))
    }
}

/// The part of a path that names something.
#[derive(Clone, Debug)]
pub(super) struct Named<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Unread;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Unread> {
        let path: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        path.map(|Path(path)| Self(path)).map_err(|error| Unread(error.status(), error.body_text()))
    }
}

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
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Kick {
    /// Name, seat such as `p3`, or at least 8 digits of the key.
    who: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    room: Option<String>,
    /// Time for which the key may not come back, such as `10m`.
    #[serde(default, rename = "for")]
    #[schema(pattern = "^([1-9][0-9]{0,2}[smhdw]|forever)$")]
    pub(super) span: Option<String>,
    /// Reason.
    #[serde(default)]
    pub(super) reason: String,
}

impl Kick {
    pub(super) fn whom(&self) -> Whom {
        Whom { who: self.who.clone(), room: self.room.clone() }
    }
}

/// Bans or mutes; one of the first four is given.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Punish {
    /// A player in a room: name, seat such as `p3`, or at least 8 digits of the key. A ban is of
    /// key and address both.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    who: Option<String>,
    /// A key: 64 hexadecimal digits.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, pattern = "^[0-9a-fA-F]{64}$")]
    key: Option<String>,
    /// An address, of IPv4 or IPv6.
    #[serde(default, deserialize_with = "given")]
    #[schema(
        nullable = false,
        pattern = "^(([1-9]?[0-9]\\.){3}[1-9]?[0-9]\
        |([0-9a-f]{1,4}:){7}[0-9a-f]{1,4})$"
    )]
    address: Option<String>,
    /// A network, such as `192.0.2.0/24`.
    #[serde(default, deserialize_with = "given")]
    #[schema(
        nullable = false,
        pattern = "^([1-9]?[0-9]\\.){3}[1-9]?[0-9]/(1[6-9]|2[0-9]|3[0-2])$"
    )]
    network: Option<String>,
    /// Code of the player's room; none for all rooms.
    #[serde(default, deserialize_with = "code")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    room: Option<String>,
    /// Time for which it holds, such as `7d`; by default `forever`.
    #[serde(default, rename = "for")]
    #[schema(pattern = "^([1-9][0-9]{0,2}[smhdw]|forever)$")]
    span: Option<String>,
    /// Reason.
    #[serde(default)]
    reason: String,
}

impl From<Punish> for BanRequest {
    fn from(it: Punish) -> Self {
        let Punish { who, key, address, network, room, span, reason } = it;
        let who = who.map(|who| Whom { who, room });
        Self { who, key, address, network, span, reason }
    }
}

/// Says a line.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Say {
    /// The line.
    pub(super) text: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub(super) room: Option<String>,
}

/// Says a line to one player.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tell {
    /// Name, seat such as `p3`, or at least 8 digits of the key.
    who: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    room: Option<String>,
    /// The line.
    pub(super) text: String,
}

impl Tell {
    pub(super) fn whom(&self) -> Whom {
        Whom { who: self.who.clone(), room: self.room.clone() }
    }
}

/// Goes on with a game.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Play {
    /// Name of the game.
    pub(super) game: String,
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub(super) room: Option<String>,
}

/// Begins a room's game anew.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Again {
    /// Code of the room; none for all rooms.
    #[serde(default, deserialize_with = "code")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    pub(super) room: Option<String>,
}

/// Drains the server.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Drain {
    /// The maximum time until the server stops, up to an hour; 5 minutes by default.
    #[serde(default)]
    #[schema(pattern = "^([1-9][0-9]{0,2}s|([1-9]|[1-5][0-9]|60)m|1h)$")]
    within: Option<String>,
    /// Goodbye.
    #[serde(default)]
    text: Option<String>,
    /// Another server for the players, as `host:port`.
    #[serde(default)]
    #[schema(pattern = "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,3}(:[1-9][0-9]{0,3})?$")]
    redirect: Option<String>,
}

impl From<Drain> for DrainRequest {
    fn from(Drain { within, text, redirect }: Drain) -> Self {
        Self { within, text, redirect }
    }
}

/// Has other lines logged.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LogLevel {
    /// Directives such as `info,phaselock_quic=debug`.
    #[schema(pattern = "^([a-z_]{1,30}=)?(off|error|warn|info|debug|trace)$")]
    pub(super) filter: String,
}

/// Sets a setting.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetSetting {
    /// The value, written as on the command line.
    pub(super) value: String,
}

/// Gives a player a role.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveRole {
    /// A player in a room.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    who: Option<String>,
    /// A key: 64 hexadecimal digits.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, pattern = "^[0-9a-fA-F]{64}$")]
    pub(super) key: Option<String>,
    /// Code of the player's room; none for all rooms.
    #[serde(default, deserialize_with = "code")]
    #[schema(pattern = "^[a-z0-9-]{1,32}$")]
    room: Option<String>,
    /// The role.
    pub(super) role: Role,
}

impl GiveRole {
    pub(super) fn whom(&self) -> Option<Whom> {
        self.who.clone().map(|who| Whom { who, room: self.room.clone() })
    }
}

/// Makes a token.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MakeToken {
    /// Its name; one of the same name is replaced.
    #[schema(pattern = "^[A-Za-z0-9_.-]{1,32}$")]
    pub(super) name: String,
    /// Its role.
    pub(super) role: Role,
}

/// Backs the database up.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BackUp {
    /// Name of a new file in the data directory.
    #[schema(pattern = "^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9_-])?$")]
    pub(super) file: String,
}

/// A number of rows, 0 to 1000.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u32")]
pub(super) struct Count(pub(super) u32);

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
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Lines {
    /// Maximum number of lines; 200 by default.
    #[serde(default)]
    #[param(value_type = Option<u32>, maximum = 1000)]
    lines: Option<Count>,
}

impl Lines {
    pub(super) fn count(&self) -> usize {
        self.lines.map_or(200, |lines| lines.0 as usize)
    }
}

/// The bans or mutes to lift.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Lift {
    /// Number, key, address or network, or a player's name, seat such as `p3`, or at least 8 digits
    /// of the key.
    who: String,
    /// Code of the player's room. By default all rooms are searched.
    #[serde(default)]
    #[param(pattern = "^[a-z0-9-]{1,32}$")]
    room: Option<String>,
}

impl From<Lift> for Whom {
    fn from(Lift { who, room }: Lift) -> Self {
        Self { who, room }
    }
}

/// Lets a key join.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Allow {
    /// The key: 64 hexadecimal digits.
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    pub(super) key: String,
    /// A name or another note.
    #[serde(default)]
    pub(super) name: String,
}

/// A part of the audit log.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditPart {
    /// Lines at most; 100 by default, 1000 at most.
    #[serde(default)]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub(super) limit: Option<Count>,
    /// Only lines before that number.
    #[serde(default)]
    pub(super) before: Option<i64>,
}

/// A number of rows.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Limit {
    /// Rows at most; 50 by default, 1000 at most.
    #[serde(default)]
    #[param(value_type = Option<u32>, maximum = 1000)]
    pub(super) limit: Option<Count>,
}

/// A game.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct OfGame {
    /// Name of the game; none for all.
    #[serde(default)]
    pub(super) game: Option<String>,
}

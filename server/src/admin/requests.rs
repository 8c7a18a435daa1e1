//! Extractors for requests: bodies, queries and path parameters, with errors in one form.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Json, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::answers::answer;

/// The error for a request that cannot be parsed.
#[derive(Debug)]
pub(super) struct BadRequest(StatusCode, String);

impl IntoResponse for BadRequest {
    fn into_response(self) -> Response {
        answer(self.0, &self.1)
    }
}

/// A JSON body.
#[derive(Clone, Debug)]
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = BadRequest;

    async fn from_request(request: Request, state: &S) -> Result<Self, BadRequest> {
        let body: Result<Json<Object<T>>, JsonRejection> = Json::from_request(request, state).await;
        match body {
            Ok(Json(Object(body))) => Ok(Self(body)),
            Err(JsonRejection::JsonDataError(error)) => {
                let cause = error.source().map_or_else(|| error.body_text(), ToString::to_string);
                let text = format!("the body is invalid: {cause}; see /openapi.json");
                Err(BadRequest(StatusCode::UNPROCESSABLE_ENTITY, text))
            }
            Err(error) => Err(BadRequest(error.status(), error.body_text())),
        }
    }
}

/// A JSON object, parsed straight into its type so that duplicate keys are refused. By itself,
/// serde would accept an array as the fields in their order.
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
    type Rejection = BadRequest;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, BadRequest> {
        let query: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        query
            .map(|Query(query)| Self(query))
            .map_err(|error| BadRequest(error.status(), error.body_text()))
    }
}

/// A path parameter that names something.
#[derive(Clone, Debug)]
pub(super) struct Named<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = BadRequest;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, BadRequest> {
        let path: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        path.map(|Path(path)| Self(path))
            .map_err(|error| BadRequest(error.status(), error.body_text()))
    }
}

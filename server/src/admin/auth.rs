//! Authentication of requests by token.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::answers::answer;
use super::connections::Peer;
use crate::author::Author;
use crate::host::Host;
use crate::people::Secret;
use crate::token::hash_of;

/// The owner of a request's token.
#[derive(Clone, Debug)]
pub(super) struct Authenticated(pub(super) Author);

/// Why a request has no valid token.
#[derive(Debug)]
pub(super) enum NoToken {
    /// The request has no token.
    Missing,
    /// The token is unknown or was deleted.
    Unknown,
}

impl IntoResponse for NoToken {
    fn into_response(self) -> Response {
        let text = match self {
            Self::Missing => "missing token: send the header `Authorization: Bearer TOKEN`",
            Self::Unknown => "this token is unknown or was deleted",
        };
        let mut response = answer(StatusCode::UNAUTHORIZED, text);
        let scheme = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        response
    }
}

/// Returns the hash of a request's token. Looking up the hash keeps the time of the comparison from
/// revealing the token.
pub(super) fn hash_in(headers: &HeaderMap) -> Option<String> {
    let header = headers.get(header::AUTHORIZATION)?;
    let (scheme, token) = header.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| hash_of(token.trim()))
}

impl FromRequestParts<Arc<Host>> for Authenticated {
    type Rejection = NoToken;

    async fn from_request_parts(parts: &mut Parts, host: &Arc<Host>) -> Result<Self, NoToken> {
        let hash = hash_in(&parts.headers).ok_or(NoToken::Missing)?;
        let Some((name, role)) = host.access.token(&hash) else {
            if let Some(Peer(address)) = parts.extensions.get() {
                host.failed_logins.note(Secret::Token, *address);
            }
            return Err(NoToken::Unknown);
        };
        Ok(Self(Author { name, role }))
    }
}

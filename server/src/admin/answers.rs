//! Errors as responses.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::api::Problem;
use crate::error::ActError;

/// Returns an error as a response.
pub(super) fn answer(status: StatusCode, error: &str) -> Response {
    (status, Json(Problem { error: error.to_owned(), mistakes: None })).into_response()
}

impl IntoResponse for ActError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Mistakes(mistakes) => {
                let problem = Problem { error: self.to_string(), mistakes: Some(mistakes.clone()) };
                return (StatusCode::UNPROCESSABLE_ENTITY, Json(problem)).into_response();
            }
        };
        answer(status, &self.to_string())
    }
}

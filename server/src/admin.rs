//! The administration API: JSON over HTTP on a local address, with its OpenAPI description, an
//! event stream, metrics, and the page.
//!
//! Everything below `/v1` needs a token. Connections are limited in number, requests in size and
//! time. Requests for host names with a dot are refused: otherwise a web page could point a name of
//! its own at this machine's address (DNS rebinding) and read the answers.

mod answers;
mod auth;
mod connections;
mod description;
mod download;
mod metrics;
mod page;
mod requests;
mod routes;
mod stream;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use bytes::Bytes;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::time::timeout;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as OpenApiDescription;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::answers::answer;
use crate::api::Problem;
use crate::host::Host;

/// Maximum bytes of a request's body.
const BODY_BYTES_MAX: usize = 16 * 1024;
/// Longest time until an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The OpenAPI description, without its paths, which come from the routes.
#[derive(OpenApi)]
#[openapi(
    info(title = "Phaselock server", description = "Administration of a running server"),
    security(("token" = [])),
    components(schemas(Problem)),
)]
struct Description;

/// The OpenAPI description as JSON text. Building it takes megabytes, and most servers are never
/// asked for it, so the first request does.
static DESCRIPTION: LazyLock<Bytes> = LazyLock::new(|| {
    let text = serde_json::to_vec(&description::complete(api().1));
    text.unwrap_or_default().into()
});

/// Returns the routes below `/v1`, and what they declare.
fn api() -> (Router<Arc<Host>>, OpenApiDescription) {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(routes::all())
        .layer(middleware::from_fn(in_time))
        .routes(routes!(stream::events))
        .split_for_parts()
}

/// Answers requests below `/v1`. Its routes come with their descriptions, which take megabytes, so
/// they are built for the first request; probes and metrics need none.
#[derive(Clone, Default)]
struct Lazy(Arc<OnceLock<TowerToHyperService<Router>>>);

impl Lazy {
    async fn answer(self, host: Arc<Host>, request: Request) -> Response {
        if !request.uri().path().starts_with("/v1/") {
            return not_found().await;
        }
        let api = || api().0.fallback(not_found).method_not_allowed_fallback(not_allowed);
        let router = || api().with_state(host);
        let service = self.0.get_or_init(|| TowerToHyperService::new(router()));
        match service.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

async fn not_found() -> Response {
    answer(StatusCode::NOT_FOUND, "not found")
}

async fn not_allowed() -> Response {
    let text = "this method is not allowed here; see /openapi.json";
    answer(StatusCode::METHOD_NOT_ALLOWED, text)
}

/// Returns the API as a service.
pub(crate) fn router(host: Arc<Host>) -> Router {
    let lazy = Lazy::default();
    Router::new()
        .merge(page::routes())
        .route("/openapi.json", get(|| async { described() }))
        .route("/livez", get(routes::livez))
        .route("/readyz", get(routes::readyz))
        .route("/metrics", get(routes::metrics))
        // Not a route with a wildcard, which would count as a part of each path below.
        .fallback(move |State(host): State<Arc<Host>>, request| lazy.answer(host, request))
        .method_not_allowed_fallback(not_allowed)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn(near))
        .layer(middleware::map_response(sealed))
        .with_state(host)
}

/// Answers with the OpenAPI description.
fn described() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION.clone()).into_response()
}

/// The OpenAPI description, which the tests of [`ctl`](crate::ctl) compare its requests with.
#[cfg(test)]
pub(crate) fn description() -> serde_json::Value {
    description::complete(api().1)
}

/// Serves a non-blocking listener for as long as the process runs.
pub(crate) async fn serve(listener: std::net::TcpListener, host: Arc<Host>) {
    match TcpListener::from_std(listener) {
        Ok(listener) => connections::serve(listener, router(host)).await,
        Err(error) => tracing::error!(
            name: "administration_failed",
            %error,
            "cannot use the listener of the administration"
        ),
    }
}

/// Refuses requests whose host name cannot be that of this machine or a neighbour.
async fn near(request: Request, next: middleware::Next) -> Response {
    let mut hosts = request.headers().get_all(header::HOST).iter().peekable();
    let is_named = hosts.peek().is_some() || request.version() < Version::HTTP_11;
    let is_near = hosts.all(|host| host.to_str().is_ok_and(is_near_name))
        && request.uri().authority().is_none_or(|it| is_near_name(it.as_str()));
    if is_named && is_near {
        return next.run(request).await;
    }
    let text =
        "this host name is not allowed; use an IP address, localhost or a name without a dot";
    answer(StatusCode::MISDIRECTED_REQUEST, text)
}

/// Whether a host is an address or a name without a dot, such as `localhost` or a container's, with
/// or without a port.
fn is_near_name(host: &str) -> bool {
    let Ok(host) = host.parse::<Authority>() else { return false };
    let name = host.host();
    let bare = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name);
    bare.parse::<IpAddr>().is_ok() || !bare.is_empty() && !bare.contains('.')
}

/// Keeps browsers from guessing content types, caching, and sending a referrer.
async fn sealed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Limits the time until an answer. The request itself runs to its end and is recorded in the audit
/// log, even if the client hangs up.
async fn in_time(request: Request, next: middleware::Next) -> Response {
    match timeout(ANSWER_TIMEOUT, tokio::spawn(next.run(request))).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            let text = "the request panicked; please report this with the server's log";
            answer(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
        Err(_) => {
            let text = "the request takes longer than 10 s and continues; the audit log will \
                        record it";
            answer(StatusCode::GATEWAY_TIMEOUT, text)
        }
    }
}

//! Connections to the page, limited per address and in total; each is limited in time and in
//! requests.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::answers::{Page, plain};
use super::limits::{Bounds, Paced};
use crate::http::{Door, InFlight, accept, protocol};

/// Maximum connections at a time; beyond that, a new one replaces one of the address that has the
/// most.
pub(super) const CONNECTIONS_MAX: usize = 256;
/// Maximum connections of one address, or of one IPv6 /64, at a time. Beyond that a new one
/// replaces its oldest, if possible one that is not answering a request. Browsers open up to six.
const CONNECTIONS_PER_ADDRESS: usize = 48;
/// Maximum requests on one connection. A visit needs seven.
pub(super) const REQUESTS_MAX: u32 = 64;
/// Longest time of a connection: 4 MB at 16 kB/s take four minutes.
const LIFETIME: Duration = Duration::from_secs(300);
/// Longest time for the first byte and the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between two accepted connections, so that a flood of handshakes leaves the processor to the
/// game.
const APART: Duration = Duration::from_millis(2);
/// Maximum connections that are being refused at a time. Each costs little.
const REFUSALS: u64 = 16;
/// First byte of a TLS handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// Serves a listener for as long as the process runs.
pub(super) async fn serve(
    listener: std::net::TcpListener,
    tls: TlsAcceptor,
    page: Arc<Page>,
    bounds: Arc<Bounds>,
) {
    match TcpListener::from_std(listener) {
        Ok(listener) => {
            let refused = AtomicU64::new(0);
            accept(listener, Arc::new(Entrance { tls, page, bounds, refused })).await;
        }
        Err(error) => {
            tracing::error!(name: "page_failed", %error, "cannot use the listener of the page")
        }
    }
}

/// The page behind its listener.
struct Entrance {
    tls: TlsAcceptor,
    page: Arc<Page>,
    bounds: Arc<Bounds>,
    /// Number of connections being refused now.
    refused: AtomicU64,
}

impl Door for Entrance {
    const NAME: &'static str = "the page";
    const CONNECTIONS_MAX: usize = CONNECTIONS_MAX;
    const PER_NETWORK_MAX: usize = CONNECTIONS_PER_ADDRESS;
    const APART: Duration = APART;

    async fn lets_in(&self, from: IpAddr) -> bool {
        if self.bounds.may_connect(from) {
            return true;
        }
        // A flood from there takes no slot, and only a share of the processor.
        let before = self.refused.fetch_add(1, Ordering::Relaxed);
        if (before + 1).is_multiple_of(REFUSALS) {
            sleep(APART).await;
        }
        false
    }

    fn answer(
        self: Arc<Self>,
        stream: TcpStream,
        from: IpAddr,
        in_flight: InFlight,
    ) -> impl Future<Output = ()> + Send + 'static {
        let bounds = Arc::clone(&self.bounds);
        let visitor = Visitor { from, bounds, in_flight, requests: AtomicU32::new(0) };
        async move {
            // Closed if it lasts too long.
            let _ = timeout(LIFETIME, answer(stream, &self, visitor)).await;
        }
    }
}

/// The client at the other end of a connection.
struct Visitor {
    from: IpAddr,
    bounds: Arc<Bounds>,
    in_flight: InFlight,
    /// Number of requests so far.
    requests: AtomicU32,
}

async fn answer(stream: TcpStream, entrance: &Entrance, visitor: Visitor) {
    let Entrance { tls, page, .. } = entrance;
    let mut first = [0];
    match timeout(HANDSHAKE_TIMEOUT, stream.peek(&mut first)).await {
        Ok(Ok(1)) => {}
        _ => return,
    }
    // Answers are written whole, so delaying packets gains nothing.
    let _ = stream.set_nodelay(true);
    if first == [HANDSHAKE] {
        match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => speak(stream, &visitor, |request| page.answer(request)).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake with the page failed"),
            Err(_) => {}
        }
    } else {
        speak(stream, &visitor, |request| plain(page, request)).await;
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    visitor: &Visitor,
    answer: impl Fn(&Request) -> Response,
) {
    let service = service_fn(|request: hyper::Request<Incoming>| {
        // No request to the page has a body.
        let request = request.map(|_| Body::empty());
        let may_ask = visitor.bounds.may_ask(visitor.from);
        let mut response = if may_ask { answer(&request) } else { too_often() };
        let before = visitor.requests.fetch_add(1, Ordering::Relaxed);
        if !may_ask || before + 1 >= REQUESTS_MAX {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        let Visitor { from, bounds, in_flight, .. } = visitor;
        let response = response.map(|body| Paced::new(body, bounds, *from, in_flight));
        ready(Ok::<_, Infallible>(response))
    });
    if let Err(error) = protocol().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection to the page ended");
    }
}

/// Returns the answer to a client with too many requests.
fn too_often() -> Response {
    let later = [(header::RETRY_AFTER, "10")];
    (StatusCode::TOO_MANY_REQUESTS, later, "too many requests from this address\n").into_response()
}

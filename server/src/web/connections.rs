//! Connections for the page: from each address a few, so many in all, each for so long and so many
//! requests.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::answers::{Page, plain};
use super::limits::{Bounds, Busy, Paced, network_of};

/// Connections at a time; beyond that one of the address that has the most gives way.
pub(super) const CONNECTIONS_MAX: usize = 256;
/// Connections of one address at a time, or of one IPv6 network of 64 bits; beyond that its oldest
/// gives way, if possible one on which nothing is asked for. Browsers open up to six.
const CONNECTIONS_PER_ADDRESS: usize = 48;
/// Requests of one connection. A visit has seven.
pub(super) const REQUESTS_MAX: u32 = 64;
/// Longest time of a connection: 4 MB at 16 kB/s take four minutes.
const LIFETIME: Duration = Duration::from_secs(300);
/// Longest time for the first byte and the handshake of TLS.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for the head of a request, and from one request of a connection to the next.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's head at most.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Time from one connection that is let in to the next, so that a flood of handshakes leaves the
/// processor to the game.
const APART: Duration = Duration::from_millis(2);
/// Connections that are refused at a time. Each costs little.
const REFUSALS: u64 = 16;
/// Time until the next attempt, where the process has no descriptor left.
const RETRY: Duration = Duration::from_secs(1);
/// First byte of a handshake of TLS (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// Answers at a listener for as long as the process runs.
pub(super) async fn serve(
    listener: std::net::TcpListener,
    tls: TlsAcceptor,
    page: Arc<Page>,
    bounds: Arc<Bounds>,
) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            return tracing::error!(
                name: "page_failed",
                %error,
                "the page has no listener"
            );
        }
    };
    let mut open: VecDeque<Open> = VecDeque::new();
    let mut refused = 0_u64;
    loop {
        let (stream, remote) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "a connection for the page cannot be taken");
                sleep(RETRY).await;
                continue;
            }
        };
        let from = remote.ip().to_canonical();
        if !bounds.may_connect(from) {
            // A flood from there takes no place, and a part of the processor at most.
            refused += 1;
            if refused.is_multiple_of(REFUSALS) {
                sleep(APART).await;
            }
            continue;
        }
        open.retain(|connection| !connection.task.is_finished());
        let network = network_of(from);
        make_room(&mut open, network);
        let (bounds, busy) = (Arc::clone(&bounds), Busy::default());
        let visitor = Visitor { from, bounds, busy: busy.clone(), requests: AtomicU32::new(0) };
        let answered = answer(stream, tls.clone(), page.clone(), visitor);
        let task = tokio::spawn(timeout(LIFETIME, answered)).abort_handle();
        open.push_back(Open { network, task, busy });
        sleep(APART).await;
    }
}

/// A connection that is open.
struct Open {
    network: IpAddr,
    task: AbortHandle,
    busy: Busy,
}

/// Whoever is at the other end of a connection.
struct Visitor {
    from: IpAddr,
    bounds: Arc<Bounds>,
    busy: Busy,
    /// Number of requests so far.
    requests: AtomicU32,
}

/// Ends a connection if there is no room for one more from there.
fn make_room(open: &mut VecDeque<Open>, from: IpAddr) {
    let count = |of: IpAddr| open.iter().filter(|connection| connection.network == of).count();
    // Behind a proxy on this machine all are from here.
    let crowd = if count(from) >= CONNECTIONS_PER_ADDRESS && !from.is_loopback() {
        Some(from)
    } else if open.len() >= CONNECTIONS_MAX {
        open.iter().map(|connection| connection.network).max_by_key(|network| count(*network))
    } else {
        None
    };
    let Some(crowd) = crowd else { return };
    let of_crowd = |connection: &Open| connection.network == crowd;
    let idle = open.iter().position(|it| of_crowd(it) && !it.busy.is());
    let oldest = idle.or_else(|| open.iter().position(of_crowd));
    if let Some(connection) = oldest.and_then(|oldest| open.remove(oldest)) {
        connection.task.abort();
    }
}

async fn answer(stream: TcpStream, tls: TlsAcceptor, page: Arc<Page>, visitor: Visitor) {
    let mut first = [0];
    match timeout(HANDSHAKE_TIMEOUT, stream.peek(&mut first)).await {
        Ok(Ok(1)) => {}
        _ => return,
    }
    // Answers are written whole; nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    if first == [HANDSHAKE] {
        match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => speak(stream, &visitor, |request| page.answer(request)).await,
            Ok(Err(error)) => tracing::debug!(%error, "a handshake for the page has failed"),
            Err(_) => {}
        }
    } else {
        speak(stream, &visitor, |request| plain(&page, request)).await;
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    visitor: &Visitor,
    answer: impl Fn(&Request) -> Response,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES_MAX);
    // It panics if the system clock is beyond the year 9999.
    http.auto_date_header(false);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        // Nothing that is asked for has a body.
        let request = request.map(|_| Body::empty());
        let may_ask = visitor.bounds.may_ask(visitor.from);
        let mut response = if may_ask { answer(&request) } else { too_often() };
        let before = visitor.requests.fetch_add(1, Ordering::Relaxed);
        if !may_ask || before + 1 >= REQUESTS_MAX {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        let Visitor { from, bounds, busy, .. } = visitor;
        let response = response.map(|body| Paced::new(body, bounds, *from, busy));
        ready(Ok::<_, Infallible>(response))
    });
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection for the page has ended");
    }
}

/// The answer to whoever asks without end.
fn too_often() -> Response {
    let later = [(header::RETRY_AFTER, "10")];
    (StatusCode::TOO_MANY_REQUESTS, later, "this address asks too often\n").into_response()
}

//! Connections for the page: from each address a few, so many in all, each for so long.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
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

/// Connections at a time; beyond that one of the address that has the most gives way.
pub(super) const CONNECTIONS_MAX: usize = 256;
/// Connections of one address at a time, or of one IPv6 network of 64 bits; beyond that its oldest
/// gives way. Browsers open up to six.
pub(super) const CONNECTIONS_PER_ADDRESS: usize = 24;
/// Longest time of a connection: 4 MB at 16 kB/s take four minutes.
const LIFETIME: Duration = Duration::from_secs(300);
/// Longest time for the first byte and the handshake of TLS.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for the head of a request, and from one request of a connection to the next.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's head at most.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Time from one connection to the next, so that a flood of handshakes leaves the processor to the
/// game.
const APART: Duration = Duration::from_millis(2);
/// Time until the next attempt, where the process has no descriptor left.
const RETRY: Duration = Duration::from_secs(1);
/// First byte of a handshake of TLS (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// Answers at a listener for as long as the process runs.
pub(super) async fn serve(listener: std::net::TcpListener, tls: TlsAcceptor, page: Arc<Page>) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the page has no listener"),
    };
    let mut open: VecDeque<(IpAddr, AbortHandle)> = VecDeque::new();
    loop {
        let (stream, remote) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "a connection for the page cannot be taken");
                sleep(RETRY).await;
                continue;
            }
        };
        open.retain(|(_, connection)| !connection.is_finished());
        let from = network_of(remote.ip());
        make_room(&mut open, from);
        let connection = tokio::spawn(timeout(LIFETIME, answer(stream, tls.clone(), page.clone())));
        open.push_back((from, connection.abort_handle()));
        sleep(APART).await;
    }
}

/// Ends connections so that there is room for one more from there.
fn make_room(open: &mut VecDeque<(IpAddr, AbortHandle)>, from: IpAddr) {
    let count = |of: IpAddr| open.iter().filter(|(address, _)| *address == of).count();
    let crowd = if count(from) >= CONNECTIONS_PER_ADDRESS {
        Some(from)
    } else if open.len() >= CONNECTIONS_MAX {
        open.iter().map(|(address, _)| *address).max_by_key(|address| count(*address))
    } else {
        None
    };
    let oldest = crowd.and_then(|crowd| open.iter().position(|(address, _)| *address == crowd));
    if let Some((_, connection)) = oldest.and_then(|oldest| open.remove(oldest)) {
        connection.abort();
    }
}

/// The address, or for IPv6 the network that a household has.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !0 << 64).into(),
        address => address,
    }
}

async fn answer(stream: TcpStream, tls: TlsAcceptor, page: Arc<Page>) {
    let mut first = [0];
    match timeout(HANDSHAKE_TIMEOUT, stream.peek(&mut first)).await {
        Ok(Ok(1)) => {}
        _ => return,
    }
    // Answers are written whole; nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    if first == [HANDSHAKE] {
        match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => speak(stream, move |request| page.answer(request)).await,
            Ok(Err(error)) => tracing::debug!(%error, "a handshake for the page has failed"),
            Err(_) => {}
        }
    } else {
        speak(stream, move |request| plain(&page, request)).await;
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    answer: impl Fn(&Request) -> Response,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES_MAX);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        // Nothing that is asked for has a body.
        let request = request.map(|_| Body::empty());
        ready(Ok::<_, Infallible>(answer(&request)))
    });
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection for the page has ended");
    }
}

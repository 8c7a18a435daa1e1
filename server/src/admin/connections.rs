//! Connections of the interface: few of them, and each says something soon.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// Connections at a time; beyond that the oldest gives way to the newest. Arbitrary: twice the
/// streams of events.
pub(super) const CONNECTIONS_MAX: usize = 64;
/// Longest time for the head of a request, and from one request of a connection to the next.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's head at most.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Time until the next attempt, where the process has no descriptor left.
const RETRY: Duration = Duration::from_secs(1);

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Answers at a listener for as long as the process runs.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "a connection of the administration cannot be taken");
                sleep(RETRY).await;
                continue;
            }
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() >= CONNECTIONS_MAX
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let router = router.clone().layer(Extension(Peer(peer.ip())));
        open.push_back(tokio::spawn(answer(stream, router)).abort_handle());
    }
}

async fn answer(stream: TcpStream, router: Router) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES_MAX);
    // It panics if the system clock is beyond the year 9999.
    http.auto_date_header(false);
    let service = TowerToHyperService::new(router);
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection of the administration has ended");
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::timeout;

    use super::*;
    use crate::tests::PATIENCE;

    #[tokio::test]
    async fn silent_connections_keep_nobody_out() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("it binds");
        let address = listener.local_addr().expect("it is bound");
        let router = Router::new().route("/", get(|| async { "here" }));
        tokio::spawn(serve(listener, router));
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            silent.push(TcpStream::connect(address).await.expect("it connects"));
        }
        let mut asking = TcpStream::connect(address).await.expect("it connects");
        let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        asking.write_all(request).await.expect("sent");
        let mut answer = String::new();
        timeout(PATIENCE, asking.read_to_string(&mut answer)).await.expect("soon").expect("read");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("here"), "{answer}");
        assert!(!answer.contains("date:"), "no clock is read: {answer}");
        let end = timeout(PATIENCE, silent[0].read(&mut [0; 8])).await.expect("it gave way");
        assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
    }
}

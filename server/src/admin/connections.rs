//! Connections of the API: limited in number, and each must send a request soon.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use axum::{Extension, Router};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

use crate::http::{Door, InFlight, accept, protocol};

/// Maximum connections at a time; beyond that, the newest replaces the oldest. Arbitrary: twice the
/// maximum of event streams.
pub(super) const CONNECTIONS_MAX: usize = 64;

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// The API behind its listener.
struct Interface(Router);

impl Door for Interface {
    const NAME: &'static str = "the administration";
    const CONNECTIONS_MAX: usize = CONNECTIONS_MAX;
    const PER_NETWORK_MAX: usize = CONNECTIONS_MAX;

    fn answer(
        self: Arc<Self>,
        stream: TcpStream,
        from: IpAddr,
        _in_flight: InFlight,
    ) -> impl Future<Output = ()> + Send + 'static {
        let router = self.0.clone().layer(Extension(Peer(from)));
        let served =
            protocol().serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
        async {
            if let Err(error) = served.await {
                tracing::debug!(%error, "a connection to the administration ended");
            }
        }
    }
}

/// Serves a listener for as long as the process runs.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    accept(listener, Arc::new(Interface(router))).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::timeout;

    use super::*;
    use crate::tests::PATIENCE;

    #[tokio::test]
    async fn silent_connections_do_not_block_others() {
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

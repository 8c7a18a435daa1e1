//! The driver: carries what quinn receives to the room and what the room says to quinn.
//!
//! One task owns the room. Each connection has a task that reads and one that writes. None can hold
//! up the room: what a client does not take is dropped or ends it, and what goes to the room is
//! bounded.

mod connection;
mod drive;
mod events;
mod handle;
mod newcomers;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::games::Games;
use phaselock::server::{ClientId, RoomConfig, Rotation};
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::ALPN;
use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{AsyncUdpSocket, Endpoint, Runtime, TokioRuntime, VarInt};
use tokio::sync::{Semaphore, mpsc};

use crate::clock::Clock;
use crate::identity::Identity;
use crate::settings::{self, SPARE_CONNECTIONS};
use crate::socket::{self, EcnCleared};
use drive::Driver;
use events::ToRoom;
pub use handle::{OrderError, ServerHandle};
use newcomers::Newcomers;

/// Datagrams and messages that wait for the room.
const EVENTS_MAX: usize = 8192;
/// Longest duration of the goodbyes when the server ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A server cannot be bound.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("cannot listen on {address}: {error}; is another server running there?")]
    Socket { address: SocketAddr, error: std::io::Error },
    #[error("cannot use the certificate: {0}")]
    Crypto(String),
}

/// A bound server that does not run yet.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    address: SocketAddr,
    handle: ServerHandle,
    host: handle::Host,
}

impl Server {
    /// Binds an address; port 0 lets the system choose one. Must be called within a tokio runtime.
    pub fn bind(address: SocketAddr, identity: &Identity) -> Result<Self, BindError> {
        let socket = socket::bind(address)
            .and_then(|socket| TokioRuntime.wrap_udp_socket(socket))
            .map_err(|error| BindError::Socket { address, error })?;
        Self::with_controller(socket, identity, None)
    }

    /// A server on any socket, optionally with another congestion controller, to compare.
    pub fn with_controller(
        socket: Arc<dyn AsyncUdpSocket>,
        identity: &Identity,
        controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
    ) -> Result<Self, BindError> {
        let crypto = |error: String| BindError::Crypto(error);
        let tls = identity.server_crypto(ALPN).map_err(|error| crypto(error.to_string()))?;
        let quic = QuicServerConfig::try_from(tls).map_err(|error| crypto(error.to_string()))?;
        let unbound = SocketAddr::from(([0; 4], 0));
        let address =
            socket.local_addr().map_err(|error| BindError::Socket { address: unbound, error })?;
        let endpoint = Endpoint::new_with_abstract_socket(
            settings::server_endpoint(identity),
            Some(settings::server_config(quic, controller)),
            Arc::new(EcnCleared(socket)),
            Arc::new(TokioRuntime),
        )
        .map_err(|error| BindError::Socket { address, error })?;
        let (handle, host) = handle::channel();
        Ok(Self { endpoint, address, handle, host })
    }

    #[cfg(test)]
    pub(crate) async fn accept(&self) -> quinn::Connection {
        let incoming = self.endpoint.accept().await.expect("the endpoint is open");
        incoming.await.expect("a handshake")
    }

    /// The host's hold on it, also while it [runs](Self::run).
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Plays these games in turn, each for the configured rounds, until `shutdown` resolves to the
    /// goodbye for the players. The room's start is set here. Without a game this returns at once.
    pub async fn run(
        self,
        games: &Games,
        mut config: RoomConfig,
        shutdown: impl Future<Output = Disconnect> + Send + 'static,
    ) {
        let clock = Clock::start();
        config.start = LocalTime(0);
        config.unix_micros = clock.unix_of_start();
        if games.names().count() < 2 {
            config.rounds = None;
        }
        let connections_max = usize::from(config.players_max) + SPARE_CONNECTIONS;

        let (events, received) = mpsc::channel(EVENTS_MAX);
        let to_room = ToRoom { events, clock };
        let accepting = tokio::spawn(accept(self.endpoint.clone(), to_room, connections_max));
        let mut driver = Driver::new(received, clock, self.host, Box::pin(shutdown));
        let mut rotation = Rotation::new(config);
        let entries: Vec<_> = games.iter().collect();
        for entry in entries.into_iter().cycle() {
            match driver.play((entry.open)(rotation, &entry.setup)).await {
                Some(next) => rotation = next,
                None => break,
            }
        }

        accepting.abort();
        let goodbye = self.endpoint.wait_idle();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, goodbye).await.is_err() {
            let code = VarInt::from_u32(u16::from(Code::Shutdown).into());
            self.endpoint.close(code, b"the server has stopped");
            let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.endpoint.wait_idle()).await;
        }
    }
}

async fn accept(endpoint: Endpoint, room: ToRoom, connections_max: usize) {
    let permits = Arc::new(Semaphore::new(connections_max));
    let newcomers = Newcomers::default();
    let mut next = 0;
    while let Some(incoming) = endpoint.accept().await {
        let remote = incoming.remote_address().ip();
        if settings::must_validate(&incoming, permits.available_permits(), connections_max) {
            // Fails only for an address that is validated already.
            let _ = incoming.retry();
            continue;
        }
        let admitted = Arc::clone(&permits).try_acquire_owned().ok().zip(newcomers.enter(remote));
        let Some((permit, newcomer)) = admitted else {
            tracing::debug!(%remote, "refused: too many connections");
            incoming.refuse();
            continue;
        };
        let (client, room) = (ClientId(next), room.clone());
        next += 1;
        tokio::spawn(connection::serve(incoming, client, room, permit, newcomer));
    }
}

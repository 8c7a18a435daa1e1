//! The driver: carries what comes over QUIC to the room, and what the room says to the clients.
//!
//! One task owns the socket, all connections and the room, over quinn's state machines:
//!
//! ```text
//! drive          a turn: packets in, tick, snapshots, packets out      handle: the host's orders
//!   network      all connections: whose packet, who may send, what is due
//!     packets    the socket, by batches        deadlines, newcomers    when, and who may come
//!     peer       one connection, from the first packet to the goodbye
//!       control  its stream of messages
//! ```
//!
//! No client can hold up the room: what a client does not take is dropped or ends it, and all that
//! waits is bounded.

mod control;
mod deadlines;
mod drive;
mod handle;
mod network;
mod newcomers;
mod packets;
mod peer;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use phaselock::games::Games;
use phaselock::server::{RoomConfig, Rotation};
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::protocol::ALPN;
use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime};
use quinn_proto::Endpoint;

use crate::clock::Clock;
use crate::identity::Identity;
use crate::settings::{self, SPARE_CONNECTIONS};
use crate::socket;
use drive::Driver;
pub use handle::{OrderError, ServerHandle};
use network::Network;

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
    socket: Arc<dyn AsyncUdpSocket>,
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
        let endpoint = Endpoint::new(
            Arc::new(settings::server_endpoint(identity)),
            Some(Arc::new(settings::server_config(quic, controller))),
            !socket.may_fragment(),
            None,
        );
        let (handle, host) = handle::channel();
        Ok(Self { socket, endpoint, address, handle, host })
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

        let network = Network::new(self.socket, self.endpoint, clock, connections_max);
        let mut driver = Driver::new(network, clock, self.host, Box::pin(shutdown));
        let mut rotation = Rotation::new(config);
        let entries: Vec<_> = games.iter().collect();
        for entry in entries.into_iter().cycle() {
            match driver.play((entry.open)(rotation, &entry.setup)).await {
                Some(next) => rotation = next,
                None => break,
            }
        }
    }
}

//! The driver: carries what quinn receives to the room and what the room says to quinn.
//!
//! One task owns the room. Each connection has a task that reads and one that writes; none of them
//! can hold up the room, because everything towards a client is dropped or ends it when it does
//! not keep up, and everything towards the room is bounded.

mod congestion;
mod connection;
mod drive;
pub mod socket;
mod transport;

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use phaselock::game::Game;
use phaselock::time::LocalTime;
use phaselock::wire::protocol::ALPN;
use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{AsyncUdpSocket, Endpoint, Runtime, TokioRuntime, VarInt};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;

use crate::identity::Identity;
use connection::Peer;
use drive::Driver;
pub use drive::{Stage, stage};
use phaselock::server::{ClientId, RoomConfig, Rotation};
use socket::Unmarked;
use transport::{NEWCOMERS_PER_ADDRESS_MAX, SPARE_CONNECTIONS};

/// Datagrams and messages that wait for the room.
const EVENTS_MAX: usize = 8192;
/// How long goodbyes may take when the server ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// What is wrong with what was given to [`Server::bind`].
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The address cannot be had.
    #[error("cannot listen on {address}: {error}; is another server running there?")]
    Socket {
        /// Which.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
    /// TLS does not take the certificate.
    #[error("cannot use the certificate: {0}")]
    Crypto(String),
}

/// A bound server that does not run yet.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    address: SocketAddr,
}

/// What goes from the connections to the room.
#[derive(Debug)]
enum Event {
    /// A control message's body; the first one of a client comes with its connection.
    Control {
        client: ClientId,
        body: Vec<u8>,
        arrival: LocalTime,
        peer: Option<Arc<Peer>>,
    },
    Datagram {
        client: ClientId,
        bytes: Bytes,
        arrival: LocalTime,
    },
    Lost {
        client: ClientId,
        reason: String,
    },
}

/// The connections' way to the room.
#[derive(Clone, Debug)]
struct ToRoom {
    events: mpsc::Sender<Event>,
    clock: Clock,
}

impl ToRoom {
    async fn send(&self, event: Event) {
        // Fails only when the room has ended, and with it everything else.
        let _ = self.events.send(event).await;
    }

    async fn lost(&self, client: ClientId, reason: String) {
        self.send(Event::Lost { client, reason }).await;
    }

    /// A datagram that finds no room is lost, as datagrams are.
    fn datagram(&self, client: ClientId, bytes: Bytes) {
        let arrival = self.clock.now();
        let _ = self.events.try_send(Event::Datagram { client, bytes, arrival });
    }
}

/// This process's monotonic clock; in tests that pause tokio's time, that time.
#[derive(Clone, Copy, Debug)]
struct Clock(Instant);

impl Clock {
    fn now(&self) -> LocalTime {
        LocalTime(i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX))
    }

    /// Unix time of its start by the host's clock, in microseconds. Of several readings the one counts
    /// that this thread was interrupted in the least.
    fn unix_of_start(&self) -> i64 {
        let readings = (0..5).map(|_| {
            let before = self.now();
            let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let took = (self.now() - before).0;
            let unix = i64::try_from(unix.as_micros()).unwrap_or(i64::MAX);
            (took, unix.saturating_sub(before.0 + took / 2))
        });
        readings.min().map_or(0, |(_, unix)| unix)
    }

    fn instant(&self, time: LocalTime) -> Instant {
        self.0 + Duration::from_micros(u64::try_from(time.0).unwrap_or(0))
    }
}

/// How many newcomers there are from each address or network.
#[derive(Clone, Debug, Default)]
struct Newcomers(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection that has no seat.
#[derive(Debug)]
struct Newcomer {
    all: Newcomers,
    address: IpAddr,
}

impl Newcomers {
    fn enter(&self, address: IpAddr) -> Option<Newcomer> {
        let address = match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            // A host commands all addresses of its network.
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= NEWCOMERS_PER_ADDRESS_MAX {
            return None;
        }
        *count += 1;
        Some(Newcomer { all: self.clone(), address })
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let mut counts = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

impl Server {
    /// Binds an address; port 0 lets the system choose one. Must be called within a tokio runtime.
    pub fn bind(address: SocketAddr, identity: &Identity) -> Result<Self, BindError> {
        let socket = socket::bind(address).map_err(|error| BindError::Socket { address, error })?;
        Self::on_socket(socket, identity)
    }

    /// The same on a socket that exists.
    pub fn on_socket(socket: UdpSocket, identity: &Identity) -> Result<Self, BindError> {
        let address = socket.local_addr().map_err(unbound)?;
        let socket = TokioRuntime
            .wrap_udp_socket(socket)
            .map_err(|error| BindError::Socket { address, error })?;
        Self::on_abstract(socket, identity)
    }

    /// The same on whatever carries packets.
    pub fn on_abstract(
        socket: Arc<dyn AsyncUdpSocket>,
        identity: &Identity,
    ) -> Result<Self, BindError> {
        Self::with_controller(socket, identity, None)
    }

    /// The same with another congestion controller than this crate's own, for whoever wants to compare.
    pub fn with_controller(
        socket: Arc<dyn AsyncUdpSocket>,
        identity: &Identity,
        controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
    ) -> Result<Self, BindError> {
        let crypto = |error: String| BindError::Crypto(error);
        let tls = identity.server_crypto(ALPN).map_err(|error| crypto(error.to_string()))?;
        let quic = QuicServerConfig::try_from(tls).map_err(|error| crypto(error.to_string()))?;
        let address = socket.local_addr().map_err(unbound)?;
        let endpoint = Endpoint::new_with_abstract_socket(
            transport::endpoint_config(),
            Some(transport::server_config(quic, controller)),
            Arc::new(Unmarked(socket)),
            Arc::new(TokioRuntime),
        )
        .map_err(|error| BindError::Socket { address, error })?;
        Ok(Self { endpoint, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Hosts a game until `shutdown` says why to stop; everybody is told. The room's start is set
    /// here.
    pub async fn run<G: Game>(
        self,
        config: RoomConfig,
        shutdown: impl Future<Output = String> + Send + 'static,
    ) {
        self.run_all(vec![stage::<G>()], config, shutdown).await;
    }

    /// The same with several games in turn, each for as many rounds as the configuration says. Without any
    /// there is nothing to do.
    pub async fn run_all(
        self,
        stages: Vec<Box<dyn Stage>>,
        mut config: RoomConfig,
        shutdown: impl Future<Output = String> + Send + 'static,
    ) {
        let clock = Clock(Instant::now());
        config.start = LocalTime(0);
        config.unix_micros = clock.unix_of_start();
        if stages.len() < 2 {
            config.rounds = None;
        }
        let places = usize::from(config.players_max) + SPARE_CONNECTIONS;

        let (events, received) = mpsc::channel(EVENTS_MAX);
        let to_room = ToRoom { events, clock };
        let accepting = tokio::spawn(accept(self.endpoint.clone(), to_room, places));
        let mut driver = Driver::new(received, clock, Box::pin(shutdown));
        let mut lobby = Rotation::new(config);
        for stage in stages.iter().cycle() {
            match stage.play(&mut driver, lobby).await {
                Some(next) => lobby = next,
                None => break,
            }
        }

        accepting.abort();
        let goodbye = self.endpoint.wait_idle();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, goodbye).await.is_err() {
            self.endpoint.close(VarInt::from_u32(0), b"the server has stopped");
            let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.endpoint.wait_idle()).await;
        }
    }
}

/// A socket that cannot tell where it is.
fn unbound(error: std::io::Error) -> BindError {
    BindError::Socket { address: ([0; 4], 0).into(), error }
}

async fn accept(endpoint: Endpoint, room: ToRoom, places: usize) {
    let permits = Arc::new(Semaphore::new(places));
    let newcomers = Newcomers::default();
    let mut next = 0;
    while let Some(incoming) = endpoint.accept().await {
        let remote = incoming.remote_address().ip();
        if transport::must_validate(&incoming, permits.available_permits(), places) {
            // Fails only for an address that is validated already.
            let _ = incoming.retry();
            continue;
        }
        let place = Arc::clone(&permits).try_acquire_owned().ok().zip(newcomers.enter(remote));
        let Some((permit, newcomer)) = place else {
            tracing::debug!(%remote, "refused: too many connections");
            incoming.refuse();
            continue;
        };
        let (client, room) = (ClientId(next), room.clone());
        next += 1;
        tokio::spawn(connection::serve(incoming, client, room, permit, newcomer));
    }
}

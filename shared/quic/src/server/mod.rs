//! The driver: carries what comes over QUIC to the rooms, and what they say to the clients.
//!
//! One task owns the socket, all connections and all rooms, over quinn's state machines:
//!
//! ```text
//! drive          a turn: packets in, ticks, snapshots, packets out     handle: the host's orders
//!   rooms        what runs here, game after game, and what panicked    directory: who goes where
//!     pause      a room between a panic and its next game
//!   network      all connections: who may send, what is due
//!     entrance   the sockets: whose packet, who may come in            newcomers: how many
//!       packets  packets by batches                                    shards: other threads
//!       doorkeeper  a stranger's packet: worth an answer or not        tally: how many were not
//!         peek, ids  its kind, and own connection ids
//!         buckets, recent, retry  its sender's tokens, haste and proof
//!     peer       one connection, from the first packet to the goodbye  deadlines: when
//!       control  its stream of messages
//! ```
//!
//! With several threads of rooms, the task with the socket has no rooms. A client moves to the
//! thread of its room with its first message, connection and all; from then on its packets go there
//! unread, and that thread sends by itself.
//!
//! No client can hold up a room: what a client does not take is dropped or ends it, and all that
//! waits is bounded.

mod buckets;
mod control;
mod deadlines;
mod directory;
mod doorkeeper;
mod drive;
mod entrance;
mod handle;
mod ids;
mod network;
mod newcomers;
mod packets;
mod pause;
mod peek;
mod peer;
mod plan;
mod recent;
mod retry;
mod rooms;
mod shards;
mod tally;

use std::future::Future;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aws_lc_rs::rand;
use phaselock::games::Games;
use phaselock::limits::ROOMS_MAX;
use phaselock::server::RoomConfig;
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::ALPN;
use phaselock::wire::query::Info;
use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime};
use quinn_proto::Endpoint;
use tokio::runtime::Builder;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::clock::Clock;
use crate::doorkeeping::Doorkeeping;
use crate::identity::Identity;
use crate::settings::{self, SPARE_CONNECTIONS};
use crate::socket;
use directory::Directory;
pub use directory::RoomFigures;
use doorkeeper::{Doorkeeper, Keys};
use drive::{Driver, Shard, Shutdown};
use entrance::{Entrance, Source};
use handle::{ORDERS_MAX, Order};
pub use handle::{OrderError, RoomEvent, ServerHandle};
pub(crate) use ids::OwnIds;
use network::Network;
use newcomers::SharedPlaces;
pub(crate) use peek::VERSION;
use plan::Plan;
pub use plan::RoomsConfig;
pub(crate) use retry::Mint;
use rooms::Rooms;
use shards::Inbox;

/// A server cannot be bound.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("cannot listen on {address}: {error}; is another server running there?")]
    Socket { address: SocketAddr, error: std::io::Error },
    #[error("cannot use the certificate: {0}")]
    Crypto(String),
}

/// The system gives a server no thread.
#[derive(Debug, thiserror::Error)]
#[error("cannot start a thread for rooms: {0}; use fewer")]
pub struct ThreadError(#[from] std::io::Error);

/// A bound server that does not run yet.
#[derive(Debug)]
pub struct Server {
    sockets: Vec<Arc<dyn AsyncUdpSocket>>,
    endpoint: Endpoint,
    addresses: Vec<SocketAddr>,
    handle: ServerHandle,
    host: handle::Host,
    doorkeeping: Doorkeeping,
    keys: Keys,
}

impl Server {
    /// Binds an address; port 0 lets the system choose one. Must be called within a tokio runtime.
    pub fn bind(address: SocketAddr, identity: &Identity) -> Result<Self, BindError> {
        Self::bind_all(&[address], identity)
    }

    /// Binds several addresses, all of which lead to the same rooms; a client is answered from the
    /// one that it came to. Must be called within a tokio runtime. Fails with the first address
    /// that cannot be bound.
    pub fn bind_all(addresses: &[SocketAddr], identity: &Identity) -> Result<Self, BindError> {
        let bind = |address: &SocketAddr| {
            socket::bind(*address)
                .and_then(|socket| TokioRuntime.wrap_udp_socket(socket))
                .map_err(|error| BindError::Socket { address: *address, error })
        };
        let sockets = addresses.iter().map(bind).collect::<Result<_, _>>()?;
        Self::on_sockets(sockets, identity, None, None)
    }

    /// A server on any socket, optionally with another congestion controller, to compare, and with
    /// a seed of QUIC's own random numbers, for tests that repeat.
    pub fn with_controller(
        socket: Arc<dyn AsyncUdpSocket>,
        identity: &Identity,
        controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
        seed: Option<u64>,
    ) -> Result<Self, BindError> {
        Self::on_sockets(vec![socket], identity, controller, seed)
    }

    fn on_sockets(
        sockets: Vec<Arc<dyn AsyncUdpSocket>>,
        identity: &Identity,
        controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
        seed: Option<u64>,
    ) -> Result<Self, BindError> {
        let crypto = |error: String| BindError::Crypto(error);
        let tls = identity.server_crypto(ALPN).map_err(|error| crypto(error.to_string()))?;
        let quic = QuicServerConfig::try_from(tls).map_err(|error| crypto(error.to_string()))?;
        let unbound = SocketAddr::from(([0; 4], 0));
        let address = |socket: &Arc<dyn AsyncUdpSocket>| {
            socket.local_addr().map_err(|error| BindError::Socket { address: unbound, error })
        };
        let addresses = sockets.iter().map(address).collect::<Result<_, _>>()?;
        let (mut secret, mut row_secret) = ([0; 32], seed.unwrap_or_default().to_le_bytes());
        let random = rand::fill(&mut secret).and_then(|()| match seed {
            None => rand::fill(&mut row_secret),
            Some(_) => Ok(()),
        });
        random.map_err(|error| crypto(error.to_string()))?;
        let ids = OwnIds::new(identity.id_secret());
        let mint = Mint::new(&secret);
        let config = settings::server_config(quic, controller, mint.clone());
        let crypto = Arc::clone(&config.crypto);
        let keys = Keys { secret: u64::from_le_bytes(row_secret), ids, mint, crypto };
        let endpoint = Endpoint::new(
            Arc::new(settings::server_endpoint(identity, ids, seed)),
            Some(Arc::new(config)),
            !sockets.iter().any(|socket| socket.may_fragment()),
            None,
        );
        let (handle, host) = handle::channel();
        let doorkeeping = Doorkeeping::default();
        Ok(Self { sockets, endpoint, addresses, handle, host, doorkeeping, keys })
    }

    /// The same with other bounds on what strangers may do.
    #[must_use]
    pub fn with_doorkeeping(self, doorkeeping: Doorkeeping) -> Self {
        Self { doorkeeping, ..self }
    }

    /// The host's hold on it, also while it [runs](Self::run).
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// The address that it listens on; of several the first.
    pub fn address(&self) -> SocketAddr {
        self.addresses.first().copied().unwrap_or_else(|| SocketAddr::from(([0; 4], 0)))
    }

    /// All addresses that it listens on, in the order in which they were given.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Plays these games in turn in one room, each for the configured rounds, until `shutdown`
    /// resolves to the goodbye for the players. The room's start is set here. Without a game this
    /// returns at once.
    ///
    /// # Panics
    ///
    /// If the rules of a game do.
    pub async fn run(
        self,
        games: &Games,
        config: RoomConfig,
        shutdown: impl Future<Output = Disconnect> + Send + 'static,
    ) {
        let plan = Plan::new(games, config, RoomsConfig::default(), false);
        // Only more threads can fail to start.
        let _ = self.play(plan, RoomsConfig::default(), Box::pin(shutdown)).await;
    }

    /// The same with any number of rooms. A room that panics goes on with its next game and the
    /// same players, or without them, and no other room notices; after three panics within a minute
    /// it is closed. Fails if the system gives no thread.
    pub async fn run_rooms(
        self,
        games: &Games,
        config: RoomConfig,
        rooms: RoomsConfig,
        shutdown: impl Future<Output = Disconnect> + Send + 'static,
    ) -> Result<(), ThreadError> {
        let plan = Plan::new(games, config, rooms, true);
        self.play(plan, rooms, Box::pin(shutdown)).await
    }

    async fn play(
        self,
        mut plan: Plan,
        rooms: RoomsConfig,
        shutdown: Shutdown,
    ) -> Result<(), ThreadError> {
        if plan.games.is_empty() {
            return Ok(());
        }
        let clock = Clock::start();
        plan.config.start = LocalTime(0);
        plan.config.unix_micros = clock.unix_of_start();
        let rooms_max = usize::from(rooms.rooms_max.max(rooms.rooms).clamp(1, ROOMS_MAX));
        let rooms_min = usize::from(rooms.rooms).clamp(1, rooms_max);
        let shards = if rooms.threads > 1 { usize::from(rooms.threads) } else { 0 };
        let players_max = plan.config.players_max;
        let places = usize::from(players_max) * rooms_max + SPARE_CONNECTIONS;

        let Self { sockets, endpoint, host, doorkeeping, keys, .. } = self;
        let doorkeeping = doorkeeping.for_seats(usize::from(players_max) * rooms_max);
        host.directory.found(rooms_min, rooms_max, shards.max(1), players_max);
        let start = clock.instant(LocalTime(0)).into_std();
        let common = Common {
            sockets,
            clock,
            places: SharedPlaces::new(places, doorkeeping, keys.secret, start),
            plan: Arc::new(plan),
            directory: host.directory,
            events: host.events,
        };
        let (lines, inboxes) = shards::lines(shards);
        let started = inboxes.into_iter().enumerate();
        let started: Vec<_> =
            started.map(|(at, inbox)| common.start(at, inbox)).collect::<Result<_, _>>()?;
        let (shards, threads): (Vec<_>, Vec<_>) = started.into_iter().unzip();

        let lines = (!shards.is_empty()).then_some(lines);
        let info = Info {
            server: common.plan.config.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            games: common.plan.games.iter().map(|entry| entry.name.into()).collect(),
            ..Info::default()
        };
        let doorkeeper = Doorkeeper::new(doorkeeping, keys, start);
        let entrance = Entrance::new(common.sockets.clone(), endpoint, doorkeeper, info, lines);
        let source = Source::Socket(Box::new(entrance));
        // Behind the threads of rooms, this one has none.
        common.driver(shards.len(), source, host.orders, shutdown, shards).run().await;
        for thread in threads {
            end(thread);
        }
        Ok(())
    }
}

/// All that the threads of a server have in common.
#[derive(Clone, Debug)]
struct Common {
    sockets: Vec<Arc<dyn AsyncUdpSocket>>,
    clock: Clock,
    places: SharedPlaces,
    plan: Arc<Plan>,
    directory: Arc<Directory>,
    events: broadcast::Sender<RoomEvent>,
}

impl Common {
    /// The driver of a thread, whose rooms it opens.
    fn driver(
        self,
        shard: usize,
        source: Source,
        orders: mpsc::Receiver<Order>,
        shutdown: Shutdown,
        shards: Vec<Shard>,
    ) -> Driver {
        let Self { sockets, clock, places, plan, directory, events } = self;
        let network = Network::new(&sockets, source, clock, places);
        let rooms = Rooms::open(plan, directory, clock, shard, events);
        Driver::new(network, rooms, clock, orders, shutdown, shards)
    }

    /// Starts a thread of rooms.
    fn start(&self, shard: usize, inbox: Inbox) -> Result<(Shard, JoinHandle<()>), ThreadError> {
        let (order_sender, orders) = mpsc::channel(ORDERS_MAX);
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move {
            let text = "the server has stopped";
            stopped.await.unwrap_or_else(|_| Disconnect::new(Code::Shutdown, text))
        };
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let common = self.clone();
        let thread = thread::Builder::new().name(format!("rooms-{shard}")).spawn(move || {
            runtime.block_on(async {
                let source = Source::Inbox(Box::new(inbox));
                common.driver(shard, source, orders, Box::pin(shutdown), Vec::new()).run().await;
            });
        })?;
        Ok((Shard { orders: order_sender, stop }, thread))
    }
}

/// Looks at a thread that is about to end, and the time between them.
const ENDING: (u32, Duration) = (200, Duration::from_millis(5));

/// Takes in the end of a thread, and goes on with its panic, if it did. One whose rules never end
/// is left behind.
fn end(thread: JoinHandle<()>) {
    // It has nothing more to do but to end, unless a game holds it.
    for _ in (0..ENDING.0).take_while(|_| !thread.is_finished()) {
        thread::sleep(ENDING.1);
    }
    if !thread.is_finished() {
        tracing::error!(name = thread.thread().name(), "a thread of rooms does not end");
        return;
    }
    if let Err(panic) = thread.join() {
        resume_unwind(panic);
    }
}

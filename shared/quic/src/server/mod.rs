//! The server's driver: carries data between QUIC and the rooms.
//!
//! One task owns the socket, all connections and all rooms, over quinn's state machines:
//!
//! ```text
//! drive          a turn: packets in, ticks, snapshots, packets out     handle: the host's commands
//!   rooms        the rooms of this thread, their games and panics      directory: all rooms
//!     keeping, figures, news, orders                                   hosting: gate and keeper
//!     meter      a room's durations and inputs                         plan: settings
//!     pause      a room between a panic and its next game
//!   network      the connections of this thread, and their deadlines
//!     entrance   received packets, and new connections                 newcomers: their places
//!       outlet   sent packets                                          shards: other threads
//!       doorkeeper  decides about strangers' packets                   tally: refusals
//!         peek, ids  a packet's kind, and own connection ids           endpoint: QUIC's settings
//!         buckets, recent, retry  rate limits, recent addresses, proof of an address
//!     peer       one connection, from the first packet to the goodbye  deadlines: when
//!       control  its control stream
//! ```
//!
//! With several room threads, the socket's task has no rooms. With its first message, a client
//! moves to the thread of its room, including the connection. From then on its packets are
//! forwarded there unread, and that thread sends by itself.
//!
//! No client can delay a room: data that a client does not accept is dropped or ends its
//! connection, and all queues are bounded.

pub mod buckets;
mod control;
mod counters;
mod deadlines;
mod directory;
mod doorkeeper;
mod drive;
mod endpoint;
mod entrance;
mod handle;
mod hosting;
mod ids;
mod meter;
mod network;
mod newcomers;
mod outlet;
mod pause;
mod peek;
mod peer;
mod plan;
mod recent;
mod retry;
mod rooms;
mod shards;
mod tally;
mod web;

use std::future::Future;
use std::mem;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use phaselock::games::Games;
use phaselock::limits::ROOMS_MAX;
use phaselock::link::Conditions;
use phaselock::server::{RoomConfig, Workers};
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::query::Info;
use quinn::AsyncUdpSocket;
use quinn::congestion::ControllerFactory;
use quinn_proto::Endpoint;
use tokio::runtime::Builder;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::timeout;

use crate::clock::Clock;
use crate::conditioned::ConditionedSocket;
use crate::doorkeeping::Doorkeeping;
use crate::identity::{Identity, Signer};
use crate::socket;
use crate::web::WebOptions;
use crate::workers::Pool;
use counters::Counters;
pub use counters::Traffic;
use directory::Directory;
pub use directory::RoomFigures;
use doorkeeper::{Doorkeeper, Keys};
use drive::{Control, Driver, Shard, Shutdown};
pub use endpoint::BindError;
use entrance::{Entrance, Source};
pub use handle::{OrderError, RoomEvent, ServerHandle};
use handle::{Running, THREAD_ORDERS_MAX, places_for};
use hosting::Hosting;
pub use hosting::{Archive, Departure, Gate, Keeper, Leaving, Open, Recorded, RecordingEnd};
use ids::OwnIds;
pub use meter::{InputCounts, Measured, TIME_CLASSES, TickMicros, Times};
use network::Network;
use newcomers::SharedPlaces;
use plan::Plan;
pub use plan::{RoomsConfig, SettingsByRoom};
use retry::Mint;
use rooms::Rooms;
use shards::Inbox;
use web::Web;

/// A room thread failed.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// The system could not start it.
    #[error("cannot start a thread for rooms: {0}; use fewer room threads")]
    Start(#[from] std::io::Error),
    /// The thread panicked outside of its rooms.
    #[error("the thread {0} of the server panicked; its log has the panic: please report it")]
    Panicked(String),
}

/// A bound server that does not run yet.
#[derive(Debug)]
pub struct Server {
    sockets: Vec<Arc<dyn AsyncUdpSocket>>,
    endpoint: Endpoint,
    addresses: Vec<SocketAddr>,
    handle: ServerHandle,
    host: handle::Host,
    hosting: Hosting,
    doorkeeping: Doorkeeping,
    keys: Keys,
    signer: Signer,
    browsers: Option<Arc<Web>>,
}

impl Server {
    /// Binds an address. With port 0 the system chooses a port. Must be called within a tokio
    /// runtime.
    pub fn bind(address: SocketAddr, identity: &Identity) -> Result<Self, BindError> {
        Self::bind_all(&[address], identity)
    }

    /// Binds several addresses, which all lead to the same rooms; a client is answered from the
    /// address that it contacted. Must be called within a tokio runtime. Fails with the first
    /// address that cannot be bound.
    pub fn bind_all(addresses: &[SocketAddr], identity: &Identity) -> Result<Self, BindError> {
        let bind = |address: &SocketAddr| {
            socket::bind(*address)
                .and_then(socket::wrap)
                .map_err(|error| BindError::Socket { address: *address, error })
        };
        let sockets = addresses.iter().map(bind).collect::<Result<_, _>>()?;
        Self::on_sockets(sockets, identity, None, None)
    }

    /// Creates a server on any socket, optionally with another congestion controller, for
    /// comparison, and with a seed for QUIC's own random numbers, for reproducible tests.
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
        let unbound = SocketAddr::from(([0; 4], 0));
        let address = |socket: &Arc<dyn AsyncUdpSocket>| {
            socket.local_addr().map_err(|error| BindError::Socket { address: unbound, error })
        };
        let addresses = sockets.iter().map(address).collect::<Result<_, _>>()?;
        let (mut secret, mut row_secret) = ([0; 32], seed.unwrap_or_default().to_le_bytes());
        let random = getrandom::fill(&mut secret).and_then(|()| match seed {
            None => getrandom::fill(&mut row_secret),
            Some(_) => Ok(()),
        });
        random.map_err(|error| crypto(error.to_string()))?;
        let ids = OwnIds::new(identity.id_secret());
        let mint = Mint::new(&secret);
        let config = endpoint::server_config(identity, false, controller, mint.clone())?;
        let crypto = Arc::clone(&config.crypto);
        let keys = Keys { secret: u64::from_le_bytes(row_secret), ids, mint, crypto };
        let endpoint = Endpoint::new(
            Arc::new(endpoint::endpoint_config(identity, ids, seed)),
            Some(Arc::new(config)),
            !sockets.iter().any(|socket| socket.may_fragment()),
            None,
        );
        let (handle, host) = handle::channel();
        let hosting = Hosting { counters: Arc::clone(&host.counters), ..Hosting::default() };
        let doorkeeping = Doorkeeping::default();
        let signer = identity.signer();
        Ok(Self {
            sockets,
            endpoint,
            addresses,
            handle,
            host,
            hosting,
            doorkeeping,
            keys,
            signer,
            browsers: None,
        })
    }

    /// Adds simulated network conditions, which all clients share; their times count from now on.
    /// Must be called within a tokio runtime.
    #[must_use]
    pub fn behind(mut self, conditions: &Conditions) -> Self {
        let clock = Clock::start();
        let wrap = |socket| -> Arc<dyn AsyncUdpSocket> {
            ConditionedSocket::of_server(socket, conditions, clock)
        };
        self.sockets = self.sockets.into_iter().map(wrap).collect();
        self
    }

    /// Adds a gate that newcomers must pass.
    #[must_use]
    pub fn guarded_by(mut self, gate: Arc<dyn Gate>) -> Self {
        self.hosting.gate = gate;
        self
    }

    /// Adds a keeper, so that rooms continue after the next start; see
    /// [`run_rooms`](Self::run_rooms).
    #[must_use]
    pub fn with_keeper(mut self, keeper: Arc<dyn Keeper>) -> Self {
        self.hosting.keeper = Some(keeper);
        self
    }

    /// Adds an archive for the recordings of rooms that are configured to
    /// [record](phaselock::server::RoomConfig::record).
    #[must_use]
    pub fn archived_by(mut self, archive: Arc<dyn Archive>) -> Self {
        self.hosting.archive = Some(archive);
        self
    }

    /// Sets the limits on what strangers may do.
    #[must_use]
    pub fn with_doorkeeping(self, doorkeeping: Doorkeeping) -> Self {
        Self { doorkeeping, ..self }
    }

    /// Lets browsers connect too, at the same addresses, with WebTransport. `identity` must be the
    /// one with which the server was bound.
    pub fn for_browsers(
        mut self,
        identity: &Identity,
        options: WebOptions,
    ) -> Result<Self, BindError> {
        let config = endpoint::server_config(identity, true, None, self.keys.mint.clone())?;
        self.keys.crypto = Arc::clone(&config.crypto);
        self.endpoint.set_server_config(Some(Arc::new(config)));
        self.browsers = Some(Arc::new(Web { options, certificates: identity.web() }));
        Ok(self)
    }

    /// Returns a handle for controlling the server, also while it [runs](Self::run).
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Returns the address that it listens on; the first if there are several.
    pub fn address(&self) -> SocketAddr {
        self.addresses.first().copied().unwrap_or_else(|| SocketAddr::from(([0; 4], 0)))
    }

    /// Returns all addresses that it listens on, in the given order.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Plays these games in turn in one room, each for the configured rounds, until `shutdown`
    /// resolves to the goodbye for the players. Sets the room's start itself. Returns at once if
    /// there is no game.
    ///
    /// # Panics
    ///
    /// If the rules of a game panic.
    pub async fn run(
        self,
        games: &Games,
        config: RoomConfig,
        shutdown: impl Future<Output = Disconnect> + Send + 'static,
    ) {
        let plan = self.plan(games, config, RoomsConfig::default(), false);
        // Only additional threads can fail to start.
        let _ = self.play(plan, RoomsConfig::default(), Box::pin(shutdown)).await;
    }

    /// Plays in any number of rooms, as [`run`](Self::run) does in one. A room that panics
    /// continues with its next game and its players, if possible, and no other room notices; after
    /// three panics within a minute it is closed.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread, or a thread panics outside of its rooms. In the latter
    /// case the players are notified first, within a second.
    pub async fn run_rooms(
        self,
        games: &Games,
        config: RoomConfig,
        rooms: RoomsConfig,
        shutdown: impl Future<Output = Disconnect> + Send + 'static,
    ) -> Result<(), ThreadError> {
        let plan = self.plan(games, config, rooms, true);
        self.play(plan, rooms, Box::pin(shutdown)).await
    }

    fn plan(&self, games: &Games, config: RoomConfig, rooms: RoomsConfig, catches: bool) -> Plan {
        let config = RoomConfig { version: games.version(), ..config };
        let hosting = self.hosting.clone();
        self.host.games.set(games);
        let (games, changes) = (self.host.games.clone(), Arc::clone(&self.host.changes));
        let (empty, is_many) = (rooms.empty, rooms.rooms.max(rooms.rooms_max) > 1);
        Plan { games, config, empty, is_many, catches, changes, hosting }
    }

    async fn play(
        self,
        mut plan: Plan,
        rooms: RoomsConfig,
        shutdown: Shutdown,
    ) -> Result<(), ThreadError> {
        if plan.games.all().is_empty() {
            return Ok(());
        }
        let clock = Clock::start();
        plan.config.start = LocalTime(0);
        let workers = || -> Arc<dyn Workers> { Arc::new(Pool::for_rooms(rooms.threads)) };
        plan.config.workers.get_or_insert_with(workers);
        plan.config.unix_micros = clock.unix_of_start();
        let rooms_max = usize::from(rooms.rooms_max.max(rooms.rooms).clamp(1, ROOMS_MAX));
        let rooms_min = usize::from(rooms.rooms).clamp(1, rooms_max);
        let shards = if rooms.threads > 1 { usize::from(rooms.threads) } else { 0 };
        let (players_max, watchers_max) = plan.most();
        let places = places_for(players_max, watchers_max, rooms_max);

        let Self { sockets, endpoint, host, doorkeeping, keys, signer, browsers, .. } = self;
        let doorkeeping = doorkeeping.for_seats(usize::from(players_max) * rooms_max);
        host.directory.found(rooms_min, rooms_max, shards.max(1), players_max);
        let start = clock.instant(LocalTime(0)).into_std();
        let places = SharedPlaces::new(places, doorkeeping, keys.secret, start);
        if let Some(keeper) = &plan.hosting.keeper {
            for room in host.directory.list_stored(keeper.stored_rooms()) {
                // A checkpoint that is much older would be a world of ghosts.
                drop(keeper.take(&room));
                keeper.forget(&room);
            }
        }
        // This is the first time: a server runs once.
        let running = Running { clock, places: places.clone(), rooms_max };
        let _ = host.running.set(running);
        let common = Common {
            sockets,
            clock,
            places,
            plan: Arc::new(plan),
            directory: host.directory,
            events: host.events,
            counters: host.counters,
        };
        let (lines, inboxes) = shards::lines(shards);
        let (alarm, mut alarms) = mpsc::unbounded_channel();
        let started = inboxes.into_iter().enumerate();
        let started: Vec<_> =
            started.map(|(at, inbox)| common.start(at, inbox, &alarm)).collect::<Result<_, _>>()?;
        let (shards, threads): (Vec<_>, Vec<_>) = started.into_iter().unzip();

        let lines = (!shards.is_empty()).then_some(lines);
        let info = Info {
            server: common.plan.config.settings.name.clone(),
            version: common.plan.config.version.into(),
            ..Info::default()
        };
        let doorkeeper = Doorkeeper::new(doorkeeping, keys, start);
        let info = (info, signer);
        let entrance = Entrance::new(common.sockets.clone(), endpoint, doorkeeper, info, lines);
        let source = Source::Socket(Box::new(entrance.for_browsers(browsers)));
        let (broken, is_broken) = oneshot::channel();
        let shutdown = async move {
            tokio::select! {
                goodbye = shutdown => goodbye,
                Ok(goodbye) = is_broken => goodbye,
            }
        };
        // This thread, after the room threads, has no rooms.
        let shard = shards.len();
        let control = Control { orders: host.orders, shutdown: Box::pin(shutdown), shards };
        let driver = common.driver(shard, source, control);
        let mut run = pin!(driver.run());
        tokio::select! {
            () = &mut run => threads.into_iter().try_for_each(end),
            Some(name) = alarms.recv() => {
                let text = "a part of the server has stopped; join again";
                // The server may be stopping already.
                let _ = broken.send(Disconnect::new(Code::Shutdown, text));
                let _ = timeout(BROKEN_TIMEOUT, run).await;
                Err(ThreadError::Panicked(name))
            }
        }
    }
}

/// What all threads of a server share.
#[derive(Clone, Debug)]
struct Common {
    sockets: Vec<Arc<dyn AsyncUdpSocket>>,
    clock: Clock,
    places: SharedPlaces,
    plan: Arc<Plan>,
    directory: Arc<Directory>,
    events: broadcast::Sender<Arc<RoomEvent>>,
    counters: Arc<Counters>,
}

impl Common {
    /// Creates the driver of a thread, whose rooms it opens.
    fn driver(self, shard: usize, source: Source, control: Control) -> Driver {
        let Self { sockets, clock, places, plan, directory, events, counters } = self;
        let network = Network::new(&sockets, source, clock, places, counters);
        let rooms = Rooms::open(plan, directory, clock, shard, events);
        Driver::new(network, rooms, clock, control)
    }

    /// Starts a room thread.
    fn start(
        &self,
        shard: usize,
        inbox: Inbox,
        alarm: &mpsc::UnboundedSender<String>,
    ) -> Result<(Shard, JoinHandle<()>), ThreadError> {
        let (order_sender, orders) = mpsc::channel(THREAD_ORDERS_MAX);
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move {
            let text = "the server has stopped";
            stopped.await.unwrap_or_else(|_| Disconnect::new(Code::Shutdown, text))
        };
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let common = self.clone();
        let name = format!("rooms-{shard}");
        let alarm = Alarm { name: name.clone(), sender: alarm.clone() };
        let thread = thread::Builder::new().name(name).spawn(move || {
            let _alarm = alarm;
            runtime.block_on(async {
                let source = Source::Inbox(Box::new(inbox));
                let shutdown = Box::pin(shutdown);
                let control = Control { orders, shutdown, shards: Vec::new() };
                common.driver(shard, source, control).run().await;
            });
        })?;
        Ok((Shard { orders: order_sender, stop }, thread))
    }
}

/// Reports a panic of its thread.
struct Alarm {
    name: String,
    sender: mpsc::UnboundedSender<String>,
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            // The server may have ended before.
            let _ = self.sender.send(mem::take(&mut self.name));
        }
    }
}

/// Time for the goodbyes of a server that has lost a room thread.
const BROKEN_TIMEOUT: Duration = Duration::from_millis(600);
/// Number of checks whether a thread has ended, and the time between them.
const ENDING: (u32, Duration) = (200, Duration::from_millis(5));

/// Waits for the end of a thread, and fails with its panic. A thread whose rules never return is
/// abandoned.
fn end(thread: JoinHandle<()>) -> Result<(), ThreadError> {
    // It has nothing left to do, unless a game blocks it.
    for _ in (0..ENDING.0).take_while(|_| !thread.is_finished()) {
        thread::sleep(ENDING.1);
    }
    let name = thread.thread().name().unwrap_or_default().to_owned();
    if !thread.is_finished() {
        tracing::error!(name: "thread_not_ending", name, "a room thread does not stop");
        return Ok(());
    }
    thread.join().map_err(|_| ThreadError::Panicked(name))
}

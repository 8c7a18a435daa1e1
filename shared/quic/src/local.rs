//! A server inside another program, on a separate thread and a port chosen by the system.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::thread::JoinHandle;

use phaselock::fingerprint::Fingerprint;
pub use phaselock::games::Bots;
use phaselock::games::Games;
use phaselock::server::RoomConfig;
use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::identity::{Identity, IdentityError, map_seed};
use crate::server::{BindError, Server, ServerHandle};
use crate::survey::LAN_PORTS;

/// Why a server did not start.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("cannot start a server in this process: {0}; close other programs and try again")]
    System(#[from] io::Error),
}

/// A running server. It stops when dropped.
#[derive(Debug)]
pub struct LocalServer {
    address: SocketAddr,
    fingerprint: Fingerprint,
    stop: Option<oneshot::Sender<String>>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl LocalServer {
    /// Starts a server for this machine only, with two rounds of each of these games in turn.
    pub fn start(games: Games, bots: impl Into<Bots>) -> Result<Self, LocalError> {
        let seed = Clock::seed();
        let Bots { count, strength } = bots.into();
        let config =
            RoomConfig { seed, map_seed: map_seed(seed), ..RoomConfig::default() }.with(|it| {
                it.name = "This computer".into();
                it.bots = count;
                it.strength = strength;
                it.rounds = Some(2);
                // The others are bots.
                it.watchers_max = 4;
                it.watch_delay = Some(Micros::ZERO);
            });
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self::start_with(games, config, address, Identity::ephemeral()?)
    }

    /// Starts a server that players on the local network can find too: at the default port or the
    /// next free one, with the identity in a folder, so that friends recognise it.
    pub fn start_open(
        games: Games,
        bots: impl Into<Bots>,
        name: &str,
        folder: &Path,
    ) -> Result<Self, LocalError> {
        let seed = Clock::seed();
        let Bots { count, strength } = bots.into();
        let ports = LAN_PORTS.chain([0]);
        let mut last = None;
        for port in ports {
            let config = RoomConfig { seed, map_seed: map_seed(seed), ..RoomConfig::default() }
                .with(|it| {
                    it.name = name.to_owned();
                    it.bots = count;
                    it.strength = strength;
                    it.rounds = Some(2);
                });
            let address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
            let identity = Identity::load_or_create(folder)?;
            match Self::start_with(games.clone(), config, address, identity) {
                Err(error @ LocalError::Bind(_)) => last = Some(error),
                started => return started,
            }
        }
        Err(last.unwrap_or_else(|| io::Error::from(io::ErrorKind::AddrInUse).into()))
    }

    /// Starts a server with a configuration, an address and an identity.
    pub fn start_with(
        games: Games,
        config: RoomConfig,
        address: SocketAddr,
        identity: Identity,
    ) -> Result<Self, LocalError> {
        Self::start_bound(games, config, &identity, |identity| Server::bind(address, identity))
    }

    /// Starts a server that `bind` creates, for settings beyond those of a room, such as
    /// [`Server::with_doorkeeping`] or [`Server::guarded_by`].
    pub fn start_bound(
        games: Games,
        config: RoomConfig,
        identity: &Identity,
        bind: impl FnOnce(&Identity) -> Result<Server, BindError>,
    ) -> Result<Self, LocalError> {
        let fingerprint = identity.fingerprint;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let server = {
            let _inside = runtime.enter();
            bind(identity)?
        };
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move {
            // A dropped sender is a reason too.
            let text = stopped.await.unwrap_or_else(|_| "the server has stopped".to_owned());
            Disconnect::new(Code::Shutdown, text)
        };
        let handle = server.handle();
        let thread = std::thread::Builder::new().name("server".into()).spawn(move || {
            runtime.block_on(server.run(&games, config, shutdown));
        })?;
        Ok(Self { address, fingerprint, stop: Some(stop), handle, thread: Some(thread) })
    }

    /// Returns the address to join.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the handle for controlling the server.
    pub fn handle(&self) -> &ServerHandle {
        &self.handle
    }

    /// Returns the fingerprint of its certificate.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Whether it is still running. It stops by itself only when it is drained, or when the rules
    /// panic.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops the server and waits until all players have been sent the reason.
    ///
    /// # Panics
    ///
    /// If the server panicked, for example in the rules of a game.
    pub fn stop(mut self, reason: &str) {
        if let Err(panic) = self.end(reason) {
            std::panic::resume_unwind(panic);
        }
    }

    fn end(&mut self, reason: &str) -> std::thread::Result<()> {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(reason.to_owned());
        }
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

/// Returns the addresses by which others on the local network reach this machine, the likeliest
/// first. Sends nothing.
pub fn own_addresses() -> Vec<IpAddr> {
    // The route to a documentation address is the default route (RFC 5737, RFC 3849).
    let ways = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];
    let own = ways.into_iter().filter_map(|(any, far)| {
        let socket = UdpSocket::bind(any).ok()?;
        socket.connect(far).ok()?;
        Some(socket.local_addr().ok()?.ip())
    });
    own.filter(|ip| !ip.is_loopback() && !ip.is_unspecified()).collect()
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        let _ = self.end("the server has stopped");
    }
}

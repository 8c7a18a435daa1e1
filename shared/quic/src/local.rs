//! A server inside another program, on a thread of its own and a port of the system's choice.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use phaselock::fingerprint::Fingerprint;
use phaselock::games::Games;
use phaselock::server::RoomConfig;
use phaselock::wire::disconnect::{Code, Disconnect};
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::identity::{Identity, IdentityError, map_seed};
use crate::server::{BindError, Server, ServerHandle};

/// A server did not start.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("cannot start a server in this process: {0}; close other programs and try again")]
    System(#[from] std::io::Error),
}

/// A running server; it stops when this is dropped.
#[derive(Debug)]
pub struct LocalServer {
    address: SocketAddr,
    fingerprint: Fingerprint,
    stop: Option<oneshot::Sender<String>>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl LocalServer {
    /// Starts a server for this machine alone, with two rounds of each of these games in turn.
    pub fn start(games: Games, bots: u16) -> Result<Self, LocalError> {
        let seed = Clock::seed();
        let config = RoomConfig {
            name: "This computer".into(),
            seed,
            map_seed: map_seed(seed),
            bots,
            rounds: Some(2),
            ..RoomConfig::default()
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self::start_with(games, config, address, Identity::ephemeral()?)
    }

    /// Starts a server with a configuration, an address and an identity.
    pub fn start_with(
        games: Games,
        config: RoomConfig,
        address: SocketAddr,
        identity: Identity,
    ) -> Result<Self, LocalError> {
        let fingerprint = identity.fingerprint;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let server = {
            let _inside = runtime.enter();
            Server::bind(address, &identity)?
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

    /// Address to join.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host's hold on it.
    pub fn handle(&self) -> &ServerHandle {
        &self.handle
    }

    /// Fingerprint of its certificate.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Tells whether it still runs. It ends by itself only when it is drained, or when the rules
    /// panic.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops it and waits until everybody was told the reason.
    ///
    /// # Panics
    ///
    /// If the server did, such as in the rules of a game.
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

impl Drop for LocalServer {
    fn drop(&mut self) {
        let _ = self.end("the server has stopped");
    }
}

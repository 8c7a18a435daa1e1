//! Joining, playing, losing the server and joining again.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{
    ClientMessage, Hello, ServerMessage, Welcome, body_len, frame, printable,
};
use phaselock::wire::protocol::{ALPN, wire_hash};
use phaselock_games as games;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream, TokioRuntime,
    VarInt,
};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::conditioned::Conditioned;
use super::pins::KnownHosts;
use super::sockets::Unmarked;
use super::verify::{Observed, Seen, client_crypto};
use super::{Clock, Command, Event, Options, Pins, State, back_off, transport};

/// A server that does not answer for so long is tried at its next address, or later.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// A server that is silent for so long in the game is lost: ninety snapshots at 30 a second.
const SILENCE: Duration = Duration::from_secs(3);
/// A wait for [`SILENCE`] that took so long was a sleep of this machine.
const SLEPT: Micros = Micros::from_ms(4000);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);
/// Why a session ended.
enum End {
    /// The player left.
    Left(String),
    /// Try again later.
    Retry(String),
    /// Trying again would be in vain.
    Final(String),
}

/// The network's side of a client.
#[derive(Debug)]
pub(super) struct Session {
    options: Options,
    clock: Clock,
    events: mpsc::Sender<Event>,
    commands: mpsc::Receiver<Command>,
}

impl Session {
    pub(super) fn new(
        mut options: Options,
        clock: Clock,
        events: mpsc::Sender<Event>,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        if let Some(link) = options.link.take() {
            options.sockets = Arc::new(Conditioned::new(options.sockets, link, clock));
        }
        Self { options, clock, events, commands }
    }

    /// Runs until the player leaves or the server does not want it.
    pub(super) async fn run(mut self) {
        let mut attempt = 1;
        loop {
            self.tell(Event::State(State::Connecting { attempt })).await;
            let mut joined = false;
            let reason = match self.join_and_play(&mut joined).await {
                End::Left(reason) => return tracing::debug!(reason, "left"),
                End::Final(reason) => {
                    return self.tell(Event::State(State::Ended { reason })).await;
                }
                End::Retry(reason) => reason,
            };
            if joined {
                attempt = 0;
            }
            let wait = back_off(attempt.max(1));
            let retry_at = self.clock.now() + wait;
            tracing::debug!(reason, %wait, "waiting to join again");
            self.tell(Event::State(State::Waiting { reason, retry_at, attempt })).await;
            if self.left_before(retry_at).await {
                return;
            }
            attempt += 1;
        }
    }

    async fn tell(&self, event: Event) {
        // Fails only when nobody listens any more; `commands` then ends too.
        let _ = self.events.send(event).await;
    }

    /// Waits; returns whether the player left meanwhile.
    async fn left_before(&mut self, time: LocalTime) -> bool {
        let until = tokio::time::sleep_until(self.clock.instant(time));
        tokio::pin!(until);
        loop {
            tokio::select! {
                () = &mut until => return false,
                command = self.commands.recv() => match command {
                    Some(Command::Datagram(_)) => {} // There is no connection to send it on.
                    Some(Command::Leave(_)) | None => return true,
                }
            }
        }
    }

    async fn join_and_play(&mut self, joined: &mut bool) -> End {
        let in_game = {
            let joining = join(&self.options, self.clock, &self.events);
            tokio::pin!(joining);
            loop {
                tokio::select! {
                    result = &mut joining => match result {
                        Ok(in_game) => break in_game,
                        Err(end) => return end,
                    },
                    command = self.commands.recv() => match command {
                        Some(Command::Datagram(_)) => {}
                        Some(Command::Leave(reason)) => return End::Left(reason),
                        None => return End::Left("the player is gone".into()),
                    }
                }
            }
        };
        *joined = true;
        // The stream ends when its sender is dropped, so it lives as long as the session.
        let InGame { endpoint, connection, send: _send, receive, welcome, hello_sent, at } =
            in_game;
        // The welcome first: whoever sees that the client is connected must not go on with the
        // session before.
        self.tell(Event::Welcome { welcome, hello_sent, at }).await;
        self.tell(Event::State(State::Connected)).await;
        let end = self.play(&connection, receive).await;
        let reason = match &end {
            End::Left(reason) => reason.clone(),
            End::Retry(reason) | End::Final(reason) => format!("giving up: {reason}"),
        };
        connection.close(VarInt::from_u32(0), reason.as_bytes());
        let _ = timeout(GOODBYE, endpoint.wait_idle()).await;
        end
    }

    async fn play(&mut self, connection: &Connection, mut receive: RecvStream) -> End {
        let (events, clock) = (&self.events, self.clock);
        let control = async {
            loop {
                let message = match read_frame(&mut receive).await {
                    Ok(body) => ServerMessage::parse(&body),
                    // The datagrams' side knows better why the connection ended.
                    Err(_) => return std::future::pending().await,
                };
                match message {
                    Ok(ServerMessage::Closed { reason, retry: true }) => return End::Retry(reason),
                    Ok(ServerMessage::Closed { reason, retry: false }) => {
                        return End::Final(reason);
                    }
                    Ok(ServerMessage::Welcome(welcome)) => {
                        let _ = events.send(Event::Game { welcome, at: clock.now() }).await;
                    }
                    Ok(message) => {
                        let _ = events.send(Event::Message(message)).await;
                    }
                    Err(error) => {
                        return End::Final(format!("the server speaks in riddles: {error}"));
                    }
                }
            }
        };
        let datagrams = async {
            loop {
                let waiting_since = clock.now();
                match timeout(SILENCE, connection.read_datagram()).await {
                    Ok(Ok(bytes)) => {
                        let arrival = clock.now();
                        // When the player's side is stuck, datagrams are lost.
                        let _ = events.try_send(Event::Datagram { bytes, arrival });
                    }
                    Ok(Err(error)) => return End::Retry(describe(&error)),
                    // This machine slept: it has not looked yet at what came meanwhile.
                    Err(_) if clock.now() - waiting_since > SLEPT => {}
                    Err(_) => return End::Retry("the server does not answer any more".into()),
                }
            }
        };
        let commands = async {
            loop {
                match self.commands.recv().await {
                    // One that cannot be sent is lost, as datagrams are.
                    Some(Command::Datagram(_)) if transport::is_behind(connection) => {}
                    Some(Command::Datagram(bytes)) => {
                        let _ = connection.send_datagram(bytes.into());
                    }
                    Some(Command::Leave(reason)) => return End::Left(reason),
                    None => return End::Left("the player is gone".into()),
                }
            }
        };
        tokio::select! {
            biased;
            end = control => end,
            end = datagrams => end,
            end = commands => end,
        }
    }
}

/// A connection on which the server has said welcome.
struct InGame {
    endpoint: Endpoint,
    connection: Connection,
    send: SendStream,
    receive: RecvStream,
    welcome: Welcome,
    hello_sent: LocalTime,
    at: LocalTime,
}

async fn join(
    options: &Options,
    clock: Clock,
    events: &mpsc::Sender<Event>,
) -> Result<InGame, End> {
    let address = &options.address;
    let found =
        timeout(CONNECT_TIMEOUT, tokio::net::lookup_host((address.host.as_str(), address.port)))
            .await
            .map_err(|_| End::Retry(format!("looking up {} takes too long", address.host)))?
            .map_err(|error| End::Retry(format!("cannot find {}: {error}", address.host)))?;

    let mut last = End::Retry(format!("{} has no address", address.host));
    for mut remote in found {
        // An IPv4 address in IPv6's clothes; not every system lets an IPv6 socket talk to it.
        if let IpAddr::V4(ip) = remote.ip().to_canonical() {
            remote.set_ip(ip.into());
        }
        match connect(options, remote, events).await {
            Ok((endpoint, connection)) => {
                return timeout(CONNECT_TIMEOUT, hello(options, clock, endpoint, connection))
                    .await
                    .map_err(|_| End::Retry("the server does not answer the hello".into()))?;
            }
            Err(End::Retry(reason)) => last = End::Retry(reason),
            Err(end) => return Err(end),
        }
    }
    Err(last)
}

async fn connect(
    options: &Options,
    remote: SocketAddr,
    events: &mpsc::Sender<Event>,
) -> Result<(Endpoint, Connection), End> {
    let host = options.address.to_string();
    let mut known = match &options.pins {
        Pins::File(path) => {
            let known = KnownHosts::open(path).map_err(|error| End::Final(error.to_string()))?;
            Some(known)
        }
        Pins::Memory | Pins::Fixed(_) => None,
    };
    let expected = match &options.pins {
        Pins::Fixed(fingerprint) => Some(*fingerprint),
        _ => known.as_ref().and_then(|known| known.check(&host)),
    };
    let broken = |error: &dyn std::fmt::Display| End::Retry(format!("no network: {error}"));
    let mut endpoint = options
        .sockets
        .bind(remote)
        .and_then(|socket| {
            let (config, runtime) = (transport::endpoint_config(), Arc::new(TokioRuntime));
            Endpoint::new_with_abstract_socket(config, None, Arc::new(Unmarked(socket)), runtime)
        })
        .map_err(|error| broken(&error))?;
    let (config, observed) = client_config(expected)?;
    endpoint.set_default_client_config(config);
    let connecting = endpoint.connect(remote, "phaselock").map_err(|error| broken(&error))?;
    let result = timeout(CONNECT_TIMEOUT, connecting).await;
    if let Some(Seen::Changed { expected, found }) = observed.get() {
        return Err(End::Final(format!(
            "the server at {host} shows another certificate than before ({found} instead of \
             {expected}): either it was set up anew, or somebody poses as it. If you know that it \
             was set up anew, remove its line from {}",
            match &options.pins {
                Pins::File(path) => path.display().to_string(),
                Pins::Memory | Pins::Fixed(_) => "the list of known servers".into(),
            }
        )));
    }
    let connection = match result {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return Err(End::Retry(describe(&error))),
        Err(_) => return Err(End::Retry(format!("no answer from {host}"))),
    };
    if let (Some(Seen::Proven(fingerprint)), None, Some(known)) =
        (observed.get(), expected, &mut known)
    {
        known.remember(&host, fingerprint).map_err(|error| End::Final(error.to_string()))?;
        let _ = events.send(Event::Pinned(fingerprint)).await;
    }
    Ok((endpoint, connection))
}

fn client_config(
    expected: Option<phaselock::fingerprint::Fingerprint>,
) -> Result<(ClientConfig, Observed), End> {
    let failed = |error: &dyn std::fmt::Display| End::Final(format!("no encryption: {error}"));
    let (tls, observed) = client_crypto(expected, ALPN).map_err(|error| failed(&error))?;
    let quic = QuicClientConfig::try_from(tls).map_err(|error| failed(&error))?;
    Ok((transport::client_config(quic), observed))
}

async fn hello(
    options: &Options,
    clock: Clock,
    endpoint: Endpoint,
    connection: Connection,
) -> Result<InGame, End> {
    let lost = |error: String| End::Retry(format!("lost while joining: {error}"));
    let (mut send, mut receive) =
        connection.open_bi().await.map_err(|error| lost(describe(&error)))?;
    let hello_sent = clock.now();
    let hello = ClientMessage::Hello(Hello {
        wire: wire_hash(),
        version: env!("CARGO_PKG_VERSION").into(),
        name: options.name.clone(),
        games: games::hashes(),
        sent: hello_sent,
    });
    let framed = frame(&hello).map_err(|error| End::Final(error.to_string()))?;
    send.write_all(&framed).await.map_err(|error| lost(error.to_string()))?;
    let body = read_frame(&mut receive).await.map_err(|error| match connection.close_reason() {
        Some(reason) => lost(describe(&reason)),
        None => lost(error),
    })?;
    let at = clock.now();
    match ServerMessage::parse(&body) {
        Ok(ServerMessage::Welcome(welcome)) => {
            Ok(InGame { endpoint, connection, send, receive, welcome, hello_sent, at })
        }
        Ok(ServerMessage::Closed { reason, retry: true }) => Err(End::Retry(reason)),
        Ok(ServerMessage::Closed { reason, retry: false }) => Err(End::Final(reason)),
        Ok(_) | Err(_) => Err(End::Final("this is no server that this version can play on".into())),
    }
}

async fn read_frame(receive: &mut RecvStream) -> Result<Vec<u8>, String> {
    let mut prefix = [0; 2];
    receive.read_exact(&mut prefix).await.map_err(|error| error.to_string())?;
    let mut body = vec![0; body_len(prefix).map_err(|error| error.to_string())?];
    receive.read_exact(&mut body).await.map_err(|error| error.to_string())?;
    Ok(body)
}

/// A connection's end in words for players.
fn describe(error: &ConnectionError) -> String {
    match error {
        ConnectionError::ApplicationClosed(close) if !close.reason.is_empty() => {
            printable(&String::from_utf8_lossy(&close.reason))
        }
        ConnectionError::ConnectionClosed(close) => {
            format!("the server refused the connection ({})", close.error_code)
        }
        ConnectionError::TimedOut => "the server does not answer".into(),
        ConnectionError::Reset => "the server has forgotten this connection".into(),
        other => other.to_string(),
    }
}

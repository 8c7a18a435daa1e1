//! The network side of a client: connects on request, and carries data in both directions.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::client::{Output, Redirect};
use phaselock::fingerprint::Fingerprint;
use phaselock::identity::Credentials;
use phaselock::wire::disconnect::{Code, Disconnect};
use quinn::{Connection, ConnectionError, Endpoint, RecvStream, SendStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::channels::{Changed, Event};
use super::options::{Options, Pins, Transport};
use super::web::{self, Around};
use crate::address::AddressError;
use crate::attempts::{LookupError, lookup, race};
use crate::clock::Clock;
use crate::conditioned::Conditioned;
use crate::framing::read_frame;
use crate::goodbye::{close, said};
use crate::pins::KnownHosts;
use crate::player::{PlayerKey, PlayerKeys};
use crate::settings;
use crate::socket::EcnCleared;
use crate::timers::QuicRuntime;
use crate::verify::{CertificateSeen, client_config};

/// How long to wait for an answer from an address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// The longest duration of a goodbye. Shorter than the second for which the player waits.
const GOODBYE: Duration = Duration::from_millis(900);

/// A connection that failed or ended by itself, so that another attempt may succeed.
fn lost(text: impl Into<String>) -> Disconnect {
    Disconnect::new(Code::Lost, text)
}

/// A connection that cannot be made.
fn refused(text: impl Into<String>) -> Disconnect {
    Disconnect::new(Code::Refused, text)
}

/// A connection with its control stream open.
struct Connected {
    endpoint: Endpoint,
    connection: Connection,
    send: SendStream,
    receive: RecvStream,
    credentials: Box<Credentials>,
    /// Streams around the game's, if it is carried over WebTransport.
    around: Option<Around>,
}

/// The network side of a client.
#[derive(Debug)]
pub(super) struct Carrier {
    options: Options,
    clock: Clock,
    events: mpsc::Sender<Event>,
    /// All outputs but control messages.
    outputs: mpsc::Receiver<Output>,
    /// Control messages, framed.
    messages: mpsc::Receiver<Vec<u8>>,
    /// The player's key, once loaded for the first connection.
    key: Option<PlayerKey>,
    /// An output that was fetched too early.
    next: Option<Output>,
}

impl Carrier {
    pub(super) fn new(
        mut options: Options,
        clock: Clock,
        events: mpsc::Sender<Event>,
        outputs: mpsc::Receiver<Output>,
        messages: mpsc::Receiver<Vec<u8>>,
    ) -> Self {
        if let Some(link) = options.link.take() {
            options.sockets = Arc::new(Conditioned::new(options.sockets, link, clock));
        }
        Self { options, clock, events, outputs, messages, key: None, next: None }
    }

    #[cfg(test)]
    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.try_recv().ok()
    }

    /// Runs until the player's side is dropped.
    pub(super) async fn run(mut self) {
        while let Some(output) = match self.next.take() {
            Some(output) => Some(output),
            None => self.outputs.recv().await,
        } {
            let Output::Connect { redirect } = output else {
                continue; // There is no connection to send it on.
            };
            // Drop those for an earlier connection: the session sends none before it is connected.
            while self.messages.try_recv().is_ok() {}
            let connect = self.options.connect(redirect, &mut self.key, &self.events);
            let connected = tokio::select! {
                connected = connect => connected,
                () = closed(&mut self.outputs) => continue,
            };
            match connected {
                Ok(connected) => self.carry(connected).await,
                Err(lost) => self.send_event(Event::Lost(lost)).await,
            }
        }
    }

    async fn send_event(&self, event: Event) {
        // Fails only if there is no receiver any more; `outputs` then ends too.
        let _ = self.events.send(event).await;
    }

    /// Carries data until either side ends the connection.
    async fn carry(&mut self, connected: Connected) {
        let Connected { endpoint, connection, mut send, mut receive, credentials, mut around } =
            connected;
        let is_web = around.is_some();
        self.send_event(Event::Connected(credentials)).await;
        let (events, clock) = (&self.events, self.clock);
        let control = async {
            // The datagram side has a better reason for the end of the connection.
            while let Ok(body) = read_frame(&mut receive).await {
                let _ = events.send(Event::Control { body, arrival: clock.now() }).await;
            }
        };
        let datagrams = carry_datagrams(&connection, events, clock, is_web);
        let said = async {
            match &mut around {
                Some(around) => around.said().await,
                None => None,
            }
        };
        // Messages are passed on first, since the last one may give the reason.
        let ended = async {
            let ((), reason, said) = tokio::join!(control, datagrams, said);
            said.unwrap_or(reason)
        };
        // A stream whose window is full must block neither datagrams nor the goodbye.
        let messages = &mut self.messages;
        let writing = async {
            while let Some(framed) = messages.recv().await {
                // Fails only if the connection does.
                let _ = send.write_all(&framed).await;
            }
            std::future::pending::<Disconnect>().await
        };
        let outputs = carry_outputs(&mut self.outputs, &connection, is_web);
        let goodbye = tokio::select! {
            biased;
            reason = ended => Err(reason),
            goodbye = outputs => Ok(goodbye),
            goodbye = writing => Ok(goodbye),
        };
        let goodbye = match goodbye {
            Ok(goodbye) => goodbye,
            Err(reason) => {
                // Before the goodbye, which takes time that the player can use.
                if !self.is_given_up() {
                    self.send_event(Event::Lost(reason.clone())).await;
                }
                reason
            }
        };
        match around {
            Some(around) => around.close(&connection, &goodbye).await,
            None => close(&connection, &goodbye),
        }
        self.wait_idle(&endpoint).await;
    }

    /// Waits for the end of the goodbye, or until the session wants another connection: to another
    /// server, or after a loss of which both sides know.
    async fn wait_idle(&mut self, endpoint: &Endpoint) {
        let idle = timeout(GOODBYE, endpoint.wait_idle());
        tokio::pin!(idle);
        while self.next.is_none() {
            tokio::select! {
                _ = &mut idle => return,
                output = self.outputs.recv() => match output {
                    Some(Output::Connect { .. }) => self.next = output,
                    Some(_) => {}
                    None => {
                        let _ = idle.await;
                        return;
                    }
                },
            }
        }
    }
}

/// Passes on datagrams until the connection ends. Returns the reason.
async fn carry_datagrams(
    connection: &Connection,
    events: &mpsc::Sender<Event>,
    clock: Clock,
    is_web: bool,
) -> Disconnect {
    loop {
        match connection.read_datagram().await {
            // If the player's side is stuck, datagrams are dropped.
            Ok(bytes) => {
                let bytes = if is_web { web::unwrapped(bytes) } else { Some(bytes) };
                let arrival = clock.now();
                if let Some(bytes) = bytes {
                    let _ = events.try_send(Event::Datagram { bytes, arrival });
                }
            }
            Err(error) => return describe(&error),
        }
    }
}

/// Sends the session's datagrams until the session closes the connection. Returns the goodbye.
async fn carry_outputs(
    outputs: &mut mpsc::Receiver<Output>,
    connection: &Connection,
    is_web: bool,
) -> Disconnect {
    let is_behind =
        || settings::server_is_behind(connection, tokio::time::Instant::now().into_std());
    loop {
        match outputs.recv().await {
            // If it cannot be sent now, it is dropped like any datagram.
            Some(Output::Datagram(_)) if is_behind() => {}
            Some(Output::Datagram(bytes)) => {
                let bytes = if is_web { web::wrapped(bytes) } else { bytes };
                let _ = connection.send_datagram(bytes.into());
            }
            Some(Output::Connect { .. } | Output::Control(_)) => {}
            Some(Output::Close(goodbye)) => return goodbye,
            None => return Disconnect::new(Code::Left, "the player has left"),
        }
    }
}

impl Carrier {
    /// Returns whether the session has closed the connection, and may have moved on to the next.
    fn is_given_up(&mut self) -> bool {
        let mut given_up = false;
        while let Ok(output) = self.outputs.try_recv() {
            match output {
                Output::Close(_) => given_up = true,
                Output::Connect { .. } => self.next = Some(output),
                Output::Control(_) | Output::Datagram(_) => {}
            }
        }
        given_up
    }
}

/// Resolves when the session gives up the attempt or is dropped.
async fn closed(outputs: &mut mpsc::Receiver<Output>) {
    while let Some(output) = outputs.recv().await {
        if matches!(output, Output::Close(_)) {
            return;
        }
    }
}

impl Options {
    /// Connects to the server, or to the redirect's target.
    async fn connect(
        &self,
        redirect: Option<Redirect>,
        key: &mut Option<PlayerKey>,
        events: &mpsc::Sender<Event>,
    ) -> Result<Connected, Disconnect> {
        let key = match key {
            Some(key) => key,
            None => {
                let keys = self.keys.clone();
                let load = move || PlayerKey::load(&keys);
                key.insert(match self.keys {
                    PlayerKeys::File(_) => on_disk(load).await?,
                    PlayerKeys::Ephemeral => load().map_err(|error| refused(error.to_string()))?,
                })
            }
        };
        let Some(redirect) = redirect else { return connect(self, key, events).await };
        let Redirect { address, fingerprint, web } = redirect;
        let expected = match self.carriage {
            Transport::Native => fingerprint,
            // Over WebTransport, servers show another certificate.
            Transport::WebTransport(_) if web.hashes.is_empty() && !web.host.is_empty() => {
                let text = "this client cannot verify CA-signed certificates";
                return Err(refused(text));
            }
            Transport::WebTransport(_) => web.hashes.first().copied(),
        };
        let pins = match (&self.pins, expected) {
            // The server vouches for the other one. It is not the player's choice, and its address
            // may be another server's tomorrow, so it is not compared with known hosts or stored.
            (_, Some(fingerprint)) => Pins::Fixed(fingerprint),
            (Pins::Fixed(_) | Pins::Given(..), None) => {
                let text = "the server redirects you to {redirect}, but you trust only the server \
                            with the given fingerprint; join {redirect} with its own fingerprint";
                return Err(refused(text.replace("{redirect}", &address)));
            }
            (pins, None) => pins.clone(),
        };
        let address = address.parse().map_err(|error: AddressError| refused(error.to_string()))?;
        connect(&Self { address, pins, ..self.clone() }, key, events).await
    }
}

/// Returns why a server's name cannot be resolved, in words for the player.
fn unknown(error: LookupError) -> Disconnect {
    match error {
        // The resolver's own message does not help a player.
        LookupError::Unknown(address, _) | LookupError::Empty(address) => lost(format!(
            "no server is called {}; check the spelling, and that this computer is online",
            address.host()
        )),
        error => lost(error.to_string()),
    }
}

/// The certificate that a server must present, and where to store a new one.
struct Trust {
    known: Option<KnownHosts>,
    expected: Option<Fingerprint>,
    /// Whether the server was met before, or its fingerprint was given.
    is_known: bool,
}

/// Works with files on a thread of its own, since a network drive may hang.
async fn on_disk<T: Send + 'static, E: ToString + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Disconnect> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| refused(error.to_string()))?.map_err(|error| refused(error.to_string()))
}

impl Trust {
    async fn of(pins: &Pins, host: &str) -> Result<Self, Disconnect> {
        let known = match pins {
            Pins::File(path) | Pins::Given(path, _) => {
                let path = path.clone();
                Some(on_disk(move || KnownHosts::open(path)).await?)
            }
            Pins::Memory | Pins::Fixed(_) => None,
        };
        let expected = match pins {
            Pins::Fixed(fingerprint) => Some(*fingerprint),
            _ => known.as_ref().and_then(|known| known.check(host)),
        };
        let is_known = expected.is_some();
        let Pins::Given(_, told) = pins else { return Ok(Self { known, expected, is_known }) };
        match expected.filter(|known| known != told) {
            None => Ok(Self { known, expected: Some(*told), is_known }),
            Some(known) => Err(refused(format!(
                "the link or --fingerprint says that {host} has the certificate {told}, but it is \
                 known by {known}: ask the sender for a new link; to trust the known certificate, \
                 join {host} without the fingerprint"
            ))),
        }
    }

    /// Returns the goodbye to a server that presents a different certificate.
    fn refuse(&self, pins: &Pins, changed: &Changed) -> Disconnect {
        let Changed { host, expected, found } = changed;
        let path = match pins {
            Pins::Fixed(_) => {
                return refused(format!(
                    "the server at {host} shows a different certificate than announced ({found} \
                     instead of {expected}): it was reinstalled, or someone impersonates it"
                ));
            }
            Pins::Given(..) if !self.is_known => {
                return refused(format!(
                    "the server at {host} shows a different certificate than the link or \
                     --fingerprint says ({found} instead of {expected}): it was reinstalled, or \
                     someone impersonates it. Ask the sender for a new link"
                ));
            }
            Pins::File(path) | Pins::Given(path, _) => path.display().to_string(),
            Pins::Memory => "the list of known servers".into(),
        };
        refused(format!(
            "the server at {host} shows a different certificate than before ({found} instead of \
             {expected}): it was reinstalled, or someone impersonates it. If you know that it was \
             reinstalled, remove its line from {path}"
        ))
    }

    /// Stores the certificate of a server on the first visit, and returns it in that case.
    async fn remember(
        self,
        host: &str,
        seen: Option<CertificateSeen>,
    ) -> Result<Option<Fingerprint>, Disconnect> {
        let (Some(CertificateSeen::Proven(fingerprint)), false, Some(mut known)) =
            (seen, self.is_known, self.known)
        else {
            return Ok(None);
        };
        let host = host.to_owned();
        on_disk(move || known.remember(&host, fingerprint)).await?;
        Ok(Some(fingerprint))
    }
}

/// Tries all addresses of the server (RFC 8305), and opens the control stream of the first
/// connection.
async fn connect(
    options: &Options,
    key: &PlayerKey,
    events: &mpsc::Sender<Event>,
) -> Result<Connected, Disconnect> {
    let host = options.address.to_string();
    let trust = Trust::of(&options.pins, &host).await?;
    let found = lookup(&options.address).await.map_err(unknown)?;
    let expected = trust.expected;
    // A refusal is an answer too; only silence leads to the next address.
    let answered = race(found, |remote| async move {
        match shake_hands(options, remote, expected).await {
            Err(lost) if lost.retry_after.is_some() => Err(lost),
            answer => Ok(answer),
        }
    });
    let answer = answered.await;
    let silent = || LookupError::Empty(options.address.clone());
    match answer.unwrap_or_else(|last| Err(last.unwrap_or_else(|| unknown(silent()))))? {
        Handshake::Done(endpoint, connection, seen) => {
            if let Some(fingerprint) = trust.remember(&host, seen).await? {
                let _ = events.send(Event::Pinned(fingerprint)).await;
            }
            open(options, key, endpoint, connection, seen).await
        }
        Handshake::Changed(changed) => {
            let refused = trust.refuse(&options.pins, &changed);
            let is_given_only = matches!(options.pins, Pins::Given(..)) && !trust.is_known;
            if trust.known.is_some() && !is_given_only {
                let _ = events.send(Event::Changed(changed)).await;
            }
            Err(refused)
        }
    }
}

/// Result of a handshake that was answered.
enum Handshake {
    Done(Endpoint, Connection, Option<CertificateSeen>),
    Changed(Changed),
}

/// Connects to one address of the server.
async fn shake_hands(
    options: &Options,
    remote: SocketAddr,
    expected: Option<Fingerprint>,
) -> Result<Handshake, Disconnect> {
    let host = options.address.to_string();
    let is_web = options.carriage != Transport::Native;
    let broken = |error: &dyn std::fmt::Display| lost(format!("no network: {error}"));
    let mut endpoint = options
        .sockets
        .bind(remote)
        .and_then(|socket| {
            let (config, runtime) =
                (settings::client_endpoint(options.seed), Arc::new(QuicRuntime));
            Endpoint::new_with_abstract_socket(config, None, Arc::new(EcnCleared(socket)), runtime)
        })
        .map_err(|error| broken(&error))?;
    let (config, observed) = client_config(expected, is_web)
        .map_err(|error| refused(format!("no encryption: {error}")))?;
    endpoint.set_default_client_config(config);
    let connecting = endpoint.connect(remote, "phaselock").map_err(|error| broken(&error))?;
    let result = timeout(CONNECT_TIMEOUT, connecting).await;
    if let Some(CertificateSeen::Changed { expected, found }) = observed.get() {
        return Ok(Handshake::Changed(Changed { host, expected, found }));
    }
    match result {
        Ok(Ok(connection)) => Ok(Handshake::Done(endpoint, connection, observed.get())),
        Ok(Err(error)) => Err(describe(&error)),
        Err(_) => Err(lost(format!("no answer from {host}"))),
    }
}

/// Opens a connection's control stream.
async fn open(
    options: &Options,
    key: &PlayerKey,
    endpoint: Endpoint,
    connection: Connection,
    seen: Option<CertificateSeen>,
) -> Result<Connected, Disconnect> {
    let host = options.address.to_string();
    if let Transport::WebTransport(origin) = &options.carriage {
        let Some(CertificateSeen::Proven(certificate)) = seen else {
            return Err(lost(format!("{host} has shown no certificate")));
        };
        let begun = web::begin(&connection, &host, origin.as_deref(), certificate, key);
        let begun = timeout(CONNECT_TIMEOUT, begun).await;
        let begun = begun.map_err(|_| lost(format!("no answer from {host}")))?.map_err(refused)?;
        let web::Begun { send, receive, credentials, around } = begun;
        let (credentials, around) = (Box::new(credentials), Some(around));
        return Ok(Connected { endpoint, connection, send, receive, credentials, around });
    }
    let opened = timeout(CONNECT_TIMEOUT, connection.open_bi()).await;
    let (send, receive) = opened
        .map_err(|_| lost(format!("no answer from {host}")))?
        .map_err(|error| describe(&error))?;
    let credentials = key.credentials(&connection).map_err(|error| refused(error.to_string()))?;
    let (credentials, around) = (Box::new(credentials), None);
    Ok(Connected { endpoint, connection, send, receive, credentials, around })
}

/// Returns why a connection ended, for the player.
fn describe(error: &ConnectionError) -> Disconnect {
    match error {
        ConnectionError::ApplicationClosed(close) => said(close),
        ConnectionError::ConnectionClosed(close) => {
            lost(format!("the server refused the connection ({})", close.error_code))
        }
        ConnectionError::TimedOut => lost("the server does not answer"),
        ConnectionError::Reset => lost("the server has forgotten this connection"),
        other => lost(other.to_string()),
    }
}

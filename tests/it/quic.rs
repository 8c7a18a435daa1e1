//! The whole stack over real sockets on this machine, port 0. They wait for events, never for a
//! time, so they pass on slow machines, too.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use phaselock::client::{Client, Notice, SessionConfig, State};
use phaselock::games::Games;
use phaselock::server::{self as host, CommandError, Event, RoomConfig};
use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, frame};
use phaselock::wire::disconnect::Code;
use phaselock::wire::protocol::ALPN;
use phaselock::wire::talk::Audience;
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_quic::address::Address;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::local::{LocalError, LocalServer};
use phaselock_quic::query;
use phaselock_quic::server::OrderError;
use phaselock_quic::verify::client_crypto;
use phaselock_testing::{hello, room_config};

const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Longer than anything takes on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

fn serve(config: RoomConfig, address: SocketAddr, data: &Path) -> LocalServer {
    let games = Games::new().with::<Skirmish>();
    serve_at(address, || {
        let identity = Identity::load_or_create(data).expect("an identity");
        LocalServer::start_with(games.clone(), config.clone(), address, identity)
    })
}

/// Starts a server, possibly at a port that was used before.
pub(crate) fn serve_at(
    address: SocketAddr,
    start: impl Fn() -> Result<LocalServer, LocalError>,
) -> LocalServer {
    let begun = Instant::now();
    loop {
        match start() {
            Ok(server) => return server,
            // Another test may briefly have taken a port that was just released.
            Err(LocalError::Bind(_)) if address.port() != 0 && begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(error) => panic!("no server: {error}"),
        }
    }
}

/// A client with its driver.
struct Player {
    driver: Driver,
    states: Vec<State>,
    pinned: bool,
    lines: Vec<String>,
}

impl Player {
    fn join(address: SocketAddr, pins: Pins) -> Self {
        let address: Address = address.to_string().parse().expect("an address");
        Self::with(Options::new(address, pins))
    }

    fn with(options: Options) -> Self {
        let config = SessionConfig::new(phaselock_games::all(), "Ada");
        let driver = Driver::spawn(options, config, Clock::start());
        Self {
            driver: driver.expect("a thread"),
            states: Vec::new(),
            pinned: false,
            lines: Vec::new(),
        }
    }

    /// Plays until a condition holds.
    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "waited in vain: {what}; states: {:?}",
                self.states
            );
            self.frame();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn frame(&mut self) {
        self.driver.receive();
        while let Some(notice) = self.driver.session.poll_notice() {
            match notice {
                Notice::State(state) => self.states.push(state),
                Notice::Chat { from: Some(from), text, .. } => {
                    self.lines.push(format!("{}: {text}", from.seat.name))
                }
                Notice::Chat { from: None, text, .. } => self.lines.push(text),
                _ => {}
            }
        }
        self.pinned |= self.driver.take_pinned().is_some();
        let now = self.driver.clock().now();
        self.driver.session.press::<Skirmish>(now, |_, tick| {
            let right = if tick.0 % 120 < 60 { 1 } else { -1 };
            Command { right, fire: true, ..Command::default() }
        });
        self.driver.transmit();
    }

    fn core(&self) -> Option<&Client<Skirmish>> {
        self.driver.session.client_of()
    }

    fn plays(&self) -> bool {
        let connected = *self.driver.session.state() == State::Connected;
        self.core().filter(|_| connected).is_some_and(|core| {
            core.stats().snapshots > 30 && core.pll().is_locked() && core.newest().len() > 1
        })
    }

    fn last_reason(&self) -> Option<&str> {
        self.states.iter().rev().find_map(|state| match state {
            State::Waiting { reason, .. } | State::Ended { reason } => Some(&*reason.text),
            _ => None,
        })
    }
}

#[test]
fn a_client_joins_plays_and_learns_when_the_server_stops() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 3), ANY_PORT, data.path());
    let mut player = Player::join(server.address(), Pins::Memory);
    player.until("playing", Player::plays);
    let connected = player.states.iter().position(|state| *state == State::Connected);
    assert_eq!(connected, Some(player.states.len() - 1), "{:?}", player.states);
    let core = player.core().expect("in the game");
    assert_eq!(core.roster().len(), 4);
    assert!(core.stats().ticks > 0);
    server.stop("the server is shutting down");
    player.until("being told", |player| player.last_reason().is_some());
    assert_eq!(player.last_reason(), Some("the server is shutting down"));
    player.driver.close("bye");
}

#[test]
fn clones_of_the_same_options_are_two_players() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 0), ANY_PORT, data.path());
    let mut events = server.handle().events();
    let address = server.address().to_string().parse().expect("an address");
    let options = Options::new(address, Pins::Memory);
    let mut players = [options.clone(), options].map(Player::with);
    for player in &mut players {
        player.until("playing", Player::plays);
    }
    let news = std::iter::from_fn(|| events.try_recv().ok());
    let keys: Vec<_> = news
        .filter_map(|news| match news.event {
            Event::Joined { key, .. } => Some(key),
            _ => None,
        })
        .collect();
    assert!(matches!(keys[..], [first, second] if first != second), "{keys:?}");
}

#[test]
fn a_client_finds_a_restarted_server_again() {
    let data = tempfile::tempdir().expect("a directory");
    let known_hosts = data.path().join("known_hosts");
    let server = serve(room_config(1, 1), ANY_PORT, data.path());
    let address = server.address();
    let mut player = Player::join(address, Pins::File(known_hosts.clone()));
    player.until("playing", Player::plays);
    assert!(player.pinned);
    server.stop("a new version");
    player.until("noticing", |player| matches!(player.states.last(), Some(State::Waiting { .. })));
    let server = serve(room_config(2, 1), address, data.path());
    player.until("playing again", Player::plays);
    assert_eq!(player.states.last(), Some(&State::Connected));
    assert_eq!(server.address(), address);
    player.driver.close("bye");

    // Another certificate at the same address is refused, for good and with an explanation.
    drop(server);
    let other = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(3, 1), address, other.path());
    let mut player = Player::join(server.address(), Pins::File(known_hosts.clone()));
    player.until("refusing", |player| matches!(player.states.last(), Some(State::Ended { .. })));
    let reason = player.last_reason().expect("a reason");
    assert!(reason.contains("a different certificate than before"), "{reason}");
    assert!(reason.contains(&known_hosts.display().to_string()), "{reason}");
}

#[test]
fn a_full_server_says_so_and_lets_in_later() {
    let data = tempfile::tempdir().expect("a directory");
    let config = room_config(1, 1).with(|it| it.players_max = 1);
    let server = serve(config, ANY_PORT, data.path());
    let mut first = Player::join(server.address(), Pins::Memory);
    first.until("playing", Player::plays);
    let mut second = Player::join(server.address(), Pins::Fixed(server.fingerprint()));
    second.until("being refused", |player| player.last_reason().is_some());
    assert_eq!(second.last_reason(), Some("all seats are taken (1 of 1); try again later"));
    first.driver.close("bye");
    second.until("playing", Player::plays);
}

#[test]
fn a_server_that_is_not_there_is_tried_again() {
    // No one else gets this port, and the socket receives only from its peer.
    let socket = UdpSocket::bind(ANY_PORT).expect("a socket");
    socket.connect((Ipv4Addr::LOCALHOST, 9)).expect("a peer");
    let address = socket.local_addr().expect("a port");
    let mut player = Player::join(address, Pins::Memory);
    player.until("trying again", |player| player.states.len() >= 3);
    assert!(matches!(player.states[1], State::Waiting { attempt: 1, .. }), "{:?}", player.states);
    assert_eq!(player.states[2], State::Connecting { attempt: 2 });
    player.driver.close("never mind");
}

#[test]
fn garbage_at_the_port_disturbs_no_player() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 1), ANY_PORT, data.path());
    let mut player = Player::join(server.address(), Pins::Memory);
    player.until("playing", Player::plays);
    let socket = UdpSocket::bind(ANY_PORT).expect("a socket");
    let mut random = phaselock::random::Random::new(1);
    for _ in 0..2000 {
        let len = random.below(1400) as usize;
        let mut bytes: Vec<u8> = (0..len).map(|_| random.bits() as u8).collect();
        if let Some(first) = bytes.first_mut()
            && random.chance(0.5)
        {
            *first |= 0xc0; // The form of a QUIC long header.
        }
        let _ = socket.send_to(&bytes, server.address());
    }
    let snapshots = player.core().expect("in the game").stats().snapshots;
    player.until("playing on", |player| {
        player.core().is_some_and(|core| core.stats().snapshots > snapshots + 30)
    });
    assert_eq!(player.states.last(), Some(&State::Connected));
}

#[test]
fn a_server_answers_status_queries() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 2), ANY_PORT, data.path());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (status, _) = runtime.block_on(query::query(server.address())).expect("it is well");
    assert_eq!((status.players, status.players_max, status.bots), (0, 16, 2));
    let address = server.address();
    drop(server);
    assert!(runtime.block_on(query::query(address)).is_err());
}

#[test]
fn games_that_cannot_be_hosted_are_refused_with_a_reason() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 0), ANY_PORT, data.path());
    let identity = || Identity::ephemeral().expect("an identity");
    let games = Games::new().with::<Skirmish>();
    let taken = LocalServer::start_with(games, room_config(1, 0), server.address(), identity());
    let error = taken.expect_err("the port is taken");
    assert!(error.to_string().contains("cannot listen on 127.0.0.1"), "{error}");
}

#[test]
fn a_client_that_does_not_read_takes_no_ones_place() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 1).with(|it| it.players_max = 1), ANY_PORT, data.path());
    let address = server.address();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let endpoint = quinn::Endpoint::client(ANY_PORT).expect("a socket");
        let mut held = Vec::new();
        // More than one address may have without a seat; each asks, and reads no answer.
        for _ in 0..80 {
            let Ok(connection) = endpoint
                .connect_with(deaf_client(), address, "phaselock")
                .expect("it is an address")
                .await
            else {
                continue;
            };
            let (mut send, receive) = connection.open_bi().await.expect("a stream");
            send.write_all(&frame(&ClientMessage::Query).expect("it is short")).await.ok();
            held.push((connection, send, receive));
        }
        assert!(held.len() >= 32, "only {} were admitted", held.len());
        let start = Instant::now();
        while query::query(address).await.is_err() {
            assert!(start.elapsed() < PATIENCE, "the server is kept busy for good");
        }
        for (connection, ..) in held {
            connection.closed().await;
        }
    });
}

#[test]
fn host_chats_and_kicks_over_the_network_and_gets_the_events() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 0), ANY_PORT, data.path());
    let mut events = server.handle().events();
    let mut player = Player::join(server.address(), Pins::Memory);
    player.until("playing", Player::plays);
    player.driver.session.chat("hello").expect("it is connected");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let seat = player.core().expect("it plays").player();
    let order = |command| runtime.block_on(server.handle().command(command));
    let nobody = phaselock::ids::PlayerId(900);
    let kick = |player: phaselock::ids::PlayerId| host::Command::Kick {
        player: player.into(),
        text: "be nice".into(),
    };
    assert_eq!(order(kick(nobody)), Err(OrderError::Refused(CommandError::NoPlayer(nobody))));
    player.until("heard", |player| player.lines.iter().any(|line| line == "Ada: hello"));
    assert_eq!(order(host::Command::Say { text: "last warning".into() }), Ok(()));
    player.until("told", |player| player.lines.iter().any(|line| line == "last warning"));
    assert_eq!(order(kick(seat)), Ok(()));
    let ended = |player: &Player| matches!(player.states.last(), Some(State::Ended { .. }));
    player.until("put out", ended);
    assert_eq!(player.last_reason(), Some("be nice"));
    let heard: Vec<_> =
        std::iter::from_fn(|| events.try_recv().ok().map(|told| told.event.clone())).collect();
    let chat = Event::Chat { player: seat, to: Audience::All, text: "hello".into() };
    let left = Event::Left { player: seat, code: Code::Kicked, reason: "be nice".into() };
    assert!(
        matches!(&heard[..], [Event::Game { .. }, Event::Joined { name, .. }, said, gone]
        if name == "Ada" && *said == chat && *gone == left),
        "{heard:?}"
    );
}

#[test]
fn hello_without_its_keys_proof_is_refused_and_so_is_one_behind_a_query() {
    let data = tempfile::tempdir().expect("a directory");
    let server = serve(room_config(1, 0), ANY_PORT, data.path());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let hello = ClientMessage::Hello(hello::<Skirmish>("Eve", LocalTime(0)));
    let [hello, query] = [hello, ClientMessage::Query].map(|it| frame(&it).expect("it is short"));
    for (first, code) in
        [(&hello[..], Code::BadProof), (&[&query[..], &hello].concat(), Code::Left)]
    {
        let closed = runtime.block_on(async {
            let endpoint = quinn::Endpoint::client(ANY_PORT).expect("a socket");
            let connecting = endpoint.connect_with(client(), server.address(), "phaselock");
            let connection = connecting.expect("an address").await.expect("a connection");
            let (mut send, _receive) = connection.open_bi().await.expect("a stream");
            send.write_all(first).await.expect("sent");
            connection.closed().await
        });
        let quinn::ConnectionError::ApplicationClosed(close) = closed else { panic!("{closed}") };
        assert_eq!(close.error_code.into_inner(), u64::from(u16::from(code)));
    }
    let (status, _) = runtime.block_on(query::query(server.address())).expect("it is well");
    assert_eq!(status.players, 0, "no newcomer got in");
}

/// A bare quinn client.
fn client() -> quinn::ClientConfig {
    let (tls, _) = client_crypto(None, ALPN).expect("a configuration");
    let quic = quinn::crypto::rustls::QuicClientConfig::try_from(tls).expect("a configuration");
    quinn::ClientConfig::new(Arc::new(quic))
}

/// A client that gives the server no flow-control credit.
fn deaf_client() -> quinn::ClientConfig {
    let mut config = client();
    let mut transport = quinn::TransportConfig::default();
    transport.stream_receive_window(0_u32.into());
    transport.keep_alive_interval(Some(Duration::from_secs(1)));
    config.transport_config(Arc::new(transport));
    config
}

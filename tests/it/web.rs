//! WebTransport players, as in browsers, beside native ones, on the whole stack in virtual time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::client::{Client, Notice, SessionConfig, State};
use phaselock::limits::DATAGRAM_BYTES_MAX;
use phaselock::server::RoomConfig;
use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, frame};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::ALPN;
use phaselock_games::all as all_games;
use phaselock_games::skirmish::Skirmish;
use phaselock_quic::client::{Driver, Options, Pins, Transport};
use phaselock_quic::clock::Clock;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_quic::server::{Server, ServerHandle};
use phaselock_quic::verify::client_crypto;
use phaselock_quic::web::WebOptions;
use phaselock_testing::ether::Ether;
use phaselock_testing::{hello, room_config};
use phaselock_tests::identity::{same_identity, same_player};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig, TokioRuntime};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

const FRAME: Duration = Duration::from_millis(4);
/// Code of HTTP/3 (RFC 9114, 8.1).
const STREAM_CREATION: u64 = 0x103;

/// A server that also accepts browsers, on an in-memory network.
pub(super) struct World {
    ether: Ether,
    address: SocketAddr,
    handle: ServerHandle,
    stop: oneshot::Sender<Disconnect>,
    server: JoinHandle<()>,
}

impl World {
    pub(super) fn new(config: RoomConfig) -> Self {
        let ether = Ether::default();
        let socket = ether.socket();
        let address = socket.address();
        let identity = same_identity().expect("an identity");
        let server = Server::with_controller(socket, &identity, None, Some(1)).expect("a server");
        let options = WebOptions { origins: vec!["https://play.example.org".into()] };
        let server = server.for_browsers(&identity, options).expect("for browsers");
        let handle = server.handle();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            stopped.await.unwrap_or_else(|_| Disconnect::new(Code::Shutdown, "the test is over"))
        };
        let server = tokio::spawn(async move { server.run(&all_games(), config, shutdown).await });
        Self { ether, address, handle, stop, server }
    }

    pub(super) async fn end(self, goodbye: Disconnect) {
        self.stop.send(goodbye).expect("the server runs");
        self.server.await.expect("it does not panic");
    }
}

/// A player with its driver.
pub(super) struct Player {
    driver: Driver,
    states: Vec<State>,
    _directory: TempDir,
}

impl Player {
    pub(super) fn join(world: &World, number: u64, carriage: Transport, link: &str) -> Self {
        let (keys, directory) = same_player(number).expect("a key");
        let options = Options {
            link: (!link.is_empty()).then(|| link.parse().expect("conditions")),
            sockets: Arc::new(world.ether.clone()),
            keys,
            seed: Some(number),
            carriage,
            ..Options::new(world.address.into(), Pins::Memory)
        };
        let config = SessionConfig::new(all_games(), format!("Player {number}"));
        let driver = Driver::spawn_here(options, config, Clock::start());
        Self { driver, states: Vec::new(), _directory: directory }
    }

    pub(super) async fn play(&mut self, time: Duration) {
        let end = Instant::now() + time;
        let mut frame = Instant::now();
        while frame < end {
            frame += FRAME;
            self.driver.receive();
            while let Some(notice) = self.driver.session.poll_notice() {
                if let Notice::State(state) = notice {
                    self.states.push(state);
                }
            }
            let now = self.driver.clock().now();
            self.driver.session.handle_frame(now);
            self.driver.session.press::<Skirmish>(now, |_, _| Default::default());
            self.driver.session.handle_picture(now);
            self.driver.transmit();
            sleep_until(frame).await;
        }
    }

    pub(super) fn core(&self) -> &Client<Skirmish> {
        let playing = *self.driver.session.state() == State::Connected;
        let core = self.driver.session.client_of().filter(|_| playing);
        core.unwrap_or_else(|| panic!("not in the game: {:?}", self.states))
    }

    /// Reason for the end of its session.
    fn ended(&self) -> &Disconnect {
        match self.driver.session.state() {
            State::Ended { reason } | State::Waiting { reason, .. } => reason,
            other => panic!("it has not ended: {other:?}"),
        }
    }
}

pub(super) fn web() -> Transport {
    Transport::WebTransport(None)
}

pub(super) const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn both_carriages_play_alike() {
    for link in ["", "delay=60ms,jitter=10ms,loss=2%", "mobile,seed=3"] {
        let mut figures = Vec::new();
        for carriage in [Transport::Native, web()] {
            let world = World::new(room_config(1, 4));
            let mut player = Player::join(&world, 1, carriage, link);
            player.play(12 * SECOND).await;
            let stats = player.core().stats();
            let rates = player.core().rates();
            assert!(stats.snapshots > 11 * u64::from(rates.snapshot_hz) * 8 / 10, "{stats:?}");
            assert!(stats.mispredictions < 20, "{link}: {stats:?}");
            figures.push((stats.snapshots, stats.late_inputs));
            world.end(Disconnect::new(Code::Shutdown, "over")).await;
        }
        let [(native, _), (web, late)] = figures[..] else { unreachable!("two carriages") };
        assert!(native.abs_diff(web) < native / 8, "{link}: {native} and {web} snapshots");
        assert!(late < 60, "{link}: {late} late inputs");
    }
}

#[tokio::test(start_paused = true)]
async fn a_browser_and_a_window_are_in_one_room_and_hear_the_same_goodbye() {
    let world = World::new(room_config(1, 0));
    let mut window = Player::join(&world, 1, Transport::Native, "delay=20ms");
    let mut browser = Player::join(&world, 2, web(), "delay=20ms");
    tokio::join!(window.play(4 * SECOND), browser.play(4 * SECOND));
    for player in [&window, &browser] {
        assert_eq!(player.core().roster().len(), 2);
    }
    assert_eq!(world.handle.traffic().transports, [("native", 1), ("web", 1)]);
    let goodbye = Disconnect::new(Code::Kicked, "be nice");
    tokio::join!(world.end(goodbye), window.play(3 * SECOND), browser.play(3 * SECOND));
    for player in [&window, &browser] {
        assert_eq!((player.ended().code, &*player.ended().text), (Code::Kicked, "be nice"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_was_cut_off_gets_its_seat_back() {
    let world = World::new(room_config(1, 0));
    // A dead network for six seconds, from the fifth on.
    let mut browser = Player::join(&world, 1, web(), "delay=20ms;5s:loss=100%;11s:loss=0%");
    browser.play(4 * SECOND).await;
    let seat = browser.core().player();
    browser.play(16 * SECOND).await;
    assert_eq!(browser.core().player(), seat, "{:?}", browser.states);
    let joined = browser.states.iter().filter(|state| **state == State::Connected).count();
    assert_eq!(joined, 2, "{:?}", browser.states);
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn pages_of_elsewhere_are_refused_and_named_ones_are_not() {
    let world = World::new(room_config(1, 0));
    let host = format!("https://{}", world.address.ip());
    for (origin, is_let_in) in [
        ("https://evil.example", false),
        ("null", false),
        ("https://play.example.org", true),
        (&*host, true),
    ] {
        let carriage = Transport::WebTransport(Some(origin.to_owned()));
        let mut player = Player::join(&world, 1, carriage, "");
        player.play(2 * SECOND).await;
        if is_let_in {
            player.core();
            player.driver.leave("left").await;
        } else {
            let reason = player.ended();
            assert!(reason.text.contains("from that page"), "{origin}: {reason}");
        }
    }
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

/// An HTTP/3 connection, for tests that break its rules.
pub(super) async fn stranger(world: &World) -> Connection {
    connected(world, b"h3").await
}

async fn connected(world: &World, alpn: &[u8]) -> Connection {
    let socket = world.ether.socket();
    let config = EndpointConfig::default();
    let runtime = Arc::new(TokioRuntime);
    let endpoint = Endpoint::new_with_abstract_socket(config, None, socket, runtime);
    let (tls, _) = client_crypto(None, alpn).expect("a configuration");
    let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("TLS 1.3")));
    let endpoint = endpoint.expect("an endpoint");
    endpoint.connect_with(config, world.address, "phaselock").expect("begun").await.expect("there")
}

/// Returns the code with which the server closes a connection.
pub(super) async fn ended(connection: &Connection) -> u64 {
    match timeout(20 * SECOND, connection.closed()).await.expect("it ends") {
        ConnectionError::ApplicationClosed(close) => close.error_code.into_inner(),
        other => panic!("it ends otherwise: {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_native_client_with_a_browsers_stream_is_refused() {
    let world = World::new(room_config(1, 0).with(|it| it.players_max = 2));
    let seats = || world.handle.rooms()[0].seats_taken;
    for _ in 0..3 {
        let connection = connected(&world, ALPN).await;
        let (mut send, mut receive) = connection.open_bi().await.expect("a stream");
        let key = PlayerKey::load(&PlayerKeys::Ephemeral).expect("a key");
        let mut hello = hello::<Skirmish>("Eve", LocalTime(0));
        hello.credentials = key.credentials(&connection).expect("a proof");
        let hello = frame(&ClientMessage::Hello(hello)).expect("it is short");
        send.write_all(&hello).await.expect("sent");
        receive.read_exact(&mut [0; 2]).await.expect("a welcome");
        sleep(2 * SECOND).await;
        assert!(seats() > 0, "it plays");
        let mut intruder = connection.open_uni().await.expect("space for a stream");
        let _ = intruder.write_all(&[1]).await;
        ended(&connection).await;
        sleep(2 * SECOND).await;
        let status = world.handle.rooms()[0].status.clone();
        assert_eq!(status.players, 0, "no one plays there without a connection");
    }
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn silent_browsers_make_place_and_streams_of_unknown_kinds_are_passed_over() {
    let world = World::new(room_config(1, 0));
    let connection = stranger(&world).await;
    let began = Instant::now();
    // Unknown kinds (RFC 9114, 6.2.3), each stopped by the server.
    for _ in 0..8 {
        let mut send = connection.open_uni().await.expect("a stream");
        let _ = send.write_all(&[0x21, 1, 2, 3]).await;
        let stopped = send.stopped().await.expect("the client is informed").expect("a code");
        assert_eq!(stopped.into_inner(), STREAM_CREATION);
    }
    // The server sends nothing else.
    ended(&connection).await;
    let patience = began.elapsed();
    assert!(patience > SECOND && patience < 10 * SECOND, "{patience:?}");
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn datagrams_have_room_for_the_sessions_number() {
    let world = World::new(room_config(1, 60));
    let mut player = Player::join(&world, 1, web(), "delay=20ms");
    player.play(6 * SECOND).await;
    let stats = player.core().stats();
    assert!(stats.snapshots > 100, "{stats:?}");
    assert!(stats.rx_bytes / stats.rx_packets <= DATAGRAM_BYTES_MAX as u64, "{stats:?}");
    assert_eq!(stats.refused, 0, "each datagram is whole");
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_for_browsers_refuses_their_handshake() {
    let ether = Ether::default();
    let socket = ether.socket();
    let address = socket.address();
    let identity = same_identity().expect("an identity");
    let server = Server::with_controller(socket, &identity, None, Some(1)).expect("a server");
    let (_stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
        Disconnect::new(Code::Shutdown, "over")
    };
    tokio::spawn(async move { server.run(&all_games(), room_config(1, 0), shutdown).await });
    let (tls, _) = client_crypto(None, b"h3").expect("a configuration");
    let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("TLS 1.3")));
    let runtime = Arc::new(TokioRuntime);
    let endpoint = Endpoint::new_with_abstract_socket(
        EndpointConfig::default(),
        None,
        ether.socket(),
        runtime,
    )
    .expect("an endpoint");
    let connecting = endpoint.connect_with(config, address, "phaselock").expect("begun");
    let error = connecting.await.expect_err("it is refused");
    assert!(matches!(error, ConnectionError::ConnectionClosed(_)), "{error}");
}

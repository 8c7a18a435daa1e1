//! The server's driver: packets that leave, a full socket, and a flood.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, ServerMessage, Status, frame};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::input::{Ack, InputPacket, Pressed, write_input};
use phaselock::wire::protocol::ALPN;
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_quic::identity::Identity;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_quic::query::query;
use phaselock_quic::server::Server;
use phaselock_quic::socket;
use phaselock_quic::verify::client_crypto;
use phaselock_testing::{hello, room_config};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{
    AckFrequencyConfig, AsyncUdpSocket, ClientConfig, Connection, Endpoint, EndpointConfig,
    RecvStream, Runtime, SendStream, TokioRuntime, TransportConfig, UdpPoller,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, interval_at, sleep};

use crate::stack::{Player, World, end};

/// A bare quinn client with the product's settings for acknowledgements.
fn client() -> ClientConfig {
    let (tls, _) = client_crypto(None, ALPN).expect("a configuration");
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("TLS 1.3")));
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements
        .ack_eliciting_threshold(16_u32.into())
        .max_ack_delay(Some(Duration::from_millis(40)))
        .reordering_threshold(0_u32.into());
    let mut transport = TransportConfig::default();
    transport.ack_frequency_config(Some(acknowledgements)).mtu_discovery_config(None);
    config.transport_config(Arc::new(transport));
    config
}

/// Joins a world's server. Keep the stream, or the session ends.
async fn join(world: &World) -> (Endpoint, Connection, SendStream, RecvStream) {
    let (socket, runtime) = (world.ether.socket(), Arc::new(TokioRuntime));
    let endpoint =
        Endpoint::new_with_abstract_socket(EndpointConfig::default(), None, socket, runtime);
    let endpoint = endpoint.expect("an endpoint");
    let connecting = endpoint.connect_with(client(), world.address(), "phaselock");
    let connection = connecting.expect("an address").await.expect("a connection");
    let (mut send, receive) = connection.open_bi().await.expect("a stream");
    let key = PlayerKey::load(&PlayerKeys::Ephemeral).expect("a key");
    let mut hello = hello::<Skirmish>("Ada", LocalTime(0));
    hello.credentials = key.credentials(&connection).expect("a proof");
    let hello = frame(&ClientMessage::Hello(hello)).expect("it is short");
    send.write_all(&hello).await.expect("sent");
    (endpoint, connection, send, receive)
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn acknowledgements_wait_for_the_snapshot_wherever_between_two_inputs_come() {
    for phase_ms in [1, 5, 9, 13] {
        let world = World::new(room_config(1, 3));
        let (endpoint, connection, _send, mut receive) = join(&world).await;
        // Names and welcome have been read and acknowledged.
        let reading =
            tokio::spawn(
                async move { while let Ok(Some(_)) = receive.read(&mut [0; 999]).await {} },
            );
        sleep(Duration::from_secs(1)).await;
        let begin = Instant::now() + Duration::from_millis(phase_ms);
        let mut inputs = interval_at(begin, Duration::from_micros(16_667));
        let (mut before, mut snapshots) = (world.ether.sent(world.address()), 0);
        let mut newest = None;
        for input in 0..360_u16 {
            if input == 60 {
                (before, snapshots) = (world.ether.sent(world.address()), 0);
            }
            loop {
                tokio::select! {
                    datagram = connection.read_datagram() => {
                        datagram.expect("it is connected");
                        snapshots += 1;
                        newest = Some(newest.map_or(0, |newest| newest + 1));
                    }
                    _ = inputs.tick() => break,
                }
            }
            // No packet is lost, and only those that were sent may be named.
            let mask = |newest: u16| u32::MAX.checked_shr(32 - u32::from(newest)).unwrap_or(0);
            let ack = newest.map(|newest| Ack { newest, mask: mask(newest.min(32)) });
            let inputs = Vec::<Pressed<Command>>::new();
            let packet =
                InputPacket { seq: input, ack, sent: 1, echo: None, epoch: 0, tick: 0, inputs };
            connection.send_datagram(write_input(&packet).into()).expect("it is connected");
        }
        let sent = world.ether.sent(world.address()) - before;
        assert!(snapshots >= 145, "only {snapshots} snapshots in 5 s");
        // One packet is in flight at either end.
        let alone = sent.packets.saturating_sub(snapshots);
        assert!(alone <= 2, "phase {phase_ms} ms: {} packets, {snapshots} snapshots", sent.packets);
        reading.abort();
        connection.close(0_u32.into(), b"the test is over");
        endpoint.wait_idle().await;
        world.end().await;
    }
}

/// A socket that accepts a packet only after the caller has waited for it.
#[derive(Debug)]
struct Full {
    inner: Arc<dyn AsyncUdpSocket>,
    has_room: Arc<AtomicBool>,
}

/// Poller of [`Full`], which has space when polled a second time.
#[derive(Debug)]
struct Later {
    has_room: Arc<AtomicBool>,
    was_asked: bool,
}

impl UdpPoller for Later {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.was_asked = !self.was_asked;
        if self.was_asked {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.has_room.store(true, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncUdpSocket for Full {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Later { has_room: Arc::clone(&self.has_room), was_asked: false })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        match self.has_room.swap(false, Ordering::Relaxed) {
            true => self.inner.try_send(transmit),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        self.inner.poll_recv(cx, buffers, metas)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn packets_wait_for_a_full_socket_and_none_is_lost() {
    let full = |inner| Arc::new(Full { inner, has_room: Arc::default() }) as _;
    let world = World::behind(full, room_config(1, 3));
    let mut player = Player::join(&world, "lan", Duration::from_secs(3600));
    player.play(&world, Duration::from_secs(10)).await;
    let stats = player.core().stats();
    assert!(stats.snapshots > 290, "{} snapshots in 10 s", stats.snapshots);
    assert_eq!(stats.expected, stats.arrived, "none is lost");
    end(world, player).await;
}

/// A socket with an endless queue of garbage.
#[derive(Debug)]
struct Flooded {
    inner: Arc<dyn AsyncUdpSocket>,
    calls: AtomicUsize,
}

impl AsyncUdpSocket for Flooded {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        if self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(8)
            && let Poll::Ready(received) = self.inner.poll_recv(cx, buffers, metas)
        {
            return Poll::Ready(received);
        }
        let addr = SocketAddr::from(([127, 0, 0, 1], 9));
        for (buffer, meta) in buffers.iter_mut().zip(&mut *metas) {
            // Each buffer has as many packets of a sender as an operating system puts into one.
            buffer[..640].fill(0x41);
            *meta = RecvMeta { addr, len: 640, stride: 10, ecn: None, dst_ip: None };
        }
        Poll::Ready(Ok(buffers.len()))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

/// Returns the status that a client gets over the control stream.
async fn status(address: SocketAddr) -> Option<Status> {
    let endpoint = Endpoint::client(([127, 0, 0, 1], 0).into()).ok()?;
    let connection = endpoint.connect_with(client(), address, "phaselock").ok()?.await.ok()?;
    let (mut send, mut receive) = connection.open_bi().await.ok()?;
    send.write_all(&frame(&ClientMessage::Query).ok()?).await.ok()?;
    let answer = receive.read_to_end(4096).await.ok()?;
    match ServerMessage::parse(answer.get(2..)?) {
        Ok(ServerMessage::Status(status)) => Some(status),
        _ => None,
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_flood_without_end_stops_neither_ticks_nor_newcomers() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let inner = socket::bind(any_port).and_then(|socket| TokioRuntime.wrap_udp_socket(socket));
    let flooded = Flooded { inner: inner.expect("a socket"), calls: AtomicUsize::new(0) };
    let identity = Identity::ephemeral().expect("an identity");
    let server =
        Server::with_controller(Arc::new(flooded), &identity, None, None).expect("a server");
    let address = server.address();
    let games = phaselock_games::all().select(&["skirmish"]).expect("there is such a game");
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
        Disconnect::new(Code::Shutdown, "the test is over")
    };
    // It shares the thread with the clients that ask.
    let server = tokio::spawn(async move { server.run(&games, room_config(1, 3), shutdown).await });
    let mut ticks = Vec::new();
    for _ in 0..2 {
        let status = loop {
            // The door answers the first query, and a room the second.
            query(address).await.expect("it is well");
            if let Some(status) = status(address).await {
                break status;
            }
        };
        ticks.push(status.tick);
        sleep(Duration::from_millis(200)).await;
    }
    assert!(ticks[0] < ticks[1], "{ticks:?}");
    stop.send(()).expect("it runs");
    server.await.expect("it does not panic");
}

#[tokio::test(flavor = "current_thread")]
async fn server_answers_each_from_the_address_that_was_asked() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let identity = Identity::ephemeral().expect("an identity");
    let server = Server::bind_all(&[any_port; 3], &identity).expect("a server");
    let addresses = server.addresses().to_vec();
    assert_eq!((addresses.len(), addresses[0]), (3, server.address()));
    let games = phaselock_games::all().select(&["skirmish"]).expect("there is such a game");
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
        Disconnect::new(Code::Shutdown, "the test is over")
    };
    let server = tokio::spawn(async move { server.run(&games, room_config(1, 3), shutdown).await });
    // A connected socket receives nothing from other addresses, and neither does a QUIC client.
    for address in addresses {
        assert_eq!(query(address).await.expect("it is well").0.bots, 3);
        assert_eq!(status(address).await.expect("an answer").bots, 3);
    }
    stop.send(()).expect("it runs");
    server.await.expect("it does not panic");
}

//! A storm of newcomers into a room: players are undisturbed, and all newcomers get in soon. Server
//! and clients are real, over an in-memory network in virtual time; handshakes and packets take
//! server time, rules and snapshots none.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use phaselock::client::{SessionConfig, Stats};
use phaselock::games::Games;
use phaselock::random::Random;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::Server;
use phaselock_testing::ether::{Ether, EtherSocket};
use phaselock_testing::room_config;
use phaselock_tests::meadows::{Meadows, push};
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::task::LocalSet;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

const PLAYERS: usize = 24;
const NEWCOMERS: usize = 256;
/// Time within which all newcomers join.
const STORM: Duration = Duration::from_secs(1);
/// Maximum time from a newcomer's arrival to its first snapshot.
const IN_WITHIN: Duration = Duration::from_secs(2);
const FRAME: Duration = Duration::from_millis(16);
/// Share of a player's snapshots that have to arrive.
const SNAPSHOTS_MIN: f64 = 0.95;

/// The server's microseconds for an incoming packet. This and the next two are arbitrary, and a few
/// times the cost on a real machine.
const PACKET_IN: u64 = 5;
/// The server's microseconds for an outgoing packet.
const PACKET_OUT: u64 = 10;
/// The server's microseconds for a handshake, which signs, checks a proof, and derives keys.
const HANDSHAKE: u64 = 500;

/// A socket that adds up its server's work.
#[derive(Debug)]
struct Costly {
    inner: Arc<EtherSocket>,
    micros: Arc<AtomicU64>,
}

impl Costly {
    fn spend(&self, micros: u64) {
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

impl AsyncUdpSocket for Costly {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        // A long header of an Initial packet: the answer to a handshake begins.
        let begins = transmit.contents.first().is_some_and(|first| first & 0xf0 == 0xc0);
        let segment = transmit.segment_size.unwrap_or(transmit.contents.len()).max(1);
        let packets = transmit.contents.len().div_ceil(segment) as u64;
        self.spend(packets * PACKET_OUT + u64::from(begins) * HANDSHAKE);
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let filled = ready!(self.inner.poll_recv(cx, buffers, metas));
        if let Ok(filled) = filled {
            self.spend(filled as u64 * PACKET_IN);
        }
        Poll::Ready(filled)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

/// A server that continues when the time for its work has passed.
struct Slow<F> {
    inner: Pin<Box<F>>,
    micros: Arc<AtomicU64>,
    busy: Pin<Box<Sleep>>,
}

impl<F: Future> Future for Slow<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        ready!(self.busy.as_mut().poll(cx));
        let polled = self.inner.as_mut().poll(cx);
        // The timer counts milliseconds; keep the remainder.
        let millis = self.micros.load(Ordering::Relaxed) / 1000;
        if millis > 0 {
            self.micros.fetch_sub(millis * 1000, Ordering::Relaxed);
            self.busy.as_mut().reset(Instant::now() + Duration::from_millis(millis));
        }
        polled
    }
}

/// A client with its driver.
struct Player {
    driver: Driver,
    random: Random,
    came: Instant,
    /// Time from its arrival to its first snapshot.
    waited: Option<Duration>,
}

impl Player {
    fn join(ether: &Ether, server: SocketAddr, number: usize) -> Self {
        let address = server.to_string().parse().expect("an address");
        let conditions = "delay=15ms,jitter=2ms,order=kept";
        let options = Options {
            sockets: Arc::new(ether.clone()),
            link: Some(format!("{conditions},seed={number}").parse().expect("conditions")),
            ..Options::new(address, Pins::Memory)
        };
        let config = SessionConfig::new(Games::new().with::<Meadows>(), "Ada");
        let driver = Driver::spawn_here(options, config, Clock::start());
        let random = Random::new(number as u64);
        Self { driver, random, came: Instant::now(), waited: None }
    }

    fn frame(&mut self) {
        self.driver.receive();
        let now = self.driver.clock().now();
        self.driver.session.handle_frame(now);
        let Self { driver, random, .. } = self;
        driver.session.press::<Meadows>(now, |_, tick| push(tick, random));
        driver.transmit();
        if self.waited.is_none() && self.stats().snapshots > 0 {
            self.waited = Some(self.came.elapsed());
        }
    }

    fn stats(&self) -> Stats {
        let client = self.driver.session.client_of::<Meadows>();
        client.map(|client| client.stats().clone()).unwrap_or_default()
    }
}

/// Lets all play for a time, while newcomers join at even intervals.
async fn play(
    players: &mut Vec<Player>,
    time: Duration,
    newcomers: usize,
    join: &dyn Fn() -> Player,
) {
    let (begin, before) = (Instant::now(), players.len());
    let mut frame = begin;
    while frame < begin + time {
        let part = (frame + FRAME - begin).as_secs_f64() / time.as_secs_f64();
        let due = (newcomers as f64 * part.min(1.0)).ceil() as usize;
        while players.len() - before < due {
            players.push(join());
        }
        // Half of them at a time.
        for half in 0..2 {
            players.iter_mut().skip(half).step_by(2).for_each(Player::frame);
            frame += FRAME / 2;
            sleep_until(frame).await;
        }
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_storm_of_newcomers_disturbs_no_player_and_all_get_in() {
    LocalSet::new().run_until(storm()).await;
}

async fn storm() {
    let ether = Ether::default();
    let (inner, micros) = (ether.socket(), Arc::new(AtomicU64::new(0)));
    let address = inner.address();
    let socket = Arc::new(Costly { inner, micros: Arc::clone(&micros) });
    let identity = Identity::ephemeral().expect("an identity");
    let server = Server::with_controller(socket, &identity, None, None).expect("a server");
    let config = room_config(1, 0).with(|it| it.players_max = (PLAYERS + NEWCOMERS) as u16);
    let games = Games::new().with::<Meadows>();
    let serve = async move { server.run(&games, config, std::future::pending()).await };
    let busy = Box::pin(sleep(Duration::ZERO));
    let server = tokio::task::spawn_local(Slow { inner: Box::pin(serve), micros, busy });

    let count = std::cell::Cell::new(0);
    let join = || Player::join(&ether, address, count.replace(count.get() + 1));
    let mut players: Vec<_> = (0..PLAYERS).map(|_| join()).collect();
    play(&mut players, Duration::from_secs(5), 0, &join).await;
    assert!(players.iter().all(|player| player.stats().snapshots > 100), "all play");
    // The storm, and the time until the last newcomers are in.
    for (time, newcomers) in [(STORM, NEWCOMERS), (IN_WITHIN, 0)] {
        let before: Vec<_> = players.iter().map(Player::stats).take(PLAYERS).collect();
        play(&mut players, time, newcomers, &join).await;
        for (player, before) in players.iter().zip(&before) {
            let Stats { snapshots, late_inputs, mispredictions, .. } = player.stats().since(before);
            // One may be in flight.
            let due = time.as_secs_f64() * 30.0;
            let came = (snapshots + 1) as f64;
            assert!(came >= SNAPSHOTS_MIN * due, "{snapshots} of {due} snapshots came");
            assert_eq!((late_inputs, mispredictions), (0, 0), "it belongs to an earlier player");
        }
    }
    let waited: Vec<_> = players[PLAYERS..].iter().map(|player| player.waited).collect();
    assert_eq!(waited.len(), NEWCOMERS);
    let longest = waited.into_iter().map(|waited| waited.expect("it was admitted")).max();
    assert!(longest < Some(IN_WITHIN), "{longest:?} until somebody was in");
    server.abort();
}

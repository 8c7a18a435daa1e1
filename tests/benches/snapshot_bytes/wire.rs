//! Traffic of the real server to one real client over QUIC, in virtual time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use phaselock::client::{Client, Notice, SessionConfig};
use phaselock::game::{Game, new_bot};
use phaselock::games::Games;
use phaselock::random::Random;
use phaselock::server::RoomConfig;
use phaselock::snapshot::store::Received;
use phaselock::time::Tick;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_games::skirmish::Piece;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::Server;
use phaselock_testing::ether::{Ether, Traffic};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

/// Time from frame to frame of a client.
const FRAME: Duration = Duration::from_millis(4);
/// Unmeasured seconds: joining, and the first estimates of the path.
const SETTLING: Duration = Duration::from_secs(8);
/// Bytes of IPv4's and UDP's headers.
pub(crate) const UDP_BYTES: f64 = 28.0;

/// Packets that reached a client, and packets that left the server for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    /// Seconds measured.
    pub(crate) seconds: f64,
    /// Snapshot packets sent, by their numbers.
    pub(crate) sent: f64,
    /// Packets that arrived.
    pub(crate) packets: f64,
    /// Their bytes.
    pub(crate) bytes: f64,
    /// Players' states in them.
    pub(crate) updates: f64,
    /// Ages of baselines in ticks, summed over packets.
    pub(crate) ages: f64,
    /// UDP packets that the server's socket sent.
    pub(crate) socket: Traffic,
}

impl Carried {
    /// Bytes of the sent packets, assuming that lost ones were like those that arrived.
    pub(crate) fn bytes_sent(&self) -> f64 {
        self.bytes / self.packets.max(1.0) * self.sent
    }

    /// Updates in them.
    pub(crate) fn updates_sent(&self) -> f64 {
        self.updates / self.packets.max(1.0) * self.sent
    }

    /// Bytes on the wire.
    pub(crate) fn wire_bytes(&self) -> f64 {
        self.socket.bytes as f64 + UDP_BYTES * self.socket.packets as f64
    }
}

/// Counts the players' states in packets that arrive.
#[derive(Debug, Default)]
struct Counter {
    /// Number of states counted so far, for the newest ticks.
    known: VecDeque<(Tick, usize)>,
}

impl Counter {
    const TICKS_MAX: usize = 64;

    fn count<G: Game<Entity = Piece>>(&mut self, core: &Client<G>, received: &Received) -> usize {
        let players = core.store().iter().filter(|(index, _)| {
            let version = core.store().version(*index, received.tick);
            version.and_then(|version| version.state).is_some_and(|state| state.kind == 0)
        });
        let now = players.count();
        match self.known.iter_mut().find(|(tick, _)| *tick == received.tick) {
            Some((_, known)) => now - std::mem::replace(known, now),
            None => {
                if self.known.len() == Self::TICKS_MAX {
                    self.known.pop_front();
                }
                self.known.push_back((received.tick, now));
                now
            }
        }
    }
}

/// Plays for a time over a network, among bots, and measures after the beginning.
pub(crate) fn carry<G: Game<Entity = Piece>>(
    config: RoomConfig,
    network: &str,
    seconds: f64,
) -> anyhow::Result<Carried> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build()?;
    runtime.block_on(play::<G>(config, network, Duration::from_secs_f64(seconds)))
}

async fn play<G: Game<Entity = Piece>>(
    config: RoomConfig,
    network: &str,
    time: Duration,
) -> anyhow::Result<Carried> {
    let ether = Ether::default();
    let socket = ether.socket();
    let at = socket.address();
    let identity = Identity::ephemeral()?;
    let server = Server::with_controller(socket, &identity, None, None)?;
    let (stop, stopped) = oneshot::channel::<String>();
    let stopped = async { Disconnect::new(Code::Shutdown, stopped.await.unwrap_or_default()) };
    let games = Games::new().with::<G>();
    let hosted = games.clone();
    let server = tokio::spawn(async move { server.run(&hosted, config, stopped).await });

    let clock = Clock::start();
    let options = Options {
        link: Some(network.parse()?),
        sockets: Arc::new(ether.clone()),
        ..Options::new(at.to_string().parse()?, Pins::Memory)
    };
    let mut driver = Driver::spawn_here(options, SessionConfig::new(games, "Ada"), clock);
    let (mut bot, mut random) = (new_bot::<G>(), Random::new(1));
    let (mut counter, mut carried) = (Counter::default(), Carried::default());
    let mut before = None;
    let begin = Instant::now();
    let mut frame = begin;
    while frame < begin + SETTLING + time {
        driver.receive_each(|session, received, _| {
            let core = session.client_of::<G>().expect("it received");
            let updates = counter.count(core, received);
            if before.is_some() {
                carried.packets += 1.0;
                carried.bytes += received.bytes as f64;
                carried.updates += updates as f64;
                let age = received.header.references.baseline();
                carried.ages += f64::from(age.unwrap_or(0));
            }
        });
        while let Some(notice) = driver.session.poll_notice() {
            let again = matches!(notice, Notice::Game { .. }) && before.is_some();
            anyhow::ensure!(!again, "the game was lost over {network}");
        }
        let now = clock.now();
        driver.session.handle_frame(now);
        driver.session.press::<G>(now, |core, tick| {
            bot.input(core.game(), tick.minus(1), &core.newest(), core.player(), &mut random)
        });
        driver.session.handle_picture(now);
        driver.transmit();
        if let Some(core) = driver.session.client_of::<G>()
            && frame >= begin + SETTLING
            && before.is_none()
        {
            before = Some((ether.sent(at), core.stats().expected));
        }
        frame += FRAME;
        sleep_until(frame).await;
    }
    let core = driver.session.client_of::<G>();
    let core = core.with_context(|| format!("the game was not joined over {network}"))?;
    let (socket, expected) = before.context("it was not joined in time")?;
    carried.seconds = time.as_secs_f64();
    carried.sent = (core.stats().expected - expected) as f64;
    carried.socket = ether.sent(at) - socket;
    driver.leave("all is measured").await;
    // This ends only if the server has ended already.
    let _ = stop.send("all is measured".into());
    server.await?;
    Ok(carried)
}

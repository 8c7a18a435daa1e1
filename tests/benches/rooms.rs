//! `cargo bench -p phaselock-tests --bench rooms`: the server's time for sixteen rooms of sixteen
//! players, and for one room of 256 players who see sixteen each.
//!
//! The server and 256 clients are the real ones, over a network in memory and in virtual time, so
//! that both have the same to do but for the rooms. The server's time is that of its turns, without
//! the system's for packets. `-- --help` lists the options; with `--rooms` and `--quick` a run is
//! short enough for valgrind, whose `--toggle-collect='*Metered*poll*'` counts instructions.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use clap::Parser;
use glam::Vec2;
use phaselock::client::SessionConfig;
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Viewpoint, World};
use phaselock::games::Games;
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::record;
use phaselock::server::RoomConfig;
use phaselock::time::Rates;
use phaselock_lab::scores::quantile;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::{RoomsConfig, Server};
use phaselock_testing::ether::Ether;
use phaselock_testing::room_config;
use phaselock_tests::bench::{Column, Format, head, json, number, row};
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

const PLAYERS: u16 = 256;
/// Players who see each other.
const TOGETHER: u16 = 16;
/// Time of a client's frame: that of a tick.
const FRAME: Duration = Duration::from_micros(16_667);
/// Virtual time of a figure; the median of several is printed.
const SPAN: Duration = Duration::from_millis(500);

#[derive(Debug, Parser)]
#[command(name = "rooms")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Plays for a moment only
    #[arg(long)]
    quick: bool,
    /// The only count of rooms, 1 to 16
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=16))]
    rooms: Option<u16>,
}

record! {
    /// A player's input.
    struct Push {
        /// Direction, of length 0 to 1.
        way: Vec2 = Field::range(-1, 1, 6),
    }
}

record! {
    /// A player's body.
    struct Mover {
        /// Metres from the middle.
        position: Vec2 = Field::centred(20, 8).moved_by("velocity"),
        /// Metres a second.
        velocity: Vec2 = Field::centred(12, 7).trending(),
    }
}

/// The rules: players run about in meadows far from each other, sixteen in each.
#[derive(Debug)]
struct Meadows(Rates);

impl Meadows {
    fn run(&self, mover: &mut Mover, push: &Push) {
        mover.velocity += (push.way * 8.0 - mover.velocity) * 0.2;
        mover.position += mover.velocity * self.0.step_secs();
    }
}

fn meadow(player: PlayerId) -> Vec2 {
    let number = player.0 / TOGETHER % 16;
    Vec2::new(f32::from(number % 4), f32::from(number / 4)) * 500.0 - 750.0
}

impl Game for Meadows {
    const NAME: &'static str = "meadows";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit::NONE;
    type Input = Push;
    type Entity = Mover;
    type Memory = ();

    fn new(rates: Rates, _: u64) -> Self {
        Self(rates)
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let mut across = || world.random.range(-30.0, 30.0);
        let position = meadow(player) + Vec2::new(across(), across());
        world.spawn(Some(player), Mover { position, velocity: Vec2::ZERO });
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Push>) {
        for (_, owner, mover) in world.entities.records_mut::<Mover>() {
            self.run(mover, &owner.map(|owner| inputs.get(owner)).unwrap_or_default());
        }
    }

    fn predict(&self, all: &mut Entities<Mover>, own: EntityId, push: &Push, _: Ahead<'_>) {
        if let Some(mover) = all.record_mut(own) {
            self.run(mover, push);
        }
    }

    fn repeat(last: &Push, _: u64) -> Push {
        *last
    }

    fn position(&self, entity: &Mover) -> Option<Vec2> {
        Some(entity.position)
    }

    fn viewpoint(&self, _: &Entities<Mover>, player: PlayerId) -> Option<Viewpoint> {
        Some(Viewpoint { position: meadow(player), range: 200.0 })
    }
}

/// A future whose time is counted.
struct Metered<F> {
    inner: Pin<Box<F>>,
    took: Rc<Cell<Duration>>,
}

impl<F: Future> Future for Metered<F> {
    type Output = F::Output;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let begun = std::time::Instant::now();
        let polled = self.inner.as_mut().poll(cx);
        self.took.set(self.took.get() + begun.elapsed());
        polled
    }
}

/// Figures of so many rooms.
#[derive(Debug, Serialize)]
struct Row {
    rooms: u16,
    players: u16,
    /// Entities that a client is told of, on average.
    told: f64,
    /// Milliseconds of the server a second.
    server_ms: f64,
    /// The same of the first row.
    ratio: Option<f64>,
}

const COLUMNS: [Column<Row>; 5] = [
    ("rooms", |row| row.rooms.to_string()),
    ("players in each", |row| row.players.to_string()),
    ("told of", |row| number(row.told, 1)),
    ("server, ms a second", |row| number(row.server_ms, 1)),
    ("ratio", |row| number(row.ratio, 2)),
];

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let (spans, players) = if args.quick { (2, PLAYERS / 4) } else { (20, PLAYERS) };
    let counts = args.rooms.map_or(vec![1, players / TOGETHER], |rooms| vec![rooms]);
    if !args.format.json {
        println!("{spans} spans of {SPAN:?} in virtual time; the median.");
        head(&COLUMNS);
    }
    let mut first = None;
    for rooms in counts {
        let mut figures = measure(rooms, players, spans)?;
        figures.ratio = first.map(|first| figures.server_ms / first);
        first.get_or_insert(figures.server_ms);
        if args.format.json { json(&figures) } else { row(&COLUMNS, &figures) }
    }
    Ok(())
}

fn measure(rooms: u16, players: u16, spans: u32) -> anyhow::Result<Row> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build()?;
    tokio::task::LocalSet::new().block_on(&runtime, play(rooms, players, spans))
}

async fn play(rooms: u16, players: u16, spans: u32) -> anyhow::Result<Row> {
    let ether = Ether::default();
    let socket = ether.socket();
    let address = socket.address();
    let server = Server::with_controller(socket, &Identity::ephemeral()?, None)?;
    let games = Games::new().with::<Meadows>();
    let config = RoomConfig { players_max: players / rooms, ..room_config(1, 0) };
    let several = RoomsConfig { rooms, rooms_max: rooms, ..RoomsConfig::default() };
    let took = Rc::new(Cell::new(Duration::ZERO));
    let hosted = games.clone();
    let serve =
        async move { server.run_rooms(&hosted, config, several, std::future::pending()).await };
    let server = Metered { inner: Box::pin(serve), took: Rc::clone(&took) };
    let server = tokio::task::spawn_local(server);

    let mut clients = Vec::new();
    for number in 0..u64::from(players) {
        let options = Options {
            sockets: Arc::new(ether.clone()),
            ..Options::new(address.to_string().parse()?, Pins::Memory)
        };
        let config = SessionConfig::new(games.clone(), "Ada");
        let driver = Driver::spawn_here(options, config, Clock::start());
        clients.push((driver, Random::new(number)));
    }
    let mut frame = Instant::now();
    let joined = frame + Duration::from_secs(if spans > 2 { 10 } else { 4 });
    run(&mut clients, &mut frame, joined).await;
    let mut figures = Vec::new();
    for _ in 0..spans {
        let before = took.get();
        let end = frame + SPAN;
        run(&mut clients, &mut frame, end).await;
        figures.push((took.get() - before).as_secs_f64() * 1e3 / SPAN.as_secs_f64());
    }
    server.abort();
    let told = clients.iter().map(|(driver, _)| {
        let client = driver.session.client_of::<Meadows>();
        client.map_or(0, |client| client.newest().len())
    });
    let told = told.sum::<usize>() as f64 / f64::from(players);
    anyhow::ensure!(told > 0.99 * f64::from(TOGETHER), "clients see {told} entities");
    let server_ms = quantile(&mut figures, 0.5);
    Ok(Row { rooms, players: players / rooms, told, server_ms, ratio: None })
}

/// Has all clients play until then, each at a phase of its own.
async fn run(clients: &mut [(Driver, Random)], frame: &mut Instant, end: Instant) {
    const PHASES: usize = 8;
    while *frame < end {
        for phase in 0..PHASES {
            for (driver, random) in clients.iter_mut().skip(phase).step_by(PHASES) {
                driver.receive();
                let now = driver.clock().now();
                driver.session.handle_frame(now);
                driver.session.press::<Meadows>(now, |_, tick| {
                    // Turns now and then, and pulls towards the middle of its meadow in between.
                    let way = Vec2::from_angle((tick.0 / 30) as f32 * 1.7 + random.range(0.0, 0.1));
                    Push { way }
                });
                driver.transmit();
            }
            *frame += FRAME / PHASES as u32;
            sleep_until(*frame).await;
        }
    }
}

//! `cargo bench -p phaselock-tests --bench rooms`: the server's time for sixteen rooms of sixteen
//! players, and for one room of 256 players who see sixteen each.
//!
//! The server and 256 clients are real, over an in-memory network in virtual time, so that the two
//! cases differ only in the rooms. The server's time is that of its turns, without the system's
//! time for packets. `-- --help` lists the options; with `--rooms` and `--quick` a run is short
//! enough for valgrind, whose `--toggle-collect='*Metered*poll*'` counts instructions.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use clap::Parser;
use phaselock::client::SessionConfig;
use phaselock::games::Games;
use phaselock::random::Random;
use phaselock_lab::scores::quantile;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::{RoomsConfig, Server};
use phaselock_testing::ether::Ether;
use phaselock_testing::room_config;
use phaselock_tests::bench::{Column, Format, head, json, number, row};
use phaselock_tests::meadows::{Meadows, TOGETHER, push};
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

const PLAYERS: u16 = 256;
/// Time between a client's frames: a tick.
const FRAME: Duration = Duration::from_micros(16_667);
/// Virtual time of a figure; the median of several is printed.
const SPAN: Duration = Duration::from_millis(500);

#[derive(Debug, Parser)]
#[command(name = "rooms")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Plays only for a moment
    #[arg(long)]
    quick: bool,
    /// Measures only this number of rooms, 1 to 16
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=16))]
    rooms: Option<u16>,
}

/// A future whose polling time is counted.
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

/// Figures for a number of rooms.
#[derive(Debug, Serialize)]
struct Row {
    rooms: u16,
    players: u16,
    /// Mean number of entities that a client gets.
    told: f64,
    /// The server's milliseconds per second.
    server_ms: f64,
    /// The server's milliseconds per second in the first row.
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
    let server = Server::with_controller(socket, &Identity::ephemeral()?, None, None)?;
    let games = Games::new().with::<Meadows>();
    let config = room_config(1, 0).with(|it| it.players_max = players / rooms);
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

/// Lets all clients play until a time, each at its own phase.
async fn run(clients: &mut [(Driver, Random)], frame: &mut Instant, end: Instant) {
    const PHASES: usize = 8;
    while *frame < end {
        for phase in 0..PHASES {
            for (driver, random) in clients.iter_mut().skip(phase).step_by(PHASES) {
                driver.receive();
                let now = driver.clock().now();
                driver.session.handle_frame(now);
                driver.session.press::<Meadows>(now, |_, tick| push(tick, random));
                driver.transmit();
            }
            *frame += FRAME / PHASES as u32;
            sleep_until(*frame).await;
        }
    }
}

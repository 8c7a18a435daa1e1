//! `cargo bench -p phaselock-tests --bench world`: a thousand players in one world.
//!
//! A room of the real engine with a world like Skirmish's, in which each player sees about sixty
//! others. Sessions are real: each player's inputs arrive as packets that acknowledge snapshots,
//! over a path of two ticks, and 0.5 % of all packets are lost. The bench measures the server's
//! work per tick, on a number of threads: reading inputs, running the rules, interest management,
//! and packing snapshots. The network's work is not included. `-- --help` lists the options.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod steppe;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use phaselock::game::World;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, ClientId, Output, Room, RoomConfig};
use phaselock::time::{LocalTime, Rates};
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock_lab::scores::quantile;
use phaselock_quic::workers::Pool;
use phaselock_testing::light::Light;
use phaselock_testing::{body, hello, room_config};
use phaselock_tests::bench::{Column, Format, head, json, number, row};
use serde::Serialize;
use steppe::{Press, RANGE, Steppe, Thing};

/// Seconds before anything is measured.
const BEFORE: u64 = 5;
/// Ticks that a packet takes in each direction.
const WAY: u64 = 2;
const LOSS: f32 = 0.005;

#[derive(Debug, Parser)]
#[command(name = "world")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Plays only for a moment
    #[arg(long)]
    quick: bool,
    /// Players
    #[arg(long, value_name = "COUNT", default_values_t = [250, 500, 1000],
          value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024))]
    players: Vec<u16>,
    /// Threads that pack snapshots
    #[arg(long, value_name = "COUNT", default_values_t = [1, 2], value_delimiter = ',')]
    workers: Vec<u8>,
}

/// Figures of a world; times are in milliseconds.
#[derive(Debug, Serialize)]
struct Row {
    players: u16,
    workers: u8,
    /// Mean number of entities that a player gets per snapshot.
    told: f64,
    /// Ticks without and with a snapshot.
    plain_p50: f64,
    plain_p99: f64,
    snapshot_p50: f64,
    snapshot_p99: f64,
    /// Percentage of ticks that took longer than a tick lasts.
    over: f64,
    /// Number of players that this machine could serve if the work took all of the time.
    players_max: f64,
    /// Kilobits per second to each client.
    kbit: f64,
    /// Percentage of snapshots that each client got, among those that were not lost.
    snapshots: f64,
}

const COLUMNS: [Column<Row>; 11] = [
    ("players", |row| row.players.to_string()),
    ("threads", |row| row.workers.to_string()),
    ("told of", |row| number(row.told, 1)),
    ("tick p50", |row| number(row.plain_p50, 2)),
    ("p99", |row| number(row.plain_p99, 2)),
    ("with snapshot p50", |row| number(row.snapshot_p50, 2)),
    ("p99", |row| number(row.snapshot_p99, 2)),
    ("% over", |row| number(row.over, 2)),
    ("players at 100 %", |row| number(row.players_max, 0)),
    ("kbit/s", |row| number(row.kbit, 1)),
    ("% snapshots", |row| number(row.snapshots, 1)),
];

fn main() {
    let args = Args::parse();
    let seconds = if args.quick { 1 } else { 20 };
    if !args.format.json {
        let Rates { tick_hz, snapshot_hz } = Rates::DEFAULT;
        println!(
            "{seconds} s after {BEFORE} s; {tick_hz} ticks and {snapshot_hz} snapshots a second; \
             milliseconds."
        );
        head(&COLUMNS);
    }
    for players in &args.players {
        for workers in &args.workers {
            let figures = measure(*players, *workers, seconds);
            if args.format.json { json(&figures) } else { row(&COLUMNS, &figures) }
        }
    }
}

/// A client and the packets on its path.
struct Player {
    light: Light<Steppe>,
    down: VecDeque<(u64, Vec<u8>)>,
    up: VecDeque<(u64, Vec<u8>)>,
    /// Number of snapshots that arrived.
    came: u64,
}

/// Returns the mean number of entities within a player's sight, including itself.
fn in_sight(world: &World<Steppe>) -> f64 {
    let at = |thing: &Thing| match thing {
        Thing::Runner(it) => it.position,
        Thing::Rocket(it) => it.position,
    };
    let all: Vec<_> = world.entities.iter().map(|slot| at(&slot.entity)).collect();
    let viewers = world.entities.iter().filter(|slot| slot.owner.is_some());
    let (mut near, mut count) = (0, 0);
    for viewer in viewers {
        let from = at(&viewer.entity);
        near += all.iter().filter(|other| from.distance(**other) <= RANGE).count();
        count += 1;
    }
    near as f64 / f64::from(count.max(1))
}

fn measure(players: u16, workers: u8, seconds: u64) -> Row {
    let pool = Pool::new(workers.into()).unwrap_or_else(|error| panic!("no threads: {error}"));
    let config = RoomConfig { workers: Some(Arc::new(pool)), ..room_config(1, 0) }.with(|it| {
        it.players_max = players;
        it.client_bytes_per_second = 125_000;
    });
    let rates = config.rates;
    let mut room = Room::<Steppe>::new(config);
    let mut clients = Vec::new();
    for client in 0..u64::from(players) {
        let hello = ClientMessage::Hello(hello::<Steppe>("Ada", LocalTime(0)));
        room.handle_first(LocalTime(0), ClientId(client), &body(&hello));
        while let Some(output) = room.poll_output(LocalTime(0)) {
            if let Output::Control { message: ServerMessage::Welcome(welcome), .. } = output {
                let (down, up) = (VecDeque::new(), VecDeque::new());
                clients.push(Player { light: Light::new(&welcome), down, up, came: 0 });
            }
        }
    }
    let mut random = Random::new(7);
    let (mut plain, mut with_snapshot) = (Vec::new(), Vec::new());
    let (mut bytes, mut snapshots) = (0, 0);
    let [before, end] = [BEFORE, BEFORE + seconds].map(|secs| secs * u64::from(rates.tick_hz));
    for tick in 1..=end {
        let now = room.next_timeout();
        for (client, player) in clients.iter_mut().enumerate() {
            while let Some((_, packet)) = player.down.pop_front_if(|(at, _)| *at <= tick) {
                let is_new = player.light.handle_datagram(&packet, now);
                player.came += u64::from(is_new && tick > before);
            }
            // Its own fraction of a tick.
            let at = now.0 - 1 - (client as i64 * 7919) % 16_000;
            let id = player.light.player;
            let packet = player.light.transmit(LocalTime(at), |tick| Press::of(id, tick));
            if !random.chance(LOSS) {
                player.up.push_back((tick + WAY, packet));
            }
        }
        let mut inputs = Vec::new();
        for (client, player) in (0..).zip(&mut clients) {
            while let Some((_, packet)) = player.up.pop_front_if(|(at, _)| *at <= tick) {
                inputs.push((ClientId(client), packet));
            }
        }
        let mut sent = Vec::with_capacity(2 * usize::from(players));
        let began = Instant::now();
        for (client, packet) in &inputs {
            room.handle_datagram(now, *client, packet);
        }
        room.handle_timeout(now);
        while let Some(output) = room.poll_output(now) {
            sent.push(output);
        }
        let took = began.elapsed().as_secs_f64() * 1e3;
        let is_snapshot = sent.iter().any(|it| matches!(it, Output::Datagram { .. }));
        if tick > before {
            (if is_snapshot { &mut with_snapshot } else { &mut plain }).push(took);
            snapshots += u64::from(is_snapshot);
        }
        for output in sent {
            let Output::Datagram { client, bytes: packet } = output else { continue };
            let player = &mut clients[client.0 as usize];
            if tick > before {
                bytes += packet.len();
            }
            if !random.chance(LOSS) {
                player.down.push_back((tick + WAY, packet));
            }
        }
    }
    let all: Vec<_> = plain.iter().chain(&with_snapshot).copied().collect();
    let budget = 1e3 / f64::from(rates.tick_hz);
    let over = all.iter().filter(|took| **took > budget).count() as f64 / all.len() as f64;
    let used = all.iter().sum::<f64>() / (all.len() as f64 * budget);
    let came: u64 = clients.iter().map(|player| player.came).sum();
    Row {
        players,
        workers,
        told: in_sight(room.world()),
        plain_p50: quantile(&mut plain, 0.5),
        plain_p99: quantile(&mut plain, 0.99),
        snapshot_p50: quantile(&mut with_snapshot, 0.5),
        snapshot_p99: quantile(&mut with_snapshot, 0.99),
        over: over * 100.0,
        players_max: f64::from(players) / used,
        kbit: bytes as f64 * 8e-3 / f64::from(players) / seconds as f64,
        snapshots: came as f64 / (snapshots as f64 * f64::from(players)) * 100.0,
    }
}

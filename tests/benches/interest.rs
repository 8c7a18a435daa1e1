//! `cargo bench -p phaselock-tests --bench interest`: the time per snapshot to decide which
//! entities each client gets, in each game with 8, 64 and 256 bots.
//!
//! A room does this once per snapshot before packing; here on one thread: the grid, the game's
//! relevance of nearby entities to each player, and lingering entities. `-- --help` lists the
//! options.

use std::time::Instant;

use clap::Parser;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::rewind::Past;
use phaselock::server::{Alone, Interest, PlayerInterest};
use phaselock::time::Rates;
use phaselock_lab::scores::quantile;
use phaselock_testing::bots::BotWorld;
use phaselock_tests::bench::{BEFORE, Column, Played, number};
use phaselock_tests::each_game;
use serde::Serialize;

#[derive(Debug, Parser)]
#[command(name = "interest")]
struct Args {
    #[command(flatten)]
    played: Played,
}

/// Figures of a game.
#[derive(Debug, Serialize)]
struct Row {
    game: &'static str,
    players: u16,
    entities: usize,
    /// Mean number of entities that a player gets.
    told: f64,
    /// Microseconds per snapshot.
    p50: f64,
    p99: f64,
    /// Median nanoseconds per entity and player, near or not.
    pair_ns: f64,
}

const COLUMNS: [Column<Row>; 7] = [
    ("game", |row| row.game.into()),
    ("players", |row| row.players.to_string()),
    ("entities", |row| row.entities.to_string()),
    ("told of", |row| number(row.told, 1)),
    ("interest p50", |row| number(row.p50, 1)),
    ("p99", |row| number(row.p99, 1)),
    ("ns a pair", |row| number(row.pair_ns, 1)),
];

fn main() {
    let said = |ticks| {
        format!(
            "{ticks} ticks each after {BEFORE}, a snapshot every other tick; microseconds a\n\
             snapshot on one thread."
        )
    };
    Args::parse().played.measure(1200, &COLUMNS, &each_game!(measure), said);
}

fn measure<G: Game>(players: u16, ticks: u64) -> Row {
    let rates = Rates::DEFAULT;
    let mut bots = BotWorld::<G>::new(1, players, false);
    bots.world.past = Past::new(rates, G::REWIND);
    let mut interest = Interest::<G>::default();
    let mut told: Vec<_> =
        (0..players).map(|player| (PlayerId(player), PlayerInterest::new(rates))).collect();
    let (mut took, mut shown, mut entities) = (Vec::new(), 0, 0);
    for tick in 1..=BEFORE + ticks {
        bots.think();
        bots.step();
        let BotWorld { game, world, .. } = &mut bots;
        world.past.push(world.tick, &world.entities);
        if tick <= BEFORE || tick % rates.ticks_per_snapshot() != 0 {
            continue;
        }
        let began = Instant::now();
        let viewers = told.iter_mut().map(|(player, told)| (*player, told));
        interest.update(game, world, &Alone, viewers);
        took.push(began.elapsed().as_secs_f64() * 1e6);
        shown += told.iter().map(|(_, told)| told.sent().len()).sum::<usize>();
        entities = entities.max(world.entities.len());
    }
    let snapshots = took.len() as f64;
    let p50 = quantile(&mut took, 0.5);
    Row {
        game: G::NAME,
        players,
        entities,
        told: shown as f64 / snapshots / f64::from(players),
        p50,
        p99: quantile(&mut took, 0.99),
        pair_ns: p50 * 1e3 / f64::from(players) / entities as f64,
    }
}

//! `cargo bench -p phaselock-tests --bench interest`: the time that a snapshot takes to decide who
//! is told of what, in each game with 8, 64 and 256 bots.
//!
//! A room does this once a snapshot before anything is packed; here on one thread: the grid, the
//! game's relevance of whatever is near to each player, and what lingers. `-- --help` lists the
//! options.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Instant;

use clap::Parser;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::rewind::Past;
use phaselock::server::{Alone, Interest, Sight};
use phaselock::time::Rates;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_lab::scores::quantile;
use phaselock_testing::bots::BotWorld;
use phaselock_tests::bench::{Column, Format, head, json, number, row};
use serde::Serialize;

const PLAYERS: [u16; 3] = [8, 64, 256];
/// Ticks before anything is measured: beyond the warm-up of every game, into its play.
const BEFORE: u64 = 720;

#[derive(Debug, Parser)]
#[command(name = "interest")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Plays for a moment only
    #[arg(long)]
    quick: bool,
    /// The only game
    #[arg(long, value_name = "NAME", value_parser = names())]
    game: Option<String>,
    /// The only count of players
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    players: Option<u16>,
}

fn names() -> Vec<&'static str> {
    phaselock_games::all().names().collect()
}

/// Figures of a game.
#[derive(Debug, Serialize)]
struct Row {
    game: &'static str,
    players: u16,
    entities: usize,
    /// Entities that a player is told of, on average.
    told: f64,
    /// Microseconds a snapshot.
    p50: f64,
    p99: f64,
    /// Nanoseconds for each entity and player, near or not, at the median.
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

/// Measures a game with so many players for so many ticks.
type Measure = fn(u16, u64) -> Row;

fn main() {
    let args = Args::parse();
    let games: [(&str, Measure); 5] = [
        (Skirmish::NAME, measure::<Skirmish>),
        (ShufflePuck::NAME, measure::<ShufflePuck>),
        (Asteroids::NAME, measure::<Asteroids>),
        (Race::NAME, measure::<Race>),
        (Platformer::NAME, measure::<Platformer>),
    ];
    let ticks = if args.quick { 60 } else { 1200 };
    if !args.format.json {
        println!(
            "{ticks} ticks each after {BEFORE}, a snapshot every other tick; microseconds a\n\
             snapshot on one thread."
        );
        head(&COLUMNS);
    }
    let wanted = |game: &str| args.game.as_deref().is_none_or(|only| only == game);
    let counts = args.players.map_or(PLAYERS.to_vec(), |only| vec![only]);
    for (_, measure) in games.iter().filter(|(game, _)| wanted(game)) {
        for players in &counts {
            let figures = measure(*players, ticks);
            if args.format.json { json(&figures) } else { row(&COLUMNS, &figures) }
        }
    }
}

fn measure<G: Game>(players: u16, ticks: u64) -> Row {
    let rates = Rates::DEFAULT;
    let mut bots = BotWorld::<G>::new(1, players, false);
    bots.world.past = Past::new(rates, G::REWIND);
    let mut interest = Interest::<G>::default();
    let mut told: Vec<_> =
        (0..players).map(|player| (PlayerId(player), Sight::new(rates))).collect();
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
        shown += told.iter().map(|(_, told)| told.told().len()).sum::<usize>();
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

//! `cargo bench -p phaselock-tests --bench tick`: the time of a tick of each game with 8, 64 and
//! 256 bots.
//!
//! A tick runs the rules, snaps the world to the wire's grid and keeps it for rewinding. Measured
//! separately: a bot's input, the relevance of an entity to a player, and an extrapolation by 8
//! ticks. The floor is only snapping the same world to the grid, in the same run. `-- --help` lists
//! the options.

use std::hint::black_box;
use std::time::Instant;

use clap::Parser;
use phaselock::game::{Game, Known};
use phaselock::ids::PlayerId;
use phaselock::rewind::Past;
use phaselock::time::Rates;
use phaselock_lab::scores::quantile;
use phaselock_testing::bots::BotWorld;
use phaselock_tests::bench::{BEFORE, Column, Played, number};
use phaselock_tests::each_game;
use serde::Serialize;

const AHEAD: usize = 8;

#[derive(Debug, Parser)]
#[command(name = "tick")]
struct Args {
    #[command(flatten)]
    played: Played,
}

/// Figures of a game, in microseconds.
#[derive(Debug, Serialize)]
struct Row {
    game: &'static str,
    players: u16,
    entities: usize,
    tick_p50: f64,
    tick_p99: f64,
    floors: f64,
    bot: f64,
    relevance: f64,
    extrapolated: f64,
}

const COLUMNS: [Column<Row>; 9] = [
    ("game", |row| row.game.into()),
    ("players", |row| row.players.to_string()),
    ("entities", |row| row.entities.to_string()),
    ("tick p50", |row| number(row.tick_p50, 1)),
    ("tick p99", |row| number(row.tick_p99, 1)),
    ("x floor", |row| number(row.floors, 1)),
    ("a bot", |row| number(row.bot, 2)),
    ("relevance", |row| number(row.relevance, 3)),
    ("extrapolated", |row| number(row.extrapolated, 2)),
];

fn main() {
    let said = |ticks| {
        format!(
            "{ticks} ticks each after {BEFORE}; microseconds. p50 and p99 are over ticks;\n\
             the rest are medians."
        )
    };
    Args::parse().played.measure(1800, &COLUMNS, &each_game!(measure), said);
}

fn measure<G: Game>(players: u16, ticks: u64) -> Row {
    let rates = Rates::DEFAULT;
    let mut bots = BotWorld::<G>::new(1, players, false);
    bots.world.past = Past::new(rates, G::REWIND);
    let [mut whole, mut floor, mut bot, mut relevance, mut extrapolated] =
        [const { Vec::new() }; 5];
    let mut entities = 0;
    for tick in 1..=BEFORE + ticks {
        let think = micros(|| bots.think());
        let took = micros(|| {
            bots.step();
            bots.world.past.push(bots.world.tick, &bots.world.entities);
        });
        if tick <= BEFORE {
            continue;
        }
        let BotWorld { game, world, .. } = &mut bots;
        entities = entities.max(world.entities.len());
        bot.push(think / f64::from(players));
        whole.push(took);
        floor.push(micros(|| world.snap()));
        if tick % rates.ticks_per_snapshot() == 0 {
            let count = world.entities.len().max(1) as f64;
            let viewer = PlayerId((tick / 2 % u64::from(players)) as u16);
            let took = micros(|| {
                for slot in world.entities.iter() {
                    black_box(game.relevance(&world.entities, viewer, slot));
                }
            });
            relevance.push(took / count);
            let took = micros(|| {
                for slot in world.entities.iter() {
                    let (base, steering) = (&slot.entity, &slot.entity);
                    let known = Known { base, steering, ticks: AHEAD as u64 };
                    black_box((G::KIT.coding.extrapolate)(game, known));
                }
            });
            extrapolated.push(took / count);
        }
    }
    let tick_p50 = quantile(&mut whole, 0.5);
    Row {
        game: G::NAME,
        players,
        entities,
        tick_p50,
        tick_p99: quantile(&mut whole, 0.99),
        floors: tick_p50 / quantile(&mut floor, 0.5),
        bot: quantile(&mut bot, 0.5),
        relevance: quantile(&mut relevance, 0.5),
        extrapolated: quantile(&mut extrapolated, 0.5),
    }
}

fn micros(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e6
}

//! `cargo bench -p phaselock-tests --bench tick`: what a tick of each game costs with 8, 64 and 256 players,
//! all of them bots that play.
//!
//! A tick is what the server does for its world 60 times a second: the rules, moving all there is to the
//! wire's grid, and keeping it for rewinding. Beside it, once each: what a bot thinks, how much one thing
//! matters to one player, and what becomes of one thing in 8 ticks. The floor is moving the same world to
//! the grid and no rules at all, measured in the same run.
//!
//! `-- --quick` plays for a moment only, to see that it works; `-- --game NAME` plays one game.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::time::Instant;

use phaselock::fields::Record;
use phaselock::game::{Game, Inputs, Late, World, new_bot};
use phaselock::ids::PlayerId;
use phaselock::random::Random;
use phaselock::rewind::Past;
use phaselock::time::{Rates, Tick};
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;

const PLAYERS: [u16; 3] = [8, 64, 256];
/// Ticks before anything is measured: beyond the warm-up of every game, into its play.
const BEFORE: u64 = 720;
const AHEAD: usize = 8;

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let quick = args.iter().any(|arg| arg == "--quick");
    let named = args.iter().position(|arg| arg == "--game").and_then(|at| args.get(at + 1));
    let games: [(&str, fn(u16, u64) -> String); 5] = [
        of::<Skirmish>(),
        of::<ShufflePuck>(),
        of::<Asteroids>(),
        of::<Race>(),
        of::<Platformer>(),
    ];
    if let Some(name) = named.filter(|name| games.iter().all(|(game, _)| game != name)) {
        println!("there is no game called {name}; there is: {}", phaselock_games::all().list());
        std::process::exit(2);
    }
    let ticks = if quick { 60 } else { 1800 };
    println!(
        "{ticks} ticks each after {BEFORE}; microseconds. Half of the ticks, and 99 of 100, take at"
    );
    println!("most so much; the rest are medians.");
    println!();
    println!(
        "| game | players | entities | tick p50 | tick p99 | x floor | a bot | relevance | extrapolated |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (_, measure) in games.iter().filter(|(name, _)| named.is_none_or(|named| named == name)) {
        for players in PLAYERS {
            println!("{}", measure(players, ticks));
        }
    }
}

/// A game's name, and how it is measured.
fn of<G: Game>() -> (&'static str, fn(u16, u64) -> String) {
    (G::NAME, measure::<G>)
}

fn measure<G: Game>(players: u16, ticks: u64) -> String {
    let rates = Rates::DEFAULT;
    let game = G::new(rates, 1);
    let mut world = World::<G>::new(1);
    world.past = Past::new(rates, G::REWIND);
    game.populate(&mut world);
    (0..players).for_each(|player| game.join(&mut world, PlayerId(player)));
    world.snap();
    let mut random = Random::new(1);
    let mut bots: Vec<_> = (0..players).map(|_| new_bot::<G>()).collect();
    let [mut whole, mut floor, mut bot, mut relevance, mut extrapolated] =
        [const { Vec::new() }; 5];
    let mut inputs = Inputs::default();
    let mut entities = 0;
    for tick in 1..=BEFORE + ticks {
        inputs.clear();
        let think = micros(|| {
            for (bot, player) in bots.iter_mut().zip((0..).map(PlayerId)) {
                let seen = &world.entities;
                let input = bot.input(&game, world.tick, seen, player, &mut random);
                inputs.set(player, input.snapped());
            }
        });
        world.tick = Tick(tick);
        let took = micros(|| {
            game.step(&mut world, &inputs);
            if G::LATE == Late::Wait {
                world.state_ages(&inputs);
            }
            world.snap();
            world.past.push(world.tick, &world.entities);
        });
        if tick <= BEFORE {
            continue;
        }
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
                    black_box((G::KIT.coding.extrapolate)(&game, base, steering, AHEAD as u64));
                }
            });
            extrapolated.push(took / count);
        }
    }
    let (half, most) = (quantile(&mut whole, 0.5), quantile(&mut whole, 0.99));
    format!(
        "| {} | {players} | {entities} | {half:.1} | {most:.1} | {:.1} | {:.2} | {:.3} | {:.2} |",
        G::NAME,
        half / quantile(&mut floor, 0.5),
        quantile(&mut bot, 0.5),
        quantile(&mut relevance, 0.5),
        quantile(&mut extrapolated, 0.5),
    )
}

fn micros(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e6
}

fn quantile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[(samples.len() as f64 * share) as usize]
}

//! `cargo bench -p phaselock-tests --bench skirmish`: what Skirmish's rules cost the netcode with 64 bots:
//! a step, everybody foretold 8 ticks ahead, and how much each matters to each.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::time::Instant;

use phaselock_shared::game::{Game, Inputs, Relevance, World};
use phaselock_shared::games::skirmish::{Bot, Skirmish, players};
use phaselock_shared::ids::PlayerId;
use phaselock_shared::random::Random;
use phaselock_shared::replicate::Record;
use phaselock_shared::time::{Rates, Tick};

const BOTS: u16 = 64;
const TICKS: u64 = 1200;
const AHEAD: u64 = 8;

fn main() {
    let game = Skirmish::new(Rates::DEFAULT, 1);
    let mut world = World::<Skirmish>::new(1);
    for player in 0..BOTS {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    let mut random = Random::new(1);
    let mut bots: Vec<_> = (0..BOTS).map(|_| Bot::default()).collect();
    let mut past = vec![world.entities.clone()];
    let [mut step, mut foretell, mut relevance] = [const { Vec::new() }; 3];
    let (mut pairs, mut told) = (0_u32, 0_u32);
    for tick in 1..=TICKS {
        let mut inputs = Inputs::default();
        for (bot, player) in bots.iter_mut().zip(0..) {
            let command = game.bot(bot, world.tick, &world.entities, PlayerId(player), &mut random);
            inputs.set(PlayerId(player), command.snapped());
        }
        world.tick = Tick(tick);
        step.push(micros(|| game.step(&mut world, &inputs)));
        world.snap();
        past.push(world.entities.clone());
        let Some(back) = tick.checked_sub(AHEAD) else { continue };
        foretell.push(micros(|| {
            for (base, now) in past[back as usize].iter().zip(world.entities.iter()) {
                black_box(game.foretell(&base.entity, &now.entity, AHEAD));
            }
        }));
        relevance.push(micros(|| {
            for viewer in 0..BOTS {
                for slot in world.entities.iter() {
                    black_box(game.relevance(&world.entities, PlayerId(viewer), slot));
                }
            }
        }));
        for viewer in (0..BOTS).map(PlayerId) {
            for slot in players(&world.entities).filter(|slot| slot.owner != Some(viewer)) {
                let Some(other) = world.entities.get(slot.id) else { continue };
                let matters = game.relevance(&world.entities, viewer, other);
                pairs += 1;
                told += u32::from(matters != Relevance::Secret);
            }
        }
    }
    let each = f64::from(BOTS) * f64::from(BOTS);
    println!("{BOTS} bots, medians of {TICKS} ticks");
    println!("step                        {:8.1} us", median(&mut step));
    println!("all foretold {AHEAD} ticks ahead  {:8.1} us", median(&mut foretell));
    println!("relevance of a pair         {:8.3} us", median(&mut relevance) / each);
    println!("pairs told of each other    {:8.1} %", f64::from(told) * 100.0 / f64::from(pairs));
}

fn micros(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e6
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
